/* A plan made for two clocks is no slower at them than one that was made for equal clocks: the decisions of the latter are
 * played anew at the costs of the former. */
#include "solve/plan_make.h"

#include <inttypes.h>
#include <string.h>

#include "expect.h"
#include "networks.h"
#include "plan/timeline.h"
#include "share.h"

struct pair {
    uint32_t controller_mhz, cluster_mhz;
};

#define PAIRS 4
static const struct pair pairs[PAIRS] = {{250, 175}, {50, 100}, {250, 50}, {100, 250}};

static struct target at(struct pair clocks, struct arena *arena)
{
    struct diagnostics diagnostics = {.arena = arena};
    struct target target;
    EXPECT(target_load(&target, "gap8", arena, &diagnostics), "gap8 is built in");
    EXPECT(target_set_clocks(&target, clocks.controller_mhz, clocks.cluster_mhz, &diagnostics), "GAP8 has these clocks");
    return target;
}

/* Cycles of a plan's own decisions on a target that is another one only by its costs. */
static uint64_t play(const struct plan *plan, const struct target *target, struct arena *arena)
{
    struct plan other = *plan;
    timeline_play_on(&other, target, arena);
    return other.predicted_cycles;
}

static void test_network(const char *name, const struct network *network, uint32_t l2_bytes, size_t pair_count,
                         struct arena *arena)
{
    struct diagnostics diagnostics = {.arena = arena};
    const struct plan_options options = {.l2_bytes = l2_bytes};
    struct target equal = at((struct pair){100, 100}, arena);
    struct plan for_equal;
    EXPECT(plan_make(network, &equal, &options, &for_equal, arena, &diagnostics), "%s", name);
    EXPECT(play(&for_equal, &equal, arena) == for_equal.predicted_cycles, "%s: played anew, it is another one", name);
    for (size_t i = 0; i < pair_count; i++) {
        struct target target = at(pairs[i], arena);
        struct plan plan;
        EXPECT(plan_make(network, &target, &options, &plan, arena, &diagnostics), "%s", name);
        uint64_t cycles = play(&for_equal, &target, arena);
        printf("%s, %" PRIu32 "/%" PRIu32 ": %" PRIu64 " cycles, planned for equal clocks %" PRIu64 "\n", name,
               pairs[i].controller_mhz, pairs[i].cluster_mhz, plan.predicted_cycles, cycles);
        EXPECT(plan.predicted_cycles <= cycles, "%s, %" PRIu32 "/%" PRIu32 ": slower by %" PRIu64, name,
               pairs[i].controller_mhz, pairs[i].cluster_mhz, plan.predicted_cycles - cycles);
    }
}

int main(void)
{
    struct arena arena = {0};
    if (share_is_all()) {
        test_network("MobileNetV1-0.25-128", mobilenet_v1(&arena, 128, 25), 460000, 2, &arena);
        test_network("MobileNetV2-1.0-128", mobilenet_v2(&arena, 128, 100), 440000, 1, &arena);
        test_network("20 layers", deep_network(&arena, 20), 90000, 2, &arena);
    }
    test_network("residual blocks", residual_network(&arena, 32, 16), 60000, share_is_all() ? PAIRS : 1, &arena);
    for (uint64_t seed = 1; seed <= share_of(10); seed++)
        test_network("random", seeded_network(&arena, seed, 8), 100000, share_is_all() ? PAIRS : 1, &arena);
    arena_free(&arena);
    return expect_result("plans for clocks");
}
