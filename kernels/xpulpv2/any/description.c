/* What the planner knows of the convolutions of elements of any bits. */
#include "../convolution_description.h"
#include "../scratch.h"

/* ---- elements of 16 bits --------------------------------------------------------------------------------------- */

static bool wide_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONVOLUTION && layer->input_bits == 16 && layer->weight_bits == 8 &&
           2u * layer->input_channels <= UINT16_MAX;
}

static uint32_t wide_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return cores * 8 * dory_gather_pixel_bytes(layer, tile->input_channels);
}

/* Cycles behind the sums of a block of 4 pixels and 4 channels; of one pixel in a linear layer. */
static uint64_t wide_finish_cycles(const struct dory_layer *layer, bool is_linear)
{
    enum dory_direct kind = layer->output_bits == 8 && !is_linear ? dory_direct_of(layer) : DORY_NOT_DIRECT;
    switch (kind) {
    case DORY_NOT_DIRECT: return dory_long_finish_cycles(layer) * (is_linear ? 4 : 10) / 10 + 180;
    case DORY_DIRECT: return 420;
    case DORY_DIRECT_CLAMPED: return 495;
    case DORY_DIRECT_CLAMPED_LESS_ONE: return 600;
    case DORY_DIRECT_CLAMPED_DIVIDED: return 670;
    default: return 720;
    }
}

static uint64_t wide_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t quads = dory_divide_up(tile->channels, 4), pixels = tile->rows * tile->columns;
    uint64_t words = dory_gather_pixel_bytes(layer, tile->input_channels) / 4, runs = dory_runs(layer);
    uint64_t rests = runs * (dory_run_elements(layer, tile->input_channels) % 4);
    uint64_t blocks = ((uint64_t)quads * dory_divide_up(pixels, 4) + cores - 1) / cores,
             started = (blocks + quads - 1) / quads;
    uint64_t block = 2 * words * 247 / 10 + 250 + wide_finish_cycles(layer, pixels == 1);
    if (tile->input_channels < layer->input_channels) {
        block += 300;
    }
    uint64_t split = dory_minimum(pixels, 4) * (words * 11 + runs * 25 + rests * 10 + 40);
    return blocks * block + started * split + 700;
}

const struct dory_kernel_description dory_xpulpv2_wide_convolution_description = {
    .name = "dory_xpulpv2_wide_convolution",
    .supports = wide_supports,
    .scratch_bytes = wide_scratch_bytes,
    .cycles = wide_cycles,
    .can_tile_input_channels = true,
};

/* ---- in groups ------------------------------------------------------------------------------------------------- */

static bool has_groups(const struct dory_layer *layer)
{
    return layer->operation == DORY_GROUPED && layer->input_bits <= 8 && layer->dilation_width == 1;
}

static bool grouped_supports(const struct dory_layer *layer)
{
    return has_groups(layer) && dory_has_bytes(layer) && dory_is_stored(layer);
}

static uint32_t input_columns(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    return dory_input_extent(tile->columns, layer->kernel_width, layer->stride_width, 1);
}

static uint32_t grouped_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return cores * dory_grouped_core_bytes(layer, tile->rows, input_columns(layer, tile));
}

/* Copies of windows by the slowest core: a band of so many pixel quads at once. */
static uint64_t copies_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint64_t items)
{
    uint64_t window = dory_window_channels(layer), each = dory_grouped_band_rows(tile->rows) * tile->columns;
    uint64_t pixel_quads = dory_divide_up(tile->rows * tile->columns, 4);
    uint64_t bands = (items * 4 + each - 1) / each + items / pixel_quads;
    uint64_t pixels = dory_grouped_core_bytes(layer, tile->rows, input_columns(layer, tile)) / window;
    bool words = layer->input_bits == 8 && layer->input_channels >= window;
    return bands * (pixels * (words ? (window == 4 ? 7 : 8 + window / 4 * 8) : 20 * window) + 150);
}

static uint64_t grouped_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t quads = dory_divide_up(tile->channels, 4), each = layer->group_outputs % 4 == 0 ? layer->group_outputs / 4 : 1;
    uint64_t pixel_quads = dory_divide_up(tile->rows * tile->columns, 4);
    uint64_t items = (dory_divide_up(quads, each) * pixel_quads + cores - 1) / cores;
    uint64_t product =
        dory_product_cycles(layer, tile, cores, layer->kernel_width * dory_window_channels(layer), layer->kernel_height, 0);
    return product + items * 70 + copies_cycles(layer, tile, items) + 300;
}

DORY_DESCRIPTIONS_OF_KINDS(grouped, grouped_supports, .scratch_bytes = grouped_scratch_bytes, .cycles = grouped_cycles)

#define PACKED(bits)                                                                                                        \
    static bool packed_grouped_##bits##_supports(const struct dory_layer *layer)                                            \
    {                                                                                                                       \
        return has_groups(layer) && layer->weight_bits == bits && dory_is_stored_packed(layer) && !grouped_supports(layer); \
    }                                                                                                                       \
    const struct dory_kernel_description dory_xpulpv2_packed_grouped_##bits##_description = {                               \
        .name = "dory_xpulpv2_packed_grouped_" #bits,                                                                       \
        .supports = packed_grouped_##bits##_supports,                                                                       \
        .scratch_bytes = grouped_scratch_bytes,                                                                             \
        .cycles = grouped_cycles,                                                                                           \
    };

PACKED(8)
PACKED(4)
PACKED(2)
