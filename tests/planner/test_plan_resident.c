/* Weights that stay in L2, or are linked: plans that bring none of them, and one that is as fast as any other. */
#include <stdio.h>
#include <string.h>

#include "check/check.h"
#include "dory/hal.h"
#include "expect.h"
#include "networks.h"
#include "solve/plan_make.h"

static bool make(const struct network *network, enum plan_weights weights, uint32_t l2_bytes, struct plan *plan,
                 struct arena *arena)
{
    struct diagnostics diagnostics = {.arena = arena};
    struct plan_options options = {.l2_bytes = l2_bytes, .weights = weights};
    struct target target;
    bool planned = target_load(&target, "gap8", arena, &diagnostics) &&
                   plan_make(network, &target, &options, plan, arena, &diagnostics);
    EXPECT(!planned || plan_check(plan, &diagnostics), "%s", diagnostics.count ? diagnostics.list[0].text : "");
    return planned;
}

static uint32_t flash_bytes_moved(const struct plan *plan)
{
    uint32_t bytes = 0;
    for (int i = 0; i < plan->transfer_count; i++)
        if (plan->transfers[i].record.kind == HAL_FLASH_READ)
            bytes += plan->transfers[i].record.run_bytes * plan->transfers[i].record.runs;
    return bytes;
}

static void test_nothing_is_brought(const struct network *network, enum plan_weights weights, struct arena *arena)
{
    struct plan plan, flash;
    EXPECT(make(network, WEIGHTS_FLASH, 0, &flash, arena) && make(network, weights, 0, &plan, arena), "both fit");
    EXPECT(flash_bytes_moved(&flash) > 0 && flash_bytes_moved(&plan) == 0, "weights %d: %u bytes of flash", (int)weights,
           flash_bytes_moved(&plan));
    EXPECT(plan.predicted_cycles < flash.predicted_cycles, "weights %d: it is no faster", (int)weights);
    if (weights == WEIGHTS_RESIDENT)
        EXPECT(plan.flash_cycles == flash.predicted_cycles, "what it saves");
}

/* In the memories between all and none; a part of the weights stays in at least one of them. */
static void test_auto_is_fastest(const struct network *network, struct arena *arena)
{
    static const uint32_t sizes[] = {460000, 90000};
    int parts = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct plan chosen, flash, resident;
        EXPECT(make(network, WEIGHTS_FLASH, sizes[i], &flash, arena), "%u bytes", sizes[i]);
        EXPECT(make(network, WEIGHTS_AUTO, sizes[i], &chosen, arena), "%u bytes", sizes[i]);
        EXPECT(chosen.predicted_cycles <= flash.predicted_cycles && chosen.l2_peak_bytes <= sizes[i], "%u bytes", sizes[i]);
        bool all = make(network, WEIGHTS_RESIDENT, sizes[i], &resident, arena);
        EXPECT(!all || chosen.predicted_cycles <= resident.predicted_cycles, "%u bytes", sizes[i]);
        parts += chosen.resident_bytes > 0 && flash_bytes_moved(&chosen) > 0;
    }
    EXPECT(parts > 0, "a part of the weights stays nowhere");
}

static void test_too_little_memory(const struct network *network, struct arena *arena)
{
    struct diagnostics diagnostics = {.arena = arena};
    struct plan_options options = {.l2_bytes = 40000, .weights = WEIGHTS_RESIDENT};
    struct target target;
    struct plan plan;
    EXPECT(target_load(&target, "gap8", arena, &diagnostics), "gap8 is built in");
    EXPECT(!plan_make(network, &target, &options, &plan, arena, &diagnostics), "all weights in 40,000 bytes");
    EXPECT(diagnostics.count == 1 && strstr(diagnostics.list[0].text, "weights that are to stay"), "another error");
}

int main(void)
{
    struct arena arena = {0};
    const struct network *small = residual_network(&arena, 32, 24), *large = mobilenet_v1(&arena, 64, 25);
    test_nothing_is_brought(small, WEIGHTS_RESIDENT, &arena);
    test_nothing_is_brought(small, WEIGHTS_LINKED, &arena);
    test_auto_is_fastest(large, &arena);
    test_too_little_memory(large, &arena);
    arena_free(&arena);
    return expect_result("resident");
}
