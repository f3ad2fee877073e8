/* What the planner knows of the kernels for Armv7E-M. Their "cycles" are instructions, as QEMU counts them: see
 * docs/cortex-m.md. */
#include "armv7em_description.h"
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
uint32_t dory_armv7em_finish_instructions(const struct dory_layer *layer)
{
    uint32_t clip = dory_clips(layer) ? 6 : 0;
    switch (dory_finish_of(layer)) {
    case DORY_FINISH_HIGH: return 7 + clip;
    case DORY_FINISH_HIGH_AWAY: return 9 + clip;
    case DORY_FINISH_HIGH_EVEN: return 11 + clip;
    case DORY_FINISH_32: return 6 + clip;
    case DORY_FINISH_CLAMPED: return 21; /* of which 8 are a call for few pixels of a channel */
    case DORY_FINISH_CLAMPED_DIVIDED: return 23;
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

uint64_t dory_armv7em_quad_instructions(const struct dory_layer *layer, uint64_t groups)
{
    return 20 * groups + 70 + 4 * (8 + dory_armv7em_finish_instructions(layer));
}

uint64_t dory_armv7em_pair_instructions(const struct dory_layer *layer, uint64_t groups)
{
    return 27 * groups + 65 + 8 * dory_armv7em_finish_instructions(layer);
}

static uint64_t convolution_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t pixels = dory_divide_up((uint32_t)tile->rows * tile->columns, cores), fours = pixels / 4, rest = pixels % 4;
    uint64_t groups = product_groups(layer, tile);
    return 200 + pixels * lay_instructions(layer, tile->input_channels) +
           fours * dory_divide_up(tile->channels, 2) * dory_armv7em_pair_instructions(layer, groups) +
           rest * dory_divide_up(tile->channels, 4) * dory_armv7em_quad_instructions(layer, groups);
}

static bool convolution_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONVOLUTION && has_bytes(layer) && !dory_is_fully_connected(layer);
}

static uint32_t convolution_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return cores * (8 * dory_chunk_elements(layer, tile->input_channels) + dory_window_bytes(layer, tile->input_channels));
}

DORY_DESCRIBE(armv7em_convolution, convolution_supports, convolution_scratch, convolution_instructions,
              .in_place = DORY_ALL_IN_PLACE, .knows_border = true, .can_tile_input_channels = true, .in_row_order = true)

static bool linear_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONVOLUTION && has_bytes(layer) && dory_is_fully_connected(layer);
}

static uint64_t linear_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t quads = dory_divide_up(dory_divide_up(tile->channels, 4), cores), groups = product_groups(layer, tile);
    bool is_laid = dory_lays_linear(layer);
    return 200 + (is_laid ? lay_instructions(layer, tile->input_channels) : 2 * quads * groups) +
           quads * dory_armv7em_quad_instructions(layer, groups);
}

/* One pixel instead of four, and no border. */
static uint32_t linear_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return dory_lays_linear(layer) ? cores * 2 * dory_chunk_elements(layer, tile->input_channels) : 0;
}

DORY_DESCRIBE(armv7em_linear, linear_supports, linear_scratch, linear_instructions, .in_place = DORY_ALL_IN_PLACE,
              .can_tile_input_channels = true)

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
    uint32_t finish = dory_armv7em_finish_instructions(layer),
             words = layer->kernel_height * dory_divide_up(layer->kernel_width, 4);
    bool is_high = dory_finish_of(layer) <= DORY_FINISH_HIGH_AWAY && !dory_clips(layer);
    bool by_twos = is_3x3 && layer->stride_height == 1 && layer->stride_width == 1 && is_high;
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

DORY_DESCRIBE(armv7em_depthwise, depthwise_supports, depthwise_scratch, depthwise_instructions,
              .in_place = DORY_ALL_IN_PLACE, .knows_border = true)

/* ---- in groups ---- */

static bool grouped_supports(const struct dory_layer *layer) { return layer->operation == DORY_GROUPED && has_bytes(layer); }

static uint32_t grouped_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)tile;
    return cores * 3 * dory_chunk_elements(layer, dory_window_channels(layer));
}

static uint64_t grouped_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t groups = dory_chunk_elements(layer, dory_window_channels(layer)) / 4, taps = layer->kernel_width;
    taps *= layer->kernel_height;
    uint64_t quad = 60 + taps * 16 + groups * 15 + dory_armv7em_quad_instructions(layer, groups);
    return 200 + dory_divide_up((uint32_t)tile->rows * tile->columns, cores) * (dory_divide_up(tile->channels, 4) * quad);
}

DORY_DESCRIBE(armv7em_grouped, grouped_supports, grouped_scratch, grouped_instructions, .in_place = DORY_ALL_IN_PLACE,
              .knows_border = true, .in_row_order = true)

#define DESCRIPTION(name) &dory_armv7em_##name##_description,

static const struct dory_kernel_description *const kernels[] = {DORY_ARMV7EM_KERNELS(DESCRIPTION) 0};

const struct dory_engine dory_armv7em_engine = {.name = "armv7em", .weights = &dory_quads, .kernels = kernels};
