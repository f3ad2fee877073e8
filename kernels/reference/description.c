/* What the planner knows of the portable kernels. Their cycles are those of a plain RISC-V core, roughly: they order
 * tiles by size and by how evenly they divide, which is all that is asked of them. */
#include "dory/contract.h"

#include <stddef.h>

static bool is_convolution(const struct dory_layer *layer) { return layer->operation == DORY_CONVOLUTION; }
static bool is_depthwise(const struct dory_layer *layer) { return layer->operation == DORY_DEPTHWISE; }
static bool is_depthwise_of_bytes(const struct dory_layer *layer) { return is_depthwise(layer) && layer->input_bits == 8; }
static bool is_addition(const struct dory_layer *layer) { return layer->operation == DORY_ADDITION; }
static bool is_multiplication(const struct dory_layer *layer) { return layer->operation == DORY_MULTIPLICATION; }
static bool is_grouped(const struct dory_layer *layer) { return layer->operation == DORY_GROUPED; }
static bool is_copy(const struct dory_layer *layer) { return layer->operation == DORY_COPY; }
static bool is_table(const struct dory_layer *layer) { return layer->operation == DORY_TABLE; }
static bool is_interpolation(const struct dory_layer *layer) { return layer->operation == DORY_INTERPOLATION; }
static bool has_thresholds(const struct dory_layer *layer) { return layer->normalisation == DORY_NORMALISE_THRESHOLDS; }
static bool is_softmax(const struct dory_layer *layer) { return layer->operation == DORY_SOFTMAX && !has_thresholds(layer); }
static bool is_exact_softmax(const struct dory_layer *layer)
{
    return layer->operation == DORY_SOFTMAX && has_thresholds(layer);
}
static bool is_largest(const struct dory_layer *layer) { return layer->operation == DORY_LARGEST; }
static bool is_concatenation(const struct dory_layer *layer) { return layer->operation == DORY_CONCATENATION; }

static bool is_pool(const struct dory_layer *layer)
{
    return layer->operation == DORY_MAXIMUM_POOL || layer->operation == DORY_AVERAGE_POOL;
}

static uint32_t no_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer, (void)tile, (void)cores;
    return 0;
}

static uint64_t items_of_slowest_core(uint64_t items, unsigned cores) { return (items + cores - 1) / cores; }

static uint64_t convolution_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t items = (uint64_t)tile->rows * tile->columns * dory_divide_up(tile->channels, 4);
    uint64_t taps = (uint64_t)layer->kernel_height * layer->kernel_width * tile->input_channels;
    return items_of_slowest_core(items, cores) * (taps * 16 + 120) + 100;
}

static uint64_t per_channel_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t items = (uint64_t)tile->rows * tile->columns * dory_divide_up(tile->channels, 4);
    uint64_t taps = (uint64_t)layer->kernel_height * layer->kernel_width;
    taps *= layer->operation == DORY_GROUPED ? layer->group_channels : 1u;
    return items_of_slowest_core(items, cores) * 4 * (taps * 20 + 50) + 100;
}

/* Elements come from a table in L2. */
static uint64_t table_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer;
    return items_of_slowest_core((uint64_t)tile->rows * tile->columns * tile->channels, cores) * 20 + 100;
}

static uint64_t softmax_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t pixel = 300 + 50 * (uint64_t)layer->input_channels + 30 * (uint64_t)tile->channels;
    return items_of_slowest_core((uint64_t)tile->rows * tile->columns, cores) * pixel + 100;
}

/* A division of 64 bits for each element, and its threshold. */
static uint64_t exact_softmax_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t pixel = 100 + 30 * (uint64_t)layer->input_channels + 800 * (uint64_t)tile->channels;
    return items_of_slowest_core((uint64_t)tile->rows * tile->columns, cores) * pixel + 100;
}

static uint64_t interpolation_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t pixel = 250 + 120 * (uint64_t)tile->channels;
    (void)layer;
    return items_of_slowest_core((uint64_t)tile->rows * tile->columns, cores) * pixel + 100;
}

static const struct dory_kernel_description convolution = {
    .name = "dory_reference_convolution",
    .supports = is_convolution,
    .scratch_bytes = no_scratch,
    .cycles = convolution_cycles,
    .can_tile_input_channels = true,
    .writes_chw = true,
};

static const struct dory_kernel_description depthwise = {
    .name = "dory_reference_depthwise",
    .supports = is_depthwise,
    .scratch_bytes = no_scratch,
    .cycles = per_channel_cycles,
};

static const struct dory_kernel_description depthwise_chw = {
    .name = "dory_reference_depthwise_chw",
    .supports = is_depthwise_of_bytes,
    .scratch_bytes = no_scratch,
    .cycles = per_channel_cycles,
    .reads_chw = true,
};

static const struct dory_kernel_description pool = {
    .name = "dory_reference_pool",
    .supports = is_pool,
    .scratch_bytes = no_scratch,
    .cycles = per_channel_cycles,
};

static const struct dory_kernel_description addition = {
    .name = "dory_reference_addition",
    .supports = is_addition,
    .scratch_bytes = no_scratch,
    .cycles = per_channel_cycles,
};

static const struct dory_kernel_description multiplication = {
    .name = "dory_reference_multiplication",
    .supports = is_multiplication,
    .scratch_bytes = no_scratch,
    .cycles = per_channel_cycles,
};

static const struct dory_kernel_description grouped = {
    .name = "dory_reference_grouped",
    .supports = is_grouped,
    .scratch_bytes = no_scratch,
    .cycles = per_channel_cycles,
};

static const struct dory_kernel_description concatenation = {
    .name = "dory_reference_concatenation",
    .supports = is_concatenation,
    .scratch_bytes = no_scratch,
    .cycles = per_channel_cycles,
};

static const struct dory_kernel_description copy = {
    .name = "dory_reference_copy",
    .supports = is_copy,
    .scratch_bytes = no_scratch,
    .cycles = per_channel_cycles,
};

static const struct dory_kernel_description table = {
    .name = "dory_reference_table",
    .supports = is_table,
    .scratch_bytes = no_scratch,
    .cycles = table_cycles,
};

static const struct dory_kernel_description softmax = {
    .name = "dory_reference_softmax",
    .supports = is_softmax,
    .scratch_bytes = no_scratch,
    .cycles = softmax_cycles,
};

static const struct dory_kernel_description exact_softmax = {
    .name = "dory_reference_softmax_exact",
    .supports = is_exact_softmax,
    .scratch_bytes = no_scratch,
    .cycles = exact_softmax_cycles,
};

static const struct dory_kernel_description interpolation = {
    .name = "dory_reference_interpolation",
    .supports = is_interpolation,
    .scratch_bytes = no_scratch,
    .cycles = interpolation_cycles,
};

static const struct dory_kernel_description largest = {
    .name = "dory_reference_largest",
    .supports = is_largest,
    .scratch_bytes = no_scratch,
    .cycles = softmax_cycles,
};

const struct dory_kernel_description *const dory_reference_kernels[] = {
    &convolution, &depthwise, &depthwise_chw, &pool,          &addition, &multiplication, &grouped, &concatenation,
    &table,       &softmax,   &exact_softmax, &interpolation, &copy,     &largest,        NULL,
};
