/* Networks whose layers repeat, as time steps of a recurrent network that is written out: the same weights in each step, of
 * which each has constants of its own (generator/realise/share.c). */
#include "random_builder.h"

#define MAXIMUM_STEPS  5
#define MAXIMUM_SHARED 2 /* different layers in a step */

/* The window and the weights of an earlier layer, which keeps the shape, too. */
static int repeat(struct builder *builder, int input, int earlier)
{
    int tensor = add_same_convolution(builder, input);
    const struct layer *from = &builder->network->layers[earlier];
    struct layer *to = &builder->network->layers[builder->network->layer_count - 1];
    to->kernel_height = from->kernel_height;
    to->kernel_width = from->kernel_width;
    to->padding_top = from->padding_top;
    to->padding_left = from->padding_left;
    to->padding_bottom = from->padding_bottom;
    to->padding_right = from->padding_right;
    to->groups = from->groups;
    to->weights = from->weights;
    return tensor;
}

static int add_step(struct builder *builder, int input, const int *first, int count)
{
    int tensor = input;
    for (int i = 0; i < count; i++)
        tensor = repeat(builder, tensor, first[i]);
    return random_chance(builder->random, 50) ? add_addition(builder, input, tensor) : tensor;
}

struct network *random_steps(struct random *random, struct arena *arena)
{
    struct builder builder = start(random, arena);
    int shared = between(random, 1, MAXIMUM_SHARED), steps = between(random, 1, MAXIMUM_STEPS), first[MAXIMUM_SHARED];
    int tensor = add_input(&builder, between(random, 1, 6), between(random, 1, 6), between(random, 32, 72));
    builder.network->inputs[0] = tensor;
    for (int i = 0; i < shared; i++) {
        first[i] = builder.network->layer_count;
        tensor = add_same_convolution(&builder, tensor);
    }
    for (int i = 0; i < steps && builder.network->layer_count + shared + 2 <= MAXIMUM_LAYERS; i++)
        tensor = add_step(&builder, tensor, first, shared);
    builder.network->outputs[0] = random_chance(random, 50) ? add_convolution(&builder, tensor, RANDOM_LINEAR) : tensor;
    return builder.network;
}
