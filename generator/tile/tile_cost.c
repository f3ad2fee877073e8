/* What a tiling costs: cycles, by playing the tile loop. Its tiles and their copies are those of the firmware. */
#include <string.h>

#include "dory/prepared.h"
#include "dory/turn.h"
#include "tile/tile_mover.h"

void tile_cost_add(struct tile_cost *sum, const struct tile_cost *cost)
{
    sum->cycles += cost->cycles;
    sum->kernel_cycles += cost->kernel_cycles;
    sum->dma_cycles += cost->dma_cycles;
    sum->dma_bytes += cost->dma_bytes;
    sum->exposed_cycles += cost->exposed_cycles;
    sum->tile_count += cost->tile_count;
    sum->l1_bytes = cost->l1_bytes > sum->l1_bytes ? cost->l1_bytes : sum->l1_bytes;
}

/* ---- the pipeline ---- */

struct player {
    const struct tile_problem *problem;
    struct tile_cost *cost;
    struct mover mover;
    struct dory_layer layer; /* with its tile, as the firmware has it */
    struct dory_step step;   /* at work */
    struct tile_walk walk;
    uint64_t border; /* of the cores, to lay that of the tile, behind its loads */
    uint64_t time;
    uint64_t kernel, store; /* of the tile before */
    uint64_t pending;       /* store of the tile before that, which is still to overlap */
    uint64_t queueing;      /* of the driver, transfers from and to L3, behind the start of that tile */
    uint32_t transfers_queued;
    uint32_t step_index;
};

static void tell(const struct player *player, enum tile_event_kind kind, uint32_t tile, uint64_t start, uint64_t cycles)
{
    const struct tile_observer *observer = &player->problem->observer;
    const struct dory_tile *at = &player->walk.tile.tile;
    if (!observer->see || cycles == 0)
        return;
    struct tile_event event = {.kind = kind, .tile = tile, .step = player->step_index, .start = start, .cycles = cycles};
    if (kind == TILE_KERNEL)
        event.shape = (struct dory_tile_shape){at->rows, at->columns, at->channels, at->input_channels};
    observer->see(observer->context, &event);
}

/* Of an input in CHW: as if all planes had their border read, by one command, and that of the last one cost its start. */
static uint64_t planes_cycles(struct player *player, const struct dory_placed_tile *placed, const struct hal_dma_copy *first)
{
    struct hal_dma_copy all = *first;
    all.run_bytes = all.local_run_stride;
    all.runs = placed->tile.input_channels;
    return tile_copy_cycles(&player->mover, &all) + (placed->has_border ? player->mover.target->dma_setup_cycles : 0);
}

/* Cycles to load what L1 does not hold. Weights that are early take none, but their command. */
static uint64_t load(struct player *player)
{
    const struct dory_placed_tile *placed = &player->walk.tile;
    const struct tile_problem *problem = player->problem;
    struct dory_copies copies;
    tile_walk_loads(&player->walk, problem->inputs_stay, &copies);
    unsigned weights = placed->load_weights && player->layer.block_bytes != 0;
    bool are_early = problem->weights_are_early && tile_walk_is_first(&player->walk);
    bool are_planes = player->layer.input_layout == DORY_CHW && copies.load_count > weights;
    uint64_t cycles = 0;
    for (unsigned i = 0; i < copies.load_count; i++) {
        uint64_t copied = i < weights || !are_planes ? tile_copy_cycles(&player->mover, &copies.loads[i]) : 0;
        cycles += (i < weights ? are_early : problem->inputs_are_early) ? 0 : copied;
        player->cost->dma_bytes += tile_copy_bytes(&copies.loads[i]);
    }
    if (problem->kernel->copies_constants)
        player->cost->dma_bytes += (uint64_t)dory_blocks(&player->layer, placed->tile.channels) *
                                   (player->layer.block_bytes - player->layer.chunk_bytes);
    cycles += are_planes && !problem->inputs_are_early ? planes_cycles(player, placed, &copies.loads[weights]) : 0;
    return cycles ? cycles + problem->target->dma_latency_cycles : 0;
}

/* To store its results, where it has some. */
static uint64_t store(struct player *player)
{
    struct dory_copies copies;
    if (player->problem->is_left_in_l1 || !tile_walk_store(&player->walk, &copies))
        return 0;
    player->cost->dma_bytes += tile_copy_bytes(&copies.store);
    return tile_copy_cycles(&player->mover, &copies.store) + player->problem->target->dma_latency_cycles;
}

/* Queues transfers up to `end`, or of these what is one turn's; returns what that takes the driver. With a table no tile
 * waits for that, but a meeting, see timeline.c. */
static uint64_t queue_transfers(struct player *player, uint32_t end, bool is_turn)
{
    const struct tile_problem *problem = player->problem;
    uint32_t queued = 0;
    uint64_t bytes = 0;
    if (!problem->transfer_bytes || problem->target->has_table)
        return 0;
    for (; player->transfers_queued < end && (!is_turn || dory_turn_goes_on(queued, bytes)); queued++)
        bytes += problem->transfer_bytes[player->transfers_queued++];
    return (uint64_t)queued * problem->target->transfer_driver_cycles;
}

uint64_t tile_contention_cycles(const struct tile_problem *problem, uint64_t copies)
{
    uint64_t percent = problem->kernel->contention_percent ? problem->kernel->contention_percent : 100;
    return copies * problem->target->dma_contention_cycles * percent / 100000;
}

bool tile_cores_copy(const struct tile_problem *problem) { return problem->target->dma_contention_cycles >= 1000; }

/* Of a kernel, with what it waits for L1 because of the copies beside it. Measured: copies that take more than a quarter of
 * its time cost hardly more than those that take a quarter. Where a core copies, it computes behind all of them. */
static uint64_t kernel_beside(const struct tile_problem *problem, uint64_t kernel, uint64_t copies)
{
    return kernel +
           (tile_cores_copy(problem) ? copies : tile_contention_cycles(problem, copies < kernel / 4 ? copies : kernel / 4));
}

/* The tile before is computed; `load` cycles of transfers go on meanwhile if they overlap, else behind its store.
 * Returns when those loads are issued. */
static uint64_t finish_previous(struct player *player, uint64_t load_cycles, uint64_t driver, bool overlaps,
                                uint64_t overhead)
{
    uint64_t issued = player->time;
    uint64_t beside = player->pending + (overlaps ? load_cycles : 0);
    uint64_t kernel = kernel_beside(player->problem, player->kernel, beside);
    uint32_t tile = player->cost->tile_count;
    if (overlaps)
        tell(player, TILE_LOAD, tile, issued, load_cycles);
    tell(player, TILE_STORE, tile - 2, issued + beside - player->pending, player->pending);
    player->time += maximum(kernel, driver + beside) + overhead;
    player->cost->exposed_cycles += maximum(kernel, beside) - kernel;
    player->pending = overlaps ? player->store : 0;
    if (!overlaps) {
        tell(player, TILE_STORE, tile - 1, player->time, player->store);
        issued = player->time += player->store;
        tell(player, TILE_LOAD, tile, issued, load_cycles);
        player->time += load_cycles;
        player->cost->exposed_cycles += player->store + load_cycles;
    }
    return issued;
}

/* Of the driver, for the first tile of a step. The search does not know when transfers are queued: one comes with each. */
static uint64_t step_cycles(const struct tile_problem *problem)
{
    const struct target *target = problem->target;
    bool knows = problem->is_decided || target->has_table;
    return target->step_driver_cycles + (knows ? 0 : target->transfer_driver_cycles);
}

/* Cores that go through a table meet the driver behind the tile before, and load what the step needs behind that. */
static bool meets_driver(const struct tile_problem *problem, const struct dory_step *step)
{
    return problem->is_decided && problem->target->has_table && step > problem->steps &&
           dory_step_meets(step, step - 1) != DORY_MEETS_NOBODY;
}

/* Of the driver beside the tile before, for this one, its step and its transfers. */
static uint64_t driver_cycles(struct player *player)
{
    const struct tile_problem *problem = player->problem;
    bool first_of_step = player->walk.tile.starts_step;
    return problem->target->tile_driver_cycles + (first_of_step ? step_cycles(problem) : 0) + player->queueing +
           queue_transfers(player, first_of_step ? player->step.transfers_awaited : 0, false);
}

/* The tile comes to L1. Returns when its loads are issued. */
static uint64_t bring_tile(struct player *player)
{
    const struct tile_problem *problem = player->problem;
    const struct dory_placed_tile *placed = &player->walk.tile;
    bool first = tile_walk_is_first(&player->walk);
    bool meets = placed->starts_step && meets_driver(problem, &problem->steps[player->step_index]);
    bool overlaps = !first && placed->overlaps && !meets;
    bool has_border = dory_needs_border(player->walk.bordered, placed, &player->layer);
    uint64_t load_cycles = load(player), issued = player->time;
    uint64_t driver = driver_cycles(player);
    if (first) {
        tell(player, TILE_LOAD, 0, 0, load_cycles);
        player->time = player->cost->exposed_cycles = load_cycles;
    } else {
        issued = finish_previous(player, load_cycles, driver, overlaps, problem->target->tile_overhead_cycles);
    }
    player->cost->dma_cycles += load_cycles;
    player->border = has_border ? tile_border_cycles(problem, placed) : 0;
    return issued;
}

/* And is computed, and stored: what is known of that before the next one comes. */
static void compute_tile(struct player *player)
{
    const struct tile_problem *problem = player->problem;
    const struct dory_tile *tile = &player->walk.tile.tile;
    uint64_t kernel = problem->is_added ? 0
                                        : cycle_table_get(problem->cycles, tile->rows, tile->columns, tile->channels,
                                                          tile->input_channels);
    player->kernel = kernel + player->border;
    player->store = store(player);
    tell(player, TILE_KERNEL, player->cost->tile_count, player->time, player->kernel);
    player->cost->kernel_cycles += player->kernel;
    player->cost->dma_cycles += player->store;
    player->cost->tile_count++;
    player->queueing = queue_transfers(player, player->step.transfers_started, true);
}

static void play_tile(struct player *player, struct step_times *times)
{
    uint64_t issued = bring_tile(player);
    if (times && player->walk.tile.starts_step)
        *times = (struct step_times){.fetch = issued, .start = player->time};
    compute_tile(player);
}

/* The costs of the tiles that follow go to `cost`. */
static void start(struct player *player, const struct tile_problem *problem, const struct tiling *tiling,
                  struct tile_cost *cost)
{
    memset(cost, 0, sizeof *cost);
    memset(player, 0, sizeof *player);
    player->problem = problem;
    player->cost = cost;
    player->mover = tile_mover_of(problem);
    player->transfers_queued = problem->transfers_queued;
    cost->l1_bytes = tile_apply(problem, tiling, &player->layer);
    tile_walk_start(&player->walk, &player->layer);
}

/* A ring is taken for a whole tensor: what its end costs, a second copy of few tiles, no plan would feel. */
static void enter_step(struct player *player, uint32_t index)
{
    struct dory_step *step = &player->step;
    *step = player->problem->steps[index];
    for (int i = 0; i < 2 && player->layer.input_layout == DORY_HWC; i++) {
        step->input[i].first_row = 0;
        step->input[i].rows = player->layer.input_height;
    }
    player->step_index = index;
    tile_walk_enter(&player->walk, step);
}

uint64_t tile_first_load_cycles(const struct tile_problem *problem, const struct tiling *tiling)
{
    struct player player;
    struct tile_cost cost;
    start(&player, problem, tiling, &cost);
    enter_step(&player, 0);
    return load(&player);
}

uint64_t tile_first_weights_cycles(const struct tile_problem *problem, const struct tiling *tiling)
{
    struct player player;
    struct tile_cost cost;
    struct hal_dma_copy copy;
    start(&player, problem, tiling, &cost);
    enter_step(&player, 0);
    dory_describe_weights(&copy, &player.walk.tile, &player.layer, TILE_BASE);
    return tile_copy_cycles(&player.mover, &copy) + problem->target->dma_latency_cycles;
}

uint64_t tile_input_cycles(const struct tile_problem *problem, const struct tiling *tiling)
{
    struct player player;
    struct tile_cost cost;
    struct dory_copies copies;
    uint64_t cycles = 0;
    start(&player, problem, tiling, &cost);
    enter_step(&player, 0);
    tile_walk_loads(&player.walk, problem->inputs_stay, &copies);
    for (unsigned i = player.walk.tile.load_weights && player.layer.block_bytes != 0; i < copies.load_count; i++)
        cycles += tile_copy_cycles(&player.mover, &copies.loads[i]);
    return cycles ? cycles + problem->target->dma_latency_cycles : 0;
}

/* Beside the last tile the driver prepares the next layer, and its first weights come. */
static void finish(struct player *player)
{
    const struct tile_problem *problem = player->problem;
    const struct target *target = problem->target;
    uint64_t driver = problem->is_last ? 0 : target->tile_driver_cycles + target->turn_driver_cycles + player->queueing;
    uint64_t kernel = kernel_beside(problem, player->kernel, player->pending);
    uint64_t before = tile_cores_copy(problem) ? kernel : player->pending; /* a driver's instructions wait for both */
    uint64_t ready = before + driver + problem->early_cycles_of_next;
    uint64_t wait = maximum(kernel, ready) - maximum(kernel, player->pending);
    finish_previous(player, 0, 0, false, 0);
    player->time += wait;
    player->cost->cycles = player->time + target->layer_overhead_cycles;
}

/* Of a search: more cycles are of no use to it. What all kernels take at least, and how many tiles there are. */
struct limit {
    uint64_t cycles, kernel_cycles, tiles;
};

/* What is still to come at least: kernels of the tiles that are not in the time yet, and their overheads. */
static uint64_t least_to_come(const struct player *player, const struct limit *limit)
{
    const struct target *target = player->problem->target;
    uint64_t played = player->cost->kernel_cycles - player->kernel, all = limit->kernel_cycles;
    return (all > played ? all - played : 0) + (limit->tiles - player->cost->tile_count) * target->tile_overhead_cycles +
           target->layer_overhead_cycles;
}

/* Either of `times` and `limit` may be null. */
static bool play(const struct tile_problem *problem, const struct tiling *tiling, struct tile_cost *cost,
                 struct step_times *times, const struct limit *limit)
{
    struct player player;
    start(&player, problem, tiling, cost);
    for (uint32_t i = 0; i < problem->step_count; i++) {
        enter_step(&player, i);
        do {
            play_tile(&player, times ? &times[i] : NULL);
            if (limit && player.time + least_to_come(&player, limit) > limit->cycles)
                return false;
        } while (tile_walk_next(&player.walk));
    }
    finish(&player);
    return !limit || cost->cycles <= limit->cycles;
}

void tile_simulate(const struct tile_problem *problem, const struct tiling *tiling, struct tile_cost *cost,
                   struct step_times *times)
{
    play(problem, tiling, cost, times, NULL);
}

bool tile_simulate_below(const struct tile_problem *problem, const struct tiling *tiling, uint64_t limit,
                         uint64_t kernel_cycles, uint64_t tiles, struct tile_cost *cost)
{
    return play(problem, tiling, cost, NULL, &(struct limit){limit, kernel_cycles, tiles});
}
