/* Import: graphs in all the forms in which the same layer can be written. */
#include "expect.h"
#include "loaded.h"

static struct loaded loaded; /* of the running test */

static void expect_loads(struct onnx_builder *model)
{
    load_built(&loaded, model);
    if (!loaded.network)
        diagnostics_print(&loaded.diagnostics, stderr);
    REQUIRE(loaded.network);
}

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

static const int64_t weights_2x1x3x3[18] = {1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, -4, -5, -6, -7, -8, -9};

static struct onnx_builder *with_input(int channels, int height, int width)
{
    struct onnx_builder *model = onnx_builder_make(9);
    onnx_add_input(model, "image", 4, SHAPE(1, channels, height, width));
    return model;
}

static onnx_node *add_conv(struct onnx_builder *model, const char *inputs, const char *out)
{
    onnx_add_initialiser(model, "w", 4, SHAPE(2, 1, 3, 3), weights_2x1x3x3);
    return onnx_add_node(model, "Conv", inputs, out);
}

static void folds_bias_and_normalisation(void)
{
    struct onnx_builder *model = with_input(1, 5, 6);
    onnx_add_initialiser(model, "bias", 1, SHAPE(2), SHAPE(10, -20));
    onnx_node *conv = add_conv(model, "image w bias", "sum");
    onnx_set_integers(model, conv, "pads", 4, SHAPE(1, 0, 1, 2));
    onnx_set_integers(model, conv, "strides", 2, SHAPE(2, 1));
    onnx_add_nemo_normalisation(model, "sum", "y", 4, 2, SHAPE(7, -5), SHAPE(100, 3), 3, 1 << 10);
    onnx_add_output(model, "y");
    expect_loads(model);
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
    struct onnx_builder *model = with_input(1, 4, 4);
    onnx_set_integers(model, onnx_add_node(model, "Pad", "image", "a"), "pads", 8, SHAPE(0, 0, 1, 2, 0, 0, 3, 4));
    onnx_add_int64(model, "more", 1, SHAPE(8), SHAPE(0, 0, 1, 0, 0, 0, 0, 0));
    onnx_add_node(model, "Pad", "a more", "b"); /* as opset 11 has it */
    onnx_set_integers(model, add_conv(model, "b w", "y"), "pads", 4, SHAPE(1, 0, 0, 0));
    onnx_add_output(model, "y");
    expect_loads(model);
    EXPECT_EQUAL(loaded.network->layer_count, 1);
    EXPECT_EQUAL(layer(0)->padding_top, 3);
    EXPECT_EQUAL(layer(0)->padding_left, 2);
    EXPECT_EQUAL(layer(0)->padding_bottom, 3);
    EXPECT_EQUAL(layer(0)->padding_right, 4);
    EXPECT_EQUAL(output(0)->height, 4 + 3 + 3 - 2);
}

static void reads_clip_bounds_from_inputs(void)
{
    struct onnx_builder *model = with_input(1, 4, 4);
    add_conv(model, "image w", "sum");
    onnx_add_constant_node(model, "six", 6, false);
    onnx_add_node(model, "Clip", "sum - six", "y");
    onnx_add_output(model, "y");
    expect_loads(model);
    EXPECT_EQUAL(layer(0)->stage_count, 1);
    EXPECT_EQUAL(layer(0)->stages[0].maximum, 6);
    EXPECT_EQUAL(layer(0)->stages[0].minimum, INT64_MIN);
}

/* Two fully connected layers that compute the same, once with weights as stored by Gemm, once as MatMul. */
static void reads_transposed_weights(void)
{
    for (int form = 0; form < 3; form++) {
        struct onnx_builder *model = with_input(1, 1, 2);
        onnx_add_node(model, "Flatten", "image", "flat");
        bool by_input = form > 0;
        /* outputs x inputs: {{1, 2}, {3, 4}} */
        onnx_add_initialiser(model, "w", 2, SHAPE(2, 2), by_input ? SHAPE(1, 3, 2, 4) : SHAPE(1, 2, 3, 4));
        onnx_node *node = onnx_add_node(model, form == 2 ? "MatMul" : "Gemm", "flat w", "y");
        if (form == 0)
            onnx_set_integer(model, node, "transB", 1);
        onnx_add_output(model, "y");
        expect_loads(model);
        EXPECT_BYTES(layer(0)->weights, ((int8_t[]){1, 2, 3, 4}), 4);
        EXPECT_EQUAL(layer(0)->stage_count, 0);
        if (form < 2)
            release();
    }
}

static void follows_flatten_chains(void)
{
    struct onnx_builder *model = with_input(2, 2, 3);
    onnx_add_node(model, "Shape", "image", "shape");
    onnx_add_constant_node(model, "zero", 0, true);
    onnx_add_node(model, "Gather", "shape zero", "batch");
    onnx_set_integers(model, onnx_add_node(model, "Unsqueeze", "batch", "batches"), "axes", 1, SHAPE(0));
    onnx_add_int64(model, "rest", 1, SHAPE(1), SHAPE(-1));
    onnx_set_integer(model, onnx_add_node(model, "Concat", "batches rest", "target"), "axis", 0);
    onnx_add_node(model, "Reshape", "image target", "row");
    onnx_add_node(model, "Identity", "row", "same");
    onnx_add_node(model, "Dropout", "same", "still");
    onnx_add_initialiser(model, "w", 2, SHAPE(12, 1), SHAPE(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
    onnx_add_initialiser(model, "bias", 1, SHAPE(1), SHAPE(1000));
    onnx_add_node(model, "MatMul", "still w", "sum");
    onnx_add_node(model, "Add", "bias sum", "y");
    onnx_set_integer(model, onnx_add_node(model, "LogSoftmax", "y", "p"), "axis", 1);
    onnx_add_output(model, "p");
    expect_loads(model);
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
        struct onnx_builder *model = with_input(1, 5, 5);
        onnx_set_integers(model, onnx_add_node(model, "AveragePool", "image", "mean"), "kernel_shape", 2, SHAPE(5, 5));
        onnx_add_scalar(model, "area", undo ? 25 : 1);
        onnx_add_scalar(model, "ratio", 33);
        onnx_add_scalar(model, "divisor", 1024);
        onnx_add_node(model, "Mul", "mean area", "sum");
        onnx_add_node(model, "Mul", "sum ratio", "scaled");
        onnx_add_node(model, "Div", "scaled divisor", "quotient");
        onnx_add_node(model, "Floor", "quotient", "y");
        onnx_add_output(model, "y");
        expect_loads(model);
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
    struct onnx_builder *model = with_input(2, 4, 4);
    onnx_add_initialiser(model, "w", 4, SHAPE(2, 2, 1, 1), SHAPE(1, 2, 3, 4));
    onnx_add_node(model, "Conv", "image w", "sum");
    onnx_add_nemo_normalisation(model, "sum", "b", 4, 2, SHAPE(5, 6), SHAPE(0, 0), 1, 64);
    onnx_add_scalar(model, "eleven", 11);
    onnx_add_scalar(model, "seven", 7);
    onnx_add_scalar(model, "d", 32);
    onnx_add_scalar(model, "m", 3);
    onnx_add_scalar(model, "d2", 4);
    onnx_add_node(model, "Mul", "eleven b", "b11"); /* the first Mul of the file is of the second term */
    onnx_add_node(model, "Mul", "image seven", "a7");
    onnx_add_node(model, "Add", "a7 b11", "total");
    onnx_add_node(model, "Div", "total d", "q");
    onnx_add_node(model, "Floor", "q", "f");
    onnx_add_node(model, "Mul", "f m", "fm");
    onnx_add_node(model, "Div", "fm d2", "fq");
    onnx_add_node(model, "Floor", "fq", "ff");
    onnx_add_node(model, "Relu", "ff", "y");
    onnx_add_output(model, "y");
    expect_loads(model);
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
    struct onnx_builder *model = with_input(1, 4, 4);
    onnx_add_initialiser(model, "w1", 4, SHAPE(1, 1, 1, 1), SHAPE(3));
    onnx_add_scalar(model, "two", 2);
    onnx_add_node(model, "Conv", "image w1", "a");
    onnx_add_node(model, "Relu", "a", "b");
    onnx_add_node(model, "Mul", "b two", "c");
    onnx_add_node(model, "Add", "c b", "y");
    onnx_add_output(model, "y");
    expect_loads(model);
    EXPECT_EQUAL(loaded.network->layer_count, 2);
    EXPECT_EQUAL(layer(0)->stage_count, 1);
    EXPECT_EQUAL(layer(1)->inputs[0], layer(0)->output);
    EXPECT_EQUAL(layer(1)->inputs[1], layer(0)->output);
    expect_stage(&layer(1)->input_stages[0], 0, 2, 0, 1);
    expect_stage(&layer(1)->input_stages[1], 0, 1, 0, 1);
}

static void maps_signals_to_height_1(void)
{
    struct onnx_builder *model = onnx_builder_make(13);
    onnx_add_input(model, "signal", 3, SHAPE(-1, 2, 20)); /* the batch need not be fixed */
    onnx_add_initialiser(model, "w", 3, SHAPE(1, 2, 3), SHAPE(1, 2, 3, 4, 5, 6));
    onnx_set_integers(model, onnx_add_node(model, "Pad", "signal", "padded"), "pads", 6, SHAPE(0, 0, 4, 0, 0, 0));
    onnx_node *conv = onnx_add_node(model, "Conv", "padded w", "y");
    onnx_set_integers(model, conv, "dilations", 1, SHAPE(2));
    onnx_add_output(model, "y");
    expect_loads(model);
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
    struct onnx_builder *model = with_input(1, 5, 6);
    onnx_node *pool = onnx_add_node(model, "MaxPool", "image", "y");
    onnx_set_integers(model, pool, "kernel_shape", 2, SHAPE(2, 2));
    onnx_set_integers(model, pool, "strides", 2, SHAPE(2, 2));
    onnx_set_integer(model, pool, "ceil_mode", 1);
    onnx_add_output(model, "y");
    expect_loads(model);
    EXPECT_EQUAL(output(0)->height, 3);
    EXPECT_EQUAL(output(0)->width, 3);
    EXPECT_EQUAL(layer(0)->padding_bottom, 1);
    EXPECT_EQUAL(layer(0)->padding_right, 0);
}

static void pads_automatically(void)
{
    struct onnx_builder *model = with_input(1, 5, 6);
    onnx_node *conv = add_conv(model, "image w", "y");
    onnx_set_text(model, conv, "auto_pad", "SAME_UPPER");
    onnx_set_integers(model, conv, "strides", 2, SHAPE(2, 2));
    onnx_add_output(model, "y");
    expect_loads(model);
    EXPECT_EQUAL(output(0)->height, 3);
    EXPECT_EQUAL(output(0)->width, 3);
    EXPECT_EQUAL(layer(0)->padding_top, 1);
    EXPECT_EQUAL(layer(0)->padding_bottom, 1);
    EXPECT_EQUAL(layer(0)->padding_left, 0);
    EXPECT_EQUAL(layer(0)->padding_right, 1);
}

static void ignores_nodes_that_no_output_needs(void)
{
    struct onnx_builder *model = with_input(1, 4, 4);
    add_conv(model, "image w", "y");
    onnx_add_node(model, "NonMaxSuppression", "image", "unused");
    onnx_add_output(model, "y");
    expect_loads(model);
    EXPECT_EQUAL(loaded.network->layer_count, 1);
}

/* More stages than a layer has go on in a layer that copies. */
static void continues_in_a_copying_layer(void)
{
    struct onnx_builder *model = with_input(1, 4, 4);
    add_conv(model, "image w", "t0");
    onnx_add_scalar(model, "d", 3);
    onnx_add_node(model, "Div", "t0 d", "q0");
    onnx_add_node(model, "Floor", "q0", "t1");
    onnx_add_node(model, "Div", "t1 d", "q1");
    onnx_add_node(model, "Floor", "q1", "t2");
    onnx_add_node(model, "Div", "t2 d", "q2");
    onnx_add_node(model, "Floor", "q2", "y");
    onnx_add_output(model, "y");
    expect_loads(model);
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
    struct onnx_builder *model = with_input(2, 4, 4);
    onnx_add_initialiser(model, "k", 4, SHAPE(1, 2, 1, 1), SHAPE(4, 8));
    onnx_node *pool = onnx_add_node(model, "AveragePool", "image", "mean");
    onnx_set_integers(model, pool, "kernel_shape", 2, SHAPE(2, 2));
    onnx_add_node(model, "Mul", "mean k", "scaled");
    onnx_set_float(model, onnx_add_node(model, "Clip", "scaled", "clipped"), "max", 100);
    onnx_add_node(model, "Mul", "clipped k", "y");
    onnx_add_output(model, "y");
    expect_loads(model);
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
    struct onnx_builder *model = with_input(1, 4, 4);
    onnx_set_integers(model, onnx_add_node(model, "Pad", "image", "p"), "pads", 8, SHAPE(0, 0, 1, 0, 0, 0, 0, 2));
    onnx_add_node(model, "Add", "p p", "y");
    onnx_add_output(model, "y");
    expect_loads(model);
    EXPECT_EQUAL(loaded.network->layer_count, 2);
    EXPECT_EQUAL(layer(0)->padding_top, 1);
    EXPECT_EQUAL(layer(0)->padding_right, 2);
    EXPECT_EQUAL(output(0)->height, 5);
    EXPECT_EQUAL(output(0)->width, 6);
    EXPECT_EQUAL(layer(1)->inputs[0], layer(1)->inputs[1]);
}

static void joins_channels(void)
{
    struct onnx_builder *model = with_input(3, 4, 4);
    onnx_set_integer(model, onnx_add_node(model, "Concat", "image image image", "joined"), "axis", -3);
    onnx_add_output(model, "joined");
    expect_loads(model);
    EXPECT_EQUAL(loaded.network->layer_count, 2); /* two at a time */
    EXPECT_EQUAL(layer(1)->kind, LAYER_CONCATENATION);
    EXPECT_EQUAL(layer(1)->inputs[0], layer(0)->output);
    EXPECT_EQUAL(output(1)->channels, 9);
}

/* One Conv a precision and a Concat, as PLiNIO writes weights mixed by channel; divisors differ. */
static void joins_sibling_convolutions(void)
{
    static const int64_t eight[2] = {100, -100}, two[1] = {1};
    struct onnx_builder *model = with_input(1, 4, 4);
    onnx_add_initialiser(model, "w8", 4, SHAPE(2, 1, 1, 1), eight);
    onnx_add_initialiser(model, "w2", 4, SHAPE(1, 1, 1, 1), two);
    onnx_set_integer(model, onnx_add_node(model, "Conv", "image w8", "a"), "weight_bits", 8);
    onnx_set_integer(model, onnx_add_node(model, "Conv", "image w2", "b"), "weight_bits", 2);
    onnx_add_scalar(model, "four", 4);
    onnx_add_scalar(model, "three", 3);
    onnx_add_node(model, "Div", "a four", "a4");
    onnx_add_node(model, "Floor", "a4", "af");
    onnx_add_node(model, "Div", "b three", "b3");
    onnx_add_node(model, "Floor", "b3", "bf");
    onnx_set_integer(model, onnx_add_node(model, "Concat", "af bf", "joined"), "axis", 1);
    onnx_add_output(model, "joined");
    expect_loads(model);
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
    struct onnx_builder *model = with_input(1, 4, 4);
    add_conv(model, "image w", "c");
    onnx_add_scalar(model, "four", 4);
    onnx_add_scalar(model, "half", 0.5);
    onnx_add_node(model, "Div", "c four", "d");
    onnx_add_node(model, "Add", "d half", "h");
    onnx_add_node(model, "Floor", "h", "f");
    onnx_add_output(model, "f");
    expect_loads(model);
    EXPECT_EQUAL(loaded.network->layer_count, 1);
    expect_stage(&layer(0)->stages[0], 0, 1, 2, 4);
}

static void pads_with_any_number(void)
{
    struct onnx_builder *model = with_input(1, 4, 4);
    onnx_node *pad = onnx_add_node(model, "Pad", "image", "p");
    onnx_set_integers(model, pad, "pads", 8, SHAPE(0, 0, 1, 1, 0, 0, 1, 1));
    onnx_set_float(model, pad, "value", 7);
    add_conv(model, "p w", "c");
    onnx_add_output(model, "c");
    expect_loads(model);
    EXPECT_EQUAL(loaded.network->layer_count, 1);
    EXPECT_EQUAL(layer(0)->padding_value, 7);
    EXPECT_EQUAL(layer(0)->padding_bottom, 1);
}

/* PLiNIO renames the input of the graph, but not where a MatMul reads it. */
static void mends_a_renamed_input(void)
{
    struct onnx_builder *model = with_input(1, 4, 4);
    add_conv(model, "onnx::MatMul_0 w", "c");
    onnx_add_output(model, "c");
    expect_loads(model);
    EXPECT(has_message(&loaded.diagnostics, SEVERITY_WARNING, NULL, "taken for the same tensor"), "no warning");
    EXPECT_EQUAL(loaded.network->layer_count, 1);
}

static void keeps_groups(void)
{
    struct onnx_builder *model = with_input(4, 4, 4);
    onnx_add_initialiser(model, "w", 4, SHAPE(6, 2, 1, 1), SHAPE(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
    onnx_set_integer(model, onnx_add_node(model, "Conv", "image w", "y"), "group", 2);
    onnx_add_output(model, "y");
    expect_loads(model);
    EXPECT_EQUAL(layer(0)->groups, 2);
    EXPECT_EQUAL(output(0)->channels, 6);
}

/* Dimensions of size 1 may move. */
static void transposes_in_place(void)
{
    struct onnx_builder *model = with_input(5, 1, 1);
    onnx_set_integers(model, onnx_add_node(model, "Transpose", "image", "t"), "perm", 4, SHAPE(0, 2, 3, 1));
    onnx_add_output(model, "t");
    load_built(&loaded, model);
    EXPECT_THAT(!loaded.network); /* 1x1x1x5 is no image of 5 channels any more */
    release();
    model = with_input(5, 1, 1);
    onnx_set_integers(model, onnx_add_node(model, "Transpose", "image", "t"), "perm", 4, SHAPE(0, 1, 3, 2));
    onnx_add_node(model, "Flatten", "t", "flat");
    onnx_add_initialiser(model, "w", 2, SHAPE(5, 1), SHAPE(1, 2, 3, 4, 5));
    onnx_add_node(model, "MatMul", "flat w", "y");
    onnx_add_output(model, "y");
    expect_loads(model);
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
