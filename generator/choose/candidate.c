/* What the choice for the whole network picks from: for each layer, by the levels of its tensors, the ways to run it that no
 * other one beats in cycles, L2 bytes and L3 traffic together. */
#include "choose/cut.h"

#include <stdlib.h>

#include "choose/profile.h"
#include "dory/hal.h"

#define SMALL_PART_OF_L2                                                                                                    \
    64 /* smaller windows and blocks than this part of L2 gain nothing that more overheads do not take */

/* ---- what its profile says ---- */

static void count_bytes(struct candidate *candidate, const struct profile *profile)
{
    uint32_t steps = candidate->choice.cut->step_count;
    candidate->first_bytes = profile->live[0];
    candidate->last_bytes = profile->live[steps - 1];
    candidate->carried_bytes = profile->live[steps];
    for (uint32_t i = 0; i < steps; i++)
        candidate->most_bytes = profile->live[i] > candidate->most_bytes ? profile->live[i] : candidate->most_bytes;
}

static void count_writes(struct candidate *candidate, const struct profile *profile)
{
    const struct cut *cut = candidate->choice.cut;
    int last = (int)cut->step_count - 1;
    for (int i = 0; i < profile->write_count; i++) {
        const struct profile_transfer *write = &profile->writes[i];
        candidate->write_cycles += write->cycles;
        candidate->first_write_cycles += write->step == 0 ? write->cycles : 0;
        candidate->last_write_cycles += write->step == last ? write->cycles : 0;
    }
    candidate->write_start_cycles = profile->write_count > 0 && last > 0 ? cut->times[1].start : cut->cost.cycles;
}

/* ---- times ---- */

/* When a step issues its loads, at the earliest seen from the end: a step that works ahead is never queued late, so that it
 * does so as foreseen. */
static uint64_t rest_from(const struct candidate *candidate, uint32_t step)
{
    const struct cut *cut = candidate->choice.cut;
    bool foreseen = candidate->choice.ahead || step == 0;
    return cut->cost.cycles - (foreseen ? cut->times[step].fetch : cut->times[step].start);
}

/* From what is read at which step, when the layer can end if the channel starts on it when the layer does, and how far the
 * channel can get meanwhile. */
static void count_times(struct candidate *candidate, const uint64_t *reads)
{
    const struct cut *cut = candidate->choice.cut;
    int64_t before = 0;
    candidate->first_start_cycles = cut->times[0].start;
    candidate->lead_gain = -(int64_t)cut->times[0].start;
    candidate->cycles_from_reads = (int64_t)cut->cost.cycles;
    for (uint32_t i = 0; i < cut->step_count; i++) {
        int64_t rest = (int64_t)rest_from(candidate, i);
        int64_t lead = before - (i > 0 ? (int64_t)reads[i - 1] : 0) - (int64_t)cut->times[i].start;
        if (i > 0 && lead < candidate->lead_gain)
            candidate->lead_gain = lead;
        before += (int64_t)reads[i];
        if (reads[i] && before + rest > candidate->cycles_from_reads)
            candidate->cycles_from_reads = before + rest;
    }
    candidate->read_cycles = (uint64_t)before;
}

/* `reads`: of the first input alone. */
static void count_input(struct candidate *candidate, const uint64_t *reads)
{
    candidate->rest_cycles = candidate->cycles;
    candidate->first_input_cycles = reads[0];
    for (uint32_t i = 0; i < candidate->choice.cut->step_count; i++) {
        candidate->input_cycles += reads[i];
        if (reads[i])
            candidate->rest_cycles = rest_from(candidate, i);
    }
}

static struct candidate make_candidate(struct choice choice)
{
    struct arena scratch = {0};
    const struct profile *profile = profile_make(&choice, &scratch);
    uint32_t steps = choice.cut->step_count;
    struct candidate candidate = {.choice = choice, .cycles = choice.cut->cost.cycles};
    uint64_t *reads = arena_array(&scratch, uint64_t, steps), *inputs = arena_array(&scratch, uint64_t, steps);
    for (int i = 0; i < profile->read_count; i++) {
        const struct profile_transfer *read = &profile->reads[i];
        reads[read->step] += read->cycles;
        inputs[read->step] += profile->buffers[read->buffer].operand == 0 ? read->cycles : 0;
        candidate.read_commands += read->record.runs;
    }
    count_input(&candidate, inputs);
    count_writes(&candidate, profile);
    count_bytes(&candidate, profile);
    count_times(&candidate, reads);
    arena_free(&scratch);
    return candidate;
}

/* ---- the front ---- */

/* One that does not work ahead can put another one that does out of the front, though transfers wait in it that would not in
 * the other. Were only those compared that can wait no more, the fronts would be longer: on the grid of plans.csv plans are
 * 0.02 % slower in the mean and up to 2.2 %, one pair of memories is out of order by 0.2 %, and planning takes 3 to 11 %
 * longer. */
static bool dominates(const struct candidate *a, const struct candidate *b)
{
    return a->cycles <= b->cycles && a->most_bytes <= b->most_bytes &&
           a->read_cycles + a->write_cycles <= b->read_cycles + b->write_cycles;
}

/* Of the candidates from `first` on those that no other one beats; all before stay. */
static int keep_front(struct candidate *candidates, int first, int count)
{
    int kept = first;
    for (int i = first; i < count; i++) {
        bool dominated = false;
        for (int j = 0; j < count && !dominated; j++) /* of equal ones the first */
            dominated =
                j != i && dominates(&candidates[j], &candidates[i]) && (j < i || !dominates(&candidates[i], &candidates[j]));
        candidates[i].dominated = dominated;
    }
    for (int i = first; i < count; i++)
        if (!candidates[i].dominated)
            candidates[kept++] = candidates[i];
    return kept;
}

static uint32_t least_bytes(const struct candidate *candidates, int count)
{
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < count; i++)
        least = dory_minimum(least, candidates[i].most_bytes);
    return least;
}

/* Of those that need next to nothing of L2, the fastest and the smallest are enough. */
static int drop_tiny(struct candidate *candidates, int count, uint32_t small_bytes)
{
    uint32_t least = least_bytes(candidates, count);
    uint64_t fastest = UINT64_MAX;
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (candidates[i].most_bytes <= small_bytes && candidates[i].cycles < fastest)
            fastest = candidates[i].cycles;
    for (int i = 0; i < count; i++)
        if (candidates[i].most_bytes > small_bytes || candidates[i].cycles == fastest || candidates[i].most_bytes == least)
            candidates[kept++] = candidates[i];
    return kept;
}

/* A cut before it is solved: to find its tile takes time, what it needs of L2 and L3 does not. */
struct sketch {
    struct cut *cut;
    uint32_t bytes;
    uint64_t l3_cycles;
};

static int by_l3_cycles(const void *a, const void *b)
{
    const struct sketch *x = a, *y = b;
    if (x->l3_cycles != y->l3_cycles)
        return x->l3_cycles < y->l3_cycles ? -1 : 1;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static int sketch_cuts(struct planned_layer *of, uint8_t ram, struct sketch *sketches)
{
    struct cut **list;
    int count = cut_list(of, ram, &list), fitting = 0;
    for (int i = 0; i < count; i++) {
        struct sketch sketch = {list[i], cut_l2_bytes(list[i], true), cut_l3_cycles(list[i])};
        if (cut_l2_bytes(list[i], false) <= of->problem->l2_bytes)
            sketches[fitting++] = sketch;
    }
    qsort(sketches, (size_t)fitting, sizeof *sketches, by_l3_cycles);
    return fitting;
}

/* True where the transfers alone take longer than another candidate does, in no fewer bytes; or where another one needs next
 * to nothing of L2 already. */
static bool is_hopeless(const struct sketch *sketch, const struct candidate *candidates, int count, uint32_t small_bytes)
{
    for (int i = 0; i < count; i++) {
        uint64_t traffic = candidates[i].read_cycles + candidates[i].write_cycles;
        uint64_t cycles = candidates[i].cycles > traffic ? candidates[i].cycles : traffic;
        if (candidates[i].most_bytes <= sketch->bytes && cycles <= sketch->l3_cycles)
            return true;
        if (candidates[i].most_bytes <= small_bytes && sketch->bytes <= candidates[i].most_bytes)
            return true;
    }
    return false;
}

/* What is collected of a layer's candidates. */
struct collection {
    struct sketch sketches[MAXIMUM_CUTS];
    int cuts;
    struct candidate candidates[2 * MAXIMUM_CUTS];
    int count;
};

/* The cuts that have a tile, working ahead. The smallest cut is always among them. */
static void collect_ahead(struct planned_layer *of, uint8_t ram, struct collection *c, uint32_t small_bytes)
{
    int smallest = 0;
    c->cuts = sketch_cuts(of, ram, c->sketches);
    for (int i = 1; i < c->cuts; i++)
        smallest = c->sketches[i].bytes < c->sketches[smallest].bytes ? i : smallest;
    for (int i = 0; i < c->cuts; i++)
        if ((i == smallest || !is_hopeless(&c->sketches[i], c->candidates, c->count, small_bytes)) &&
            cut_solve(c->sketches[i].cut))
            c->candidates[c->count++] = make_candidate((struct choice){c->sketches[i].cut, true});
}

/* The same ones without working ahead, which saves nothing but L2: those smaller than `least`, or all others. */
static void collect_behind(struct collection *c, uint32_t least, bool smaller)
{
    for (int i = 0; i < c->cuts; i++) {
        if (!c->sketches[i].cut->legal || c->sketches[i].cut->step_count == 1)
            continue;
        c->candidates[c->count] = make_candidate((struct choice){c->sketches[i].cut, false});
        c->count += (c->candidates[c->count].most_bytes < least) == smaller;
    }
}

/* Those that work ahead, and without that the ones that are smaller than all of these: their front comes first. */
static void make_front(struct planned_layer *of, uint8_t ram)
{
    struct arena scratch = {0};
    struct collection *c = arena_array(&scratch, struct collection, 1);
    uint32_t small = of->problem->l2_bytes / SMALL_PART_OF_L2;
    collect_ahead(of, ram, c, small);
    uint32_t least = least_bytes(c->candidates, c->count);
    collect_behind(c, least, true);
    c->count = drop_tiny(c->candidates, keep_front(c->candidates, 0, c->count), small);
    int first = c->count;
    collect_behind(c, least, false);
    c->count = keep_front(c->candidates, first, c->count);
    of->fronts[ram] = arena_copy(of->problem->arena, c->candidates, c->count);
    of->front_counts[ram] = c->count;
    of->first_counts[ram] = first;
    arena_free(&scratch);
}

int candidate_front(struct planned_layer *of, uint8_t ram, const struct candidate **front)
{
    if (!of->fronts[ram])
        make_front(of, ram);
    *front = of->fronts[ram];
    return of->front_counts[ram];
}

int candidate_first(struct planned_layer *of, uint8_t ram, const struct candidate **front)
{
    candidate_front(of, ram, front);
    return of->first_counts[ram];
}
