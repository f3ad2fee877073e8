/* What follows from cycles: time, and energy as far as power is known. */
#include "explore/explore.h"

static void estimate(const struct target *target, struct explored *point)
{
    if (!point->cycles)
        return;
    point->milliseconds = (double)point->cycles / point->clocks.cluster_mhz / 1000;
    point->milliwatts = target_power_milliwatts(target, point->clocks.controller_mhz, point->clocks.cluster_mhz);
    point->millijoules = point->milliwatts * point->milliseconds / 1000;
}

/* As good in both, and better in one. Without energies, time alone counts. */
static bool beats(const struct explored *a, const struct explored *b)
{
    return a->cycles && a->milliseconds <= b->milliseconds && a->millijoules <= b->millijoules &&
           (a->milliseconds < b->milliseconds || a->millijoules < b->millijoules);
}

/* More memory than it takes is no merit: among equals the first, which has the least, is on the front. */
static bool is_same(const struct explored *a, const struct explored *b)
{
    return a->milliseconds == b->milliseconds && a->millijoules == b->millijoules;
}

static bool is_on_front(const struct exploration *exploration, int index)
{
    const struct explored *point = &exploration->points[index];
    bool on_front = point->cycles != 0;
    for (int i = 0; on_front && i < exploration->count; i++)
        on_front = !beats(&exploration->points[i], point) && !(i < index && is_same(&exploration->points[i], point));
    return on_front;
}

static bool meets(const struct explore_question *question, const struct explored *point)
{
    return point->cycles && (question->deadline_milliseconds == 0 || point->milliseconds <= question->deadline_milliseconds);
}

static bool has_same_memories(const struct explored *a, const struct explored *b)
{
    return a->l1_bytes == b->l1_bytes && a->l2_bytes == b->l2_bytes;
}

void explore_estimate(struct exploration *exploration)
{
    struct explored *points = exploration->points;
    exploration->cheapest = exploration->fastest = -1;
    for (int i = 0; i < exploration->count; i++)
        estimate(exploration->question->target, &points[i]);
    for (int i = 0; i < exploration->count; i++) {
        int best = exploration->cheapest;
        points[i].is_on_front = is_on_front(exploration, i);
        if (points[i].millijoules > 0 && meets(exploration->question, &points[i]) &&
            (best < 0 || points[i].millijoules < points[best].millijoules))
            exploration->cheapest = i;
    }
    for (int i = 0; i < exploration->count; i++) {
        int best = exploration->fastest, like = exploration->cheapest;
        if (points[i].cycles && (like < 0 || has_same_memories(&points[i], &points[like])) &&
            (best < 0 || points[i].milliseconds < points[best].milliseconds))
            exploration->fastest = i;
    }
}
