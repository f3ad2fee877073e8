/* Fewer transfers, for a plan that gets a table of tiles. To hand a transfer to L3 takes the driver as long as a small tile,
 * and each that is started at a step of its own, a meeting of the cores with it. Weights that lie behind one another in the
 * flash come as one where they have places behind one another in L2, too, as long as nobody has to wait for them that does
 * not wait now. */
#include "planner/merge.h"

#include <string.h>

#include "dory/hal.h"
#include "place/place.h"
#include "plan/timeline.h"

/* Predictions are not exact: so many cycles before they are needed, the last of several transfers has to have come. */
#define SURE_CYCLES 1000

struct merge {
    struct plan *plan;
    bool *joins; /* by transfer: it is a part of the one before */
    int *group;  /* by buffer: the first buffer of those that are filled as one, or itself */
    struct arena *arena;
};

/* A blob, or a part of one, that fills its buffer from its start. */
static bool is_whole(const struct plan *plan, const struct plan_transfer *transfer)
{
    const struct plan_buffer *buffer = &plan->buffers[transfer->buffer];
    return transfer->record.kind == HAL_FLASH_READ && transfer->record.runs == 1 &&
           transfer->record.l2_offset == buffer->offset && transfer->record.run_bytes <= buffer->bytes &&
           buffer->bytes - transfer->record.run_bytes < DORY_ALIGNMENT;
}

static bool are_whole(const struct plan *plan)
{
    bool whole = plan->transfer_count > 1 && plan->resident_bytes == 0;
    for (int i = 0; whole && i < plan->transfer_count; i++)
        whole = is_whole(plan, &plan->transfers[i]) &&
                (i == 0 || plan->transfers[i].needed_step >= plan->transfers[i - 1].needed_step);
    return whole;
}

static uint32_t aligned_bytes(uint32_t bytes) { return dory_round_up(bytes, DORY_ALIGNMENT); }

static bool is_behind(const struct dory_transfer *transfer, const struct dory_transfer *before)
{
    return transfer->l3_address == before->l3_address + aligned_bytes(before->run_bytes);
}

/* Joins what has come in time for the first of a group, if all is started with that. False: nothing. */
static bool find_groups(struct merge *m)
{
    const struct plan *plan = m->plan;
    struct timeline timeline;
    timeline_make(plan, &timeline, m->arena);
    uint64_t end = timeline.transfers[0].end_cycle;
    bool found = false;
    for (int i = 1, first = 0; i < plan->transfer_count; i++) {
        const struct plan_transfer *leader = &plan->transfers[first], *transfer = &plan->transfers[i];
        uint64_t joined = end + l3_cycles(plan->target, &transfer->record);
        m->joins[i] = is_behind(&transfer->record, &transfer[-1].record) && leader->start_step < leader->needed_step &&
                      joined + SURE_CYCLES <= timeline.steps[leader->needed_step].start_cycle;
        first = m->joins[i] ? first : i;
        end = m->joins[i] ? joined : timeline.transfers[i].end_cycle;
        found = found || m->joins[i];
    }
    return found;
}

/* Each lives from the start of its group; what it leaves before the last of them is not used again. */
static void join_lives(struct merge *m)
{
    struct plan *plan = m->plan;
    for (int i = 0; i < plan->buffer_count; i++)
        m->group[i] = i;
    for (int i = 1; i < plan->transfer_count; i++) {
        const struct plan_transfer *before = &plan->transfers[i - 1];
        struct plan_buffer *buffer = &plan->buffers[plan->transfers[i].buffer];
        if (!m->joins[i])
            continue;
        m->group[plan->transfers[i].buffer] = m->group[before->buffer];
        buffer->first_step = plan->buffers[before->buffer].first_step;
    }
}

/* False where that takes more of L2 than there is. */
static bool place_groups(struct merge *m)
{
    struct plan *plan = m->plan;
    struct place_item *items = arena_array(m->arena, struct place_item, (size_t)plan->buffer_count);
    int *item_of = arena_array(m->arena, int, (size_t)plan->buffer_count), count = 0;
    uint32_t *inside = arena_array(m->arena, uint32_t, (size_t)plan->buffer_count); /* by buffer: offset in its group */
    for (int i = 0; i < plan->buffer_count; i++)
        if (m->group[i] == i) {
            item_of[i] = count;
            items[count++] = (struct place_item){
                .bytes = plan->buffers[i].bytes, .first = plan->buffers[i].first_step, .last = plan->buffers[i].last_step};
        }
    for (int i = 1; i < plan->transfer_count; i++) {
        int buffer = plan->transfers[i].buffer;
        struct place_item *item = &items[item_of[m->group[buffer]]];
        if (!m->joins[i])
            continue;
        inside[buffer] = aligned_bytes(item->bytes);
        item->bytes = inside[buffer] + plan->buffers[buffer].bytes;
        item->last = plan->buffers[buffer].last_step > item->last ? plan->buffers[buffer].last_step : item->last;
    }
    plan->l2_peak_bytes = place(items, count, DORY_ALIGNMENT, 0, PLACE_CHEAPLY, m->arena);
    plan->l2_live_bytes = place_bound(items, count, DORY_ALIGNMENT);
    for (int i = 0; i < plan->buffer_count; i++)
        plan->buffers[i].offset = items[item_of[m->group[i]]].offset + inside[i];
    return plan->l2_peak_bytes <= plan->l2_arena_bytes;
}

static void write_steps(struct plan *plan)
{
    for (int i = 0, awaited = 0, started = 0; i < plan->step_count; i++) {
        struct plan_step *step = &plan->steps[i];
        step->record.output.offset = plan->buffers[step->output_buffer].offset;
        for (int j = 0; j < 2; j++)
            if (step->input_buffer[j] >= 0)
                step->record.input[j].offset = plan->buffers[step->input_buffer[j]].offset;
        if (step->weights_buffer >= 0)
            step->record.weights_offset = plan->buffers[step->weights_buffer].offset;
        while (awaited < plan->transfer_count && plan->transfers[awaited].needed_step <= i)
            awaited++;
        while (started < plan->transfer_count && plan->transfers[started].start_step <= i)
            started++;
        step->record.transfers_awaited = (uint16_t)awaited;
        step->record.transfers_started = (uint16_t)started;
    }
}

static void write_transfers(struct merge *m)
{
    struct plan *plan = m->plan;
    int count = 0;
    for (int i = 0; i < plan->transfer_count; i++) {
        struct plan_transfer *transfer = &plan->transfers[i];
        transfer->record.l2_offset = plan->buffers[transfer->buffer].offset;
        if (m->joins[i]) {
            struct dory_transfer *all = &plan->transfers[count - 1].record;
            all->run_bytes = transfer->record.l3_address + transfer->record.run_bytes - all->l3_address;
        } else
            plan->transfers[count++] = *transfer;
    }
    plan->transfer_count = count;
}

#define OWN(plan, list, type, count, arena)                                                                                 \
    ((plan)->list = memcpy(arena_array((arena), type, (size_t)(count)), (plan)->list, (size_t)(count) * sizeof(type)))

static void own_lists(struct plan *plan, struct arena *arena)
{
    OWN(plan, buffers, struct plan_buffer, plan->buffer_count, arena);
    OWN(plan, transfers, struct plan_transfer, plan->transfer_count, arena);
    OWN(plan, steps, struct plan_step, plan->step_count, arena);
    OWN(plan, layers, struct plan_layer, plan->network->layer_count, arena);
}

bool plan_merge_transfers(struct plan *plan, struct arena *arena)
{
    struct merge m = {.plan = plan, .arena = arena};
    if (!are_whole(plan))
        return false;
    m.joins = arena_array(arena, bool, (size_t)plan->transfer_count);
    m.group = arena_array(arena, int, (size_t)plan->buffer_count);
    if (!find_groups(&m))
        return false;
    own_lists(plan, arena);
    join_lives(&m);
    if (!place_groups(&m))
        return false;
    write_transfers(&m);
    write_steps(plan);
    return true;
}
