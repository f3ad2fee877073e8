/* Pass `layouts`: tensors in CHW. Whether one can be depends on the two layers at its ends and on nothing else: a producer
 * that may write planes, a depth-wise consumer that may read them. */
#include "plan/planner.h"

/* The only layer that reads a tensor, as its first input; -1 where there are more, or it is an output of the network. */
static int only_reader(const struct network *network, int tensor)
{
    int reader = -1;
    for (int l = 0; l < network->layer_count; l++)
        for (int i = 0; i < layer_input_count(&network->layers[l]); i++)
            if (network->layers[l].inputs[i] == tensor) {
                if (reader >= 0 || i > 0)
                    return -1;
                reader = l;
            }
    for (int i = 0; i < network->output_count; i++)
        if (network->outputs[i] == tensor)
            return -1;
    return reader;
}

/* The two layers see the same tensor, and not one that was reshaped between them. */
static bool fit_together(const struct dory_layer *producer, const struct dory_layer *consumer)
{
    return producer->operation == DORY_CONVOLUTION && consumer->operation == DORY_DEPTHWISE &&
           producer->output_height == consumer->input_height && producer->output_width == consumer->input_width &&
           producer->output_channels == consumer->input_channels;
}

/* Cycles of a layer that is done in one step, with everything in L2; UINT64_MAX: it cannot be. */
static uint64_t cycles_of(struct planner *planner, int layer)
{
    const struct dory_layer *run = &planner->runs[layer];
    struct cut *cut = cut_get(planner, layer, run->output_height, run->output_channels, false, 0);
    return cut_solve(planner, layer, cut) ? cut->cost.cycles : UINT64_MAX;
}

static uint64_t cycles_in(struct planner *planner, enum dory_layout layout, int tensor, int reader)
{
    planner->layouts[tensor] = layout;
    uint64_t writing = cycles_of(planner, planner->network->tensors[tensor].producer);
    uint64_t reading = writing == UINT64_MAX ? UINT64_MAX : cycles_of(planner, reader);
    planner->layouts[tensor] = DORY_HWC;
    return reading == UINT64_MAX ? UINT64_MAX : writing + reading;
}

static enum layout_choice choose(struct planner *planner, int tensor, int reader)
{
    uint64_t chw = cycles_in(planner, DORY_CHW, tensor, reader);
    if (chw == UINT64_MAX)
        return LAYOUT_HWC;
    if (planner->options->layouts == LAYOUTS_CHW)
        return LAYOUT_PAYS;
    return chw < cycles_in(planner, DORY_HWC, tensor, reader) ? LAYOUT_PAYS : LAYOUT_MAY;
}

void layouts_find(struct planner *planner, enum layout_choice *choices)
{
    const struct network *network = planner->network;
    for (int t = 0; t < network->tensor_count; t++) {
        int producer = network->tensors[t].producer, reader = only_reader(network, t);
        choices[t] = LAYOUT_HWC;
        if (producer != NO_LAYER && reader >= 0 && planner->options->layouts != LAYOUTS_HWC &&
            fit_together(&planner->runs[producer], &planner->runs[reader]))
            choices[t] = choose(planner, t, reader);
    }
}
