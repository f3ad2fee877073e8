/* Decisions, on random networks: bytes that live in L2 are those of the tensors that are there, whatever moved before; a
 * copy keeps what it was made from; two decisions are the same where nothing about them differs; a layer is seen in the
 * layouts and with the operands in RAM that are decided; layers of a block find its start and their own cut; and of several
 * decisions the one with the best price is kept.
 *
 *     decision [networks] */
#include <inttypes.h>

#include "expect.h"
#include "networks.h"
#include "planning.h"

#define NETWORKS     100
#define MOVES        40
#define ENOUGH_BYTES (1u << 30)

struct counts {
    int moves, in_ram, in_chw, blocks;
};

/* Anything at all, possible or not: a decision does not ask. */
static int move(struct decision *d, struct network_builder *random)
{
    const enum memory_level levels[] = {IN_L2, IN_RAM, IN_RING};
    int tensor = (int)builder_random(random, (uint32_t)d->problem->network->tensor_count);
    decision_place(d, tensor, levels[builder_random(random, 3)], builder_random(random, 4) ? DORY_HWC : DORY_CHW);
    return tensor;
}

static void expect_live(const struct decision *d, uint64_t seed)
{
    for (int l = 0; l < d->problem->network->layer_count; l++) {
        uint32_t live = 0;
        for (int t = 0; t < d->problem->network->tensor_count; t++)
            if (d->levels[t] == IN_L2 && d->problem->lives[t].first <= l && l <= d->problem->lives[t].last)
                live += aligned(tensor_bytes(&d->problem->network->tensors[t]));
        EXPECT(d->live[l] == live, "seed %" PRIu64 ", layer %d: %u bytes live, not %u", seed, l, d->live[l], live);
    }
}

static void expect_layers(const struct decision *d, uint64_t seed)
{
    for (int l = 0; l < d->problem->network->layer_count; l++) {
        const struct layer *layer = &d->problem->network->layers[l];
        const struct dory_layer *record = &layer_of(d, l)->record;
        EXPECT(record->input_layout == d->layouts[layer->inputs[0]] && record->output_layout == d->layouts[layer->output],
               "seed %" PRIu64 ", layer %d: other layouts", seed, l);
        EXPECT(record->operation == d->problem->layers[l].record.operation, "seed %" PRIu64 ": layer %d is another one",
               seed, l);
        bool first = (layer_ram(d, l) & RAM_INPUT) != 0, last = (layer_ram(d, l) & RAM_OUTPUT) != 0;
        EXPECT(first == (d->levels[layer->inputs[0]] == IN_RAM) && last == (d->levels[layer->output] == IN_RAM),
               "seed %" PRIu64 ", layer %d: %u in RAM", seed, l, layer_ram(d, l));
    }
}

/* With one tensor elsewhere, or one cut ahead that was not, it is another one, until it is set back. */
static void expect_copy(struct decision *d, struct network_builder *random, uint64_t seed)
{
    const struct decision before = decision_copy(d, d->problem->arena);
    EXPECT(decision_is_same(d, &before), "seed %" PRIu64 ": a copy is another one", seed);
    int tensor = move(d, random);
    bool moved = d->levels[tensor] != before.levels[tensor] || d->layouts[tensor] != before.layouts[tensor];
    EXPECT(decision_is_same(d, &before) != moved, "seed %" PRIu64 ": tensor %d", seed, tensor);
    decision_set(d, &before);
    d->choices[0].ahead = !d->choices[0].ahead;
    EXPECT(!decision_is_same(d, &before), "seed %" PRIu64 ": another cut", seed);
    decision_set(d, &before);
    EXPECT(decision_is_same(d, &before), "seed %" PRIu64 ": not as it was", seed);
    expect_live(d, seed);
}

static void expect_block(struct decision *d, int first, uint64_t seed, struct counts *counts)
{
    struct cut *cut = block_is_possible(d->problem, first, first + 1, false)
                          ? block_get(d, first, first + 1, (struct stripe){1, false}, ENOUGH_BYTES)
                          : NULL;
    struct choice own = {cut_get(layer_of(d, first), 1, 4, false, 0), true};
    for (int l = 0; l < d->problem->network->layer_count; l++)
        d->choices[l] = own;
    if (!cut)
        return;
    d->choices[first] = (struct choice){cut, true};
    d->choices[first + 1] = (struct choice){d->problem->within, true};
    for (int l = 0; l < d->problem->network->layer_count; l++) {
        bool inside = l == first || l == first + 1;
        const struct cut *of_layer = inside ? cut->block->members[l - first] : own.cut;
        EXPECT(is_in_block(d, l) == inside && block_start(d, l) == (inside ? first : l) && cut_of(d, l) == of_layer,
               "seed %" PRIu64 ": layer %d, beside a block of layers %d and %d", seed, l, first, first + 1);
    }
    counts->blocks++;
}

static void expect_best(struct decision *d, struct network_builder *random, uint64_t seed)
{
    struct priced best = {decision_copy(d, d->problem->arena), UINT64_MAX};
    struct decision least = decision_copy(d, d->problem->arena);
    uint64_t least_price = UINT64_MAX;
    for (int i = 0; i < MOVES; i++) {
        uint64_t price = builder_random(random, MOVES);
        move(d, random);
        keep_better(&best, d, price);
        if (price < least_price) {
            least_price = price;
            decision_set(&least, d);
        }
    }
    EXPECT(best.price == least_price && decision_is_same(&best.decision, &least), "seed %" PRIu64, seed);
}

static void test_network(uint64_t seed, const struct target *target, void *context)
{
    struct counts *counts = context;
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct network_builder random;
    builder_start(&random, &arena, seed);
    const struct plan_options options = {.l1_bytes = 0};
    struct problem problem = problem_for(seeded_network(&arena, seed, 6), target, &options, &arena);
    REQUIRE(problem_make(&problem, &arena, &diagnostics));
    struct decision d = decision_make(&problem, &arena);
    for (int l = 0; l + 1 < problem.network->layer_count; l++)
        expect_block(&d, l, seed, counts);
    for (int i = 0; i < MOVES; i++) {
        int tensor = move(&d, &random);
        counts->moves++;
        counts->in_ram += d.levels[tensor] == IN_RAM;
        counts->in_chw += d.layouts[tensor] == DORY_CHW;
        expect_live(&d, seed);
        expect_layers(&d, seed);
    }
    expect_copy(&d, &random, seed);
    expect_best(&d, &random, seed);
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    struct counts counts = {0};
    test_seeds(argc, argv, NETWORKS, test_network, &counts);
    printf("%d moves, %d to RAM, %d to CHW; %d blocks\n", counts.moves, counts.in_ram, counts.in_chw, counts.blocks);
    EXPECT(counts.in_ram * 5 > counts.moves && counts.in_chw * 5 > counts.moves && counts.blocks > 0, "too few");
    return expect_result("decision");
}
