/* What people are told that the buffers of a plan are for. */
#include "plan/operand.h"
#include "plan/plan.h"

/* Of a step whose window, or whose weights, a buffer has: what is in it; null: it has neither. */
static const char *name_of_window(const struct plan *plan, const struct plan_step *step, int buffer, struct arena *arena)
{
    const struct network *network = plan->network;
    if (step->weights_buffer == buffer)
        return arena_format(arena, "%s weights, channels %d-%d", network->layers[step->layer].name,
                            step->record.first_channel, step->record.first_channel + step->record.channels - 1);
    for (unsigned i = 0; i < 3; i++) {
        const struct dory_window *window = operand_window(&step->record, i);
        if ((i == 2 ? step->output_buffer : step->input_buffer[i]) == buffer)
            return arena_format(arena, "%s, rows %d-%d, channels %d-%d", network->tensors[plan->buffers[buffer].tensor].name,
                                window->first_row, window->first_row + window->rows - 1, window->first_channel,
                                window->first_channel + window->channels - 1);
    }
    return NULL;
}

static const char *name_of(const struct plan *plan, int index, struct arena *arena)
{
    const struct plan_buffer *buffer = &plan->buffers[index];
    const char *name = buffer->tensor < 0 ? NULL : plan->network->tensors[buffer->tensor].name;
    if (buffer->kind == BUFFER_TENSOR)
        return name;
    if (buffer->kind == BUFFER_RING)
        return arena_format(arena, "%s, ring of rows", name);
    name = NULL;
    for (int i = buffer->first_step; i <= buffer->last_step && !name; i++)
        name = name_of_window(plan, &plan->steps[i], index, arena);
    return name ? name : "";
}

void plan_name_buffers(struct plan *plan, struct arena *arena)
{
    for (int i = 0; i < plan->buffer_count; i++)
        plan->buffers[i].name = name_of(plan, i, arena);
}
