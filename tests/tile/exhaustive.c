#include "exhaustive.h"

#include "tile/tile_bounds.h"

struct trial {
    const struct tile_problem *problem;
    struct exhaustive *result;
    bool gives_up;
};

static bool fits(const struct tile_problem *problem, struct tiling tiling)
{
    return tile_l1_bytes(problem, &tiling, NULL) <= problem->l1_bytes;
}

/* Single buffers are of use where one more double buffer does not fit, or where there may be a border. */
static bool is_legal(const struct tile_problem *problem, const struct tiling *tiling)
{
    for (uint8_t flag = 1; flag < 8; flag = (uint8_t)(flag << 1)) {
        struct tiling more = *tiling;
        more.single = (uint8_t)(tiling->single & ~flag);
        if ((tiling->single & flag) && fits(problem, more) && !tile_border_may_prefer_single(problem))
            return false;
    }
    return fits(problem, *tiling);
}

static uint64_t count_tiles(const struct tile_problem *problem, const struct tiling *tiling)
{
    const struct dory_layer *layer = problem->layer;
    uint64_t sum = 0, chunks = 1;
    if (layer->operation == DORY_CONVOLUTION)
        chunks = dory_divide_up(layer->input_channels, tiling->tile.input_channels);
    for (uint32_t i = 0; i < problem->step_count; i++)
        sum += (uint64_t)dory_divide_up(problem->steps[i].rows, tiling->tile.rows) *
               dory_divide_up(problem->steps[i].channels, tiling->tile.channels);
    return sum * dory_divide_up(layer->output_width, tiling->tile.columns) * chunks;
}

/* ---- bounds ---- */

#define TRIED_A_BOUND 16 /* tilings, of which the bounds of one are looked at */

/* Of one output tile, all chunks of its input channels. */
static uint64_t chunks_cycles(const struct tile_problem *problem, const struct tiling *tiling, uint32_t rows,
                              uint32_t columns, uint32_t channels)
{
    uint32_t all = problem->layer->input_channels,
             chunk = problem->layer->operation == DORY_CONVOLUTION ? tiling->tile.input_channels : all;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < all; i += chunk)
        sum += cycle_table_get(problem->cycles, rows, columns, channels, dory_minimum(chunk, all - i));
    return sum;
}

/* Tile by tile. */
static uint64_t kernels_cycles(const struct tile_problem *problem, const struct tiling *tiling)
{
    const struct dory_tile_shape *shape = &tiling->tile;
    uint32_t width = problem->layer->output_width;
    uint64_t sum = 0;
    for (const struct dory_step *step = problem->steps; step < problem->steps + problem->step_count; step++)
        for (uint32_t row = 0; row < step->rows; row += shape->rows)
            for (uint32_t column = 0; column < width; column += shape->columns)
                for (uint32_t channel = 0; channel < step->channels; channel += shape->channels)
                    sum += chunks_cycles(problem, tiling, dory_minimum(shape->rows, step->rows - row),
                                         dory_minimum(shape->columns, width - column),
                                         dory_minimum(shape->channels, step->channels - channel));
    return sum;
}

static bool has_bound_above(const struct tile_problem *problem, const struct tiling *tiling, uint64_t cycles)
{
    struct arena arena = {0};
    struct tile_bounds bounds = tile_bounds_of(problem, &arena);
    struct extents columns = tile_whole(problem->layer->output_width, &arena);
    struct division division = {
        .rows = tile_extents(&bounds.step_rows, tiling->tile.rows, &arena),
        .columns = tile_extents(&columns, tiling->tile.columns, &arena),
        .channels = tile_extents(&bounds.step_channels, tiling->tile.channels, &arena),
    };
    struct tile_candidate candidate = {.tiling = *tiling,
                                       .kernels = kernels_cycles(problem, tiling),
                                       .tiles = count_tiles(problem, tiling),
                                       .division = &division};
    tile_find_ends(&bounds, &candidate);
    struct transfer_bounds transfers = tile_transfer_bounds(&bounds, &candidate);
    bool above = tile_kernels_bound(&bounds, candidate.kernels, candidate.tiles) > cycles ||
                 tile_buffers_bound(&bounds, &candidate, &transfers) > cycles ||
                 tile_contention_bound(&bounds, &candidate, &transfers) > cycles;
    arena_free(&arena);
    return above;
}

/* ---- trials ---- */

/* False where it is given up. */
static bool play(const struct trial *trial, const struct tiling *tiling, struct tile_cost *cost)
{
    if (trial->gives_up)
        return tile_simulate_below(trial->problem, tiling, trial->result->cycles, 0, count_tiles(trial->problem, tiling),
                                   cost);
    tile_simulate(trial->problem, tiling, cost, NULL);
    return true;
}

static void try_tiling(struct trial *trial, const struct tiling *tiling)
{
    struct exhaustive *result = trial->result;
    struct tile_cost cost;
    bool legal = is_legal(trial->problem, tiling);
    if (trial->gives_up ? !legal : !fits(trial->problem, *tiling))
        return;
    result->tried++;
    if (!play(trial, tiling, &cost))
        return;
    result->played++;
    if (!trial->gives_up && result->played % TRIED_A_BOUND == 0)
        result->above += has_bound_above(trial->problem, tiling, cost.cycles);
    result->any_cycles = cost.cycles < result->any_cycles ? cost.cycles : result->any_cycles;
    if (!legal)
        return;
    if (cost.cycles > result->cycles ||
        (result->found && cost.cycles == result->cycles && cost.l1_bytes >= result->l1_bytes))
        return;
    result->best = *tiling;
    result->cycles = cost.cycles;
    result->l1_bytes = cost.l1_bytes;
    result->found = true;
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

static void try_shape(struct trial *trial, struct tiling tiling)
{
    const struct dory_layer *layer = trial->problem->layer;
    bool slices = layer->operation == DORY_CONVOLUTION && trial->problem->kernel->can_tile_input_channels &&
                  !(tiling.in_place & (DORY_INPUTS_IN_PLACE | DORY_WEIGHTS_IN_PLACE));
    for (uint32_t slice = slices ? 4 : layer->input_channels; slice <= layer->input_channels + 3u; slice += 4) {
        uint32_t channels = dory_minimum(slice, layer->input_channels);
        if (!is_slice(layer->input_channels, channels))
            continue;
        tiling.tile.input_channels = layer->operation == DORY_CONVOLUTION ? (uint16_t)channels : tiling.tile.channels;
        for (tiling.order = 0; tiling.order < 2; tiling.order++)
            for (tiling.single = 0; tiling.single < 8; tiling.single++)
                try_tiling(trial, &tiling);
        if (!slices)
            return;
    }
}

struct exhaustive try_all_tilings(const struct tile_problem *problem, uint64_t limit)
{
    struct exhaustive result = {.cycles = limit, .any_cycles = UINT64_MAX};
    struct trial trial = {problem, &result, limit != UINT64_MAX};
    struct tiling tiling = {.in_place = tile_in_place(problem)};
    struct dory_tile_shape *shape = &tiling.tile, least = tile_least_shape(problem, tiling.in_place);
    uint32_t least_channels = least.channels > 4 ? least.channels : 4;
    for (shape->rows = least.rows; shape->rows <= problem->steps[0].rows; shape->rows++)
        for (shape->columns = least.columns; shape->columns <= problem->layer->output_width; shape->columns++)
            for (uint32_t c = least_channels; c < problem->steps[0].channels + 4u; c += 4) {
                shape->channels = (uint16_t)dory_minimum(c, problem->steps[0].channels);
                try_shape(&trial, tiling);
            }
    return result;
}
