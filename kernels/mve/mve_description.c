/* What the planner knows of the kernels with vector instructions. Their "cycles" are instructions, as QEMU counts them: see
 * docs/cortex-m.md. */
#include "dory/engine.h"
#include "finish.h"
#include "line.h"
#include "mve.h"
#include "planes.h"
#include "sixteens.h"

static bool has_bytes(const struct dory_layer *layer)
{
    return layer->input_bits == 8 && layer->weight_bits == 8 && (layer->output_bits == 8 || layer->output_bits == 32);
}

/* One pixel, whose window is one. */
static bool is_linear(const struct dory_layer *layer)
{
    return layer->output_height == 1 && layer->output_width == 1 && layer->kernel_height == 1 && layer->kernel_width == 1;
}

/* Behind four sums. */
static uint32_t finish_instructions(const struct dory_layer *layer)
{
    enum dory_finish kind = dory_finish_of(layer);
    return kind == DORY_FINISH_HIGH_EVEN ? 18 : kind <= DORY_FINISH_32 ? 15 : 4 * 90;
}

static uint32_t sixteens_of(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    return dory_sixteens_elements(layer, tile->input_channels) / 16;
}

static uint32_t lay_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    return 30 + layer->kernel_height * (7 + 4 * dory_divide_up(layer->kernel_width * (uint32_t)tile->input_channels, 16));
}

static uint64_t convolution_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t pixels = dory_divide_up((uint32_t)tile->rows * tile->columns, cores);
    enum dory_finish kind = dory_finish_of(layer);
    bool has_assembly = kind <= DORY_FINISH_HIGH_AWAY && layer->normalisation != DORY_NORMALISE_SHARED;
    uint32_t finish = has_assembly && tile->channels % 4 == 0 ? 73 : 75 + 3 * finish_instructions(layer);
    uint64_t quad = 24 * sixteens_of(layer, tile) + finish;
    return 200 + pixels * (uint64_t)lay_instructions(layer, tile) +
           dory_divide_up(pixels, 3) * dory_divide_up(tile->channels, 4) * quad;
}

static bool convolution_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONVOLUTION && has_bytes(layer) && !is_linear(layer);
}

/* Pixels, and what is written behind them. */
static uint32_t convolution_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return cores * (3 * dory_sixteens_elements(layer, tile->input_channels) + 16);
}

static const struct dory_kernel_description convolution =
    DORY_KERNEL(dory_mve_convolution, convolution_supports, convolution_scratch, convolution_instructions,
                .in_place = DORY_ALL_IN_PLACE, .knows_border = true, .in_row_order = true);

static bool linear_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONVOLUTION && has_bytes(layer) && is_linear(layer);
}

static uint64_t linear_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t quads = dory_divide_up(dory_divide_up(tile->channels, 4), cores);
    return 200 + lay_instructions(layer, tile) +
           quads * (uint64_t)(10 * sixteens_of(layer, tile) + 33 + finish_instructions(layer));
}

static uint32_t linear_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return cores * (dory_sixteens_elements(layer, tile->input_channels) + 16);
}

static const struct dory_kernel_description linear =
    DORY_KERNEL(dory_mve_linear, linear_supports, linear_scratch, linear_instructions, .in_place = DORY_ALL_IN_PLACE);

/* ---- depth-wise ---- */

static bool depthwise_supports(const struct dory_layer *layer)
{
    bool is_3x3 = layer->kernel_height == 3 && layer->kernel_width == 3 && layer->dilation_height == 1 &&
                  layer->dilation_width == 1 && layer->stride_height == layer->stride_width && layer->stride_height <= 2;
    return layer->operation == DORY_DEPTHWISE && has_bytes(layer) && is_3x3 && layer->output_channels <= 8192 &&
           dory_finish_of(layer) <= DORY_FINISH_32;
}

static uint32_t depthwise_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    struct dory_mve_planes planes = dory_mve_planes_of(layer, tile->rows, tile->columns);
    return cores * dory_mve_planes_core_bytes(&planes);
}

static uint64_t depthwise_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    struct dory_mve_planes planes = dory_mve_planes_of(layer, tile->rows, tile->columns);
    uint32_t channels = dory_divide_up(tile->channels, cores), outputs = (uint32_t)tile->rows * tile->columns;
    uint32_t bands = dory_divide_up(tile->rows, planes.band_rows);
    bool is_single = layer->stride_height == 1;
    uint32_t sums =
        is_single ? dory_divide_up(tile->rows, 2) * (20u + 6 * tile->columns) : tile->rows * (12u + 4 * tile->columns);
    uint32_t finish = dory_divide_up(outputs, 4) * (1 + finish_instructions(layer));
    uint32_t lay = dory_input_extent(tile->rows, 3, layer->stride_height, 1) * (10 + 7 * dory_divide_up(planes.columns, 8));
    return 200 + channels * (bands * 280u + lay + sums + (uint64_t)finish);
}

static const struct dory_kernel_description depthwise =
    DORY_KERNEL(dory_mve_depthwise, depthwise_supports, depthwise_scratch, depthwise_instructions,
                .in_place = DORY_ALL_IN_PLACE, .knows_border = true);

/* ---- element by element ---- */

static bool addition_supports(const struct dory_layer *layer)
{
    struct dory_line line;
    return layer->operation == DORY_ADDITION && layer->input_bits == 8 && layer->second_input_bits == 8 &&
           layer->output_bits == 8 && (layer->second_repeats & DORY_REPEATS_CHANNEL) == 0 &&
           layer->normalisation < DORY_NORMALISE_THRESHOLDS &&
           (layer->normalisation == DORY_NORMALISE_HIGH || dory_fold_addition(layer, &line));
}

static uint64_t addition_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return 200 + dory_divide_up((uint32_t)tile->rows * tile->columns * tile->channels, 4 * cores) *
                     (uint64_t)(layer->normalisation == DORY_NORMALISE_HIGH ? 9 + finish_instructions(layer) : 13);
}

static const struct dory_kernel_description addition = DORY_KERNEL(
    dory_mve_addition, addition_supports, NULL, addition_instructions, .in_place = DORY_ALL_IN_PLACE, .in_row_order = true);

static const struct dory_kernel_description *const kernels[] = {&linear, &convolution, &depthwise, &addition, 0};

const struct dory_engine dory_mve_engine = {.name = "mve", .weights = &dory_sixteens, .kernels = kernels};
