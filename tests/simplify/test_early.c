/* Slices and gathers come in front of the layers that compute what they read, and the network stays the same. */
#include "check/check_values.h"
#include "expect.h"
#include "network/interpret.h"
#include "networks.h"
#include "simplify/tidy.h"

struct fixture {
    struct arena arena;
    struct diagnostics diagnostics;
    struct network_builder builder;
    struct network *network, *moved;
};

static void start(struct fixture *f)
{
    *f = (struct fixture){0};
    f->diagnostics.arena = &f->arena;
    builder_start(&f->builder, &f->arena, 11);
    f->builder.network.outputs = arena_array(&f->arena, int, 2);
}

static const struct tensor *tensor_of(const struct fixture *f, int tensor) { return &f->builder.network.tensors[tensor]; }

static int32_t *steps(struct fixture *f, int count, int step, int first)
{
    int32_t *list = arena_array(&f->arena, int32_t, (size_t)count);
    for (int i = 0; i < count; i++)
        list[i] = (first + i) * step;
    return list;
}

static int add_copy(struct fixture *f, int input, int height, int width, int channels)
{
    int output = builder_pool(&f->builder, input, LAYER_MAXIMUM_POOL, 1, 1, 0);
    struct tensor *tensor = &f->builder.network.tensors[output];
    struct layer *layer = &f->builder.network.layers[tensor->producer];
    layer->kind = LAYER_COPY;
    layer->stage_count = 0;
    tensor->height = height;
    tensor->width = width;
    tensor->channels = channels;
    return output;
}

/* Rows, columns and channels from some of each on. */
static int add_slice(struct fixture *f, int input, const int first[3], const int counts[3])
{
    const struct tensor *from = tensor_of(f, input);
    const int width = from->width, channels = from->channels;
    int output = add_copy(f, input, counts[0], counts[1], counts[2]);
    f->builder.network.layers[tensor_of(f, output)->producer].map =
        (struct layer_map){steps(f, counts[0], width * channels, first[0]), steps(f, counts[1], channels, first[1]),
                           steps(f, counts[2], 1, first[2])};
    return output;
}

/* One channel of an image as channels of one pixel. */
static int add_turned_slice(struct fixture *f, int input, int channel)
{
    const struct tensor *from = tensor_of(f, input);
    const int pixels = from->height * from->width, channels = from->channels;
    int output = add_copy(f, input, 1, 1, pixels);
    f->builder.network.layers[tensor_of(f, output)->producer].map =
        (struct layer_map){steps(f, 1, 1, channel), steps(f, 1, 1, 0), steps(f, pixels, channels, 0)};
    return output;
}

static void move(struct fixture *f, int output)
{
    f->builder.network.outputs[f->builder.network.output_count++] = output;
    f->network = &f->builder.network;
    f->moved = network_take_early(f->network, false, &f->arena);
}

static int64_t **compute(struct fixture *f, const struct network *network, const int64_t *input)
{
    const int64_t *inputs[] = {input};
    int64_t **tensors = interpret_network(network, inputs, &f->arena, &f->diagnostics);
    REQUIRE(tensors);
    return tensors;
}

static uint64_t macs_of(const struct network *network)
{
    uint64_t macs = 0;
    for (int i = 0; i < network->layer_count; i++)
        macs += layer_macs(network, &network->layers[i]);
    return macs;
}

/* The same outputs by the golden model, and by the check; `macs` are left. */
static void expect_moved(struct fixture *f, uint64_t macs)
{
    size_t count = tensor_elements(&f->network->tensors[f->network->inputs[0]]);
    int64_t *input = arena_array(&f->arena, int64_t, count);
    for (size_t i = 0; i < count; i++)
        input[i] = builder_random(&f->builder, 256);
    REQUIRE(f->moved != f->network && f->moved->imported == f->network);
    int64_t **expected = compute(f, f->network, input), **actual = compute(f, f->moved, input);
    for (int i = 0; i < f->network->output_count; i++)
        EXPECT_BYTES(actual[f->moved->outputs[i]], expected[f->network->outputs[i]],
                     tensor_elements(&f->network->tensors[f->network->outputs[i]]) * sizeof **actual);
    EXPECT_THAT(values_check(f->moved, &f->diagnostics));
    EXPECT_EQUAL(macs_of(f->moved), macs);
}

static int convolve(struct fixture *f, int input, int channels)
{
    return builder_convolution(&f->builder, input, 1, 1, 0, channels);
}

/* Two convolutions, an addition between them, of which a row of two pixels is read: up to the window of 3x3,
 * whose few pixels would not pay for a copy more. */
static void test_pixels(void)
{
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 6, 8, 4);
    int window = builder_convolution(&f.builder, input, 3, 1, 1, 8);
    int first = convolve(&f, window, 8), sum = builder_addition(&f.builder, first, window);
    int last = builder_convolution(&f.builder, sum, 1, 2, 0, 12);
    move(&f, add_slice(&f, last, (const int[]){1, 1, 0}, (const int[]){1, 2, 12}));
    expect_moved(&f, 6 * 8 * 8 * 36 + 2 * (8 * 8 + 8 * 12));
    arena_free(&f.arena);
}

/* Windows with a border, a stride and a dilation in front of a crop compute the lines that are read, each in front of the
 * other with more of them: of the pool 2x3, of the strided convolution 3x4 with a border on the left, of the first one 6x8.
 */
static void test_windows(void)
{
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 16, 18, 4);
    int first = builder_convolution(&f.builder, input, 3, 1, 1, 8),
        second = builder_convolution(&f.builder, first, 3, 2, 1, 8);
    int pool = builder_pool(&f.builder, second, LAYER_MAXIMUM_POOL, 2, 1, 0);
    move(&f, add_slice(&f, pool, (const int[]){2, 0, 0}, (const int[]){2, 3, 8}));
    expect_moved(&f, 7 * 8 * 8 * 36 + 3 * 4 * 8 * 72);
    EXPECT_EQUAL(f.moved->layer_count, 4);
    EXPECT_EQUAL(f.moved->layers[2].padding_left, 1);
    EXPECT_EQUAL(f.moved->layers[2].padding_top, 0);
    f.moved->layers[2].padding_left = 0; /* another crop, which the check finds */
    EXPECT_THAT(!values_check(f.moved, &f.diagnostics));
    arena_free(&f.arena);
}

/* Of a window whose part is about all of it nothing is copied for the few pixels that are not read. */
static void test_large_window(void)
{
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 16, 16, 64);
    int first = builder_convolution(&f.builder, input, 3, 1, 1, 1);
    move(&f, add_slice(&f, first, (const int[]){0, 0, 0}, (const int[]){14, 16, 1}));
    EXPECT_THAT(f.moved == f.network);
    arena_free(&f.arena);
}

/* A gather that also turns what it reads, behind an addition in the turned order. */
static void test_turned(void)
{
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 20, 30, 16);
    int first = convolve(&f, input, 16), sum = builder_addition(&f.builder, first, input);
    move(&f, builder_fully_connected(&f.builder, add_turned_slice(&f, sum, 5), 4));
    expect_moved(&f, 600 * 16 * 16 + 600 * 4); /* of one channel a convolution needs all of the input's */
    EXPECT_EQUAL(f.moved->layers[f.moved->layer_count - 2].kind, LAYER_ADDITION);
    EXPECT_EQUAL(f.moved->tensors[f.moved->layers[f.moved->layer_count - 2].output].channels, 600);
    arena_free(&f.arena);
}

/* One convolution for query and key: of the query one pixel is read. */
static void test_siblings(void)
{
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 8, 8, 16);
    int both = convolve(&f, input, 32);
    int query = convolve(&f, add_slice(&f, both, (const int[]){7, 7, 0}, (const int[]){1, 1, 16}), 8);
    int key = add_slice(&f, both, (const int[]){0, 0, 16}, (const int[]){8, 8, 16});
    f.builder.network.outputs[f.builder.network.output_count++] = query;
    move(&f, key);
    expect_moved(&f, 64 * 16 * 16 + 16 * 16 + 16 * 8);
    arena_free(&f.arena);
}

/* Two convolutions of 3x3 on one input, of `first` and `second` channels, for different readers. */
static void make_heads(struct fixture *f, int first, int second)
{
    start(f);
    int input = builder_input(&f->builder, 16, 16, 16);
    int heads[] = {builder_convolution(&f->builder, input, 3, 1, 1, first),
                   builder_convolution(&f->builder, input, 3, 1, 1, second)};
    f->builder.network.layers[1].stages[0].divisor = f->builder.network.layers[0].stages[0].divisor;
    f->builder.network.outputs[f->builder.network.output_count++] = convolve(f, heads[0], 4);
    move(f, heads[1]);
}

/* Heads of 6 and 2 channels take three fours apart and two as one layer, those of 8 and 8 as many. */
static void test_heads(void)
{
    struct fixture f;
    make_heads(&f, 6, 2);
    expect_moved(&f, 256 * (8 * 144 + 6 * 4));
    EXPECT_EQUAL(f.moved->layer_count, 4);
    ((int8_t *)f.moved->layers[0].weights)[7 * 144]++;
    EXPECT_THAT(!values_check(f.moved, &f.diagnostics));
    arena_free(&f.arena);
    make_heads(&f, 8, 8);
    EXPECT_THAT(f.moved == f.network);
    arena_free(&f.arena);
}

/* One convolution for three that read some of its channels of all pixels: none of the copies is left. */
static void test_slices(void)
{
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 8, 8, 16);
    int all = convolve(&f, input, 48), result = input;
    for (int i = 0; i < 3; i++) {
        int slice = add_slice(&f, all, (const int[]){0, 0, 16 * i}, (const int[]){8, 8, 16});
        result = builder_addition(&f.builder, convolve(&f, slice, 16), result);
    }
    move(&f, result);
    expect_moved(&f, 64 * 16 * 48 + 3 * 64 * 16 * 16);
    for (int i = 0; i < f.moved->layer_count; i++)
        EXPECT_THAT(f.moved->layers[i].kind != LAYER_COPY);
    arena_free(&f.arena);
}

/* What is read by others, too, or is larger than half, stays. */
static void test_stays(void)
{
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 4, 4, 8);
    int first = convolve(&f, input, 8);
    int slice = add_slice(&f, first, (const int[]){0, 0, 0}, (const int[]){3, 4, 8});
    move(&f, builder_fully_connected(&f.builder, slice, 4));
    EXPECT_THAT(f.moved == f.network && !f.moved->imported);
    arena_free(&f.arena);
}

/* The check finds another weight, another pixel, another bound. */
static void test_check(void)
{
    struct fixture f;
    start(&f);
    int input = builder_input(&f.builder, 8, 8, 8);
    move(&f, add_slice(&f, convolve(&f, input, 8), (const int[]){1, 0, 0}, (const int[]){2, 4, 8}));
    expect_moved(&f, 8 * 8 * 8);
    struct layer *copy = &f.moved->layers[0], *layer = &f.moved->layers[1];
    REQUIRE(copy->kind == LAYER_COPY && layer->kind == LAYER_CONVOLUTION);
    ((int8_t *)layer->weights)[9]++; /* of both networks, which share it */
    EXPECT_THAT(values_check(f.moved, &f.diagnostics));
    layer->weights = arena_copy(&f.arena, layer->weights, 64);
    ((int8_t *)layer->weights)[9]++;
    EXPECT_THAT(!values_check(f.moved, &f.diagnostics));
    ((int8_t *)layer->weights)[9]--;
    layer->stages[0].maximum--;
    EXPECT_THAT(!values_check(f.moved, &f.diagnostics));
    layer->stages[0].maximum++;
    ((int32_t *)copy->map.columns)[3] += 8;
    EXPECT_THAT(!values_check(f.moved, &f.diagnostics));
    ((int32_t *)copy->map.columns)[3] -= 8;
    EXPECT_THAT(values_check(f.moved, &f.diagnostics));
    EXPECT_EQUAL(f.diagnostics.error_count, 3);
    arena_free(&f.arena);
}

int main(void)
{
    test_pixels();
    test_windows();
    test_large_window();
    test_turned();
    test_siblings();
    test_heads();
    test_slices();
    test_stays();
    test_check();
    return expect_result("slices and gathers");
}
