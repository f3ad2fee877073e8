/* A plan that is made with what plans for other sizes of L2 have found is the one that is made without. */
#include "plan/plan.h"

#include <inttypes.h>
#include <string.h>

#include "expect.h"
#include "networks.h"

static bool has_same_layers(const struct plan *a, const struct plan *b)
{
    bool same = a->step_count == b->step_count && a->predicted_cycles == b->predicted_cycles;
    for (int i = 0; same && i < a->network->layer_count; i++)
        same = a->layers[i].kernel == b->layers[i].kernel &&
               a->layers[i].predicted_cycles == b->layers[i].predicted_cycles &&
               !memcmp(&a->layers[i].record.l1, &b->layers[i].record.l1, sizeof a->layers[i].record.l1);
    return same;
}

/* Returns how many sizes it fits. */
static int test_network(const struct network *network, uint64_t seed, const struct target *target, struct arena *arena)
{
    struct cut_memory *memory = cut_memory_make(arena);
    int fitting = 0;
    for (uint32_t bytes = 20000; bytes <= 100000; bytes += 16000) {
        struct diagnostics diagnostics = {.arena = arena};
        struct plan_options options = {.l1_bytes = 24000, .l2_bytes = bytes};
        struct plan alone, with_memory;
        bool fits = plan_make(network, target, &options, &alone, arena, &diagnostics);
        options.memory = memory;
        EXPECT(plan_make(network, target, &options, &with_memory, arena, &diagnostics) == fits, "seed %" PRIu64, seed);
        EXPECT(!fits || has_same_layers(&alone, &with_memory), "seed %" PRIu64 ", %" PRIu32 " bytes", seed, bytes);
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
    int fitting = test_network(residual_network(&arena, 32, 16), 0, &target, &arena);
    for (uint64_t seed = 1; seed <= 12; seed++)
        fitting += test_network(seeded_network(&arena, seed, 6), seed, &target, &arena);
    EXPECT(fitting > 20, "only %d plans", fitting);
    arena_free(&arena);
    return expect_result("plans with a memory");
}
