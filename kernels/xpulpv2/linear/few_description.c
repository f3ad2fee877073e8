/* What the planner knows of fully connected layers with few outputs. */
#include "../convolution_description.h"
#include "few.h"
#include "quads.h"

bool dory_has_few_outputs(const struct dory_layer *layer)
{
    return dory_is_fully_connected(layer) && layer->output_channels <= DORY_FEW_OUTPUTS;
}

static struct dory_slices slices_of(const struct dory_tile_shape *tile, unsigned cores)
{
    return dory_slices_of(tile->channels, dory_divide_up(tile->input_channels, 4), cores);
}

static uint32_t few_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer;
    struct dory_slices slices = slices_of(tile, cores);
    return dory_slices_bytes(&slices);
}

/* Both parts, and the barrier between them. */
static uint64_t few_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    struct dory_slices slices = slices_of(tile, cores);
    uint32_t lanes = dory_minimum(layer->output_channels, 4), rounds = dory_divide_up(slices.quads * slices.slices, cores);
    uint64_t slice = (uint64_t)slices.words * (2 * lanes + 1);
    uint64_t output = slices.slices * 12 + dory_long_finish_cycles(layer) * 16 / 100 + dory_bitwise_division_cycles(layer);
    return rounds * slice + dory_divide_up(tile->channels, cores) * output + 400 + dory_division_start_cycles(layer);
}

static bool is_other(const struct dory_layer *layer)
{
    return layer->normalisation == DORY_NORMALISE_NONE || layer->normalisation == DORY_NORMALISE_32 ||
           layer->normalisation == DORY_NORMALISE_64 || layer->normalisation == DORY_NORMALISE_DIVIDE;
}

#define FEW(kind, condition)                                                                                                \
    static bool few##kind##_supports(const struct dory_layer *layer) { return dory_has_few_outputs(layer) && (condition); } \
    DORY_DESCRIBE(xpulpv2_linear_few##kind, few##kind##_supports, few_scratch_bytes, few_cycles,                            \
                  .finish = "dory_xpulpv2_finish_linear_few" #kind, .can_tile_input_channels = true)

FEW(, is_other(layer))
FEW(_clamped, layer->normalisation == DORY_NORMALISE_CLAMPED)
FEW(_split, layer->normalisation == DORY_NORMALISE_SPLIT)
FEW(_high, layer->normalisation == DORY_NORMALISE_HIGH)
FEW(_shared, layer->normalisation == DORY_NORMALISE_SHARED)
