#include "two_parts.h"

#include "dory/hal.h"

void dory_compute_in_two_parts(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    if (core < cores) {
        layer->kernel(layer, tile, core, cores);
    }
    hal_barrier();
    if (core < cores) {
        layer->finish(layer, tile, core, cores);
    }
}
