/* The golden model itself, against sums that are written out another way. */
#include <stdlib.h>

#include "expect.h"
#include "network/interpret.h"

static uint64_t random_state = 1;

static int64_t pick(int64_t low, int64_t high) /* both included */
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return low + (int64_t)(random_state % (uint64_t)(high - low + 1));
}

/* ---- stages ---- */

static int64_t staged(int64_t k, int64_t lambda, int64_t divisor, int64_t x)
{
    const struct stage stage = {.count = 1, .multiplier = &k, .addend = &lambda, .divisor = divisor};
    int64_t y = 0;
    EXPECT_THAT(interpret_stage(&stage, 0, x, &y));
    return y;
}

static void division_rounds_down(void)
{
    EXPECT_EQUAL(staged(1, 0, 4, -1), -1);
    EXPECT_EQUAL(staged(1, 0, 4, -4), -1);
    EXPECT_EQUAL(staged(1, 0, 4, -5), -2);
    EXPECT_EQUAL(staged(1, 0, 4, 7), 1);
    EXPECT_EQUAL(staged(1, 0, 255, -1), -1);
    EXPECT_EQUAL(staged(1, 0, 255, -255), -1);
    EXPECT_EQUAL(staged(1, 0, 255, -256), -2);
    EXPECT_EQUAL(staged(-3, 1, 7, 5), -2);
}

static void products_may_exceed_64_bits(void)
{
    const int64_t k = INT64_C(1) << 40, lambda = 5, large = INT64_C(1) << 40;
    struct stage stage = {.count = 1, .multiplier = &k, .addend = &lambda, .divisor = INT64_C(1) << 60};
    int64_t y;
    EXPECT_EQUAL(staged(k, lambda, INT64_C(1) << 60, large), 1 << 20);
    EXPECT_EQUAL(staged(k, lambda, INT64_C(1) << 60, -large), -(1 << 20));
    EXPECT_EQUAL(staged(k, -lambda, INT64_C(1) << 60, -large), -(1 << 20) - 1);
    stage.divisor = 1;
    EXPECT_THAT(!(interpret_stage(&stage, 0, large, &y))); /* 2^80 */
    stage.has_clip = true;
    stage.maximum = 255;
    EXPECT_THAT(interpret_stage(&stage, 0, large, &y));
    EXPECT_EQUAL(y, 255);
}

/* ---- layers ---- */

struct one_layer {
    struct arena arena;
    struct diagnostics diagnostics;
    struct tensor tensors[2];
    struct layer layer;
    struct network network;
    int64_t *values[2];
};

static void complete(struct one_layer *one)
{
    one->diagnostics.arena = &one->arena;
    one->network = (struct network){.tensors = one->tensors, .tensor_count = 2, .layers = &one->layer, .layer_count = 1};
    one->layer.inputs[1] = -1;
    one->layer.output = 1;
    one->layer.name = "layer";
    for (int i = 0; i < 2; i++)
        one->values[i] = arena_array(&one->arena, int64_t, tensor_elements(&one->tensors[i]));
}

static int outputs_of(int input, int kernel, int stride, int dilation, int before, int after)
{
    return (input + before + after - (kernel - 1) * dilation - 1) / stride + 1;
}

static void choose_window(struct one_layer *one, bool may_dilate)
{
    struct layer *layer = &one->layer;
    struct tensor *input = &one->tensors[0], *output = &one->tensors[1];
    layer->kernel_height = (int)pick(1, 4);
    layer->kernel_width = (int)pick(1, 4);
    layer->stride_height = (int)pick(1, 3);
    layer->stride_width = (int)pick(1, 3);
    layer->dilation_height = may_dilate ? (int)pick(1, 2) : 1;
    layer->dilation_width = may_dilate ? (int)pick(1, 2) : 1;
    layer->padding_top = (int)pick(0, layer->kernel_height - 1);
    layer->padding_left = (int)pick(0, layer->kernel_width - 1);
    layer->padding_bottom = (int)pick(0, layer->kernel_height - 1);
    layer->padding_right = (int)pick(0, layer->kernel_width - 1);
    input->height = (int)pick(7, 11);
    input->width = (int)pick(7, 11);
    output->height = outputs_of(input->height, layer->kernel_height, layer->stride_height, layer->dilation_height,
                                layer->padding_top, layer->padding_bottom);
    output->width = outputs_of(input->width, layer->kernel_width, layer->stride_width, layer->dilation_width,
                               layer->padding_left, layer->padding_right);
}

/* Scatters: every input element to all outputs that it contributes to. */
static void scatter_convolution(const struct one_layer *one, int64_t *y)
{
    const struct layer *l = &one->layer;
    const struct tensor *in = &one->tensors[0], *out = &one->tensors[1];
    int channels_in = in->channels / l->groups, channels_out = out->channels / l->groups;
    for (int row = 0; row < in->height; row++)
        for (int column = 0; column < in->width; column++)
            for (int c = 0; c < in->channels; c++)
                for (int ky = 0; ky < l->kernel_height; ky++)
                    for (int kx = 0; kx < l->kernel_width; kx++) {
                        int top = row + l->padding_top - ky * l->dilation_height,
                            left = column + l->padding_left - kx * l->dilation_width;
                        if (top < 0 || left < 0 || top % l->stride_height || left % l->stride_width ||
                            top / l->stride_height >= out->height || left / l->stride_width >= out->width)
                            continue;
                        int pixel = top / l->stride_height * out->width + left / l->stride_width;
                        for (int o = 0; o < channels_out; o++) {
                            int channel = c / channels_in * channels_out + o;
                            int tap =
                                ((channel * channels_in + c % channels_in) * l->kernel_height + ky) * l->kernel_width + kx;
                            y[pixel * out->channels + channel] +=
                                l->weights[tap] * one->values[0][(row * in->width + column) * in->channels + c];
                        }
                    }
}

static void check_convolution(int64_t largest_input)
{
    struct one_layer one = {.layer = {.kind = LAYER_CONVOLUTION}};
    static const struct {
        int groups, in, out;
    } forms[] = {{1, 5, 3}, {1, 1, 1}, {6, 6, 6}, {2, 4, 6}, {1, 17, 4}};
    int form = (int)pick(0, 4);
    one.layer.groups = forms[form].groups;
    one.tensors[0].channels = forms[form].in;
    one.tensors[1].channels = forms[form].out;
    choose_window(&one, true);
    complete(&one);
    size_t count =
        (size_t)(one.layer.kernel_height * one.layer.kernel_width * forms[form].in / forms[form].groups * forms[form].out);
    int8_t *weights = arena_allocate(&one.arena, count);
    for (size_t i = 0; i < count; i++)
        weights[i] = (int8_t)pick(-128, 127);
    one.layer.weights = weights;
    for (size_t i = 0; i < tensor_elements(&one.tensors[0]); i++)
        one.values[0][i] = pick(-largest_input, largest_input);
    int64_t *expected = arena_array(&one.arena, int64_t, tensor_elements(&one.tensors[1]));
    scatter_convolution(&one, expected);
    EXPECT_THAT(interpret_layer(&one.network, 0, one.values, &one.diagnostics));
    EXPECT_BYTES(one.values[1], expected, tensor_elements(&one.tensors[1]) * sizeof *expected);
    arena_free(&one.arena);
}

static void convolutions_are_right(void)
{
    for (int i = 0; i < 200; i++) {
        check_convolution(255);              /* 32 bits suffice */
        check_convolution(INT64_C(1) << 40); /* they do not */
    }
}

static int64_t pooled(const struct one_layer *one, int row, int column, int channel)
{
    const struct layer *l = &one->layer;
    const struct tensor *in = &one->tensors[0];
    int64_t sum = 0, most = INT64_MIN;
    for (int ky = 0; ky < l->kernel_height; ky++)
        for (int kx = 0; kx < l->kernel_width; kx++) {
            int y = row * l->stride_height - l->padding_top + ky * l->dilation_height;
            int x = column * l->stride_width - l->padding_left + kx * l->dilation_width;
            if (y < 0 || x < 0 || y >= in->height || x >= in->width)
                continue;
            int64_t value = one->values[0][(y * in->width + x) * in->channels + channel];
            sum += value;
            most = value > most ? value : most;
        }
    return l->kind == LAYER_AVERAGE_POOL ? sum : most;
}

static void pools_are_right(void)
{
    for (int i = 0; i < 200; i++) {
        struct one_layer one = {.layer = {.kind = i % 2 ? LAYER_AVERAGE_POOL : LAYER_MAXIMUM_POOL, .groups = 1}};
        one.tensors[0].channels = one.tensors[1].channels = (int)pick(1, 4);
        choose_window(&one, i % 2);
        complete(&one);
        for (size_t k = 0; k < tensor_elements(&one.tensors[0]); k++)
            one.values[0][k] = pick(-128, 127);
        EXPECT_THAT(interpret_layer(&one.network, 0, one.values, &one.diagnostics));
        const struct tensor *out = &one.tensors[1];
        for (size_t k = 0; k < tensor_elements(out); k++) {
            int channel = (int)k % out->channels, pixel = (int)k / out->channels;
            EXPECT_EQUAL(one.values[1][k], pooled(&one, pixel / out->width, pixel % out->width, channel));
        }
        arena_free(&one.arena);
    }
}

static void overflow_is_reported(void)
{
    struct one_layer one = {.layer = {.kind = LAYER_AVERAGE_POOL, .groups = 1}};
    one.tensors[0].channels = one.tensors[1].channels = 1;
    choose_window(&one, false);
    one.layer.kernel_height = 2;
    complete(&one);
    for (size_t i = 0; i < tensor_elements(&one.tensors[0]); i++)
        one.values[0][i] = INT64_MAX;
    EXPECT_THAT(!(interpret_layer(&one.network, 0, one.values, &one.diagnostics)));
    EXPECT_EQUAL(one.diagnostics.error_count, 1);
    arena_free(&one.arena);
}

int main(void)
{
    static const struct test tests[] = {
        TEST(division_rounds_down), TEST(products_may_exceed_64_bits), TEST(convolutions_are_right),
        TEST(pools_are_right),      TEST(overflow_is_reported),
    };
    return RUN_TESTS("interpret", tests, NULL);
}
