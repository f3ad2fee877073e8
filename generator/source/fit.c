/* A schedule that can be placed. */
#include "planner.h"

#include <string.h>

/* Parts in a thousand of L2 that are left to gaps, one after the other, until all buffers have places. */
static const uint32_t left_to_gaps[] = {0, 4, 16, 64, 256, 1000};
#define TRIES (sizeof left_to_gaps / sizeof *left_to_gaps)

static int *start_steps(const struct schedule *schedule, struct arena *arena)
{
    int *steps = arena_array(arena, int, (size_t)schedule->transfer_count);
    for (int i = 0; i < schedule->transfer_count; i++)
        steps[i] = schedule->transfers[i].start_step;
    return steps;
}

/* True where all prefetches start as they did before, so that the same places would be looked for. */
static bool starts_as_before(const struct schedule *schedule, const int *starts, const struct schedule *before,
                             const int *starts_before)
{
    return starts_before && schedule->transfer_count == before->transfer_count &&
           memcmp(starts, starts_before, (size_t)schedule->transfer_count * sizeof *starts) == 0;
}

/* Prefetches in what is left beside the gaps of so many tries. */
static void make_schedule(const struct planner *p, int tries, struct schedule *schedule, struct arena *arena)
{
    struct planner part = *p;
    part.l2_bytes -= (uint32_t)((uint64_t)p->l2_bytes * left_to_gaps[tries] / 1000);
    schedule_make(&part, NULL, schedule, arena);
    schedule->tries = tries;
}

bool schedule_fit(const struct planner *p, const struct fit_limits *limits, struct schedule *schedule, uint32_t *peak,
                  struct arena *arena)
{
    struct schedule before;
    const int *starts_before = NULL;
    uint64_t least_cycles = 0;
    for (int tries = 0; tries < (int)TRIES; tries++) {
        make_schedule(p, tries, schedule, arena);
        least_cycles = tries == 0 ? schedule->cycles : least_cycles;
        schedule->gap_cycles = schedule->cycles > least_cycles ? schedule->cycles - least_cycles : 0;
        if (schedule->live_bytes > p->l2_bytes || schedule->cycles >= limits->cycles)
            return false;
        const int *starts = start_steps(schedule, arena);
        bool known = tries < limits->first_try || starts_as_before(schedule, starts, &before, starts_before);
        before = *schedule;
        starts_before = starts;
        if (known)
            continue;
        schedule_postpone(p, 0, schedule, arena);
        *peak = schedule_place(schedule, p->l2_bytes, limits->care);
        if (*peak <= p->l2_bytes) {
            schedule_advance(schedule, starts, arena);
            return true;
        }
    }
    return false;
}

/* Cycles. With one step's computing between its start and its need a transfer can take longer than predicted, and the fabric
 * controller can start it late; steps may begin sooner than predicted. */
static const uint64_t margins[] = {100000, 50000, 20000, 10000, 5000};
#define MARGINS (sizeof margins / sizeof *margins)

/* With one margin; only places on the bound count: what is above it may be lost in gaps. */
static bool fit_with_margin(const struct planner *p, int tries, uint64_t margin, enum place_care care,
                            struct schedule *schedule, uint32_t *peak, struct arena *arena)
{
    make_schedule(p, tries, schedule, arena);
    const int *starts = start_steps(schedule, arena);
    schedule_postpone(p, margin, schedule, arena);
    *peak = schedule_place(schedule, schedule->live_bytes, care);
    if (*peak > schedule->live_bytes || *peak > p->l2_bytes)
        return false;
    schedule_advance(schedule, starts, arena);
    return true;
}

bool schedule_fit_early(const struct planner *p, int tries, uint64_t cycles, struct schedule *schedule, uint32_t *peak,
                        struct arena *arena)
{
    for (size_t i = 0; i < MARGINS; i++)
        for (int more = tries; more < (int)TRIES; more++) {
            bool found = fit_with_margin(p, more, margins[i], PLACE_QUICKLY, schedule, peak, arena);
            if (schedule->cycles > cycles)
                break;
            if (found)
                return true;
        }
    return fit_with_margin(p, tries, 0, PLACE_CAREFULLY, schedule, peak, arena) && schedule->cycles <= cycles;
}
