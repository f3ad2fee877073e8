/* What follows from a decision: steps, buffers and transfers, and when each transfer starts.
 *
 * Transfers are queued first in, first out, so the only freedom is when each enters the queue. It enters as soon as the
 * bytes it fills are free, in the order in which the data are needed; with a fixed order that is optimal. Data in RAM add
 * two things: a read waits for the write of what it reads, and while such transfers are still to come, prefetches that
 * nobody needs yet only fill the time in which L3 would idle, so that they do not stand in the queue before urgent ones.
 *
 * The walk over the steps keeps a time for its decisions; how long the result takes is then played by the final times of
 * the layers. That is the price of a decision. A schedule is the same walk, written down. */
#include "price/draft.h"

#include "choose/block.h"
#include "dory/hal.h"
#include "plan/operand.h"
#include "plan/table_bytes.h"

#define NO_STEP (-1)

/* ---- what there is to transfer ---- */

static void count_parts(struct draft *d)
{
    int layers = d->problem->network->layer_count;
    d->profiles = arena_array(d->arena, const struct profile *, (size_t)layers);
    d->first_step = arena_array(d->arena, int, (size_t)layers + 1);
    d->first_buffer = arena_array(d->arena, int, (size_t)layers + 1);
    for (int l = 0; l < layers; l++) {
        const struct choice *choice = &d->decision->choices[l];
        d->profiles[l] = profile_get(choice);
        d->first_step[l + 1] = d->first_step[l] + (int)choice->cut->step_count;
        d->first_buffer[l + 1] = d->first_buffer[l] + d->profiles[l]->buffer_count;
        d->channel_left += d->profiles[l]->channel_cycles;
        d->read_count += d->profiles[l]->read_count;
        d->write_count += d->profiles[l]->write_count;
    }
}

/* The last step that writes bytes which a read is for. */
static int last_writer(const struct draft *d, int layer, const struct profile_transfer *read)
{
    const struct problem *p = d->problem;
    const struct profile_buffer *buffer = &d->profiles[layer]->buffers[read->buffer];
    int producer = buffer->operand == PROFILE_WEIGHTS
                       ? NO_LAYER
                       : p->network->tensors[p->network->layers[layer + buffer->member].inputs[buffer->operand]].producer;
    if (producer == NO_LAYER)
        return NO_STEP;
    int start = block_start(d->decision, producer);
    const struct cut *cut = d->decision->choices[start].cut;
    uint64_t row_bytes = operand_row_bytes(&cut_of(d->decision, producer)->of->record, 2);
    int part = (int)cut->step_count - 1;
    for (; part > 0; part--) {
        uint64_t first = cut->steps[part].first_row * row_bytes, last = first + cut->steps[part].rows * row_bytes;
        bool apart = last <= read->start_byte || read->end_byte <= first;
        if (!apart && (!cut->block || cut->block->order[part].member == producer - start))
            break;
    }
    return d->first_step[start] + part;
}

static bool is_of_ram(const struct item *item) { return item->what->record.kind != HAL_FLASH_READ; }

static void add_reads(struct draft *d, int layer, struct item **next)
{
    const struct profile *profile = d->profiles[layer];
    for (int i = 0; i < profile->read_count; i++, (*next)++) {
        const struct profile_transfer *what = &profile->reads[i];
        **next = (struct item){.what = what,
                               .layer = layer,
                               .buffer = d->first_buffer[layer] + what->buffer,
                               .needed_step = d->first_step[layer] + what->step};
        bool same = i > 0 && what[-1].buffer == what->buffer;
        (*next)->after = same ? (*next)[-1].after : last_writer(d, layer, what);
        d->last_ram_need =
            is_of_ram(*next) && (*next)->needed_step > d->last_ram_need ? (*next)->needed_step : d->last_ram_need;
    }
}

static void add_writes(struct draft *d, int layer, struct item **next)
{
    const struct profile *profile = d->profiles[layer];
    for (int i = 0; i < profile->write_count; i++, (*next)++) {
        const struct profile_transfer *what = &profile->writes[i];
        int step = d->first_step[layer] + what->step, last = d->first_step[layer] + profile->buffers[what->buffer].last_step;
        **next = (struct item){.what = what,
                               .layer = layer,
                               .buffer = d->first_buffer[layer] + what->buffer,
                               .start_step = step + 1,
                               .needed_step = last + 1,
                               .after = step};
        d->last_ram_need = last + 1; /* writes are there in the order of steps */
    }
}

static void add_items(struct draft *d)
{
    d->reads = arena_array(d->arena, struct item, (size_t)d->read_count + 1);
    d->writes = arena_array(d->arena, struct item, (size_t)d->write_count + 1);
    d->last_ram_need = NO_STEP;
    struct item *read = d->reads, *write = d->writes;
    for (int l = 0; l < d->problem->network->layer_count; l++)
        add_writes(d, l, &write);
    for (int l = 0; l < d->problem->network->layer_count; l++)
        add_reads(d, l, &read);
}

/* ---- what lives ---- */

static void add_tensors(struct draft *d, uint32_t *change)
{
    const struct problem *p = d->problem;
    for (int t = 0; t < p->network->tensor_count; t++) {
        int first, last;
        if (d->decision->levels[t] != IN_L2)
            continue;
        draft_tensor_steps(d, t, &first, &last);
        change[first] += p->tensor_bytes[t];
        change[last + 1] -= p->tensor_bytes[t];
    }
}

static void count_live(struct draft *d)
{
    int steps = draft_steps(d);
    d->live = arena_array(d->arena, uint32_t, (size_t)steps + 1);
    add_tensors(d, d->live);
    for (int i = 1; i < steps; i++)
        d->live[i] += d->live[i - 1];
    for (int l = 0; l < d->problem->network->layer_count; l++) {
        const uint32_t *own = d->profiles[l]->live;
        int first = d->first_step[l], count = d->first_step[l + 1] - first;
        for (int i = 0; i < count + (first + count < steps ? 1 : 0); i++)
            d->live[first + i] += own[i];
    }
}

static void start_buffers(struct draft *d)
{
    int layers = d->problem->network->layer_count;
    d->buffer_start = arena_array(d->arena, int, (size_t)d->first_buffer[layers] + 1);
    for (int l = 0; l < layers; l++)
        for (int i = 0; i < d->profiles[l]->buffer_count; i++)
            d->buffer_start[d->first_buffer[l] + i] = d->first_step[l] + d->profiles[l]->buffers[i].first_step;
}

/* When a layer starts to compute, L2 holds no more of what is read for those behind it than there is room for beside what
 * must live then: the rest comes later, while they compute. */
static void find_tails(struct draft *d)
{
    const struct problem *p = d->problem;
    uint64_t behind = 0; /* bytes that are read for them */
    d->tails = arena_array(d->arena, uint64_t, (size_t)p->network->layer_count + 1);
    for (int l = p->network->layer_count - 1; l >= 0; l--) {
        const struct cut *cut = d->decision->choices[l].cut;
        uint32_t live = d->live[d->first_step[l]], room = d->l2_bytes > live ? d->l2_bytes - live : 0;
        uint64_t rest = cut->step_count > 0 && behind > room ? behind - room : 0;
        uint64_t computed = cut->cost.cycles + d->tails[l + 1], read = rest * 1000 / p->target->l3_bytes_per_1000_cycles;
        d->tails[l] = computed > read ? computed : read;
        behind += d->profiles[l]->read_bytes;
    }
}

/* ---- steps ---- */

/* Puts a transfer at the queue's end, at `time` in step `step`. */
static void queue(struct draft *d, struct item *item, int step, uint64_t time)
{
    d->queue_free = (d->queue_free > time ? d->queue_free : time) + item->what->cycles;
    item->end_cycle = d->queue_free;
    item->is_queued = true;
    item->start_step = step;
    d->queue[d->queued++] = item;
    d->awaited_at[item->needed_step > step ? item->needed_step : step] = d->queued;
}

/* The most that lives at once from `step` to in front of `end`. From one call to the next `step` never falls, and `end`
 * hardly ever: what was looked at is not looked at again, until the step with the most lies behind. */
static uint32_t most_live(struct draft *d, int step, int end)
{
    struct look *look = &d->look;
    if (look->full_step < step || look->end > end)
        *look = (struct look){.end = step};
    for (; look->end < end; look->end++)
        if (d->live[look->end] >= look->most) {
            look->most = d->live[look->end];
            look->full_step = look->end;
        }
    return look->most;
}

/* True where the buffer's bytes are free from `step` on; it is then taken from there. */
static bool take_bytes(struct draft *d, const struct item *item, int step)
{
    int *start = &d->buffer_start[item->buffer], end = *start;
    uint32_t bytes = d->profiles[item->layer]->buffers[item->what->buffer].bytes, *live = d->live;
    if (item == d->without_room && step <= d->full_step && d->full_step < end)
        return false;
    if (step < end && (uint64_t)most_live(d, step, end) + bytes > d->l2_bytes) {
        d->without_room = item;
        d->full_step = d->look.full_step;
        return false;
    }
    if (d->gaps && !gaps_take(d->gaps, d, item, step))
        return false;
    if (step >= end)
        return true;
    for (int i = step; i < end; i++)
        live[i] += bytes;
    d->look.most += bytes;
    *start = step;
    return true;
}

/* Queues what the step needs and is not under way: at the last moment, with nothing to hide behind. */
static void queue_late(struct draft *d, int step, uint64_t time, bool behind_writes)
{
    for (int i = d->first_waiting; i < d->read_count && d->reads[i].needed_step <= step; i++) {
        struct item *read = &d->reads[i];
        bool is_behind = read->after == step - 1 && read->after != NO_STEP;
        if (!read->is_queued && is_behind == behind_writes)
            queue(d, read, step, time);
    }
}

static bool has_late(const struct draft *d, int step)
{
    for (int i = d->first_waiting; i < d->read_count && d->reads[i].needed_step <= step; i++)
        if (!d->reads[i].is_queued)
            return true;
    return false;
}

static void queue_writes(struct draft *d, int step, uint64_t time)
{
    while (d->next_write < d->write_count && d->writes[d->next_write].start_step == step)
        queue(d, &d->writes[d->next_write++], step, time);
}

/* Queues reads for later steps in the order of need, as long as there is room. */
static void prefetch(struct draft *d, int step, uint64_t now, uint64_t end)
{
    while (d->first_waiting < d->read_count && d->reads[d->first_waiting].is_queued)
        d->first_waiting++;
    for (int i = d->first_waiting; i < d->read_count; i++) {
        struct item *read = &d->reads[i];
        if (read->is_queued || (read->after != NO_STEP && read->after >= step))
            continue; /* what it reads is not there: others may pass */
        bool urgent = read->needed_step <= step + 1, ram_follows = d->last_ram_need > step;
        if ((!urgent && ram_follows && d->queue_free >= end) || !take_bytes(d, read, step))
            return;
        queue(d, read, step, now);
    }
}

/* Returns the cycles that the step waits. `has_late`: for reads that are not queued yet. */
static uint64_t start_step(struct draft *d, int index, bool has_late, uint64_t fetch)
{
    struct draft_step *step = &d->steps[index];
    /* a result whose buffer ends with the step before goes first: reads for this step may fill the same bytes */
    bool writes = d->next_write < d->write_count && d->writes[d->next_write].start_step == index;
    if (writes && d->writes[d->next_write].needed_step <= index)
        queue_writes(d, index, fetch);
    if (has_late)
        queue_late(d, index, fetch, false);
    queue_writes(d, index, fetch);
    if (has_late)
        queue_late(d, index, fetch, true);
    int before = index > 0 ? step[-1].transfers_awaited : 0, own = d->awaited_at[index];
    step->transfers_awaited = own > before ? own : before;
    uint64_t done = step->transfers_awaited ? d->queue[step->transfers_awaited - 1]->end_cycle : 0;
    return done > fetch ? done - fetch : 0;
}

/* Whether a step whose data are under way waits for them for longer, when it would fetch them beside the step before, than
 * it loses if it does so behind that one: that computes on meanwhile. */
static bool gains_by_drain(const struct draft *d, int layer, uint32_t part, uint64_t fetch)
{
    struct cut *cut = d->decision->choices[layer].cut;
    int index = d->first_step[layer] + (int)part, awaited = d->awaited_at[index];
    bool *drains = d->drains + d->first_step[layer];
    uint64_t done = awaited > 0 ? d->queue[awaited - 1]->end_cycle : 0;
    if (part == 0 || cut->block || done <= fetch)
        return false;
    for (uint32_t i = part; i < cut->step_count; i++)
        drains[i] = cut->steps[i].drain;
    uint64_t beside = cut_drained(cut, drains)->cost.cycles;
    drains[part] = true;
    return cut_drained(cut, drains)->cost.cycles < beside + done - fetch;
}

/* `time`: at which the layer starts; returns that at which it ends. */
static uint64_t walk_layer(struct draft *d, int layer, uint64_t time)
{
    const struct cut *cut = d->decision->choices[layer].cut;
    d->layer = layer;
    for (uint32_t part = 0; part < cut->step_count; part++) {
        int index = d->first_step[layer] + (int)part;
        /* a step that waits for a late transfer drains: it has no loads under way while the step before computes */
        bool last = part + 1 == cut->step_count, drains = cut->steps[part].drain, late = has_late(d, index),
             waits = !drains && (late || gains_by_drain(d, layer, part, time + cut->times[part].fetch));
        d->drains[index] = drains || waits || part == 0;
        time += start_step(d, index, late, time + (waits ? cut->times[part].start : cut->times[part].fetch));
        prefetch(d, index, time + cut->times[part].start, time + (last ? cut->cost.cycles : cut->times[part + 1].start));
        d->steps[index].transfers_started = d->queued;
    }
    return time + cut->cost.cycles;
}

/* ---- times ---- */

/* The final times of a layer, as soon as it is known which of its steps drain. */
static void play_queue(struct draft *d, int end, uint64_t now)
{
    for (; d->played < end; d->played++) {
        struct item *item = d->queue[d->played];
        d->channel_free = (d->channel_free > now ? d->channel_free : now) + item->what->cycles;
        d->channel_left -= item->what->cycles;
        item->played_cycle = d->channel_free;
    }
}

static uint64_t play_wait(struct draft *d, int end, uint64_t now)
{
    play_queue(d, end, now);
    uint64_t done = end ? d->queue[end - 1]->played_cycle : 0;
    return done > now ? done - now : 0;
}

static void play_layer(struct draft *d, int layer)
{
    const bool *drains = d->drains + d->first_step[layer];
    const struct cut_times *times = cut_drained(d->decision->choices[layer].cut, drains);
    for (int i = d->first_step[layer]; i < d->first_step[layer + 1]; i++) {
        const struct step_times *step = &times->steps[i - d->first_step[layer]];
        d->cycles += play_wait(d, d->steps[i].transfers_awaited, d->cycles + step->fetch);
        play_queue(d, d->steps[i].transfers_started, d->cycles + step->start);
    }
    d->cycles += times->cost.cycles;
}

/* ---- the walk ---- */

/* Cycles that the whole takes at least, up to a layer played: nothing computes faster than foreseen, and the channel has to
 * bring it all. */
static uint64_t least_cycles(const struct draft *d, int layer)
{
    uint64_t computed = d->cycles + d->tails[layer], brought = d->channel_free + d->channel_left;
    return computed > brought ? computed : brought;
}

/* Gives up as soon as it is certain that the limit is exceeded. */
static void walk(struct draft *d, uint64_t limit)
{
    size_t transfers = (size_t)d->read_count + (size_t)d->write_count, steps = (size_t)draft_steps(d);
    int layers = d->problem->network->layer_count, l = 0;
    uint64_t time = 0;
    d->queue = arena_array(d->arena, struct item *, transfers + 1);
    d->awaited_at = arena_array(d->arena, int, steps + 2);
    d->steps = arena_array(d->arena, struct draft_step, steps + 1);
    d->drains = arena_array(d->arena, bool, steps + 1);
    for (; l < layers && least_cycles(d, l) <= limit; l++) {
        time = walk_layer(d, l, time);
        play_layer(d, l);
    }
    if (least_cycles(d, l) > limit) {
        d->cycles = least_cycles(d, l);
        return;
    }
    queue_writes(d, (int)steps, time);
    d->cycles += play_wait(d, d->queued, d->cycles);
}

/* ---- price ---- */

/* What tables that are larger than the least ones leave of the arena. */
static uint32_t arena_bytes(const struct problem *p, int steps, int transfers)
{
    if (p->least_table_bytes == 0)
        return p->l2_bytes;
    uint32_t more = p->fixed_table_bytes + table_bytes_of_schedule(steps, transfers) - p->least_table_bytes;
    return p->l2_bytes > more ? (p->l2_bytes - more) / DORY_ALIGNMENT * DORY_ALIGNMENT : 0;
}

static struct draft start(const struct decision *decision, struct arena *arena)
{
    struct draft d = {.decision = decision, .problem = decision->problem, .arena = arena};
    count_parts(&d);
    d.l2_bytes = arena_bytes(d.problem, draft_steps(&d), d.read_count + d.write_count);
    count_live(&d);
    find_tails(&d);
    return d;
}

struct draft draft_make(const struct decision *decision, const struct gaps_variant *variant, uint64_t limit,
                        struct arena *arena)
{
    struct draft d = start(decision, arena);
    add_items(&d);
    start_buffers(&d);
    d.gaps = variant ? gaps_start(&d, *variant) : NULL;
    if (!variant || d.gaps)
        walk(&d, limit);
    return d;
}

/* Transfers before they are needed take no bytes that are not free: what does not fit without them never does. */
static void find_most_live(const struct draft *d, struct price *price)
{
    int steps = draft_steps(d), most = 0;
    for (int i = 1; i < steps; i++)
        most = d->live[i] > d->live[most] ? i : most;
    price->live_bytes = d->live[most];
    for (price->live_layer = 0; d->first_step[price->live_layer + 1] <= most;)
        price->live_layer++;
}

int decision_parts(const struct decision *decision)
{
    int parts = 0;
    for (int l = 0; l < decision->problem->network->layer_count; l++) {
        const struct profile *profile = profile_get(&decision->choices[l]);
        parts += (int)decision->choices[l].cut->step_count + profile->read_count + profile->write_count;
    }
    return parts;
}

struct price decision_price(const struct decision *decision, uint64_t limit)
{
    struct arena scratch = {0};
    struct draft d = start(decision, &scratch);
    struct price price = {.l2_bytes = d.l2_bytes, .parts = draft_steps(&d) + d.read_count + d.write_count};
    find_most_live(&d, &price);
    price.cycles = least_cycles(&d, 0);
    if (price.live_bytes <= price.l2_bytes && price.cycles <= limit) {
        add_items(&d);
        start_buffers(&d);
        walk(&d, limit);
        price.cycles = d.cycles;
    }
    arena_free(&scratch);
    return price;
}

uint64_t decision_price_in_gaps(const struct decision *decision, const struct gaps_variant *variant, uint64_t limit)
{
    struct arena scratch = {0};
    struct draft d = draft_make(decision, variant, limit, &scratch);
    arena_free(&scratch);
    return d.gaps ? d.cycles : UINT64_MAX;
}

uint32_t decision_least_bytes(const struct decision *decision)
{
    struct arena scratch = {0};
    struct draft d = start(decision, &scratch);
    uint32_t bytes = gaps_least_bytes(&d, PLACE_CAREFULLY);
    arena_free(&scratch);
    return bytes;
}
