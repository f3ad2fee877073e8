/* Chains of layers that can take turns: what blocks are made of (generator/plan/block.c). */
#include "random_builder.h"

#define MAXIMUM_PIECES 4

static int height_of(const struct builder *builder, int tensor) { return builder->network->tensors[tensor].height; }

/* Expands, filters and projects, with the input added where the window keeps its shape. */
static int add_inverted_residual(struct builder *builder, int input)
{
    const struct tensor x = builder->network->tensors[input];
    int tensor = add_convolution(builder, input, RANDOM_POINTWISE);
    tensor = add_convolution(builder, tensor, RANDOM_DEPTHWISE);
    return height_of(builder, tensor) == x.height ? add_convolution(builder, tensor, RANDOM_CONVOLUTION)
                                                  : add_convolution(builder, tensor, RANDOM_POINTWISE);
}

static int add_residual(struct builder *builder, int input)
{
    int tensor = add_same_convolution(builder, input);
    if (random_chance(builder->random, 60))
        tensor = add_same_convolution(builder, tensor);
    return random_chance(builder->random, 50) ? add_addition(builder, input, tensor) : add_addition(builder, tensor, input);
}

static int add_two(struct builder *builder, int input, enum random_kind first, enum random_kind second)
{
    int tensor = add_convolution(builder, input, first);
    bool is_pool = second == RANDOM_MAXIMUM_POOL || second == RANDOM_AVERAGE_POOL;
    return is_pool ? add_pool(builder, tensor, second) : add_convolution(builder, tensor, second);
}

static int add_piece(struct builder *builder, int input)
{
    switch (between(builder->random, 0, 9)) {
    case 0:
    case 1: return add_inverted_residual(builder, input);
    case 2:
    case 3: return add_residual(builder, input);
    case 4: return add_two(builder, input, RANDOM_DEPTHWISE, RANDOM_POINTWISE);
    case 5: return add_two(builder, input, RANDOM_CONVOLUTION, RANDOM_DEPTHWISE);
    case 6: return add_two(builder, input, RANDOM_CONVOLUTION, RANDOM_MAXIMUM_POOL);
    case 7: return add_two(builder, input, RANDOM_CONVOLUTION, RANDOM_AVERAGE_POOL);
    case 8: return add_two(builder, input, RANDOM_GROUPED, RANDOM_CONVOLUTION);
    default: return add_requantisation(builder, add_padding(builder, input));
    }
}

struct network *random_windows(struct random *random, struct arena *arena)
{
    struct builder builder = start(random, arena);
    int pieces = between(random, 2, MAXIMUM_PIECES);
    int tensor = add_input(&builder, between(random, 2, 8), between(random, 2, 8), 4 * between(random, 1, 8));
    builder.network->inputs[0] = tensor;
    for (int i = 0; i < pieces; i++)
        tensor = random_chance(random, 30) ? add_residual(&builder, tensor) : add_same_convolution(&builder, tensor);
    builder.network->outputs[0] = tensor;
    return builder.network;
}

struct network *random_chain(struct random *random, struct arena *arena)
{
    struct builder builder = start(random, arena);
    int height = between(random, 3, 40), width = between(random, 1, 24), pieces = between(random, 1, MAXIMUM_PIECES);
    builder.mixed = random_chance(random, 30);
    int tensor = add_input(&builder, height, width, size_between(random, 1, 32));
    builder.network->inputs[0] = tensor;
    for (int i = 0; i < pieces && (i == 0 || height_of(&builder, tensor) > 2); i++)
        tensor = add_piece(&builder, tensor);
    builder.network->outputs[0] = tensor;
    return builder.network;
}
