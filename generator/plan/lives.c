#include "plan/lives.h"

#include "plan/plan.h"
#include "plan/views.h"

void tensor_lives(const struct network *network, struct tensor_life *lives)
{
    for (int t = 0; t < network->tensor_count; t++) {
        int producer = network->tensors[t].producer, next = producer + 1 < network->layer_count ? producer + 1 : producer;
        struct tensor_life life = {producer == NO_LAYER ? 0 : producer, producer == NO_LAYER ? 0 : next, 0,
                                   tensor_is_viewed(network, t)};
        for (int l = 0; l < network->layer_count; l++)
            for (int i = 0; i < layer_input_count(&network->layers[l]); i++)
                if (network->layers[l].inputs[i] == t || tensor_home(network, network->layers[l].inputs[i]) == t) {
                    life.last = l > life.last ? l : life.last;
                    life.readers++;
                }
        for (int i = 0; i < network->output_count; i++)
            life.last = network->outputs[i] == t ? network->layer_count - 1 : life.last;
        lives[t] = life;
    }
}

const uint32_t *buffers_live_bytes(const struct plan_buffer *buffers, int count, int step_count, struct arena *arena)
{
    uint32_t *live = arena_array(arena, uint32_t, (size_t)step_count + 1);
    for (int i = 0; i < count; i++)
        for (int step = buffers[i].first_step; step <= buffers[i].last_step; step++)
            live[step] += buffers[i].bytes;
    return live;
}
