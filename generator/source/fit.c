/* A schedule that can be placed. Transfers start as soon as bytes are free; where those are not in one piece, as soon as a
 * gap is. */
#include "planner.h"

static uint32_t peak_of(const struct schedule *schedule)
{
    uint32_t peak = 0;
    for (int i = 0; i < schedule->buffer_count; i++) {
        uint32_t end = schedule->buffers[i].offset + schedule->buffers[i].bytes;
        peak = end > peak ? end : peak;
    }
    return peak;
}

bool schedule_fit_by(const struct planner *p, enum shelf_rule rule, struct schedule *schedule, struct arena *arena)
{
    return schedule_make_placed(p, rule, true, schedule, arena) || schedule_make_placed(p, rule, false, schedule, arena);
}

static bool fit_on_shelf(const struct planner *p, struct schedule *schedule, uint32_t *peak, struct arena *arena)
{
    bool found = false;
    for (int rule = 0; rule < SHELF_RULES; rule++) {
        struct schedule other;
        if (!schedule_fit_by(p, (enum shelf_rule)rule, &other, arena) || (found && other.cycles >= schedule->cycles))
            continue;
        *schedule = other;
        found = true;
    }
    if (found)
        *peak = peak_of(schedule);
    return found;
}

bool schedule_fit(const struct planner *p, struct schedule *schedule, uint32_t *peak, struct arena *arena)
{
    struct schedule ideal;
    bool found = fit_on_shelf(p, schedule, peak, arena);
    schedule_make(p, NULL, &ideal, arena);
    if (ideal.live_bytes <= p->l2_bytes && (!found || ideal.cycles < schedule->cycles)) {
        uint32_t ideal_peak = schedule_place(&ideal, p->l2_bytes);
        if (ideal_peak <= p->l2_bytes) {
            *schedule = ideal;
            *peak = ideal_peak;
            found = true;
        }
    }
    if (found)
        schedule->gap_cycles = schedule->cycles > ideal.cycles ? schedule->cycles - ideal.cycles : 0;
    return found;
}

/* Other offsets, if they take less of L2. */
static void compact(struct schedule *schedule, uint32_t *peak, struct arena *arena)
{
    uint32_t *offsets = arena_array(arena, uint32_t, (size_t)schedule->buffer_count);
    for (int i = 0; i < schedule->buffer_count; i++)
        offsets[i] = schedule->buffers[i].offset;
    uint32_t compacted = schedule_place(schedule, 0);
    for (int i = 0; i < schedule->buffer_count && compacted > *peak; i++)
        schedule->buffers[i].offset = offsets[i];
    *peak = dory_minimum(*peak, compacted);
}

/* The same decision in what lives at most, which is less than it takes now: where that is no slower, nothing is lost in
 * gaps. */
static bool tighten(const struct planner *p, struct schedule *schedule, uint32_t *peak, struct arena *arena)
{
    struct planner smaller = *p;
    struct schedule other;
    uint32_t other_peak;
    smaller.l2_bytes = schedule->live_bytes;
    if (!schedule_fit(&smaller, &other, &other_peak, arena) || other.cycles > schedule->cycles)
        return false;
    *schedule = other;
    *peak = other_peak;
    return true;
}

bool schedule_fit_tightly(const struct planner *p, struct schedule *schedule, uint32_t *peak, struct arena *arena)
{
    bool found = schedule_fit(p, schedule, peak, arena);
    uint64_t gap_cycles = schedule->gap_cycles;
    while (found && *peak > schedule->live_bytes && tighten(p, schedule, peak, arena))
        continue;
    if (found && *peak > schedule->live_bytes)
        compact(schedule, peak, arena);
    schedule->gap_cycles = gap_cycles;
    return found;
}
