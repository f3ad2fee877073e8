/* Outputs that lie where inputs do. A kernel that computes rows in order reads no input row above those of the row at work:
 * what lies there is free, if nobody else reads it. So an output may begin some rows in front of its input and follow it.
 *
 * Looked for in plans of which nothing is copied, for one core: cores beside each other are at work in several rows. */
#include <stdlib.h>

#include "dory/hal.h"
#include "place/place.h"
#include "plan/operand.h"
#include "plan/plan.h"
#include "plan/views.h"

/* Two buffers that may share their bytes: the input begins `lag` bytes behind the output. */
struct pair {
    int input, output;
    uint32_t lag, bytes, saved; /* bytes: of both together */
    bool is_used;
};

static uint32_t maximum(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* So that each row of the output ends in front of the first input row that it reads. */
static uint32_t lag_of(const struct dory_layer *record)
{
    uint32_t output = operand_row_bytes(record, 2), input = operand_row_bytes(record, 0), lag = 0;
    for (uint32_t row = 0; row < record->output_height; row++) {
        int32_t first = dory_first_input_row(record, row);
        if (first >= record->input_height)
            break; /* nothing is read any more */
        uint32_t behind = (row + 1) * output, free = first > 0 ? (uint32_t)first * input : 0;
        lag = behind > free ? maximum(lag, behind - free) : lag;
    }
    return aligned(lag);
}

/* An input that has the rows of the first one. */
static bool may_be_overwritten(const struct dory_layer *record, unsigned which)
{
    const uint32_t alike = 1u << DORY_ADDITION | 1u << DORY_MULTIPLICATION | 1u << DORY_SQUARED_DIFFERENCE;
    return which == 0 || ((alike >> record->operation & 1) && record->second_repeats == 0 &&
                          record->second_input_bits == record->input_bits);
}

/* False where the two cannot share, or nothing would come of it. */
static bool make_pair(const struct plan *plan, int index, unsigned which, struct pair *pair)
{
    const struct plan_step *step = &plan->steps[index];
    const struct plan_layer *layer = &plan->layers[step->layer];
    const struct dory_layer *record = &layer->record;
    *pair = (struct pair){.input = step->input_buffer[which], .output = step->output_buffer};
    bool rows = layer->kernel->in_row_order && record->input_layout == DORY_HWC && record->output_layout == DORY_HWC;
    if (!rows || layer->step_count != 1 || pair->input < 0 || pair->output < 0 || !may_be_overwritten(record, which))
        return false;
    const struct plan_buffer *input = &plan->buffers[pair->input], *output = &plan->buffers[pair->output];
    pair->lag = lag_of(record);
    pair->bytes = maximum(input->bytes + pair->lag, output->bytes);
    pair->saved = input->bytes + output->bytes - dory_minimum(pair->bytes, input->bytes + output->bytes);
    bool is_read_elsewhere =
        input->tensor >= 0 && (network_is_output(plan->network, input->tensor) || /* by the application */
                               tensor_is_viewed(plan->network, input->tensor));
    return input->last_step == index && !is_read_elsewhere && output->first_step == index && input->kind == BUFFER_TENSOR &&
           output->kind == BUFFER_TENSOR && pair->saved > 0;
}

static int by_saved(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return x->saved != y->saved ? (x->saved < y->saved ? 1 : -1) : x->output - y->output;
}

/* Those that save most, a buffer in one of them each. */
static int choose_pairs(const struct plan *plan, struct pair *pairs, struct arena *arena)
{
    bool *taken = arena_array(arena, bool, (size_t)plan->buffer_count);
    int count = 0, kept = 0;
    for (int i = 0; i < plan->step_count; i++)
        for (unsigned which = 0; which < 2; which++)
            count += make_pair(plan, i, which, &pairs[count]);
    qsort(pairs, (size_t)count, sizeof *pairs, by_saved);
    for (int i = 0; i < count; i++) {
        if (taken[pairs[i].input] || taken[pairs[i].output])
            continue;
        taken[pairs[i].input] = taken[pairs[i].output] = true;
        pairs[kept] = pairs[i];
        pairs[kept++].is_used = true;
    }
    return kept;
}

/* An item a buffer; of two that share, one has nothing. */
static void fill_items(const struct plan *plan, const struct pair *pairs, int count, struct place_item *items)
{
    for (int i = 0; i < plan->buffer_count; i++) {
        const struct plan_buffer *buffer = &plan->buffers[i];
        items[i] = (struct place_item){.bytes = buffer->bytes, .first = buffer->first_step, .last = buffer->last_step};
    }
    for (int i = 0; i < count; i++) {
        if (!pairs[i].is_used)
            continue;
        items[pairs[i].output].first = items[pairs[i].input].first;
        items[pairs[i].output].bytes = pairs[i].bytes;
        items[pairs[i].input].bytes = 0;
    }
}

static uint32_t bound_of(const struct plan *plan, const struct pair *pairs, int count, struct place_item *items)
{
    fill_items(plan, pairs, count, items);
    return place_bound(items, plan->buffer_count, DORY_ALIGNMENT);
}

/* Gives up those without which as few bytes do: a pair lives as long as both of its buffers. */
static void drop_pairs(const struct plan *plan, struct pair *pairs, int count, struct place_item *items)
{
    uint32_t least = bound_of(plan, pairs, count, items);
    for (int i = count - 1; i >= 0; i--) {
        pairs[i].is_used = false;
        uint32_t bound = bound_of(plan, pairs, count, items);
        pairs[i].is_used = bound > least;
        least = dory_minimum(bound, least);
    }
}

static void write_places(struct plan *plan, const struct pair *pairs, int count, const struct place_item *items,
                         uint32_t peak)
{
    for (int i = 0; i < plan->buffer_count; i++)
        plan->buffers[i].offset = items[i].offset;
    for (int i = 0; i < count; i++)
        if (pairs[i].is_used)
            plan->buffers[pairs[i].input].offset = items[pairs[i].output].offset + pairs[i].lag;
    plan->l2_peak_bytes = peak;
    plan_write_offsets(plan);
}

void plan_overlap(struct plan *plan, struct arena *arena)
{
    struct arena scratch = {0};
    struct pair *pairs = arena_array(&scratch, struct pair, 2 * (size_t)plan->step_count + 1);
    struct place_item *items = arena_array(&scratch, struct place_item, (size_t)plan->buffer_count);
    if (plan->runs_layers && plan->cores == 1 && plan->resident_bytes == 0) {
        int count = choose_pairs(plan, pairs, &scratch);
        drop_pairs(plan, pairs, count, items);
        uint32_t bound = bound_of(plan, pairs, count, items);
        uint32_t peak = place(items, plan->buffer_count, DORY_ALIGNMENT, bound, PLACE_CAREFULLY, &scratch);
        plan->buffers = arena_copy(arena, plan->buffers, (size_t)plan->buffer_count);
        if (peak < plan->l2_peak_bytes) {
            write_places(plan, pairs, count, items, peak);
            plan->l2_live_bytes = dory_minimum(plan->l2_live_bytes, bound);
        }
    }
    arena_free(&scratch);
}
