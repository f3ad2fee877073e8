/* The range proof: bounds hold, and are reached where that can be shown. */
#include <string.h>

#include "expect.h"
#include "loaded.h"
#include "network/accumulator.h"
#include "network/interpret.h"
#include "network/range.h"
#include "networks.h"

static struct loaded loaded;

static void release(void) { arena_free(&loaded.arena); }

static bool prove(const char *graph, bool exact_add)
{
    const struct range_options options = {.exact_add = exact_add};
    load_built(&loaded, onnx_builder_make_text(graph));
    REQUIRE(loaded.network);
    return range_prove(loaded.network, &options, &loaded.arena, &loaded.diagnostics);
}

static const struct tensor *output(int layer) { return &loaded.network->tensors[loaded.network->layers[layer].output]; }

static void expect_range(const struct tensor *tensor, int64_t minimum, int64_t maximum, int bits, bool is_signed)
{
    EXPECT_EQUAL(tensor->minimum, minimum);
    EXPECT_EQUAL(tensor->maximum, maximum);
    EXPECT_EQUAL(tensor->bits, bits);
    EXPECT_EQUAL(tensor->is_signed, is_signed);
}

#define POINTWISE "x = input[1,2,1,1]; sum = Conv x w; "

static void accumulators_are_tight(void)
{
    EXPECT_THAT(prove(POINTWISE "w = float[2,2,1,1] 3 -5 7 1; sum = output", false));
    const struct layer *layer = &loaded.network->layers[0];
    EXPECT_EQUAL(layer->accumulator_minimum, -5 * 255);
    EXPECT_EQUAL(layer->accumulator_maximum, 8 * 255);
    EXPECT_EQUAL(layer->sums[0].minimum, -5 * 255);
    EXPECT_EQUAL(layer->sums[0].maximum, 3 * 255);
    EXPECT_EQUAL(layer->sums[1].minimum, 0);
    EXPECT_EQUAL(layer->sums[1].maximum, 8 * 255);
    EXPECT_THAT(layer->sums_fit_32_bits);
    expect_range(output(0), -5 * 255, 8 * 255, 32, true); /* unclipped: int32, whatever would suffice */
}

/* Weights of 127 and -127 in pairs, of large elements that differ little: what each pair adds is small, but all the positive
 * ones may be added first. */
static void expect_pairs(int pairs, bool parts_fit)
{
    static int8_t weights[600];
    struct arena arena = {0};
    struct tensor tensors[2] = {{.channels = 2 * pairs, .bits = 16, .minimum = 60000, .maximum = 65535}, {.channels = 1}};
    const struct network network = {.tensors = tensors, .tensor_count = 2};
    struct layer layer = layer_plain("pairs", LAYER_CONVOLUTION, 0);
    layer.output = 1;
    layer.weights = weights;
    for (int i = 0; i < 2 * pairs; i++)
        weights[i] = i % 2 ? -127 : 127;
    accumulator_prove(&network, &layer, &arena);
    EXPECT_EQUAL(layer.sums[0].minimum, -127 * 5535 * pairs);
    EXPECT_EQUAL(layer.sums[0].maximum, 127 * 5535 * pairs);
    EXPECT_EQUAL(layer.sums_fit_32_bits, parts_fit);
    arena_free(&arena);
}

static void parts_of_sums_count(void)
{
    expect_pairs(258, true); /* 258 * 127 * 65535 is less than 2^31 */
    expect_pairs(259, false);
}

static void negative_multipliers_turn_bounds_around(void)
{
    EXPECT_THAT(prove(POINTWISE "w = float[2,2,1,1] 1 0 0 1; k = float[1,2,1,1] -2 1; d = float 4; scaled = Mul k sum; "
                                "q = Div scaled d; f = Floor q; y = Clip f max=40.0; y = output",
                      false));
    expect_range(output(0), -128, 40, 8, true); /* floor(-510 / 4) */
}

#define SUM_OF_INPUT(factor)                                                                                                \
    "x = input[1,1,2,2]; m = float " factor "; d = float 32; xm = Mul x m; mx = Mul m x; sum = Add xm mx; q = Div sum d; "  \
    "y = Floor q; y = output"

static void unclipped_additions_are_saturated(void)
{
    EXPECT_THAT(prove(SUM_OF_INPUT("20"), false));
    expect_range(output(0), 0, 255, 8, false);
    EXPECT_THAT(has_message(&loaded.diagnostics, SEVERITY_WARNING, "Add_2", "layer 0: the sum can be from 0 to 318"));
    EXPECT_THAT(loaded.network->layers[0].stages[0].has_clip);
}

static void exact_additions_get_16_bits(void)
{
    EXPECT_THAT(prove(SUM_OF_INPUT("20"), true));
    expect_range(output(0), 0, 318, 16, false);
    EXPECT_EQUAL(loaded.diagnostics.count, 0);
    EXPECT_THAT(!(loaded.network->layers[0].stages[0].has_clip));
}

static void additions_that_fit_stay_as_they_are(void)
{
    EXPECT_THAT(prove(SUM_OF_INPUT("16"), false));
    expect_range(output(0), 0, 255, 8, false);
    EXPECT_EQUAL(loaded.diagnostics.count, 0);
    EXPECT_THAT(!(loaded.network->layers[0].stages[0].has_clip));
}

static void what_exceeds_32_bits_is_an_error(void)
{
    EXPECT_THAT(!prove(POINTWISE "w = float[2,2,1,1] 127 127 127 127; k = float 100000; y = Mul sum k; y = output", false));
    EXPECT_THAT(
        has_message(&loaded.diagnostics, SEVERITY_ERROR, "Conv_0", "layer 0: its output can be from 0 to 6477000000"));
}

/* Of a layer whose inputs can be as large as that: its last one in the network. */
static void expect_sums(const struct network_builder *builder, int64_t maximum, bool fit)
{
    struct network network = builder->network;
    struct diagnostics diagnostics = {.arena = &loaded.arena};
    for (int i = 0; i < network.input_count; i++)
        network.tensors[network.inputs[i]].maximum = maximum;
    EXPECT_EQUAL(range_prove(&network, NULL, &loaded.arena, &diagnostics), fit);
    if (!fit)
        EXPECT_THAT(strstr(diagnostics.list[0].text, "accumulator can be") != NULL);
}

/* What describes layers relies on it. */
static void sums_of_pools_and_products_fit_32_bits(void)
{
    struct network_builder pool, product;
    loaded = (struct loaded){0};
    builder_start(&pool, &loaded.arena, 1);
    builder_finish(&pool, builder_pool(&pool, builder_input(&pool, 2, 2, 1), LAYER_AVERAGE_POOL, 2, 2, 0));
    expect_sums(&pool, INT32_MAX / 4, true);
    expect_sums(&pool, INT32_MAX / 4 + 1, false);
    builder_start(&product, &loaded.arena, 1);
    int factor = builder_input(&product, 2, 2, 1);
    builder_finish(&product, builder_product(&product, factor, factor));
    expect_sums(&product, 46340, true); /* its square is below 2^31 */
    expect_sums(&product, 46341, false);
}

static void borders_of_zeros_count(void)
{
    struct onnx_builder *model = onnx_builder_make_text(
        "x = input[1,1,2,2]; y = AveragePool x kernel_shape=2,1 pads=1,0,0,0 count_include_pad=1; y = output");
    struct load_options options = {.input_is_signed = true};
    size_t length;
    const uint8_t *bytes = onnx_builder_pack(model, &length);
    loaded = (struct loaded){.diagnostics = {.arena = &loaded.arena}};
    loaded.network = network_load_memory(bytes, length, "test", &options, &loaded.arena, &loaded.diagnostics);
    onnx_builder_free(model);
    REQUIRE(loaded.network);
    loaded.network->tensors[0].minimum = 10; /* declared: never zero */
    EXPECT_THAT(range_prove(loaded.network, NULL, &loaded.arena, &loaded.diagnostics));
    EXPECT_EQUAL(loaded.network->layers[0].accumulator_minimum, 0);
    EXPECT_EQUAL(loaded.network->layers[0].accumulator_maximum, 2 * 127);
    EXPECT_EQUAL(loaded.diagnostics.count, 1); /* that the quotient is not rounded in the model */
}

int main(void)
{
    static const struct test tests[] = {
        TEST(accumulators_are_tight),
        TEST(parts_of_sums_count),
        TEST(negative_multipliers_turn_bounds_around),
        TEST(unclipped_additions_are_saturated),
        TEST(exact_additions_get_16_bits),
        TEST(additions_that_fit_stay_as_they_are),
        TEST(what_exceeds_32_bits_is_an_error),
        TEST(sums_of_pools_and_products_fit_32_bits),
        TEST(borders_of_zeros_count),
    };
    return RUN_TESTS("range", tests, release);
}
