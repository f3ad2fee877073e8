/* What the planner knows of the kernels of softmax. */
#include "../description.h"
#include "softmax_share.h"

static bool is_softmax(const struct dory_layer *layer, bool by_thresholds)
{
    return layer->operation == DORY_SOFTMAX && (layer->normalisation == DORY_NORMALISE_THRESHOLDS) == by_thresholds;
}

static bool softmax_supports(const struct dory_layer *layer) { return is_softmax(layer, false); }
static bool softmax_exact_supports(const struct dory_layer *layer) { return is_softmax(layer, true); }

/* What a softmax takes of each pixel that a core has elements of, whose largest element and sum it finds, and of each of its
 * elements. */
struct softened {
    uint32_t channels; /* of a pixel of the tile */
    uint64_t pixel, element;
};

static uint64_t share_cycles(const void *context, uint32_t first, uint32_t end)
{
    const struct softened *softened = context;
    uint32_t pixels = (end - 1) / softened->channels - first / softened->channels + 1;
    return pixels * softened->pixel + (end - first) * softened->element;
}

static uint64_t softened_cycles(const struct dory_tile_shape *tile, unsigned cores, uint64_t of_pixel, uint64_t of_element)
{
    uint32_t pixels = (uint32_t)tile->rows * tile->columns;
    struct softened softened = {tile->channels, of_pixel, of_element};
    if (dory_softens_pixels(pixels, cores)) {
        softened = (struct softened){1, of_pixel + tile->channels * of_element, 0};
    }
    return dory_busiest_cycles(pixels * softened.channels, cores, share_cycles, &softened) + 190;
}

static uint64_t softmax_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    bool is_local = dory_table_bytes(layer) != 0;
    return softened_cycles(tile, cores, (is_local ? 310u : 290u) + layer->input_channels * (is_local ? 55u : 160u) / 10,
                           is_local ? 10 : 12);
}

#define GROUP_CYCLES 60u /* its largest element, and what the sum becomes with that */

static uint64_t softmax_exact_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    bool is_local = dory_table_bytes(layer) != 0;
    uint32_t group = layer->softmax.group_channels, groups = group == 0 ? 0 : dory_divide_up(layer->input_channels, group);
    return is_local ? softened_cycles(tile, cores, 420 + groups * GROUP_CYCLES + layer->input_channels * 60u / 10, 10)
                    : softened_cycles(tile, cores, 620 + groups * GROUP_CYCLES + layer->input_channels * 18u, 44);
}

DORY_DESCRIBE(xpulpv2_softmax, softmax_supports, NULL, softmax_cycles)

DORY_DESCRIBE(xpulpv2_softmax_exact, softmax_exact_supports, NULL, softmax_exact_cycles)
