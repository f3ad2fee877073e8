/* What the planner knows of the portable kernels. Their cycles are fitted to a core of GAP8 on gvsoc, within some 20 %: 20
 * core cycles a product of bytes, five to eight times as many of other elements, and hundreds for an element's stages in
 * 64 bits. */
#include "dory/engine.h"
#include "quads.h"

#include <stddef.h>

static bool is_convolution(const struct dory_layer *layer) { return layer->operation == DORY_CONVOLUTION; }
static bool is_depthwise(const struct dory_layer *layer) { return layer->operation == DORY_DEPTHWISE; }
static bool is_depthwise_of_bytes(const struct dory_layer *layer) { return is_depthwise(layer) && layer->input_bits == 8; }
static bool is_addition(const struct dory_layer *layer) { return layer->operation == DORY_ADDITION; }
static bool is_multiplication(const struct dory_layer *layer) { return layer->operation == DORY_MULTIPLICATION; }
static bool is_grouped(const struct dory_layer *layer) { return layer->operation == DORY_GROUPED; }
static bool is_copy(const struct dory_layer *layer) { return layer->operation == DORY_COPY; }
static bool is_transposition(const struct dory_layer *layer) { return layer->operation == DORY_TRANSPOSITION; }
static bool is_constant(const struct dory_layer *layer) { return layer->operation == DORY_CONSTANT; }
static bool is_table(const struct dory_layer *layer) { return layer->operation == DORY_TABLE; }
static bool is_interpolation(const struct dory_layer *layer) { return layer->operation == DORY_INTERPOLATION; }
static bool has_thresholds(const struct dory_layer *layer) { return layer->normalisation == DORY_NORMALISE_THRESHOLDS; }
static bool is_softmax(const struct dory_layer *layer) { return layer->operation == DORY_SOFTMAX && !has_thresholds(layer); }
static bool is_exact_softmax(const struct dory_layer *layer)
{
    return layer->operation == DORY_SOFTMAX && has_thresholds(layer);
}
static bool is_squared_difference(const struct dory_layer *layer) { return layer->operation == DORY_SQUARED_DIFFERENCE; }
static bool is_quotient(const struct dory_layer *layer) { return layer->operation == DORY_QUOTIENT; }
static bool is_norm(const struct dory_layer *layer) { return layer->operation == DORY_NORM; }
static bool is_lstm(const struct dory_layer *layer) { return layer->operation == DORY_LSTM; }
static bool is_largest(const struct dory_layer *layer) { return layer->operation == DORY_LARGEST; }
static bool is_matrix_product(const struct dory_layer *layer) { return layer->operation == DORY_MATRIX_PRODUCT; }
static bool is_concatenation(const struct dory_layer *layer) { return layer->operation == DORY_CONCATENATION; }

static bool is_pool(const struct dory_layer *layer)
{
    return layer->operation == DORY_MAXIMUM_POOL || layer->operation == DORY_AVERAGE_POOL;
}

static uint64_t items_of_slowest_core(uint64_t items, unsigned cores) { return (items + cores - 1) / cores; }

static bool is_bytes(const struct dory_layer *layer) { return layer->input_bits == 8 && layer->weight_bits == 8; }

/* A pixel and four channels: for each element of the input, and behind the sums. */
static uint64_t convolution_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t items = (uint64_t)tile->rows * tile->columns * dory_divide_up(tile->channels, 4);
    uint64_t taps = (uint64_t)layer->kernel_height * layer->kernel_width * tile->input_channels;
    uint64_t item = taps * (is_bytes(layer) ? 64 : 485) + (layer->normalisation == DORY_NORMALISE_32 ? 790 : 1400);
    return items_of_slowest_core(items, cores) * item + 500;
}

static uint64_t grouped_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t items = (uint64_t)tile->rows * tile->columns * dory_divide_up(tile->channels, 4);
    uint64_t taps = (uint64_t)layer->kernel_height * layer->kernel_width * dory_window_channels(layer);
    return items_of_slowest_core(items, cores) * (taps * 390 + 2300) + 500;
}

static uint64_t depthwise_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t items = (uint64_t)tile->rows * tile->columns * dory_divide_up(tile->channels, 4);
    uint64_t taps = (uint64_t)layer->kernel_height * layer->kernel_width;
    return items_of_slowest_core(items, cores) * 4 * (taps * (layer->input_bits == 8 ? 33 : 47) + 330) + 500;
}

/* An element of the output: for each product, and behind the sum. */
static uint64_t matrix_product_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t elements = items_of_slowest_core((uint64_t)tile->rows * tile->columns, cores) * tile->channels;
    return elements * ((uint64_t)layer->input_channels * 40 + 640) + 500;
}

/* Pixels of so many cycles a channel. */
static uint64_t pixels_cycles(const struct dory_tile_shape *tile, unsigned cores, uint64_t element_cycles)
{
    return items_of_slowest_core((uint64_t)tile->rows * tile->columns, cores) * tile->channels * element_cycles + 500;
}

/* The same where cores take parts of a pixel. */
static uint64_t parts_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                             uint64_t element_cycles)
{
    uint32_t pixels = (uint32_t)tile->rows * tile->columns;
    uint32_t parts = pixels < cores && layer->output_bits >= 8 ? cores / pixels : 1;
    return items_of_slowest_core((uint64_t)pixels * parts, cores) * ((tile->channels + parts - 1) / parts) * element_cycles +
           500;
}

static uint64_t pool_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t taps = (uint64_t)layer->kernel_height * layer->kernel_width;
    uint64_t finish = layer->operation == DORY_MAXIMUM_POOL ? 510 : 750;
    return pixels_cycles(tile, cores, taps * (layer->input_bits == 8 ? 22 : 37) + finish);
}

static uint64_t addition_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return parts_cycles(layer, tile, cores, layer->normalisation == DORY_NORMALISE_HIGH ? 355 : 590);
}

static uint64_t multiplication_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return parts_cycles(layer, tile, cores, 640);
}

/* Of an element, by software: a division of 64 bits, or the shift that a power of two is. */
static uint64_t stage_cycles(const struct dory_stage *stage)
{
    uint64_t divisor = (uint64_t)stage->divisor;
    return divisor == 1 ? 0 : (divisor & (divisor - 1)) == 0 ? 60 : 190;
}

static uint64_t concatenation_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    const struct dory_stages *stages = layer->stages;
    uint64_t inputs = stage_cycles(&stages->input[0]) + stage_cycles(&stages->input[1]);
    return pixels_cycles(tile, cores, 190 + inputs / 2 + stage_cycles(&stages->first));
}

static uint64_t copy_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer;
    return pixels_cycles(tile, cores, 120);
}

static uint64_t constant_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer;
    return items_of_slowest_core(tile->channels, cores) * 6 + 100;
}

/* Cores have parts of the rows. */
static uint64_t transposition_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer;
    uint64_t pixels = items_of_slowest_core((uint64_t)tile->rows * tile->columns, cores);
    return pixels * (tile->channels * 8u + 80) + 300;
}

/* Elements come from a table in L2. */
static uint64_t table_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer;
    return items_of_slowest_core((uint64_t)tile->rows * tile->columns * tile->channels, cores) * 11 + 100;
}

static uint64_t softmax_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t pixel = 300 + 50 * (uint64_t)layer->input_channels + 30 * (uint64_t)tile->channels;
    return items_of_slowest_core((uint64_t)tile->rows * tile->columns, cores) * pixel + 100;
}

/* A division of 64 bits for each element, and its threshold. */
static uint64_t exact_softmax_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t pixel = 100 + 30 * (uint64_t)layer->input_channels + 330 * (uint64_t)tile->channels;
    return items_of_slowest_core((uint64_t)tile->rows * tile->columns, cores) * pixel + 100;
}

static uint64_t norm_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t pixel = 450 + 8 * (uint64_t)layer->input_channels + 120 * (uint64_t)tile->channels;
    return items_of_slowest_core((uint64_t)tile->rows * tile->columns, cores) * pixel + 100;
}

static uint64_t interpolation_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t windows = (uint64_t)layer->interpolation.row_pairs * layer->interpolation.column_pairs,
             pixel = 250 + 600 * windows * tile->channels;
    return items_of_slowest_core((uint64_t)tile->rows * tile->columns, cores) * pixel + 100;
}

/* All of them compute in any memory; those with windows know the border of an input that has none. */
#define IN_PLACE            .in_place = DORY_ALL_IN_PLACE
#define IN_PLACE_AND_BORDER IN_PLACE, .knows_border = true

static const struct dory_kernel_description convolution = {
    .name = "dory_reference_convolution",
    .supports = is_convolution,
    .cycles = convolution_cycles,
    .can_tile_input_channels = true,
    .writes_chw = true,
    IN_PLACE_AND_BORDER,
    .in_row_order = true,
};

static const struct dory_kernel_description depthwise = {
    .name = "dory_reference_depthwise",
    .supports = is_depthwise,
    .cycles = depthwise_cycles,
    IN_PLACE_AND_BORDER,
    .in_row_order = true,
};

static const struct dory_kernel_description depthwise_chw = {
    .name = "dory_reference_depthwise_chw",
    .supports = is_depthwise_of_bytes,
    .cycles = depthwise_cycles,
    .reads_chw = true,
    IN_PLACE_AND_BORDER,
};

static const struct dory_kernel_description pool = {
    .name = "dory_reference_pool",
    .supports = is_pool,
    .cycles = pool_cycles,
    IN_PLACE_AND_BORDER,
    .in_row_order = true,
};

static const struct dory_kernel_description addition = {
    .name = "dory_reference_addition",
    .supports = is_addition,
    .cycles = addition_cycles,
    IN_PLACE,
    .in_row_order = true,
};

static const struct dory_kernel_description multiplication = {
    .name = "dory_reference_multiplication",
    .supports = is_multiplication,
    .cycles = multiplication_cycles,
    IN_PLACE,
    .in_row_order = true,
};

static const struct dory_kernel_description grouped = {
    .name = "dory_reference_grouped",
    .supports = is_grouped,
    .cycles = grouped_cycles,
    IN_PLACE_AND_BORDER,
    .in_row_order = true,
};

static const struct dory_kernel_description concatenation = {
    .name = "dory_reference_concatenation",
    .supports = is_concatenation,
    .cycles = concatenation_cycles,
    IN_PLACE,
};

static const struct dory_kernel_description copy = {
    .name = "dory_reference_copy",
    .supports = is_copy,
    .cycles = copy_cycles,
    IN_PLACE_AND_BORDER,
};

static const struct dory_kernel_description constant = {
    .name = "dory_reference_constant",
    .supports = is_constant,
    .cycles = constant_cycles,
    IN_PLACE,
};

static const struct dory_kernel_description transposition = {
    .name = "dory_reference_transposition",
    .supports = is_transposition,
    .cycles = transposition_cycles,
    IN_PLACE,
};

static const struct dory_kernel_description table = {
    .name = "dory_reference_table",
    .supports = is_table,
    .cycles = table_cycles,
    IN_PLACE,
    .in_row_order = true,
};

static const struct dory_kernel_description softmax = {
    .name = "dory_reference_softmax",
    .supports = is_softmax,
    .cycles = softmax_cycles,
    IN_PLACE,
};

static const struct dory_kernel_description exact_softmax = {
    .name = "dory_reference_softmax_exact",
    .supports = is_exact_softmax,
    .cycles = exact_softmax_cycles,
    IN_PLACE,
};

static const struct dory_kernel_description interpolation = {
    .name = "dory_reference_interpolation",
    .supports = is_interpolation,
    .cycles = interpolation_cycles,
    IN_PLACE_AND_BORDER,
};

static uint64_t squared_difference_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer;
    return pixels_cycles(tile, cores, 170);
}

static const struct dory_kernel_description squared_difference = {
    .name = "dory_reference_squared_difference",
    .supports = is_squared_difference,
    .cycles = squared_difference_cycles,
    IN_PLACE,
    .in_row_order = true,
};

static const struct dory_kernel_description quotient = {
    .name = "dory_reference_quotient",
    .supports = is_quotient,
    .cycles = multiplication_cycles,
};

static const struct dory_kernel_description norm = {
    .name = "dory_reference_norm",
    .supports = is_norm,
    .cycles = norm_cycles,
    IN_PLACE,
};

/* Of all steps: a unit has four gates. */
static uint64_t lstm_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)tile; /* all of it */
    uint64_t steps = layer->output_channels / layer->lstm.units - 2u;
    uint64_t unit = (layer->input_channels / steps + layer->lstm.units) * 80 + 1500;
    return steps * (items_of_slowest_core(layer->lstm.units, cores) * unit + 100);
}

static const struct dory_kernel_description lstm = {
    .name = "dory_reference_lstm",
    .supports = is_lstm,
    .cycles = lstm_cycles,
};

static const struct dory_kernel_description largest = {
    .name = "dory_reference_largest",
    .supports = is_largest,
    .cycles = softmax_cycles,
    IN_PLACE,
};

static const struct dory_kernel_description matrix_product = {
    .name = "dory_reference_matrix_product",
    .supports = is_matrix_product,
    .cycles = matrix_product_cycles,
    IN_PLACE,
};

static const struct dory_kernel_description *const kernels[] = {
    &convolution, &depthwise,     &depthwise_chw, &pool,    &addition,       &multiplication,
    &grouped,     &concatenation, &table,         &softmax, &exact_softmax,  &interpolation,
    &copy,        &largest,       &transposition, &norm,    &matrix_product, &squared_difference,
    &quotient,    &lstm,          &constant,      NULL,
};

const struct dory_engine dory_portable_engine = {.name = "portable", .weights = &dory_quads, .kernels = kernels};
