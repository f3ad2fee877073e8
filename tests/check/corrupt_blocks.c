/* Blocks that are wrong: rings and turns. */
#include "corruptions.h"

/* A tensor of which there is a ring that is less than all of it, from `choice` on; -1: there is none. */
static int ring_of(const struct plan *plan, uint32_t choice)
{
    for (int i = 0; i < plan->network->tensor_count; i++) {
        int tensor = (int)((choice + (uint32_t)i) % (uint32_t)plan->network->tensor_count);
        const struct plan_tensor *planned = &plan->tensors[tensor];
        if (planned->level == IN_RING && plan->buffers[planned->buffer].bytes < planned->bytes)
            return tensor;
    }
    return -1;
}

/* All steps agree on a ring with a row less. */
static bool ring_too_small(struct plan *plan, uint32_t choice)
{
    int tensor = ring_of(plan, choice);
    for (int i = 0; tensor >= 0 && i < plan->step_count; i++) {
        struct plan_step *step = &plan->steps[i];
        struct dory_window *windows[] = {&step->record.input[0], &step->record.input[1], &step->record.output};
        int buffers[] = {step->input_buffer[0], step->input_buffer[1], step->output_buffer};
        for (int j = 0; j < 3; j++)
            windows[j]->rows = (uint16_t)(windows[j]->rows - (buffers[j] == plan->tensors[tensor].buffer));
    }
    return tensor >= 0;
}

/* The step that writes a ring, or the first one that reads it, from `choice` on. */
static struct plan_step *step_at_ring(struct plan *plan, uint32_t choice, bool writes)
{
    int tensor = ring_of(plan, choice), buffer = tensor < 0 ? -2 : plan->tensors[tensor].buffer;
    for (int i = 0; i < plan->step_count; i++) {
        struct plan_step *step = chosen_step(plan, choice + (uint32_t)i);
        if ((writes ? step->output_buffer : step->input_buffer[0]) == buffer)
            return step;
    }
    return NULL;
}

static bool ring_turned_for_writer(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = step_at_ring(plan, choice, true);
    if (!step || step->record.output.rows < 2)
        return false;
    step->record.output.first_row = (uint16_t)(step->record.output.first_row ? step->record.output.first_row - 1 : 1);
    return true;
}

static bool ring_turned_for_reader(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = step_at_ring(plan, choice, false);
    if (!step || step->record.input[0].rows < 2)
        return false;
    step->record.input[0].first_row = (uint16_t)(step->record.input[0].first_row ? step->record.input[0].first_row - 1 : 1);
    return true;
}

static bool ring_dies_early(struct plan *plan, uint32_t choice)
{
    int tensor = ring_of(plan, choice);
    if (tensor >= 0)
        plan->buffers[plan->tensors[tensor].buffer].last_step--;
    return tensor >= 0;
}

static bool ring_comes_late(struct plan *plan, uint32_t choice)
{
    int tensor = ring_of(plan, choice);
    if (tensor >= 0)
        plan->buffers[plan->tensors[tensor].buffer].first_step++;
    return tensor >= 0;
}

static bool ring_taken_for_a_tensor(struct plan *plan, uint32_t choice)
{
    int tensor = ring_of(plan, choice);
    if (tensor >= 0)
        plan->tensors[tensor].level = IN_L2;
    return tensor >= 0;
}

static bool turn_does_not_drain(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = step_at_ring(plan, choice, false);
    if (!step || step == plan->steps || step[-1].layer == step->layer)
        return false;
    step->record.drain = 0;
    return true;
}

static bool layers_in_no_block(struct plan *plan, uint32_t choice)
{
    int tensor = ring_of(plan, choice);
    if (tensor >= 0)
        plan->layers[plan->network->tensors[tensor].producer].block = -1;
    return tensor >= 0;
}

static bool another_layers_number(struct plan *plan, uint32_t choice)
{
    chosen_step(plan, choice)->record.layer_number++;
    return true;
}

/* A step of a product by queries, from `choice` on. */
static struct plan_step *step_of_queries(struct plan *plan, uint32_t choice)
{
    for (int i = 0; i < plan->step_count; i++) {
        struct plan_step *step = chosen_step(plan, choice + (uint32_t)i);
        const struct dory_layer *record = &plan->layers[step->layer].record;
        if (record->operation == DORY_MATRIX_PRODUCT && record->matrix_product.sharing_rows)
            return step;
    }
    return NULL;
}

static bool heads_of_more_queries(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = step_of_queries(plan, choice);
    if (step)
        plan->layers[step->layer].record.matrix_product.sharing_rows++;
    return step != NULL;
}

static bool rows_that_share_nothing(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = step_of_queries(plan, choice);
    if (step)
        plan->layers[step->layer].record.matrix_product.sharing_rows = 0;
    return step != NULL;
}

static bool queries_of_the_next_head(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = step_of_queries(plan, choice);
    if (step)
        step->record.first_row =
            (uint16_t)(step->record.first_row + plan->layers[step->layer].record.matrix_product.sharing_rows);
    return step != NULL;
}

static bool keys_without_their_head(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = step_of_queries(plan, choice);
    if (!step || step->record.input[1].rows < 2)
        return false;
    struct dory_window *keys = &step->record.input[1];
    uint32_t head = step->record.first_row / plan->layers[step->layer].record.matrix_product.sharing_rows;
    keys->first_row = head == 0;
    keys->rows = (uint16_t)(head ? head : keys->rows - 1u);
    return true;
}

const struct corruption corruptions_of_blocks[] = {
    CORRUPTION(ring_too_small),          CORRUPTION(ring_turned_for_writer),
    CORRUPTION(ring_turned_for_reader),  CORRUPTION(ring_dies_early),
    CORRUPTION(ring_comes_late),         CORRUPTION(ring_taken_for_a_tensor),
    CORRUPTION(turn_does_not_drain),     CORRUPTION(layers_in_no_block),
    CORRUPTION(another_layers_number),   CORRUPTION(heads_of_more_queries),
    CORRUPTION(rows_that_share_nothing), CORRUPTION(queries_of_the_next_head),
    CORRUPTION(keys_without_their_head), {.name = NULL},
};
