/* Solved cuts of plans before, of one network. Tiles do not know the size of L2, so that cuts are the same where all else
 * is; to find them is a large part of the time that a plan takes. */
#include "choose/cut_memory.h"

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

/* Tiles of two steps in the same place take as many cycles: all that these depend on beside the place. Of planes alone rows
 * count. */
static bool is_alike(const struct dory_step *a, const struct dory_step *b, bool rows_count)
{
    return a->drain == b->drain && a->input[0].channels == b->input[0].channels &&
           (!rows_count || a->input[0].rows == b->input[0].rows) && a->input[1].channels == b->input[1].channels &&
           a->output.channels == b->output.channels;
}

/* The same operands may be in place. */
static bool has_same_places(const struct cut *a, const struct cut *b)
{
    const struct dory_layer *record = &a->of->record;
    return !a->of->problem->target->activations_in_place ||
           tile_whole_operands(record, a->steps, a->step_count) == tile_whole_operands(record, b->steps, b->step_count);
}

bool cut_has_same_tiles(const struct cut *a, const struct cut *b)
{
    bool same = a->rows == b->rows && a->channels == b->channels && a->channels_outer == b->channels_outer;
    for (uint32_t i = 0; same && i < a->step_count; i++)
        same = is_alike(&a->steps[i], &b->steps[i], a->of->record.input_layout == DORY_CHW);
    return same && has_same_places(a, b);
}

struct cut_memory *cut_memory_for(struct cut_memory **all, const struct target *target, struct arena *arena)
{
    struct target key = *target;
    key.l2_bytes = key.l2_firmware_bytes = key.controller_mhz = key.cluster_mhz = 0;
    key.at_equal_clocks = NULL;
    for (struct cut_memory *cuts = *all; cuts; cuts = cuts->next)
        if (!memcmp(&cuts->target, &key, sizeof key))
            return cuts;
    struct cut_memory *cuts = arena_allocate(arena, sizeof *cuts);
    *cuts = (struct cut_memory){.arena = arena, .target = key, .next = *all};
    *all = cuts;
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
