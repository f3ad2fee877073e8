/* What the planner knows of the kernels for GAP8. Cycles are closed forms of the tile, whose constants were fitted to gvsoc
 * (GAP8_V3, layer in L2, instruction cache warm); tests/kernels prints prediction and measurement side by side. */
#include "dory/contract.h"

#include <stddef.h>

static uint32_t no_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer, (void)tile, (void)cores;
    return 0;
}

static bool has_bytes(const struct dory_layer *layer) { return layer->input_bits == 8 && layer->weight_bits == 8; }

/* Whose normalisation the kernels know, and an output of bytes or 32-bit words. */
static bool is_normalised(const struct dory_layer *layer)
{
    return layer->normalisation != DORY_NORMALISE_DIVIDE && (layer->output_bits == 8 || layer->output_bits == 32);
}

/* The normalisation that is done between registers; see struct dory_normaliser. */
static bool normalises_directly(const struct dory_layer *layer)
{
    return layer->normalisation == DORY_NORMALISE_32 && layer->output_bits == 8 && layer->minimum == 0 && layer->maximum >= 0;
}

/* ---- convolutions ------------------------------------------------------------------------------------------ */

/* Cycles for what is behind the sums of 16 elements, for every way that is not direct. */
static uint64_t finish_cycles(const struct dory_layer *layer)
{
    switch (layer->normalisation) {
    case DORY_NORMALISE_NONE: return 490;
    case DORY_NORMALISE_32: return 540;
    default: return 1010;
    }
}

/* The product of runs of `run_bytes` bytes; `source_cycles` is what it takes to lay four pixels ready. */
static uint64_t product_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores, uint32_t run_bytes,
                               uint32_t runs, uint64_t source_cycles)
{
    uint32_t quads = dory_divide_up(tile->channels, 4), pixel_quads = dory_divide_up(tile->rows * tile->columns, 4);
    uint64_t steps = (uint64_t)runs * dory_divide_up(run_bytes, 4);
    uint64_t block = steps * 247 / 10 + 87 + (runs > 1 ? 10 + 9 * runs : 0);
    if (!normalises_directly(layer)) {
        block += finish_cycles(layer);
    }
    if (tile->input_channels < layer->input_channels) {
        block += 150;
    }
    uint64_t blocks = ((uint64_t)quads * pixel_quads + cores - 1) / cores;
    uint64_t started = (blocks + quads - 1) / quads;
    return blocks * block + started * (source_cycles + 60) + 480;
}

static bool convolution_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONVOLUTION && has_bytes(layer) && is_normalised(layer) && layer->dilation_width == 1 &&
           layer->input_channels % 4 == 0;
}

static uint64_t convolution_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return product_cycles(layer, tile, cores, layer->kernel_width * tile->input_channels, layer->kernel_height, 40);
}

static const struct dory_kernel_description convolution = {
    .name = "dory_xpulpv2_convolution",
    .supports = convolution_supports,
    .scratch_bytes = no_scratch,
    .cycles = convolution_cycles,
    .can_tile_input_channels = true,
};

const struct dory_kernel_description *const dory_xpulpv2_kernels[] = {&convolution, NULL};
