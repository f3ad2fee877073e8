/* A schedule that can be placed. */
#include "planner.h"

#include <string.h>

/* Parts in a thousand of L2 that are left to gaps, one after the other, until all buffers have places. */
static const uint32_t left_to_gaps[] = {0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1000};
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

/* Finds places; the starts are those that L2 without any gaps would let. */
static bool find_places(const struct planner *p, enum place_care care, const int *starts, struct schedule *schedule,
                        uint32_t *peak, struct arena *arena)
{
    schedule_postpone(p, schedule, arena);
    *peak = schedule_place(schedule, p->l2_bytes, care);
    if (*peak > p->l2_bytes)
        return false;
    schedule_advance(schedule, starts, arena);
    return true;
}

bool schedule_fit(const struct planner *p, const struct fit_limits *limits, struct schedule *schedule, uint32_t *peak,
                  struct arena *arena)
{
    struct schedule before;
    const int *starts_before = NULL;
    uint64_t least_cycles = 0;
    for (int i = 0; i < (int)TRIES; i++) {
        struct planner part = *p;
        part.l2_bytes -= (uint32_t)((uint64_t)p->l2_bytes * left_to_gaps[i] / 1000);
        schedule_make(&part, NULL, schedule, arena);
        least_cycles = i == 0 ? schedule->cycles : least_cycles;
        schedule->gap_cycles = schedule->cycles > least_cycles ? schedule->cycles - least_cycles : 0;
        schedule->tries = i;
        if (schedule->live_bytes > p->l2_bytes || schedule->cycles >= limits->cycles)
            return false;
        const int *starts = start_steps(schedule, arena);
        bool known = i < limits->first_try || starts_as_before(schedule, starts, &before, starts_before);
        before = *schedule;
        starts_before = starts;
        if (!known && find_places(p, limits->care, starts, schedule, peak, arena))
            return true;
    }
    return false;
}
