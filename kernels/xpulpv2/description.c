/* The list of the kernels, as the planner knows it. */
#include "description.h"

#include <stddef.h>

#define DESCRIPTION(name) &dory_xpulpv2_##name##_description,

const struct dory_kernel_description *const dory_xpulpv2_kernels[] = {DORY_XPULPV2_KERNELS(DESCRIPTION) NULL};

uint64_t dory_busiest_cycles(uint32_t items, unsigned cores, dory_share_cycles *share_cycles, const void *context)
{
    uint32_t first = 0;
    uint64_t most = 0;
    for (unsigned core = 0; core < cores && first < items; core++) {
        uint32_t end = first + items / cores + (core < items % cores);
        uint64_t cycles = share_cycles(context, first, end);
        most = cycles > most ? cycles : most;
        first = end;
    }
    return most;
}

uint32_t dory_division_start_cycles(const struct dory_layer *layer)
{
    bool is_quick = layer->normalisation == DORY_NORMALISE_DIVIDE && dory_divides_narrowly(layer);
    uint32_t bits = 0;
    while (is_quick && layer->divisor >> bits > 1) {
        bits++;
    }
    return is_quick ? 120 + 12 * bits : 0;
}

uint64_t dory_least_cycles(const struct dory_layer *layer)
{
    struct dory_tile_shape tile = {layer->output_height, layer->output_width, layer->output_channels, layer->input_channels};
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; dory_xpulpv2_kernels[i]; i++) {
        if (dory_kernel_supports(dory_xpulpv2_kernels[i], layer)) {
            uint64_t cycles = dory_xpulpv2_kernels[i]->cycles(layer, &tile, 8);
            least = cycles < least ? cycles : least;
        }
    }
    return least;
}

bool dory_prefers_split(const struct dory_layer *layer, enum dory_rounding rounding)
{
    struct dory_layer split = *layer, high;
    split.normalisation = DORY_NORMALISE_SPLIT;
    split.rounding = (uint8_t)rounding;
    split.left_shift = 1;
    split.minimum = 0;
    split.maximum = UINT8_MAX;
    high = split;
    high.normalisation = DORY_NORMALISE_HIGH;
    return layer->output_bits == 8 && !layer->output_is_signed && (layer->output_height > 1 || layer->output_width > 1) &&
           dory_least_cycles(&split) < dory_least_cycles(&high);
}

bool dory_prefers_shared(const struct dory_layer *layer)
{
    struct dory_layer shared = *layer;
    shared.normalisation = DORY_NORMALISE_SHARED;
    shared.minimum = 0;
    shared.maximum = UINT8_MAX;
    return layer->output_bits == 8 && !layer->output_is_signed && layer->output_height == 1 && layer->output_width == 1 &&
           (dory_kernel_supports(&dory_xpulpv2_linear_shared_description, &shared) ||
            dory_kernel_supports(&dory_xpulpv2_linear_few_shared_description, &shared));
}
