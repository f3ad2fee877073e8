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
                    pixel % width * (uint64_t)view->column_step + channel * (uint64_t)view->channel_step;
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

/* What the copy would have moved from one tensor to the other lies in one place. */
static bool has_copied(const struct network *network, const struct layer *copy)
{
    const struct tensor *from = &network->tensors[copy->inputs[0]], *to = &network->tensors[copy->output];
    uint64_t bytes = (uint64_t)to->bits / 8, byte = 0;
    bool has = true;
    for (int y = 0; y < to->height; y++)
        for (int x = 0; has && x < to->width; x++)
            for (int c = 0; has && c < to->channels; c++, byte += bytes) {
                uint64_t moved = copied_byte(network->copied, copy, y, x, c);
                has = moved != UINT64_MAX && check_home_byte(from, moved) == check_home_byte(to, byte);
            }
    return has;
}

/* Of a view that a layer computes, the copy that read it; all of its elements, for nobody else is to find them. Of one that
 * is read, the copy that made it; null: there is none such. */
static const struct layer *copy_of(const struct network *network, int index, bool *is_computed)
{
    const struct network *copied = network->copied;
    int producer = copied && index < copied->tensor_count ? copied->tensors[index].producer : NO_LAYER, readers = 0;
    const struct layer *made = producer == NO_LAYER ? NULL : &copied->layers[producer], *copy = NULL;
    *is_computed = made && made->kind != LAYER_COPY;
    for (int i = 0; *is_computed && i < copied->layer_count; i++)
        if (layer_reads(&copied->layers[i], index)) {
            copy = &copied->layers[i];
            readers++;
        }
    bool is_all = *is_computed && readers == 1 && copy->output == network->tensors[index].view->of &&
                  !network_is_output(copied, index) &&
                  tensor_elements(&copied->tensors[index]) == tensor_elements(&copied->tensors[copy->output]);
    const struct layer *found = *is_computed ? (is_all ? copy : NULL) : made;
    return found && found->kind == LAYER_COPY && found->stage_count == 0 ? found : NULL;
}

static bool is_same_kind(const struct tensor *a, const struct tensor *b)
{
    return a->bits == b->bits && a->is_signed == b->is_signed && a->bits % 8 == 0 && a->bits > 0;
}

/* As it was; in one piece that is wide enough for the view. */
static bool has_room(const struct plan *plan, int index)
{
    const struct network *network = plan->network;
    const struct tensor *tensor = &network->tensors[index], *was = &network->copied->tensors[index];
    const struct plan_tensor *home = &plan->tensors[tensor->view->of], *planned = &plan->tensors[index];
    enum dory_layout layout = tensor->view->channel_step == 1 ? DORY_HWC : DORY_CHW;
    bool shape = was->height == tensor->height && was->width == tensor->width && was->channels == tensor->channels;
    return shape && check_home_byte(tensor, planned->bytes - 1) < home->bytes && home->level == IN_L2 &&
           home->layout == DORY_HWC && planned->layout == layout && planned->level == IN_L2 &&
           planned->buffer == home->buffer;
}

static bool is_sound(const struct plan *plan, int index)
{
    const struct network *network = plan->network;
    const struct tensor *tensor = &network->tensors[index];
    int of = tensor->view->of;
    bool is_computed;
    const struct layer *copy = copy_of(network, index, &is_computed);
    if (of < 0 || of >= network->tensor_count || network->tensors[of].view || !copy ||
        !is_same_kind(tensor, &network->tensors[of]) || tensor->view->first < 0)
        return false;
    return (is_computed || tensor->view->channel_step == 1) && has_room(plan, index) &&
           tensor_home(network, copy->inputs[0]) == of &&
           (has_copied(network, copy) || (!is_computed && nothing_depends_on(network, index)));
}

void check_views(struct checker *checker)
{
    const struct plan *plan = checker->plan;
    for (int t = 0; t < plan->network->tensor_count; t++)
        if (plan->network->tensors[t].view && !is_sound(plan, t))
            check_fault(checker, "tensor '%s' has not what a copy of another would have", plan->network->tensors[t].name);
}
