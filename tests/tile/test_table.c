/* What the tiles of a table cost beside kernels and copies: see tile_cost.c. */
#include <inttypes.h>
#include <string.h>

#include "expect.h"
#include "networks.h"
#include "planning.h"
#include "tile/tile.h"

enum { BETWEEN = 1000, START = 300, RATE = 8000, LONG = 1000000000 };

static const struct target machine = {.cores = 8,
                                      .engines = {&dory_portable_engine},
                                      .dma_read_bytes_per_1000_cycles = RATE,
                                      .dma_write_bytes_per_1000_cycles = RATE,
                                      .layer_overhead_cycles = START,
                                      .has_table = true};

struct sample {
    struct arena arena;
    struct dory_layer record;
    struct dory_step step;
    struct target target;
    struct tile_problem problem;
    struct tiling tiling;
};

static const struct dory_kernel_description *kernel_for(const struct dory_layer *record)
{
    const struct dory_kernel_description *const *kernel = dory_portable_engine.kernels;
    while (!(*kernel)->supports(record))
        kernel++;
    return *kernel;
}

/* A layer in one tile. */
static void set_up(struct sample *sample, uint64_t seed)
{
    struct dory_layer *record = &sample->record;
    const struct network *network = seeded_network(&sample->arena, seed, 3);
    sample->target = machine;
    *record = formed_layer_of(network, (int)(seed % (uint64_t)network->layer_count), &machine, &sample->arena).record;
    sample->step = (struct dory_step){.rows = record->output_height,
                                      .channels = record->output_channels,
                                      .input = {{.channels = record->input_channels}, {.channels = record->input_channels}},
                                      .output = {.channels = record->output_channels}};
    sample->problem = (struct tile_problem){.layer = record,
                                            .weights = &dory_quads,
                                            .kernel = kernel_for(record),
                                            .target = &sample->target,
                                            .cores = 8,
                                            .l1_bytes = UINT32_MAX / 2,
                                            .steps = &sample->step,
                                            .step_count = 1,
                                            .is_decided = true};
    sample->problem.cycles = cycle_table_make(record, sample->problem.kernel, &sample->target, 8, &sample->arena);
    sample->tiling.tile = (struct dory_tile_shape){.rows = record->output_height,
                                                   .columns = record->output_width,
                                                   .channels = record->output_channels,
                                                   .input_channels = record->input_channels};
}

static struct tile_cost cost_of(const struct sample *sample)
{
    struct tile_cost cost;
    tile_simulate(&sample->problem, &sample->tiling, &cost, NULL);
    return cost;
}

/* True where there are several. */
static bool test_overhead_between_tiles(struct sample *sample)
{
    uint16_t rows = sample->tiling.tile.rows;
    sample->tiling.tile.rows = (uint16_t)dory_divide_up(rows, 3);
    struct tile_cost without = cost_of(sample);
    sample->target.tile_overhead_cycles = BETWEEN;
    EXPECT_EQUAL(cost_of(sample).cycles - without.cycles, (without.tile_count - 1) * BETWEEN);
    sample->tiling.tile.rows = rows;
    uint64_t one = cost_of(sample).cycles;
    sample->target.tile_overhead_cycles = 0;
    EXPECT_EQUAL(cost_of(sample).cycles, one);
    return without.tile_count > 1;
}

static void test_start(struct sample *sample)
{
    uint64_t before = cost_of(sample).cycles;
    sample->target.layer_overhead_cycles = 0;
    EXPECT_EQUAL(cost_of(sample).cycles + START, before);
    sample->target = machine;
}

/* They come beside the last tile: the next layer waits for what its kernel does not hide. */
static void test_early_weights(struct sample *sample)
{
    struct tile_cost alone = cost_of(sample);
    sample->problem.early_cycles_of_next = 7;
    EXPECT_EQUAL(cost_of(sample).cycles, alone.cycles + (alone.kernel_cycles < 7 ? 7 - alone.kernel_cycles : 0));
    sample->problem.early_cycles_of_next = LONG;
    EXPECT_EQUAL(cost_of(sample).cycles, alone.cycles + LONG - alone.kernel_cycles);
    sample->problem.early_cycles_of_next = 0;
}

/* What a step loads comes beside the tile before, but behind it where the cores meet the driver in front of the step. True
 * where there is a tile before. */
static bool test_meeting(struct sample *sample)
{
    struct tile_problem problem = sample->problem;
    struct tiling tiling = sample->tiling;
    struct dory_step steps[2] = {sample->step, sample->step};
    struct step_times times[2];
    struct tile_cost cost;
    tiling.tile.rows = steps[0].rows = (uint16_t)dory_divide_up(sample->step.rows, 2);
    steps[1].first_row = steps[0].rows;
    steps[1].rows = (uint16_t)(sample->step.rows - steps[0].rows);
    problem.steps = steps;
    problem.step_count = 2;
    if (steps[1].rows == 0)
        return false;
    tile_simulate(&problem, &tiling, &cost, times);
    EXPECT_EQUAL(times[1].fetch, times[0].start);
    steps[1].transfers_awaited = 1;
    tile_simulate(&problem, &tiling, &cost, times);
    EXPECT(times[1].fetch > times[0].start, "loads at %" PRIu64 ", beside the tile before", times[1].fetch);
    return true;
}

int main(void)
{
    int with_tiles = 0, with_meeting = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct sample sample;
        memset(&sample, 0, sizeof sample);
        set_up(&sample, seed);
        with_tiles += test_overhead_between_tiles(&sample);
        test_start(&sample);
        test_early_weights(&sample);
        with_meeting += test_meeting(&sample);
        arena_free(&sample.arena);
    }
    EXPECT(with_tiles > 20, "%d of 40 layers in several tiles", with_tiles);
    EXPECT(with_meeting > 20, "%d of 40 layers in two steps", with_meeting);
    return expect_result("table");
}
