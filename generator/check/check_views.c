/* Tensors that are views: each is in its home, and has there what the copy that is gone would have moved. */
#include "check/checker.h"

uint64_t check_home_byte(const struct tensor *tensor, uint64_t byte)
{
    const struct tensor_view *view = tensor->view;
    if (!view)
        return byte;
    uint64_t bytes = (uint64_t)tensor->bits / 8, element = byte / bytes, channel = element % (uint64_t)tensor->channels;
    uint64_t pixel = element / (uint64_t)tensor->channels, width = (uint64_t)tensor->width;
    uint64_t home = (uint64_t)view->first + pixel / width * (uint64_t)view->row_step +
                    pixel % width * (uint64_t)view->column_step + channel;
    return home * bytes + byte % bytes;
}

/* The byte that the copy reads for one of its output; UINT64_MAX: it lays a border there. */
static uint64_t copied_byte(const struct network *network, const struct layer *copy, int row, int column, int channel)
{
    const int32_t positions[] = {copy->map.rows[row], copy->map.columns[column], copy->map.channels[channel]};
    const struct tensor *input = &network->tensors[copy->inputs[0]];
    for (int i = 0; i < 3; i++)
        if (positions[i] < 0)
            return UINT64_MAX;
    return (uint64_t)((int64_t)positions[0] + positions[1] + positions[2]) * ((uint64_t)input->bits / 8);
}

/* All weights are 0 that it is multiplied by. */
static bool nothing_depends_on(const struct network *network, int tensor)
{
    bool nothing = true;
    for (int i = 0; i < network->layer_count; i++) {
        const struct layer *layer = &network->layers[i];
        if (layer->inputs[0] != tensor && layer_operand(layer, 1) != tensor)
            continue;
        int64_t each = network->tensors[tensor].channels / layer->groups * layer->kernel_height * layer->kernel_width;
        for (int64_t k = 0; layer->kind == LAYER_CONVOLUTION && k < each * network->tensors[layer->output].channels; k++)
            nothing = nothing && layer->weights[k] == 0;
        nothing = nothing && layer->kind == LAYER_CONVOLUTION;
    }
    return nothing;
}

static bool has_copied(const struct network *network, int tensor)
{
    const struct network *copied = network->copied;
    const struct tensor *own = &network->tensors[tensor];
    const struct layer *copy = &copied->layers[copied->tensors[tensor].producer];
    uint64_t bytes = (uint64_t)own->bits / 8, byte = 0;
    bool has = true;
    for (int y = 0; y < own->height; y++)
        for (int x = 0; has && x < own->width; x++)
            for (int c = 0; has && c < own->channels; c++, byte += bytes) {
                uint64_t from = copied_byte(copied, copy, y, x, c);
                has = from != UINT64_MAX &&
                      check_home_byte(&network->tensors[copy->inputs[0]], from) == check_home_byte(own, byte);
            }
    return has;
}

static bool is_same_kind(const struct tensor *a, const struct tensor *b)
{
    return a->bits == b->bits && a->is_signed == b->is_signed && a->bits % 8 == 0 && a->bits > 0;
}

static bool is_sound(const struct plan *plan, int index)
{
    const struct network *network = plan->network, *copied = network->copied;
    const struct tensor *tensor = &network->tensors[index];
    int of = tensor->view->of,
        producer = copied && index < copied->tensor_count ? copied->tensors[index].producer : NO_LAYER;
    if (of < 0 || of >= network->tensor_count || network->tensors[of].view || producer == NO_LAYER ||
        !is_same_kind(tensor, &network->tensors[of]) || tensor->view->first < 0)
        return false;
    const struct layer *copy = &copied->layers[producer];
    const struct tensor *was = &copied->tensors[index];
    uint64_t last = check_home_byte(tensor, plan->tensors[index].bytes - 1);
    bool shape = was->height == tensor->height && was->width == tensor->width && was->channels == tensor->channels;
    return shape && copy->kind == LAYER_COPY && copy->stage_count == 0 && last < plan->tensors[of].bytes &&
           tensor_home(network, copy->inputs[0]) == of && plan->tensors[of].level == IN_L2 &&
           plan->tensors[of].layout == DORY_HWC && plan->tensors[index].layout == DORY_HWC &&
           plan->tensors[index].level == IN_L2 && plan->tensors[index].buffer == plan->tensors[of].buffer &&
           (has_copied(network, index) || nothing_depends_on(network, index));
}

void check_views(struct checker *checker)
{
    const struct plan *plan = checker->plan;
    for (int t = 0; t < plan->network->tensor_count; t++)
        if (plan->network->tensors[t].view && !is_sound(plan, t))
            check_fault(checker, "tensor '%s' has not what a copy of another would have", plan->network->tensors[t].name);
}
