/* Decisions to compare: in which layouts, and with how much of L1. The fastest one is the plan.
 *
 * A decision for less L1 holds with more, but the search may miss it there: it looks at other tiles, and where it cannot
 * prove that it has found the best, it may end elsewhere. So a network is planned for smaller sizes of L1, too, as long as
 * these are nearly as good: more of L1 then never makes a plan slower, along the sizes below. */
#include <string.h>

#include "dory/hal.h"
#include "plan/planner.h"

/* ---- one decision ---- */

/* Where the search finds nothing, the smallest plan there is; where that does not fit, what would. */
static bool decide(struct attempt *attempt)
{
    struct planner *p = &attempt->planner;
    int layer;
    if (least_l1(p, &layer) <= p->l1_bytes) {
        bool decided = optimise(p, &attempt->proof);
        const struct fit_limits as_decided = {UINT64_MAX, PLACE_QUICKLY, p->tries};
        if (decided && schedule_fit(p, &as_decided, &attempt->schedule, &attempt->peak, p->arena))
            return true;
        attempt->proof = (struct plan_proof){0};
        if (least_l2(p, &attempt->schedule, &attempt->peak, &layer) && attempt->peak <= p->l2_bytes)
            return true;
    }
    least_report(p);
    return false;
}

static bool check_counts(const struct planner *p, const struct schedule *schedule)
{
    if (schedule->step_count <= UINT16_MAX && schedule->transfer_count <= UINT16_MAX)
        return true;
    diagnose(p->diagnostics, SEVERITY_ERROR, NULL, NULL,
             "the plan has %d steps and %d transfers, at most %d are supported; give it more L2", schedule->step_count,
             schedule->transfer_count, UINT16_MAX);
    return false;
}

static bool is_in_l2(const struct planner *p, bool only_chw)
{
    for (int t = 0; t < p->network->tensor_count; t++)
        if (p->homes[t] != HOME_L2 && (!only_chw || p->layouts[t] == DORY_CHW))
            return false;
    return true;
}

/* The planner has been started. Tensors in CHW must stay in L2. */
static void attempt_make(struct attempt *attempt)
{
    const struct planner *p = &attempt->planner;
    attempt->found = decide(attempt) && check_counts(p, &attempt->schedule) && (!p->layouts || is_in_l2(p, true));
}

static struct diagnostics *unheard(struct arena *arena)
{
    struct diagnostics *diagnostics = arena_allocate(arena, sizeof *diagnostics);
    *diagnostics = (struct diagnostics){.arena = arena};
    return diagnostics;
}

/* Another planner of the same network, which knows what this one has found; it is still to be started. */
static struct planner planner_behind(const struct planner *before)
{
    return (struct planner){.network = before->network,
                            .target = before->target,
                            .options = before->options,
                            .arena = before->arena,
                            .diagnostics = unheard(before->arena),
                            .before = before};
}

/* ---- layouts ---- */

/* With those tensors in CHW for which that pays, of those that `hwc` has in L2, where that is another choice than the one of
 * `others`. Not found: it is not, there are none, or memory is too tight for them to stay there; that is no error. */
static struct attempt *attempt_in_chw(const struct planner *hwc, const struct attempt *others)
{
    size_t tensors = (size_t)hwc->network->tensor_count;
    struct attempt *attempt = arena_allocate(hwc->arena, sizeof *attempt);
    enum dory_layout *layouts = arena_array(hwc->arena, enum dory_layout, tensors);
    attempt->planner = planner_behind(hwc);
    attempt->planner.layouts = layouts;
    if (layouts_choose(hwc, hwc->options->layouts == LAYOUTS_CHW, layouts) > 0 &&
        (!others || memcmp(layouts, others->planner.layouts, tensors * sizeof *layouts) != 0) &&
        planner_start(&attempt->planner))
        attempt_make(attempt);
    return attempt;
}

#define MOST_LAYOUTS 3

/* Of its least cycles: what a plan takes more where memory hardly limits it. */
#define NEAR_PART 128

/* No layer is slower in CHW where it is chosen, so that no plan in HWC takes less than what this one takes at least. */
static bool is_near_least(const struct attempt *attempt)
{
    const struct plan_proof *proof = &attempt->proof;
    uint64_t least = proof->tail_cycles > proof->compute_cycles ? proof->tail_cycles : proof->compute_cycles;
    return attempt->schedule.cycles <= least + least / NEAR_PART;
}

/* Where everything stays in L2 and memory hardly limits the plan, CHW is no slower, and the layers for which it pays decide.
 * Where not, the network is planned without it, too, and in CHW where that leaves tensors in L2 anyway. Returns how many
 * attempts are worth a comparison; where there is none, the one that can say why. */
static int attempt_layouts(const struct planner *planner, struct attempt **attempts)
{
    const struct plan_options *options = planner->options;
    struct attempt *hwc = arena_allocate(planner->arena, sizeof *hwc), *chw = NULL;
    int count = 0;
    hwc->planner = *planner;
    if (options->layouts != LAYOUTS_HWC && !options->tensors_in_ram)
        chw = attempt_in_chw(planner, NULL);
    if (chw && chw->found)
        attempts[count++] = chw;
    if (chw && chw->found && (options->layouts == LAYOUTS_CHW || (is_in_l2(&chw->planner, false) && is_near_least(chw))))
        return count;
    if (chw && chw->planner.layers)
        hwc->planner.before = &chw->planner;
    attempt_make(hwc);
    attempts[count++] = hwc;
    if (!hwc->found || options->layouts == LAYOUTS_HWC)
        return count;
    struct attempt *within = attempt_in_chw(&hwc->planner, chw);
    if (within->found)
        attempts[options->layouts == LAYOUTS_CHW ? 0 : count++] = within;
    return count;
}

/* ---- less L1 ---- */

/* Bytes of buffers in L1 for which a network is planned, too, where there is more. They do not depend on what there is, so
 * that what one size has tried every larger one tries; tests/sweep.csv has those from 22 kB on. */
static const uint32_t rungs[] = {400000, 200000, 150000, 100000, 80000, 64000, 55000, 44000, 32000,
                                 22000,  16000,  11000,  8000,   5500,  4000,  2750,  2000};
#define RUNGS (sizeof rungs / sizeof *rungs)

/* Of so little less nothing is to be expected; a size that is hardly larger than a rung does without it. */
static bool is_less(uint32_t rung, uint32_t l1_bytes) { return rung < l1_bytes - l1_bytes / 32; }

/* What a search misses: a part of the cycles, and what it costs to cut one layer otherwise. A decision that is slower by
 * more with less L1 is no sign of a better one there. */
#define MISSED_PART   512
#define MISSED_CYCLES 20000

static uint64_t nearly(uint64_t cycles) { return cycles + cycles / MISSED_PART + MISSED_CYCLES; }

/* Cycles of a decision with the tiles of less L1; UINT64_MAX: some layer has none. */
static uint64_t cycles_with_less(struct planner *less, const struct planner *decided)
{
    struct arena scratch = {0};
    struct schedule schedule;
    bool legal = true;
    memcpy(less->homes, decided->homes, (size_t)less->network->tensor_count * sizeof *less->homes);
    for (int l = 0; l < less->network->layer_count && legal; l++) {
        const struct cut *cut = decided->choices[l].cut;
        struct choice choice = {cut_get(less, l, cut->rows, cut->channels, cut->channels_outer, cut->ram),
                                decided->choices[l].ahead};
        legal = cut_solve(less, l, choice.cut);
        less->choices[l] = choice;
    }
    if (legal)
        schedule_make(less, NULL, &schedule, &scratch);
    uint64_t cycles = legal ? schedule.cycles : UINT64_MAX;
    arena_free(&scratch);
    return cycles;
}

static const struct plan_options *options_with(const struct planner *planner, uint32_t l1_bytes)
{
    struct plan_options *options = arena_allocate(planner->arena, sizeof *options);
    *options = *planner->options;
    options->l1_bytes = l1_bytes + planner->target->l1_stack_bytes;
    return options;
}

/* The same layouts with so much of L1; not found: it is not worth a search, as what `best` decided is slower so. */
static void attempt_with_less(struct attempt *attempt, const struct attempt *best, uint32_t l1_bytes)
{
    struct planner *p = &attempt->planner;
    uint64_t cycles = best->schedule.cycles - best->schedule.gap_cycles;
    *attempt = (struct attempt){.planner = planner_behind(&best->planner)};
    p->options = options_with(&best->planner, l1_bytes);
    p->layouts = best->planner.layouts;
    if (planner_start(p) && cycles_with_less(p, &best->planner) <= nearly(cycles))
        attempt_make(attempt);
}

/* What is known of all decisions with the one's tiles or the other's. */
static void join_proofs(struct plan_proof *proof, const struct plan_proof *other)
{
    if (other->rounds > 0 && other->bound_cycles < proof->bound_cycles) {
        proof->bound_cycles = other->bound_cycles;
        proof->is_optimal = false;
    }
}

/* The attempt, or a faster one with less L1; as it is where it is slower than `limit` cycles by more than a search misses.
 */
static const struct attempt *descend(const struct attempt *best, uint64_t limit)
{
    uint32_t l1_bytes = best->planner.options->only_this_l1 ? 0 : best->planner.l1_bytes;
    for (size_t i = 0; i < RUNGS && best->schedule.cycles <= nearly(limit); i++) {
        if (!is_less(rungs[i], l1_bytes))
            continue;
        struct attempt *less = arena_allocate(best->planner.arena, sizeof *less);
        attempt_with_less(less, best, rungs[i]);
        if (!less->found)
            break;
        if (less->schedule.cycles < best->schedule.cycles) {
            join_proofs(&less->proof, &best->proof);
            best = less;
        }
    }
    return best;
}

/* ---- all together ---- */

static const struct attempt *faster_of(const struct attempt *a, const struct attempt *b)
{
    return b->found && (!a->found || b->schedule.cycles < a->schedule.cycles) ? b : a;
}

/* What was only compared so far: less in gaps, then earlier prefetches, if there are places. */
static void finish(struct attempt *attempt)
{
    const struct planner *p = &attempt->planner;
    const struct fit_limits carefully = {.cycles = UINT64_MAX, .care = PLACE_CAREFULLY};
    struct schedule schedule;
    uint32_t peak;
    if (attempt->schedule.gap_cycles > 0 && schedule_fit(p, &carefully, &schedule, &peak, p->arena)) {
        attempt->schedule = schedule;
        attempt->peak = peak;
    }
    if (schedule_fit_early(p, attempt->schedule.tries, attempt->schedule.cycles, &schedule, &peak, p->arena)) {
        schedule.gap_cycles = attempt->schedule.gap_cycles;
        attempt->schedule = schedule;
        attempt->peak = peak;
    }
}

struct attempt attempt_best(const struct planner *planner)
{
    struct attempt *attempts[MOST_LAYOUTS];
    int count = attempt_layouts(planner, attempts);
    const struct attempt *first = attempts[0], *best;
    for (int i = 1; i < count; i++)
        first = faster_of(first, attempts[i]);
    best = first->found ? descend(first, first->schedule.cycles) : first;
    for (int i = 0; i < count; i++)
        if (attempts[i]->found && attempts[i] != first)
            best = faster_of(best, descend(attempts[i], best->schedule.cycles));
    struct attempt result = *best;
    if (result.found)
        finish(&result);
    return result;
}
