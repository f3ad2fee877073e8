#include "random_builder.h"

#include <string.h>

/* ---- numbers (splitmix64) ---- */

static uint64_t next(struct random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

int64_t random_between(struct random *random, int64_t least, int64_t most)
{
    return least + (int64_t)(next(random) % (uint64_t)(most - least + 1));
}

bool random_chance(struct random *random, int percent) { return random_between(random, 0, 99) < percent; }

int between(struct random *random, int least, int most) { return (int)random_between(random, least, most); }

int size_between(struct random *random, int least, int most)
{
    int limit = random_chance(random, 50) ? most : least + (most - least) / 4;
    int size = between(random, least, limit);
    return random_chance(random, 30) && size >= 4 ? size / 4 * 4 : size;
}

/* ---- tensors and layers ---- */

static int random_bits(const struct builder *builder)
{
    return !builder->mixed || random_chance(builder->random, 60) ? 8 : random_chance(builder->random, 50) ? 4 : 2;
}

struct builder start(struct random *random, struct arena *arena)
{
    struct network *network = arena_array(arena, struct network, 1);
    network->name = "random";
    network->tensors = arena_array(arena, struct tensor, MAXIMUM_LAYERS + MAXIMUM_INPUTS);
    network->layers = arena_array(arena, struct layer, MAXIMUM_LAYERS);
    network->inputs = arena_array(arena, int, MAXIMUM_INPUTS);
    network->outputs = arena_array(arena, int, MAXIMUM_LAYERS);
    network->input_count = network->output_count = 1;
    return (struct builder){.random = random, .arena = arena, .network = network};
}

static int add_tensor(struct builder *builder, int height, int width, int channels)
{
    int index = builder->network->tensor_count++;
    builder->network->tensors[index] =
        tensor_plain(arena_format(builder->arena, "tensor%d", index), height, width, channels);
    return index;
}

int add_input(struct builder *builder, int height, int width, int channels)
{
    int index = add_tensor(builder, height, width, channels);
    struct tensor *tensor = &builder->network->tensors[index];
    tensor->bits = random_bits(builder);
    tensor->is_signed = random_chance(builder->random, 20);
    tensor->minimum = tensor->is_signed ? -(1 << (tensor->bits - 1)) : 0;
    tensor->maximum = tensor->minimum + (1 << tensor->bits) - 1;
    return index;
}

static struct layer *add_layer(struct builder *builder, const char *name, enum layer_kind kind, int input)
{
    int index = builder->network->layer_count++;
    struct layer *layer = &builder->network->layers[index];
    *layer = layer_plain(arena_format(builder->arena, "%s%d", name, index), kind, input);
    layer->weight_bits = random_bits(builder);
    return layer;
}

static int out_extent(int input, int kernel, int stride, int dilation, int padding)
{
    return (input + padding - (kernel - 1) * dilation - 1) / stride + 1;
}

/* Adds the output of the layer that was added last; its height and width follow from the window. */
static int add_output(struct builder *builder, int channels)
{
    int index = builder->network->layer_count - 1;
    struct layer *layer = &builder->network->layers[index];
    const struct tensor *input = &builder->network->tensors[layer->inputs[0]];
    int height = out_extent(input->height, layer->kernel_height, layer->stride_height, layer->dilation_height,
                            layer->padding_top + layer->padding_bottom);
    int width = out_extent(input->width, layer->kernel_width, layer->stride_width, layer->dilation_width,
                           layer->padding_left + layer->padding_right);
    layer->output = add_tensor(builder, height, width, channels);
    builder->network->tensors[layer->output].producer = index;
    return layer->output;
}

/* ---- normalisation ---- */

/* Divisor of accumulators of this size, so that results spread over 8 bits; sometimes no power of two. */
static int64_t choose_divisor(struct random *random, int64_t multiplier, int64_t magnitude)
{
    int64_t wanted = multiplier * magnitude / 160 + 1, divisor = 1;
    while (divisor < wanted)
        divisor *= 2;
    return random_chance(random, 25) ? divisor - (divisor > 1) : divisor;
}

/* y = clip((k * x + lambda) / D) per channel, or the same for all; k may be negative. `magnitude`: of usual accumulators. */
static struct stage random_stage(struct builder *builder, int channels, bool per_channel, int64_t magnitude)
{
    struct random *random = builder->random;
    int count = per_channel ? channels : 1;
    int64_t *multiplier = arena_array(builder->arena, int64_t, (size_t)count);
    int64_t *addend = arena_array(builder->arena, int64_t, (size_t)count);
    int bits = random_chance(random, 50) ? between(random, 0, 7) : between(random, 8, 26); /* the latter need 64 bits */
    int64_t most = INT64_C(1) << bits, divisor = choose_divisor(random, most, magnitude);
    bool is_signed = random_chance(random, 20);
    for (int i = 0; i < count; i++) {
        multiplier[i] = random_between(random, (most + 1) / 2, most);
        if (random_chance(random, 15))
            multiplier[i] = -multiplier[i];
        addend[i] = random_between(random, -divisor * 40, divisor * (is_signed ? 40 : 160));
    }
    return (struct stage){
        .count = count,
        .multiplier = multiplier,
        .addend = addend,
        .divisor = divisor,
        .has_clip = true,
        .minimum = is_signed ? -128 : 0,
        .maximum = is_signed                   ? 127
                   : random_chance(random, 10) ? between(random, 1, 254)
                                               : 255,
    };
}

static struct stage unit_stage(struct builder *builder)
{
    int64_t *one = arena_array(builder->arena, int64_t, 1);
    *one = 1;
    return (struct stage){.count = 1, .multiplier = one, .addend = arena_array(builder->arena, int64_t, 1), .divisor = 1};
}

static int64_t square_root(int64_t value)
{
    int64_t root = 1;
    while (root * root < value)
        root++;
    return root;
}

/* Has the output in fewer bits, its last stage dividing by as much more. */
static void narrow(struct builder *builder, struct layer *layer)
{
    int bits = random_bits(builder);
    struct stage *stage = &layer->stages[layer->stage_count - 1];
    if (bits == 8 || stage->divisor > INT64_C(1) << 50)
        return;
    layer->output_bits = bits;
    stage->divisor <<= 8 - bits;
    stage->minimum = stage->minimum < 0 ? -(1 << (bits - 1)) : 0;
    stage->maximum = stage->minimum + (1 << bits) - 1;
}

/* ---- kinds ---- */

static void random_weights(struct builder *builder, struct layer *layer, int outputs)
{
    const struct tensor *input = &builder->network->tensors[layer->inputs[0]];
    size_t count = (size_t)outputs * (size_t)(input->channels / layer->groups) * (size_t)layer->kernel_height *
                   (size_t)layer->kernel_width;
    int8_t *weights = arena_array(builder->arena, int8_t, count);
    int most = (1 << (layer->weight_bits - 1)) - 1;
    bool full = random_chance(builder->random, 50);
    if (!full && most > 20)
        most = 20;
    for (size_t i = 0; i < count; i++)
        weights[i] = (int8_t)between(builder->random, -most - full, most);
    layer->weights = weights;
}

/* A bias alone, an accumulator as it is, or normalisation. */
static void normalise_convolution(struct builder *builder, struct layer *layer, int outputs, bool wide)
{
    const struct tensor *input = &builder->network->tensors[layer->inputs[0]];
    int64_t taps = (int64_t)layer->kernel_height * layer->kernel_width * (input->channels / layer->groups);
    layer->stage_count = 1;
    layer->stages[0] = random_stage(builder, outputs, random_chance(builder->random, 85),
                                    (layer->weight_bits == 8 ? 4000 : 200) * square_root(taps));
    narrow(builder, layer);
    if (!wide)
        return;
    int64_t *one = arena_array(builder->arena, int64_t, (size_t)outputs);
    int64_t *bias = arena_array(builder->arena, int64_t, (size_t)outputs);
    for (int i = 0; i < outputs; i++) {
        one[i] = 1;
        bias[i] = random_between(builder->random, -100000, 100000);
    }
    layer->stages[0] = (struct stage){.count = outputs, .multiplier = one, .addend = bias, .divisor = 1};
    layer->stage_count = random_chance(builder->random, 70);
}

/* Kernel, stride, dilation and padding of one dimension that leave at least one output. */
struct extent {
    int kernel, stride, dilation, padding_before, padding_after;
};

static struct extent random_extent(struct random *random, int size, int most_kernel, bool may_dilate)
{
    struct extent extent;
    do {
        extent.kernel = between(random, 1, most_kernel);
        extent.stride = between(random, 1, 3);
        extent.dilation = may_dilate && random_chance(random, 25) ? between(random, 2, 3) : 1;
        int most_padding = random_chance(random, 60) ? (extent.kernel - 1) * extent.dilation : 0;
        extent.padding_before = between(random, 0, most_padding);
        extent.padding_after = between(random, 0, most_padding);
    } while (size + extent.padding_before + extent.padding_after < (extent.kernel - 1) * extent.dilation + 1);
    return extent;
}

static void random_window(struct builder *builder, struct layer *layer, int most_kernel, bool may_dilate)
{
    const struct tensor *input = &builder->network->tensors[layer->inputs[0]];
    struct extent rows = random_extent(builder->random, input->height, most_kernel, may_dilate);
    struct extent columns = random_extent(builder->random, input->width, most_kernel, may_dilate);
    layer->kernel_height = rows.kernel;
    layer->stride_height = rows.stride;
    layer->dilation_height = rows.dilation;
    layer->padding_top = rows.padding_before;
    layer->padding_bottom = rows.padding_after;
    layer->kernel_width = columns.kernel;
    layer->stride_width = columns.stride;
    layer->dilation_width = columns.dilation;
    layer->padding_left = columns.padding_before;
    layer->padding_right = columns.padding_after;
}

/* A divisor of the channels, all of them in a third of the cases. */
static int random_groups(struct random *random, int channels)
{
    int groups = random_chance(random, 30) ? channels : between(random, 1, channels);
    while (channels % groups != 0)
        groups--;
    return groups;
}

int add_convolution(struct builder *builder, int input, enum random_kind kind)
{
    const struct tensor *x = &builder->network->tensors[input];
    struct layer *layer = add_layer(builder, random_kind_name(kind), LAYER_CONVOLUTION, input);
    int outputs = size_between(builder->random, 1, 48);
    if (kind == RANDOM_POINTWISE) {
        layer->stride_height = between(builder->random, 1, 2);
        layer->stride_width = between(builder->random, 1, 2);
    } else if (kind == RANDOM_LINEAR || kind == RANDOM_LINEAR_32) {
        layer->kernel_height = x->height;
        layer->kernel_width = x->width;
    } else {
        random_window(builder, layer, 7, true);
    }
    if (kind == RANDOM_DEPTHWISE)
        layer->groups = outputs = x->channels;
    if (kind == RANDOM_GROUPED) {
        layer->groups = random_groups(builder->random, x->channels);
        outputs = layer->groups * between(builder->random, 1, layer->groups > 16 ? 3 : 64 / layer->groups);
    }
    random_weights(builder, layer, outputs);
    normalise_convolution(builder, layer, outputs, kind == RANDOM_LINEAR_32);
    return add_output(builder, outputs);
}

int add_same_convolution(struct builder *builder, int input)
{
    int channels = builder->network->tensors[input].channels;
    struct layer *layer = add_layer(builder, "same", LAYER_CONVOLUTION, input);
    if (random_chance(builder->random, 60)) {
        layer->kernel_height = layer->kernel_width = 3;
        layer->padding_top = layer->padding_left = layer->padding_bottom = layer->padding_right = 1;
    }
    if (random_chance(builder->random, 30))
        layer->groups = channels;
    random_weights(builder, layer, channels);
    normalise_convolution(builder, layer, channels, false);
    return add_output(builder, channels);
}

/* Every window of a maximum pool must see an element: padding stays below the kernel, and below the rest of the input. */
static void tame_padding(const struct tensor *input, struct layer *layer)
{
    bool wide = layer->padding_top >= layer->kernel_height || layer->padding_left >= layer->kernel_width;
    int last_row = (out_extent(input->height, layer->kernel_height, layer->stride_height, 1,
                               layer->padding_top + layer->padding_bottom) -
                    1) *
                       layer->stride_height -
                   layer->padding_top;
    int last_column =
        (out_extent(input->width, layer->kernel_width, layer->stride_width, 1, layer->padding_left + layer->padding_right) -
         1) *
            layer->stride_width -
        layer->padding_left;
    if (wide || last_row >= input->height || last_column >= input->width) {
        layer->padding_top = layer->padding_left = layer->padding_bottom = layer->padding_right = 0;
        layer->kernel_height = layer->kernel_height < input->height ? layer->kernel_height : input->height;
        layer->kernel_width = layer->kernel_width < input->width ? layer->kernel_width : input->width;
    }
}

int add_pool(struct builder *builder, int input, enum random_kind kind)
{
    const struct tensor *x = &builder->network->tensors[input];
    bool maximum = kind == RANDOM_MAXIMUM_POOL;
    struct layer *layer =
        add_layer(builder, random_kind_name(kind), maximum ? LAYER_MAXIMUM_POOL : LAYER_AVERAGE_POOL, input);
    if (kind == RANDOM_GLOBAL_POOL) {
        layer->kernel_height = x->height;
        layer->kernel_width = x->width;
    } else {
        random_window(builder, layer, 5, false);
        tame_padding(x, layer);
    }
    if (!maximum || random_chance(builder->random, 20)) {
        int taps = maximum ? 1 : layer->kernel_height * layer->kernel_width;
        layer->stages[0] = random_stage(builder, x->channels, false, 128 * taps);
        layer->stage_count = 1;
        narrow(builder, layer);
    }
    return add_output(builder, x->channels);
}

/* What the importer makes of arithmetic on a tensor: a pool of one element with one factor, or a depth-wise convolution
 * with one a channel. */
int add_requantisation(struct builder *builder, int input)
{
    int channels = builder->network->tensors[input].channels;
    bool per_channel = random_chance(builder->random, 50);
    struct layer *layer = add_layer(builder, "requantisation", per_channel ? LAYER_CONVOLUTION : LAYER_MAXIMUM_POOL, input);
    if (per_channel) {
        layer->groups = channels;
        layer->weight_bits = 8;
        int8_t *weights = arena_array(builder->arena, int8_t, (size_t)channels);
        memset(weights, 1, (size_t)channels);
        layer->weights = weights;
    }
    layer->stages[0] = random_stage(builder, channels, per_channel, 128);
    layer->stage_count = 1;
    narrow(builder, layer);
    return add_output(builder, channels);
}

/* A border of zeros, as the importer makes it where no convolution reads it. */
int add_padding(struct builder *builder, int input)
{
    int channels = builder->network->tensors[input].channels;
    struct layer *layer = add_layer(builder, "padding", LAYER_CONVOLUTION, input);
    layer->groups = channels;
    layer->weight_bits = 8;
    int8_t *weights = arena_array(builder->arena, int8_t, (size_t)channels);
    memset(weights, 1, (size_t)channels);
    layer->weights = weights;
    layer->stages[0] = unit_stage(builder);
    layer->stages[0].has_clip = true;
    layer->stages[0].minimum = -128;
    layer->stages[0].maximum = 255;
    layer->stage_count = 1;
    layer->padding_top = between(builder->random, 0, 3);
    layer->padding_left = between(builder->random, 0, 3);
    layer->padding_bottom = between(builder->random, 0, 3);
    layer->padding_right = between(builder->random, 0, 3);
    return add_output(builder, channels);
}

int add_concatenation(struct builder *builder, int first, int second)
{
    const struct tensor *a = &builder->network->tensors[first], *b = &builder->network->tensors[second];
    struct layer *layer = add_layer(builder, "concatenation", LAYER_CONCATENATION, first);
    layer->inputs[1] = second;
    for (int i = 0; i < 2 && random_chance(builder->random, 40); i++)
        layer->input_stages[i] = random_stage(builder, 1, false, 128);
    if (random_chance(builder->random, 30)) {
        layer->stages[0] = random_stage(builder, 1, false, 128);
        layer->stage_count = 1;
        narrow(builder, layer);
    }
    return add_output(builder, a->channels + b->channels);
}

/* Input stages as NEMO has them (a multiplier alone), or as Quantlab (rounded and clipped each). */
static struct stage random_input_stage(struct builder *builder, bool clipped)
{
    struct stage stage = random_stage(builder, 1, false, 100);
    if (!clipped) {
        stage.has_clip = false;
        stage.divisor = 1;
        int64_t *zero = arena_array(builder->arena, int64_t, 1);
        stage.addend = zero;
    }
    return stage;
}

int add_addition(struct builder *builder, int first, int second)
{
    struct random *random = builder->random;
    struct layer *layer = add_layer(builder, "addition", LAYER_ADDITION, first);
    layer->inputs[1] = second;
    bool clipped = random_chance(random, 30);
    for (int i = 0; i < 2; i++) {
        layer->input_stages[i] = random_input_stage(builder, clipped);
        if (!clipped) {
            int64_t *multiplier = arena_array(builder->arena, int64_t, 1);
            *multiplier = random_between(random, 1, random_chance(random, 50) ? 100 : 30000);
            layer->input_stages[i].multiplier = multiplier;
        }
    }
    int64_t magnitude = clipped ? 150 : 128 * (*layer->input_stages[0].multiplier + *layer->input_stages[1].multiplier);
    layer->stages[0] = random_stage(builder, 1, false, magnitude);
    layer->stage_count = 1;
    if (random_chance(random, 30)) { /* a ReLU behind it: two floors, the first without a bound */
        layer->stages[0].has_clip = false;
        layer->stages[1] = random_stage(builder, 1, false, 200);
        layer->stage_count = 2;
    } else if (random_chance(random, 30)) {
        layer->stages[0].has_clip = false; /* the range pass saturates it */
    }
    if (layer->stages[layer->stage_count - 1].has_clip)
        narrow(builder, layer);
    return add_output(builder, builder->network->tensors[first].channels);
}
