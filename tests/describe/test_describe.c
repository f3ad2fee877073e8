/* What describe makes of layers: normalisation forms at their very borders, shapes, refusals. */
#include <inttypes.h>
#include <string.h>

#include "choose/form.h"
#include "describe/requantise.h"
#include "describe/row_window.h"
#include "dory/normalise.h"
#include "dory/transposition.h"
#include "expect.h"
#include "network/stage.h"
#include "networks.h"

struct fixture {
    struct arena arena;
    struct network_builder builder;
    struct layer *layer; /* the only one; changed before it is described */
    struct tensor *input, *output;
    const struct requantisation *requantisation; /* after describe */
};

static void start(struct fixture *f)
{
    *f = (struct fixture){0};
    builder_start(&f->builder, &f->arena, 3);
}

static void finish(struct fixture *f)
{
    f->layer = &f->builder.network.layers[0];
    f->input = &f->builder.network.tensors[f->layer->inputs[0]];
    f->output = &f->builder.network.tensors[f->layer->output];
}

/* One channel, one weight: the accumulator is weight * x, exactly from 0 to 255 * weight. */
static void one_weight(struct fixture *f, int8_t weight, int64_t multiplier, int64_t addend, int64_t divisor)
{
    start(f);
    builder_convolution(&f->builder, builder_input(&f->builder, 4, 4, 1), 1, 1, 0, 1);
    finish(f);
    int8_t *weights = arena_array(&f->arena, int8_t, 1);
    int64_t *numbers = arena_array(&f->arena, int64_t, 2);
    weights[0] = weight;
    numbers[0] = multiplier;
    numbers[1] = addend;
    f->layer->weights = weights;
    f->layer->stages[0] = (struct stage){
        .count = 1, .multiplier = numbers, .addend = numbers + 1, .divisor = divisor, .has_clip = true, .maximum = 255};
}

static const struct target portable = {.engines = {&dory_portable_engine}};

static bool describe(struct fixture *f, struct dory_layer *record, const char **text)
{
    struct diagnostics diagnostics = {.arena = &f->arena};
    builder_prove(&f->builder);
    struct described_layer described;
    struct formed_layer formed = {0};
    bool good = describe_layer(&f->builder.network, 0, &described, &f->arena, &diagnostics) &&
                form_layer(&described, &portable, 8, f->layer->name, &formed, &f->arena, &diagnostics);
    *record = formed.record;
    f->requantisation = formed.requantisation;
    *text = diagnostics.count ? diagnostics.list[0].text : "";
    EXPECT(good == (diagnostics.error_count == 0), "%s", *text);
    return good;
}

static void expect_form(int8_t weight, int64_t multiplier, int64_t addend, int64_t divisor, bool is_32, const char *what)
{
    struct fixture f;
    struct dory_layer record;
    const char *text;
    one_weight(&f, weight, multiplier, addend, divisor);
    EXPECT(describe(&f, &record, &text), "%s: %s", what, text);
    bool literally = record.normalisation == DORY_NORMALISE_32 && f.requantisation->verdict == REQUANTISED_LITERALLY;
    EXPECT(literally == is_32, "%s: form %d", what, record.normalisation);
    arena_free(&f.arena);
}

static void test_forms(void)
{
    const int64_t most = INT32_MAX / 255; /* 255 * most is the largest product below 2^31 */
    expect_form(1, most, INT32_MAX - 255 * most, 1 << 8, true, "the largest sum that fits");
    expect_form(1, most, INT32_MAX - 255 * most + 1, 1 << 8, false, "one more");
    expect_form(1, most + 1, -1000000, 1 << 8, false, "the product does not fit, the sum does");
    expect_form(-1, most, INT32_MIN + 255 * most, 1 << 8, true, "the least sum that fits");
    expect_form(-1, most, INT32_MIN + 255 * most - 1, 1 << 8, false, "one less");
    expect_form(1, 3, 5, 1 << 8, true, "small numbers");
    expect_form(1, 3, 5, 255, false, "no power of two");
}

static void expect_refusal(struct fixture *f, const char *words)
{
    struct dory_layer record;
    const char *text;
    finish(f);
    EXPECT(!describe(f, &record, &text) && strstr(text, words), "'%s' is not in: %s", words, text);
    arena_free(&f->arena);
}

static void test_refusals(void)
{
    struct fixture f;
    start(&f);
    builder_pool(&f.builder, builder_input(&f.builder, 4, 4, 4), LAYER_MAXIMUM_POOL, 2, 1, 2);
    expect_refusal(&f, "lie in the padding");
    start(&f);
    builder_convolution(&f.builder, builder_input(&f.builder, 8, 8, 4), 3, 1, 1, 8);
    f.builder.network.layers[0].groups = 3;
    expect_refusal(&f, "groups");
    start(&f);
    builder_convolution(&f.builder, builder_input(&f.builder, 8, 8, 4), 3, 1, 1, 8);
    f.builder.network.tensors[1].height = 9;
    expect_refusal(&f, "reads 11 elements");
    start(&f);
    builder_convolution(&f.builder, builder_input(&f.builder, 8, 8, 4), 3, 1, 1, 8);
    f.builder.network.tensors[0].bits = 7;
    expect_refusal(&f, "7 bits");
    start(&f);
    builder_convolution(&f.builder, builder_input(&f.builder, 8, 8, 4), 3, 1, 1, 8);
    f.builder.network.tensors[0].width = 70000;
    expect_refusal(&f, "70000");
}

/* A classifier over 4 x 5 x 6 elements is a 1x1 convolution of 120 channels. */
static void test_flattening(void)
{
    struct fixture f;
    struct dory_layer record;
    const char *text;
    start(&f);
    builder_fully_connected(&f.builder, builder_input(&f.builder, 4, 5, 6), 10);
    finish(&f);
    EXPECT(describe(&f, &record, &text), "%s", text);
    EXPECT(record.input_height == 1 && record.input_width == 1 && record.input_channels == 120 && record.kernel_height == 1,
           "%d x %d x %d", record.input_height, record.input_width, record.input_channels);
    EXPECT(record.normalisation == DORY_NORMALISE_NONE && record.minimum == INT32_MIN && record.output_bits == 32, "form %d",
           record.normalisation);
    arena_free(&f.arena);
}

static void test_kinds(void)
{
    struct fixture f;
    struct dory_layer record;
    const char *text;
    start(&f);
    builder_depthwise(&f.builder, builder_input(&f.builder, 9, 7, 5), 3, 2, 1);
    finish(&f);
    f.layer->padding_top = 0;
    f.layer->padding_bottom = 2;
    EXPECT(describe(&f, &record, &text), "%s", text);
    EXPECT(record.operation == DORY_DEPTHWISE && record.padding_top == 0 && record.padding_left == 1 &&
               record.output_height == 5,
           "depth-wise");
    arena_free(&f.arena);
    start(&f);
    builder_pool(&f.builder, builder_input(&f.builder, 8, 8, 3), LAYER_AVERAGE_POOL, 2, 2, 0);
    finish(&f);
    f.layer->accumulator_maximum = 4 * 255; /* as the range pass proves it */
    EXPECT(describe(&f, &record, &text), "%s", text);
    EXPECT(record.operation == DORY_AVERAGE_POOL && record.stages->first.divisor == 4 && record.minimum == 0 &&
               record.maximum == 255,
           "average");
    arena_free(&f.arena);
}

/* A mean over 16x16 elements with a factor of multiplier * 2^exponent / divisor, and zero points. */
static void mean(struct fixture *f, enum rounding rounding, int64_t multiplier, int exponent, int64_t divisor)
{
    start(f);
    int64_t *numbers = arena_array(&f->arena, int64_t, 2);
    int *exponents = arena_array(&f->arena, int, 1);
    numbers[0] = multiplier;
    numbers[1] = -256 * 100;
    exponents[0] = exponent;
    builder_pool(&f->builder, builder_input(&f->builder, 16, 16, 3), LAYER_AVERAGE_POOL, 16, 16, 0);
    finish(f);
    f->layer->stages[0] = (struct stage){.count = 1,
                                         .rounding = rounding,
                                         .multiplier = &numbers[0],
                                         .addend = &numbers[1],
                                         .exponent = exponents,
                                         .divisor = divisor,
                                         .zero_point = 100,
                                         .has_clip = true,
                                         .maximum = 255};
    f->layer->accumulator_maximum = 256 * 255; /* as the range pass proves it */
}

/* The firmware's scalar arithmetic against the stage, for all sums; and whether it is one scale in a high half. */
static void expect_mean(enum rounding rounding, int64_t multiplier, int exponent, int64_t divisor, bool is_high)
{
    struct fixture f;
    struct dory_layer record;
    const char *text;
    mean(&f, rounding, multiplier, exponent, divisor);
    EXPECT(describe(&f, &record, &text), "%s", text);
    EXPECT(record.operation == DORY_AVERAGE_POOL && (record.normalisation == DORY_NORMALISE_HIGH) == is_high,
           "rounding %d, %" PRId64 " / %" PRId64 ": form %d", rounding, multiplier, divisor, record.normalisation);
    for (int64_t sum = 0; sum <= 255 * 256; sum++) {
        int64_t expected = (int64_t)stage_apply(&f.layer->stages[0], 0, sum), value;
        if (record.normalisation == DORY_NORMALISE_HIGH) {
            uint32_t biased = (uint32_t)(sum + record.stages->input[0].addend);
            value = dory_normalise_high_stages(&record, (int32_t)(biased << record.left_shift));
        } else {
            value = dory_clip(dory_stage_apply(&record.stages->first, sum), record.minimum, record.maximum);
        }
        EXPECT(value == expected, "sum %" PRId64 ": %" PRId64 " instead of %" PRId64, sum, value, expected);
    }
    arena_free(&f.arena);
}

static void test_means_stay_pools(void)
{
    expect_mean(ROUND_TWICE, 1932735283, -8, 1, true);
    expect_mean(ROUND_TWICE, 1 << 30, -7, 1, true);
    expect_mean(ROUND_HALF_EVEN, 1, 0, 256, true);
    expect_mean(ROUND_HALF_EVEN, 3, 0, 640, true);
    expect_mean(ROUND_HALF_EVEN, 1, 0, 257, false); /* has no halves */
    expect_mean(ROUND_HALF_AWAY, 1, 0, 256, true);  /* on both sides of zero, which a floor tells apart in 64 bits only */
    expect_mean(ROUND_HALF_AWAY, 1, 0, 257, false);
}

/* Without a clip a layer's results have 32 bits. The fault is its own, not that of the layer that reads them, however far
 * behind it. */
static void test_blames_producer(void)
{
    struct fixture f;
    struct described_layer described;
    struct diagnostics diagnostics = {.arena = &f.arena};
    start(&f);
    int logits = builder_fully_connected(&f.builder, builder_input(&f.builder, 2, 2, 4), 8);
    builder_convolution(&f.builder, logits, 1, 1, 0, 4);
    finish(&f);
    f.builder.network.layers[0].name = "the culprit";
    f.builder.network.layers[1].name = "the victim";
    builder_prove(&f.builder);
    EXPECT(!describe_layer(&f.builder.network, 1, &described, &f.arena, &diagnostics), "32-bit elements are convolved");
    const struct diagnostic *first = diagnostics.list;
    EXPECT(diagnostics.count > 0 && !strcmp(first->node, "the culprit") && strstr(first->text, "is not clipped") &&
               strstr(first->text, "'the victim'") && strstr(first->text, "a Clip"),
           "%s: %s", diagnostics.count ? first->node : "", diagnostics.count ? first->text : "");
    arena_free(&f.arena);
}

/* A convolution of single bytes is the model's arithmetic, looked up. */
static void test_tables(void)
{
    struct fixture f;
    struct dory_layer record;
    const char *text;
    start(&f);
    builder_convolution(&f.builder, builder_input(&f.builder, 33, 35, 1), 1, 2, 0, 3);
    finish(&f);
    EXPECT(describe(&f, &record, &text), "%s", text);
    EXPECT(record.operation == DORY_TABLE && record.stride_width == 2 && dory_table_bytes(&record) == 3 * 256, "no tables");
    for (int i = 0; i < 3 * 256 && record.operation == DORY_TABLE; i++) {
        wide value = stage_apply(&f.layer->stages[0], i / 256, f.layer->weights[i / 256] * (int64_t)(i % 256));
        EXPECT(record.constants.table[i] == value, "byte %d of channel %d", i % 256, i / 256);
    }
    arena_free(&f.arena);
}

/* Elements of the border are none of the input's bytes. */
static void test_no_table_of_a_border(int more_rows, int more_columns)
{
    struct fixture f;
    struct dory_layer record;
    const char *text;
    start(&f);
    int output = builder_convolution(&f.builder, builder_input(&f.builder, 17, 15, 1), 1, 1, 0, 1);
    f.builder.network.tensors[output].height += more_rows;
    f.builder.network.tensors[output].width += more_columns;
    f.builder.network.layers[0].padding_bottom = more_rows;
    f.builder.network.layers[0].padding_right = more_columns;
    finish(&f);
    EXPECT(describe(&f, &record, &text), "%s", text);
    EXPECT(record.operation == DORY_CONVOLUTION, "a table of %d rows and %d columns of border", more_rows, more_columns);
    arena_free(&f.arena);
}

/* A pool of one element that halves bytes, rounding up, of so many rows. */
static void halve_by_pool(struct fixture *f, int rows, int stride, bool is_signed)
{
    static const int64_t one = 1;
    start(f);
    builder_pool(&f->builder, builder_input(&f->builder, rows, 8, 8), LAYER_MAXIMUM_POOL, 1, stride, 0);
    finish(f);
    f->input->is_signed = is_signed;
    f->input->minimum = is_signed ? -128 : 0;
    f->input->maximum = is_signed ? 127 : 255;
    f->layer->stage_count = 1;
    f->layer->stages[0] = (struct stage){.count = 1,
                                         .multiplier = &one,
                                         .addend = &one,
                                         .divisor = 2,
                                         .has_clip = true,
                                         .minimum = is_signed ? -60 : 0,
                                         .maximum = 100};
}

/* It is looked up, too, where bytes are next to each other, and enough for a table. */
static void test_table_of_a_pool(int rows, int stride, bool is_signed, bool is_table)
{
    struct fixture f;
    struct dory_layer record;
    const char *text;
    halve_by_pool(&f, rows, stride, is_signed);
    EXPECT(describe(&f, &record, &text), "%s", text);
    EXPECT((record.operation == DORY_TABLE) == is_table, "%d rows, stride %d: operation %d", rows, stride, record.operation);
    for (int i = 0; i < 256 && record.operation == DORY_TABLE; i++) {
        wide value = stage_apply(&f.layer->stages[0], 0, is_signed ? (int8_t)i : i);
        EXPECT(record.constants.table[i] == (uint8_t)value, "byte %d", i);
    }
    arena_free(&f.arena);
}

/* A convolution of one element that does not matter is a constant: its weights are bytes, as they are. One that has a weight
 * is none. */
static void test_constant(bool has_weight)
{
    struct fixture f;
    struct dory_layer record;
    const char *text;
    static const uint8_t elements[] = {3, 250, 0, 7, 128, 0, 0, 0};
    static const int64_t multipliers[] = {1, 1, 1, 1, 1}, addends[] = {3, 250, -9, 7, 128};
    uint8_t image[8] = {0};
    start(&f);
    builder_convolution(&f.builder, builder_input(&f.builder, 1, 1, 1), 1, 1, 0, 5);
    finish(&f);
    int8_t *weights = arena_array(&f.arena, int8_t, 5);
    weights[4] = has_weight;
    f.layer->weights = weights;
    f.layer->stages[0] = (struct stage){
        .count = 5, .multiplier = multipliers, .addend = addends, .divisor = 1, .has_clip = true, .maximum = 255};
    EXPECT(describe(&f, &record, &text), "%s", text);
    EXPECT((record.operation == DORY_CONSTANT) == !has_weight, "operation %d", record.operation);
    if (!has_weight) {
        struct dory_model_weights model = {.weights = (const int8_t *)record.constants.table};
        EXPECT_EQUAL(dory_block_bytes(&dory_quads, &record, 1), 4);
        EXPECT(dory_quads.write(&record, &model, image, 8) && !memcmp(image, elements, 8), "other bytes");
        EXPECT(!dory_quads.write(&record, &model, image, 7), "in too little memory");
    }
    arena_free(&f.arena);
}

/* A copy that takes rows, columns and channels from a list each: positions of the dimensions `order` of a 6 x 5 x 7 tensor,
 * in the shape of the output, or all in one list of channels. */
static void order_of_copy(struct fixture *f, const int *order, bool flat)
{
    static const int sizes[3] = {6, 5, 7}, steps[3] = {35, 7, 1};
    int32_t *lists[3];
    int shape[3] = {sizes[order[0]], sizes[order[1]], sizes[order[2]]};
    for (int i = 0; i < 3; i++) {
        lists[i] = arena_array(&f->arena, int32_t, 210);
        for (int k = 0; k < shape[i]; k++)
            lists[i][k] = k * steps[order[i]];
    }
    int32_t *all = arena_array(&f->arena, int32_t, 210);
    for (int i = 0; flat && i < 210; i++)
        all[i] = lists[0][i / (shape[1] * shape[2])] + lists[1][i / shape[2] % shape[1]] + lists[2][i % shape[2]];
    f->layer->kind = LAYER_COPY;
    f->layer->stage_count = 0;
    f->output->height = flat ? 1 : shape[0], f->output->width = flat ? 1 : shape[1];
    f->output->channels = flat ? 210 : shape[2];
    f->layer->map = (struct layer_map){flat ? arena_array(&f->arena, int32_t, 1) : lists[0],
                                       flat ? arena_array(&f->arena, int32_t, 1) : lists[1], flat ? all : lists[2]};
}

/* `rows`, `columns` and `channels` of the output; 0: no transposition. */
static void expect_order(const int *order, bool flat, int rows, int columns, int channels)
{
    struct fixture f;
    struct dory_layer record;
    const char *text;
    start(&f);
    builder_convolution(&f.builder, builder_input(&f.builder, 6, 5, 7), 1, 1, 0, 7);
    finish(&f);
    order_of_copy(&f, order, flat);
    EXPECT(describe(&f, &record, &text), "%s", text);
    EXPECT((record.operation == DORY_TRANSPOSITION) == (rows > 0), "%d%d%d: operation %d", order[0], order[1], order[2],
           record.operation);
    EXPECT(rows == 0 ||
               (record.output_height == rows && record.output_width == columns && record.output_channels == channels),
           "%d%d%d: %d x %d x %d", order[0], order[1], order[2], record.output_height, record.output_width,
           record.output_channels);
    arena_free(&f.arena);
}

static void test_transpositions(void)
{
    for (int flat = 0; flat < 2; flat++) {
        expect_order((int[]){0, 1, 2}, flat, 0, 0, 0); /* nothing moves */
        expect_order((int[]){2, 0, 1}, flat, 7, 1, 30);
        expect_order((int[]){1, 2, 0}, flat, 35, 1, 6);
        expect_order((int[]){0, 2, 1}, flat, 6, 7, 5);
        expect_order((int[]){1, 0, 2}, flat, 5, 6, 7);
        expect_order((int[]){2, 1, 0}, flat, 7, 5, 6);
    }
}

/* Rows from the 101st on, of 300: a tile has no others. */
static void test_windows_behind_the_first_rows(void)
{
    struct row_span spans[4];
    for (int i = 0; i < 4; i++)
        spans[i] = (struct row_span){100 + i, 100 + i};
    struct row_window window = find_row_window(spans, 4, 300);
    EXPECT(window.stride == 1 && window.divisor == 1 && window.padding == -100 && window.rows == 1,
           "stride %d / %d, padding %d, %d rows", window.stride, window.divisor, window.padding, window.rows);
}

int main(void)
{
    test_tables();
    test_no_table_of_a_border(0, 2);
    test_no_table_of_a_border(3, 0);
    test_table_of_a_pool(4, 1, false, true);
    test_table_of_a_pool(4, 1, true, true);
    test_table_of_a_pool(3, 1, false, false);
    test_table_of_a_pool(16, 2, false, false);
    test_constant(false);
    test_constant(true);
    test_transpositions();
    test_windows_behind_the_first_rows();
    test_forms();
    test_refusals();
    test_flattening();
    test_kinds();
    test_means_stay_pools();
    test_blames_producer();
    return expect_result("describe");
}
