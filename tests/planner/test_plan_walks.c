/* A search of more walks finds a faster plan where L2 is small for a network, and finds the same one each time. */
#include <inttypes.h>

#include "check/check.h"
#include "expect.h"
#include "networks.h"
#include "share.h"
#include "solve/plan_make.h"

#define NETWORKS   8
#define MORE_WALKS 3

/* UINT64_MAX: there is none. `peak`: what it takes of L2. */
static uint64_t plan_cycles(const struct network *network, const struct plan_options *options, uint32_t *peak)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    struct plan plan;
    EXPECT(target_load(&target, "gap8", &arena, &diagnostics), "gap8 is built in");
    bool found = plan_make(network, &target, options, &plan, &arena, &diagnostics);
    uint64_t cycles = found ? plan.predicted_cycles : UINT64_MAX;
    EXPECT(!found || plan_check(&plan, &diagnostics), "L2 %u, %u more walks", options->l2_bytes, options->more_walks);
    *peak = found ? plan.l2_peak_bytes : 0;
    arena_free(&arena);
    return cycles;
}

/* In a third of the L2 that it would take. */
static void test_same_each_time(uint64_t seed)
{
    struct arena arena = {0};
    const struct network *network = seeded_network(&arena, seed, 12);
    struct plan_options options = {.l2_bytes = 1 << 20};
    uint32_t peak;
    plan_cycles(network, &options, &peak);
    options.l2_bytes = peak / 3 / 8 * 8;
    uint64_t before = plan_cycles(network, &options, &peak);
    options.more_walks = MORE_WALKS;
    uint64_t more = plan_cycles(network, &options, &peak), again = plan_cycles(network, &options, &peak);
    EXPECT(more == again, "network %" PRIu64 ": %" PRIu64 " cycles, and %" PRIu64, seed, more, again);
    EXPECT((more == UINT64_MAX) == (before == UINT64_MAX), "network %" PRIu64 ": only one search has a plan", seed);
    arena_free(&arena);
}

/* One more walk is hardly ever slower, as a finished plan has its cycles anew, and gains in one of these memories. */
static void test_faster(void)
{
    struct arena arena = {0};
    const struct network *network = mobilenet_v2(&arena, 128, 100);
    unsigned gains = 0;
    for (uint32_t l2_bytes = 95000; gains == 0 && l2_bytes <= 115000; l2_bytes += 10000) {
        struct plan_options options = {.l1_bytes = 32320, .l2_bytes = l2_bytes};
        uint32_t peak;
        uint64_t before = plan_cycles(network, &options, &peak);
        options.more_walks = 1;
        uint64_t more = plan_cycles(network, &options, &peak);
        EXPECT(more <= before + before / 10000,
               "MobileNetV2-1.0-128 in %u bytes: %" PRIu64 " cycles, with another walk %" PRIu64, l2_bytes, before, more);
        gains += more < before;
    }
    EXPECT(gains > 0, "another walk gains nowhere");
    arena_free(&arena);
}

int main(void)
{
    for (uint64_t seed = 0; seed < share_of(NETWORKS); seed++)
        test_same_each_time(seed);
    if (share_is_all())
        test_faster();
    return expect_result("walks");
}
