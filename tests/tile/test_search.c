/* The tile that the search chooses is as fast as the best of all, tried one by one: on random layers, and on every layer of
 * the plans of MobileNetV1 and V2. */
#include <inttypes.h>
#include <string.h>

#include "exhaustive.h"
#include "expect.h"
#include "networks.h"
#include "planning.h"
#include "share.h"

#define LAYERS 200

static struct dory_layer random_layer_of(struct arena *arena, uint64_t seed, const struct target *target)
{
    const struct network *network = seeded_network(arena, seed, 3);
    return formed_layer_of(network, (int)(seed % (uint64_t)network->layer_count), target, arena).record;
}

/* Of a stripe, the first of which has the most: all others have as many, but for the last one; or, in a block, fewer. */
static uint32_t stripe_rows(uint32_t rows, uint32_t stripe, uint64_t seed)
{
    return seed % 2 ? rows - dory_minimum(stripe % 3, rows - 1) : rows;
}

/* Cuts a layer into steps as the planner may. */
static uint32_t make_steps(const struct dory_layer *record, uint64_t seed, struct dory_step *steps, uint32_t most)
{
    uint32_t rows = seed % 3 ? record->output_height : 1 + (uint32_t)(seed / 3 % record->output_height), count = 0;
    uint32_t channels =
        seed % 5 ? record->output_channels : dory_minimum(record->output_channels, 4 * (1 + (uint32_t)(seed / 5 % 4)));
    for (uint32_t c = 0; c < record->output_channels; c += channels)
        for (uint32_t r = 0, stripe = 0, size; r < record->output_height && count < most; r += size, stripe++) {
            size = dory_minimum(stripe_rows(rows, stripe, seed), record->output_height - r);
            steps[count++] = (struct dory_step){
                .first_row = (uint16_t)r,
                .rows = (uint16_t)size,
                .first_channel = (uint16_t)c,
                .channels = (uint16_t)dory_minimum(channels, record->output_channels - c),
                .input = {{.rows = record->input_height, .channels = record->input_channels},
                          {.rows = record->input_height, .channels = record->input_channels}},
                .output = {.rows = record->output_height, .channels = record->output_channels},
                .drain = seed % 7 == 0,
            };
        }
    return count;
}

static const struct dory_kernel_description *kernel_for(const struct dory_layer *record, uint64_t seed)
{
    const struct dory_kernel_description *const *lists[] = {dory_xpulpv2_engine.kernels, dory_portable_engine.kernels};
    for (int i = seed % 2 ? 1 : 0; i < 2; i++)
        for (const struct dory_kernel_description *const *kernel = lists[i]; *kernel; kernel++)
            if ((*kernel)->supports(record))
                return *kernel;
    return NULL;
}

/* What may be in place is so, where L1 has room for all else; what is copied has the best tile. */
static void test_in_place(struct tile_problem problem, uint64_t seed)
{
    struct target target = *problem.target;
    struct tiling best;
    struct tile_cost cost;
    target.weights_in_place = seed % 3 != 0;
    target.activations_in_place = seed % 3 != 1;
    problem.target = &target;
    problem.l1_bytes = TARGET_MAXIMUM_L1_BYTES;
    bool found = tile_search(&problem, UINT64_MAX, &best, &cost);
    struct exhaustive all = try_all_tilings(&problem, UINT64_MAX);
    EXPECT(found && best.in_place == tile_in_place(&problem), "seed %" PRIu64 ": %u in place", seed, best.in_place);
    EXPECT(cost.cycles == all.cycles && cost.l1_bytes == all.l1_bytes,
           "seed %" PRIu64 ", in place: %" PRIu64 " cycles and %u bytes, but best is %" PRIu64 " and %u", seed, cost.cycles,
           cost.l1_bytes, all.cycles, all.l1_bytes);
    EXPECT(all.above == 0, "seed %" PRIu64 ", in place: %" PRIu64 " tilings take less than a bound says", seed, all.above);
}

static void test_layer(uint64_t seed, const struct target *target)
{
    struct arena arena = {0};
    struct dory_layer record = random_layer_of(&arena, seed, target);
    struct dory_step steps[512];
    struct tile_problem problem = {.layer = &record,
                                   .weights = &dory_quads,
                                   .kernel = kernel_for(&record, seed),
                                   .target = target,
                                   .cores = 8,
                                   .steps = steps};
    problem.step_count = make_steps(&record, seed, steps, 512);
    problem.cycles = cycle_table_make(&record, problem.kernel, problem.target, 8, &arena);
    uint32_t least = tile_least_l1_bytes(&problem);
    problem.l1_bytes = least + (uint32_t)(seed * 7919 % 6000);
    struct tiling best;
    struct tile_cost cost;
    bool found = tile_search(&problem, UINT64_MAX, &best, &cost);
    struct exhaustive all = try_all_tilings(&problem, UINT64_MAX);
    EXPECT(found && all.found, "seed %" PRIu64 ": %d, %d", seed, found, all.found);
    EXPECT(cost.cycles == all.cycles && cost.l1_bytes == all.l1_bytes,
           "seed %" PRIu64 ": %" PRIu64 " cycles and %u bytes, but best is %" PRIu64 " and %u", seed, cost.cycles,
           cost.l1_bytes, all.cycles, all.l1_bytes);
    EXPECT(cost.cycles <= all.any_cycles,
           "seed %" PRIu64 ": %" PRIu64 " cycles, but %" PRIu64 " with fewer buffers than fit", seed, cost.cycles,
           all.any_cycles);
    EXPECT(all.above == 0, "seed %" PRIu64 ": %" PRIu64 " tilings take less than a bound says", seed, all.above);
    problem.l1_bytes = least - 1;
    EXPECT(!try_all_tilings(&problem, UINT64_MAX).found && !tile_search(&problem, UINT64_MAX, &best, &cost),
           "seed %" PRIu64 ": less than the least", seed);
    if (seed % 4 == 1) /* a portable kernel */
        test_in_place(problem, seed / 4);
    arena_free(&arena);
}

/* ---- real layers ---- */

struct counts {
    int layers, different;
    uint64_t tried, played;
};

/* Of all kernels that can run the layer. */
static struct exhaustive try_all_kernels(const struct cut *cut, struct counts *counts)
{
    const struct planned_layer *of = cut->of;
    struct exhaustive best = {.cycles = cut->cost.cycles};
    for (int i = 0; of->kernels[i]; i++) {
        struct tile_problem problem = {.layer = &of->record,
                                       .weights = &dory_quads,
                                       .kernel = of->kernels[i],
                                       .target = of->problem->target,
                                       .cores = of->problem->cores,
                                       .l1_bytes = of->problem->l1_bytes,
                                       .steps = cut->steps,
                                       .step_count = cut->step_count,
                                       .cycles = of->cycles[i]};
        struct exhaustive all = try_all_tilings(&problem, best.cycles);
        counts->tried += all.tried;
        counts->played += all.played;
        if (all.found && (!best.found || all.cycles < best.cycles || all.l1_bytes < best.l1_bytes))
            best = all;
    }
    return best;
}

/* The same cut of the same layer has been looked at. */
static bool is_repeated(const struct decision *decision, int layer)
{
    for (int l = 0; l < layer; l++)
        if (decision->choices[l].cut == decision->choices[layer].cut)
            return true;
    return false;
}

static void test_network(const char *name, const struct network *network, const struct target *target, struct counts *counts)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    const struct plan_options options = {.l1_bytes = 64000, .blocks = BLOCKS_NONE}; /* a cut is one layer's */
    struct problem problem = problem_for(network, target, &options, &arena);
    struct outcome outcome;
    bool planned = problem_make(&problem, &arena, &diagnostics) && optimise(&problem, &outcome);
    EXPECT(planned, "%s", name);
    for (int l = 0; planned && l < network->layer_count; l++) {
        const struct cut *cut = outcome.decision.choices[l].cut;
        counts->layers++;
        if (is_repeated(&outcome.decision, l))
            continue;
        counts->different++;
        struct exhaustive all = try_all_kernels(cut, counts);
        EXPECT(all.found && cut->cost.cycles == all.cycles && cut->cost.l1_bytes == all.l1_bytes,
               "%s, layer %d: %" PRIu64 " cycles and %u bytes, but best is %" PRIu64 " and %u", name, l, cut->cost.cycles,
               cut->cost.l1_bytes, all.cycles, all.l1_bytes);
    }
    arena_free(&arena);
}

/* Version 1 has layers of the same kinds. */
static void test_mobilenet(const struct target *target)
{
    struct arena arena = {0};
    struct counts counts = {0};
    test_network("MobileNetV2-1.0-128", mobilenet_v2(&arena, 128, 100), target, &counts);
    EXPECT(counts.layers == 64, "%d layers", counts.layers);
    printf("MobileNetV2: %d layers, %d different; %" PRIu64 " tilings, %" PRIu64 " played to their end\n", counts.layers,
           counts.different, counts.tried, counts.played);
    arena_free(&arena);
}

int main(void)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    EXPECT(target_load(&target, "gap8", &arena, &diagnostics), "gap8 is built in");
    for (uint64_t seed = 1; seed <= share_of(LAYERS); seed++)
        test_layer(seed, seed % 4 < 2 ? &target : target_with_table(&target, &arena));
    if (share_is_all())
        test_mobilenet(&target);
    arena_free(&arena);
    return expect_result("tiles");
}
