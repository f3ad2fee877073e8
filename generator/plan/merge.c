/* Fewer transfers, for a plan that gets a table of tiles. To hand a transfer to L3 takes the driver as long as a small tile,
 * and each that is started at a step of its own, a meeting of the cores with it. Weights that lie behind one another in the
 * flash come as one where they have places behind one another in L2, too, as long as nobody has to wait for them that does
 * not wait now. */
#include <string.h>

#include "dory/hal.h"
#include "place/place.h"
#include "plan/plan.h"
#include "plan/timeline.h"

/* Predictions are not exact: so many cycles before they are needed, the last of several transfers has to have come. */
#define SURE_CYCLES 1000

struct merge {
    struct plan *plan;
    bool *joins; /* by transfer: it is a part of the one before */
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

static bool is_behind(const struct dory_transfer *transfer, const struct dory_transfer *before)
{
    return transfer->l3_address == before->l3_address + aligned(before->run_bytes);
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

/* Each buffer lives from the start of its group, in one place with it; what it leaves before the last of them is not used
 * again. False where that takes more of L2 than there is. */
static bool place_groups(struct merge *m)
{
    struct plan *plan = m->plan;
    size_t count = (size_t)plan->buffer_count;
    struct place_item *items = arena_array(m->arena, struct place_item, count);
    int *leader = arena_array(m->arena, int, count);           /* by buffer: the first one of its group, or itself */
    uint32_t *inside = arena_array(m->arena, uint32_t, count); /* offset in the group's place */
    for (int i = 0; i < plan->buffer_count; i++) {
        const struct plan_buffer *buffer = &plan->buffers[i];
        items[i] = (struct place_item){.bytes = buffer->bytes, .first = buffer->first_step, .last = buffer->last_step};
        leader[i] = i;
    }
    plan_stay_items(plan, items, leader);
    for (int i = 1; i < plan->transfer_count; i++) {
        int buffer = plan->transfers[i].buffer, first = leader[plan->transfers[i - 1].buffer];
        struct place_item *group = &items[first], *own = &items[buffer];
        if (!m->joins[i])
            continue;
        leader[buffer] = first;
        inside[buffer] = aligned(group->bytes);
        group->bytes = inside[buffer] + own->bytes;
        group->last = own->last > group->last ? own->last : group->last;
        own->bytes = 0;
        plan->buffers[buffer].first_step = plan->buffers[first].first_step;
    }
    plan->l2_peak_bytes = place(items, plan->buffer_count, DORY_ALIGNMENT, 0, PLACE_CHEAPLY, m->arena);
    plan->l2_live_bytes = place_bound(items, plan->buffer_count, DORY_ALIGNMENT);
    for (int i = 0; i < plan->buffer_count; i++)
        plan->buffers[i].offset = items[leader[i]].offset + inside[i];
    return plan->l2_peak_bytes <= plan->l2_arena_bytes;
}

static void write_steps(struct plan *plan)
{
    plan_write_offsets(plan);
    for (int i = 0, awaited = 0, started = 0; i < plan->step_count; i++) {
        struct dory_step *step = &plan->steps[i].record;
        while (awaited < plan->transfer_count && plan->transfers[awaited].needed_step <= i)
            awaited++;
        while (started < plan->transfer_count && plan->transfers[started].start_step <= i)
            started++;
        step->transfers_awaited = (uint16_t)awaited;
        step->transfers_started = (uint16_t)started;
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

void plan_own_lists(struct plan *plan, struct arena *arena)
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
    if (!find_groups(&m))
        return false;
    plan_own_lists(plan, arena);
    if (!place_groups(&m))
        return false;
    write_transfers(&m);
    write_steps(plan);
    return true;
}
