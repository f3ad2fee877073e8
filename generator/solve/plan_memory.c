/* What a plan found, kept for those behind it: of one network, on targets that differ in their clocks and in the size of L2.
 * Tiles do not know the latter, so that solved cuts are the same where all else is; to find them is a large part of the time
 * that a plan takes. And what is best at equal clocks is asked for at all others, see plan_with. */
#include "solve/plan_memory.h"

#include <string.h>

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

struct cut_memory *plan_memory_cuts(struct plan_memory *memory, const struct target *target)
{
    return memory ? cut_memory_for(&memory->cuts, target, memory->arena) : NULL;
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
