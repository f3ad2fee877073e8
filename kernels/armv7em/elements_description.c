/* What the planner knows of kernels for Armv7E-M that compute element by element, or move elements. */
#include "armv7em_description.h"
#include "finish.h"
#include "line.h"

static uint64_t elements_of(const struct dory_tile_shape *tile, unsigned cores)
{
    return dory_divide_up((uint32_t)tile->rows * tile->columns * tile->channels, cores);
}

/* Of two inputs, the second of which may be one pixel or channel. */
static bool combines_bytes(const struct dory_layer *layer)
{
    return layer->input_bits == 8 && layer->second_input_bits == 8 && layer->output_bits == 8;
}

static bool addition_supports(const struct dory_layer *layer)
{
    struct dory_line line;
    return layer->operation == DORY_ADDITION && combines_bytes(layer) && layer->normalisation < DORY_NORMALISE_THRESHOLDS &&
           (layer->normalisation == DORY_NORMALISE_HIGH || dory_fold_addition(layer, &line));
}

static uint64_t addition_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return 200 + elements_of(tile, cores) *
                     (layer->normalisation == DORY_NORMALISE_HIGH ? 2 + dory_armv7em_finish_instructions(layer) : 9);
}

DORY_DESCRIBE(armv7em_addition, addition_supports, NULL, addition_instructions, .in_place = DORY_ALL_IN_PLACE,
              .in_row_order = true)

static bool multiplication_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_MULTIPLICATION && combines_bytes(layer) && layer->normalisation == DORY_NORMALISE_HIGH;
}

/* A second input that is one channel begins anew with each pixel. */
static uint64_t multiplication_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile,
                                            unsigned cores)
{
    uint64_t pixels = dory_repeats_channel(layer, 1) ? dory_divide_up((uint32_t)tile->rows * tile->columns, cores) : 0;
    return 200 + 40 * pixels + elements_of(tile, cores) * (9 + dory_armv7em_finish_instructions(layer));
}

DORY_DESCRIBE(armv7em_multiplication, multiplication_supports, NULL, multiplication_instructions,
              .in_place = DORY_ALL_IN_PLACE, .in_row_order = true)

/* What is no scale in the high half of a product: a floor in 32 bits, into one byte or two. */
static bool multiplication_floor_supports(const struct dory_layer *layer)
{
    struct dory_line line;
    bool are_bytes = layer->input_bits == 8 && layer->second_input_bits == 8;
    return layer->operation == DORY_MULTIPLICATION && are_bytes && (layer->output_bits == 8 || layer->output_bits == 16) &&
           layer->normalisation < DORY_NORMALISE_THRESHOLDS && layer->normalisation != DORY_NORMALISE_HIGH &&
           dory_fold_product(layer, &line);
}

static uint64_t line_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                                  uint32_t element)
{
    uint64_t pixels = dory_repeats_channel(layer, 1) ? dory_divide_up((uint32_t)tile->rows * tile->columns, cores) : 0;
    return 200 + 40 * pixels + elements_of(tile, cores) * element;
}

static uint64_t multiplication_floor_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile,
                                                  unsigned cores)
{
    return line_instructions(layer, tile, cores, 27);
}

DORY_DESCRIBE(armv7em_multiplication_floor, multiplication_floor_supports, NULL, multiplication_floor_instructions,
              .in_place = DORY_ALL_IN_PLACE)

static bool quotient_supports(const struct dory_layer *layer)
{
    struct dory_line line;
    return layer->operation == DORY_QUOTIENT && combines_bytes(layer) && layer->normalisation < DORY_NORMALISE_THRESHOLDS &&
           layer->normalisation != DORY_NORMALISE_HIGH && dory_fold_quotient(layer, &line);
}

static uint64_t quotient_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return line_instructions(layer, tile, cores, 17);
}

DORY_DESCRIBE(armv7em_quotient, quotient_supports, NULL, quotient_instructions, .in_place = DORY_ALL_IN_PLACE,
              .in_row_order = true)

static bool squared_difference_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_SQUARED_DIFFERENCE && combines_bytes(layer) &&
           layer->normalisation == DORY_NORMALISE_HIGH;
}

DORY_DESCRIBE(armv7em_squared_difference, squared_difference_supports, NULL, multiplication_instructions,
              .in_place = DORY_ALL_IN_PLACE, .in_row_order = true)

/* One table, and all elements. */
static bool table_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_TABLE && layer->input_bits == 8 && layer->output_bits == 8 &&
           layer->stride_height == 1 && layer->stride_width == 1 && layer->input_channels == layer->output_channels;
}

static uint64_t table_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer;
    return 100 + elements_of(tile, cores) * 4;
}

DORY_DESCRIBE(armv7em_table, table_supports, NULL, table_instructions, .in_place = DORY_ALL_IN_PLACE, .in_row_order = true)

/* Averages, a row of whose taps has a sum of 16 bits, and maxima as they are. Channels are words. */
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
    return is_average ? layer->kernel_width <= DORY_POOL_TAPS && taps < 1u << 20 &&
                            (is_high || dory_fold_average(layer, taps, &line))
                      : is_high || dory_is_identity(layer, layer->input_is_signed);
}

static uint64_t pool_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    bool is_average = layer->operation == DORY_AVERAGE_POOL;
    uint64_t pixels = dory_divide_up((uint32_t)tile->rows * tile->columns, cores);
    uint32_t window = layer->kernel_height * (layer->kernel_width * (is_average ? 9u : 7u) + 8u) + (is_average ? 50u : 12u);
    return 100 + pixels * (30 + dory_divide_up(tile->channels, 4) * window);
}

DORY_DESCRIBE(armv7em_pool, pool_supports, NULL, pool_instructions, .in_place = DORY_ALL_IN_PLACE, .in_row_order = true)

/* ---- moves ---- */

static uint64_t pixels_of(const struct dory_tile_shape *tile, unsigned cores)
{
    return dory_divide_up((uint32_t)tile->rows * tile->columns, cores);
}

static bool copy_supports(const struct dory_layer *layer) { return layer->operation == DORY_COPY; }

/* Channels that follow each other, or one after the other by the map. */
static uint64_t copy_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t run = layer->constants.map ? dory_minimum(layer->map_channels.run, tile->channels) : tile->channels;
    return 100 + pixels_of(tile, cores) * (50 + run / 2 + 8 * (tile->channels - run));
}

static bool constant_supports(const struct dory_layer *layer) { return layer->operation == DORY_CONSTANT; }

static uint64_t constant_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer;
    return 150 + elements_of(tile, cores) / 2;
}

DORY_DESCRIBE(armv7em_constant, constant_supports, NULL, constant_instructions, .in_place = DORY_ALL_IN_PLACE)

DORY_DESCRIBE(armv7em_copy, copy_supports, NULL, copy_instructions, .in_place = DORY_ALL_IN_PLACE, .knows_border = true)

static bool concatenation_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONCATENATION && layer->input_bits == 8 && layer->second_input_bits == 8 &&
           layer->output_bits == 8;
}

/* A table for each core. */
static uint32_t concatenation_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer, (void)tile;
    return 256 * cores;
}

/* Both inputs with tables, which are made in 64 bits. */
static uint64_t concatenation_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile,
                                           unsigned cores)
{
    (void)layer;
    uint64_t elements = elements_of(tile, cores);
    return 200 + 80 * pixels_of(tile, cores) + 5 * elements + (elements > 512 ? 512 : elements) * 100;
}

DORY_DESCRIBE(armv7em_concatenation, concatenation_supports, concatenation_scratch, concatenation_instructions,
              .in_place = DORY_ALL_IN_PLACE)

/* ---- of whole pixels ---- */

static bool interpolation_supports(const struct dory_layer *layer) { return layer->operation == DORY_INTERPOLATION; }

static uint32_t interpolation_parts(const struct dory_layer *layer)
{
    return 4u * layer->interpolation.row_pairs * layer->interpolation.column_pairs;
}

/* An offset and a weight each. */
static uint32_t interpolation_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)tile;
    return cores * 8 * interpolation_parts(layer);
}

static uint64_t interpolation_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile,
                                           unsigned cores)
{
    bool has_thresholds = layer->normalisation == DORY_NORMALISE_THRESHOLDS;
    uint32_t finish = has_thresholds ? 50 : 6 + dory_armv7em_finish_instructions(layer), parts = interpolation_parts(layer);
    return 200 + pixels_of(tile, cores) * (60 + 20 * parts) + elements_of(tile, cores) * (4 * parts + finish);
}

DORY_DESCRIBE(armv7em_interpolation, interpolation_supports, interpolation_scratch, interpolation_instructions,
              .in_place = DORY_ALL_IN_PLACE, .knows_border = true)

static bool softmax_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_SOFTMAX && layer->normalisation != DORY_NORMALISE_THRESHOLDS;
}

static uint64_t softmax_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return 100 + pixels_of(tile, cores) * (200 + 13u * layer->input_channels + 17u * tile->channels);
}

DORY_DESCRIBE(armv7em_softmax, softmax_supports, NULL, softmax_instructions, .in_place = DORY_ALL_IN_PLACE)

static bool softmax_exact_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_SOFTMAX && layer->normalisation == DORY_NORMALISE_THRESHOLDS;
}

static uint64_t softmax_exact_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile,
                                           unsigned cores)
{
    return 300 + pixels_of(tile, cores) * (130 + 10u * layer->input_channels + 29u * tile->channels);
}

DORY_DESCRIBE(armv7em_softmax_exact, softmax_exact_supports, NULL, softmax_exact_instructions, .in_place = DORY_ALL_IN_PLACE)

static bool norm_supports(const struct dory_layer *layer) { return layer->operation == DORY_NORM; }

static uint64_t norm_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return 100 + pixels_of(tile, cores) * (200 + 3u * layer->input_channels + 18u * tile->channels);
}

DORY_DESCRIBE(armv7em_norm, norm_supports, NULL, norm_instructions, .in_place = DORY_ALL_IN_PLACE)

static bool lstm_supports(const struct dory_layer *layer) { return layer->operation == DORY_LSTM; }

/* Of all steps. */
static uint64_t lstm_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)tile; /* all of it */
    uint32_t units = layer->lstm.units, steps = layer->output_channels / units - 2u;
    uint32_t fours = dory_divide_up(layer->input_channels / steps, 4) + dory_divide_up(units, 4);
    return steps * (100 + dory_divide_up(units, cores) * (UINT64_C(26) * fours + 445));
}

DORY_DESCRIBE(armv7em_lstm, lstm_supports, NULL, lstm_instructions)

/* ---- products of two activations ---- */

/* Zero points go with an element into a half. */
static bool matrix_product_supports(const struct dory_layer *layer)
{
    bool bytes = layer->input_bits == 8 && layer->second_input_bits == 8;
    return layer->operation == DORY_MATRIX_PRODUCT && bytes && (layer->output_bits == 8 || layer->output_bits == 32) &&
           layer->normalisation != DORY_NORMALISE_THRESHOLDS && layer->stages->input[0].addend <= 32000 &&
           layer->stages->input[0].addend >= -32000;
}

static uint32_t matrix_product_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t groups = dory_divide_up(layer->input_channels, 4), quads = dory_divide_up(tile->channels, 4);
    return cores * (32 + 16 * quads) * groups;
}

static uint64_t matrix_product_instructions(const struct dory_layer *layer, const struct dory_tile_shape *tile,
                                            unsigned cores)
{
    uint32_t fours = tile->columns / 4u, rest = tile->columns % 4u, groups = dory_divide_up(layer->input_channels, 4);
    uint64_t row = 30 + tile->channels * (20 + 6 * groups) + tile->columns * (40 + 10 * groups);
    row += fours * dory_divide_up(tile->channels, 2) * (dory_armv7em_pair_instructions(layer, groups) + 40);
    row += rest * dory_divide_up(tile->channels, 4) * dory_armv7em_quad_instructions(layer, groups);
    return 300 + row * tile->rows / cores;
}

DORY_DESCRIBE(armv7em_matrix_product, matrix_product_supports, matrix_product_scratch, matrix_product_instructions,
              .in_place = DORY_ALL_IN_PLACE)
