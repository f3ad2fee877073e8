/* Sibling convolutions: they read the same tensor by the same window, for different readers. Kernels compute four channels
 * at once: where two layers together have fewer fours than apart, as heads of 6 and of 2 channels, one layer computes both,
 * and each reader gets a slice of it. Where they have as many, one layer would only add the slices. */
#include <string.h>

#include "simplify/cancel.h"
#include "simplify/early.h"
#include "simplify/edit.h"

enum {
    CHANNELS_AT_ONCE = 4,
    WORK_OF_RUN = 9,     /* of a slice's channels in a pixel, see EARLY_WORK_OF_LAYER */
    WORK_OF_CHANNEL = 2, /* of each of them, for they are few */
    LEAST_BYTE_RANGE = 15
};

/* All that says which elements a sum is of, but for the weights. */
static bool same_window(const struct layer *a, const struct layer *b)
{
    const int numbers[][2] = {{a->inputs[0], b->inputs[0]},
                              {a->kernel_height, b->kernel_height},
                              {a->kernel_width, b->kernel_width},
                              {a->stride_height, b->stride_height},
                              {a->stride_width, b->stride_width},
                              {a->dilation_height, b->dilation_height},
                              {a->dilation_width, b->dilation_width},
                              {a->padding_top, b->padding_top},
                              {a->padding_left, b->padding_left},
                              {a->padding_bottom, b->padding_bottom},
                              {a->padding_right, b->padding_right},
                              {a->padding_value, b->padding_value},
                              {a->groups, 1},
                              {b->groups, 1},
                              {a->is_intermediate, b->is_intermediate}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i][0] != numbers[i][1])
            return false;
    return true;
}

/* But for what each channel has of its own. Slices are of bytes. */
static bool same_rounding(const struct layer *a, const struct layer *b)
{
    const struct stage *x = &a->stages[0], *y = &b->stages[0];
    return a->stage_count == 1 && b->stage_count == 1 && !a->output_bits && !b->output_bits && x->rounding == y->rounding &&
           x->left_shift == y->left_shift && x->divisor == y->divisor && x->zero_point == y->zero_point && x->has_clip &&
           y->has_clip && x->minimum == y->minimum && x->maximum == y->maximum &&
           x->maximum - x->minimum > LEAST_BYTE_RANGE && x->minimum >= INT8_MIN && x->maximum <= UINT8_MAX;
}

static int fours_of(int channels) { return (channels + CHANNELS_AT_ONCE - 1) / CHANNELS_AT_ONCE; }

static bool pays(const struct network *network, const struct layer *a, const struct layer *b)
{
    const struct tensor *x = &network->tensors[a->output], *y = &network->tensors[b->output];
    int spared = fours_of(x->channels) + fours_of(y->channels) - fours_of(x->channels + y->channels);
    double taps = (double)a->kernel_height * a->kernel_width * network->tensors[a->inputs[0]].channels;
    double gain = spared * CHANNELS_AT_ONCE * taps / EARLY_MACS_OF_ELEMENT;
    double slices = 2 * WORK_OF_RUN + WORK_OF_CHANNEL * (x->channels + y->channels);
    return (gain - slices) * x->height * x->width > EARLY_WORK_OF_LAYER;
}

/* ---- the one layer ---- */

struct both {
    const struct stage *stages[2];
    int channels[2];
};

static int64_t *join_numbers(const struct both *both, const int64_t *const numbers[2], struct arena *arena)
{
    int64_t *joined = arena_array(arena, int64_t, (size_t)(both->channels[0] + both->channels[1])), *to = joined;
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < both->channels[i]; c++)
            *to++ = numbers[i][both->stages[i]->count == 1 ? 0 : c];
    return joined;
}

static int *join_exponents(const struct both *both, struct arena *arena)
{
    int *joined = arena_array(arena, int, (size_t)(both->channels[0] + both->channels[1])), *to = joined;
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < both->channels[i]; c++)
            *to++ = both->stages[i]->exponent ? both->stages[i]->exponent[both->stages[i]->count == 1 ? 0 : c] : 0;
    return both->stages[0]->exponent || both->stages[1]->exponent ? joined : NULL;
}

static struct stage join_stages(const struct both *both, struct arena *arena)
{
    struct stage joined = *both->stages[0];
    const int64_t *multipliers[] = {both->stages[0]->multiplier, both->stages[1]->multiplier};
    const int64_t *addends[] = {both->stages[0]->addend, both->stages[1]->addend};
    joined.count = both->channels[0] + both->channels[1];
    joined.multiplier = join_numbers(both, multipliers, arena);
    joined.addend = join_numbers(both, addends, arena);
    joined.exponent = join_exponents(both, arena);
    return joined;
}

static struct layer join_layers(const struct network *network, const struct layer *a, const struct layer *b,
                                struct arena *arena)
{
    struct layer joined = *a;
    struct both both = {{&a->stages[0], &b->stages[0]},
                        {network->tensors[a->output].channels, network->tensors[b->output].channels}};
    size_t each = (size_t)network->tensors[a->inputs[0]].channels * (size_t)a->kernel_height * (size_t)a->kernel_width;
    size_t first = (size_t)both.channels[0] * each, second = (size_t)both.channels[1] * each;
    int8_t *weights = arena_array(arena, int8_t, first + second);
    memcpy(weights, a->weights, first);
    memcpy(weights + first, b->weights, second);
    joined.weights = weights;
    joined.weight_bits = a->weight_bits > b->weight_bits ? a->weight_bits : b->weight_bits;
    joined.name = arena_format(arena, "%s and %s", a->name, b->name);
    joined.stages[0] = join_stages(&both, arena);
    return joined;
}

/* Channels of the joined tensor, from `first` on, into one of those that were. */
static struct layer slice_of(const struct network *network, int joined, int output, int first, struct arena *arena)
{
    const struct tensor *from = &network->tensors[joined], *to = &network->tensors[output];
    struct layer slice = layer_plain(to->name, LAYER_COPY, joined);
    slice.output = output;
    slice.map = (struct layer_map){.rows = positions_in_steps(to->height, 0, from->width * from->channels, arena),
                                   .columns = positions_in_steps(to->width, 0, from->channels, arena),
                                   .channels = positions_in_steps(to->channels, first, 1, arena)};
    return slice;
}

static void join(struct network *network, int first, int second, struct arena *arena)
{
    const struct layer a = network->layers[first], b = network->layers[second];
    struct layer joined = join_layers(network, &a, &b, arena);
    struct tensor made = network->tensors[a.output];
    int channels = made.channels;
    made.name = joined.name;
    made.channels += network->tensors[b.output].channels;
    made.producer = first;
    made.channel_scales = NULL;
    joined.output = edit_add_tensor(network, &made, arena);
    const struct layer slices[] = {slice_of(network, joined.output, a.output, 0, arena),
                                   slice_of(network, joined.output, b.output, channels, arena)};
    edit_remove_layer(network, second);
    edit_set_layer(network, first, &joined);
    for (int i = 0; i < 2; i++)
        edit_insert_layer(network, first + 1, &slices[i], arena);
}

/* ---- all of it ---- */

/* A layer behind this one to compute with it; -1: there is none. */
static int find_sibling(const struct network *network, int index)
{
    const struct layer *a = &network->layers[index];
    for (int i = index + 1; a->kind == LAYER_CONVOLUTION && i < network->layer_count; i++) {
        const struct layer *b = &network->layers[i];
        if (b->kind == LAYER_CONVOLUTION && same_window(a, b) && same_rounding(a, b) && pays(network, a, b))
            return i;
    }
    return -1;
}

bool simplify_join_siblings(struct network *network, struct arena *arena)
{
    bool joins = false;
    for (int i = 0, sibling; i < network->layer_count; i++)
        while ((sibling = find_sibling(network, i)) >= 0) {
            join(network, i, sibling, arena);
            joins = true;
        }
    if (joins)
        simplify_join_copies_between(network, arena);
    return joins;
}
