/* No plan of candidates is faster: on small random networks its cycles are at most those of the best among all combinations
 * of candidates and levels, each scheduled and placed, without the solver. It may be faster, by a cut that is no candidate.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "expect.h"
#include "networks.h"
#include "planning.h"

#define MANY_NETWORKS        120 /* that must have been compared; the first argument says how many others */
#define MAXIMUM_SEEDS        1200
#define MAXIMUM_COMBINATIONS 3000 /* of a network that is small enough */

struct brute_force {
    struct decision now;
    uint64_t cycles, combinations;
};

static void try_combination(struct brute_force *brute)
{
    struct arena scratch = {0};
    struct schedule schedule;
    brute->combinations++;
    if (schedule_fit(&brute->now, &(struct fit_limits){UINT64_MAX, PLACE_QUICKLY}, &schedule, &scratch) &&
        schedule.cycles < brute->cycles)
        brute->cycles = schedule.cycles;
    arena_free(&scratch);
}

static void try_layers(struct brute_force *brute, int layer)
{
    struct decision *d = &brute->now;
    const struct candidate *front;
    if (layer == d->problem->network->layer_count) {
        try_combination(brute);
        return;
    }
    int count = candidate_front(layer_of(d, layer), layer_ram(d, layer), &front);
    for (int i = 0; i < count; i++) {
        d->choices[layer] = front[i].choice;
        try_layers(brute, layer + 1);
    }
}

/* Neither inputs nor outputs of the network. */
static bool may_be_in_ram(const struct decision *d, int tensor)
{
    const struct network *network = d->problem->network;
    return d->layouts[tensor] == DORY_HWC && network->tensors[tensor].producer != NO_LAYER && tensor != network->outputs[0];
}

static void try_levels(struct brute_force *brute, int tensor)
{
    struct decision *d = &brute->now;
    if (tensor == d->problem->network->tensor_count) {
        try_layers(brute, 0);
        return;
    }
    try_levels(brute, tensor + 1);
    if (!may_be_in_ram(d, tensor))
        return;
    decision_place(d, tensor, IN_RAM, DORY_HWC);
    try_levels(brute, tensor + 1);
    decision_place(d, tensor, IN_L2, DORY_HWC);
}

/* Combinations of candidates, summed over all levels. */
static uint64_t count_layers(const struct decision *d)
{
    uint64_t product = 1;
    for (int l = 0; l < d->problem->network->layer_count; l++) {
        const struct candidate *front;
        product *= (uint64_t)candidate_front(layer_of(d, l), layer_ram(d, l), &front);
        if (product > MAXIMUM_COMBINATIONS)
            return product;
    }
    return product;
}

static uint64_t count_levels(struct decision *d, int tensor)
{
    if (tensor == d->problem->network->tensor_count)
        return count_layers(d);
    uint64_t sum = count_levels(d, tensor + 1);
    if (!may_be_in_ram(d, tensor))
        return sum;
    decision_place(d, tensor, IN_RAM, DORY_HWC);
    sum += sum > MAXIMUM_COMBINATIONS ? 0 : count_levels(d, tensor + 1);
    decision_place(d, tensor, IN_L2, DORY_HWC);
    return sum;
}

struct counts {
    int compared, proven, with_ram, with_chw, layers[8];
    uint64_t combinations;
};

/* An input or output of the network goes to RAM only where it must: levels are not chosen then. */
static bool has_ports_in_l2(const struct plan *plan)
{
    return plan->tensors[plan->network->inputs[0]].level == IN_L2 && plan->tensors[plan->network->outputs[0]].level == IN_L2;
}

/* All combinations with the tensors in these layouts; false where there are too many. */
static bool try_layouts(struct brute_force *brute, const struct problem *problem, const enum dory_layout *layouts)
{
    brute->now = decision_make(problem, problem->arena);
    for (int t = 0; t < problem->network->tensor_count; t++)
        decision_place(&brute->now, t, IN_L2, layouts[t]);
    bool few = count_levels(&brute->now, 0) <= MAXIMUM_COMBINATIONS;
    if (few)
        try_levels(brute, 0);
    return few;
}

static bool has_chw(const enum dory_layout *layouts, int count)
{
    bool found = false;
    for (int t = 0; t < count; t++)
        found = found || layouts[t] == DORY_CHW;
    return found;
}

static void count_network(struct counts *counts, const struct plan *plan, const struct brute_force *brute)
{
    const struct network *network = plan->network;
    bool ram = false, chw = false;
    counts->compared++;
    counts->proven += plan->proof.is_optimal;
    counts->layers[network->layer_count < 7 ? network->layer_count : 7]++;
    counts->combinations += brute->combinations;
    for (int t = 0; t < network->tensor_count; t++) {
        ram = ram || plan->tensors[t].level == IN_RAM;
        chw = chw || plan->tensors[t].layout == DORY_CHW;
    }
    counts->with_ram += ram;
    counts->with_chw += chw;
}

/* Against all combinations in HWC, and in the layouts that the plan has. */
static void compare(const struct plan *plan, const struct problem *problem, uint64_t seed, struct counts *counts)
{
    size_t tensors = (size_t)plan->network->tensor_count;
    enum dory_layout *hwc = arena_array(problem->arena, enum dory_layout, tensors);
    enum dory_layout *planned = arena_array(problem->arena, enum dory_layout, tensors);
    for (size_t t = 0; t < tensors; t++)
        planned[t] = plan->tensors[t].layout;
    struct diagnostics diagnostics = {.arena = problem->arena};
    struct brute_force brute = {.cycles = UINT64_MAX};
    if (!try_layouts(&brute, problem, hwc) || (has_chw(planned, (int)tensors) && !try_layouts(&brute, problem, planned)))
        return;
    EXPECT(plan->proof.searched_cycles == plan->predicted_cycles && plan->proof.bound_cycles <= plan->predicted_cycles,
           "seed %" PRIu64 ": the proof's cycles", seed);
    uint64_t cycles = plan->predicted_cycles - plan->start_cycles, bound = plan->proof.bound_cycles - plan->start_cycles;
    /* fewer are possible: the search takes cuts of small layers, too, that fronts leave out (plan.oracle has them all) */
    EXPECT(cycles <= brute.cycles, "seed %" PRIu64 ": %" PRIu64 " cycles, but the best is %" PRIu64, seed, cycles,
           brute.cycles);
    EXPECT(bound <= brute.cycles, "seed %" PRIu64 ": a bound of %" PRIu64 ", but %" PRIu64 " are possible", seed, bound,
           brute.cycles);
    EXPECT(plan_check(plan, &diagnostics), "seed %" PRIu64, seed);
    count_network(counts, plan, &brute);
}

/* Not compared: networks that do not fit well, and those with too many combinations. */
static void test_network(uint64_t seed, const struct target *target, struct counts *counts)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    const struct network *network = seeded_network(&arena, seed, 6);
    struct plan_options options = {.l1_bytes = 14000 + (uint32_t)(seed * 977 % 20000)};
    options.l2_bytes = tight_l2_bytes(network, target, options.l1_bytes, seed, 16);
    struct problem problem = problem_for(network, target, &options, &arena);
    struct plan plan;
    if (options.l2_bytes && plan_make(network, target, &options, &plan, &arena, &diagnostics) && plan.proof.rounds > 0 &&
        has_ports_in_l2(&plan) && problem_make(&problem, &arena, &diagnostics))
        compare(&plan, &problem, seed, counts);
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    int least = argc > 1 ? atoi(argv[1]) : MANY_NETWORKS;
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    struct counts counts = {0};
    EXPECT(target_load(&target, "gap8", &arena, &diagnostics), "gap8 is built in");
    for (uint64_t seed = 1; seed <= MAXIMUM_SEEDS && counts.compared < least; seed++)
        test_network(seed, &target, &counts);
    EXPECT(counts.compared >= least, "only %d networks compared", counts.compared);
    EXPECT(counts.proven >= least * 9 / 10, "only %d of them proven optimal", counts.proven);
    printf("%d networks, %d with tensors in RAM, %d in CHW, %" PRIu64 " combinations; proven optimal: %d; by layers:",
           counts.compared, counts.with_ram, counts.with_chw, counts.combinations, counts.proven);
    for (int i = 1; i < 8; i++)
        printf(" %d", counts.layers[i]);
    printf("\n");
    arena_free(&arena);
    return expect_result("optimum");
}
