/* What it costs that code comes to the cores' cache: of a kernel's, what others have driven out since it ran last,
 * and of the loop's between kernels, what all of them do. */
#include "tile/tile.h"

/* Where they are not known: of most kernels, a fifth of the code comes anew. */
#define USUAL_PERCENT 20

uint64_t tile_usual_code_cycles(const struct target *target)
{
    return (uint64_t)target->code_room_cycles * USUAL_PERCENT / 100;
}

uint64_t tile_code_cycles(const struct target *target, const struct dory_kernel_description *kernel)
{
    return (uint64_t)target->kernel_start_cycles * (kernel->code_percent ? kernel->code_percent : 100) / 100;
}

/* Lines are replaced at random: the more others have come, the more are gone. */
static uint64_t gone(const struct target *target, uint64_t all, uint64_t others)
{
    return others < target->code_room_cycles ? all * others / target->code_room_cycles : all;
}

uint64_t tile_kernel_start_cycles(const struct tile_problem *problem)
{
    const struct target *target = problem->target;
    return gone(target, tile_code_cycles(target, problem->kernel), problem->code_since_cycles) +
           gone(target, target->loop_code_cycles, problem->all_code_cycles);
}
