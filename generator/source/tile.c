/* Pass `tile`: the best of all legal tiles of a layer, found exactly.
 *
 * Every tile is bounded from below by its kernels' cycles and overheads, which cost a few look-ups; only a tile whose
 * bound beats the best one so far is played through the pipeline. Larger tiles come first since they have fewer
 * overheads. The bound for tiled input channels relies on kernels never being faster in chunks than at once. */
#include "tile.h"

#include <string.h>

/* ---- how often which extent occurs along one dimension ---- */

#define MOST_EXTENTS 4

struct extents {
    uint32_t count, tiles;
    uint32_t extent[MOST_EXTENTS], times[MOST_EXTENTS];
};

static void add_extent(struct extents *extents, uint32_t extent, uint32_t times)
{
    if (extent == 0 || times == 0)
        return;
    extents->tiles += times;
    uint32_t i = 0;
    while (i < extents->count && extents->extent[i] != extent)
        i++;
    extents->extent[i] = extent;
    extents->times[i] = (i < extents->count ? extents->times[i] : 0) + times;
    extents->count += i == extents->count;
}

/* A dimension of `size`, cut by steps into parts of `part` and those by tiles into `tile`. */
static struct extents extents_of(uint32_t size, uint32_t part, uint32_t tile)
{
    struct extents extents = {0};
    uint32_t parts = size / part, last = size % part;
    add_extent(&extents, tile, parts * (part / tile) + last / tile);
    add_extent(&extents, part % tile, parts);
    add_extent(&extents, last % tile, 1);
    return extents;
}

/* ---- the search ---- */

struct search {
    const struct tile_problem *problem;
    struct tiling *best;
    struct tile_cost *best_cost;
    uint64_t fixed_cycles; /* that no tiling avoids */
    uint32_t part_rows, part_channels;
    uint64_t limit; /* tilings with as many cycles are of no use */
    bool found;
};

static bool reads_all_channels(const struct search *search) { return dory_reads_all_channels(search->problem->layer); }

static uint64_t kernel_cycles(const struct search *search, const struct extents *rows, const struct extents *columns,
                              const struct extents *channels)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        for (uint32_t j = 0; j < columns->count; j++)
            for (uint32_t k = 0; k < channels->count; k++)
                sum += (uint64_t)rows->times[i] * columns->times[j] * channels->times[k] *
                       cycle_table_get(search->problem->cycles, rows->extent[i], columns->extent[j], channels->extent[k],
                                       search->problem->layer->input_channels);
    return sum;
}

/* A shape with what is known of it: bounds for the simulation. */
struct candidate {
    struct tiling tiling;
    uint64_t kernels, tiles;
};

static void consider(struct search *search, const struct candidate *candidate)
{
    struct tile_cost cost;
    uint64_t limit = search->found ? search->best_cost->cycles : search->limit - 1;
    if (!tile_simulate_below(search->problem, &candidate->tiling, limit, candidate->kernels, candidate->tiles, &cost))
        return;
    bool better = !search->found || cost.cycles < search->best_cost->cycles ||
                  (cost.cycles == search->best_cost->cycles && cost.l1_bytes < search->best_cost->l1_bytes);
    if (better) {
        *search->best = candidate->tiling;
        *search->best_cost = cost;
        search->found = true;
    }
}

/* Sets of single buffers, smaller sets first: a set is of use only where none of its subsets fits. */
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
static void consider_buffers(struct search *search, struct candidate *candidate)
{
    uint8_t fitting[SINGLE_SETS];
    struct tiling *tiling = &candidate->tiling;
    struct l1_sizes sizes = tile_l1_sizes(search->problem, tiling);
    size_t count = 0;
    if (tile_l1_sum(&sizes, single_sets[SINGLE_SETS - 1]) > search->problem->l1_bytes)
        return;
    for (size_t i = 0; i < SINGLE_SETS; i++) {
        bool dominated = false;
        for (size_t j = 0; j < count; j++)
            dominated = dominated || (fitting[j] & single_sets[i]) == fitting[j];
        tiling->single = single_sets[i];
        if (dominated || tile_l1_sum(&sizes, single_sets[i]) > search->problem->l1_bytes)
            continue;
        fitting[count++] = single_sets[i];
        consider(search, candidate);
    }
    tiling->single = 0;
}

static uint64_t bound(const struct search *search, uint64_t kernels, uint64_t tiles)
{
    return search->fixed_cycles + kernels + tiles * search->problem->target->tile_overhead_cycles;
}

static bool is_worse(const struct search *search, uint64_t bound_cycles)
{
    return search->found ? bound_cycles > search->best_cost->cycles : bound_cycles >= search->limit;
}

/* The next smaller slice of input channels: the least one for its number of chunks. 0: none. */
static uint32_t next_slice(uint32_t all, uint32_t slice)
{
    uint32_t smaller = (slice - 1) / 4 * 4;
    return smaller ? dory_round_up(dory_divide_up(all, dory_divide_up(all, smaller)), 4) : 0;
}

static void consider_shape(struct search *search, const struct tiling *tiling, uint64_t kernels, uint64_t tiles,
                           bool one_order)
{
    uint32_t all = search->problem->layer->input_channels;
    bool chunks = reads_all_channels(search) && search->problem->kernel->can_tile_input_channels;
    uint32_t slice = all;
    do {
        struct candidate candidate = {*tiling, kernels, tiles * dory_divide_up(all, slice)};
        uint64_t least = bound(search, kernels, candidate.tiles);
        if (is_worse(search, least))
            return; /* and so are smaller slices */
        candidate.tiling.shape.input_channels = reads_all_channels(search) ? slice : tiling->shape.channels;
        bool worse = is_worse(search, least + tile_first_load_cycles(search->problem, &candidate.tiling));
        for (uint8_t order = 0; !worse && order < (one_order ? 1 : 2); order++) {
            candidate.tiling.order = order;
            consider_buffers(search, &candidate);
        }
        slice = next_slice(all, slice);
    } while (chunks && slice);
}

static uint32_t previous_channels(uint32_t channels) { return channels <= 4 ? 0 : (channels - 1) / 4 * 4; }
static uint32_t half_channels(uint32_t channels) { return channels <= 4 ? 0 : dory_round_up(channels / 2, 4); }
static uint32_t previous(uint32_t size) { return size - 1; }
static uint32_t half(uint32_t size) { return size / 2; }

/* Which sizes are looked at: all of them, or only those that come of halving. */
struct walk {
    uint32_t (*next_size)(uint32_t size);
    uint32_t (*next_channels)(uint32_t channels);
};

static const struct walk coarse_walk = {half, half_channels}, full_walk = {previous, previous_channels};

static void consider_channels(struct search *search, const struct walk *walk, struct tiling *tiling,
                              const struct extents *rows, const struct extents *columns)
{
    const struct dory_layer *layer = search->problem->layer;
    for (uint32_t c = search->part_channels; c > 0; c = walk->next_channels(c)) {
        tiling->shape.channels = c;
        struct extents channels = extents_of(layer->output_channels, search->part_channels, c);
        uint64_t tiles = (uint64_t)rows->tiles * columns->tiles * channels.tiles;
        if (is_worse(search, bound(search, 0, tiles)))
            return; /* smaller ones have more tiles */
        uint64_t kernels = kernel_cycles(search, rows, columns, &channels);
        bool one_order = c == search->part_channels ||
                         (tiling->shape.rows == search->part_rows && tiling->shape.columns == layer->output_width);
        if (!is_worse(search, bound(search, kernels, tiles)))
            consider_shape(search, tiling, kernels, tiles, one_order);
    }
}

static void consider_all(struct search *search, const struct walk *walk)
{
    const struct dory_layer *layer = search->problem->layer;
    struct tiling tiling = {0};
    for (uint32_t r = search->part_rows; r > 0; r = walk->next_size(r)) {
        struct extents rows = extents_of(layer->output_height, search->part_rows, r);
        tiling.shape.rows = r;
        for (uint32_t c = layer->output_width; c > 0; c = walk->next_size(c)) {
            struct extents columns = extents_of(layer->output_width, layer->output_width, c);
            tiling.shape.columns = c;
            consider_channels(search, walk, &tiling, &rows, &columns);
        }
    }
}

static struct search search_start(const struct tile_problem *problem, struct tiling *best, struct tile_cost *cost)
{
    const struct target *target = problem->target;
    return (struct search){
        .problem = problem,
        .best = best,
        .best_cost = cost,
        .fixed_cycles = target->layer_overhead_cycles + (uint64_t)problem->step_count * target->step_overhead_cycles,
        .part_rows = problem->steps[0].rows,
        .part_channels = problem->steps[0].channels,
    };
}

bool tile_search(const struct tile_problem *problem, uint64_t limit, struct tiling *best, struct tile_cost *cost)
{
    struct search search = search_start(problem, best, cost);
    search.limit = limit;
    consider_all(&search, &coarse_walk); /* to have something good to compare with */
    consider_all(&search, &full_walk);
    return search.found;
}

uint32_t tile_least_l1_bytes(const struct tile_problem *problem)
{
    const struct dory_layer *layer = problem->layer;
    bool convolution = dory_reads_all_channels(layer);
    uint32_t channels = dory_minimum(4, problem->steps[0].channels), slice = layer->input_channels, least = UINT32_MAX;
    struct tiling tiling = {.shape = {1, 1, channels, channels}, .single = SINGLE_INPUT | SINGLE_WEIGHTS | SINGLE_OUTPUT};
    do {
        tiling.shape.input_channels = convolution ? slice : channels;
        least = dory_minimum(least, tile_l1_bytes(problem, &tiling, NULL));
        slice = next_slice(layer->input_channels, slice);
    } while (convolution && problem->kernel->can_tile_input_channels && slice);
    return least;
}
