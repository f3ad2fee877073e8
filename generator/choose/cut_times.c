/* Times of a cut, or of a block, of which some steps drain that it did not foresee. */
#include <string.h>

#include "choose/block.h"
#include "choose/cut.h"

static const struct cut_times *times_before(const struct cut *cut, const bool *drains)
{
    for (const struct cut_times *times = cut->drained; times; times = times->next)
        if (memcmp(times->drains, drains, cut->step_count * sizeof *drains) == 0)
            return times;
    return NULL;
}

static void play(const struct cut *cut, struct cut_times *times)
{
    struct arena scratch = {0};
    struct dory_step *steps = arena_copy(&scratch, cut->steps, cut->step_count);
    for (uint32_t i = 0; i < cut->step_count; i++)
        steps[i].drain = times->drains[i];
    if (cut->block)
        block_play(cut, steps, times);
    else {
        struct step_times *own = arena_array(cut->of->problem->arena, struct step_times, cut->step_count);
        cut_play(cut, steps, cut->step_count, &times->cost, own);
        times->steps = own;
    }
    arena_free(&scratch);
}

const struct cut_times *cut_drained(struct cut *cut, const bool *drains)
{
    struct arena *arena = cut->of->problem->arena;
    const struct cut_times *known = times_before(cut, drains);
    if (known)
        return known;
    struct cut_times *times = arena_allocate(arena, sizeof *times);
    bool as_foreseen = true;
    drains = arena_copy(arena, drains, cut->step_count);
    *times = (struct cut_times){.drains = drains, .cost = cut->cost, .steps = cut->times, .next = cut->drained};
    for (uint32_t i = 0; i < cut->step_count; i++)
        as_foreseen = as_foreseen && drains[i] == (cut->steps[i].drain != 0);
    if (cut->block || !as_foreseen)
        play(cut, times);
    cut->drained = times;
    return times;
}
