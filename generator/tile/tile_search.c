/* Pass `tile`: the best of all legal tiles of a layer, found exactly.
 *
 * Every tile is bounded from below by its kernels' cycles and overheads, which cost a few look-ups; only a tile whose
 * bound beats the best one so far is played through the pipeline. Larger tiles come first since they have fewer
 * overheads. The bound for tiled input channels relies on kernels never being faster in chunks than at once. */
#include "tile/tile.h"

#include <string.h>

#include "tile/tile_sizes.h"

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
    uint64_t fixed_cycles;                                 /* that no tiling avoids */
    uint64_t start_cycles, driver_cycles, overhead_cycles; /* of the kernel's first tile, and of every tile */
    uint32_t part_rows, part_channels;
    uint64_t limit; /* tilings with as many cycles are of no use */
    bool found;
    bool estimates; /* in place of simulations */
    struct arena scratch;
    struct channels_sum *sums; /* by channels */
    uint64_t divisions;        /* there were so many */
};

static bool reads_all_channels(const struct search *search) { return dory_reads_all_channels(search->problem->layer); }

/* How rows, columns and channels are divided into tiles. */
struct division {
    struct extents rows, columns, channels;
    uint64_t number;                     /* of rows and columns, from 1 on */
    uint64_t loaded_rows, loaded_pixels; /* in one pass over rows, and columns; 0: not counted yet */
};

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

/* Rows or columns of a window that are in the image: borders are not loaded. */
static uint64_t elements_inside(int64_t low, uint32_t extent, uint32_t inputs)
{
    int64_t high = low + extent > inputs ? inputs : low + extent;
    low = low < 0 ? 0 : low;
    return high > low ? (uint64_t)(high - low) : 0;
}

/* Input rows that are loaded in one pass over all tiles: overlaps are twice. */
static uint64_t loaded_rows(const struct search *search, uint32_t tile_rows)
{
    const struct dory_layer *layer = search->problem->layer;
    uint64_t sum = 0;
    for (uint32_t part = 0; part < layer->output_height; part += search->part_rows) {
        uint32_t end = dory_minimum(part + search->part_rows, layer->output_height);
        for (uint32_t first = part; first < end; first += tile_rows)
            sum += elements_inside(dory_first_input_row(layer, first),
                                   dory_input_rows(layer, dory_minimum(tile_rows, end - first)), layer->input_height);
    }
    return sum;
}

static uint64_t loaded_columns(const struct search *search, uint32_t tile_columns)
{
    const struct dory_layer *layer = search->problem->layer;
    uint64_t sum = 0;
    for (uint32_t first = 0; first < layer->output_width; first += tile_columns) {
        uint32_t columns = dory_minimum(tile_columns, layer->output_width - first);
        sum += elements_inside((int64_t)first * layer->stride_width - layer->padding_left,
                               dory_input_extent(columns, layer->kernel_width, layer->stride_width, layer->dilation_width),
                               layer->input_width);
    }
    return sum;
}

/* In one pass over rows and columns: counted when it is first asked for. */
static uint64_t loaded_pixels(const struct search *search, const struct tiling *tiling, struct division *division)
{
    if (!division->loaded_rows)
        division->loaded_rows = loaded_rows(search, tiling->shape.rows);
    if (!division->loaded_pixels)
        division->loaded_pixels = division->loaded_rows * loaded_columns(search, tiling->shape.columns);
    return division->loaded_pixels;
}

/* A shape with what is known of it: bounds for the simulation. */
struct candidate {
    struct tiling tiling;
    uint64_t kernels, tiles;
    struct division *division;
};

/* Cycles that all transfers of an operand take at least. */
struct transfer_bounds {
    uint64_t input, weights, output;
};

static uint64_t transfer_bound(uint64_t times, uint64_t bytes, uint32_t setup_cycles, uint32_t bytes_per_1000_cycles)
{
    return times * setup_cycles + bytes * 1000 / bytes_per_1000_cycles;
}

static struct transfer_bounds transfer_bounds_of(const struct search *search, const struct candidate *candidate)
{
    const struct dory_layer *layer = search->problem->layer;
    uint32_t setup = search->problem->target->dma_setup_cycles;
    struct tile_rates rates = tile_rates_of(search->problem);
    struct division *division = candidate->division;
    const struct dory_tile_shape *shape = &candidate->tiling.shape;
    bool reads_all = reads_all_channels(search), space_outer = candidate->tiling.order == DORY_SPACE_OUTER;
    bool chunks = reads_all && shape->input_channels < layer->input_channels;
    uint64_t quad_bytes = tile_quad_bytes(layer, reads_all ? shape->input_channels : 1);
    uint64_t spaces = (uint64_t)division->rows.tiles * division->columns.tiles, channels = division->channels.tiles;
    bool one_space = shape->rows >= search->part_rows && shape->columns >= layer->output_width;
    bool one_channel_tile = shape->channels >= search->part_channels;
    /* passes over the input, and over the weights, that cannot be saved */
    uint64_t input_passes = reads_all && (chunks || (!space_outer && !one_space)) ? channels : 1;
    uint64_t weights_passes = chunks || (space_outer && !one_channel_tile) ? spaces : 1;
    uint64_t input_bytes =
        loaded_pixels(search, &candidate->tiling, division) * dory_element_bytes(layer->input_channels, layer->input_bits);
    uint64_t weights_bytes = dory_divide_up(layer->output_channels, 4) * quad_bytes;
    uint64_t output_bytes = (uint64_t)layer->output_height * layer->output_width *
                            dory_element_bytes(layer->output_channels, layer->output_bits);
    return (struct transfer_bounds){
        .input = transfer_bound(input_passes * spaces, input_passes * input_bytes, setup, rates.read),
        .weights =
            transfer_bound(quad_bytes ? weights_passes * channels : 0, weights_passes * weights_bytes, setup, rates.read),
        .output = transfer_bound(spaces * channels, output_bytes, setup, rates.write),
    };
}

/* What single buffers keep from overlapping comes on top of the kernels; and transfers take their time in any case. */
static uint64_t buffers_bound(const struct transfer_bounds *transfers, uint8_t single, uint64_t kernels_bound)
{
    uint64_t all = transfers->input + transfers->weights + transfers->output, exposed = 0;
    exposed += single & SINGLE_INPUT ? transfers->input : 0;
    exposed += single & SINGLE_WEIGHTS ? transfers->weights : 0;
    exposed = single & SINGLE_OUTPUT ? transfers->output : exposed;
    return kernels_bound + exposed > all ? kernels_bound + exposed : all;
}

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Of the driver, to start copies of a tile that take a command for each of their rows: in HWC, beside a border, or where
 * neither rows nor pixels are whole. */
static uint64_t command_cycles(const struct search *search, const struct candidate *candidate)
{
    const struct dory_layer *layer = search->problem->layer;
    const struct dory_tile_shape *shape = &candidate->tiling.shape;
    bool reads_all = reads_all_channels(search), whole_rows = shape->columns >= layer->output_width;
    bool whole_outputs = shape->channels >= layer->output_channels;
    bool whole_inputs = reads_all ? shape->input_channels >= layer->input_channels : whole_outputs;
    uint64_t spaces = (uint64_t)candidate->division->rows.tiles * candidate->division->columns.tiles;
    uint64_t loads = reads_all && candidate->tiling.order == DORY_SPACE_OUTER ? spaces : candidate->tiles;
    bool apart = layer->padding_left > 0 || !(whole_rows || whole_inputs);
    uint64_t input = layer->input_layout == DORY_HWC && apart ? dory_input_rows(layer, shape->rows) - 1 : 0;
    uint64_t output = layer->output_layout == DORY_HWC && !(whole_rows || whole_outputs) ? shape->rows - 1 : 0;
    return (input * loads / candidate->tiles + output) * search->problem->target->command_driver_cycles;
}

/* As if all tiles were alike: while one is computed, one is loaded and one stored, but for what single buffers keep apart;
 * beside the last one the driver prepares the next layer. */
static void estimate(const struct search *search, const struct candidate *candidate, struct tile_cost *cost)
{
    const struct target *target = search->problem->target;
    const struct tiling *tiling = &candidate->tiling;
    struct transfer_bounds transfers = transfer_bounds_of(search, candidate);
    uint64_t tiles = candidate->tiles, kernel = candidate->kernels / tiles, store = transfers.output / tiles;
    uint64_t load = (transfers.input + transfers.weights) / tiles + target->dma_latency_cycles;
    bool single_load = (tiling->single & (SINGLE_INPUT | SINGLE_WEIGHTS)) != 0;
    bool apart = single_load || (tiling->single & SINGLE_OUTPUT);
    uint64_t beside = (apart ? 0 : load + store) + command_cycles(search, candidate) + search->driver_cycles;
    uint64_t tile = most(kernel, beside) + (apart ? load + store : 0) + search->overhead_cycles;
    uint64_t first = kernel + search->start_cycles, turn = search->driver_cycles + target->turn_driver_cycles;
    uint64_t last = most(tiles == 1 ? first : kernel, store + turn) + store;
    cost->cycles = search->fixed_cycles + tile_first_load_cycles(search->problem, tiling) + (tiles - 1) * tile + last +
                   search->overhead_cycles + (tiles == 1 ? 0 : most(first, beside) - most(kernel, beside));
    cost->l1_bytes = tile_l1_bytes(search->problem, tiling, NULL);
}

static void consider(struct search *search, const struct candidate *candidate)
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

/* Beside each tile's kernel the driver prepares another one. */
static uint64_t bound(const struct search *search, uint64_t kernels, uint64_t tiles)
{
    return search->fixed_cycles + most(kernels + search->start_cycles, tiles * search->driver_cycles) +
           tiles * search->overhead_cycles;
}

static bool is_worse(const struct search *search, uint64_t bound_cycles)
{
    return search->found ? bound_cycles > search->best_cost->cycles : bound_cycles >= search->limit;
}

/* Sets of single buffers, smaller sets first: a set is of use only where none of its subsets fits, or where cores lay a
 * border beside the loads of its tile, as beside those of the next one it would not be hidden. */
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

/* Considers a shape and order with as many double buffers as fit. */
static void consider_buffers(struct search *search, struct candidate *candidate, const struct l1_sizes *sizes)
{
    uint8_t fitting[SINGLE_SETS];
    struct tiling *tiling = &candidate->tiling;
    size_t count = 0;
    struct transfer_bounds transfers = transfer_bounds_of(search, candidate);
    uint64_t kernels_bound = bound(search, candidate->kernels, candidate->tiles);
    bool all = tile_border_is_beside(search->problem);
    for (size_t i = 0; i < SINGLE_SETS; i++) {
        bool dominated = false;
        for (size_t j = 0; j < count && !all; j++)
            dominated = dominated || (fitting[j] & single_sets[i]) == fitting[j];
        tiling->single = single_sets[i];
        if (dominated || tile_l1_sum(sizes, single_sets[i]) > search->problem->l1_bytes)
            continue;
        fitting[count++] = single_sets[i];
        if (!is_worse(search, buffers_bound(&transfers, single_sets[i], kernels_bound)))
            consider(search, candidate);
    }
    tiling->single = 0;
}

/* The next smaller slice of input channels: the least one for its number of chunks. 0: none. */
static uint32_t next_slice(uint32_t all, uint32_t slice)
{
    uint32_t smaller = (slice - 1) / 4 * 4;
    return smaller ? dory_round_up(dory_divide_up(all, dory_divide_up(all, smaller)), 4) : 0;
}

/* `candidate`: with so many input channels at once, and with kernels as if these were all. Whether it fits is told sooner
 * than what it takes. */
static void consider_slice(struct search *search, struct candidate *candidate, uint32_t slice, bool one_order)
{
    struct l1_sizes sizes = tile_l1_sizes(search->problem, &candidate->tiling);
    if (tile_l1_sum(&sizes, SINGLE_INPUT | SINGLE_WEIGHTS | SINGLE_OUTPUT) > search->problem->l1_bytes)
        return;
    if (slice < search->problem->layer->input_channels)
        candidate->kernels = kernel_cycles(search, candidate->division, slice);
    uint64_t least = bound(search, candidate->kernels, candidate->tiles);
    if (is_worse(search, least) || is_worse(search, least + tile_first_load_cycles(search->problem, &candidate->tiling)))
        return;
    for (int order = 0; order < (one_order ? 1 : 2); order++) {
        candidate->tiling.order = (uint8_t)order;
        consider_buffers(search, candidate, &sizes);
    }
}

static void consider_shape(struct search *search, const struct tiling *tiling, uint64_t kernels, struct division *division,
                           bool one_order)
{
    uint32_t all = search->problem->layer->input_channels;
    uint64_t tiles = (uint64_t)division->rows.tiles * division->columns.tiles * division->channels.tiles;
    bool chunks = reads_all_channels(search) && search->problem->kernel->can_tile_input_channels;
    for (uint32_t slice = all; slice; slice = chunks ? next_slice(all, slice) : 0) {
        struct candidate candidate = {*tiling, kernels, tiles * dory_divide_up(all, slice), division};
        if (is_worse(search, bound(search, kernels, candidate.tiles)))
            return; /* and so are smaller slices */
        candidate.tiling.shape.input_channels = reads_all_channels(search) ? slice : tiling->shape.channels;
        consider_slice(search, &candidate, slice, one_order);
    }
}

/* Bytes of such an output tile, with all input channels, which need no accumulators, or with the fewest, which have the
 * smallest operands. Other slices are of no interest where neither fits. */
static uint32_t least_bytes(const struct tile_problem *problem, struct tiling tiling)
{
    bool reads_all = dory_reads_all_channels(problem->layer), chunks = reads_all && problem->kernel->can_tile_input_channels;
    uint32_t all = problem->layer->input_channels, least = UINT32_MAX;
    tiling.single = SINGLE_INPUT | SINGLE_WEIGHTS | SINGLE_OUTPUT;
    for (int i = 0; i < (chunks ? 2 : 1); i++) {
        uint32_t slice = i ? dory_minimum(4, all) : all;
        tiling.shape.input_channels = reads_all ? slice : tiling.shape.channels;
        least = dory_minimum(least, tile_l1_bytes(problem, &tiling, NULL));
    }
    return least;
}

static bool can_fit(const struct search *search, const struct tiling *tiling)
{
    const struct tile_problem *problem = search->problem;
    return dory_output_tile_bytes(problem->layer, &tiling->shape) <= problem->l1_bytes && /* most do not, in little time */
           least_bytes(problem, *tiling) <= problem->l1_bytes;
}

static void consider_channels(struct search *search, const struct tile_size *sizes, struct tiling *tiling,
                              struct division *division)
{
    const struct dory_layer *layer = search->problem->layer;
    bool fits = false; /* then smaller ones do, too; should one not, consider_slice will see */
    for (; sizes->size > 0; sizes++) {
        tiling->shape.channels = sizes->size;
        division->channels = sizes->extents;
        uint64_t tiles = (uint64_t)division->rows.tiles * division->columns.tiles * division->channels.tiles;
        if (is_worse(search, bound(search, 0, tiles)))
            return; /* smaller ones have more tiles */
        fits = fits || can_fit(search, tiling);
        if (!fits)
            continue;
        uint64_t kernels = kernel_cycles(search, division, layer->input_channels);
        bool one_order = sizes->size == search->part_channels ||
                         (tiling->shape.rows == search->part_rows && tiling->shape.columns == layer->output_width);
        if (!is_worse(search, bound(search, kernels, tiles)))
            consider_shape(search, tiling, kernels, division, one_order);
    }
}

static void consider_all(struct search *search, enum tile_sizes sizes, enum tile_sizes fours)
{
    const struct dory_layer *layer = search->problem->layer;
    const struct tile_size *rows = tile_sizes(sizes, layer->output_height, search->part_rows, 1, &search->scratch);
    const struct tile_size *columns =
        tile_sizes(sizes, layer->output_width, layer->output_width, tile_least_columns(layer), &search->scratch);
    const struct tile_size *channels = tile_sizes(fours, layer->output_channels, search->part_channels, 1, &search->scratch);
    struct tiling tiling = {0};
    for (; rows->size > 0; rows++) {
        struct division division = {.rows = rows->extents};
        tiling.shape.rows = rows->size;
        for (const struct tile_size *column = columns; column->size > 0; column++) {
            division.columns = column->extents;
            if (is_worse(search, bound(search, 0, (uint64_t)division.rows.tiles * division.columns.tiles)))
                break; /* narrower ones are more tiles */
            division.number = ++search->divisions;
            division.loaded_pixels = 0;
            tiling.shape.columns = column->size;
            consider_channels(search, channels, &tiling, &division);
        }
    }
}

static struct search search_start(const struct tile_problem *problem, struct tiling *best, struct tile_cost *cost)
{
    struct search search = {
        .problem = problem,
        .best = best,
        .best_cost = cost,
        .fixed_cycles = tile_layer_overhead_cycles(problem),
        .start_cycles = tile_kernel_start_cycles(problem, 0),
        .driver_cycles = tile_driver_cycles(problem, true),
        .overhead_cycles = tile_overhead_cycles(problem),
        .part_rows = problem->steps[0].rows,
        .part_channels = problem->steps[0].channels,
    };
    search.sums = arena_array(&search.scratch, struct channels_sum, (size_t)search.part_channels + 1);
    return search;
}

bool tile_search(const struct tile_problem *problem, uint64_t limit, struct tiling *best, struct tile_cost *cost)
{
    struct search search = search_start(problem, best, cost);
    search.limit = limit;
    consider_all(&search, HALVED_SIZES, HALVED_FOURS); /* to have something good to compare with */
    consider_all(&search, ALL_SIZES, ALL_FOURS);
    arena_free(&search.scratch);
    return search.found;
}

/* One shape, as consider_all looks at it. */
static void consider_one(struct search *search, struct tiling tiling)
{
    const struct dory_layer *layer = search->problem->layer;
    struct division division = {
        .number = ++search->divisions,
        .rows = tile_extents(layer->output_height, search->part_rows, tiling.shape.rows),
        .columns = tile_extents(layer->output_width, layer->output_width, tiling.shape.columns),
        .channels = tile_extents(layer->output_channels, search->part_channels, tiling.shape.channels),
    };
    if (can_fit(search, &tiling))
        consider_shape(search, &tiling, kernel_cycles(search, &division, layer->input_channels), &division, false);
}

/* Sixteenths of a size that its neighbours have. */
static const uint32_t neighbours[] = {8, 10, 12, 14, 15, 17, 18, 20, 24};
#define NEIGHBOURS (sizeof neighbours / sizeof *neighbours)

static uint32_t neighbour(uint32_t size, uint32_t sixteenths, uint32_t least, uint32_t most_size)
{
    uint32_t other = (size * sixteenths + 8) / 16;
    return other < least ? least : other > most_size ? most_size : other;
}

/* One step from the best shape so far along one dimension. */
static void consider_neighbours(struct search *search)
{
    const struct dory_layer *layer = search->problem->layer;
    const struct tiling best = *search->best;
    uint32_t least_columns = tile_least_columns(layer), channels = search->part_channels;
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        struct tiling rows = best, columns = best, quads = best;
        rows.shape.rows = neighbour(best.shape.rows, neighbours[i], 1, search->part_rows);
        columns.shape.columns = neighbour(best.shape.columns, neighbours[i], least_columns, layer->output_width);
        quads.shape.channels =
            dory_minimum(dory_round_up(neighbour(best.shape.channels, neighbours[i], 1, channels), 4), channels);
        if (rows.shape.rows != best.shape.rows)
            consider_one(search, rows);
        if (columns.shape.columns != best.shape.columns)
            consider_one(search, columns);
        if (quads.shape.channels != best.shape.channels)
            consider_one(search, quads);
    }
}

bool tile_estimate(const struct tile_problem *problem, struct tiling *best, struct tile_cost *cost)
{
    struct search search = search_start(problem, best, cost);
    uint64_t before = UINT64_MAX;
    search.limit = UINT64_MAX;
    search.estimates = true;
    consider_all(&search, HALVED_SIZES, HALVED_FOURS);
    while (search.found && cost->cycles < before) {
        before = cost->cycles;
        consider_neighbours(&search);
    }
    arena_free(&search.scratch);
    return search.found;
}

uint32_t tile_least_l1_bytes(const struct tile_problem *problem)
{
    struct tiling tiling = {.shape = {.rows = 1,
                                      .columns = tile_least_columns(problem->layer),
                                      .channels = dory_minimum(4, problem->steps[0].channels)}};
    return least_bytes(problem, tiling);
}
