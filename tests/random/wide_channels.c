/* Which channels of N-EUREKA's weights have the form WIDE (kernels/neureka/wide.h). */
#include "random_case.h"

#include "expect.h"
#include "neureka.h"
#include "plan/plan.h"

static void count_layer(const struct plan *plan, int index, struct random_totals *totals)
{
    const struct plan_layer *layer = &plan->layers[index];
    uint32_t bytes = layer->record.block_bytes, weights = dory_neureka_block_weight_bytes(&layer->record);
    struct arena scratch = {0};
    uint8_t *blob = arena_allocate(&scratch, layer->weights_bytes);
    EXPECT_THAT(plan_write_blob(plan, index, blob));
    for (uint32_t output = 0; output < layer->record.output_channels; output++) {
        uint32_t block = output >> layer->record.block_shift, lane = output - (block << layer->record.block_shift);
        bool is_wide = blob[block * bytes + weights + dory_neureka_first_kind(&layer->record) + lane];
        totals->wide_channels += is_wide;
        totals->channels_of_sums += !is_wide;
    }
    arena_free(&scratch);
}

void count_wide_channels(const struct plan *plan, struct random_totals *totals)
{
    for (int i = 0; i < plan->network->layer_count; i++)
        if (plan->layers[i].engine == &dory_neureka_engine && plan->layers[i].weights_bytes > 0 &&
            dory_neureka_may_be_wide(&plan->layers[i].record))
            count_layer(plan, i, totals);
}
