/* What it costs that code comes to the cores' cache: a kernel's, which drives out what is done between two tiles. */
#include "tile/tile.h"

/* Percent of a kernel's code, where another one has run: the start of any comes anew. */
#define MOST_THAT_STAYS 50

uint64_t tile_code_percent(const struct dory_kernel_description *kernel)
{
    return kernel->start_percent ? kernel->start_percent : 100;
}

uint64_t tile_code_cycles(const struct tile_problem *problem)
{
    return problem->target->kernel_start_cycles * tile_code_percent(problem->kernel) / 100;
}

uint64_t tile_overhead_cycles(const struct tile_problem *problem)
{
    const struct target *target = problem->target;
    return target->tile_overhead_cycles + target->walk_cycles * tile_code_percent(problem->kernel) / 100;
}

uint64_t tile_layer_overhead_cycles(const struct tile_problem *problem)
{
    const struct target *target = problem->target;
    uint64_t percent = problem->kernel_before ? tile_code_percent(problem->kernel_before) : 100;
    return target->layer_overhead_cycles + target->layer_walk_cycles * percent / 100;
}

static bool stays(const struct tile_problem *problem)
{
    const struct target *target = problem->target;
    return target->cache_percent == 0 || tile_code_percent(problem->kernel) < target->cache_percent;
}

bool tile_has_code(const struct tile_problem *problem, bool is_first)
{
    return stays(problem) && (!is_first || problem->kernel_before == problem->kernel);
}

/* In percent of what all of it takes, of a kernel whose code one other was in front of: small ones stay side by side in
 * part. */
static uint64_t left_behind_one(const struct tile_problem *problem)
{
    uint64_t pair = problem->target->pair_percent, both = tile_code_percent(problem->kernel);
    if (!problem->target->has_table || !problem->kernel_before || problem->kernel_of_second_before != problem->kernel)
        return 100;
    both += tile_code_percent(problem->kernel_before);
    uint64_t stays = pair > both ? pair - both : 0;
    return 100 - (stays < MOST_THAT_STAYS ? stays : MOST_THAT_STAYS);
}

/* Likewise of any: what does not stay beside the code between two tiles is as good as another's that shares some of it. */
static uint64_t left_percent(const struct tile_problem *problem)
{
    const struct target *target = problem->target;
    const struct dory_kernel_description *kernel = problem->kernel, *before = problem->kernel_before;
    bool is_alike = before && kernel->code != DORY_CODE_OWN && before->code == kernel->code;
    if (before == kernel && stays(problem))
        return target->kernel_again_percent;
    uint64_t alike = before == kernel || is_alike ? target->kernel_alike_percent : 100,
             behind_one = left_behind_one(problem);
    return alike < behind_one ? alike : behind_one;
}

uint64_t tile_kernel_start_cycles(const struct tile_problem *problem, uint64_t kernel_cycles)
{
    uint64_t all = tile_code_cycles(problem) * left_percent(problem) / 100, half = problem->target->start_half_cycles;
    if (half == 0)
        return all;
    uint64_t least = all * problem->target->start_least_percent / 100;
    return least + (all - least) * kernel_cycles / (kernel_cycles + half);
}

uint64_t tile_fetch_cycles(const struct tile_problem *problem, bool is_first, uint64_t kernel_cycles)
{
    const struct target *target = problem->target;
    uint64_t again = target->has_table ? tile_code_cycles(problem) * target->kernel_again_percent / 100 : 0;
    return is_first ? tile_kernel_start_cycles(problem, kernel_cycles) : again;
}
