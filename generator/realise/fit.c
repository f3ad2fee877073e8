/* A schedule that can be placed: transfers as late as they may be, then places, then transfers as early as places let them.
 * Where that finds no places, these are found while the decision is played (gaps.c), which may take longer. */
#include "realise/schedule.h"

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

/* With transfers as late as they may be, so many cycles in front of what needs them, and places for all of it: in L2, or on
 * the bound, for what is above that may be lost in gaps. */
static bool fit_late(const struct problem *p, uint64_t margin, bool on_bound, enum place_care care,
                     struct schedule *schedule, struct arena *arena)
{
    const int *starts = starts_of(schedule, arena);
    schedule_postpone(p, margin, schedule, arena);
    uint32_t enough = on_bound ? dory_minimum(schedule->live_bytes, schedule->l2_bytes) : schedule->l2_bytes;
    if (!schedule_place(p, schedule, enough, care))
        return false;
    schedule_advance(schedule, starts, arena);
    return true;
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
    schedule_make(decision, schedule, arena);
    uint64_t least_cycles = schedule->cycles; /* were there places for all of it */
    if (schedule->live_bytes > schedule->l2_bytes || least_cycles >= limits->cycles)
        return false;
    bool found = fit_late(decision->problem, 0, false, limits->care, schedule, arena) ||
                 fit_in_gaps(decision, limits, schedule, arena);
    schedule->gap_cycles = found && schedule->cycles > least_cycles ? schedule->cycles - least_cycles : 0;
    return found;
}

/* Cycles. With one step's computing between its start and its need a transfer can take longer than predicted, and the fabric
 * controller can start it late; steps may begin sooner than predicted. */
static const uint64_t margins[] = {5000, 10000, 20000, 50000, 100000};
#define MARGINS (sizeof margins / sizeof *margins)

static bool fit_with_margin(const struct decision *decision, uint64_t margin, enum place_care care,
                            struct schedule *schedule, struct arena *arena)
{
    schedule_make(decision, schedule, arena);
    return fit_late(decision->problem, margin, true, care, schedule, arena);
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
