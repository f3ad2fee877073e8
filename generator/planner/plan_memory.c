/* What a plan found, kept for those behind it: of one network, on targets that differ in their clocks and in the size of L2.
 * Tiles do not know the latter, so that solved cuts are the same where all else is; to find them is a large part of the time
 * that a plan takes. And what is best at equal clocks is asked for at all others, see plan_with. */
#include "planner/plan_memory.h"

#include <string.h>

#define BUCKETS 1024u

struct known {
    int layer;
    uint8_t input_layout, output_layout;
    struct cut cut;     /* its solution; where else it points is gone with its plan */
    struct known *next; /* in its bucket */
};

struct cut_memory {
    struct arena *arena;
    struct target target; /* without what cuts do not depend on */
    struct known *buckets[BUCKETS];
    struct cut_memory *next;
};

struct plan_memory {
    struct arena *arena;
    struct cut_memory *cuts;
    struct plan latest; /* at equal clocks, if it has a network */
    struct target latest_target;
    uint32_t latest_l2_bytes; /* that its options ask for */
};

struct plan_memory *plan_memory_make(struct arena *arena)
{
    struct plan_memory *memory = arena_allocate(arena, sizeof *memory);
    memory->arena = arena;
    return memory;
}

/* ---- cuts ---- */

struct cut_memory *plan_memory_cuts(struct plan_memory *memory, const struct target *target)
{
    struct target key = *target;
    key.l2_bytes = key.l2_firmware_bytes = key.controller_mhz = key.cluster_mhz = 0;
    key.at_equal_clocks = NULL;
    for (struct cut_memory *cuts = memory->cuts; cuts; cuts = cuts->next)
        if (!memcmp(&cuts->target, &key, sizeof key))
            return cuts;
    struct cut_memory *cuts = arena_allocate(memory->arena, sizeof *cuts);
    *cuts = (struct cut_memory){.arena = memory->arena, .target = key, .next = memory->cuts};
    memory->cuts = cuts;
    return cuts;
}

static struct known **bucket_of(struct cut_memory *memory, const struct cut *cut)
{
    return &memory->buckets[((uint32_t)cut->of->layer * 31u + cut->rows * 7u + cut->channels) % BUCKETS];
}

const struct cut *cut_memory_find(struct cut_memory *memory, const struct cut *cut)
{
    const struct planned_layer *of = cut->of;
    for (const struct known *known = *bucket_of(memory, cut); known; known = known->next)
        if (known->layer == of->layer && known->input_layout == of->record.input_layout &&
            known->output_layout == of->record.output_layout && known->cut.step_count == cut->step_count &&
            cut_has_same_tiles(cut, &known->cut))
            return &known->cut;
    return NULL;
}

void cut_memory_keep(struct cut_memory *memory, const struct cut *cut)
{
    const struct planned_layer *of = cut->of;
    struct known **bucket = bucket_of(memory, cut), *known = arena_allocate(memory->arena, sizeof *known);
    *known = (struct known){.layer = of->layer,
                            .input_layout = of->record.input_layout,
                            .output_layout = of->record.output_layout,
                            .cut = *cut,
                            .next = *bucket};
    known->cut.steps = arena_copy(memory->arena, cut->steps, cut->step_count);
    known->cut.times = cut->times ? arena_copy(memory->arena, cut->times, cut->step_count) : NULL;
    *bucket = known;
}

/* ---- plans at equal clocks ---- */

struct arena *plan_memory_arena(struct plan_memory *memory) { return memory->arena; }

bool plan_memory_find(const struct plan_memory *memory, const struct target *target, uint32_t l2_bytes, struct plan *plan)
{
    if (!memory->latest.network || memory->latest_l2_bytes != l2_bytes ||
        memcmp(&memory->latest_target, target, sizeof *target) != 0)
        return false;
    *plan = memory->latest;
    return true;
}

void plan_memory_keep(struct plan_memory *memory, const struct target *target, uint32_t l2_bytes, const struct plan *plan)
{
    memory->latest = *plan;
    memory->latest_target = *target;
    memory->latest_l2_bytes = l2_bytes;
}
