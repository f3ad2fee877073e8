#include <inttypes.h>

#include "explore/explore.h"

static const char *size_text(struct text *text, uint32_t bytes)
{
    const uint32_t mega = 1u << 20;
    return bytes % mega == 0   ? arena_format(text->arena, "%" PRIu32 "M", bytes / mega)
           : bytes % 1024 == 0 ? arena_format(text->arena, "%" PRIu32 "k", bytes / 1024)
                               : arena_format(text->arena, "%" PRIu32, bytes);
}

static const char *pair_text(struct text *text, const struct clock_pair *clocks)
{
    return arena_format(text->arena, "%" PRIu32 "/%" PRIu32, clocks->controller_mhz, clocks->cluster_mhz);
}

static const char *energy_text(struct text *text, const struct explored *point)
{
    return point->millijoules > 0 ? arena_format(text->arena, "%8.1f %9.3f", point->milliwatts, point->millijoules)
                                  : arena_format(text->arena, "%8s %9s", "?", "?");
}

/* Of the target's own sizes where they are asked, else of the largest. */
static int shown_memories(const struct explore_question *question)
{
    int l1 = question->l1_count - 1, l2 = question->l2_count - 1;
    for (int i = 0; i < question->l1_count; i++)
        l1 = question->l1_bytes[i] == question->target->l1_bytes ? i : l1;
    for (int i = 0; i < question->l2_count; i++)
        l2 = question->l2_bytes[i] == question->target->l2_bytes ? i : l2;
    return l1 * question->l2_count + l2;
}

static void add_clocks(const struct exploration *exploration, struct text *text)
{
    const struct explore_question *question = exploration->question;
    const struct explored *points = &exploration->points[shown_memories(question) * question->clock_count];
    text_add(text, "L1 %s, L2 %s\n", size_text(text, points->l1_bytes), size_text(text, points->l2_bytes));
    text_add(text, "%-9s %12s %9s %9s %8s %9s\n", "clocks", "cycles", "ms", "frames/s", "mW *", "mJ *");
    for (int i = 0; i < question->clock_count; i++) {
        const char *clocks = pair_text(text, &points[i].clocks);
        if (!points[i].cycles)
            text_add(text, "%-9s does not fit\n", clocks);
        else
            text_add(text, "%-9s %12" PRIu64 " %9.3f %9.2f %s%s\n", clocks, points[i].cycles, points[i].milliseconds,
                     1000 / points[i].milliseconds, energy_text(text, &points[i]), points[i].is_on_front ? "  front" : "");
    }
}

static void add_memories(const struct exploration *exploration, struct text *text)
{
    const struct explore_question *question = exploration->question;
    int pair = exploration->cheapest < 0 ? 0 : exploration->cheapest % question->clock_count;
    if (question->l1_count * question->l2_count == 1)
        return;
    text_add(text, "\nMilliseconds at %s MHz, by L1 (down) and L2\n%-9s", pair_text(text, &question->clocks[pair]), "");
    for (int i = 0; i < question->l2_count; i++)
        text_add(text, " %9s", size_text(text, question->l2_bytes[i]));
    for (int i = 0; i < question->l1_count * question->l2_count; i++) {
        const struct explored *point = &exploration->points[i * question->clock_count + pair];
        if (i % question->l2_count == 0)
            text_add(text, "\n%-9s", size_text(text, point->l1_bytes));
        if (point->cycles)
            text_add(text, " %9.3f", point->milliseconds);
        else
            text_add(text, " %9s", "-");
    }
    text_add_string(text, "\n");
}

static void add_point(const struct explored *point, const char *what, struct text *text)
{
    text_add(text, "%s: %s MHz, L1 %s, L2 %s: %.3f ms, %.3f mJ *\n", what, pair_text(text, &point->clocks),
             size_text(text, point->l1_bytes), size_text(text, point->l2_bytes), point->milliseconds, point->millijoules);
}

static void add_front(const struct exploration *exploration, struct text *text)
{
    text_add_string(text, "\nFront of latency and energy\n");
    for (int i = 0; i < exploration->count; i++)
        if (exploration->points[i].is_on_front)
            add_point(&exploration->points[i], " ", text);
}

/* Race to idle: the fastest pair, then nothing; slow and steady: the cheapest that is in time. */
static void add_choice(const struct exploration *exploration, struct text *text)
{
    double deadline = exploration->question->deadline_milliseconds;
    if (exploration->cheapest < 0) {
        text_add_string(text, deadline > 0 ? "\nNo point that is known to meet the deadline\n" : "");
        return;
    }
    const struct explored *steady = &exploration->points[exploration->cheapest];
    const struct explored *race = &exploration->points[exploration->fastest];
    text_add_string(text, "\n");
    if (deadline > 0)
        text_add(text, "Deadline %.3f ms\n", deadline);
    add_point(steady, "Slow and steady", text);
    add_point(race, "Race to idle", text);
    if (race->millijoules > 0 && race != steady)
        text_add(text, "Steady takes %.0f %% less energy, were idling for free\n",
                 100 * (1 - steady->millijoules / race->millijoules));
}

static void add_source(const struct power_point *point, struct text *text)
{
    text_add(text, "  %.1f mW at %" PRIu32 " MHz, %.2f V: %s\n", point->microwatts / 1000.0, point->mhz,
             point->millivolts / 1000.0, point->source);
}

static void add_notes(const struct exploration *exploration, struct text *text)
{
    const struct target *target = exploration->question->target;
    if (!target->low.source) {
        text_add(text, "\n* the description of %s has no power\n", target->name);
        return;
    }
    text_add_string(text, "\n* Estimates. Measured were, of the whole chip at work\n");
    add_source(&target->low, text);
    add_source(&target->high, text);
    text_add(
        text,
        "Assumed: a power law of the clock between them, proportional below; the faster clock sets the voltage, %" PRIu32
        " %% of the\npower are the controller's domain; the same power whatever the sizes of memories and the traffic; "
        "idling "
        "and flash are not counted\n",
        target->controller_power_percent);
}

void explore_text(const struct exploration *exploration, struct text *text)
{
    const struct explore_question *question = exploration->question;
    text_add(text, "%s on %s: %d point%s, %d plan%s\n\n", text_file_name(question->network->name), question->target->name,
             exploration->count, exploration->count == 1 ? "" : "s", exploration->plans, exploration->plans == 1 ? "" : "s");
    add_clocks(exploration, text);
    add_memories(exploration, text);
    add_front(exploration, text);
    add_choice(exploration, text);
    add_notes(exploration, text);
}
