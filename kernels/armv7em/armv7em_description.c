/* What the planner knows of the kernels for Armv7E-M. Their "cycles" are instructions, as QEMU counts them: see
 * docs/cortex-m.md. */
#include "armv7em.h"
#include "dory/engine.h"
#include "finish.h"
#include "line.h"
#include "pixels.h"
#include "planes.h"
#include "quads.h"

/* Elements that are expanded to halves and back. Tensors lie in HWC. */
static bool has_bytes(const struct dory_layer *layer)
{
    return layer->input_bits == 8 && layer->weight_bits == 8 && (layer->output_bits == 8 || layer->output_bits == 32);
}

/* Behind the sum of an element. */
static uint32_t finish_instructions(const struct dory_layer *layer)
{
    uint32_t clip = dory_clips(layer) ? 6 : 0;
    switch (dory_finish_of(layer)) {
    case DORY_FINISH_HIGH: return 7 + clip;
    case DORY_FINISH_HIGH_AWAY: return 9 + clip;
    case DORY_FINISH_HIGH_EVEN: return 11 + clip;
    case DORY_FINISH_32: return 6 + clip;
    case DORY_FINISH_CLAMPED: return 11;
    case DORY_FINISH_CLAMPED_DIVIDED: return 13;
    default: return layer->normalisation == DORY_NORMALISE_DIVIDE ? 300 : 70;
    }
}

/* Of words that are laid, and of their runs. */
static uint64_t lay_instructions(const struct dory_layer *layer, uint32_t input_channels)
{
    uint32_t runs = dory_runs(layer), elements = dory_run_elements(layer, input_channels);
    uint32_t words = runs * (elements / 4), rests = elements % 4;
    return 35 + 12 * runs + 6 * words + (rests ? runs * (8 + 8 * rests) : 0);
}

static uint64_t product_groups(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    return dory_chunk_elements(layer, tile->input_channels) / 4;
}

/* Of one pixel by four channels. */
static uint64_t quad_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    return 20 * product_groups(layer, tile) + 70 + 4 * (8 + finish_instructions(layer));
}

/* Of four pixels by two channels. */
static uint64_t pair_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    return 27 * product_groups(layer, tile) + 65 + 8 * finish_instructions(layer);
}

static uint64_t convolution_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t pixels = dory_divide_up((uint32_t)tile->rows * tile->columns, cores), fours = pixels / 4, rest = pixels % 4;
    return 200 + pixels * lay_instructions(layer, tile->input_channels) +
           fours * dory_divide_up(tile->channels, 2) * pair_instructions(layer, tile) +
           rest * dory_divide_up(tile->channels, 4) * quad_instructions(layer, tile);
}

static bool convolution_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONVOLUTION && has_bytes(layer) && !dory_is_fully_connected(layer);
}

static uint32_t convolution_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return cores * (8 * dory_chunk_elements(layer, tile->input_channels) + dory_window_bytes(layer, tile->input_channels));
}

static const struct dory_kernel_description convolution = {
    .name = "dory_armv7em_convolution",
    .supports = convolution_supports,
    .scratch_bytes = convolution_scratch,
    .cycles = convolution_instructions,
    .in_place = DORY_ALL_IN_PLACE,
    .knows_border = true,
    .can_tile_input_channels = true,
    .in_row_order = true,
};

static bool linear_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONVOLUTION && has_bytes(layer) && dory_is_fully_connected(layer);
}

static uint64_t linear_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t quads = dory_divide_up(dory_divide_up(tile->channels, 4), cores);
    return 200 + lay_instructions(layer, tile->input_channels) + quads * quad_instructions(layer, tile);
}

/* One pixel instead of four, and no border. */
static uint32_t linear_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return cores * 2 * dory_chunk_elements(layer, tile->input_channels);
}

static const struct dory_kernel_description linear = {
    .name = "dory_armv7em_linear",
    .supports = linear_supports,
    .scratch_bytes = linear_scratch,
    .cycles = linear_instructions,
    .in_place = DORY_ALL_IN_PLACE,
    .can_tile_input_channels = true,
};

/* ---- depth-wise ---- */

static bool depthwise_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_DEPTHWISE && has_bytes(layer) && layer->dilation_width == 1;
}

static uint32_t depthwise_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    struct dory_planes planes = dory_planes_of(layer, tile->rows, tile->columns);
    return cores * dory_planes_core_bytes(&planes);
}

/* Of an output. */
static uint32_t window_instructions(const struct dory_layer *layer)
{
    bool is_3x3 = layer->kernel_height == 3 && layer->kernel_width == 3;
    uint32_t finish = finish_instructions(layer), words = layer->kernel_height * dory_divide_up(layer->kernel_width, 4);
    bool by_twos = is_3x3 && layer->stride_height == 1 && layer->stride_width == 1;
    return by_twos ? 14 + finish : is_3x3 ? 24 + finish : 10 + 4u * layer->kernel_height + 9 * words + finish;
}

static uint64_t depthwise_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    struct dory_planes planes = dory_planes_of(layer, tile->rows, tile->columns);
    uint32_t quads = dory_divide_up(dory_divide_up(tile->channels, 4), cores), bands = tile->rows / planes.band_rows;
    uint64_t laid = (uint64_t)planes.plane_bytes * 6 + 100, rows = tile->rows * 30u + 100;
    uint64_t channel = rows + (uint64_t)tile->rows * tile->columns * window_instructions(layer);
    return 200 + quads * (bands * (laid + 4 * 200) + 4 * channel);
}

static const struct dory_kernel_description depthwise = {
    .name = "dory_armv7em_depthwise",
    .supports = depthwise_supports,
    .scratch_bytes = depthwise_scratch,
    .cycles = depthwise_instructions,
    .in_place = DORY_ALL_IN_PLACE,
    .knows_border = true,
};

/* ---- element by element ---- */

static uint32_t no_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer, (void)tile, (void)cores;
    return 0;
}

static uint64_t elements_of(const struct dory_tile_shape *tile, unsigned cores)
{
    return dory_divide_up((uint32_t)tile->rows * tile->columns * tile->channels, cores);
}

/* Of two inputs, the second of which may be one pixel. */
static bool combines_bytes(const struct dory_layer *layer)
{
    return layer->input_bits == 8 && layer->second_input_bits == 8 && layer->output_bits == 8 &&
           (layer->second_repeats & DORY_REPEATS_CHANNEL) == 0;
}

static bool addition_supports(const struct dory_layer *layer)
{
    struct dory_line line;
    return layer->operation == DORY_ADDITION && combines_bytes(layer) && layer->normalisation != DORY_NORMALISE_THRESHOLDS &&
           (layer->normalisation == DORY_NORMALISE_HIGH || dory_fold_addition(layer, &line));
}

static uint64_t addition_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return 200 +
           elements_of(tile, cores) * (layer->normalisation == DORY_NORMALISE_HIGH ? 2 + finish_instructions(layer) : 9);
}

static const struct dory_kernel_description addition = {
    .name = "dory_armv7em_addition",
    .supports = addition_supports,
    .scratch_bytes = no_scratch,
    .cycles = addition_instructions,
    .in_place = DORY_ALL_IN_PLACE,
    .in_row_order = true,
};

static bool multiplication_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_MULTIPLICATION && combines_bytes(layer) && layer->normalisation == DORY_NORMALISE_HIGH;
}

static uint64_t multiplication_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile,
                                            unsigned cores)
{
    return 200 + elements_of(tile, cores) * (9 + finish_instructions(layer));
}

static const struct dory_kernel_description multiplication = {
    .name = "dory_armv7em_multiplication",
    .supports = multiplication_supports,
    .scratch_bytes = no_scratch,
    .cycles = multiplication_instructions,
    .in_place = DORY_ALL_IN_PLACE,
};

/* Averages whose sums have 16 bits, and maxima as they are. Channels are words. */
static bool pool_supports(const struct dory_layer *layer)
{
    struct dory_line line;
    bool is_average = layer->operation == DORY_AVERAGE_POOL;
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    if ((!is_average && layer->operation != DORY_MAXIMUM_POOL) || layer->input_bits != 8 || layer->output_bits != 8 ||
        layer->input_channels % 4 != 0 || layer->normalisation == DORY_NORMALISE_THRESHOLDS) {
        return false;
    }
    bool is_high = layer->normalisation == DORY_NORMALISE_HIGH;
    return is_average ? taps <= 65535 / 255 && (is_high || dory_fold_average(layer, taps, &line))
                      : is_high || dory_is_identity(layer);
}

static uint64_t pool_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    bool is_average = layer->operation == DORY_AVERAGE_POOL;
    uint64_t pixels = dory_divide_up((uint32_t)tile->rows * tile->columns, cores);
    uint32_t window = layer->kernel_height * (layer->kernel_width * (is_average ? 9u : 7u) + 8u) + (is_average ? 50u : 12u);
    return 100 + pixels * (30 + dory_divide_up(tile->channels, 4) * window);
}

static const struct dory_kernel_description pool = {
    .name = "dory_armv7em_pool",
    .supports = pool_supports,
    .scratch_bytes = no_scratch,
    .cycles = pool_instructions,
    .in_place = DORY_ALL_IN_PLACE,
    .in_row_order = true,
};

static const struct dory_kernel_description *const kernels[] = {&linear,         &convolution, &depthwise, &addition,
                                                                &multiplication, &pool,        0};

const struct dory_engine dory_armv7em_engine = {.name = "armv7em", .weights = &dory_quads, .kernels = kernels};
