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
    return parts_cycles(layer, tile, cores, dory_adds_terms(layer) ? 355 : 590);
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

static const struct dory_kernel_description convolution =
    DORY_KERNEL(dory_reference_convolution, is_convolution, NULL, convolution_cycles, .can_tile_input_channels = true,
                .writes_chw = true, IN_PLACE_AND_BORDER, .in_row_order = true);

static const struct dory_kernel_description depthwise =
    DORY_KERNEL(dory_reference_depthwise, is_depthwise, NULL, depthwise_cycles, IN_PLACE_AND_BORDER, .in_row_order = true);

static const struct dory_kernel_description depthwise_chw = DORY_KERNEL(
    dory_reference_depthwise_chw, is_depthwise_of_bytes, NULL, depthwise_cycles, .reads_chw = true, IN_PLACE_AND_BORDER);

static const struct dory_kernel_description pool =
    DORY_KERNEL(dory_reference_pool, is_pool, NULL, pool_cycles, IN_PLACE_AND_BORDER, .in_row_order = true);

static const struct dory_kernel_description addition =
    DORY_KERNEL(dory_reference_addition, is_addition, NULL, addition_cycles, IN_PLACE, .in_row_order = true);

static const struct dory_kernel_description multiplication = DORY_KERNEL(
    dory_reference_multiplication, is_multiplication, NULL, multiplication_cycles, IN_PLACE, .in_row_order = true);

static const struct dory_kernel_description grouped =
    DORY_KERNEL(dory_reference_grouped, is_grouped, NULL, grouped_cycles, IN_PLACE_AND_BORDER, .in_row_order = true);

static const struct dory_kernel_description concatenation =
    DORY_KERNEL(dory_reference_concatenation, is_concatenation, NULL, concatenation_cycles, IN_PLACE);

static const struct dory_kernel_description copy =
    DORY_KERNEL(dory_reference_copy, is_copy, NULL, copy_cycles, IN_PLACE_AND_BORDER);

static const struct dory_kernel_description constant =
    DORY_KERNEL(dory_reference_constant, is_constant, NULL, constant_cycles, IN_PLACE);

static const struct dory_kernel_description transposition =
    DORY_KERNEL(dory_reference_transposition, is_transposition, NULL, transposition_cycles, IN_PLACE);

static const struct dory_kernel_description table =
    DORY_KERNEL(dory_reference_table, is_table, NULL, table_cycles, IN_PLACE, .in_row_order = true);

static const struct dory_kernel_description softmax =
    DORY_KERNEL(dory_reference_softmax, is_softmax, NULL, softmax_cycles, IN_PLACE);

static const struct dory_kernel_description exact_softmax =
    DORY_KERNEL(dory_reference_softmax_exact, is_exact_softmax, NULL, exact_softmax_cycles, IN_PLACE);

static const struct dory_kernel_description interpolation =
    DORY_KERNEL(dory_reference_interpolation, is_interpolation, NULL, interpolation_cycles, IN_PLACE_AND_BORDER);

static uint64_t squared_difference_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer;
    return pixels_cycles(tile, cores, 170);
}

static const struct dory_kernel_description squared_difference =
    DORY_KERNEL(dory_reference_squared_difference, is_squared_difference, NULL, squared_difference_cycles, IN_PLACE,
                .in_row_order = true);

static const struct dory_kernel_description quotient =
    DORY_KERNEL(dory_reference_quotient, is_quotient, NULL, multiplication_cycles);

static const struct dory_kernel_description norm = DORY_KERNEL(dory_reference_norm, is_norm, NULL, norm_cycles, IN_PLACE);

/* Of all steps: a unit has four gates. */
static uint64_t lstm_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)tile; /* all of it */
    uint64_t steps = layer->output_channels / layer->lstm.units - 2u;
    uint64_t unit = (layer->input_channels / steps + layer->lstm.units) * 80 + 1500;
    return steps * (items_of_slowest_core(layer->lstm.units, cores) * unit + 100);
}

static const struct dory_kernel_description lstm = DORY_KERNEL(dory_reference_lstm, is_lstm, NULL, lstm_cycles);

static const struct dory_kernel_description largest =
    DORY_KERNEL(dory_reference_largest, is_largest, NULL, softmax_cycles, IN_PLACE);

static const struct dory_kernel_description matrix_product =
    DORY_KERNEL(dory_reference_matrix_product, is_matrix_product, NULL, matrix_product_cycles, IN_PLACE, .joins_rows = true);

static const struct dory_kernel_description *const kernels[] = {
    &convolution, &depthwise,     &depthwise_chw, &pool,    &addition,       &multiplication,
    &grouped,     &concatenation, &table,         &softmax, &exact_softmax,  &interpolation,
    &copy,        &largest,       &transposition, &norm,    &matrix_product, &squared_difference,
    &quotient,    &lstm,          &constant,      NULL,
};

const struct dory_engine dory_portable_engine = {.name = "portable", .weights = &dory_quads, .kernels = kernels};
