/* Which kernel, which layer, which tile. */
#include "case.h"

#include <stdlib.h>
#include <string.h>

#if !defined(DORY_TEST_GAP8) /* whose firmware has none of them */
#include "armv7em.h"
#include "mve.h"
#endif
#include "case_parts.h"
#include "random_layer.h"
#include "reference.h"
#include "xpulpv2.h"

/* ---- the kernels ------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    dory_kernel_function *function;
} functions[] = {
#if !defined(DORY_TEST_CORTEXM) /* likewise */
#define FUNCTION(name) {"dory_xpulpv2_" #name, dory_xpulpv2_##name},
    DORY_XPULPV2_KERNELS(FUNCTION) DORY_XPULPV2_FINISHES(FUNCTION)
#endif
#if !defined(DORY_TEST_GAP8)
#define ARM_FUNCTION(name) {"dory_armv7em_" #name, dory_armv7em_##name},
        DORY_ARMV7EM_KERNELS(ARM_FUNCTION)
#define MVE_FUNCTION(name) {"dory_mve_" #name, dory_mve_##name},
            DORY_MVE_KERNELS(MVE_FUNCTION)
#endif
};

const struct dory_engine *test_engine = &dory_xpulpv2_engine;

static dory_kernel_function *function_of(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            return functions[i].function;
        }
    }
    return NULL;
}

static dory_kernel_function *reference_of(const struct dory_layer *layer)
{
    bool by_thresholds = layer->normalisation == DORY_NORMALISE_THRESHOLDS;
    switch (layer->operation) {
    case DORY_CONCATENATION: return dory_reference_concatenation;
    case DORY_LARGEST: return dory_reference_largest;
    case DORY_NORM: return dory_reference_norm;
    case DORY_QUOTIENT: return dory_reference_quotient;
    case DORY_LSTM: return dory_reference_lstm;
    case DORY_SQUARED_DIFFERENCE: return dory_reference_squared_difference;
    case DORY_TRANSPOSITION: return dory_reference_transposition;
    case DORY_MATRIX_PRODUCT: return dory_reference_matrix_product;
    case DORY_INTERPOLATION: return dory_reference_interpolation;
    case DORY_SOFTMAX: return by_thresholds ? dory_reference_softmax_exact : dory_reference_softmax;
    case DORY_CONVOLUTION: return dory_reference_convolution;
    case DORY_DEPTHWISE: return dory_reference_depthwise;
    case DORY_GROUPED: return dory_reference_grouped;
    case DORY_ADDITION: return dory_reference_addition;
    case DORY_COPY: return dory_reference_copy;
    case DORY_CONSTANT: return dory_reference_constant;
    case DORY_MULTIPLICATION: return dory_reference_multiplication;
    case DORY_TABLE: return dory_reference_table;
    default: return dory_reference_pool;
    }
}

static void use_kernel(struct test_case *test, const struct dory_kernel_description *description)
{
    test->description = description;
    test->kernel = function_of(description->name);
    test->finish = description->finish ? function_of(description->finish) : NULL;
    test->reference = reference_of(&test->layer);
}
/* ---- tiles ------------------------------------------------------------------------------------------------- */

void shape_tile(struct test_case *test)
{
    const struct dory_layer *layer = &test->layer;
    struct dory_tile *tile = &test->tile;
    tile->rows = test->shape.rows;
    tile->columns = test->shape.columns;
    tile->channels = test->shape.channels;
    tile->input_channels = test->shape.input_channels;
    tile->input_rows = (uint16_t)dory_input_rows(layer, tile->rows);
    tile->input_columns =
        (uint16_t)dory_input_extent(tile->columns, layer->kernel_width, layer->stride_width, layer->dilation_width);
    if (layer->input_layout == DORY_CHW) {
        tile->input_columns = layer->input_width;
    }
    if (layer->operation == DORY_TRANSPOSITION) { /* all of the layer */
        tile->input_rows = layer->input_height;
        tile->input_columns = layer->input_width;
    }
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    taps *= layer->operation == DORY_CONVOLUTION || is_matrix_product(layer) ? tile->input_channels : 1;
    taps *= layer->operation == DORY_GROUPED ? layer->grouped.channels : 1;
    test->macs = (uint64_t)tile->rows * tile->columns * tile->channels * taps;
}

/* CHW, where the kernel wants or knows it. */
static void choose_layouts(struct test_case *test, bool writes_chw, int16_t border)
{
    struct dory_layer *layer = &test->layer;
    if (test->description->reads_chw) {
        layer->input_layout = DORY_CHW;
        layer->padding_left = !strstr(test->description->name, "_right"); /* rows of border are in the tile like others */
        layer->input_height =
            (uint16_t)dory_input_extent(layer->output_height, layer->kernel_height, layer->stride_height, 1);
        layer->input_width = (uint16_t)(layer->stride_width * layer->output_width);
    }
    layer->border_value = layer->input_layout == DORY_CHW ? border : 0; /* otherwise it is in the tile like all else */
    layer->output_layout = writes_chw ? DORY_CHW : DORY_HWC;
}

/* Behind the rows of the output, where the kernel can: words. */
static void leave_gaps(struct test_case *test)
{
    uint32_t bytes = dory_element_bytes(test->shape.channels, test->layer.output_bits), turn = test->seed / 256;
    if (test->description->leaves_gaps && test->shape.columns * bytes % 4 == 0 && turn % 2 == 0) { /* seeds name kernels */
        test->layer.rows.output_gap = (uint16_t)(bytes % 4 == 0 ? 1 + turn / 2 % 3 : 4);
    }
}

/* A layer of one of the kernels for pixels of few words, which hardly comes by chance; `name` says how many channels. */
static void make_narrow(struct dory_layer *layer, const char *name)
{
    uint32_t channels = (uint32_t)strtoul(name, NULL, 10), size = channels ? 1 : strstr(name, "_28") && one_in(2) ? 5 : 3;
    layer->operation = DORY_CONVOLUTION;
    layer->input_channels = (uint16_t)(channels ? channels : size == 3 && strstr(name, "_28") ? 3 : 1);
    layer->kernel_height = layer->kernel_width = (uint16_t)size;
    if (channels) {
        layer->stride_height = layer->stride_width = 1;
    }
}

/* A fully connected layer with few outputs. */
static void make_few(struct test_case *test)
{
    struct dory_layer *layer = &test->layer;
    test->shape.rows = test->shape.columns = 1;
    test->shape.channels = (uint16_t)random_between(1, 7);
    layer->kernel_height = layer->kernel_width = 1;
    layer->input_channels = (uint16_t)(one_in(2) ? random_between(1, 70) : random_between(1, 1200));
    test->shape.input_channels = layer->input_channels;
}

/* Long lines of a depth-wise layer along one dimension. */
static void random_line(const struct dory_layer *layer, struct dory_tile_shape *shape)
{
    uint16_t outputs = (uint16_t)random_between(1, one_in(4) ? 300 : 40);
    if (layer->kernel_height == 1 && one_in(2)) {
        shape->rows = (uint16_t)random_between(1, 2);
        shape->columns = outputs;
    } else if (layer->kernel_width == 1 && one_in(2)) {
        shape->rows = outputs;
        shape->columns = 1;
    }
}

/* Some or all quads of the outputs of some groups. */
static void random_groups(struct test_case *test)
{
    struct dory_layer *layer = &test->layer;
    uint32_t groups = random_between(1, 6), outputs = groups * layer->grouped.outputs;
    uint32_t first = 4 * random_up_to((outputs - 1) / 4), left = outputs - first;
    layer->output_channels = (uint16_t)outputs;
    layer->input_channels = (uint16_t)(groups * layer->grouped.channels);
    test->tile.first_channel = (uint16_t)first;
    test->shape.channels = (uint16_t)(one_in(2) ? left : dory_minimum(left, 4 * random_between(1, 6)));
    test->shape.input_channels = layer->input_channels;
}

static void random_tile(struct test_case *test)
{
    struct dory_layer *layer = &test->layer;
    struct dory_tile *tile = &test->tile;
    struct dory_tile_shape *shape = &test->shape;
    memset(tile, 0, sizeof *tile);
    shape->rows = (uint16_t)random_between(1, one_in(3) ? 20 : 8);
    shape->columns = (uint16_t)random_between(1, one_in(3) ? 24 : 10);
    if (one_in(8)) {
        shape->rows = shape->columns = 1;
    }
    if (strstr(test->description->name, "_depthwise")) {
        random_line(layer, shape);
    }
    shape->channels = (uint16_t)(one_in(2) ? 4 * random_between(1, 12) : random_between(1, 30));
    bool has_terms = layer->operation == DORY_CONVOLUTION || is_matrix_product(layer);
    shape->input_channels = has_terms ? layer->input_channels : shape->channels;
    if (strstr(test->description->name, "_few") && layer->operation == DORY_CONVOLUTION) {
        make_few(test);
    }
    layer->output_channels = shape->channels;
    layer->output_height = shape->rows;
    layer->output_width = shape->columns;
    layer->input_channels = shape->input_channels;
    layer->tile.input_channels = layer->input_channels;
    tile->first_chunk = tile->last_chunk = 1;
    if (layer->operation == DORY_GROUPED) {
        random_groups(test);
    }
    if (test->description && test->description->can_tile_input_channels && one_in(4)) {
        shape->input_channels = (uint16_t)dory_minimum(shape->input_channels, 4 * random_between(1, 8));
        tile->first_chunk = (uint8_t)random_up_to(1);
        tile->last_chunk = (uint8_t)random_up_to(1);
    }
    bool writes_chw = test->description->writes_chw && layer->output_bits == 8 && one_in(3);
    int16_t border_value = one_in(3) ? 0 : (int16_t)random_up_to(255); /* drawn in this order by all compilers */
    choose_layouts(test, writes_chw, border_value);
    leave_gaps(test);
    shape_tile(test);
}

static void begin_random(struct test_case *test, uint32_t seed, uint32_t start)
{
    random_state = start;
    memset(test, 0, sizeof *test);
    test->seed = seed;
    size_t count = 1; /* there is one, which the analyser does not know */
    while (test_engine->kernels[count]) {
        count++;
    }
    test->description = test_engine->kernels[seed % count];
}

static bool draw(struct test_case *test, uint64_t most_macs)
{
    const char *name = test->description->name, *narrow = strstr(name, "_narrow_");
    test->start = random_state;
    random_layer(&test->layer, &test->stages, name);
    if (narrow && has_weights(&test->layer)) {
        make_narrow(&test->layer, narrow + strlen("_narrow_"));
    }
    random_tile(test);
    random_moves(test);
    return dory_kernel_supports(test->description, &test->layer) && test->macs <= most_macs;
}

void test_case_random(struct test_case *test, uint32_t seed, uint64_t most_macs)
{
    begin_random(test, seed, seed * 2654435761u + 12345);
    while (!draw(test, most_macs)) {
    }
    use_kernel(test, test->description);
    test->cores = random_between(1, 8);
}

bool test_case_again(struct test_case *test, uint32_t seed, uint32_t start, uint64_t most_macs)
{
    begin_random(test, seed, start);
    bool is_drawn = draw(test, most_macs);
    use_kernel(test, test->description);
    test->cores = random_between(1, 8);
    return is_drawn;
}

/* ---- a case of a given shape ---- */

static void set_shape(struct dory_layer *layer, const struct test_shape *shape)
{
    bool reads_all = shape->operation == DORY_CONVOLUTION || shape->operation == DORY_GROUPED ||
                     shape->operation == DORY_TABLE || shape->operation == DORY_MATRIX_PRODUCT;
    layer->operation = shape->operation;
    layer->kernel_height = shape->kernel_height ? shape->kernel_height : shape->kernel_size;
    layer->kernel_width = shape->kernel_size;
    layer->stride_height = layer->stride_width = shape->stride;
    layer->dilation_height = 1;
    layer->dilation_width = shape->dilation_width;
    layer->input_channels = reads_all ? shape->input_channels : shape->channels;
    if (shape->operation == DORY_GROUPED) {
        layer->grouped.channels = shape->input_channels / shape->groups;
        layer->grouped.outputs = shape->channels / shape->groups;
    }
    layer->output_channels = shape->channels;
    layer->output_height = shape->rows;
    layer->output_width = shape->columns;
    layer->second_repeats = shape->second_repeats;
}

/* Of a layer whose shape is set. */
static void set_elements(struct dory_layer *layer, const struct test_shape *shape)
{
    bool is_sum = has_weights(layer) && shape->normalisation == DORY_NORMALISE_NONE;
    layer->input_bits = layer->second_input_bits = shape->input_bits ? shape->input_bits : 8;
    layer->weight_bits = shape->weight_bits ? shape->weight_bits : 8;
    layer->output_bits = is_sum ? 32 : shape->output_bits ? shape->output_bits : 8;
    layer->minimum = layer->output_bits == 32 ? INT32_MIN : 0;
    layer->maximum = layer->output_bits == 32 ? INT32_MAX : (1 << layer->output_bits) - 1;
}

/* Of one whose elements are set, too. */
static void set_normalisation(struct dory_layer *layer, const struct test_shape *shape)
{
    layer->normalisation = shape->normalisation;
    layer->shift = usual_shift(layer);
    layer->divisor = 1;
    switch (shape->normalisation) {
    case DORY_NORMALISE_CLAMPED: divide_clamped(layer, shape->divisor); break;
    case DORY_NORMALISE_THRESHOLDS:
    case DORY_NORMALISE_DIVIDE: layer->divisor = shape->divisor != 0 ? shape->divisor : 1; break;
    case DORY_NORMALISE_HIGH:
    case DORY_NORMALISE_SPLIT:
    case DORY_NORMALISE_SHARED:
        layer->rounding = (uint8_t)shape->divisor;
        layer->left_shift = 2;
        if (shape->normalisation == DORY_NORMALISE_SHARED) {
            share_scale(layer);
        }
        break;
    default: break;
    }
}

/* Of additions and multiplications: terms of a sum or a sum of such terms, inputs that are each requantised, small factors
 * without addends, a ReLU. */
static void set_stages_of_two_inputs(struct dory_stages *stages, const struct dory_layer *layer, uint32_t divisor)
{
    static const struct dory_stage none = {1, 0, 1, INT32_MIN, INT32_MAX};
    bool is_addition = layer->operation == DORY_ADDITION, has_sums = layer->output_bits == 32;
    if (layer->normalisation == DORY_NORMALISE_64) {
        stages->input[0] = stages->input[1] =
            has_sums ? (struct dory_stage){413933797376, 1 << 19, 1 << 20, INT32_MIN, INT32_MAX} : none;
        stages->first = has_sums ? none : (struct dory_stage){83886079, 1LL << 50, 1LL << 44, 0, 255};
    } else if (is_addition && layer->normalisation == DORY_NORMALISE_NONE) {
        stages->input[0] = stages->input[1] = (struct dory_stage){300000, 1 << 18, 1 << 19, 0, 255};
    } else if (is_addition && layer->normalisation == DORY_NORMALISE_32 && divisor == 1) {
        stages->input[0] = (struct dory_stage){53, 0, 1, INT32_MIN, INT32_MAX};
        stages->input[1] = (struct dory_stage){128, 0, 1, INT32_MIN, INT32_MAX};
        stages->first.divisor = 128;
    } else if (is_addition && layer->normalisation == DORY_NORMALISE_32 && divisor) {
        stages->first = (struct dory_stage){1, 0, (int64_t)divisor, INT32_MIN, INT32_MAX};
        stages->second = (struct dory_stage){53, 0, 64, 0, layer->maximum};
        stages->has_second = 1;
    }
}

static void set_stages(struct dory_stages *stages, const struct dory_layer *layer, const struct test_shape *shape)
{
    bool is_average = shape->operation == DORY_AVERAGE_POOL;
    int64_t divisor = is_average ? (int64_t)shape->kernel_size * shape->kernel_size : 1;
    stages->input[0] = stages->input[1] = (struct dory_stage){3, 40, 1, INT32_MIN, INT32_MAX};
    stages->first = (struct dory_stage){1, 0, divisor, 0, layer->maximum};
    if (shape->operation == DORY_ADDITION || shape->operation == DORY_MULTIPLICATION) {
        set_stages_of_two_inputs(stages, layer, shape->divisor);
    }
    if (is_matrix_product(layer)) {
        stages->input[0] = stages->input[1] = (struct dory_stage){1, -100, 1, INT32_MIN, INT32_MAX};
    } else if (layer->normalisation == DORY_NORMALISE_HIGH && !has_weights(layer)) {
        stages->input[0] = stages->input[1] = (struct dory_stage){1, -40, 1, INT32_MIN, INT32_MAX};
        stages->first = (struct dory_stage){1 << 30, 1 << 16, 1 << 10, 0, 255};
    }
}

void test_case_of(struct test_case *test, const struct test_shape *shape, unsigned cores)
{
    struct dory_layer *layer = &test->layer;
    bool is_high = shape->normalisation == DORY_NORMALISE_HIGH || shape->normalisation == DORY_NORMALISE_SPLIT;
    random_state = 1;
    memset(test, 0, sizeof *test);
    layer->stages = &test->stages;
    set_shape(layer, shape);
    set_elements(layer, shape);
    set_normalisation(layer, shape);
    set_stages(&test->stages, layer, shape);
    test->shape = (struct dory_tile_shape){shape->rows, shape->columns, shape->channels, layer->input_channels};
    usual_moves(test);
    test->tile.first_chunk = test->tile.last_chunk = 1;
    test->cores = cores;
    for (size_t i = 0; test_engine->kernels[i]; i++) {
        if (strcmp(test_engine->kernels[i]->name, shape->kernel) == 0) {
            use_kernel(test, test_engine->kernels[i]);
        }
    }
    choose_layouts(test, shape->writes_chw, is_high ? 17 : 0);
    shape_tile(test);
}
