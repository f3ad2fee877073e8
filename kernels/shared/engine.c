/* What holds of any engine. */
#include "dory/engine.h"

uint64_t dory_engine_cycles(const struct dory_engine *engine, const struct dory_layer *layer, unsigned cores)
{
    struct dory_tile_shape whole = {layer->output_height, layer->output_width, layer->output_channels,
                                    layer->input_channels};
    uint64_t least = UINT64_MAX;
    for (const struct dory_kernel_description *const *kernel = engine->kernels; *kernel; kernel++) {
        uint64_t cycles = dory_kernel_supports(*kernel, layer) ? (*kernel)->cycles(layer, &whole, cores) : UINT64_MAX;
        least = cycles < least ? cycles : least;
    }
    return least;
}
