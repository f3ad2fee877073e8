/* Pass `layouts`: tensors in CHW. Whether one pays depends on the two layers at its ends and on nothing else: a producer
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

/* Cycles of a layer that is done in one step, with everything in L2; UINT64_MAX: it cannot be. */
static uint64_t cycles_of(const struct planner *planner, const struct dory_layer *run)
{
    struct arena scratch = {0};
    struct planned_layer layer = {.run = *run};
    struct dory_step step = {.rows = run->output_height, .channels = run->output_channels};
    uint64_t best = UINT64_MAX;
    step.input[0] = (struct dory_window){.rows = run->input_height, .channels = run->input_channels};
    step.output = (struct dory_window){.rows = run->output_height, .channels = run->output_channels};
    int count = find_kernels(planner, &layer, &scratch);
    for (int i = 0; i < count; i++) {
        struct tile_problem problem = {.layer = &layer.run,
                                       .kernel = layer.kernels[i],
                                       .target = planner->target,
                                       .cores = planner->cores,
                                       .l1_bytes = planner->l1_bytes,
                                       .steps = &step,
                                       .step_count = 1,
                                       .cycles = layer.cycles[i]};
        struct tiling tiling;
        struct tile_cost cost;
        if (tile_search(&problem, best, &tiling, &cost))
            best = cost.cycles;
    }
    arena_free(&scratch);
    return best;
}

/* The two layers see the same tensor, and not one that was reshaped between them. */
static bool fit_together(const struct dory_layer *producer, const struct dory_layer *consumer)
{
    return producer->operation == DORY_CONVOLUTION && consumer->operation == DORY_DEPTHWISE &&
           producer->output_height == consumer->input_height && producer->output_width == consumer->input_width &&
           producer->output_channels == consumer->input_channels;
}

static bool pays(const struct planner *planner, const struct dory_layer *producer, const struct dory_layer *consumer,
                 bool all)
{
    struct dory_layer writes = *producer, reads = *consumer;
    writes.output_layout = reads.input_layout = DORY_CHW;
    uint64_t writing = cycles_of(planner, &writes),
             reading = writing == UINT64_MAX ? UINT64_MAX : cycles_of(planner, &reads);
    if (reading == UINT64_MAX || all)
        return reading != UINT64_MAX;
    return writing + reading < cycles_of(planner, producer) + cycles_of(planner, consumer);
}

/* The answer for the same pair of layers before; networks repeat themselves. -1: there is none. */
static int answer_before(const struct planner *planner, const int *answers, int tensor, const int *readers)
{
    const struct tensor *tensors = planner->network->tensors;
    const struct planned_layer *layers = planner->layers;
    for (int t = 0; t < tensor; t++)
        if (answers[t] >= 0 && is_same_layer(&layers[tensors[t].producer].run, &layers[tensors[tensor].producer].run) &&
            is_same_layer(&layers[readers[t]].run, &layers[readers[tensor]].run))
            return answers[t];
    return -1;
}

int layouts_choose(const struct planner *planner, bool all, enum dory_layout *layouts)
{
    const struct network *network = planner->network;
    int *answers = arena_array(planner->arena, int, (size_t)network->tensor_count), count = 0;
    int *readers = arena_array(planner->arena, int, (size_t)network->tensor_count);
    for (int t = 0; t < network->tensor_count; t++) {
        int producer = network->tensors[t].producer;
        layouts[t] = DORY_HWC;
        answers[t] = -1;
        readers[t] = only_reader(network, t);
        if (producer == NO_LAYER || readers[t] < 0 || planner->homes[t] != HOME_L2 ||
            !fit_together(&planner->layers[producer].run, &planner->layers[readers[t]].run))
            continue;
        answers[t] = answer_before(planner, answers, t, readers);
        if (answers[t] < 0)
            answers[t] = pays(planner, &planner->layers[producer].run, &planner->layers[readers[t]].run, all);
        layouts[t] = answers[t] ? DORY_CHW : DORY_HWC;
        count += answers[t];
    }
    return count;
}
