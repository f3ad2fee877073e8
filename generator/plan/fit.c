/* A schedule that can be placed: transfers as late as they may be, then places, then transfers as early as places let them.
 */
#include "plan/planner.h"

#include <string.h>

/* Parts in a thousand of L2 that are left to gaps, one after the other, until all buffers have places. */
static const uint32_t left_to_gaps[] = {0, 4, 16, 64, 256, 1000};
#define TRIES (sizeof left_to_gaps / sizeof *left_to_gaps)

/* By transfer. */
struct starts {
    int *steps, count;
};

static struct starts starts_of(const struct schedule *schedule, struct arena *arena)
{
    struct starts starts = {arena_array(arena, int, (size_t)schedule->transfer_count), schedule->transfer_count};
    for (int i = 0; i < starts.count; i++)
        starts.steps[i] = schedule->transfers[i].start_step;
    return starts;
}

/* True where all transfers start as others do, so that the same places would be looked for. */
static bool same_starts(const struct starts *a, const struct starts *b)
{
    return a->count == b->count && (a->count == 0 || !memcmp(a->steps, b->steps, (size_t)a->count * sizeof *a->steps));
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
    struct starts before = {NULL, -1};
    uint64_t least_cycles = 0;
    for (int tries = 0; tries < (int)TRIES; tries++) {
        make_schedule(p, tries, schedule, arena);
        least_cycles = tries == 0 ? schedule->cycles : least_cycles;
        schedule->gap_cycles = schedule->cycles > least_cycles ? schedule->cycles - least_cycles : 0;
        if (schedule->live_bytes > p->l2_bytes || schedule->cycles >= limits->cycles)
            return false;
        struct starts starts = starts_of(schedule, arena);
        bool known = tries < limits->first_try || same_starts(&starts, &before);
        before = starts;
        if (known)
            continue;
        schedule_postpone(p, 0, schedule, arena);
        *peak = schedule_place(schedule, p->l2_bytes, limits->care);
        if (*peak <= p->l2_bytes) {
            schedule_advance(schedule, starts.steps, arena);
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
    struct starts starts = starts_of(schedule, arena);
    schedule_postpone(p, margin, schedule, arena);
    *peak = schedule_place(schedule, schedule->live_bytes, care);
    if (*peak > schedule->live_bytes || *peak > p->l2_bytes)
        return false;
    schedule_advance(schedule, starts.steps, arena);
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
