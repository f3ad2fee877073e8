/* Cases of layers that move elements, or make them of whole pixels: copies, concatenations, interpolations, softmax. */
#include <string.h>

#include "case_parts.h"
#include "random_layer.h"

static uint32_t random_position(uint32_t count, uint32_t unit)
{
    return one_in(8) ? UINT32_MAX : random_up_to(count - 1) * unit;
}

/* Positions for the tile, which is a part of the output. In half of the cases first channels are a run, or all. */
static void random_map(struct test_case *test)
{
    struct dory_layer *layer = &test->layer;
    int32_t *next = test->lists;
    uint32_t pixel = layer->input_channels, row = layer->input_width * pixel;
    uint32_t longest = layer->output_channels <= layer->input_channels ? layer->output_channels : layer->input_channels;
    uint16_t run = (uint16_t)(one_in(2) ? 0 : one_in(2) ? longest : random_up_to(longest));
    for (uint32_t i = 0; i < layer->output_height; i++) {
        *next++ = (int32_t)random_position(layer->input_height, row);
    }
    for (uint32_t i = 0; i < layer->output_width; i++) {
        *next++ = (int32_t)random_position(layer->input_width, pixel);
    }
    for (uint32_t i = 0; i < layer->output_channels; i++) {
        *next++ = i < run ? (int32_t)i : (int32_t)random_position(pixel, 1);
    }
    layer->constants.map = test->lists;
    layer->map_channels.run = run;
}

/* Of the tile that is there already: a stride, or a map of a whole input. */
static void random_copy(struct test_case *test)
{
    struct dory_layer *layer = &test->layer;
    memset(layer, 0, sizeof *layer);
    layer->operation = DORY_COPY;
    layer->input_bits = layer->output_bits = 8;
    layer->border_value = (int16_t)random_up_to(255);
    layer->kernel_height = layer->kernel_width = layer->dilation_height = layer->dilation_width = 1;
    layer->stride_height = (uint16_t)random_between(1, 3);
    layer->stride_width = (uint16_t)random_between(1, 3);
    test->tile.first_channel = (uint16_t)(4 * random_up_to(3));
    layer->input_channels = (uint16_t)(test->tile.first_channel + test->shape.channels + random_up_to(3));
    if (!one_in(4)) {
        layer->kernel_height = layer->input_height = (uint16_t)random_between(1, 12);
        layer->kernel_width = layer->input_width = (uint16_t)random_between(1, 12);
        layer->stride_height = layer->stride_width = 0;
        layer->input_channels = (uint16_t)random_between(1, 40);
        test->tile.first_row = (uint16_t)random_up_to(5);
        test->tile.first_column = (uint16_t)random_up_to(5);
    }
    layer->output_height = (uint16_t)(test->tile.first_row + test->shape.rows);
    layer->output_width = (uint16_t)(test->tile.first_column + test->shape.columns);
    layer->output_channels = (uint16_t)(test->tile.first_channel + test->shape.channels);
    if (layer->stride_height == 0) {
        random_map(test);
    }
    test->shape.input_channels = layer->input_channels;
    shape_tile(test);
}

/* Of one channel, into one or some, with a stride. */
static void random_tables(struct test_case *test)
{
    struct dory_layer *layer = &test->layer;
    if (test->shape.channels > 8) {
        test->shape.channels = (uint16_t)random_between(1, 8);
    }
    test->tile.first_channel = (uint16_t)(4 * random_up_to(1));
    layer->output_channels = (uint16_t)(test->tile.first_channel + test->shape.channels);
    layer->input_channels = test->shape.input_channels = 1;
    layer->stride_height = (uint16_t)random_between(layer->output_channels == 1 ? 2 : 1, 3);
    layer->stride_width = (uint16_t)random_between(1, 3);
    shape_tile(test);
}

/* A pixel of constants, which the input has nothing to do with. */
static void shape_constant(struct test_case *test, uint32_t channels)
{
    struct dory_layer *layer = &test->layer;
    memset(layer, 0, sizeof *layer);
    layer->operation = DORY_CONSTANT;
    layer->input_bits = layer->output_bits = 8;
    layer->kernel_height = layer->kernel_width = layer->stride_height = layer->stride_width = 1;
    layer->dilation_height = layer->dilation_width = 1;
    layer->input_height = layer->input_width = layer->output_height = layer->output_width = 1;
    layer->input_channels = 1;
    layer->output_channels = (uint16_t)channels;
    test->shape = (struct dory_tile_shape){1, 1, layer->output_channels, 1};
    shape_tile(test);
}

/* A tile that is all of the layer, in one of the six orders of its dimensions, often with few elements along one of them. */
static void random_transposition(struct test_case *test)
{
    static const uint8_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct dory_layer *layer = &test->layer;
    uint16_t *output = &test->shape.rows; /* rows, columns and channels follow each other */
    memset(layer, 0, sizeof *layer);
    layer->operation = DORY_TRANSPOSITION;
    layer->input_bits = layer->output_bits = 8;
    const uint8_t *order = orders[random_up_to(5)];
    layer->transposition.axes = (uint8_t)(order[0] | order[1] << 2 | order[2] << 4);
    for (int i = 0; i < 3; i++) {
        output[i] = (uint16_t)(one_in(4) ? 1 : one_in(8) ? random_between(1, 200) : random_between(1, 12));
    }
    layer->output_height = output[0], layer->output_width = output[1], layer->output_channels = output[2];
    layer->input_height = output[order[0]], layer->input_width = output[order[1]];
    layer->input_channels = test->shape.input_channels = output[order[2]];
    test->tile.first_channel = 0;
    layer->kernel_height = layer->kernel_width = layer->dilation_height = layer->dilation_width = 1;
    layer->stride_height = layer->stride_width = 1;
    shape_tile(test);
}

/* ---- thresholds, of pools, sums and concatenations ---- */

static void fill_thresholds(struct test_case *test)
{
    struct dory_layer *layer = &test->layer;
    uint32_t taps = layer->operation == DORY_AVERAGE_POOL ? (uint32_t)layer->kernel_height * layer->kernel_width : 1;
    int32_t least = layer->input_is_signed ? -128 * (int32_t)taps : 0, threshold = least;
    for (uint32_t i = 0; i < DORY_THRESHOLDS; i++, threshold += (int32_t)random_up_to(2 * taps)) {
        test->lists[i] = threshold;
    }
    layer->normalisation = DORY_NORMALISE_THRESHOLDS;
    layer->constants.thresholds = test->lists;
    layer->output_bits = 8;
    layer->output_is_signed = 0;
    layer->minimum = 0;
    layer->maximum = 255;
}

/* ---- concatenations ---- */

static const struct dory_stage identity = {.multiplier = 1, .divisor = 1, .minimum = INT32_MIN, .maximum = INT32_MAX};

struct dory_layer *plain_layer(struct test_case *test, uint8_t operation)
{
    struct dory_layer *layer = &test->layer;
    memset(layer, 0, sizeof *layer);
    layer->operation = operation;
    layer->input_bits = layer->second_input_bits = layer->output_bits = 8;
    layer->kernel_height = layer->kernel_width = layer->dilation_height = layer->dilation_width = 1;
    layer->stride_height = layer->stride_width = 1;
    layer->divisor = 1;
    layer->maximum = 255;
    layer->output_height = (uint16_t)(test->tile.first_row + test->shape.rows);
    layer->output_width = (uint16_t)(test->tile.first_column + test->shape.columns);
    layer->output_channels = (uint16_t)(test->tile.first_channel + test->shape.channels + test->channels_behind);
    layer->stages = &test->stages;
    test->stages = (struct dory_stages){.input = {identity, identity}, .first = identity};
    return layer;
}

static void random_concatenation(struct test_case *test)
{
    test->tile.first_channel = (uint16_t)(4 * random_up_to(3));
    test->channels_behind = random_up_to(5);
    struct dory_layer *layer = plain_layer(test, DORY_CONCATENATION);
    if (layer->output_channels < 2) {
        layer->output_channels = 2;
    }
    layer->input_channels = (uint16_t)random_between(1, layer->output_channels - 1u);
    test->shape.input_channels = layer->input_channels;
    shape_tile(test);
}

/* Of elements of any bits with stages of any kind: what an addition of the two inputs would have. */
static void random_concatenation_any(struct test_case *test)
{
    struct dory_layer *layer = &test->layer;
    if (layer->operation != DORY_ADDITION) {
        return; /* another layer is made */
    }
    layer->operation = DORY_CONCATENATION;
    layer->second_repeats = 0;
    test->tile.first_channel = (uint16_t)(4 * random_up_to(3));
    test->channels_behind = random_up_to(5);
    layer->output_channels = (uint16_t)(test->tile.first_channel + test->shape.channels + test->channels_behind + 1);
    layer->input_channels = (uint16_t)random_between(1, layer->output_channels - 1u);
    test->shape.input_channels = layer->input_channels;
    if (one_in(8)) {
        fill_thresholds(test);
    }
    shape_tile(test);
}

/* ---- interpolations ---- */

/* Two positions and their weights of `unit`, for each row or column. */
static int32_t *make_taps(int32_t *next, uint32_t count, uint32_t inputs, uint32_t unit)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t low = random_up_to(inputs - 1), high = low + (low + 1 < inputs), weight = random_up_to(unit);
        *next++ = (int32_t)low;
        *next++ = (int32_t)high;
        *next++ = (int32_t)(unit - weight);
        *next++ = (int32_t)weight;
    }
    return next;
}

/* Sums of `unit` squared times a byte, divided by that: to even, away from zero, or by any factor. */
static void fill_interpolation(struct test_case *test, uint32_t log2_unit, uint8_t rounding, bool is_unit)
{
    struct dory_layer *layer = &test->layer;
    uint32_t more = random_up_to(log2_unit > 8 ? 21 - 2 * log2_unit : 16 - 2 * log2_unit), shift = 2 * log2_unit + more,
             unit = 1u << log2_unit;
    layer->normalisation = DORY_NORMALISE_HIGH;
    layer->rounding = rounding;
    layer->left_shift = (uint8_t)(2 + more); /* so that sums have 31 bits at most */
    test->stages.input[0].addend = -(int64_t)random_up_to(255) * unit * unit;
    test->stages.first.multiplier = is_unit ? 1 << 30 : (int64_t)random_between(1u << 29, INT32_MAX);
    test->stages.first.divisor = (int64_t)1 << shift;
    test->stages.first.addend = ((int64_t)random_up_to(255) << shift) + ((int64_t)1 << shift) / 2 - (rounding != 0);
    layer->constants.taps = test->lists;
    int32_t *next =
        make_taps(test->lists, (uint32_t)layer->output_height * layer->interpolation.row_pairs, layer->input_height, unit);
    make_taps(next, (uint32_t)layer->output_width * layer->interpolation.column_pairs, layer->input_width, unit);
}

static void random_interpolation(struct test_case *test)
{
    test->tile.first_row = (uint16_t)random_up_to(5);
    test->tile.first_column = (uint16_t)random_up_to(5);
    struct dory_layer *layer = plain_layer(test, DORY_INTERPOLATION);
    layer->input_channels = layer->output_channels;
    layer->kernel_height = layer->input_height = (uint16_t)random_between(1, 10);
    layer->kernel_width = layer->input_width = (uint16_t)random_between(1, 10);
    layer->stride_height = layer->stride_width = 0;
    layer->interpolation.row_pairs = (uint16_t)(one_in(3) ? random_between(2, 4) : 1);
    layer->interpolation.column_pairs = (uint16_t)(one_in(3) ? random_between(2, 3) : 1);
    test->shape.input_channels = test->shape.channels;
    fill_interpolation(test,
                       random_between(1, layer->interpolation.row_pairs + layer->interpolation.column_pairs > 2 ? 8 : 10),
                       (uint8_t)random_up_to(DORY_ROUND_EVEN), !one_in(3));
    if (one_in(3)) {
        layer->minimum = (int32_t)random_up_to(100);
        layer->maximum = 100 + (int32_t)random_up_to(155);
    }
    shape_tile(test);
}

/* ---- softmax ---- */

/* Powers of a number below 1, as fractions of 31 bits or as whole numbers, whose largest is `largest` where their sum leaves
 * it so many bits; and ascending thresholds, whose steps are equal as those of a scale are, or any. */
static void fill_softmax(struct test_case *test, uint32_t largest)
{
    uint64_t power = INT32_MAX, most = UINT32_MAX / test->layer.input_channels, factor = random_between(30000, 65536);
    bool is_exact = test->layer.normalisation == DORY_NORMALISE_THRESHOLDS;
    uint32_t threshold = random_up_to(1 << 22), step = random_up_to(1 << 23), is_even = random_up_to(1);
    if (is_even && random_up_to(2) == 0) {
        threshold = step + random_up_to(600); /* rounded down: the first is a step, or little more */
    }
    power = is_exact ? dory_minimum((uint32_t)most, largest) : power;
    for (uint32_t i = 0; i < 256; i++, power = power * factor >> 16) {
        test->lists[i] = (int32_t)power;
    }
    for (uint32_t i = 0; i < DORY_THRESHOLDS; i++, threshold += is_even ? step : random_up_to(1 << 23)) {
        test->lists[256 + i] = (int32_t)dory_minimum(threshold, INT32_MAX);
    }
    test->layer.constants.exponentials = (const uint32_t *)test->lists;
}

/* Exponentials that are powers of two, and sums of some channels at once. */
static void group_softmax(struct test_case *test)
{
    uint32_t most = UINT32_MAX / test->layer.input_channels, places = random_up_to(20), fall = random_between(0, 40);
    while (most >> places <= 1) {
        places--;
    }
    for (uint32_t i = 0; i < 256; i++) {
        test->lists[i] = (int32_t)(1u << (places - dory_minimum(places, i * fall / 256)));
    }
    test->layer.softmax.group_channels = (uint16_t)random_between(1, test->layer.input_channels);
}

static void random_softmax(struct test_case *test, bool is_exact)
{
    test->tile.first_channel = (uint16_t)(4 * random_up_to(2));
    test->channels_behind = random_up_to(3);
    struct dory_layer *layer = plain_layer(test, DORY_SOFTMAX);
    layer->input_channels = layer->output_channels;
    layer->normalisation = is_exact ? DORY_NORMALISE_THRESHOLDS : DORY_NORMALISE_NONE;
    layer->stages = NULL;
    test->shape.input_channels = layer->input_channels;
    fill_softmax(test, one_in(3) ? 1u << random_up_to(17) : INT32_MAX);
    if (is_exact && one_in(3)) {
        group_softmax(test);
    }
    shape_tile(test);
}

static void random_largest(struct test_case *test)
{
    test->shape.channels = 1;
    struct dory_layer *layer = plain_layer(test, DORY_LARGEST);
    layer->stages = NULL;
    layer->output_bits = (uint8_t)(8u << random_up_to(2));
    layer->input_channels = (uint16_t)random_between(1, layer->output_bits == 8 ? 256 : 400);
    test->shape.input_channels = layer->input_channels;
    shape_tile(test);
}

/* ---- squared differences, quotients ---- */

/* Terms are the table's, of 15 bits. */
static void fill_squared_difference(struct test_case *test)
{
    struct dory_layer *layer = &test->layer;
    uint32_t shift = random_between(20, 28);
    layer->normalisation = DORY_NORMALISE_HIGH;
    layer->rounding = one_in(2) ? DORY_ROUND_AWAY : DORY_ROUND_FLOOR;
    layer->left_shift = 1;
    layer->input_channels = layer->output_channels;
    test->stages.first = (struct dory_stage){.multiplier = random_between(1 << 30, INT32_MAX),
                                             .addend = (int64_t)random_up_to(UINT8_MAX) << (shift - 8),
                                             .divisor = (int64_t)1 << shift,
                                             .minimum = layer->minimum,
                                             .maximum = layer->maximum};
}

/* Terms are the table's, of 28 bits, whose products' high words have 24. */
static void fill_quotient(struct test_case *test)
{
    struct dory_layer *layer = &test->layer;
    uint32_t shift = random_between(15, 22);
    layer->normalisation = DORY_NORMALISE_32;
    layer->input_channels = layer->output_channels;
    test->stages.first = (struct dory_stage){.multiplier = 1,
                                             .addend = (int64_t)random_up_to(2 * UINT8_MAX + 1) << (shift - 1),
                                             .divisor = (int64_t)1 << shift,
                                             .minimum = layer->minimum,
                                             .maximum = layer->maximum};
}

static void random_by_terms(struct test_case *test, uint8_t operation)
{
    struct dory_layer *layer = plain_layer(test, operation);
    layer->second_repeats = one_in(2) ? 0 : (uint8_t)random_up_to(DORY_REPEATS_PIXEL | DORY_REPEATS_CHANNEL);
    if (operation == DORY_QUOTIENT) {
        fill_quotient(test);
    } else {
        fill_squared_difference(test);
    }
    test->shape.input_channels = test->shape.channels;
    shape_tile(test);
}

static bool is_pool(const struct dory_layer *layer)
{
    return layer->operation == DORY_MAXIMUM_POOL || layer->operation == DORY_AVERAGE_POOL;
}

/* ---- all ---- */

/* Whatever the engine: behind dory_ENGINE_. */
static bool is_kernel(const struct test_case *test, const char *name)
{
    const char *engine = strchr(test->description->name, '_');
    return strcmp(strchr(engine + 1, '_') + 1, name) == 0;
}

void random_moves(struct test_case *test)
{
    if ((is_pool(&test->layer) || is_kernel(test, "addition_wide")) && one_in(8)) {
        fill_thresholds(test);
    } else if (is_kernel(test, "copy")) {
        random_copy(test);
    } else if (is_kernel(test, "constant")) {
        shape_constant(test, random_between(1, one_in(2) ? 40 : 2000));
    } else if (is_kernel(test, "tables")) {
        random_tables(test);
    } else if (is_kernel(test, "transposition")) {
        random_transposition(test);
    } else if (is_kernel(test, "concatenation")) {
        random_concatenation(test);
    } else if (is_kernel(test, "concatenation_any")) {
        random_concatenation_any(test);
    } else if (is_kernel(test, "interpolation")) {
        random_interpolation(test);
    } else if (is_kernel(test, "softmax") || is_kernel(test, "softmax_exact")) {
        random_softmax(test, is_kernel(test, "softmax_exact"));
    } else if (is_kernel(test, "squared_difference")) {
        random_by_terms(test, DORY_SQUARED_DIFFERENCE);
    } else if (is_kernel(test, "quotient")) {
        random_by_terms(test, DORY_QUOTIENT);
    } else if (is_kernel(test, "norm")) {
        random_norm(test);
    } else if (is_kernel(test, "lstm")) {
        random_lstm(test);
    } else if (is_kernel(test, "largest")) {
        random_largest(test);
    }
}

/* Two inputs of the same channels and bits: as they are, or each requantised where there is no normalisation. */
static void usual_concatenation(struct test_case *test, const struct dory_layer *wanted)
{
    struct dory_layer *layer = &test->layer;
    layer->input_channels = layer->output_channels / 2;
    layer->input_bits = layer->second_input_bits = wanted->input_bits;
    layer->output_bits = wanted->output_bits;
    layer->maximum = wanted->maximum;
    if (wanted->normalisation == DORY_NORMALISE_NONE) {
        test->stages.input[0] = test->stages.input[1] = (struct dory_stage){300000, 1 << 18, 1 << 19, 0, wanted->maximum};
    }
}

/* Rows become channels, and channels rows. */
static void reverse(struct test_case *test)
{
    struct dory_layer *layer = &test->layer;
    layer->stages = NULL;
    layer->transposition.axes = 2 | 1 << 2;
    layer->input_height = layer->output_channels;
    layer->input_width = layer->output_width;
    layer->input_channels = layer->output_height;
}

/* Of an image half as large in each direction; of two inputs of the same channels. */
static void usual_move(struct test_case *test)
{
    struct dory_layer *layer = &test->layer, wanted = *layer;
    plain_layer(test, layer->operation);
    layer->normalisation = wanted.normalisation;
    layer->second_repeats = wanted.second_repeats;
    layer->input_channels = layer->output_channels;
    if (layer->operation == DORY_CONCATENATION) {
        usual_concatenation(test, &wanted);
    } else if (layer->operation == DORY_INTERPOLATION) {
        layer->kernel_height = layer->input_height = layer->output_height / 2;
        layer->kernel_width = layer->input_width = layer->output_width / 2;
        layer->stride_height = layer->stride_width = 0;
        layer->interpolation.row_pairs = layer->interpolation.column_pairs = 1;
        fill_interpolation(test, 2, wanted.rounding, wanted.rounding == DORY_ROUND_AWAY);
    } else if (layer->operation == DORY_SOFTMAX) {
        fill_softmax(test, wanted.divisor > 1 ? (uint32_t)wanted.divisor : INT32_MAX);
    } else if (layer->operation == DORY_SQUARED_DIFFERENCE) {
        fill_squared_difference(test);
    } else if (layer->operation == DORY_QUOTIENT) {
        fill_quotient(test);
    } else if (layer->operation == DORY_NORM) {
        layer->stages = NULL;
        layer->minimum = 0;
        layer->maximum = 255;
        fill_norm(test, true, 1, layer->input_channels);
    } else if (layer->operation == DORY_TRANSPOSITION) {
        reverse(test);
    }
    test->shape.input_channels = layer->input_channels;
}

void usual_moves(struct test_case *test)
{
    struct dory_layer *layer = &test->layer;
    if ((is_pool(layer) || layer->operation == DORY_ADDITION) && layer->normalisation == DORY_NORMALISE_THRESHOLDS) {
        fill_thresholds(test);
    } else if (layer->operation == DORY_CONCATENATION || layer->operation == DORY_INTERPOLATION ||
               layer->operation == DORY_SOFTMAX || layer->operation == DORY_COPY || layer->operation == DORY_TRANSPOSITION ||
               layer->operation == DORY_NORM || layer->operation == DORY_SQUARED_DIFFERENCE ||
               layer->operation == DORY_QUOTIENT) {
        usual_move(test);
    } else if (layer->operation == DORY_CONSTANT) {
        shape_constant(test, layer->output_channels);
    } else if (layer->operation == DORY_LSTM) {
        fill_lstm(test, 8, 16, 8);
    }
}
