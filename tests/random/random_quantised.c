#include "random_quantised.h"

#include <math.h>
#include <string.h>

#include "middle/norms.h"

#define MAXIMUM_TENSORS 16

struct maker {
    struct random *random;
    struct arena *arena;
    struct quantised_builder builder;
    int tensors[MAXIMUM_TENSORS], count; /* that a layer may read */
    bool has_no_signs;
};

static int between(struct maker *m, int least, int most) { return (int)random_between(m->random, least, most); }

static const struct tensor *tensor_of(const struct maker *m, int index) { return &m->builder.network->tensors[index]; }

/* ---- tensors ---- */

/* A float32 between 2^-9 and 2^-1; now and then a power of two, whose quotients have exact halves. */
static double random_scale(struct maker *m)
{
    double power = ldexp(1, -between(m, 2, 8));
    return random_chance(m->random, 25) ? power : (double)(float)(power * (1 + between(m, 0, 999) / 1000.0));
}

static int make_tensor(struct maker *m, int height, int width, int channels, double scale)
{
    bool is_signed = !m->has_no_signs && random_chance(m->random, 50);
    int edge = random_chance(m->random, 50) ? 0 : between(m, 0, 255); /* 0: as behind a ReLU */
    struct quantisation quantisation = {.scale = scale, .zero_point = edge - (is_signed ? 128 : 0), .is_signed = is_signed};
    const char *name = arena_format(m->arena, "tensor%d", m->builder.network->tensor_count);
    return quantised_tensor(&m->builder, name, height, width, channels, &quantisation);
}

static struct layer *make_layer(struct maker *m, enum layer_kind kind, const char *word, int input, int output)
{
    const char *name = arena_format(m->arena, "%s%d", word, m->builder.network->layer_count);
    return quantised_layer(&m->builder, kind, name, input, output);
}

/* ---- windows ---- */

struct window {
    int kernel[2], stride[2], dilation[2], before[2], after[2], output[2]; /* height, width */
};

static struct window random_window(struct maker *m, const struct tensor *x, int most_kernel)
{
    struct window w;
    const int size[2] = {x->height, x->width};
    int square = between(m, 1, most_kernel), stride = between(m, 1, 2);
    for (int i = 0; i < 2; i++) {
        w.kernel[i] = random_chance(m->random, 80) ? square : between(m, 1, most_kernel);
        w.stride[i] = random_chance(m->random, 85) ? stride : between(m, 1, 3);
        w.dilation[i] = random_chance(m->random, 90) ? 1 : 2;
        int reach = (w.kernel[i] - 1) * w.dilation[i] + 1, pad = reach / 2;
        w.before[i] = random_chance(m->random, 60) ? pad : between(m, 0, reach - 1);
        w.after[i] = random_chance(m->random, 60) ? pad : between(m, 0, reach - 1);
        if (size[i] + w.before[i] + w.after[i] < reach)
            w.after[i] = reach - size[i] - w.before[i];
        w.output[i] = (size[i] + w.before[i] + w.after[i] - reach) / w.stride[i] + 1;
    }
    return w;
}

static struct window no_window(const struct tensor *x)
{
    return (struct window){{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {x->height, x->width}};
}

static void set_window(struct layer *layer, const struct window *w)
{
    layer->kernel_height = w->kernel[0], layer->kernel_width = w->kernel[1];
    layer->stride_height = w->stride[0], layer->stride_width = w->stride[1];
    layer->dilation_height = w->dilation[0], layer->dilation_width = w->dilation[1];
    layer->padding_top = w->before[0], layer->padding_left = w->before[1];
    layer->padding_bottom = w->after[0], layer->padding_right = w->after[1];
}

/* ---- layers ---- */

/* Weights and biases of a usual network, dead channels among them; scales so that sums span the output. */
static void finish_convolution(struct maker *m, struct layer *layer)
{
    const struct tensor *x = tensor_of(m, layer->inputs[0]), *y = tensor_of(m, layer->output);
    size_t taps = (size_t)layer->kernel_height * (size_t)layer->kernel_width * (size_t)(x->channels / layer->groups);
    int8_t *weights = arena_array(m->arena, int8_t, taps * (size_t)y->channels);
    int32_t *biases = arena_array(m->arena, int32_t, (size_t)y->channels);
    double *scales = arena_array(m->arena, double, (size_t)y->channels);
    bool per_channel = random_chance(m->random, 70);
    double usual = 128 * y->scale / (x->scale * 60 * 70 * sqrt((double)taps));
    for (int c = 0; c < y->channels; c++) {
        bool is_dead = random_chance(m->random, 5);
        for (size_t i = 0; i < taps; i++)
            weights[(size_t)c * taps + i] = (int8_t)(is_dead ? 0 : between(m, -127, 127));
        biases[c] = (int32_t)random_between(m->random, -20000, 20000);
        scales[c] = (double)(float)(usual * (0.5 + between(m, 0, 200) / 100.0) * (is_dead ? 1e-6 : 1));
        if (random_chance(m->random, 10))
            scales[c] = ldexp(1, (int)floor(log2(scales[c])));
    }
    struct quantised_weights quantised = {
        .weights = weights, .scales = scales, .scale_count = per_channel ? y->channels : 1, .biases = biases};
    quantised_finish_convolution(&m->builder, layer, &quantised);
    if (random_chance(m->random, 40))
        quantised_clip(&layer->stages[0], y, 0, random_chance(m->random, 50) ? 6 : INFINITY);
}

enum shape { ANY, POINTWISE, DEPTHWISE, GROUPED, LINEAR, ONE_CHANNEL };

static int add_convolution(struct maker *m, int input, enum shape shape)
{
    struct tensor x = *tensor_of(m, input);
    struct window w = shape == POINTWISE || shape == ONE_CHANNEL ? no_window(&x) : random_window(m, &x, 5);
    int channels = shape == ONE_CHANNEL ? 1 : between(m, 1, 40), groups = 1;
    if (shape == LINEAR)
        w = (struct window){{x.height, x.width}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}};
    if (shape == DEPTHWISE || shape == GROUPED) {
        groups = x.channels;
        channels = shape == DEPTHWISE ? x.channels : 2 * x.channels;
    }
    int output = make_tensor(m, w.output[0], w.output[1], channels, random_scale(m));
    struct layer *layer = make_layer(m, LAYER_CONVOLUTION, "convolution", input, output);
    set_window(layer, &w);
    layer->groups = groups;
    finish_convolution(m, layer);
    return output;
}

static int add_pool(struct maker *m, int input, bool maximum)
{
    struct tensor x = *tensor_of(m, input);
    struct window w = random_window(m, &x, 4);
    for (int i = 0; i < 2 && !maximum; i++) { /* averages without a border */
        w.dilation[i] = 1;
        w.before[i] = w.after[i] = 0;
        w.kernel[i] = w.kernel[i] < (i ? x.width : x.height) ? w.kernel[i] : (i ? x.width : x.height);
        w.output[i] = ((i ? x.width : x.height) - w.kernel[i]) / w.stride[i] + 1;
    }
    for (int i = 0; i < 2 && maximum; i++) /* no window of nothing but border */
        w.before[i] = w.after[i] = 0, w.dilation[i] = 1, w.kernel[i] = 1 + (w.kernel[i] > 1 && (i ? x.width : x.height) > 1),
        w.output[i] = ((i ? x.width : x.height) - w.kernel[i]) / w.stride[i] + 1;
    bool keeps = maximum || m->builder.rounding == ROUND_TWICE;
    int output = make_tensor(m, w.output[0], w.output[1], x.channels, keeps ? x.scale : random_scale(m));
    struct tensor *y = &m->builder.network->tensors[output];
    if (keeps)
        y->zero_point = x.zero_point, y->model_offset = x.model_offset;
    struct layer *layer = make_layer(m, maximum ? LAYER_MAXIMUM_POOL : LAYER_AVERAGE_POOL, "pool", input, output);
    set_window(layer, &w);
    if (maximum)
        return output;
    int64_t count = (int64_t)w.kernel[0] * w.kernel[1];
    layer->stages[0] = quantised_stage(&m->builder, 1, y);
    layer->stage_count = 1;
    quantised_set_channel(&m->builder, &layer->stages[0], 0, -count * x.zero_point,
                          (struct real_factor){{x.scale, 1}, y->scale, count});
    if (keeps) { /* TensorFlow Lite Micro's, of the model's own integers */
        int64_t *addend = arena_array(m->arena, int64_t, 1), *one = arena_array(m->arena, int64_t, 1);
        *addend = count * x.model_offset;
        *one = 1;
        layer->stages[0] = (struct stage){.count = 1,
                                          .rounding = ROUND_HALF_AWAY,
                                          .multiplier = one,
                                          .addend = addend,
                                          .divisor = count,
                                          .zero_point = -x.model_offset,
                                          .has_clip = true,
                                          .maximum = 255};
    }
    return output;
}

static int add_table(struct maker *m, int input)
{
    struct tensor x = *tensor_of(m, input);
    uint8_t *table = arena_array(m->arena, uint8_t, 256);
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)between(m, 0, 255);
    int output = make_tensor(m, x.height, x.width, x.channels, random_scale(m));
    quantised_table(&m->builder, arena_format(m->arena, "table%d", m->builder.network->layer_count), input, output, table);
    return output;
}

/* The exact sum of both inputs in units of a power of two, rounded to the output's scale. */
static int add_addition(struct maker *m, int a, int b)
{
    struct tensor inputs[2] = {*tensor_of(m, a), *tensor_of(m, b)};
    int output = make_tensor(m, inputs[0].height, inputs[0].width, inputs[0].channels, random_scale(m));
    struct tensor *y = &m->builder.network->tensors[output];
    struct layer *layer = make_layer(m, LAYER_ADDITION, "addition", a, output);
    layer->inputs[1] = b;
    for (int i = 0; i < 2; i++) {
        int64_t *multiplier = arena_array(m->arena, int64_t, 1), *addend = arena_array(m->arena, int64_t, 1);
        *multiplier = (int64_t)ldexp(inputs[i].scale, 32);
        *addend = -*multiplier * inputs[i].zero_point;
        layer->input_stages[i] = (struct stage){.count = 1, .multiplier = multiplier, .addend = addend, .divisor = 1};
    }
    layer->stages[0] = quantised_stage(&m->builder, 1, y);
    layer->stages[0].rounding = ROUND_HALF_EVEN;
    enum rounding rounding = m->builder.rounding;
    m->builder.rounding = ROUND_HALF_EVEN;
    quantised_set_channel(&m->builder, &layer->stages[0], 0, 0, (struct real_factor){{ldexp(1, -32), 1}, y->scale, 1});
    m->builder.rounding = rounding;
    layer->stage_count = 1;
    return output;
}

/* ---- multiplications ---- */

static int64_t *one_number(struct maker *m, int64_t number)
{
    int64_t *place = arena_array(m->arena, int64_t, 1);
    *place = number;
    return place;
}

/* With a stage of the network's rounding, from units of `unit`. */
static void finish_scalar(struct maker *m, struct layer *layer, double unit, int64_t count)
{
    const struct tensor *y = tensor_of(m, layer->output);
    layer->stages[0] = quantised_stage(&m->builder, 1, y);
    layer->stage_count = 1;
    quantised_set_channel(&m->builder, &layer->stages[0], 0, 0, (struct real_factor){{unit, 1}, y->scale, count});
}

/* Of two tensors, or of a tensor and one pixel, which is a maximum over all of it, as squeeze and excitation have it. */
static int add_multiplication(struct maker *m, int a, int b)
{
    struct tensor inputs[2] = {*tensor_of(m, a), *tensor_of(m, b)};
    double span = inputs[0].scale * inputs[1].scale * 128; /* so that products reach most of the output */
    int output = make_tensor(m, inputs[0].height, inputs[0].width, inputs[0].channels,
                             random_chance(m->random, 30) ? ldexp(1, (int)floor(log2(span))) : (double)(float)span);
    struct layer *layer = make_layer(m, LAYER_MULTIPLICATION, "multiplication", a, output);
    layer->inputs[1] = b;
    for (int i = 0; i < 2; i++)
        layer->input_stages[i] = (struct stage){
            .count = 1, .multiplier = one_number(m, 1), .addend = one_number(m, -inputs[i].zero_point), .divisor = 1};
    finish_scalar(m, layer, inputs[0].scale * inputs[1].scale, 1);
    return output;
}

static int add_whole_maximum(struct maker *m, int input)
{
    struct tensor x = *tensor_of(m, input);
    struct window w = {{x.height, x.width}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}};
    int output = make_tensor(m, 1, 1, x.channels, x.scale);
    struct tensor *y = &m->builder.network->tensors[output];
    y->zero_point = x.zero_point, y->model_offset = x.model_offset;
    set_window(make_layer(m, LAYER_MAXIMUM_POOL, "pool", input, output), &w);
    return output;
}

/* What is repeated: one pixel, one channel, or one element. */
static int add_repeated(struct maker *m, int input)
{
    int which = between(m, 0, 2), pixel = which != 1 ? add_whole_maximum(m, input) : input;
    return which ? add_convolution(m, pixel, ONE_CHANNEL) : pixel;
}

/* ---- softmax and interpolation, of ONNX ---- */

static int add_softmax(struct maker *m, int input)
{
    struct tensor x = *tensor_of(m, input);
    int output = make_tensor(m, x.height, x.width, x.channels, random_chance(m->random, 50) ? 1.0 / 256 : random_scale(m));
    struct layer *layer = make_layer(m, LAYER_SOFTMAX, "softmax", input, output);
    uint32_t *exponentials = arena_array(m->arena, uint32_t, 256);
    for (int i = 0; i < 256; i++)
        exponentials[i] = (uint32_t)llrint(ldexp(exp(-i * x.scale), 31) / (2 * x.channels));
    layer->exponentials = exponentials;
    finish_scalar(m, layer, ldexp(1, -SOFTMAX_BITS), 1);
    return output;
}

/* Of any kind, with constants for each element, for runs of them, for each row, or one for all. */
static int add_norm(struct maker *m, int input)
{
    struct tensor x = *tensor_of(m, input);
    int run = x.channels % 2 == 0 && random_chance(m->random, 50) ? x.channels / 2 : 1;
    int rows = random_chance(m->random, 30) ? x.height * x.width : 1, count = x.channels / run * rows;
    double scale = random_scale(m), *factors = arena_array(m->arena, double, (size_t)count);
    double *terms = arena_array(m->arena, double, (size_t)count);
    int output = make_tensor(m, x.height, x.width, x.channels, scale);
    for (int i = 0; i < count; i++) {
        factors[i] = between(m, -127, 127) * scale * (random_chance(m->random, 50) ? 0.5 : 0.3);
        terms[i] = between(m, -100, 100) * scale;
    }
    struct real_norm real = {.kind = (enum norm_kind)between(m, 0, 2),
                             .epsilon = ldexp(x.scale * x.scale, between(m, -20, 2)),
                             .run = run,
                             .count = count,
                             .factors = factors,
                             .terms = terms,
                             .minimum = random_chance(m->random, 30) ? 0 : -INFINITY,
                             .maximum = INFINITY};
    return middle_norm(&m->builder, "norm", input, output, &real) ? output : add_softmax(m, input);
}

/* `pairs` of taps a row or column, whose weights have the same sum. */
static const struct layer_tap *make_taps(struct maker *m, int input, int output, int32_t sum, int pairs)
{
    struct layer_tap *taps = arena_array(m->arena, struct layer_tap, (size_t)(output * pairs));
    for (int i = 0; i < output * pairs; i++) {
        int32_t first = between(m, 0, input - 1), weight = between(m, 0, sum);
        taps[i] = (struct layer_tap){{first, first + (first < input - 1)}, {sum - weight, weight}};
    }
    return taps;
}

static int add_interpolation(struct maker *m, int input)
{
    struct tensor x = *tensor_of(m, input);
    int height = between(m, 1, 2 * x.height), width = between(m, 1, 2 * x.width), sum = between(m, 1, 8);
    int output = make_tensor(m, height, width, x.channels, random_chance(m->random, 50) ? x.scale : random_scale(m));
    struct layer *layer = make_layer(m, LAYER_INTERPOLATION, "interpolation", input, output);
    bool has_one = random_chance(m->random, 50);
    int row_pairs = has_one ? 1 : between(m, 1, 3), column_pairs = has_one ? 1 : between(m, 1, 3);
    layer->taps = (struct layer_taps){make_taps(m, x.height, height, sum, row_pairs),
                                      make_taps(m, x.width, width, sum, column_pairs), row_pairs, column_pairs};
    int64_t count = (int64_t)sum * sum * row_pairs * column_pairs;
    finish_scalar(m, layer, x.scale, count);
    quantised_set_channel(&m->builder, &layer->stages[0], 0, -count * x.zero_point,
                          (struct real_factor){{x.scale, 1}, tensor_of(m, output)->scale, count});
    return output;
}

/* ---- copies ---- */

static int32_t *positions(struct maker *m, int count, int32_t unit, int size, int how, int offset)
{
    int32_t *list = arena_array(m->arena, int32_t, (size_t)count);
    for (int i = 0; i < count; i++) {
        int at = how == 0 ? i - offset : how == 1 ? i / 2 : how == 2 ? between(m, 0, size - 1) : 2 * i;
        list[i] = at >= 0 && at < size ? at * unit : -1;
    }
    return list;
}

/* Pads, repeats, picks at random, or takes every second. */
static int add_copy_that(struct maker *m, int input, int how)
{
    struct tensor x = *tensor_of(m, input);
    int top = between(m, 0, 3), left = between(m, 0, 3);
    int height = how == 0 ? x.height + top + between(m, 0, 3) : how == 1 ? 2 * x.height : (x.height + 1) / 2;
    int width = how == 0 ? x.width + left + between(m, 0, 3) : how == 1 ? 2 * x.width : (x.width + 1) / 2;
    int channels = how == 2 ? between(m, 1, 20) : x.channels;
    int output = make_tensor(m, height, width, channels, x.scale);
    struct tensor *y = &m->builder.network->tensors[output];
    y->zero_point = x.zero_point, y->model_offset = x.model_offset;
    struct layer *layer = make_layer(m, LAYER_COPY, "copy", input, output);
    layer->padding_value = x.zero_point;
    layer->map = (struct layer_map){positions(m, height, x.width * x.channels, x.height, how, top),
                                    positions(m, width, x.channels, x.width, how, left),
                                    positions(m, channels, 1, x.channels, how == 2 ? 2 : 0, 0)};
    return output;
}

static int add_copy(struct maker *m, int input) { return add_copy_that(m, input, between(m, 0, 3)); }

/* Layers that make each pixel from the same pixel, between copies, of which the latter leaves pixels unread. */
static int add_unread(struct maker *m, int input)
{
    int tensor = add_copy_that(m, input, between(m, 0, 1));
    for (int layers = between(m, 1, 3); layers > 0; layers--) {
        int kind = between(m, 0, 3);
        tensor = kind == 0   ? add_table(m, tensor)
                 : kind == 1 ? add_addition(m, tensor, tensor)
                 : kind == 2 ? add_multiplication(m, tensor, add_repeated(m, tensor))
                             : add_convolution(m, tensor, POINTWISE);
    }
    return add_copy_that(m, tensor, between(m, 2, 3));
}

/* ---- networks ---- */

static int same_shape_as(struct maker *m, int wanted)
{
    const struct tensor *x = tensor_of(m, wanted);
    int first = between(m, 0, m->count - 1);
    for (int i = 0; i < m->count; i++) {
        int other = m->tensors[(first + i) % m->count];
        const struct tensor *y = tensor_of(m, other);
        if (x->height == y->height && x->width == y->width && x->channels == y->channels)
            return other;
    }
    return wanted;
}

static bool is_small(const struct tensor *x) { return x->height <= 20 && x->width <= 20 && x->channels <= 48; }

static int add_any(struct maker *m)
{
    int input = m->tensors[random_chance(m->random, 70) ? m->count - 1 : between(m, 0, m->count - 1)];
    switch (between(m, 0, 16)) {
    case 0:
    case 1: return add_convolution(m, input, ANY);
    case 2:
    case 3: return add_convolution(m, input, POINTWISE);
    case 4:
    case 5: return add_convolution(m, input, DEPTHWISE);
    case 6: return is_small(tensor_of(m, input)) ? add_convolution(m, input, GROUPED) : add_table(m, input);
    case 7: return add_pool(m, input, true);
    case 8: return add_pool(m, input, false);
    case 9: return add_addition(m, input, same_shape_as(m, input));
    case 10: return is_small(tensor_of(m, input)) ? add_copy(m, input) : add_convolution(m, input, POINTWISE);
    case 11: return add_multiplication(m, input, same_shape_as(m, input));
    case 12: return add_multiplication(m, input, add_repeated(m, input));
    case 14: return add_addition(m, input, add_repeated(m, input));
    case 16: return is_small(tensor_of(m, input)) ? add_unread(m, input) : add_table(m, input);
    case 13: return is_small(tensor_of(m, input)) ? add_interpolation(m, input) : add_table(m, input);
    default: return add_table(m, input);
    }
}

static bool is_read(const struct network *network, int tensor)
{
    for (int i = 0; i < network->layer_count; i++)
        if (network->layers[i].inputs[0] == tensor || network->layers[i].inputs[1] == tensor)
            return true;
    return false;
}

/* What nobody reads is an output. */
static struct network *set_ports(struct maker *m, int input)
{
    struct network *network = m->builder.network;
    network->inputs = arena_array(m->arena, int, 1);
    network->input_count = 1;
    network->inputs[0] = input;
    network->outputs = arena_array(m->arena, int, (size_t)network->tensor_count);
    for (int i = 0; i < network->layer_count; i++)
        if (!is_read(network, network->layers[i].output))
            network->outputs[network->output_count++] = network->layers[i].output;
    return network;
}

struct network *random_quantised(struct random *random, struct arena *arena)
{
    struct maker m = {.random = random, .arena = arena};
    quantised_begin(&m.builder, "random", random_chance(random, 50) ? ROUND_TWICE : ROUND_HALF_EVEN, arena);
    m.tensors[m.count++] = make_tensor(&m, between(&m, 1, 16), between(&m, 1, 16), between(&m, 1, 32), random_scale(&m));
    int layers = between(&m, 1, 8);
    for (int i = 0; i < layers; i++) {
        int output = add_any(&m);
        m.tensors[m.count++] = output;
    }
    if (random_chance(random, 30)) {
        int output = add_convolution(&m, m.tensors[m.count - 1], LINEAR);
        m.tensors[m.count++] = output;
    }
    if (m.builder.rounding == ROUND_HALF_EVEN && random_chance(random, 40)) {
        int output = add_norm(&m, m.tensors[m.count - 1]);
        m.tensors[m.count++] = output;
    }
    if (m.builder.rounding == ROUND_HALF_EVEN && random_chance(random, 40)) {
        int output = add_softmax(&m, m.tensors[m.count - 1]);
        m.tensors[m.count++] = output;
    }
    return set_ports(&m, m.tensors[0]);
}

/* ---- residual blocks ---- */

/* Of the input's rows and columns. */
static int add_same(struct maker *m, int input, int channels)
{
    struct tensor x = *tensor_of(m, input);
    int k = random_chance(m->random, 50) ? 1 : 3, pad = k / 2;
    struct window w = {{k, k}, {1, 1}, {1, 1}, {pad, pad}, {pad, pad}, {x.height, x.width}};
    int output = make_tensor(m, x.height, x.width, channels, random_scale(m));
    struct layer *layer = make_layer(m, LAYER_CONVOLUTION, "convolution", input, output);
    set_window(layer, &w);
    layer->groups = 1;
    finish_convolution(m, layer);
    return output;
}

static int add_sum(struct maker *m, int input)
{
    bool is_wider = random_chance(m->random, 40);
    int channels = tensor_of(m, input)->channels + (is_wider ? 4 * between(m, 0, 4) : 0);
    int first = random_chance(m->random, 50) ? add_same(m, input, 4 * between(m, 1, 10)) : input;
    int other = is_wider ? add_same(m, input, channels) : input, last = add_same(m, first, channels);
    return random_chance(m->random, 50) ? add_addition(m, last, other) : add_addition(m, other, last);
}

struct network *random_sums(struct random *random, struct arena *arena)
{
    struct maker m = {.random = random, .arena = arena, .has_no_signs = random_chance(random, 85)};
    quantised_begin(&m.builder, "random", random_chance(random, 70) ? ROUND_TWICE : ROUND_HALF_EVEN, arena);
    int channels = random_chance(random, 80) ? 4 * between(&m, 1, 8) : between(&m, 1, 32);
    int input = make_tensor(&m, between(&m, 2, 14), between(&m, 2, 14), channels, random_scale(&m)), tensor = input;
    for (int i = between(&m, 1, 3); i > 0; i--)
        tensor = add_sum(&m, tensor);
    return set_ports(&m, input);
}
