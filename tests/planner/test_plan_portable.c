/* A layer for which GAP8 has no kernel of its own is named, with its cost; one for which it has is not. */
#include <string.h>

#include "expect.h"
#include "networks.h"
#include "report/plan_report.h"
#include "solve/plan_make.h"

static int warnings(const char *target_name, int bits)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct network_builder builder;
    struct target target;
    struct plan plan;
    builder_start(&builder, &arena, 5);
    int pooled = builder_pool(&builder, builder_input(&builder, 8, 8, 8), LAYER_MAXIMUM_POOL, 2, 2, 0);
    const struct network *network = builder_finish(&builder, pooled);
    for (int i = 0; i < network->tensor_count; i++)
        network->tensors[i].bits = bits;
    const struct plan_options options = {0};
    bool planned = target_load(&target, target_name, &arena, &diagnostics) &&
                   plan_make(network, &target, &options, &plan, &arena, &diagnostics);
    EXPECT(planned, "%s", diagnostics.count ? diagnostics.list[0].text : "no plan");
    int before = diagnostics.count;
    if (planned)
        plan_warn(&plan, &diagnostics);
    for (int i = before; i < diagnostics.count; i++)
        EXPECT(strstr(diagnostics.list[i].text, "dory_reference_pool") && strstr(diagnostics.list[i].text, "cycles"), "%s",
               diagnostics.list[i].text);
    int count = diagnostics.count - before;
    arena_free(&arena);
    return count;
}

int main(void)
{
    EXPECT(warnings("gap8", 8) == 0, "bytes have a kernel");
    EXPECT(warnings("gap8", 16) == 0, "and those of 16");
    EXPECT(warnings("gap8", 32) == 1, "32-bit elements have none");
    EXPECT(warnings("host", 32) == 0, "other targets have no kernels of their own");
    return expect_result("portable");
}
