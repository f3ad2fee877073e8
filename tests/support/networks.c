#include "networks.h"

#include <string.h>

#include "network/accumulator.h"

#define MAXIMUM_LAYERS 256

void builder_start(struct network_builder *builder, struct arena *arena, uint64_t seed)
{
    *builder = (struct network_builder){.arena = arena, .random = seed * 2 + 1};
    builder->network.name = "built in memory";
    builder->network.layers = arena_array(arena, struct layer, MAXIMUM_LAYERS);
    builder->network.tensors = arena_array(arena, struct tensor, MAXIMUM_LAYERS + 1);
    builder->network.inputs = arena_array(arena, int, 1);
    builder->network.outputs = arena_array(arena, int, 1);
}

uint32_t builder_random(struct network_builder *builder, uint32_t below)
{
    builder->random = builder->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(builder->random >> 33) % below;
}

static int add_tensor(struct network_builder *builder, int height, int width, int channels, int producer)
{
    int index = builder->network.tensor_count++;
    struct tensor *tensor = &builder->network.tensors[index];
    *tensor = tensor_plain(arena_format(builder->arena, "tensor%d", index), height, width, channels);
    tensor->producer = producer;
    return index;
}

int builder_input(struct network_builder *builder, int height, int width, int channels)
{
    builder->network.inputs[builder->network.input_count++] = add_tensor(builder, height, width, channels, NO_LAYER);
    return builder->network.inputs[0];
}

static struct stage one_stage(struct network_builder *builder, int count, int64_t multiplier, int64_t divisor)
{
    int64_t *multipliers = arena_array(builder->arena, int64_t, (size_t)count);
    int64_t *addends = arena_array(builder->arena, int64_t, (size_t)count);
    for (int i = 0; i < count; i++) {
        multipliers[i] = multiplier + builder_random(builder, 4);
        addends[i] = (int64_t)builder_random(builder, 1000) - 500;
    }
    return (struct stage){.count = count,
                          .multiplier = multipliers,
                          .addend = addends,
                          .divisor = divisor,
                          .has_clip = true,
                          .minimum = 0,
                          .maximum = 255};
}

static struct layer *add_layer(struct network_builder *builder, enum layer_kind kind, int input, const char *word)
{
    int index = builder->network.layer_count++;
    struct layer *layer = &builder->network.layers[index];
    *layer = layer_plain(arena_format(builder->arena, "%s%d", word, index), kind, input);
    layer->stage_count = 1;
    return layer;
}

static void set_window(struct layer *layer, int kernel, int stride, int padding)
{
    layer->kernel_height = layer->kernel_width = kernel;
    layer->stride_height = layer->stride_width = stride;
    layer->padding_top = layer->padding_left = layer->padding_bottom = layer->padding_right = padding;
}

static int set_output(struct network_builder *builder, struct layer *layer, int channels)
{
    const struct tensor *input = &builder->network.tensors[layer->inputs[0]];
    int height = (input->height + 2 * layer->padding_top - layer->kernel_height) / layer->stride_height + 1;
    int width = (input->width + 2 * layer->padding_left - layer->kernel_width) / layer->stride_width + 1;
    layer->output = add_tensor(builder, height, width, channels, builder->network.layer_count - 1);
    return layer->output;
}

static void set_weights(struct network_builder *builder, struct layer *layer, size_t count)
{
    int8_t *weights = arena_array(builder->arena, int8_t, count);
    for (size_t i = 0; i < count; i++)
        weights[i] = (int8_t)((int)builder_random(builder, 31) - 15);
    layer->weights = weights;
}

int builder_convolution(struct network_builder *builder, int input, int kernel, int stride, int padding, int channels)
{
    struct layer *layer = add_layer(builder, LAYER_CONVOLUTION, input, "convolution");
    size_t input_channels = (size_t)builder->network.tensors[input].channels;
    set_window(layer, kernel, stride, padding);
    set_weights(builder, layer, (size_t)channels * input_channels * (size_t)(kernel * kernel));
    layer->stages[0] = one_stage(builder, channels, 20, 1 << 14);
    return set_output(builder, layer, channels);
}

int builder_depthwise(struct network_builder *builder, int input, int kernel, int stride, int padding)
{
    struct layer *layer = add_layer(builder, LAYER_CONVOLUTION, input, "depthwise");
    int channels = builder->network.tensors[input].channels;
    set_window(layer, kernel, stride, padding);
    layer->groups = channels;
    set_weights(builder, layer, (size_t)channels * (size_t)(kernel * kernel));
    layer->stages[0] = one_stage(builder, channels, 20, 1 << 10);
    return set_output(builder, layer, channels);
}

int builder_pool(struct network_builder *builder, int input, enum layer_kind kind, int kernel, int stride, int padding)
{
    struct layer *layer = add_layer(builder, kind, input, kind == LAYER_MAXIMUM_POOL ? "maximum" : "average");
    set_window(layer, kernel, stride, padding);
    layer->stages[0] = one_stage(builder, 1, 1, kind == LAYER_MAXIMUM_POOL ? 1 : kernel * kernel);
    return set_output(builder, layer, builder->network.tensors[input].channels);
}

int builder_addition(struct network_builder *builder, int first, int second)
{
    struct layer *layer = add_layer(builder, LAYER_ADDITION, first, "addition");
    layer->inputs[1] = second;
    layer->input_stages[0] = one_stage(builder, 1, 3, 4);
    layer->input_stages[1] = one_stage(builder, 1, 2, 4);
    layer->stages[0] = one_stage(builder, 1, 1, 2);
    return set_output(builder, layer, builder->network.tensors[first].channels);
}

int builder_product(struct network_builder *builder, int first, int second)
{
    struct layer *layer = add_layer(builder, LAYER_MULTIPLICATION, first, "product");
    layer->inputs[1] = second;
    layer->stages[0] = one_stage(builder, 1, 1, 256);
    return set_output(builder, layer, builder->network.tensors[first].channels);
}

int builder_concatenation(struct network_builder *builder, int first, int second)
{
    struct layer *layer = add_layer(builder, LAYER_CONCATENATION, first, "concatenation");
    layer->inputs[1] = second;
    layer->stages[0] = one_stage(builder, 1, 1, 1);
    return set_output(builder, layer, builder->network.tensors[first].channels + builder->network.tensors[second].channels);
}

int builder_fully_connected(struct network_builder *builder, int input, int channels)
{
    struct layer *layer = add_layer(builder, LAYER_CONVOLUTION, input, "classifier");
    const struct tensor *tensor = &builder->network.tensors[input];
    layer->kernel_height = tensor->height;
    layer->kernel_width = tensor->width;
    set_weights(builder, layer, (size_t)channels * tensor_elements(tensor));
    layer->stage_count = 0;
    int output = set_output(builder, layer, channels);
    builder->network.tensors[output].bits = 32;
    builder->network.tensors[output].is_signed = true;
    builder->network.tensors[output].minimum = INT32_MIN;
    builder->network.tensors[output].maximum = INT32_MAX;
    return output;
}

void builder_prove(struct network_builder *builder)
{
    for (int i = 0; i < builder->network.layer_count; i++)
        if (builder->network.layers[i].kind == LAYER_CONVOLUTION)
            accumulator_prove(&builder->network, &builder->network.layers[i], builder->arena);
}

const struct network *builder_finish(struct network_builder *builder, int output)
{
    builder->network.outputs[builder->network.output_count++] = output;
    builder_prove(builder);
    struct network *network = arena_allocate(builder->arena, sizeof *network);
    *network = builder->network;
    return network;
}

/* ---- networks ---- */

static const struct network *classifier(struct network_builder *b, int tensor, int classes)
{
    tensor = builder_pool(b, tensor, LAYER_AVERAGE_POOL, b->network.tensors[tensor].height, 1, 0);
    return builder_finish(b, builder_fully_connected(b, tensor, classes));
}

const struct network *mobilenet_v1(struct arena *arena, int size, int width_percent)
{
    static const struct {
        int stride, channels;
    } blocks[] = {{1, 64},  {2, 128}, {1, 128}, {2, 256}, {1, 256},  {2, 512}, {1, 512},
                  {1, 512}, {1, 512}, {1, 512}, {1, 512}, {2, 1024}, {1, 1024}};
    struct network_builder b;
    builder_start(&b, arena, 1);
    int tensor = builder_input(&b, size, size, 3);
    tensor = builder_convolution(&b, tensor, 3, 2, 1, 32 * width_percent / 100);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        tensor = builder_depthwise(&b, tensor, 3, blocks[i].stride, 1);
        tensor = builder_convolution(&b, tensor, 1, 1, 0, blocks[i].channels * width_percent / 100);
    }
    return classifier(&b, tensor, 1000);
}

/* A convolution 1x1 to more channels, a depth-wise one and a convolution 1x1 to fewer; what came in is added where it can
 * be. */
struct inverted_residual {
    int expansion, kernel, channels, stride;
};

static int add_inverted_residual(struct network_builder *b, int input, struct inverted_residual block)
{
    int channels = b->network.tensors[input].channels, tensor = input;
    if (block.expansion > 1)
        tensor = builder_convolution(b, tensor, 1, 1, 0, channels * block.expansion);
    tensor = builder_depthwise(b, tensor, block.kernel, block.stride, block.kernel / 2);
    tensor = builder_convolution(b, tensor, 1, 1, 0, block.channels);
    return block.stride == 1 && channels == block.channels ? builder_addition(b, input, tensor) : tensor;
}

const struct network *mobilenet_v2(struct arena *arena, int size, int width_percent)
{
    static const struct {
        int expansion, channels, repeats, stride;
    } groups[] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    struct network_builder b;
    builder_start(&b, arena, 3);
    int tensor = builder_convolution(&b, builder_input(&b, size, size, 3), 3, 2, 1, 32 * width_percent / 100);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        for (int repeat = 0; repeat < groups[i].repeats; repeat++)
            tensor = add_inverted_residual(&b, tensor,
                                           (struct inverted_residual){.expansion = groups[i].expansion,
                                                                      .kernel = 3,
                                                                      .channels = groups[i].channels * width_percent / 100,
                                                                      .stride = repeat ? 1 : groups[i].stride});
    return classifier(&b, builder_convolution(&b, tensor, 1, 1, 0, 1280 * width_percent / 100), 1000);
}

static const struct network *mcunet(struct arena *arena, int size, const struct inverted_residual *blocks, int count,
                                    int classes)
{
    struct network_builder b;
    builder_start(&b, arena, 5);
    int tensor = builder_convolution(&b, builder_input(&b, size, size, 3), 3, 2, 1, 16);
    for (int i = 0; i < count; i++)
        tensor = add_inverted_residual(&b, tensor, blocks[i]);
    return classifier(&b, tensor, classes);
}

const struct network *mcunet_imagenet(struct arena *arena, int size)
{
    static const struct inverted_residual blocks[] = {
        {1, 3, 8, 1},  {3, 7, 16, 2}, {5, 3, 16, 1}, {5, 7, 16, 1}, {4, 5, 16, 1}, {5, 5, 24, 2},
        {5, 5, 24, 1}, {5, 5, 24, 1}, {5, 3, 40, 2}, {6, 7, 40, 1}, {4, 5, 40, 1}, {5, 5, 48, 1},
        {5, 7, 48, 1}, {5, 3, 48, 1}, {6, 3, 96, 2}, {5, 7, 96, 1}, {4, 3, 96, 1}, {5, 7, 160, 1}};
    return mcunet(arena, size, blocks, sizeof blocks / sizeof *blocks, 1000);
}

const struct network *mcunet_wake_words(struct arena *arena, int size)
{
    static const struct inverted_residual blocks[] = {{1, 3, 8, 1},  {6, 3, 16, 2}, {3, 3, 16, 1}, {3, 3, 16, 1},
                                                      {3, 7, 24, 2}, {6, 3, 24, 1}, {5, 5, 24, 1}, {6, 7, 40, 2},
                                                      {6, 7, 40, 1}, {6, 3, 48, 1}, {4, 3, 48, 1}, {5, 5, 96, 2},
                                                      {5, 3, 96, 1}, {4, 3, 96, 1}, {3, 7, 160, 1}};
    return mcunet(arena, size, blocks, sizeof blocks / sizeof *blocks, 2);
}

const struct network *deep_network(struct arena *arena, int layers)
{
    struct network_builder b;
    builder_start(&b, arena, 4);
    int tensor = builder_convolution(&b, builder_input(&b, 64, 64, 3), 3, 2, 1, 32), before = tensor;
    for (int layer = 1; layer + 1 < layers; layer++) {
        bool narrows = layer * 3 / layers > (layer - 1) * 3 / layers; /* two times, at each third of the network */
        int channels = b.network.tensors[tensor].channels;
        if (narrows)
            before = tensor = builder_convolution(&b, tensor, 3, 2, 1, channels * 2);
        else if (layer % 4 == 0)
            before = tensor = builder_addition(&b, before, tensor);
        else if (layer % 4 == 2)
            tensor = builder_depthwise(&b, tensor, 3, 1, 1);
        else
            tensor = builder_convolution(&b, tensor, layer % 8 == 1 ? 3 : 1, 1, layer % 8 == 1 ? 1 : 0, channels);
    }
    return builder_finish(&b, builder_fully_connected(&b, tensor, 10));
}

const struct network *residual_network(struct arena *arena, int size, int channels)
{
    struct network_builder b;
    builder_start(&b, arena, 2);
    int tensor = builder_convolution(&b, builder_input(&b, size, size, 3), 3, 1, 1, channels);
    for (int block = 0; block < 3; block++) {
        int inner = builder_convolution(&b, tensor, 1, 1, 0, 4 * channels);
        inner = builder_depthwise(&b, inner, 3, 1, 1);
        inner = builder_convolution(&b, inner, 1, 1, 0, channels);
        tensor = builder_addition(&b, tensor, inner);
    }
    tensor = builder_pool(&b, tensor, LAYER_MAXIMUM_POOL, 3, 2, 1);
    return classifier(&b, tensor, 10);
}

/* Rows of the first tensor's pixels by those of the second. */
static int builder_matrix_product(struct network_builder *b, int first, int second)
{
    static const int64_t one = 1, none = 0;
    struct layer *layer = add_layer(b, LAYER_MATRIX_PRODUCT, first, "product");
    layer->inputs[1] = second;
    layer->stages[0] = one_stage(b, 1, 1, 256 * b->network.tensors[first].channels);
    for (int i = 0; i < 2; i++)
        layer->input_stages[i] = (struct stage){.count = 1, .multiplier = &one, .addend = &none, .divisor = 1};
    return set_output(b, layer, b->network.tensors[second].width);
}

const struct network *attention_network(struct arena *arena, int heads, int tokens, int channels)
{
    struct network_builder b;
    builder_start(&b, arena, 3);
    int queries = builder_input(&b, heads, tokens, channels), keys = builder_convolution(&b, queries, 1, 1, 0, channels);
    int values = builder_matrix_product(&b, keys, queries);
    int scores = builder_convolution(&b, builder_matrix_product(&b, queries, keys), 1, 1, 0, tokens);
    return builder_finish(&b, builder_matrix_product(&b, scores, values));
}

/* Of so many elements, from `first` on, with equal steps in each dimension. */
static int builder_copy(struct network_builder *b, int input, const int sizes[3], int first, const int steps[3])
{
    struct layer *layer = add_layer(b, LAYER_COPY, input, "copy");
    layer->stage_count = 0;
    layer->map = (struct layer_map){positions_in_steps(sizes[0], first, steps[0], b->arena),
                                    positions_in_steps(sizes[1], 0, steps[1], b->arena),
                                    positions_in_steps(sizes[2], 0, steps[2], b->arena)};
    return layer->output = add_tensor(b, sizes[0], sizes[1], sizes[2], b->network.layer_count - 1);
}

const struct network *heads_network(struct arena *arena, int heads, int tokens, int depth)
{
    struct network_builder b;
    int all = heads * depth;
    const int of_heads[3] = {heads, tokens, depth}, in_pixels[3] = {depth, 2 * all, 1};
    const int turned[3] = {heads, depth, tokens}, from_tokens[3] = {depth, 1, all};
    const int of_tokens[3] = {tokens, heads, depth}, from_heads[3] = {depth, tokens * depth, 1};
    const int of_last[3] = {1, heads, depth}, in_a_row[3] = {all, depth, 1};
    builder_start(&b, arena, 5);
    int input = builder_input(&b, 1, tokens, all), both, factors[3];
    both = builder_convolution(&b, input, 1, 1, 0, 2 * all);
    for (int i = 0; i < 2; i++)
        factors[i] = builder_copy(&b, both, of_heads, i * all, in_pixels);
    factors[2] = builder_copy(&b, builder_convolution(&b, input, 1, 1, 0, all), turned, 0, from_tokens);
    int scores = builder_matrix_product(&b, factors[0], factors[1]);
    int joined = builder_copy(&b, builder_matrix_product(&b, scores, factors[2]), of_tokens, 0, from_heads);
    int last = builder_copy(&b, builder_convolution(&b, joined, 1, 1, 0, depth), of_last, (tokens - 1) * all, in_a_row);
    return builder_finish(&b, builder_convolution(&b, last, 1, 1, 0, 8));
}

static int random_layer(struct network_builder *b, int tensor)
{
    const struct tensor *input = &b->network.tensors[tensor];
    int least = input->height < input->width ? input->height : input->width;
    int kernel = least >= 5 ? 1 + 2 * (int)builder_random(b, 3) : least >= 3 ? 1 + 2 * (int)builder_random(b, 2) : 1;
    int stride = 1 + (int)builder_random(b, 2), padding = (int)builder_random(b, (uint32_t)kernel / 2 + 1);
    switch (builder_random(b, 6)) {
    case 0: return builder_depthwise(b, tensor, kernel, stride, padding);
    case 1: return builder_pool(b, tensor, LAYER_MAXIMUM_POOL, kernel, stride, padding);
    case 2: return builder_pool(b, tensor, LAYER_AVERAGE_POOL, kernel, stride, padding);
    case 3: return builder_addition(b, tensor, builder_depthwise(b, tensor, 1, 1, 0));
    default: return builder_convolution(b, tensor, kernel, stride, padding, 1 + (int)builder_random(b, 40));
    }
}

const struct network *seeded_network(struct arena *arena, uint64_t seed, int layers)
{
    struct network_builder b;
    builder_start(&b, arena, seed);
    int count = 1 + (int)builder_random(&b, (uint32_t)layers), height = 4 + (int)builder_random(&b, 20);
    int tensor = builder_input(&b, height, 4 + (int)builder_random(&b, 20), 1 + (int)builder_random(&b, 20));
    for (int i = 0; i < count; i++)
        tensor = random_layer(&b, tensor);
    return builder_finish(&b, tensor);
}
