/* Steps, transfers, buffers and tensors of a plan, each looked at on its own: addresses within bounds, buffers that live
 * together apart, and an order in which everything is there before it is read. */
#include "check/checker.h"
#include "dory/hal.h"
#include "plan/operand.h"

/* ---- steps ---- */

/* True where a window of an operand lies within its tensor and within L2. A ring has all channels, and not more rows than
 * the tensor. */
static bool window_is_sound(const struct plan *plan, const struct dory_layer *record, unsigned operand,
                            const struct dory_window *window, bool ring)
{
    uint64_t bytes = operand_window_bytes(record, operand, window);
    uint32_t height = operand_height(record, operand), channels = operand_channels(record, operand);
    uint32_t end = ring ? window->rows : (uint32_t)window->first_row + window->rows;
    return window->rows > 0 && window->channels > 0 && end <= height &&
           (!ring || (window->channels == channels && window->first_row < height)) &&
           (uint32_t)window->first_channel + window->channels <= channels && window->offset + bytes <= plan->l2_peak_bytes &&
           window->first_channel * operand_bits(record, operand) % 8 == 0;
}

static bool in_buffer(const struct plan *plan, int buffer, int step, uint64_t start)
{
    return buffer >= 0 && buffer < plan->buffer_count && plan->buffers[buffer].offset == start &&
           plan->buffers[buffer].first_step <= step && step <= plan->buffers[buffer].last_step;
}

/* A ring is in the buffer of its tensor. That all steps see its rows at the same places shows where they find them. */
static bool operand_is_sound(const struct plan *plan, int index, unsigned operand)
{
    const struct plan_step *step = &plan->steps[index];
    const struct dory_layer *record = &plan->layers[step->layer].record;
    const struct dory_window *window = operand_window(&step->record, operand);
    int index_of_tensor = layer_operand(&plan->network->layers[step->layer], (int)operand);
    const struct plan_tensor *tensor = &plan->tensors[index_of_tensor];
    uint64_t first = check_home_byte(&plan->network->tensors[index_of_tensor], 0);
    int buffer = operand == 2 ? step->output_buffer : step->input_buffer[operand];
    bool ring = tensor->level == IN_RING;
    return window_is_sound(plan, record, operand, window, ring) && window->offset >= first &&
           in_buffer(plan, buffer, index, window->offset - first) &&
           (!ring || (tensor->buffer == buffer && plan->buffers[buffer].kind == BUFFER_RING &&
                      operand_window_bytes(record, operand, window) <= plan->buffers[buffer].bytes));
}

/* Weights that are linked are read where they lie in the image, which is a part of the program. */
static bool in_image(const struct plan *plan, const struct plan_step *step, uint64_t bytes)
{
    const struct plan_layer *layer = &plan->layers[step->layer];
    uint64_t first = (uint64_t)dory_blocks(&layer->record, step->record.first_channel) * layer->record.block_bytes;
    return layer->resident && step->record.weights_offset == layer->weights_address + first &&
           first + bytes <= layer->weights_bytes;
}

/* In their buffer, or among those that stay in L2. */
static bool in_weights_place(const struct plan *plan, const struct plan_step *step, int index, uint64_t bytes)
{
    uint64_t offset = step->record.weights_offset;
    const struct plan_layer *layer = &plan->layers[step->layer];
    uint64_t first = (uint64_t)dory_blocks(&layer->record, step->record.first_channel) * layer->record.block_bytes;
    if (layer->shares_weights) /* all of them are in its owner's buffer */
        return offset >= first && in_buffer(plan, step->weights_buffer, index, offset - first) &&
               first + bytes <= plan->buffers[step->weights_buffer].bytes;
    if (!layer->resident)
        return in_buffer(plan, step->weights_buffer, index, offset);
    return offset >= plan->resident_offset && offset + bytes <= (uint64_t)plan->resident_offset + plan->resident_bytes;
}

static void check_step_windows(struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct plan_step *step = &plan->steps[index];
    const struct dory_layer *record = &plan->layers[step->layer].record;
    bool sound = operand_is_sound(plan, index, 0) && operand_is_sound(plan, index, 2) &&
                 (!dory_has_second_input(record) || operand_is_sound(plan, index, 1));
    if (!sound)
        check_fault(c, "step %d of layer '%s': a window that does not lie in tensor, buffer and L2", index,
                    checker_layer_name(c, step->layer));
    if (plan->layers[step->layer].weights_bytes == 0)
        return;
    uint64_t bytes = (uint64_t)dory_blocks(record, step->record.channels) * record->block_bytes;
    if (plan->weights_are_linked ? !in_image(plan, step, bytes)
                                 : step->record.weights_offset + bytes > plan->l2_peak_bytes ||
                                       step->record.weights_offset % 4 != 0 || !in_weights_place(plan, step, index, bytes))
        check_fault(c, "step %d of layer '%s': its weights do not lie in their buffer and in L2", index,
                    checker_layer_name(c, step->layer));
}

/* Layers are completed one after the other. One behind that at work only starts where a layer of the same block is at work.
 */
static bool is_in_order(const struct plan *plan, int index)
{
    const struct plan_step *step = &plan->steps[index], *before = index > 0 ? step - 1 : NULL;
    if (step->layer < 0 || step->layer >= plan->network->layer_count || (!before && step->layer != 0))
        return false;
    if (!before || step->layer == before->layer)
        return !before || !before->record.last_of_layer;
    int block = plan->layers[step->layer].block;
    bool same_block = block >= 0 && block == plan->layers[before->layer].block;
    return same_block || (before->record.last_of_layer && step->layer == before->layer + 1);
}

/* Its steps are as many as are said to be, and only the last of them completes it, behind the layer before. */
void check_steps_of_layer(struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct plan_layer *layer = &plan->layers[index];
    int count = 0;
    bool good = layer->first_step >= 0 && layer->last_step < plan->step_count && layer->block <= index;
    for (int i = 0; i < plan->step_count; i++)
        count += plan->steps[i].layer == index;
    good = good && count == layer->step_count && count > 0 && plan->steps[layer->first_step].layer == index &&
           plan->steps[layer->last_step].layer == index && (index == 0 || layer[-1].last_step < layer->last_step);
    if (!good)
        check_fault(c, "layer '%s' has steps %d to %d, %d in all, of %d", checker_layer_name(c, index), layer->first_step,
                    layer->last_step, layer->step_count, count);
}

void check_step(struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct plan_step *step = &plan->steps[index], *before = index > 0 ? &plan->steps[index - 1] : NULL;
    bool same = before && before->layer == step->layer;
    if (!is_in_order(plan, index)) {
        check_fault(c, "step %d is of layer %d, out of order", index, step->layer);
        return;
    }
    const struct plan_layer *layer = &plan->layers[step->layer];
    if (index < layer->first_step || index > layer->last_step || step->record.layer_number != step->layer ||
        step->record.last_of_layer != (index == layer->last_step))
        check_fault(c, "step %d is not among the steps of layer '%s'", index, checker_layer_name(c, step->layer));
    if (!same && !step->record.drain)
        check_fault(c, "step %d: the first one of layer '%s', or of its turn, does not drain", index,
                    checker_layer_name(c, step->layer));
    bool rows = step->record.rows > 0 && (uint32_t)step->record.first_row + step->record.rows <= layer->record.output_height;
    bool channels = step->record.channels > 0 && step->record.first_channel % dory_block_channels(&layer->record) == 0 &&
                    (uint32_t)step->record.first_channel + step->record.channels <= layer->record.output_channels;
    bool blocks = layer->record.tile.channels % dory_block_channels(&layer->record) == 0 ||
                  step->record.channels <= layer->record.tile.channels;
    if (!rows || !channels || !blocks)
        check_fault(c, "step %d of layer '%s': rows %d + %d, channels %d + %d", index, checker_layer_name(c, step->layer),
                    step->record.first_row, step->record.rows, step->record.first_channel, step->record.channels);
    uint32_t awaited = step->record.transfers_awaited, started = step->record.transfers_started;
    bool ordered = awaited <= started && started <= (uint32_t)plan->transfer_count &&
                   (!before || (before->record.transfers_started <= started && before->record.transfers_awaited <= awaited));
    if (!ordered)
        check_fault(c, "step %d of layer '%s' awaits %u transfers and starts %u of %d", index,
                    checker_layer_name(c, step->layer), awaited, started, plan->transfer_count);
    check_step_windows(c, index);
}

/* ---- transfers ---- */

static uint64_t end_of(uint64_t start, uint64_t runs, uint64_t run_bytes, uint64_t stride)
{
    return start + (runs - 1) * stride + run_bytes;
}

/* The numbers in the steps must say what people are told of the transfer. */
static bool times_are_told(const struct plan *plan, int index)
{
    const struct plan_transfer *transfer = &plan->transfers[index];
    int start = 0, needed = 0;
    while (start < plan->step_count && plan->steps[start].record.transfers_started <= index)
        start++;
    while (needed < plan->step_count && plan->steps[needed].record.transfers_awaited <= index)
        needed++;
    return transfer->start_step == start && transfer->needed_step >= needed;
}

/* Up to where a transfer may write or read: its buffer's end, or for one run from the flash that of buffers which lie right
 * behind one another, all of weights and in use by then. */
static uint64_t end_of_buffers(const struct plan *plan, const struct plan_transfer *transfer)
{
    const struct plan_buffer *buffer = &plan->buffers[transfer->buffer];
    uint64_t end = (uint64_t)buffer->offset + buffer->bytes;
    bool goes_on = transfer->record.kind == HAL_FLASH_READ && transfer->record.runs == 1;
    for (int i = 0; goes_on && i < plan->buffer_count; i++) {
        const struct plan_buffer *other = &plan->buffers[i];
        if (other->bytes > 0 && other->kind == BUFFER_WEIGHTS &&
            other->offset == (end + DORY_ALIGNMENT - 1) / DORY_ALIGNMENT * DORY_ALIGNMENT &&
            other->first_step == buffer->first_step) {
            end = (uint64_t)other->offset + other->bytes;
            i = -1; /* all of them anew */
        }
    }
    return end;
}

void check_transfer(struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct plan_transfer *transfer = &plan->transfers[index];
    const struct dory_transfer *record = &transfer->record;
    if (transfer->buffer < 0 || transfer->buffer >= plan->buffer_count || record->runs == 0 || record->run_bytes == 0 ||
        record->kind > HAL_RAM_WRITE) {
        check_fault(c, "transfer %d copies nothing, or to nowhere", index);
        return;
    }
    const struct plan_buffer *buffer = &plan->buffers[transfer->buffer];
    uint32_t l3_bytes = record->kind == HAL_FLASH_READ ? plan->flash_bytes : plan->ram_bytes;
    uint64_t l2_end = end_of(record->l2_offset, record->runs, record->run_bytes, record->l2_stride);
    if (l2_end > plan->l2_peak_bytes || record->l2_offset < buffer->offset || l2_end > end_of_buffers(plan, transfer))
        check_fault(c, "transfer %d leaves its buffer in L2", index);
    if (end_of(record->l3_address, record->runs, record->run_bytes, record->l3_stride) > l3_bytes)
        check_fault(c, "transfer %d leaves its level of L3", index);
    bool strides = record->runs == 1 || (record->l2_stride % HAL_L3_ALIGNMENT == 0 && record->l3_stride % 2 == 0);
    if (record->l2_offset % HAL_L3_ALIGNMENT || record->run_bytes % HAL_L3_ALIGNMENT || record->l3_address % 2 || !strides)
        check_fault(c, "transfer %d is not aligned", index);
    if (!times_are_told(plan, index))
        check_fault(c, "transfer %d does not start, or is not awaited, when it is said to be", index);
    if (transfer->start_step < plan->step_count && record->kind != HAL_RAM_WRITE &&
        transfer->start_step < buffer->first_step)
        check_fault(c, "transfer %d starts before its buffer is there", index);
}

/* ---- buffers and tensors ---- */

/* The output begins where the input does, which the step has read whole before it stores the same there. */
static bool is_extended(const struct plan *plan, int input, int output)
{
    const struct plan_buffer *from = &plan->buffers[input], *to = &plan->buffers[output];
    const struct plan_step *step = &plan->steps[to->first_step];
    return from->last_step == to->first_step && step->output_buffer == output && step->input_buffer[0] == input &&
           check_may_extend(plan, step);
}

/* The one ends with the step that writes the other one, its output, in time behind what it reads of it. */
static bool is_overwritten(const struct plan *plan, int input, int output)
{
    const struct plan_buffer *from = &plan->buffers[input], *to = &plan->buffers[output];
    const struct plan_step *step = &plan->steps[to->first_step];
    unsigned inputs = dory_has_second_input(&plan->layers[step->layer].record) ? 2 : 1;
    bool reads = false, may = from->last_step == to->first_step && step->output_buffer == output;
    for (unsigned i = 0; i < inputs; i++)
        if (step->input_buffer[i] == input) {
            reads = true;
            may = may && check_may_overwrite(plan, step, i);
        }
    return reads && may;
}

void check_buffer(struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct plan_buffer *buffer = &plan->buffers[index];
    uint64_t end = (uint64_t)buffer->offset + buffer->bytes;
    if (buffer->offset % DORY_ALIGNMENT || end > plan->l2_peak_bytes || buffer->first_step > buffer->last_step ||
        buffer->first_step < 0 || buffer->last_step >= plan->step_count)
        check_fault(c, "buffer %d ('%s'): offset %u, %u bytes, steps %d to %d", index, buffer->name, buffer->offset,
                    buffer->bytes, buffer->first_step, buffer->last_step);
    for (int i = 0; i < index; i++) {
        const struct plan_buffer *other = &plan->buffers[i];
        bool together = buffer->first_step <= other->last_step && other->first_step <= buffer->last_step;
        if (together && !is_overwritten(plan, i, index) && !is_overwritten(plan, index, i) && !is_extended(plan, i, index) &&
            !is_extended(plan, index, i) && buffer->offset < (uint64_t)other->offset + other->bytes && other->offset < end)
            check_fault(c, "buffers %d ('%s') and %d ('%s') live at the same time and overlap", i, other->name, index,
                        buffer->name);
    }
}

void check_tensor(struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct plan_tensor *planned = &plan->tensors[index];
    const struct tensor *tensor = &plan->network->tensors[index];
    uint64_t pixel = ((uint64_t)tensor->channels * (uint64_t)tensor->bits + 7) / 8;
    bool sound = planned->bytes == (uint64_t)tensor->height * (uint64_t)tensor->width * pixel;
    bool is_port = tensor_is_port(plan->network, index);
    sound = sound && (planned->layout == DORY_HWC || (planned->level != IN_RAM && !is_port && tensor->bits == 8));
    if (planned->level == IN_RAM)
        sound = sound && (uint64_t)planned->ram_offset + planned->bytes <= plan->ram_bytes && planned->ram_offset % 4 == 0;
    else
        sound = sound && planned->buffer >= 0 && planned->buffer < plan->buffer_count &&
                plan->buffers[planned->buffer].tensor == tensor_home(plan->network, index) &&
                (planned->level == IN_RING ? !is_port : plan->buffers[planned->buffer].bytes >= planned->bytes);
    if (!sound)
        check_fault(c, "tensor '%s' has no place of its %u bytes", tensor->name, planned->bytes);
}

void check_sizes(struct checker *c)
{
    const struct plan *plan = c->plan;
    if (plan->l1_peak_bytes > plan->l1_arena_bytes || plan->l2_peak_bytes > plan->l2_arena_bytes ||
        plan->flash_bytes > plan->target->flash_bytes || plan->ram_bytes > plan->target->ram_bytes)
        check_fault(c, "it uses more memory than there is");
    if (plan->l2_peak_bytes % DORY_ALIGNMENT) /* the application reserves so many, and whole units of the alignment */
        check_fault(c, "its %u bytes of L2 are no multiple of %d", plan->l2_peak_bytes, DORY_ALIGNMENT);
    if (plan->step_count < 1 || plan->step_count > UINT16_MAX || plan->transfer_count > UINT16_MAX ||
        !plan->steps[plan->step_count - 1].record.last_of_layer ||
        plan->steps[plan->step_count - 1].layer != plan->network->layer_count - 1)
        check_fault(c, "%d steps and %d transfers do not make up the network", plan->step_count, plan->transfer_count);
}
