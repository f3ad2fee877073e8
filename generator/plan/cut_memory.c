/* Solved cuts, kept from plan to plan: of one network on targets that differ in the size of L2 alone, which tiles do not
 * know. To find them is most of the time that a plan takes. */
#include "plan/planner.h"

#include <string.h>

#define BUCKETS 1024u

struct known {
    int layer;
    uint8_t input_layout, output_layout;
    struct cut cut;
    struct known *next; /* in its bucket */
};

struct cut_memory {
    struct arena *arena;
    struct known *buckets[BUCKETS];
};

struct cut_memory *cut_memory_make(struct arena *arena)
{
    struct cut_memory *memory = arena_allocate(arena, sizeof *memory);
    *memory = (struct cut_memory){.arena = arena};
    return memory;
}

static struct known **bucket_of(struct cut_memory *memory, int layer, const struct cut *cut)
{
    return &memory->buckets[((uint32_t)layer * 31u + cut->rows * 7u + cut->channels) % BUCKETS];
}

const struct cut *cut_memory_find(struct cut_memory *memory, const struct planned_layer *of, int layer,
                                  const struct cut *cut)
{
    for (const struct known *known = *bucket_of(memory, layer, cut); known; known = known->next)
        if (known->layer == layer && known->input_layout == of->record.input_layout &&
            known->output_layout == of->record.output_layout && known->cut.step_count == cut->step_count &&
            cut_has_same_tiles(of, &known->cut, cut))
            return &known->cut;
    return NULL;
}

static void *copied(struct arena *arena, const void *list, size_t bytes)
{
    return memcpy(arena_allocate(arena, bytes), list, bytes);
}

void cut_memory_keep(struct cut_memory *memory, const struct planned_layer *of, int layer, const struct cut *cut)
{
    struct known **bucket = bucket_of(memory, layer, cut), *known = arena_allocate(memory->arena, sizeof *known);
    *known = (struct known){.layer = layer,
                            .input_layout = of->record.input_layout,
                            .output_layout = of->record.output_layout,
                            .cut = *cut,
                            .next = *bucket};
    known->cut.steps = copied(memory->arena, cut->steps, cut->step_count * sizeof *cut->steps);
    known->cut.times = cut->times ? copied(memory->arena, cut->times, cut->step_count * sizeof *cut->times) : NULL;
    *bucket = known;
}
