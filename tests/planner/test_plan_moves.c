/* What the descent ends at, on random networks in little L2: its price is that of the decision at hand, the bytes that live
 * are counted by the levels as they are, and neither another cut of a layer nor two tensors that change places between L2
 * and RAM, with the best cuts around them, are faster.
 *
 *     moves [networks] */
#include <inttypes.h>

#include "expect.h"
#include "networks.h"
#include "planning.h"
#include "search/optimiser.h"

#define NETWORKS 60
#define EFFORT   100000000 /* more than any of them takes */

struct counts {
    int networks, in_ram, exchanges;
};

static void expect_counted(const struct optimiser *o, uint64_t seed)
{
    for (int l = 0; l < o->network->layer_count; l++) {
        uint32_t live = 0;
        for (int t = 0; t < o->network->tensor_count; t++)
            if (o->now.levels[t] == IN_L2 && o->problem->lives[t].first <= l && l <= o->problem->lives[t].last)
                live += o->problem->tensor_bytes[t];
        EXPECT(o->now.live[l] == live, "seed %" PRIu64 ", layer %d: %u bytes live, not %u", seed, l, o->now.live[l], live);
    }
}

static void expect_no_faster_cut(struct optimiser *o, uint64_t price, uint64_t seed)
{
    for (int l = 0; l < o->network->layer_count; l++) {
        const struct choice chosen = o->now.choices[l];
        const struct candidate *front;
        int count = candidate_front(layer_of(&o->now, l), layer_ram(&o->now, l), &front);
        for (int i = 0; i < count; i++) {
            o->now.choices[l] = front[i].choice;
            uint64_t other = price_now(o, UINT64_MAX);
            EXPECT(other >= price, "seed %" PRIu64 ", layer %d: %" PRIu64 " cycles, not %" PRIu64, seed, l, other, price);
        }
        o->now.choices[l] = chosen;
    }
}

/* With a guess of the cuts around both, and then the best of each in turn. False: there is none. */
static bool cut_around_both(struct optimiser *o, int tensor, int other, uint64_t *price)
{
    int layers[2 * MAXIMUM_AROUND], count = layers_around(o->network, tensor, layers, 0);
    count += layers_around(o->network, other, layers + count, 0);
    for (int i = 0; i < count; i++)
        if (!cut_anew(o, layers[i], 0))
            return false;
    *price = price_now(o, UINT64_MAX);
    for (int i = 0; i < count; i++)
        *price = choose_cut(o, layers[i], *price, UINT64_MAX);
    return true;
}

static bool are_near(const struct optimiser *o, int tensor, int other)
{
    const struct tensor_life *lives = o->problem->lives;
    return lives[tensor].first <= lives[other].last + 1 && lives[other].first <= lives[tensor].last + 1;
}

static void expect_no_faster_exchange(struct optimiser *o, uint64_t price, uint64_t seed, struct counts *counts)
{
    const struct decision best = decision_copy(&o->now, o->problem->arena);
    for (int t = 0; t < o->network->tensor_count; t++)
        for (int u = 0; u < o->network->tensor_count; u++) {
            uint64_t other = UINT64_MAX;
            if (best.levels[t] != IN_RAM || best.levels[u] != IN_L2 || !are_near(o, t, u) ||
                !is_possible(o, t, IN_L2, first_layout(o, t, IN_L2)) || !is_possible(o, u, IN_RAM, DORY_HWC))
                continue;
            set_level(o, t, IN_L2);
            set_level(o, u, IN_RAM);
            counts->exchanges += cut_around_both(o, t, u, &other);
            EXPECT(other >= price, "seed %" PRIu64 ", tensors %d and %d: %" PRIu64 " cycles, not %" PRIu64, seed, t, u,
                   other, price);
            decision_set(&o->now, &best);
        }
}

static void test_network(uint64_t seed, const struct target *target, void *context)
{
    struct counts *counts = context;
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    const struct network *network = seeded_network(&arena, seed, 8);
    struct plan_options options = {.l1_bytes = 16000 + target->l1_stack_bytes};
    options.l2_bytes = tight_l2_bytes(network, target, options.l1_bytes, seed, 5);
    struct problem problem = problem_for(network, target, &options, &arena);
    if (options.l2_bytes == 0 || !problem_make(&problem, &arena, &diagnostics)) {
        arena_free(&arena);
        return;
    }
    struct optimiser o = optimiser_make(&problem);
    layouts_find(&problem, o.may_be_chw);
    uint64_t start = find_start(&o);
    if (start != UINT64_MAX) {
        uint64_t price = descend(&o, start, EFFORT);
        EXPECT(price <= start && price == price_now(&o, UINT64_MAX), "seed %" PRIu64 ": %" PRIu64 " cycles", seed, price);
        for (int t = 0; t < network->tensor_count; t++)
            counts->in_ram += o.now.levels[t] == IN_RAM;
        counts->networks++;
        expect_counted(&o, seed);
        expect_no_faster_cut(&o, price, seed);
        expect_no_faster_exchange(&o, price, seed, counts);
    }
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    struct counts counts = {0};
    uint64_t networks = test_seeds(argc, argv, NETWORKS, test_network, &counts);
    printf("%d networks, %d tensors in RAM, %d exchanges\n", counts.networks, counts.in_ram, counts.exchanges);
    EXPECT(counts.networks * 2 > (int)networks && counts.in_ram > counts.networks / 2 &&
               counts.exchanges > counts.networks / 4,
           "too few are tight");
    return expect_result("moves");
}
