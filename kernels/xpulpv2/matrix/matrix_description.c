/* What the planner knows of products of two activations. */
#include "../convolution_description.h"
#include "dory/matrix_product.h"
#include "matrix.h"

static bool matrix_supports(const struct dory_layer *layer)
{
    bool bytes =
        layer->input_bits == 8 && layer->second_input_bits == 8 && !layer->input_is_signed && !layer->second_input_is_signed;
    bool has_form = layer->normalisation != DORY_NORMALISE_THRESHOLDS && layer->normalisation != DORY_NORMALISE_SHARED;
    return layer->operation == DORY_MATRIX_PRODUCT && bytes && has_form && dory_is_stored(layer) &&
           layer->input_channels <= DORY_MATRIX_MOST_TERMS;
}

static uint32_t matrix_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)cores;
    struct dory_matrix_grid grid = dory_matrix_grid_of(layer, tile->rows, tile->columns);
    uint32_t pixels = dory_matrix_pixels(grid.columns);
    return grid.rows *
           (dory_matrix_weights_bytes(layer, tile->channels) + 4 * pixels + dory_matrix_copies_bytes(layer, pixels));
}

/* Of the slowest core: its quads, then its fours of pixels. Words of pixels that are none are misaligned, most of them, and
 * copied. */
static uint64_t prepare_cycles(const struct dory_layer *layer, const struct dory_matrix_grid *grid, uint32_t channels,
                               unsigned cores)
{
    uint32_t words = dory_matrix_words(layer);
    bool is_late = layer->input_channels % 4 != 0;
    uint64_t quads = dory_divide_up(grid->rows * dory_divide_up(channels, 4), cores),
             fours = dory_divide_up(grid->rows * dory_divide_up(grid->columns, 4), cores);
    return 600 + quads * (words * (is_late ? 24u : 19u) + 90) +
           fours * (words * (is_late ? 17u : 9u) + (is_late ? 100 : 50));
}

/* What a block takes more than a convolution's: sums that start from two numbers, less what loads one set of constants for
 * each channel, and adds a bias. */
static int64_t block_cycles(const struct dory_layer *layer)
{
    switch (dory_direct_of(layer)) {
    case DORY_DIRECT_SPLIT: return -1;
    case DORY_DIRECT_SPLIT_AWAY: return -9;
    case DORY_DIRECT_HIGH:
    case DORY_DIRECT_HIGH_AWAY:
    case DORY_DIRECT_HIGH_EVEN: return 2;
    case DORY_DIRECT_CLAMPED:
    case DORY_DIRECT_CLAMPED_DIVIDED: return 18;
    default: return 25;
    }
}

/* As a convolution of as many pixels. */
static uint64_t matrix_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    const struct dory_matrix_grid grid = dory_matrix_grid_of(layer, tile->rows, tile->columns);
    uint32_t words = dory_matrix_words(layer), fours = dory_divide_up(grid.columns, 4);
    struct dory_tile_shape row = *tile;
    row.rows = 1;
    row.columns = (uint16_t)dory_minimum(4 * fours * grid.rows, UINT16_MAX);
    row.input_channels = layer->input_channels;
    uint64_t blocks = dory_divide_up(grid.rows * fours * dory_divide_up(tile->channels, 4), cores);
    uint64_t product = dory_product_cycles(layer, &row, cores, 4 * words, 1, 30);
    return product + (uint64_t)(block_cycles(layer) * (int64_t)blocks) + dory_divide_up(grid.rows, cores) * 60u +
           prepare_cycles(layer, &grid, tile->channels, cores);
}

#define MATRIX(kind, first, last)                                                                                           \
    DORY_DESCRIPTION_OF_KIND(matrix_product##kind, matrix_supports, first, last,                                            \
                             .finish = "dory_xpulpv2_finish_matrix_product" #kind, .scratch_bytes = matrix_scratch_bytes,   \
                             .cycles = matrix_cycles, .joins_rows = true)

MATRIX(, DORY_NOT_DIRECT, DORY_DIRECT)
MATRIX(_clamped, DORY_DIRECT_CLAMPED, DORY_DIRECT_CLAMPED_DIVIDED)
MATRIX(_split, DORY_DIRECT_SPLIT, DORY_DIRECT_SPLIT_AWAY)
MATRIX(_high, DORY_DIRECT_HIGH_EVEN, DORY_DIRECT_HIGH_AWAY)

/* ---- without packing ---- */

static bool dots_supports(const struct dory_layer *layer)
{
    return matrix_supports(layer) && layer->output_layout == DORY_HWC;
}

/* To requantise four sums, as one channel's. */
static uint64_t dots_finish_cycles(const struct dory_layer *layer)
{
    return layer->normalisation == DORY_NORMALISE_HIGH ? 140 : layer->normalisation == DORY_NORMALISE_SPLIT ? 110 : 55;
}

/* Of a pixel, which is added up, and of its fours of channels. */
static uint64_t dots_share_cycles(const void *context, uint32_t first, uint32_t end)
{
    const uint64_t *cycles = context;
    uint64_t quads = cycles[2], pixels = (end - 1) / quads - first / quads + 1;
    return pixels * cycles[0] + (end - first) * cycles[1];
}

static uint64_t dots_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t words = layer->input_channels / 4u, rest = layer->input_channels % 4u,
             quads = dory_divide_up(tile->channels, 4);
    uint64_t four = words * (rest ? 20u : 13u) + rest * 18u + 124 + dots_finish_cycles(layer);
    const uint64_t cycles[] = {100 + 8 * words, four, quads};
    return 300 + dory_busiest_cycles((uint32_t)tile->rows * tile->columns * quads, cores, dots_share_cycles, cycles);
}

#define DOTS(kind, first, last)                                                                                             \
    DORY_DESCRIPTION_OF_KIND(matrix_dots##kind, dots_supports, first, last, .cycles = dots_cycles, .joins_rows = true)

DOTS(, DORY_NOT_DIRECT, DORY_DIRECT)
DOTS(_clamped, DORY_DIRECT_CLAMPED, DORY_DIRECT_CLAMPED_DIVIDED)
DOTS(_split, DORY_DIRECT_SPLIT, DORY_DIRECT_SPLIT_AWAY)
DOTS(_high, DORY_DIRECT_HIGH_EVEN, DORY_DIRECT_HIGH_AWAY)
