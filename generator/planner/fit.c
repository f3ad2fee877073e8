/* A schedule that can be placed: transfers as late as they may be, then places, then transfers as early as places let them.
 * Where that finds no places, these are found while the decision is played (gaps.c), which may take longer. */
#include "planner/schedule.h"

/* Of a transfer each: the step in which it starts. */
static int *starts_of(const struct schedule *schedule, struct arena *arena)
{
    int *starts = arena_array(arena, int, (size_t)schedule->transfer_count);
    for (int i = 0; i < schedule->transfer_count; i++)
        starts[i] = schedule->transfers[i].start_step;
    return starts;
}

/* The fastest way to fill gaps, if one takes less than the limit. */
static bool best_variant(const struct decision *decision, const struct fit_limits *limits, struct gaps_variant *best)
{
    uint64_t least = limits->cycles;
    for (int above = 0; above < 2; above++) {
        struct gaps_variant variant = {.from_above = above != 0, .care = limits->care};
        uint64_t cycles = decision_price_in_gaps(decision, &variant, least);
        if (cycles < least) {
            least = cycles;
            *best = variant;
        }
    }
    return least < limits->cycles;
}

/* Whether two schedules of a decision ask for the same places. */
static bool lives_alike(const struct schedule *a, const struct schedule *b)
{
    bool same = a->buffer_count == b->buffer_count;
    for (int i = 0; same && i < a->buffer_count; i++)
        same = a->buffers[i].first_step == b->buffers[i].first_step;
    return same;
}

/* With transfers as late as they may be, and places for all of them. `failed`: for which there were none, with as much care;
 * null: none yet. */
static bool fit_late(const struct problem *p, enum place_care care, const struct schedule *failed, struct schedule *schedule,
                     struct arena *arena)
{
    const int *starts = starts_of(schedule, arena);
    schedule_postpone(p, 0, schedule, arena);
    if (failed && lives_alike(failed, schedule))
        return false;
    if (!schedule_place(p, schedule, schedule->l2_bytes, care))
        return false;
    schedule_advance(schedule, starts, arena);
    return true;
}

/* Thousandths of L2 that prefetches leave free: the more, the more easily what lives has places. */
static const uint32_t left_free[] = {0, 10, 20, 40, 70};
static const size_t enough_left[] = {[PLACE_CHEAPLY] = 3, [PLACE_QUICKLY] = 5, [PLACE_CAREFULLY] = 5};

/* With as little left free as there are places with. More of it often changes nothing, once all starts late.
 * `least_cycles`: were there places with nothing left. */
static bool fit_left(const struct decision *decision, const struct fit_limits *limits, struct schedule *schedule,
                     uint64_t *least_cycles, struct arena *arena)
{
    const struct problem *p = decision->problem;
    struct schedule failed;
    for (size_t i = 0; i < enough_left[limits->care]; i++) {
        schedule_make(decision, (uint32_t)((uint64_t)p->l2_bytes * left_free[i] / 1000), schedule, arena);
        *least_cycles = i ? *least_cycles : schedule->cycles;
        if (schedule->live_bytes > schedule->l2_bytes || schedule->cycles >= limits->cycles)
            return false;
        if (fit_late(p, i ? PLACE_CHEAPLY : limits->care, i ? &failed : NULL, schedule, arena))
            return true;
        failed = *schedule;
    }
    return false;
}

/* The same in gaps. */
static bool fit_in_gaps(const struct decision *decision, const struct fit_limits *limits, struct schedule *schedule,
                        struct arena *arena)
{
    struct gaps_variant variant;
    return best_variant(decision, limits, &variant) && schedule_make_in_gaps(decision, &variant, schedule, arena);
}

bool schedule_fit(const struct decision *decision, const struct fit_limits *limits, struct schedule *schedule,
                  struct arena *arena)
{
    uint64_t least_cycles = 0;
    bool found = fit_left(decision, limits, schedule, &least_cycles, arena);
    const struct fit_limits faster = {found ? schedule->cycles : limits->cycles, limits->care};
    bool is_too_much = !found && schedule->live_bytes > schedule->l2_bytes;
    if (!is_too_much && least_cycles < faster.cycles)
        found = fit_in_gaps(decision, &faster, schedule, arena) || found;
    schedule->gap_cycles = found && schedule->cycles > least_cycles ? schedule->cycles - least_cycles : 0;
    return found;
}

/* Cycles. With one step's computing between its start and its need a transfer can take longer than predicted, and the fabric
 * controller can start it late; steps may begin sooner than predicted. */
static const uint64_t margins[] = {5000, 10000, 20000, 50000, 100000};
#define MARGINS (sizeof margins / sizeof *margins)

/* With one margin; only places on the bound count: what is above it may be lost in gaps. */
static bool fit_with_margin(const struct decision *decision, uint64_t margin, enum place_care care,
                            struct schedule *schedule, struct arena *arena)
{
    schedule_make(decision, 0, schedule, arena);
    const int *starts = starts_of(schedule, arena);
    schedule_postpone(decision->problem, margin, schedule, arena);
    if (!schedule_place(decision->problem, schedule, schedule->live_bytes, care) ||
        schedule->peak_bytes > schedule->l2_bytes)
        return false;
    schedule_advance(schedule, starts, arena);
    return true;
}

/* The largest margin with which there are places: where a small one finds none, larger ones do not either. */
bool schedule_fit_early(const struct decision *decision, struct schedule *schedule, struct arena *arena)
{
    struct schedule other;
    bool found = false;
    for (size_t i = 0; i < MARGINS && fit_with_margin(decision, margins[i], PLACE_QUICKLY, &other, arena); i++) {
        *schedule = other;
        found = true;
    }
    return found || fit_with_margin(decision, 0, PLACE_CAREFULLY, schedule, arena);
}
