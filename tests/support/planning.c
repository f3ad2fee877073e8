#include "planning.h"

#include <stdlib.h>

#include "expect.h"

struct planner planner_for(const struct network *network, const struct target *target, const struct plan_options *options,
                           struct diagnostics *diagnostics)
{
    return (struct planner){.network = network,
                            .target = target,
                            .options = options,
                            .arena = diagnostics->arena,
                            .kept = diagnostics->arena,
                            .diagnostics = diagnostics};
}

uint32_t tight_l2_bytes(const struct network *network, const struct target *target, uint32_t l1_bytes, uint64_t seed,
                        uint32_t steps)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    const struct plan_options options = {.l1_bytes = l1_bytes, .l2_bytes = 1 << 20};
    struct planner planner = planner_for(network, target, &options, &diagnostics);
    struct plan plan;
    uint32_t least = 0, most = 0;
    uint64_t part = seed % steps * (seed % steps);
    int layer;
    if (planner_start(&planner) && least_l2(&planner, &least, &layer) &&
        plan_make(network, target, &options, &plan, &arena, &diagnostics))
        most = plan.l2_peak_bytes;
    arena_free(&arena);
    return most > least ? least + (uint32_t)((most - least) * part / ((uint64_t)steps * steps)) : most;
}

uint64_t test_seeds(int argc, char **argv, uint64_t otherwise, seed_test *test, void *counts)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : otherwise;
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    EXPECT(target_load(&target, "gap8", &arena, &diagnostics), "gap8 is built in");
    for (uint64_t seed = 1; seed <= count; seed++)
        test(seed, &target, counts);
    arena_free(&arena);
    return count;
}
