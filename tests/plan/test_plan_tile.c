/* The tile that the search chooses is as fast as the best of all, tried one by one. */
#include <inttypes.h>
#include <string.h>

#include "expect.h"
#include "networks.h"
#include "planner.h"

#define LAYERS 400

struct brute_force {
    const struct tile_problem *problem;
    struct tiling best;
    uint64_t cycles;
    uint32_t l1_bytes;
    bool found;
};

static bool fits(const struct tile_problem *problem, struct tiling tiling)
{
    return tile_l1_bytes(problem, &tiling, NULL) <= problem->l1_bytes;
}

/* Single buffers are legal where one more double buffer does not fit. */
static bool is_legal(const struct tile_problem *problem, const struct tiling *tiling)
{
    for (uint8_t flag = 1; flag < 8; flag = (uint8_t)(flag << 1)) {
        struct tiling more = *tiling;
        more.single = (uint8_t)(tiling->single & ~flag);
        if ((tiling->single & flag) && fits(problem, more))
            return false;
    }
    return fits(problem, *tiling);
}

static void try_tiling(struct brute_force *brute, const struct tiling *tiling)
{
    struct tile_cost cost;
    if (!is_legal(brute->problem, tiling))
        return;
    tile_simulate(brute->problem, tiling, &cost, NULL);
    if (brute->found && (cost.cycles > brute->cycles || (cost.cycles == brute->cycles && cost.l1_bytes >= brute->l1_bytes)))
        return;
    *brute = (struct brute_force){brute->problem, *tiling, cost.cycles, cost.l1_bytes, true};
}

/* The smallest slice of its number of chunks, by definition. */
static bool is_slice(uint32_t all, uint32_t slice)
{
    if (slice == all)
        return true;
    if (slice % 4 != 0)
        return false;
    return slice == 4 || dory_divide_up(all, slice - 4) > dory_divide_up(all, slice);
}

static void try_shape(struct brute_force *brute, struct tiling tiling)
{
    const struct dory_layer *layer = brute->problem->layer;
    bool slices = layer->operation == DORY_CONVOLUTION && brute->problem->kernel->can_tile_input_channels;
    for (uint32_t slice = slices ? 4 : layer->input_channels; slice <= layer->input_channels + 3u; slice += 4) {
        uint32_t channels = dory_minimum(slice, layer->input_channels);
        if (!is_slice(layer->input_channels, channels))
            continue;
        tiling.shape.input_channels = layer->operation == DORY_CONVOLUTION ? channels : tiling.shape.channels;
        for (tiling.order = 0; tiling.order < 2; tiling.order++)
            for (tiling.single = 0; tiling.single < 8; tiling.single++)
                try_tiling(brute, &tiling);
        if (!slices)
            return;
    }
}

static struct brute_force try_all(const struct tile_problem *problem)
{
    struct brute_force brute = {.problem = problem};
    struct dory_tile_shape *shape;
    struct tiling tiling = {0};
    shape = &tiling.shape;
    for (shape->rows = 1; shape->rows <= problem->steps[0].rows; shape->rows++)
        for (shape->columns = 1; shape->columns <= problem->layer->output_width; shape->columns++)
            for (uint32_t c = 4; c < problem->steps[0].channels + 4u; c += 4) {
                shape->channels = dory_minimum(c, problem->steps[0].channels);
                try_shape(&brute, tiling);
            }
    return brute;
}

static struct dory_layer random_layer_of(struct arena *arena, uint64_t seed)
{
    struct diagnostics diagnostics = {.arena = arena};
    struct dory_layer run;
    const struct network *network = random_network(arena, seed, 3);
    EXPECT(describe_layer(network, (int)(seed % (uint64_t)network->layer_count), &run, arena, &diagnostics), "seed %" PRIu64,
           seed);
    return run;
}

/* Cuts a layer into steps as the planner may. */
static uint32_t make_steps(const struct dory_layer *run, uint64_t seed, struct dory_step *steps, uint32_t most)
{
    uint32_t rows = seed % 3 ? run->output_height : 1 + (uint32_t)(seed / 3 % run->output_height), count = 0;
    uint32_t channels =
        seed % 5 ? run->output_channels : dory_minimum(run->output_channels, 4 * (1 + (uint32_t)(seed / 5 % 4)));
    for (uint32_t c = 0; c < run->output_channels; c += channels)
        for (uint32_t r = 0; r < run->output_height && count < most; r += rows)
            steps[count++] = (struct dory_step){
                .first_row = (uint16_t)r,
                .rows = (uint16_t)dory_minimum(rows, run->output_height - r),
                .first_channel = (uint16_t)c,
                .channels = (uint16_t)dory_minimum(channels, run->output_channels - c),
                .input = {{.channels = run->input_channels}, {.channels = run->input_channels}},
                .output = {.channels = run->output_channels},
                .drain = seed % 7 == 0,
            };
    return count;
}

static const struct dory_kernel_description *kernel_for(const struct dory_layer *run, uint64_t seed)
{
    const struct dory_kernel_description *const *lists[] = {dory_xpulpv2_kernels, dory_reference_kernels};
    for (int i = seed % 2 ? 1 : 0; i < 2; i++)
        for (const struct dory_kernel_description *const *kernel = lists[i]; *kernel; kernel++)
            if ((*kernel)->supports(run))
                return *kernel;
    return NULL;
}

static void test_layer(uint64_t seed, const struct target *target)
{
    struct arena arena = {0};
    struct dory_layer run = random_layer_of(&arena, seed);
    struct dory_step steps[512];
    struct tile_problem problem = {
        .layer = &run, .kernel = kernel_for(&run, seed), .target = target, .cores = 8, .steps = steps};
    problem.step_count = make_steps(&run, seed, steps, 512);
    problem.cycles = cycle_table_make(&run, problem.kernel, 8, &arena);
    uint32_t least = tile_least_l1_bytes(&problem);
    problem.l1_bytes = least + (uint32_t)(seed * 7919 % 6000);
    struct tiling best;
    struct tile_cost cost;
    bool found = tile_search(&problem, UINT64_MAX, &best, &cost);
    struct brute_force brute = try_all(&problem);
    EXPECT(found && brute.found, "seed %" PRIu64 ": %d, %d", seed, found, brute.found);
    EXPECT(cost.cycles == brute.cycles && cost.l1_bytes == brute.l1_bytes,
           "seed %" PRIu64 ": %" PRIu64 " cycles and %u bytes, but best is %" PRIu64 " and %u", seed, cost.cycles,
           cost.l1_bytes, brute.cycles, brute.l1_bytes);
    problem.l1_bytes = least - 1;
    EXPECT(!try_all(&problem).found && !tile_search(&problem, UINT64_MAX, &best, &cost),
           "seed %" PRIu64 ": less than the least", seed);
    arena_free(&arena);
}

int main(void)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    EXPECT(target_load(&target, "gap8", &arena, &diagnostics), "gap8 is built in");
    for (uint64_t seed = 1; seed <= LAYERS; seed++)
        test_layer(seed, &target);
    arena_free(&arena);
    return expect_result("tiles");
}
