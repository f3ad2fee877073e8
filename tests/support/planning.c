#include "planning.h"

#include <stdlib.h>

#include "expect.h"

struct problem problem_for(const struct network *network, const struct target *target, const struct plan_options *options,
                           struct arena *arena)
{
    return (struct problem){.network = network, .target = target, .options = options, .arena = arena};
}

bool has_operands(const struct network *network, int layer, uint8_t ram)
{
    for (int i = 0; i < 3; i++)
        if (ram >> i & 1 && layer_operand(&network->layers[layer], i) < 0)
            return false;
    return true;
}

/* 0: there is no tile for some layer. */
static uint32_t least_l2_bytes(const struct network *network, const struct target *target,
                               const struct plan_options *options, struct arena *arena, struct diagnostics *diagnostics)
{
    struct problem problem = problem_for(network, target, options, arena);
    uint32_t least = 0;
    int layer;
    if (!problem_make(&problem, arena, diagnostics))
        return 0;
    struct decision decision = decision_make(&problem, arena);
    return least_l2(&decision, &least, &layer) ? least : 0;
}

uint32_t tight_l2_bytes(const struct network *network, const struct target *target, uint32_t l1_bytes, uint64_t seed,
                        uint32_t steps)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    const struct plan_options options = {.l1_bytes = l1_bytes, .l2_bytes = 1 << 20};
    struct plan plan;
    uint32_t least = least_l2_bytes(network, target, &options, &arena, &diagnostics), most = 0;
    uint64_t part = seed % steps * (seed % steps);
    if (least > 0 && plan_make(network, target, &options, &plan, &arena, &diagnostics))
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

struct formed_layer formed_layer_of(const struct network *network, int layer, const struct target *target,
                                    struct arena *arena)
{
    struct diagnostics diagnostics = {.arena = arena};
    struct described_layer described = {0};
    struct formed_layer formed = {0};
    EXPECT(describe_layer(network, layer, &described, arena, &diagnostics) &&
               form_layer(&described, target, target->cores, network->layers[layer].name, &formed, arena, &diagnostics),
           "layer %d: %s", layer, diagnostics.count ? diagnostics.list[0].text : "");
    return formed;
}
