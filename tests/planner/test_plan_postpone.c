/* Postponed prefetches: no step waits longer, less lives at a time, the queue keeps its order. With places they start again
 * as early as nothing else lies there. */
#include <inttypes.h>
#include <string.h>

#include "dory/hal.h"
#include "expect.h"
#include "networks.h"
#include "planning.h"
#include "share.h"

enum { MORE_BYTES = 4000, MOST_MORE_BYTES = 20000 };

struct subject {
    const char *name;
    const struct network *network;
    uint32_t l1_bytes, l2_bytes;
};

struct before {
    int *starts;
    uint64_t *step_starts; /* cycles at which the steps have all that they await */
    uint32_t live_bytes;
};

static void keep(const struct problem *p, const struct schedule *s, struct before *before)
{
    struct timeline timeline;
    schedule_timeline(p, s, &timeline, p->arena);
    before->starts = arena_array(p->arena, int, (size_t)s->transfer_count);
    before->step_starts = arena_array(p->arena, uint64_t, (size_t)s->step_count);
    for (int i = 0; i < s->transfer_count; i++)
        before->starts[i] = s->transfers[i].start_step;
    for (int i = 0; i < s->step_count; i++)
        before->step_starts[i] = timeline.steps[i].start_cycle;
    before->live_bytes = s->live_bytes;
}

static bool is_prefetch(const struct plan_transfer *transfer)
{
    return transfer->record.kind != HAL_RAM_WRITE && transfer->start_step < transfer->needed_step;
}

/* Writes, and reads that are late, enter the queue when their step begins, prefetches when it has all that it awaits. */
static void expect_order(const struct schedule *s, const char *name)
{
    for (int i = 1; i < s->transfer_count; i++) {
        const struct plan_transfer *before = &s->transfers[i - 1], *transfer = &s->transfers[i];
        bool at_begin = is_prefetch(before) && !is_prefetch(transfer);
        EXPECT(before->start_step + (at_begin ? 1 : 0) <= transfer->start_step, "%s: transfer %d", name, i);
    }
}

/* Returns how many transfers start at another step. */
static int expect_same_times(const struct problem *p, const struct schedule *s, const struct before *before,
                             const char *name)
{
    struct timeline timeline;
    int moved = 0;
    schedule_timeline(p, s, &timeline, p->arena);
    EXPECT(timeline.end_cycle == s->cycles, "%s: %" PRIu64 " cycles, were %" PRIu64, name, timeline.end_cycle, s->cycles);
    for (int i = 0; i < s->step_count; i++)
        EXPECT(timeline.steps[i].start_cycle == before->step_starts[i], "%s: step %d starts at %" PRIu64 ", did at %" PRIu64,
               name, i, timeline.steps[i].start_cycle, before->step_starts[i]);
    for (int i = 0; i < s->transfer_count; i++) {
        EXPECT(s->transfers[i].start_step >= before->starts[i], "%s: transfer %d", name, i);
        moved += s->transfers[i].start_step != before->starts[i];
    }
    expect_order(s, name);
    EXPECT(s->live_bytes <= before->live_bytes, "%s: %u bytes live, %u did", name, s->live_bytes, before->live_bytes);
    return moved;
}

static bool lie_apart(const struct plan_buffer *a, const struct plan_buffer *b)
{
    return a->last_step < b->first_step || b->last_step < a->first_step || a->offset + a->bytes <= b->offset ||
           b->offset + b->bytes <= a->offset;
}

/* Returns how many are earlier than they were postponed to. */
static int expect_advanced(const struct schedule *s, const int *postponed, const char *name)
{
    int moved = 0;
    for (int i = 0; i < s->buffer_count; i++)
        for (int j = 0; j < i; j++)
            EXPECT(lie_apart(&s->buffers[i], &s->buffers[j]), "%s: buffers %d and %d", name, i, j);
    for (int i = 0; i < s->transfer_count; i++) {
        EXPECT(s->transfers[i].start_step <= postponed[i], "%s: transfer %d", name, i);
        moved += s->transfers[i].start_step < postponed[i];
    }
    return moved;
}

/* In so much L2. True: there are places. */
static bool test_in(const struct subject *subject, uint32_t l2_bytes, const struct target *target, struct arena *arena)
{
    struct diagnostics diagnostics = {.arena = arena};
    /* blocks leave so little of L2 that places are found only while the decision is played */
    const struct plan_options options = {.l1_bytes = subject->l1_bytes, .l2_bytes = l2_bytes, .blocks = BLOCKS_NONE};
    struct problem p = problem_for(subject->network, target, &options, arena);
    struct outcome outcome;
    struct schedule s, with_margin;
    struct before before, postponed;
    REQUIRE(problem_make(&p, arena, &diagnostics) && optimise(&p, &outcome));
    schedule_make(&outcome.decision, &s, arena);
    keep(&p, &s, &before);
    schedule_postpone(&p, 0, &s, arena);
    int moved = expect_same_times(&p, &s, &before, subject->name);
    keep(&p, &s, &postponed);

    schedule_make(&outcome.decision, &with_margin, arena);
    schedule_postpone(&p, 20000, &with_margin, arena);
    expect_same_times(&p, &with_margin, &before, subject->name);
    for (int i = 0; i < s.transfer_count; i++)
        EXPECT(with_margin.transfers[i].start_step <= postponed.starts[i], "%s: transfer %d", subject->name, i);

    if (!schedule_place(&p, &s, options.l2_bytes, PLACE_CAREFULLY))
        return false;
    schedule_advance(&s, before.starts, arena);
    expect_same_times(&p, &s, &before, subject->name);
    int advanced = expect_advanced(&s, postponed.starts, subject->name);
    printf("%s in %u bytes: %d of %d transfers postponed, %u bytes live instead of %u; then %d start earlier\n",
           subject->name, l2_bytes, moved, s.transfer_count, postponed.live_bytes, before.live_bytes, advanced);
    EXPECT(moved > 0 && advanced > 0, "%s: %d, %d", subject->name, moved, advanced);
    return true;
}

/* A decision that fills L2 to the last bytes may have no places: then one in a little more of it. */
static void test_subject(const struct subject *subject, const struct target *target, struct arena *arena)
{
    bool placed = false;
    for (uint32_t more = 0; !placed && more <= MOST_MORE_BYTES; more += MORE_BYTES)
        placed = test_in(subject, subject->l2_bytes + more, target, arena);
    EXPECT(placed, "%s: no places in up to %u bytes", subject->name, subject->l2_bytes + MOST_MORE_BYTES);
}

int main(void)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    EXPECT(target_load(&target, "gap8", &arena, &diagnostics), "gap8 is built in");
    const struct subject subjects[] = {
        {"20 layers", deep_network(&arena, 20), 30000, 60000},
        {"MobileNetV1-1.0-128", mobilenet_v1(&arena, 128, 100), 55000, 450000},
        {"MobileNetV2-1.0-128", mobilenet_v2(&arena, 128, 100), 55000, 420000},
        {"MobileNetV2-1.0-128 in 260 kB", mobilenet_v2(&arena, 128, 100), 45000, 260000}, /* activations in RAM */
    };
    for (size_t i = 0; i < (share_is_all() ? sizeof subjects / sizeof *subjects : 2); i++)
        test_subject(&subjects[i], &target, &arena);
    arena_free(&arena);
    return expect_result("postponed prefetches");
}
