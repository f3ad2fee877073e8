/* Pass `tile`: the best of all legal tiles of a layer, found exactly.
 *
 * Every tile is bounded from below, by what costs a few look-ups first (tile_bounds.c); only a tile whose bounds beat the
 * best one so far is played through the pipeline. Larger tiles come first since they have fewer overheads. Chunks of input
 * channels rely on kernels never being faster in more of them. */
#include <string.h>

#include "tile/tile_bounds.h"
#include "tile/tile_mover.h"

/* ---- the search ---- */

/* What tiles with so many output channels take, all rows and columns together. */
struct channels_sum {
    uint64_t division; /* number of the one that it is for; 0: none */
    uint64_t cycles;
};

struct search {
    const struct tile_problem *problem;
    struct tiling *best;
    struct tile_cost *best_cost;
    struct tile_bounds bounds;
    struct extents columns; /* which no step cuts */
    uint64_t limit;         /* tilings with as many cycles are of no use */
    uint8_t in_place;       /* what is so, of all tilings */
    bool found;
    bool estimates; /* in place of simulations */
    struct arena scratch;
    struct channels_sum *sums; /* by channels */
    uint64_t divisions;        /* there were so many */
};

static bool reads_all_channels(const struct search *search) { return dory_reads_all_channels(search->problem->layer); }

/* All chunks of input channels of one tile. */
static uint64_t tile_kernel_cycles(const struct search *search, uint32_t rows, uint32_t columns, uint32_t channels,
                                   uint32_t slice)
{
    struct cycle_table *table = search->problem->cycles;
    uint32_t all = search->problem->layer->input_channels;
    if (slice == all)
        return cycle_table_get(table, rows, columns, channels, all);
    uint64_t cycles = all / slice * cycle_table_get(table, rows, columns, channels, slice);
    return cycles + (all % slice ? cycle_table_get(table, rows, columns, channels, all % slice) : 0);
}

/* All tiles with so many output channels. */
static uint64_t channels_cycles(const struct search *search, const struct division *division, uint32_t channels,
                                uint32_t slice)
{
    const struct extents *rows = &division->rows, *columns = &division->columns;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        for (uint32_t j = 0; j < columns->count; j++)
            sum += (uint64_t)rows->times[i] * columns->times[j] *
                   tile_kernel_cycles(search, rows->extent[i], columns->extent[j], channels, slice);
    return sum;
}

/* The same with all input channels at once, counted once: what is left over of channels is often a size of its own, too. */
static uint64_t known_cycles(struct search *search, const struct division *division, uint32_t channels)
{
    struct channels_sum *sum = &search->sums[channels];
    if (sum->division != division->number) {
        sum->division = division->number;
        sum->cycles = channels_cycles(search, division, channels, search->problem->layer->input_channels);
    }
    return sum->cycles;
}

/* All tiles, with input channels in chunks of `slice`. */
static uint64_t kernel_cycles(struct search *search, const struct division *division, uint32_t slice)
{
    const struct extents *channels = &division->channels;
    bool chunks = slice < search->problem->layer->input_channels;
    uint64_t sum = 0;
    for (uint32_t k = 0; k < channels->count; k++)
        sum += channels->times[k] * (chunks ? channels_cycles(search, division, channels->extent[k], slice)
                                            : known_cycles(search, division, channels->extent[k]));
    return sum;
}

/* As if all tiles were alike: while one is computed, one is loaded and one stored, but for what single buffers keep apart;
 * beside the last one the driver prepares the next layer. */
static void estimate(const struct search *search, const struct tile_candidate *candidate, struct tile_cost *cost)
{
    const struct target *target = search->problem->target;
    const struct tiling *tiling = &candidate->tiling;
    struct transfer_bounds transfers = tile_transfer_bounds(&search->bounds, candidate);
    uint64_t tiles = candidate->tiles, kernel = candidate->kernels / tiles, store = transfers.output / tiles;
    uint64_t load = (transfers.input + transfers.weights) / tiles + target->dma_latency_cycles;
    bool single_load = (tiling->single & (SINGLE_INPUT | SINGLE_WEIGHTS)) != 0;
    bool apart = single_load || (tiling->single & SINGLE_OUTPUT);
    uint64_t beside = (apart ? 0 : load + store) + search->bounds.driver_cycles;
    uint64_t tile = maximum(kernel, beside) + (apart ? load + store : 0) + search->bounds.overhead_cycles;
    uint64_t turn = search->bounds.driver_cycles + target->turn_driver_cycles;
    uint64_t last = maximum(kernel, store + turn) + store;
    cost->cycles = search->bounds.fixed_cycles + tile_first_load_cycles(search->problem, tiling) + (tiles - 1) * tile + last;
    cost->l1_bytes = tile_l1_bytes(search->problem, tiling, NULL);
}

static bool is_worse(const struct search *search, uint64_t bound_cycles)
{
    return search->found ? bound_cycles > search->best_cost->cycles : bound_cycles >= search->limit;
}

static void consider(struct search *search, const struct tile_candidate *candidate)
{
    struct tile_cost cost;
    uint64_t limit = search->found ? search->best_cost->cycles : search->limit - 1;
    if (search->estimates)
        estimate(search, candidate, &cost);
    else if (!tile_simulate_below(search->problem, &candidate->tiling, limit, candidate->kernels, candidate->tiles, &cost))
        return;
    bool better = !search->found || cost.cycles < search->best_cost->cycles ||
                  (cost.cycles == search->best_cost->cycles && cost.l1_bytes < search->best_cost->l1_bytes);
    if (better) {
        *search->best = candidate->tiling;
        *search->best_cost = cost;
        search->found = true;
    }
}

/* Sets of single buffers, smaller sets first: a set is of use only where none of its subsets fits, or where there may be a
 * border. Where cores copy, nothing is beside a kernel, and no second buffer gains anything. */
static const uint8_t single_sets[] = {
    0,
    SINGLE_INPUT,
    SINGLE_WEIGHTS,
    SINGLE_OUTPUT,
    SINGLE_INPUT | SINGLE_WEIGHTS,
    SINGLE_INPUT | SINGLE_OUTPUT,
    SINGLE_WEIGHTS | SINGLE_OUTPUT,
    SINGLE_INPUT | SINGLE_WEIGHTS | SINGLE_OUTPUT,
};
#define SINGLE_SETS (sizeof single_sets / sizeof *single_sets)

/* Whether it may be the best; what is told quickly comes first. Estimates know no contention. */
static bool is_promising(const struct search *search, const struct tile_candidate *candidate,
                         const struct transfer_bounds *transfers)
{
    return !is_worse(search, tile_buffers_bound(&search->bounds, candidate, transfers)) &&
           (search->estimates || !is_worse(search, tile_contention_bound(&search->bounds, candidate, transfers)));
}

/* Considers a shape and order with as many double buffers as fit, and with fewer where these may take less time. */
static void consider_buffers(struct search *search, struct tile_candidate *candidate, const struct l1_sizes *sizes)
{
    uint8_t fitting[SINGLE_SETS];
    struct tiling *tiling = &candidate->tiling;
    size_t count = 0;
    struct transfer_bounds transfers = tile_transfer_bounds(&search->bounds, candidate);
    bool all = tile_border_may_prefer_single(search->problem);
    for (size_t i = tile_cores_copy(search->problem) ? SINGLE_SETS - 1 : 0; i < SINGLE_SETS; i++) {
        bool dominated = false;
        for (size_t j = 0; j < count && !all; j++)
            dominated = dominated || (fitting[j] & single_sets[i]) == fitting[j];
        tiling->single = single_sets[i];
        if (dominated || tile_l1_sum(sizes, single_sets[i]) > search->problem->l1_bytes)
            continue;
        fitting[count++] = single_sets[i];
        if (is_promising(search, candidate, &transfers))
            consider(search, candidate);
    }
    tiling->single = 0;
}

#define SLICE_CHANNELS 4 /* whole bytes of elements of any bits */

/* The next smaller slice of input channels: the least one for its number of chunks. 0: none. */
static uint32_t next_slice(uint32_t all, uint32_t slice)
{
    uint32_t smaller = (slice - 1) / SLICE_CHANNELS * SLICE_CHANNELS;
    return smaller ? dory_round_up(dory_divide_up(all, dory_divide_up(all, smaller)), SLICE_CHANNELS) : 0;
}

/* `candidate`: with so many input channels at once, and with kernels as if these were all. Whether it fits is told sooner
 * than what it takes. False where its kernels alone are worse than the best, as are those of smaller slices. */
static bool consider_slice(struct search *search, struct tile_candidate *candidate, uint32_t slice, bool one_order)
{
    struct l1_sizes sizes = tile_l1_sizes(search->problem, &candidate->tiling);
    if (tile_l1_sum(&sizes, SINGLE_INPUT | SINGLE_WEIGHTS | SINGLE_OUTPUT) > search->problem->l1_bytes)
        return true;
    if (slice < search->problem->layer->input_channels)
        candidate->kernels = kernel_cycles(search, candidate->division, slice);
    uint64_t least = tile_kernels_bound(&search->bounds, candidate->kernels, candidate->tiles);
    if (is_worse(search, least))
        return false;
    tile_find_ends(&search->bounds, candidate);
    for (int order = 0; order < (one_order ? 1 : 2) && !is_worse(search, least + candidate->ends); order++) {
        candidate->tiling.order = (uint8_t)order;
        consider_buffers(search, candidate, &sizes);
    }
    return true;
}

/* Weights, and pixels, are one piece for a kernel that takes them in place. */
static bool can_tile_input_channels(const struct tile_problem *problem, uint8_t in_place)
{
    return dory_reads_all_channels(problem->layer) && problem->kernel->can_tile_input_channels &&
           !(in_place & (DORY_INPUTS_IN_PLACE | DORY_WEIGHTS_IN_PLACE));
}

static void consider_shape(struct search *search, const struct tiling *tiling, uint64_t kernels, struct division *division,
                           bool one_order)
{
    uint32_t all = search->problem->layer->input_channels, slice = all;
    uint64_t tiles = (uint64_t)division->rows.pieces * division->columns.pieces * division->channels.pieces;
    bool chunks = can_tile_input_channels(search->problem, search->in_place), goes_on = true;
    for (; slice && goes_on; slice = chunks ? next_slice(all, slice) : 0) {
        struct tile_candidate candidate = {*tiling, kernels, tiles * dory_divide_up(all, slice), division, 0, 0};
        candidate.tiling.tile.input_channels = reads_all_channels(search) ? (uint16_t)slice : tiling->tile.channels;
        goes_on = !is_worse(search, tile_kernels_bound(&search->bounds, kernels, candidate.tiles)) &&
                  consider_slice(search, &candidate, slice, one_order);
    }
}

/* Bytes of such an output tile, with all input channels, which need no accumulators, or with the fewest, which have the
 * smallest operands. Other slices are of no interest where neither fits. */
static uint32_t least_bytes(const struct tile_problem *problem, struct tiling tiling)
{
    bool reads_all = dory_reads_all_channels(problem->layer);
    bool chunks = can_tile_input_channels(problem, tiling.in_place);
    uint32_t all = problem->layer->input_channels, least = UINT32_MAX;
    tiling.single = SINGLE_INPUT | SINGLE_WEIGHTS | SINGLE_OUTPUT;
    for (int i = 0; i < (chunks ? 2 : 1); i++) {
        uint32_t slice = i ? dory_minimum(4, all) : all;
        tiling.tile.input_channels = reads_all ? (uint16_t)slice : tiling.tile.channels;
        least = dory_minimum(least, tile_l1_bytes(problem, &tiling, NULL));
    }
    return least;
}

static bool can_fit(const struct search *search, struct tiling tiling, uint32_t channels)
{
    const struct tile_problem *problem = search->problem;
    tiling.tile.channels = (uint16_t)channels;
    bool may_fit = (tiling.in_place & DORY_OUTPUT_IN_PLACE) || /* most do not, in little time */
                   dory_output_tile_bytes(problem->layer, &tiling.tile) <= problem->l1_bytes;
    return may_fit && least_bytes(problem, tiling) <= problem->l1_bytes;
}

/* The first one that fits, where `fitting` is that of wider tiles, or behind all. Fewer channels take no more bytes, but
 * than an odd number, for which some kernels need no scratch memory: only all of them can be one. What does not fit behind
 * the first is seen by consider_slice. */
static const struct tile_size *first_fitting(const struct search *search, const struct tiling *tiling,
                                             const struct tile_size *sizes, const struct tile_size *fitting)
{
    while (fitting > sizes && can_fit(search, *tiling, fitting[-1].size))
        fitting--;
    return sizes->size % 2 != 0 && can_fit(search, *tiling, sizes->size) ? sizes : fitting;
}

/* From so many channels on, which fit. */
static void consider_channels(struct search *search, const struct tile_size *sizes, struct tiling *tiling,
                              struct division *division)
{
    const struct dory_layer *layer = search->problem->layer;
    for (; sizes->size > 0; sizes++) {
        tiling->tile.channels = (uint16_t)sizes->size;
        division->channels = sizes->extents;
        uint64_t tiles = (uint64_t)division->rows.pieces * division->columns.pieces * division->channels.pieces;
        if (is_worse(search, tile_kernels_bound(&search->bounds, 0, tiles)))
            return; /* smaller ones have more tiles */
        uint64_t kernels = kernel_cycles(search, division, layer->input_channels);
        bool one_order = sizes->size == search->bounds.most_channels ||
                         (tiling->tile.rows == search->bounds.most_rows && tiling->tile.columns == layer->output_width);
        if (!is_worse(search, tile_kernels_bound(&search->bounds, kernels, tiles)))
            consider_shape(search, tiling, kernels, division, one_order);
    }
}

/* Tiles with so many rows. */
static void consider_rows(struct search *search, const struct tile_size *rows, const struct tile_size *columns,
                          const struct tile_size *channels)
{
    struct tiling tiling = {.tile.rows = (uint16_t)rows->size, .in_place = search->in_place};
    struct division division = {.rows = rows->extents};
    const struct tile_size *fitting = channels;
    while (fitting->size > 0)
        fitting++;
    for (; columns->size > 0; columns++) {
        division.columns = columns->extents;
        if (is_worse(search,
                     tile_kernels_bound(&search->bounds, 0, (uint64_t)division.rows.pieces * division.columns.pieces)))
            return; /* narrower ones are more tiles */
        division.number = ++search->divisions;
        division.loaded_pixels = 0;
        tiling.tile.columns = (uint16_t)columns->size;
        fitting = first_fitting(search, &tiling, channels, fitting);
        consider_channels(search, fitting, &tiling, &division);
    }
}

static void consider_all(struct search *search, enum tile_sizes sizes)
{
    struct dory_tile_shape least = tile_least_shape(search->problem, search->in_place);
    uint32_t block = dory_block_channels(search->problem->layer);
    const struct tile_size *rows = tile_sizes(sizes, &search->bounds.step_rows, least.rows, 1, &search->scratch);
    const struct tile_size *columns = tile_sizes(sizes, &search->columns, least.columns, 1, &search->scratch);
    const struct tile_size *channels =
        tile_sizes(sizes, &search->bounds.step_channels, least.channels, block, &search->scratch);
    for (; rows->size > 0; rows++)
        consider_rows(search, rows, columns, channels);
}

static struct search search_start(const struct tile_problem *problem, uint8_t in_place, struct tiling *best,
                                  struct tile_cost *cost)
{
    struct search search = {.problem = problem, .in_place = in_place, .best = best, .best_cost = cost};
    search.bounds = tile_bounds_of(problem, &search.scratch);
    search.columns = tile_whole(problem->layer->output_width, &search.scratch);
    search.sums = arena_array(&search.scratch, struct channels_sum, (size_t)search.bounds.most_channels + 1);
    return search;
}

static bool search_in_place(const struct tile_problem *problem, uint8_t in_place, uint64_t limit, struct tiling *best,
                            struct tile_cost *cost)
{
    struct search search = search_start(problem, in_place, best, cost);
    search.limit = limit;
    consider_all(&search, HALVED_SIZES); /* to have something good to compare with */
    consider_all(&search, ALL_SIZES);
    arena_free(&search.scratch);
    return search.found;
}

/* What is in place takes no copies, and no L1; but tiles are then as wide as the tensor, which may be too much for what is
 * copied. So as much of it as fits: without one after the other, at last nothing. */
static const uint8_t kept_in_place[] = {DORY_ALL_IN_PLACE, DORY_ALL_IN_PLACE & ~DORY_OUTPUT_IN_PLACE,
                                        DORY_ALL_IN_PLACE & ~DORY_INPUTS_IN_PLACE, DORY_WEIGHTS_IN_PLACE, 0};
#define KEPT_IN_PLACE (sizeof kept_in_place / sizeof *kept_in_place)

static bool lacks_place(const struct tile_problem *problem, uint8_t in_place)
{
    return problem->kernel->needs_in_place && in_place != problem->kernel->in_place;
}

bool tile_search(const struct tile_problem *problem, uint64_t limit, struct tiling *best, struct tile_cost *cost)
{
    uint8_t all = tile_in_place(problem);
    if (lacks_place(problem, all))
        return false;
    bool found = search_in_place(problem, all, limit, best, cost);
    for (size_t i = 1; i < KEPT_IN_PLACE && !found && all && !problem->kernel->needs_in_place; i++)
        found = (all & kept_in_place[i]) != (all & kept_in_place[i - 1]) &&
                search_in_place(problem, all & kept_in_place[i], limit, best, cost);
    return found;
}

/* One shape, as consider_all looks at it. */
static void consider_one(struct search *search, struct tiling tiling)
{
    const struct dory_layer *layer = search->problem->layer;
    struct division division = {
        .number = ++search->divisions,
        .rows = tile_extents(&search->bounds.step_rows, tiling.tile.rows, &search->scratch),
        .columns = tile_extents(&search->columns, tiling.tile.columns, &search->scratch),
        .channels = tile_extents(&search->bounds.step_channels, tiling.tile.channels, &search->scratch),
    };
    if (can_fit(search, tiling, tiling.tile.channels))
        consider_shape(search, &tiling, kernel_cycles(search, &division, layer->input_channels), &division, false);
}

/* Sixteenths of a size that its neighbours have. */
static const uint32_t neighbours[] = {8, 10, 12, 14, 15, 17, 18, 20, 24};
#define NEIGHBOURS (sizeof neighbours / sizeof *neighbours)

static uint16_t neighbour(uint32_t size, uint32_t sixteenths, uint32_t least, uint32_t most_size)
{
    uint32_t other = (size * sixteenths + 8) / 16;
    return (uint16_t)(other < least ? least : other > most_size ? most_size : other);
}

/* One step from the best shape so far along one dimension. */
static void consider_neighbours(struct search *search)
{
    const struct dory_layer *layer = search->problem->layer;
    const struct tiling best = *search->best;
    struct dory_tile_shape least = tile_least_shape(search->problem, search->in_place);
    uint32_t channels = search->bounds.most_channels;
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        struct tiling rows = best, columns = best, blocks = best;
        rows.tile.rows = neighbour(best.tile.rows, neighbours[i], least.rows, search->bounds.most_rows);
        columns.tile.columns = neighbour(best.tile.columns, neighbours[i], least.columns, layer->output_width);
        uint32_t other = dory_round_up(neighbour(best.tile.channels, neighbours[i], least.channels, channels),
                                       dory_block_channels(layer));
        blocks.tile.channels = (uint16_t)dory_minimum(other, channels);
        if (rows.tile.rows != best.tile.rows)
            consider_one(search, rows);
        if (columns.tile.columns != best.tile.columns)
            consider_one(search, columns);
        if (blocks.tile.channels != best.tile.channels)
            consider_one(search, blocks);
    }
}

static bool estimate_in_place(const struct tile_problem *problem, uint8_t in_place, struct tiling *best,
                              struct tile_cost *cost)
{
    struct search search = search_start(problem, in_place, best, cost);
    uint64_t before = UINT64_MAX;
    search.limit = UINT64_MAX;
    search.estimates = true;
    consider_all(&search, HALVED_SIZES);
    while (search.found && cost->cycles < before) {
        before = cost->cycles;
        consider_neighbours(&search);
    }
    arena_free(&search.scratch);
    return search.found;
}

bool tile_estimate(const struct tile_problem *problem, struct tiling *best, struct tile_cost *cost)
{
    uint8_t all = tile_in_place(problem);
    if (lacks_place(problem, all))
        return false;
    bool found = estimate_in_place(problem, all, best, cost);
    for (size_t i = 1; i < KEPT_IN_PLACE && !found && all && !problem->kernel->needs_in_place; i++)
        found = (all & kept_in_place[i]) != (all & kept_in_place[i - 1]) &&
                estimate_in_place(problem, all & kept_in_place[i], best, cost);
    return found;
}

uint32_t tile_least_l1_bytes(const struct tile_problem *problem)
{
    uint8_t all = tile_in_place(problem);
    uint32_t least = UINT32_MAX, block = dory_block_channels(problem->layer);
    for (size_t i = 0; i < KEPT_IN_PLACE; i++) {
        struct tiling tiling = {.in_place = all & kept_in_place[i]};
        tiling.tile = tile_least_shape(problem, tiling.in_place);
        uint32_t channels = tiling.tile.channels > block ? tiling.tile.channels : block;
        tiling.tile.channels = (uint16_t)dory_minimum(channels, problem->steps[0].channels);
        least = dory_minimum(least, least_bytes(problem, tiling));
    }
    return least;
}
