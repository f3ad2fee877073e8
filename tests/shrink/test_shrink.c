/* Which channels, rows and columns are left out, and that what is left computes the same. */
#include "shrink/shrink.h"

#include "check/check_channels.h"
#include "expect.h"
#include "network/channels.h"
#include "network/interpret.h"
#include "networks.h"

struct fixture {
    struct arena arena;
    struct diagnostics diagnostics;
    struct network_builder builder;
    struct network *whole, *shrunk;
};

static void start(struct fixture *f)
{
    *f = (struct fixture){0};
    f->diagnostics.arena = &f->arena;
    builder_start(&f->builder, &f->arena, 7);
}

static struct layer *layer_of(struct fixture *f, int tensor)
{
    return &f->builder.network.layers[f->builder.network.tensors[tensor].producer];
}

/* Channels of a convolution's output from `first` on: no weights, and an addend that makes them `value`. */
static void make_constant(struct fixture *f, int tensor, int first, int count, int value)
{
    struct layer *layer = layer_of(f, tensor);
    size_t kernel = (size_t)layer->kernel_height * (size_t)layer->kernel_width;
    size_t each = (size_t)(f->builder.network.tensors[layer->inputs[0]].channels / layer->groups) * kernel;
    for (int c = first; c < first + count; c++) {
        memset((int8_t *)layer->weights + (size_t)c * each, 0, each);
        ((int64_t *)layer->stages[0].addend)[c] = value * layer->stages[0].divisor;
    }
}

/* No weight for channels of the input from `first` on. */
static void make_unread(struct fixture *f, int tensor, int first, int count)
{
    struct layer *layer = layer_of(f, tensor);
    size_t kernel = (size_t)layer->kernel_height * (size_t)layer->kernel_width;
    size_t inputs = (size_t)f->builder.network.tensors[layer->inputs[0]].channels;
    for (size_t out = 0; out < (size_t)f->builder.network.tensors[tensor].channels; out++)
        memset((int8_t *)layer->weights + (out * inputs + (size_t)first) * kernel, 0, (size_t)count * kernel);
}

/* So that nothing is constant but what a test makes so. */
static void spread(struct network *network)
{
    for (int i = 0; i < network->layer_count; i++)
        for (int k = 0; k < network->layers[i].stage_count && network->layers[i].stages[0].count == 1; k++)
            *(int64_t *)network->layers[i].stages[0].addend = 0;
}

static void shrink(struct fixture *f, int output)
{
    spread(&f->builder.network);
    f->whole = (struct network *)builder_finish(&f->builder, output);
    REQUIRE(range_prove(f->whole, NULL, &f->arena, &f->diagnostics));
    f->shrunk = shrink_network(f->whole, NULL, &f->arena);
}

/* What is left gives the same as the whole network has there, by the golden model of both. */
static void expect_same(struct fixture *f)
{
    struct network alone = *f->shrunk;
    size_t count = tensor_elements(&f->whole->tensors[0]);
    int64_t *input = arena_array(&f->arena, int64_t, count);
    for (size_t i = 0; i < count; i++)
        input[i] = builder_random(&f->builder, 256);
    const int64_t *inputs[] = {input};
    int64_t **expected = channels_interpret(f->shrunk, inputs, &f->arena, &f->diagnostics);
    alone.whole = NULL;
    int64_t **actual = interpret_network(&alone, inputs, &f->arena, &f->diagnostics);
    REQUIRE(expected && actual);
    for (int i = 0; i < alone.tensor_count; i++)
        EXPECT_BYTES(actual[i], expected[i], tensor_elements(&alone.tensors[i]) * sizeof **actual);
    EXPECT_THAT(channels_check(f->shrunk, &f->diagnostics));
    EXPECT_EQUAL(f->diagnostics.error_count, 0);
}

static int left(const struct fixture *f, int tensor) { return f->shrunk->tensors[tensor].channels; }

/* A constant channel goes from its producer, from the depth-wise layer and the pool behind it, and from what reads these. */
static void test_chain(void)
{
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 8, 8, 3);
    int first = builder_convolution(&f.builder, input, 3, 1, 1, 16);
    int deep = builder_depthwise(&f.builder, first, 3, 1, 1);
    int pool = builder_pool(&f.builder, deep, LAYER_MAXIMUM_POOL, 2, 2, 0);
    int last = builder_convolution(&f.builder, pool, 1, 1, 0, 12);
    layer_of(&f, last)->stages[0].divisor = 1 << 9;
    make_constant(&f, first, 3, 8, -1); /* clipped to 0, as the border has it */
    shrink(&f, builder_fully_connected(&f.builder, last, 4));
    EXPECT_EQUAL(left(&f, input), 3);
    EXPECT_EQUAL(left(&f, first), 8);
    EXPECT_EQUAL(left(&f, deep), 8);
    EXPECT_EQUAL(left(&f, pool), 8);
    EXPECT_EQUAL(left(&f, last), 12);
    EXPECT_EQUAL(f.shrunk->layers[1].groups, 8);
    EXPECT_EQUAL(f.shrunk->tensors[deep].kept[3], 11);
    expect_same(&f);
    arena_free(&f.arena);
}

/* In front of a border that holds another value a constant channel stays; without a border it goes, whatever its value. */
static void test_border(int padding, int value, int expected)
{
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 6, 6, 5);
    int first = builder_convolution(&f.builder, input, 1, 1, 0, 12);
    make_constant(&f, first, 0, 4, value);
    int second = builder_convolution(&f.builder, first, 3, 1, padding, 6);
    shrink(&f, builder_fully_connected(&f.builder, second, 4));
    EXPECT_EQUAL(left(&f, first), expected);
    EXPECT_THAT((f.shrunk == f.whole) == (expected == 12));
    if (f.shrunk != f.whole)
        expect_same(&f);
    arena_free(&f.arena);
}

/* The classifier has no stage, and gets one for the constants. */
static void test_classifier(void)
{
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 4, 4, 5);
    int first = builder_convolution(&f.builder, input, 1, 1, 0, 12);
    make_constant(&f, first, 8, 4, 77);
    shrink(&f, builder_fully_connected(&f.builder, first, 4));
    EXPECT_EQUAL(left(&f, first), 8);
    EXPECT_EQUAL(f.shrunk->layers[1].stage_count, 1);
    expect_same(&f);
    arena_free(&f.arena);
}

/* Of an addition's three tensors a channel goes only where it is dead behind it. */
static void test_addition(bool dead_behind)
{
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 4, 4, 6);
    int a = builder_convolution(&f.builder, input, 1, 1, 0, 16), b = builder_convolution(&f.builder, input, 3, 1, 1, 16);
    int sum = builder_addition(&f.builder, a, b);
    int last = builder_convolution(&f.builder, sum, 1, 1, 0, 8);
    if (dead_behind)
        make_unread(&f, last, 4, 4);
    make_constant(&f, a, 0, 8, 3);
    shrink(&f, builder_fully_connected(&f.builder, last, 4));
    EXPECT_EQUAL(left(&f, a), dead_behind ? 12 : 16);
    EXPECT_EQUAL(left(&f, b), left(&f, a));
    EXPECT_EQUAL(left(&f, sum), left(&f, a));
    if (dead_behind)
        expect_same(&f);
    arena_free(&f.arena);
}

static void test_concatenation(void)
{
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 4, 4, 6);
    int a = builder_convolution(&f.builder, input, 1, 1, 0, 8), b = builder_convolution(&f.builder, input, 1, 1, 0, 16);
    int joined = builder_concatenation(&f.builder, a, b);
    make_constant(&f, b, 2, 8, 9);
    shrink(&f, builder_fully_connected(&f.builder, joined, 4));
    EXPECT_EQUAL(left(&f, a), 8);
    EXPECT_EQUAL(left(&f, b), 8);
    EXPECT_EQUAL(left(&f, joined), 16);
    expect_same(&f);
    arena_free(&f.arena);
}

/* Of the channels that a slice does not take, nothing is computed. */
static void test_slice(void)
{
    static int32_t rows[4] = {0, 64, 128, 192}, columns[4] = {0, 16, 32, 48}, channels[8] = {1, 2, 3, 4, 9, 10, 11, 12};
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 4, 4, 6);
    int first = builder_convolution(&f.builder, input, 3, 1, 1, 16);
    int slice = builder_pool(&f.builder, first, LAYER_MAXIMUM_POOL, 1, 1, 0);
    struct layer *layer = layer_of(&f, slice);
    layer->kind = LAYER_COPY;
    layer->stage_count = 0;
    layer->map = (struct layer_map){rows, columns, channels};
    f.builder.network.tensors[slice].channels = 8;
    shrink(&f, builder_fully_connected(&f.builder, slice, 4));
    EXPECT_EQUAL(left(&f, first), 8);
    EXPECT_EQUAL(left(&f, slice), 8);
    EXPECT_EQUAL(f.shrunk->layers[1].map.rows[2], 64);
    EXPECT_EQUAL(f.shrunk->layers[1].map.channels[4], 4);
    expect_same(&f);
    arena_free(&f.arena);
}

static int add_crop(struct fixture *f, int input, int height, int width, const int32_t *rows, const int32_t *columns)
{
    static const int32_t channels[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    int crop = builder_pool(&f->builder, input, LAYER_MAXIMUM_POOL, 1, 1, 0);
    struct layer *layer = layer_of(f, crop);
    layer->kind = LAYER_COPY;
    layer->stage_count = 0;
    layer->map = (struct layer_map){rows, columns, channels};
    f->builder.network.tensors[crop].height = height;
    f->builder.network.tensors[crop].width = width;
    return crop;
}

/* All pixels of a picture of 4 x 6, copied. */
static int add_copy(struct fixture *f, int input)
{
    static const int32_t rows[4] = {0, 96, 192, 288}, columns[6] = {0, 16, 32, 48, 64, 80};
    return add_crop(f, input, 4, 6, rows, columns);
}

/* Of a picture only its middle is read, beside a border: behind a copy layers compute these pixels alone, in front of it a
 * window that is larger than a pixel all of them. */
static void test_crop(void)
{
    static const int32_t rows[3] = {2 * 96, -1, 1 * 96}, columns[2] = {4 * 16, 3 * 16};
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 4, 6, 6);
    int first = builder_convolution(&f.builder, input, 3, 1, 1, 16);
    int copy = add_copy(&f, first);
    int second = builder_convolution(&f.builder, copy, 1, 1, 0, 16);
    int sum = builder_addition(&f.builder, second, builder_convolution(&f.builder, copy, 1, 1, 0, 16));
    int crop = add_crop(&f, sum, 3, 2, rows, columns);
    shrink(&f, builder_fully_connected(&f.builder, crop, 4));
    const struct tensor *tensors = f.shrunk->tensors;
    EXPECT_THAT(tensors[first].height == 4 && tensors[first].width == 6);
    EXPECT_THAT(tensors[second].height == 2 && tensors[second].width == 2 && tensors[sum].height == 2);
    EXPECT_THAT(tensors[second].kept_rows[0] == 1 && tensors[second].kept_rows[1] == 2);
    EXPECT_THAT(tensors[second].kept_columns[0] == 3 && tensors[second].kept_columns[1] == 4);
    EXPECT_THAT(tensors[crop].height == 3 && !tensors[crop].kept_rows);
    expect_same(&f);
    arena_free(&f.arena);
}

/* The check finds a row that is not the model's. */
static void test_wrong_row(void)
{
    static const int32_t rows[1] = {2 * 96}, columns[1] = {0};
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 4, 6, 6);
    int first = add_copy(&f, builder_convolution(&f.builder, input, 3, 1, 1, 16));
    int second = builder_convolution(&f.builder, first, 1, 1, 0, 16);
    int third = builder_convolution(&f.builder, second, 1, 1, 0, 16);
    shrink(&f, builder_fully_connected(&f.builder, add_crop(&f, third, 1, 1, rows, columns), 4));
    REQUIRE(f.shrunk->tensors[second].kept_rows && f.shrunk->tensors[second].kept_rows[0] == 2);
    expect_same(&f);
    *(int *)f.shrunk->tensors[second].kept_rows = 1;
    EXPECT_THAT(!channels_check(f.shrunk, &f.diagnostics));
    arena_free(&f.arena);
}

/* Outputs of the network keep their channels, and a network that is all constant keeps a word of each pixel. */
static void test_ends(void)
{
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 4, 4, 6);
    int first = builder_convolution(&f.builder, input, 1, 1, 0, 16);
    int last = builder_convolution(&f.builder, first, 1, 1, 0, 8);
    make_constant(&f, first, 0, 16, 5);
    make_constant(&f, last, 0, 4, 5);
    shrink(&f, last);
    EXPECT_EQUAL(left(&f, first), 4);
    EXPECT_EQUAL(left(&f, last), 8);
    expect_same(&f);
    arena_free(&f.arena);
}

int main(void)
{
    test_chain();
    test_border(1, 5, 12);
    test_border(1, 0, 8);
    test_border(0, 5, 8);
    test_classifier();
    test_addition(false);
    test_addition(true);
    test_concatenation();
    test_slice();
    test_crop();
    test_wrong_row();
    test_ends();
    return expect_result("dead channels");
}
