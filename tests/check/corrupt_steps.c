/* Steps, transfers and buffers that are wrong. */
#include <stdlib.h>

#include "corruptions.h"
#include "dory/hal.h"

struct plan_step *chosen_step(struct plan *plan, uint32_t choice)
{
    return &plan->steps[choice % (uint32_t)plan->step_count];
}
struct plan_layer *chosen_layer(struct plan *plan, uint32_t choice)
{
    return &plan->layers[choice % (uint32_t)plan->network->layer_count];
}

/* From `choice` on; null: there is none. */
static struct plan_transfer *chosen_transfer(struct plan *plan, uint32_t choice, int kind)
{
    for (int i = 0; i < plan->transfer_count; i++) {
        struct plan_transfer *transfer = &plan->transfers[(choice + (uint32_t)i) % (uint32_t)plan->transfer_count];
        if (transfer->record.kind == kind)
            return transfer;
    }
    return NULL;
}

static struct plan_step *chosen_step_with_weights(struct plan *plan, uint32_t choice)
{
    for (int i = 0; i < plan->step_count; i++)
        if (plan->layers[chosen_step(plan, choice + (uint32_t)i)->layer].weights_bytes > 0)
            return chosen_step(plan, choice + (uint32_t)i);
    return NULL;
}

static bool output_moved(struct plan *plan, uint32_t choice)
{
    chosen_step(plan, choice)->record.output.offset += 8;
    return true;
}

static bool input_moved(struct plan *plan, uint32_t choice)
{
    chosen_step(plan, choice)->record.input[0].offset ^= 8;
    return true;
}

static bool weights_moved(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = chosen_step_with_weights(plan, choice);
    step->record.weights_offset += 16;
    return true;
}

static bool fewer_rows(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = chosen_step(plan, choice);
    step->record.rows--;
    return true;
}

static bool fewer_channels(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = chosen_step(plan, choice);
    step->record.channels = (uint16_t)(step->record.channels > 4 ? step->record.channels - 4 : 0);
    return true;
}

static bool rows_twice(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = chosen_step(plan, choice);
    if (step->record.first_row == 0)
        return false;
    step->record.first_row--;
    step->record.output.first_row = (uint16_t)(step->record.output.first_row ? step->record.output.first_row - 1 : 0);
    return true;
}

static bool window_misses_a_row(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = chosen_step(plan, choice);
    const struct dory_layer *record = &plan->layers[step->layer].record;
    struct dory_window *window = &step->record.input[0];
    int32_t last =
        dory_first_input_row(record, step->record.first_row) + (int32_t)dory_input_rows(record, step->record.rows) - 1;
    last = last < record->input_height ? last : record->input_height - 1;
    bool is_ring = last >= window->first_row + window->rows;
    int32_t rows = is_ring ? window->rows - 1 : last - window->first_row; /* the last row that is read is not there */
    if (rows < 1)
        return false;
    window->rows = (uint16_t)rows;
    return true;
}

/* Awaiting nothing is only wrong where something new is needed. */
static bool nothing_awaited(struct plan *plan, uint32_t choice)
{
    uint32_t index = choice % (uint32_t)plan->step_count;
    uint16_t before = index ? plan->steps[index - 1].record.transfers_awaited : 0;
    if (plan->steps[index].record.transfers_awaited == before)
        return false;
    for (; index < (uint32_t)plan->step_count; index++)
        plan->steps[index].record.transfers_awaited = before;
    return true;
}

/* Of what it needs itself: steps may await what only those behind them need. */
static bool awaits_less(struct plan *plan, uint32_t choice)
{
    uint32_t index = choice % (uint32_t)plan->step_count;
    uint16_t before = index ? plan->steps[index - 1].record.transfers_awaited : 0;
    uint16_t *awaited = &plan->steps[index].record.transfers_awaited;
    if (*awaited == before || plan->transfers[*awaited - 1].needed_step > (int)index)
        return false;
    --*awaited;
    return true;
}

/* Everything is queued in front of the first step: then most buffers are not free. */
static bool all_started_at_once(struct plan *plan, uint32_t choice)
{
    (void)choice;
    if (plan->steps[0].record.transfers_started == plan->transfer_count)
        return false;
    for (int i = 0; i < plan->step_count; i++)
        plan->steps[i].record.transfers_started = (uint16_t)plan->transfer_count;
    for (int i = 0; i < plan->transfer_count; i++)
        plan->transfers[i].start_step = 0;
    return true;
}

static bool first_step_does_not_drain(struct plan *plan, uint32_t choice)
{
    plan->steps[chosen_layer(plan, choice)->first_step].record.drain = 0;
    return true;
}

/* A step hands results to RAM that may not have arrived. */
static bool results_not_drained(struct plan *plan, uint32_t choice)
{
    for (int i = 0; i < plan->transfer_count; i++) {
        struct plan_transfer *write = chosen_transfer(plan, choice + (uint32_t)i, HAL_RAM_WRITE);
        if (!write || write->start_step >= plan->step_count)
            continue;
        struct dory_step *step = &plan->steps[write->start_step].record;
        if (step->drain && plan->steps[write->start_step].layer == plan->steps[write->start_step - 1].layer) {
            step->drain = 0;
            return true;
        }
    }
    return false;
}

static bool layer_ends_early(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = chosen_layer(plan, choice);
    if (layer->step_count < 2)
        return false;
    plan->steps[layer->first_step].record.last_of_layer = 1;
    return true;
}

static bool layer_does_not_end(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = chosen_layer(plan, choice);
    plan->steps[layer->last_step].record.last_of_layer = 0;
    return true;
}

static bool steps_swapped(struct plan *plan, uint32_t choice)
{
    uint32_t index = choice % (uint32_t)(plan->step_count - 1);
    struct plan_step step = plan->steps[index];
    if (abs(step.layer - plan->steps[index + 1].layer) > 1)
        return false; /* turns of layers in a block that have nothing to do with each other */
    plan->steps[index] = plan->steps[index + 1];
    plan->steps[index + 1] = step;
    return true;
}

static bool flash_address_wrong(struct plan *plan, uint32_t choice)
{
    struct plan_transfer *transfer = chosen_transfer(plan, choice, HAL_FLASH_READ);
    if (transfer)
        transfer->record.l3_address ^= 16;
    return transfer != NULL;
}

static bool transfer_too_short(struct plan *plan, uint32_t choice)
{
    struct plan_transfer *transfer = chosen_transfer(plan, choice, HAL_FLASH_READ);
    if (transfer)
        transfer->record.run_bytes -= 16;
    return transfer != NULL;
}

static bool transfer_too_long(struct plan *plan, uint32_t choice)
{
    struct plan_transfer *transfer = chosen_transfer(plan, choice, HAL_FLASH_READ);
    if (transfer)
        transfer->record.run_bytes += 1 << 20;
    return transfer != NULL;
}

static bool transfer_unaligned(struct plan *plan, uint32_t choice)
{
    struct plan_transfer *transfer = chosen_transfer(plan, choice, HAL_FLASH_READ);
    if (transfer)
        transfer->record.run_bytes -= 2;
    return transfer != NULL;
}

static bool transfer_elsewhere(struct plan *plan, uint32_t choice)
{
    struct plan_transfer *transfer = chosen_transfer(plan, choice, HAL_FLASH_READ);
    if (transfer)
        transfer->record.l2_offset = plan->l2_peak_bytes;
    return transfer != NULL;
}

static bool ram_address_wrong(struct plan *plan, uint32_t choice)
{
    struct plan_transfer *transfer = chosen_transfer(plan, choice, HAL_RAM_READ);
    if (!transfer)
        return false;
    transfer->record.l3_address ^= 4;
    return true;
}

static bool ram_write_lost(struct plan *plan, uint32_t choice)
{
    struct plan_transfer *transfer = chosen_transfer(plan, choice, HAL_RAM_WRITE);
    if (!transfer)
        return false;
    transfer->record.kind = HAL_RAM_READ;
    return true;
}

/* An address wrong by a whole buffer: everything that refers to it follows, only the neighbours do not. */
static void move_buffer(struct plan *plan, int index, uint32_t offset)
{
    uint32_t by = offset - plan->buffers[index].offset;
    plan->buffers[index].offset = offset;
    for (int i = 0; i < plan->step_count; i++) {
        struct plan_step *step = &plan->steps[i];
        step->record.output.offset += step->output_buffer == index ? by : 0;
        step->record.input[0].offset += step->input_buffer[0] == index ? by : 0;
        step->record.input[1].offset += step->input_buffer[1] == index ? by : 0;
        step->record.weights_offset += step->weights_buffer == index ? by : 0;
    }
    for (int i = 0; i < plan->transfer_count; i++)
        plan->transfers[i].record.l2_offset += plan->transfers[i].buffer == index ? by : 0;
}

static bool buffers_overlap(struct plan *plan, uint32_t choice)
{
    for (int i = 0; i < plan->buffer_count; i++)
        for (int j = 0; j < plan->buffer_count; j++) {
            const struct plan_buffer *a = &plan->buffers[((uint32_t)i + choice) % (uint32_t)plan->buffer_count],
                                     *b = &plan->buffers[j];
            bool together = a->first_step <= b->last_step && b->first_step <= a->last_step;
            if (a == b || !together || b->offset + a->bytes > plan->l2_peak_bytes)
                continue;
            move_buffer(plan, (int)(a - plan->buffers), b->offset);
            return true;
        }
    return false;
}

/* The same, and the lives are told such that the list of buffers looks sound: only the play can find it. */
static bool buffers_overlap_secretly(struct plan *plan, uint32_t choice)
{
    if (!buffers_overlap(plan, choice))
        return false;
    for (int i = 0; i < plan->buffer_count; i++)
        plan->buffers[i].bytes = 0;
    return true;
}

static bool buffer_outside(struct plan *plan, uint32_t choice)
{
    move_buffer(plan, (int)(choice % (uint32_t)plan->buffer_count), plan->l2_arena_bytes);
    return true;
}

const struct corruption corruptions_of_steps[] = {
    CORRUPTION(output_moved),
    CORRUPTION(input_moved),
    CORRUPTION(weights_moved),
    CORRUPTION(fewer_rows),
    CORRUPTION(fewer_channels),
    CORRUPTION(rows_twice),
    CORRUPTION(window_misses_a_row),
    CORRUPTION(nothing_awaited),
    CORRUPTION(awaits_less),
    CORRUPTION(all_started_at_once),
    CORRUPTION(first_step_does_not_drain),
    CORRUPTION(results_not_drained),
    CORRUPTION(layer_ends_early),
    CORRUPTION(layer_does_not_end),
    CORRUPTION(steps_swapped),
    CORRUPTION(flash_address_wrong),
    {.name = "transfer_too_short", .apply = transfer_too_short, .may_do_no_harm = true},
    CORRUPTION(transfer_too_long),
    CORRUPTION(transfer_unaligned),
    CORRUPTION(transfer_elsewhere),
    CORRUPTION(ram_address_wrong),
    CORRUPTION(ram_write_lost),
    CORRUPTION(buffers_overlap),
    CORRUPTION(buffers_overlap_secretly),
    CORRUPTION(buffer_outside),
    {.name = NULL},
};
