/* Sibling convolutions: they read the same tensor by the same window, and a Concat joins what they compute. PLiNIO writes a
 * layer whose channels have weights of different precisions as one Conv a precision; one layer with the widest of them
 * computes the same, and reads its input once. */
#include <string.h>

#include "base/arithmetic.h"
#include "simplify/tidy.h"

struct siblings {
    struct network *network;
    struct arena *arena;
    const int *readers;     /* of each tensor, how many */
    const int *last_reader; /* of each tensor, a layer */
    int *leaves;            /* layers that a tree of concatenations joins, in the order of their channels */
    int leaf_count;
    int *open; /* tensors that are still to be looked at: a stack */
    int open_count;
};

static bool is_plain_concatenation(const struct layer *layer)
{
    return layer->kind == LAYER_CONCATENATION && layer->stage_count == 0 && layer->input_stages[0].count == 0 &&
           layer->input_stages[1].count == 0;
}

/* Its only reader is another concatenation, which is the one to look at. */
static bool is_inner(const struct siblings *s, int tensor)
{
    int reader = s->last_reader[tensor];
    return s->readers[tensor] == 1 && reader != NO_LAYER && s->network->layers[reader].kind == LAYER_CONCATENATION;
}

/* The leaves of the tree whose root is a concatenation. False where something else is joined than layers of this tree only.
 */
static bool collect_leaves(struct siblings *s, int root)
{
    const struct network *network = s->network;
    s->leaf_count = s->open_count = 0;
    s->open[s->open_count++] = network->layers[root].output;
    while (s->open_count > 0) {
        int tensor = s->open[--s->open_count], producer = network->tensors[tensor].producer;
        const struct layer *layer = producer == NO_LAYER ? NULL : &network->layers[producer];
        bool is_root = producer == root;
        if (!layer || (!is_root && s->readers[tensor] != 1))
            return false;
        if (is_plain_concatenation(layer)) {
            s->open[s->open_count++] = layer->inputs[1];
            s->open[s->open_count++] = layer->inputs[0];
        } else {
            s->leaves[s->leaf_count++] = producer;
        }
    }
    return s->leaf_count > 1;
}

/* ---- may they be one layer? ---- */

static bool same_window(const struct layer *a, const struct layer *b)
{
    return a->inputs[0] == b->inputs[0] && a->kernel_height == b->kernel_height && a->kernel_width == b->kernel_width &&
           a->stride_height == b->stride_height && a->stride_width == b->stride_width &&
           a->dilation_height == b->dilation_height && a->dilation_width == b->dilation_width &&
           a->padding_top == b->padding_top && a->padding_left == b->padding_left &&
           a->padding_bottom == b->padding_bottom && a->padding_right == b->padding_right &&
           a->padding_value == b->padding_value;
}

static bool same_rounding(const struct layer *a, const struct layer *b)
{
    const struct stage *x = &a->stages[0], *y = &b->stages[0];
    if (a->stage_count != b->stage_count || a->output_bits != b->output_bits || a->is_intermediate != b->is_intermediate)
        return false;
    return a->stage_count == 0 || (x->rounding == ROUND_FLOOR && y->rounding == ROUND_FLOOR && x->has_clip == y->has_clip &&
                                   (!x->has_clip || (x->minimum == y->minimum && x->maximum == y->maximum)));
}

static bool are_siblings(const struct siblings *s)
{
    const struct layer *first = &s->network->layers[s->leaves[0]];
    for (int i = 0; i < s->leaf_count; i++) {
        const struct layer *layer = &s->network->layers[s->leaves[i]];
        if (layer->kind != LAYER_CONVOLUTION || layer->groups != 1 || layer->stage_count > 1 || !same_window(first, layer) ||
            !same_rounding(first, layer))
            return false;
    }
    return true;
}

/* ---- the one layer ---- */

/* The least common multiple of all divisors; 0 where 64 bits do not hold it. */
static int64_t common_divisor(const struct siblings *s)
{
    int64_t common = 1;
    for (int i = 0; i < s->leaf_count; i++) {
        int64_t divisor = s->network->layers[s->leaves[i]].stages[0].divisor;
        int64_t factor = divisor / (int64_t)greatest_common_divisor(common, divisor);
        if (__builtin_mul_overflow(common, factor, &common))
            return 0;
    }
    return common;
}

/* Multipliers and addends of all channels over one divisor. False where they exceed 64 bits. */
static bool join_stages(const struct siblings *s, int channels, struct stage *stage)
{
    int64_t *multiplier = arena_array(s->arena, int64_t, (size_t)channels);
    int64_t *addend = arena_array(s->arena, int64_t, (size_t)channels);
    int64_t divisor = common_divisor(s);
    for (int i = 0, to = 0; divisor != 0 && i < s->leaf_count; i++) {
        const struct layer *layer = &s->network->layers[s->leaves[i]];
        const struct stage *from = &layer->stages[0];
        int64_t factor = divisor / from->divisor;
        for (int c = 0; c < s->network->tensors[layer->output].channels; c++, to++) {
            int at = from->count == 1 ? 0 : c;
            if (__builtin_mul_overflow(from->multiplier[at], factor, &multiplier[to]) ||
                __builtin_mul_overflow(from->addend[at], factor, &addend[to]))
                return false;
        }
    }
    *stage = s->network->layers[s->leaves[0]].stages[0];
    stage->count = channels;
    stage->multiplier = multiplier;
    stage->addend = addend;
    stage->divisor = divisor;
    return divisor != 0;
}

static void join_weights(const struct siblings *s, size_t all_channels, struct layer *joined)
{
    const struct network *network = s->network;
    size_t each =
        (size_t)network->tensors[joined->inputs[0]].channels * (size_t)joined->kernel_height * (size_t)joined->kernel_width;
    int8_t *weights = arena_allocate_array(s->arena, all_channels, each), *to = weights;
    for (int i = 0; i < s->leaf_count; i++) {
        const struct layer *layer = &network->layers[s->leaves[i]];
        size_t bytes = (size_t)network->tensors[layer->output].channels * each;
        memcpy(to, layer->weights, bytes);
        to += bytes;
        joined->weight_bits = layer->weight_bits > joined->weight_bits ? layer->weight_bits : joined->weight_bits;
    }
    joined->weights = weights;
}

/* The concatenation becomes the layer; its siblings are read by nobody then. */
static void join(const struct siblings *s, int root)
{
    struct layer *concatenation = &s->network->layers[root], joined = s->network->layers[s->leaves[0]];
    int channels = s->network->tensors[concatenation->output].channels;
    if (joined.stage_count && !join_stages(s, channels, &joined.stages[0]))
        return;
    join_weights(s, (size_t)channels, &joined);
    joined.output = concatenation->output;
    *concatenation = joined;
}

/* Outputs of the network are read by nobody's layer. */
static void find_readers(const struct network *network, int *readers, int *last_reader)
{
    for (int i = 0; i < network->tensor_count; i++)
        last_reader[i] = NO_LAYER;
    for (int i = 0; i < network->output_count; i++)
        readers[network->outputs[i]]++;
    for (int i = 0; i < network->layer_count; i++)
        for (int k = 0; k < layer_input_count(&network->layers[i]); k++) {
            readers[network->layers[i].inputs[k]]++;
            last_reader[network->layers[i].inputs[k]] = i;
        }
}

void network_join_siblings(struct network *network, struct arena *arena)
{
    size_t layers = (size_t)network->layer_count, tensors = (size_t)network->tensor_count;
    int *readers = arena_array(arena, int, tensors), *last_reader = arena_array(arena, int, tensors);
    struct siblings s = {.network = network,
                         .arena = arena,
                         .readers = readers,
                         .last_reader = last_reader,
                         .leaves = arena_array(arena, int, layers + 1),
                         .open = arena_array(arena, int, layers + 2)};
    find_readers(network, readers, last_reader);
    for (int i = 0; i < network->layer_count; i++)
        if (is_plain_concatenation(&network->layers[i]) && !is_inner(&s, network->layers[i].output) &&
            collect_leaves(&s, i) && are_siblings(&s))
            join(&s, i);
}
