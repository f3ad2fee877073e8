/* The check of a plan takes no longer than what it looks at: of a layer of many rows whose output lies over its input. */
#include <time.h>

#include "check/check.h"
#include "expect.h"
#include "networks.h"
#include "solve/plan_make.h"

#define MOST_SECONDS 20 /* of less than one; all pairs of rows take minutes */

static const struct network *long_pool(struct arena *arena)
{
    struct network_builder builder;
    builder_start(&builder, arena, 5);
    int input = builder_input(&builder, 65535, 1, 4);
    return builder_finish(&builder, builder_pool(&builder, input, LAYER_MAXIMUM_POOL, 1, 1, 0));
}

int main(void)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    const struct plan_options options = {0};
    const struct network *network = long_pool(&arena);
    struct target machine;
    struct plan plan;
    REQUIRE(target_load(&machine, "cortex-m4", &arena, &diagnostics));
    machine.l2_bytes = 1u << 20;
    REQUIRE(plan_make(network, &machine, &options, &plan, &arena, &diagnostics));
    plan_run_layers(&plan);
    plan_overlap(&plan, &arena);
    EXPECT(plan.l2_peak_bytes < 2 * 65535 * 4, "the output does not lie over the input");
    clock_t start = clock();
    EXPECT(plan_check(&plan, &diagnostics), "a plan that is wrong");
    EXPECT((clock() - start) / CLOCKS_PER_SEC < MOST_SECONDS, "%ld s", (long)((clock() - start) / CLOCKS_PER_SEC));
    arena_free(&arena);
    return expect_result("long");
}
