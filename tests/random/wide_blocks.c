/* Which blocks of N-EUREKA's weights have the form WIDE (kernels/neureka/wide.h). */
#include "random_case.h"

#include <string.h>

#include "expect.h"
#include "neureka.h"
#include "plan/plan.h"

static void count_layer(const struct plan *plan, int index, struct random_totals *totals)
{
    const struct plan_layer *layer = &plan->layers[index];
    uint32_t bytes = dory_neureka_block_bytes(&layer->record);
    struct arena scratch = {0};
    uint8_t *blob = arena_allocate(&scratch, layer->weights_bytes);
    EXPECT_THAT(plan_write_blob(plan, index, blob));
    for (uint32_t end = bytes; end <= layer->weights_bytes; end += bytes) {
        uint32_t is_wide;
        memcpy(&is_wide, blob + end - sizeof is_wide, sizeof is_wide);
        totals->wide_blocks += is_wide == 1;
        totals->blocks_of_sums += is_wide == 0;
    }
    arena_free(&scratch);
}

void count_wide_blocks(const struct plan *plan, struct random_totals *totals)
{
    for (int i = 0; i < plan->network->layer_count; i++)
        if (plan->layers[i].engine == &dory_neureka_engine && plan->layers[i].weights_bytes > 0 &&
            dory_neureka_may_be_wide(&plan->layers[i].record))
            count_layer(plan, i, totals);
}
