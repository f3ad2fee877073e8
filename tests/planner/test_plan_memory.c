/* A plan that is made with what plans for other sizes of L2 and other clocks have found is the one that is made without. */
#include "solve/plan_make.h"

#include <inttypes.h>
#include <string.h>

#include "expect.h"
#include "networks.h"
#include "share.h"

static bool has_same_layers(const struct plan *a, const struct plan *b)
{
    bool same = a->step_count == b->step_count && a->predicted_cycles == b->predicted_cycles;
    for (int i = 0; same && i < a->network->layer_count; i++)
        same = a->layers[i].kernel == b->layers[i].kernel &&
               a->layers[i].predicted_cycles == b->layers[i].predicted_cycles &&
               !memcmp(&a->layers[i].record.l1, &b->layers[i].record.l1, sizeof a->layers[i].record.l1);
    return same;
}

/* With sizes of L2 and with clocks that follow each other; returns how often it fits. */
static int test_network(const struct network *network, uint64_t seed, const struct target *equal, struct arena *arena)
{
    static const uint32_t clocks[][2] = {{100, 100}, {100, 175}, {250, 100}};
    struct plan_memory *memory = plan_memory_make(arena);
    int fitting = 0;
    for (uint32_t i = 0; i < 9; i++) {
        struct diagnostics diagnostics = {.arena = arena};
        struct plan_options options = {.l1_bytes = 24000, .l2_bytes = 20000 + i / 3 * 32000};
        struct plan alone, with_memory;
        struct target target = *equal;
        EXPECT(target_set_clocks(&target, clocks[i % 3][0], clocks[i % 3][1], &diagnostics), "clocks %" PRIu32, i % 3);
        bool fits = plan_make(network, &target, &options, &alone, arena, &diagnostics);
        options.memory = memory;
        EXPECT(plan_make(network, &target, &options, &with_memory, arena, &diagnostics) == fits, "seed %" PRIu64, seed);
        EXPECT(!fits || has_same_layers(&alone, &with_memory), "seed %" PRIu64 ", plan %" PRIu32, seed, i);
        fitting += fits;
    }
    return fitting;
}

int main(void)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    EXPECT(target_load(&target, "gap8", &arena, &diagnostics), "gap8 is built in");
    int fitting =
        share_is_all() ? test_network(residual_network(&arena, 20, 16), 0, &target, &arena) : 0; /* nearly all of the time */
    for (uint64_t seed = 1; seed <= 6; seed++)
        fitting += test_network(seeded_network(&arena, seed, 6), seed, &target, &arena);
    EXPECT(fitting > 30, "only %d plans", fitting);
    arena_free(&arena);
    return expect_result("plans with a memory");
}
