#include "two_parts.h"

#include "dory/hal.h"

/* Those behind the first one. */
static void compute_steps(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct dory_tile step = *tile;
    for (uint32_t steps = layer->output_channels / layer->lstm.units - 2u; ++step.first_row < steps;) {
        hal_barrier();
        if (core < cores) {
            layer->kernel(layer, &step, core, cores);
        }
    }
}

void dory_compute_in_two_parts(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    if (core < cores) {
        layer->kernel(layer, tile, core, cores);
    }
    if (layer->operation == DORY_LSTM) {
        compute_steps(layer, tile, core, cores);
        return;
    }
    hal_barrier();
    if (core < cores) {
        layer->finish(layer, tile, core, cores);
    }
}
