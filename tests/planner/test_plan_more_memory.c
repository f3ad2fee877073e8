/* More memory makes plans hardly slower: small random networks over a grid of sizes of L1 and L2, and some of
 * MobileNetV1. Where the search proves nothing it may miss a little, and a little more with more memory.
 *
 * Not among them: networks with weights below 8 bits that need all of L2 (random network 31, 5 %). The cause may be
 * that with more L1 the fastest tile of a cut slices input channels, which makes its weights larger, and then the cut does
 * not fit L2 any more; nobody has confirmed it. */
#include <inttypes.h>
#include <string.h>

#include "check/check.h"
#include "expect.h"
#include "networks.h"
#include "share.h"
#include "solve/plan_make.h"

#define MAXIMUM_SIZES  8
#define MAXIMUM_LONGER 100 /* part of the cycles */
#define COUNT(array)   (int)(sizeof(array) / sizeof *(array))

/* Networks for which more memory once was slower. */
static const uint64_t seeds[] = {9, 14, 20, 36};

struct grid {
    uint32_t l1[MAXIMUM_SIZES], l2[MAXIMUM_SIZES]; /* growing */
    int l1_count, l2_count;
};

/* UINT64_MAX: there is none. `peak`: what it takes of L2. */
static uint64_t plan_cycles(const struct network *network, const struct target *target, uint32_t l1_bytes, uint32_t l2_bytes,
                            uint32_t *peak)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct plan_options options = {.l1_bytes = l1_bytes + target->l1_stack_bytes, .l2_bytes = l2_bytes};
    struct plan plan;
    bool found = plan_make(network, target, &options, &plan, &arena, &diagnostics);
    uint64_t cycles = found ? plan.predicted_cycles : UINT64_MAX;
    EXPECT(!found || plan_check(&plan, &diagnostics), "L1 %u, L2 %u", l1_bytes, l2_bytes);
    *peak = found ? plan.l2_peak_bytes : 0;
    arena_free(&arena);
    return cycles;
}

static bool is_no_longer(uint64_t cycles, uint64_t before)
{
    return before == UINT64_MAX || cycles <= before + before / MAXIMUM_LONGER;
}

static void test_grid(const char *name, const struct network *network, const struct target *target, const struct grid *grid)
{
    uint64_t cycles[MAXIMUM_SIZES][MAXIMUM_SIZES];
    uint32_t peak;
    int planned = 0;
    for (int i = 0; i < grid->l1_count; i++)
        for (int j = 0; j < grid->l2_count; j++) {
            uint64_t now = cycles[i][j] = plan_cycles(network, target, grid->l1[i], grid->l2[j], &peak);
            planned += now != UINT64_MAX;
            EXPECT(i == 0 || is_no_longer(now, cycles[i - 1][j]),
                   "%s, L1 %u, L2 %u: %" PRIu64 " cycles, with less L1 %" PRIu64, name, grid->l1[i], grid->l2[j], now,
                   cycles[i - 1][j]);
            EXPECT(j == 0 || is_no_longer(now, cycles[i][j - 1]),
                   "%s, L1 %u, L2 %u: %" PRIu64 " cycles, with less L2 %" PRIu64, name, grid->l1[i], grid->l2[j], now,
                   cycles[i][j - 1]);
        }
    EXPECT(planned > 0, "%s: no plan at all", name);
    printf("%s: %d of %d points planned\n", name, planned, grid->l1_count * grid->l2_count);
}

/* From little of L2 to all that is of use. */
static void test_random_network(uint64_t seed, const struct target *target)
{
    static const uint32_t parts[] = {4, 9, 18, 26, 40, 64};
    struct arena arena = {0};
    struct grid grid = {.l1 = {8000, 11000, 16000, 22000, 44000}, .l1_count = 5, .l2_count = COUNT(parts)};
    const struct network *network = seeded_network(&arena, seed, 8);
    uint32_t most;
    plan_cycles(network, target, 64000, 1 << 20, &most);
    for (int j = 0; j < grid.l2_count; j++)
        grid.l2[j] = most * parts[j] / 64 / 8 * 8 + 8;
    test_grid(arena_format(&arena, "network %" PRIu64, seed), network, target, &grid);
    arena_free(&arena);
}

int main(void)
{
    const struct grid corner = {{100000, 150000}, {256000}, 2, 1};
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    EXPECT(target_load(&target, "gap8", &arena, &diagnostics), "gap8 is built in");
    for (int i = 0; i < (int)share_of(COUNT(seeds)); i++)
        test_random_network(seeds[i], &target);
    if (share_is_all())
        test_grid("MobileNetV1-1.0-128", mobilenet_v1(&arena, 128, 100), &target, &corner);
    arena_free(&arena);
    return expect_result("more_memory");
}
