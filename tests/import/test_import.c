/* Import: graphs in all the forms in which the same layer can be written. */
#include "expect.h"
#include "loaded.h"

static struct loaded loaded; /* of the running test */

static void expect_built(struct onnx_builder *model)
{
    load_built(&loaded, model);
    if (!loaded.network)
        diagnostics_print(&loaded.diagnostics, stderr);
    REQUIRE(loaded.network);
}

/* Of a graph in words. */
static void expect_loads(const char *text) { expect_built(onnx_builder_make_text(text)); }

static void release(void) { arena_free(&loaded.arena); }

static const struct layer *layer(int index)
{
    REQUIRE(index < loaded.network->layer_count);
    return &loaded.network->layers[index];
}

static const struct tensor *output(int index) { return &loaded.network->tensors[layer(index)->output]; }

static void expect_stage(const struct stage *stage, int channel, int64_t k, int64_t lambda, int64_t divisor)
{
    int entry = stage->count == 1 ? 0 : channel;
    EXPECT_EQUAL(stage->multiplier[entry], k);
    EXPECT_EQUAL(stage->addend[entry], lambda);
    EXPECT_EQUAL(stage->divisor, divisor);
}

#define WEIGHTS "w = float[2,1,3,3] 1 2 3 4 5 6 7 8 9 -1 -2 -3 -4 -5 -6 -7 -8 -9; "

static void folds_bias_and_normalisation(void)
{
    struct onnx_builder *model = onnx_builder_make_text(
        WEIGHTS
        "image = input[1,1,5,6]; bias = float[2] 10 -20; sum = Conv image w bias pads=1,0,1,2 strides=2,1; y = output");
    onnx_add_nemo_normalisation(model, "sum", "y", 4, 2, SHAPE(7, -5), SHAPE(100, 3), 3, 1 << 10);
    expect_built(model);
    EXPECT_EQUAL(loaded.network->layer_count, 1);
    EXPECT_EQUAL(layer(0)->stage_count, 1);
    expect_stage(&layer(0)->stages[0], 0, 21, (7 * 10 + 100) * 3, 1 << 10);
    expect_stage(&layer(0)->stages[0], 1, -15, (5 * 20 + 3) * 3, 1 << 10);
    EXPECT_THAT(layer(0)->stages[0].has_clip);
    EXPECT_EQUAL(output(0)->height, 3);
    EXPECT_EQUAL(output(0)->width, 6);
    EXPECT_EQUAL(output(0)->channels, 2);
    EXPECT_EQUAL(layer(0)->padding_top, 1);
    EXPECT_EQUAL(layer(0)->padding_left, 0);
    EXPECT_EQUAL(layer(0)->padding_right, 2);
    EXPECT_BYTES(layer(0)->weights + 9, ((int8_t[]){-1, -2, -3, -4, -5, -6, -7, -8, -9}), 9);
}

static void merges_pads(void)
{
    /* Once with an attribute, once with an input, as opset 11 has it. */
    expect_loads(WEIGHTS "image = input[1,1,4,4]; more = int64[8] 0 0 1 0 0 0 0 0; a = Pad image pads=0,0,1,2,0,0,3,4; "
                         "b = Pad a more; y = Conv b w pads=1,0,0,0; y = output");
    EXPECT_EQUAL(loaded.network->layer_count, 1);
    EXPECT_EQUAL(layer(0)->padding_top, 3);
    EXPECT_EQUAL(layer(0)->padding_left, 2);
    EXPECT_EQUAL(layer(0)->padding_bottom, 3);
    EXPECT_EQUAL(layer(0)->padding_right, 4);
    EXPECT_EQUAL(output(0)->height, 4 + 3 + 3 - 2);
}

static void reads_clip_bounds_from_inputs(void)
{
    expect_loads(WEIGHTS "image = input[1,1,4,4]; sum = Conv image w; six = Constant 6.0; y = Clip sum - six; y = output");
    EXPECT_EQUAL(layer(0)->stage_count, 1);
    EXPECT_EQUAL(layer(0)->stages[0].maximum, 6);
    EXPECT_EQUAL(layer(0)->stages[0].minimum, INT64_MIN);
}

/* Two fully connected layers that compute the same, once with weights as stored by Gemm, once as MatMul. */
static void reads_transposed_weights(void)
{
    /* outputs x inputs: {{1, 2}, {3, 4}} */
    static const char *const forms[] = {"w = float[2,2] 1 2 3 4; y = Gemm flat w transB=1",
                                        "w = float[2,2] 1 3 2 4; y = Gemm flat w",
                                        "w = float[2,2] 1 3 2 4; y = MatMul flat w"};
    for (int form = 0; form < 3; form++) {
        struct onnx_builder *model = onnx_builder_make_text("image = input[1,1,1,2]; flat = Flatten image; y = output");
        onnx_add_text(model, forms[form]);
        expect_built(model);
        EXPECT_BYTES(layer(0)->weights, ((int8_t[]){1, 2, 3, 4}), 4);
        EXPECT_EQUAL(layer(0)->stage_count, 0);
        if (form < 2)
            release();
    }
}

static void follows_flatten_chains(void)
{
    expect_loads("image = input[1,2,2,3]; rest = int64[1] -1; w = float[12,1] 1 2 3 4 5 6 7 8 9 10 11 12; "
                 "bias = float[1] 1000; shape = Shape image; zero = Constant 0; batch = Gather shape zero; "
                 "batches = Unsqueeze batch axes=0,; target = Concat batches rest axis=0; "
                 "row = Reshape image target; same = Identity row; still = Dropout same; sum = MatMul still w; "
                 "y = Add bias sum; p = LogSoftmax y axis=1; p = output");
    EXPECT_EQUAL(loaded.network->layer_count, 1);
    EXPECT_EQUAL(layer(0)->kernel_height, 2);
    EXPECT_EQUAL(layer(0)->kernel_width, 3);
    expect_stage(&layer(0)->stages[0], 0, 1, 1000, 1);
    EXPECT_EQUAL(loaded.network->outputs[0], layer(0)->output);
}

/* 1/K * K * ratio / D becomes ratio / D; and without Mul(K), ratio / (K * D). */
static void averages_exactly(void)
{
    for (int undo = 0; undo < 2; undo++) {
        struct onnx_builder *model =
            onnx_builder_make_text("image = input[1,1,5,5]; ratio = float 33; divisor = float 1024; "
                                   "mean = AveragePool image kernel_shape=5,5; sum = Mul mean area; scaled = Mul sum ratio; "
                                   "quotient = Div scaled divisor; y = Floor quotient; y = output");
        onnx_add_text(model, undo ? "area = float 25" : "area = float 1");
        expect_built(model);
        EXPECT_EQUAL(layer(0)->kind, LAYER_AVERAGE_POOL);
        EXPECT_EQUAL(layer(0)->stage_count, 1);
        expect_stage(&layer(0)->stages[0], 0, 33, 0, undo ? 1024 : 25 * 1024);
        EXPECT_THAT(!(layer(0)->stages[0].has_clip));
        if (!undo)
            release();
    }
}

static void pairs_multipliers_by_tensor(void)
{
    struct onnx_builder *model = onnx_builder_make_text(
        "image = input[1,2,4,4]; w = float[2,2,1,1] 1 2 3 4; eleven = float 11; seven = float 7; d = float 32; m = float 3; "
        "d2 = float 4; sum = Conv image w");
    onnx_add_nemo_normalisation(model, "sum", "b", 4, 2, SHAPE(5, 6), SHAPE(0, 0), 1, 64);
    onnx_add_text(model, "b11 = Mul eleven b; " /* the first Mul of the file is of the second term */
                         "a7 = Mul image seven; total = Add a7 b11; q = Div total d; f = Floor q; fm = Mul f m; "
                         "fq = Div fm d2; ff = Floor fq; y = Relu ff; y = output");
    expect_built(model);
    EXPECT_EQUAL(loaded.network->layer_count, 2);
    EXPECT_EQUAL(layer(1)->kind, LAYER_ADDITION);
    EXPECT_EQUAL(layer(1)->inputs[0], loaded.network->inputs[0]);
    EXPECT_EQUAL(layer(1)->inputs[1], layer(0)->output);
    expect_stage(&layer(1)->input_stages[0], 0, 7, 0, 1);
    expect_stage(&layer(1)->input_stages[1], 0, 11, 0, 1);
    EXPECT_EQUAL(layer(1)->stage_count, 2); /* two floors */
    expect_stage(&layer(1)->stages[0], 0, 1, 0, 32);
    EXPECT_THAT(!(layer(1)->stages[0].has_clip));
    expect_stage(&layer(1)->stages[1], 0, 3, 0, 4);
    EXPECT_EQUAL(layer(1)->stages[1].minimum, 0);
}

/* What two nodes read is one tensor, and arithmetic behind it belongs to neither of its readers. */
static void keeps_shared_tensors_whole(void)
{
    expect_loads("image = input[1,1,4,4]; w1 = float[1,1,1,1] 3; two = float 2; a = Conv image w1; b = Relu a; "
                 "c = Mul b two; y = Add c b; y = output");
    EXPECT_EQUAL(loaded.network->layer_count, 2);
    EXPECT_EQUAL(layer(0)->stage_count, 1);
    EXPECT_EQUAL(layer(1)->inputs[0], layer(0)->output);
    EXPECT_EQUAL(layer(1)->inputs[1], layer(0)->output);
    expect_stage(&layer(1)->input_stages[0], 0, 2, 0, 1);
    expect_stage(&layer(1)->input_stages[1], 0, 1, 0, 1);
}

static void maps_signals_to_height_1(void)
{
    /* the batch need not be fixed */
    expect_loads("signal = input[-1,2,20]; w = float[1,2,3] 1 2 3 4 5 6; padded = Pad signal pads=0,0,4,0,0,0; "
                 "y = Conv padded w dilations=2,; y = output");
    EXPECT_THAT(
        has_message(&loaded.diagnostics, SEVERITY_NOTE, NULL, "the batch of input 'signal' is not fixed; taken as 1"));
    EXPECT_EQUAL(output(0)->height, 1);
    EXPECT_EQUAL(output(0)->width, 20);
    EXPECT_EQUAL(layer(0)->kernel_height, 1);
    EXPECT_EQUAL(layer(0)->kernel_width, 3);
    EXPECT_EQUAL(layer(0)->dilation_width, 2);
    EXPECT_EQUAL(layer(0)->padding_left, 4);
}

static void rounds_pools_up(void)
{
    expect_loads("image = input[1,1,5,6]; y = MaxPool image kernel_shape=2,2 strides=2,2 ceil_mode=1; y = output");
    EXPECT_EQUAL(output(0)->height, 3);
    EXPECT_EQUAL(output(0)->width, 3);
    EXPECT_EQUAL(layer(0)->padding_bottom, 1);
    EXPECT_EQUAL(layer(0)->padding_right, 0);
}

static void pads_automatically(void)
{
    expect_loads(WEIGHTS "image = input[1,1,5,6]; y = Conv image w auto_pad=SAME_UPPER strides=2,2; y = output");
    EXPECT_EQUAL(output(0)->height, 3);
    EXPECT_EQUAL(output(0)->width, 3);
    EXPECT_EQUAL(layer(0)->padding_top, 1);
    EXPECT_EQUAL(layer(0)->padding_bottom, 1);
    EXPECT_EQUAL(layer(0)->padding_left, 0);
    EXPECT_EQUAL(layer(0)->padding_right, 1);
}

static void ignores_nodes_that_no_output_needs(void)
{
    expect_loads(WEIGHTS "image = input[1,1,4,4]; y = Conv image w; unused = NonMaxSuppression image; y = output");
    EXPECT_EQUAL(loaded.network->layer_count, 1);
}

/* More stages than a layer has go on in a layer that copies. */
static void continues_in_a_copying_layer(void)
{
    expect_loads(WEIGHTS "image = input[1,1,4,4]; d = float 3; t0 = Conv image w; q0 = Div t0 d; t1 = Floor q0; "
                         "q1 = Div t1 d; t2 = Floor q1; q2 = Div t2 d; y = Floor q2; y = output");
    EXPECT_EQUAL(loaded.network->layer_count, 2);
    EXPECT_EQUAL(layer(0)->stage_count, 1);
    EXPECT_THAT(layer(0)->is_intermediate);
    EXPECT_EQUAL(layer(1)->kind, LAYER_MAXIMUM_POOL);
    EXPECT_EQUAL(layer(1)->stage_count, 2);
}

/* Factors that differ from channel to channel: a sum over a window becomes a convolution with ones, any other tensor is
 * copied by one. */
static void normalises_pools_by_channel(void)
{
    expect_loads("image = input[1,2,4,4]; k = float[1,2,1,1] 4 8; mean = AveragePool image kernel_shape=2,2; "
                 "scaled = Mul mean k; clipped = Clip scaled max=100.0; y = Mul clipped k; y = output");
    EXPECT_EQUAL(loaded.network->layer_count, 2);
    EXPECT_EQUAL(layer(0)->kind, LAYER_CONVOLUTION);
    EXPECT_EQUAL(layer(0)->groups, 2);
    EXPECT_BYTES(layer(0)->weights, ((int8_t[]){1, 1, 1, 1, 1, 1, 1, 1}), 8);
    expect_stage(&layer(0)->stages[0], 0, 1, 0, 1); /* 4 / (2 * 2) */
    expect_stage(&layer(0)->stages[0], 1, 2, 0, 1);
    EXPECT_EQUAL(layer(1)->kernel_height, 1);
    expect_stage(&layer(1)->stages[0], 1, 8, 0, 1);
}

/* Padding that a convolution reads is its own; a sum reads a padded copy. */
static void lays_padding_for_sums(void)
{
    expect_loads("image = input[1,1,4,4]; p = Pad image pads=0,0,1,0,0,0,0,2; y = Add p p; y = output");
    EXPECT_EQUAL(loaded.network->layer_count, 2);
    EXPECT_EQUAL(layer(0)->padding_top, 1);
    EXPECT_EQUAL(layer(0)->padding_right, 2);
    EXPECT_EQUAL(output(0)->height, 5);
    EXPECT_EQUAL(output(0)->width, 6);
    EXPECT_EQUAL(layer(1)->inputs[0], layer(1)->inputs[1]);
}

static void joins_channels(void)
{
    expect_loads("image = input[1,3,4,4]; joined = Concat image image image axis=-3; joined = output");
    EXPECT_EQUAL(loaded.network->layer_count, 2); /* two at a time */
    EXPECT_EQUAL(layer(1)->kind, LAYER_CONCATENATION);
    EXPECT_EQUAL(layer(1)->inputs[0], layer(0)->output);
    EXPECT_EQUAL(output(1)->channels, 9);
}

/* One Conv a precision and a Concat, as PLiNIO writes weights mixed by channel; divisors differ. */
static void joins_sibling_convolutions(void)
{
    expect_loads("image = input[1,1,4,4]; w8 = float[2,1,1,1] 100 -100; w2 = float[1,1,1,1] 1; four = float 4; "
                 "three = float 3; a = Conv image w8 weight_bits=8; b = Conv image w2 weight_bits=2; "
                 "a4 = Div a four; af = Floor a4; b3 = Div b three; bf = Floor b3; joined = Concat af bf axis=1; "
                 "joined = output");
    EXPECT_EQUAL(loaded.network->layer_count, 1);
    EXPECT_EQUAL(layer(0)->kind, LAYER_CONVOLUTION);
    EXPECT_EQUAL(layer(0)->weight_bits, 8);
    EXPECT_EQUAL(output(0)->channels, 3);
    EXPECT_EQUAL(layer(0)->weights[1], -100);
    EXPECT_EQUAL(layer(0)->weights[2], 1);
    expect_stage(&layer(0)->stages[0], 0, 3, 0, 12);
    expect_stage(&layer(0)->stages[0], 2, 4, 0, 12);
}

/* floor(x / 4 + 1/2), as QuantLib rounds since 2023, is floor((x + 2) / 4). */
static void adds_halves_behind_divisions(void)
{
    expect_loads(WEIGHTS "image = input[1,1,4,4]; four = float 4; half = float 0.5; c = Conv image w; d = Div c four; "
                         "h = Add d half; f = Floor h; f = output");
    EXPECT_EQUAL(loaded.network->layer_count, 1);
    expect_stage(&layer(0)->stages[0], 0, 1, 2, 4);
}

static void pads_with_any_number(void)
{
    expect_loads(WEIGHTS "image = input[1,1,4,4]; p = Pad image pads=0,0,1,1,0,0,1,1 value=7.0; c = Conv p w; c = output");
    EXPECT_EQUAL(loaded.network->layer_count, 1);
    EXPECT_EQUAL(layer(0)->padding_value, 7);
    EXPECT_EQUAL(layer(0)->padding_bottom, 1);
}

/* PLiNIO renames the input of the graph, but not where a MatMul reads it. */
static void mends_a_renamed_input(void)
{
    expect_loads(WEIGHTS "image = input[1,1,4,4]; c = Conv onnx::MatMul_0 w; c = output");
    EXPECT(has_message(&loaded.diagnostics, SEVERITY_WARNING, NULL, "taken for the same tensor"), "no warning");
    EXPECT_EQUAL(loaded.network->layer_count, 1);
}

static void keeps_groups(void)
{
    expect_loads("image = input[1,4,4,4]; w = float[6,2,1,1] 1 2 3 4 5 6 7 8 9 10 11 12; y = Conv image w group=2; "
                 "y = output");
    EXPECT_EQUAL(layer(0)->groups, 2);
    EXPECT_EQUAL(output(0)->channels, 6);
}

/* Dimensions of size 1 may move. */
static void transposes_in_place(void)
{
    load_built(&loaded, onnx_builder_make_text("image = input[1,5,1,1]; t = Transpose image perm=0,2,3,1; t = output"));
    EXPECT_THAT(!loaded.network); /* 1x1x1x5 is no image of 5 channels any more */
    release();
    expect_loads("image = input[1,5,1,1]; w = float[5,1] 1 2 3 4 5; t = Transpose image perm=0,1,3,2; flat = Flatten t; "
                 "y = MatMul flat w; y = output");
    EXPECT_EQUAL(loaded.network->layer_count, 1);
}

int main(void)
{
    static const struct test tests[] = {
        TEST(folds_bias_and_normalisation),
        TEST(merges_pads),
        TEST(reads_clip_bounds_from_inputs),
        TEST(reads_transposed_weights),
        TEST(follows_flatten_chains),
        TEST(averages_exactly),
        TEST(pairs_multipliers_by_tensor),
        TEST(keeps_shared_tensors_whole),
        TEST(maps_signals_to_height_1),
        TEST(rounds_pools_up),
        TEST(pads_automatically),
        TEST(ignores_nodes_that_no_output_needs),
        TEST(continues_in_a_copying_layer),
        TEST(normalises_pools_by_channel),
        TEST(lays_padding_for_sums),
        TEST(joins_channels),
        TEST(joins_sibling_convolutions),
        TEST(adds_halves_behind_divisions),
        TEST(pads_with_any_number),
        TEST(mends_a_renamed_input),
        TEST(keeps_groups),
        TEST(transposes_in_place),
    };
    return RUN_TESTS("import", tests, release);
}
