/* A decision written down: its steps, buffers and transfers, as draft.c has played them. */
#include "realise/schedule.h"

#include "choose/block.h"
#include "dory/hal.h"
#include "price/draft.h"

/* ---- written down ---- */

static void write_tensors(const struct draft *d, struct schedule *s)
{
    const enum memory_level *levels = d->decision->levels;
    const struct network *network = d->problem->network;
    for (int t = 0; t < network->tensor_count; t++) {
        struct plan_buffer buffer = {.kind = BUFFER_TENSOR, .tensor = t, .layer = -1, .bytes = d->problem->tensor_bytes[t]};
        s->tensor_buffer[t] = levels[t] == IN_L2 ? s->buffer_count : -1;
        if (levels[t] != IN_L2 || network->tensors[t].view)
            continue;
        draft_tensor_steps(d, t, &buffer.first_step, &buffer.last_step);
        s->buffers[s->buffer_count++] = buffer;
    }
    for (int t = 0; t < network->tensor_count; t++)
        s->tensor_buffer[t] = s->tensor_buffer[tensor_home(network, t)];
}

static void write_buffers(const struct draft *d, struct schedule *s)
{
    for (int l = 0; l < d->problem->network->layer_count; l++) {
        for (int i = 0; i < d->profiles[l]->buffer_count; i++) {
            const struct profile_buffer *from = &d->profiles[l]->buffers[i];
            const struct layer *layer = &d->problem->network->layers[l + from->member];
            bool weights = from->operand == PROFILE_WEIGHTS;
            int tensor = weights ? -1 : layer_operand(layer, from->operand);
            bool ring = tensor >= 0 && d->decision->levels[tensor] == IN_RING;
            int last = d->first_step[l] + from->last_step;
            if (ring)
                s->tensor_buffer[tensor] = s->buffer_count;
            s->buffers[s->buffer_count++] = (struct plan_buffer){
                .kind = weights ? BUFFER_WEIGHTS
                        : ring  ? BUFFER_RING
                                : BUFFER_WINDOW,
                .tensor = tensor,
                .layer = weights ? l + from->member : -1,
                .bytes = from->bytes,
                .first_step = d->buffer_start[d->first_buffer[l] + i],
                .last_step = last < s->step_count ? last : s->step_count - 1,
            };
        }
    }
}

/* The buffer of an operand of a layer's, or a block's, step: the tensor's, or one of those behind all tensors'. */
static int buffer_of(const struct draft *d, const struct schedule *s, int layer, int part, int operand)
{
    const struct block *block = d->decision->choices[layer].cut->block;
    const struct layer *of = &d->problem->network->layers[layer + (block ? block->order[part].member : 0)];
    int own = d->profiles[layer]->step_buffers[part][operand];
    if (own >= 0)
        return s->buffer_count - d->first_buffer[d->problem->network->layer_count] + d->first_buffer[layer] + own;
    int tensor = operand == PROFILE_WEIGHTS ? -1 : layer_operand(of, operand);
    return tensor < 0 ? -1 : s->tensor_buffer[tensor];
}

static void write_layer_steps(const struct draft *d, struct schedule *s, int layer, const struct cut_times *times)
{
    const struct cut *cut = d->decision->choices[layer].cut;
    uint64_t complete = 0; /* cycles of the layers that have been completed in this block */
    for (int part = 0; part < (int)cut->step_count; part++) {
        int index = d->first_step[layer] + part, member = cut->block ? cut->block->order[part].member : 0;
        struct plan_step *step = &s->steps[index];
        *step = (struct plan_step){.record = cut->steps[part],
                                   .layer = layer + member,
                                   .input_buffer = {buffer_of(d, s, layer, part, 0), buffer_of(d, s, layer, part, 1)},
                                   .output_buffer = buffer_of(d, s, layer, part, 2),
                                   .weights_buffer = buffer_of(d, s, layer, part, PROFILE_WEIGHTS),
                                   .fetch_cycles = times->steps[part].fetch - complete,
                                   .start_cycles = times->steps[part].start - complete};
        if (cut->block && step->record.last_of_layer)
            complete += times->members[member].cycles;
        step->record.layer_number = (uint16_t)step->layer;
        step->record.drain = d->drains[index];
        step->record.transfers_awaited = (uint16_t)d->steps[index].transfers_awaited;
        step->record.transfers_started = (uint16_t)d->steps[index].transfers_started;
    }
}

static void write_layer(const struct draft *d, struct schedule *s, int layer)
{
    struct cut *cut = d->decision->choices[layer].cut;
    const struct cut_times *times = cut_drained(cut, d->drains + d->first_step[layer]);
    write_layer_steps(d, s, layer, times);
    for (int i = 0; cut->block && i < cut->block->layers; i++)
        s->costs[layer + i] = times->members[i];
    if (!cut->block && cut != d->problem->within)
        s->costs[layer] = times->cost;
}

static void write_transfers(const struct draft *d, struct schedule *s)
{
    int first = s->buffer_count - d->first_buffer[d->problem->network->layer_count];
    for (int i = 0; i < d->queued; i++) {
        const struct item *item = d->queue[i];
        s->transfers[i] = (struct plan_transfer){.record = item->what->record,
                                                 .buffer = first + item->buffer,
                                                 .start_step = item->start_step,
                                                 .needed_step = item->needed_step};
    }
}

static void write_schedule(const struct draft *d, struct schedule *schedule)
{
    const struct network *network = d->problem->network;
    struct arena *arena = d->arena;
    size_t buffers = (size_t)network->tensor_count + (size_t)d->first_buffer[network->layer_count];
    size_t steps = (size_t)draft_steps(d);
    *schedule = (struct schedule){
        .tensor_buffer = arena_array(arena, int, (size_t)network->tensor_count),
        .step_count = draft_steps(d),
        .steps = arena_array(arena, struct plan_step, steps),
        .buffers = arena_array(arena, struct plan_buffer, buffers),
        .transfers = arena_array(arena, struct plan_transfer, (size_t)d->queued + 1),
        .transfer_count = d->queued,
        .costs = arena_array(arena, struct tile_cost, (size_t)network->layer_count),
        .l2_bytes = d->l2_bytes,
    };
    write_tensors(d, schedule);
    write_buffers(d, schedule);
    for (int l = 0; l < network->layer_count; l++)
        write_layer(d, schedule, l);
    write_transfers(d, schedule);
    schedule->cycles = d->cycles;
    schedule_count_live(schedule, arena);
}

void schedule_make(const struct decision *decision, struct schedule *schedule, struct arena *arena)
{
    struct draft d = draft_make(decision, NULL, UINT64_MAX, arena);
    write_schedule(&d, schedule);
}

bool schedule_make_in_gaps(const struct decision *decision, const struct gaps_variant *variant, struct schedule *schedule,
                           struct arena *arena)
{
    struct draft d = draft_make(decision, variant, UINT64_MAX, arena);
    if (!d.gaps)
        return false;
    write_schedule(&d, schedule);
    schedule->peak_bytes = gaps_write(d.gaps, schedule->buffers);
    return true;
}

/* ---- of a schedule ---- */

bool schedule_place(const struct problem *problem, struct schedule *schedule, uint32_t enough, enum place_care care)
{
    struct arena scratch = {0};
    struct place_item *items = arena_array(&scratch, struct place_item, (size_t)schedule->buffer_count);
    for (int i = 0; i < schedule->buffer_count; i++) {
        const struct plan_buffer *buffer = &schedule->buffers[i];
        items[i] = (struct place_item){.bytes = buffer->bytes, .first = buffer->first_step, .last = buffer->last_step};
    }
    schedule->peak_bytes =
        place_again(problem->placements, items, schedule->buffer_count, DORY_ALIGNMENT, enough, care, &scratch);
    for (int i = 0; i < schedule->buffer_count; i++)
        schedule->buffers[i].offset = items[i].offset;
    arena_free(&scratch);
    return schedule->peak_bytes <= enough;
}

void schedule_count_live(struct schedule *schedule, struct arena *arena)
{
    const uint32_t *live = buffers_live_bytes(schedule->buffers, schedule->buffer_count, schedule->step_count, arena);
    schedule->live_bytes = 0;
    for (int i = 0; i < schedule->step_count; i++)
        schedule->live_bytes = live[i] > schedule->live_bytes ? live[i] : schedule->live_bytes;
}

void schedule_timeline(const struct problem *problem, const struct schedule *schedule, struct timeline *timeline,
                       struct arena *arena)
{
    uint64_t *layer_cycles = arena_array(arena, uint64_t, (size_t)problem->network->layer_count);
    for (int i = 0; i < problem->network->layer_count; i++)
        layer_cycles[i] = schedule->costs[i].cycles;
    const struct sequence sequence = {.target = problem->target,
                                      .steps = schedule->steps,
                                      .step_count = schedule->step_count,
                                      .transfers = schedule->transfers,
                                      .transfer_count = schedule->transfer_count,
                                      .layer_cycles = layer_cycles};
    timeline_of_sequence(&sequence, timeline, arena);
}
