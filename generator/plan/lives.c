#include "plan/lives.h"

#include "plan/plan.h"

void tensor_lives(const struct network *network, struct tensor_life *lives)
{
    for (int t = 0; t < network->tensor_count; t++) {
        int producer = network->tensors[t].producer, next = producer + 1 < network->layer_count ? producer + 1 : producer;
        struct tensor_life life = {producer == NO_LAYER ? 0 : producer, producer == NO_LAYER ? 0 : next, 0};
        for (int l = 0; l < network->layer_count; l++)
            for (int i = 0; i < layer_input_count(&network->layers[l]); i++)
                if (network->layers[l].inputs[i] == t) {
                    life.last = l > life.last ? l : life.last;
                    life.readers++;
                }
        for (int i = 0; i < network->output_count; i++)
            life.last = network->outputs[i] == t ? network->layer_count - 1 : life.last;
        lives[t] = life;
    }
}

uint32_t buffers_live_bytes(const struct plan_buffer *buffers, int count, int step)
{
    uint32_t sum = 0;
    for (int i = 0; i < count; i++)
        if (buffers[i].first_step <= step && step <= buffers[i].last_step)
            sum += buffers[i].bytes;
    return sum;
}
