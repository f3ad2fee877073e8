/* Bounds of what tilings take. */
#include "tile/tile_bounds.h"
#include "tile/tile_mover.h"

#include "dory/transposition.h"

static bool reads_all_channels(const struct tile_bounds *bounds) { return dory_reads_all_channels(bounds->problem->layer); }

/* The last rows of a layer may have more of its border. */
static bool is_as_large_as_first(const struct tile_problem *problem, const struct dory_step *step)
{
    const struct dory_step *first = &problem->steps[0];
    bool has_last_rows = (uint32_t)step->first_row + step->rows == problem->layer->output_height;
    return step->channels == first->channels && step->rows == first->rows && (step->first_row == 0 || !has_last_rows);
}

struct tile_bounds tile_bounds_of(const struct tile_problem *problem, struct arena *arena)
{
    struct tile_bounds bounds = {
        .problem = problem,
        .fixed_cycles = problem->target->layer_overhead_cycles,
        .driver_cycles = problem->target->tile_driver_cycles,
        .overhead_cycles = problem->target->tile_overhead_cycles,
        .step_rows = tile_step_rows(problem, arena),
        .step_channels = tile_step_channels(problem, arena),
    };
    bounds.least_channels = problem->steps[0].output.channels;
    bounds.most_rows = tile_largest(&bounds.step_rows);
    bounds.most_channels = tile_largest(&bounds.step_channels);
    for (uint32_t i = 1; i < problem->step_count; i++) {
        bounds.drains += problem->steps[i].drain && is_as_large_as_first(problem, &problem->steps[i]);
        bounds.least_channels = dory_minimum(bounds.least_channels, problem->steps[i].output.channels);
    }
    return bounds;
}

/* Beside each tile's kernel the driver prepares another one. */
uint64_t tile_kernels_bound(const struct tile_bounds *bounds, uint64_t kernels, uint64_t tiles)
{
    return bounds->fixed_cycles + maximum(kernels, tiles * bounds->driver_cycles) + (tiles - 1) * bounds->overhead_cycles;
}

/* ---- transfers ---- */

/* Rows or columns of a window that are in the image: borders are not loaded. */
static uint64_t elements_inside(int64_t low, uint32_t extent, uint32_t inputs)
{
    int64_t high = low + extent > inputs ? inputs : low + extent;
    low = low < 0 ? 0 : low;
    return high > low ? (uint64_t)(high - low) : 0;
}

/* Input rows that are loaded in one pass over all tiles: overlaps are twice. */
static uint64_t loaded_rows(const struct tile_bounds *bounds, uint32_t tile_rows)
{
    const struct dory_layer *layer = bounds->problem->layer;
    const struct dory_step *steps = bounds->problem->steps;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < bounds->problem->step_count; i++)
        for (uint32_t row = 0; row < steps[i].rows && steps[i].first_channel == steps[0].first_channel; row += tile_rows)
            sum +=
                elements_inside(dory_first_input_row(layer, steps[i].first_row + row),
                                dory_input_rows(layer, dory_minimum(tile_rows, steps[i].rows - row)), layer->input_height);
    return sum;
}

static uint64_t loaded_columns(const struct tile_bounds *bounds, uint32_t tile_columns)
{
    const struct dory_layer *layer = bounds->problem->layer;
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
static uint64_t loaded_pixels(const struct tile_bounds *bounds, const struct tiling *tiling, struct division *division)
{
    if (!division->loaded_rows)
        division->loaded_rows = loaded_rows(bounds, tiling->tile.rows);
    if (!division->loaded_pixels)
        division->loaded_pixels = division->loaded_rows * loaded_columns(bounds, tiling->tile.columns);
    return division->loaded_pixels;
}

static uint64_t transfer_bound(uint64_t times, uint64_t bytes, uint32_t setup_cycles, uint32_t bytes_per_1000_cycles)
{
    return times * setup_cycles + bytes * 1000 / bytes_per_1000_cycles;
}

/* How often a tiling passes over an operand, each time in so many loads. What steps have of it in one load may be there for
 * all of their tiles: so many loads and bytes of a pass. */
struct passes {
    uint64_t count, loads, kept_loads, kept_bytes;
};

/* Steps in which all of a dimension is one tile: how many, and the sum of what each has of it. */
static uint64_t one_tile_steps(const struct extents *steps, uint32_t tile, uint64_t *sum)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < steps->count; i++)
        if (steps->extent[i] <= tile) {
            count += steps->times[i];
            *sum += (uint64_t)steps->times[i] * steps->extent[i];
        }
    return count;
}

static struct passes input_passes(const struct tile_bounds *bounds, const struct tile_candidate *candidate, bool chunks)
{
    const struct dory_layer *layer = bounds->problem->layer;
    const struct tiling *tiling = &candidate->tiling;
    const struct division *division = candidate->division;
    if (layer->operation == DORY_TRANSPOSITION) /* each tile has a part of its own */
        return (struct passes){.count = 1, .loads = candidate->tiles};
    bool again = dory_reads_all_channels(layer) && (chunks || tiling->order != DORY_SPACE_OUTER);
    struct passes passes = {.count = again ? division->channels.pieces : 1,
                            .loads = (uint64_t)division->rows.pieces * division->columns.pieces};
    uint64_t rows = 0;
    if (chunks || tiling->tile.columns < layer->output_width)
        return passes;
    passes.kept_loads = one_tile_steps(&bounds->step_rows, tiling->tile.rows, &rows);
    passes.kept_bytes =
        passes.kept_loads ? dory_input_rows(layer, 1) * passes.kept_loads + (rows - passes.kept_loads) * layer->stride_height
                          : 0;
    passes.kept_bytes *= (uint64_t)layer->input_width * dory_element_bytes(layer->input_channels, layer->input_bits);
    return passes;
}

static struct passes weights_passes(const struct tile_bounds *bounds, const struct tile_candidate *candidate, bool chunks,
                                    uint64_t block_bytes)
{
    const struct tiling *tiling = &candidate->tiling;
    const struct division *division = candidate->division;
    bool again = chunks || tiling->order == DORY_SPACE_OUTER;
    struct passes passes = {.count = again ? (uint64_t)division->rows.pieces * division->columns.pieces : 1,
                            .loads = block_bytes ? division->channels.pieces : 0};
    uint64_t channels = 0;
    if (chunks || block_bytes == 0)
        return passes;
    passes.kept_loads = one_tile_steps(&bounds->step_channels, tiling->tile.channels, &channels);
    uint32_t block = dory_block_channels(bounds->problem->layer);
    passes.kept_bytes = (channels + (block - 1) * passes.kept_loads) / block * block_bytes;
    return passes;
}

static uint64_t loads_of(const struct passes *passes)
{
    return passes->count * passes->loads - (passes->count - 1) * passes->kept_loads;
}

/* `bytes`: of one pass. */
static uint64_t load_bound(const struct tile_bounds *bounds, const struct passes *passes, uint64_t bytes)
{
    uint64_t repeated = bytes > passes->kept_bytes ? bytes - passes->kept_bytes : 0;
    return transfer_bound(loads_of(passes), bytes + (passes->count - 1) * repeated,
                          bounds->problem->target->dma_setup_cycles, tile_rates_of(bounds->problem).read);
}

/* What is in place. */
static void leave_out(struct transfer_bounds *transfers, uint8_t in_place)
{
    if (in_place & DORY_INPUTS_IN_PLACE)
        transfers->input = transfers->input_loads = 0;
    if (in_place & DORY_WEIGHTS_IN_PLACE)
        transfers->weights = transfers->weights_loads = 0;
    if (in_place & DORY_OUTPUT_IN_PLACE)
        transfers->output = transfers->stores = 0;
}

struct transfer_bounds tile_transfer_bounds(const struct tile_bounds *bounds, const struct tile_candidate *candidate)
{
    const struct tile_problem *problem = bounds->problem;
    const struct dory_layer *layer = problem->layer;
    struct division *division = candidate->division;
    uint32_t slice = candidate->tiling.tile.input_channels;
    bool reads_all = reads_all_channels(bounds), chunks = reads_all && slice < layer->input_channels;
    uint64_t block_bytes = dory_block_bytes(problem->weights, layer, reads_all ? slice : 1);
    struct passes input = input_passes(bounds, candidate, chunks),
                  weights = weights_passes(bounds, candidate, chunks, block_bytes);
    uint64_t pixels = layer->operation == DORY_TRANSPOSITION ? (uint64_t)layer->input_height * layer->input_width
                                                             : loaded_pixels(bounds, &candidate->tiling, division);
    uint64_t input_bytes = pixels * dory_element_bytes(layer->input_channels, layer->input_bits);
    uint64_t output_bytes = (uint64_t)layer->output_height * layer->output_width *
                            dory_element_bytes(layer->output_channels, layer->output_bits);
    uint64_t stores = (uint64_t)division->rows.pieces * division->columns.pieces * division->channels.pieces;
    struct transfer_bounds transfers = {
        .input = load_bound(bounds, &input, input_bytes),
        .weights = load_bound(bounds, &weights, dory_blocks(layer, layer->output_channels) * block_bytes),
        .output = transfer_bound(stores, output_bytes, problem->target->dma_setup_cycles, tile_rates_of(problem).write),
        .input_loads = loads_of(&input),
        .weights_loads = loads_of(&weights),
        .stores = stores,
    };
    leave_out(&transfers, candidate->tiling.in_place);
    return transfers;
}

/* What is left of steps for their last tile, at least. */
static uint32_t least_rest(const struct extents *steps, uint32_t tile)
{
    uint32_t least = tile;
    for (uint32_t i = 0; i < steps->count; i++)
        least = dory_minimum(least, (steps->extent[i] - 1) % tile + 1);
    return least;
}

/* Of a step's last tile. */
static uint64_t last_store_bound(const struct tile_bounds *bounds, const struct dory_tile_shape *shape)
{
    const struct tile_problem *problem = bounds->problem;
    uint64_t columns = (problem->layer->output_width - 1u) % shape->columns + 1;
    uint64_t pixels = least_rest(&bounds->step_rows, shape->rows) * columns;
    uint32_t channels = least_rest(&bounds->step_channels, shape->channels);
    return transfer_bound(1, pixels * dory_element_bytes(channels, problem->layer->output_bits),
                          problem->target->dma_setup_cycles + problem->target->dma_latency_cycles,
                          tile_rates_of(problem).write);
}

/* Where a step drains it loads, at least: other rows; or for other channels, weights or its input's; perhaps nothing where
 * something is in place. */
static uint64_t next_load_bound(const struct tile_bounds *bounds, const struct tiling *tiling, uint64_t load)
{
    const struct dory_layer *layer = bounds->problem->layer;
    if (tiling->in_place)
        return 0;
    uint64_t weights = dory_has_weights(layer) ? tile_first_weights_cycles(bounds->problem, tiling) : 0;
    uint64_t input = load - weights, channels = dory_loads_by_channels(bounds->problem->layer) ? input : weights;
    return bounds->most_channels < layer->output_channels && channels < input ? channels : input;
}

void tile_find_ends(const struct tile_bounds *bounds, struct tile_candidate *candidate)
{
    const struct tiling *tiling = &candidate->tiling;
    uint64_t load = tile_first_load_cycles(bounds->problem, tiling);
    uint64_t store = tiling->in_place & DORY_OUTPUT_IN_PLACE ? 0 : last_store_bound(bounds, &tiling->tile);
    candidate->ends = load + store;
    candidate->drains = bounds->drains * (store + next_load_bound(bounds, tiling, load));
}

/* ---- what is exposed ---- */

/* Runs of all copies, at least: one a pixel of what a tile has not all channels of. */
static uint64_t runs_bound(const struct tile_bounds *bounds, const struct tile_candidate *candidate)
{
    const struct dory_layer *layer = bounds->problem->layer;
    const struct dory_step *step = &bounds->problem->steps[0];
    const struct tiling *tiling = &candidate->tiling;
    struct division *division = candidate->division;
    uint64_t channels = division->channels.pieces, slice = tiling->tile.input_channels, runs = 0;
    bool is_convolution = layer->operation == DORY_CONVOLUTION, is_hwc = layer->input_layout == DORY_HWC;
    if (!is_convolution && layer->operation != DORY_DEPTHWISE)
        return 0;
    if (!(tiling->in_place & DORY_OUTPUT_IN_PLACE) && layer->output_layout == DORY_HWC &&
        tiling->tile.channels < bounds->least_channels)
        runs += (uint64_t)layer->output_height * layer->output_width * channels;
    if (!(tiling->in_place & DORY_INPUTS_IN_PLACE) && is_hwc && slice < step->input[0].channels)
        runs += loaded_pixels(bounds, tiling, division) *
                (is_convolution ? dory_divide_up(layer->input_channels, (uint32_t)slice) : channels);
    return runs;
}

static uint64_t sum_of(const struct tile_bounds *bounds, const struct tile_candidate *candidate,
                       const struct transfer_bounds *transfers)
{
    const struct target *target = bounds->problem->target;
    uint64_t loads = maximum(transfers->input_loads, transfers->weights_loads);
    return transfers->input + transfers->weights + transfers->output +
           (loads + transfers->stores) * target->dma_latency_cycles +
           runs_bound(bounds, candidate) * target->dma_run_overhead_cycles;
}

/* Of the transfers, what nothing is computed beside: a tile for which a buffer must be free first is loaded behind the store
 * of the one before. */
static uint64_t exposed_bound(const struct tile_bounds *bounds, const struct tile_candidate *candidate,
                              const struct transfer_bounds *transfers)
{
    uint8_t single = candidate->tiling.single;
    bool input = single & SINGLE_INPUT, weights = single & SINGLE_WEIGHTS, output = single & SINGLE_OUTPUT;
    uint64_t tiles = candidate->tiles;
    if ((input && transfers->input_loads == tiles) || (weights && transfers->weights_loads == tiles) ||
        (output && transfers->stores == tiles))
        return sum_of(bounds, candidate, transfers);
    uint64_t loads = (input ? transfers->input : 0) + (weights ? transfers->weights : 0);
    return maximum(output ? transfers->output : loads, candidate->ends + candidate->drains);
}

/* What is not beside kernels comes on top of them; and transfers take their time in any case, with what the driver does,
 * whose instructions wait for them. */
uint64_t tile_buffers_bound(const struct tile_bounds *bounds, const struct tile_candidate *candidate,
                            const struct transfer_bounds *transfers)
{
    uint64_t kernels = tile_kernels_bound(bounds, candidate->kernels, candidate->tiles);
    uint64_t copies = bounds->fixed_cycles + sum_of(bounds, candidate, transfers) +
                      (candidate->tiles - 1) * (bounds->driver_cycles + bounds->overhead_cycles);
    return maximum(kernels + exposed_bound(bounds, candidate, transfers), copies);
}

/* ---- contention ---- */

/* Tiles of a shape that are computed in less than so many cycles; with chunks of input channels, their last ones. */
static uint64_t count_quicker(const struct tile_bounds *bounds, const struct division *d, uint32_t input_channels,
                              uint64_t cycles)
{
    struct cycle_table *table = bounds->problem->cycles;
    uint64_t count = 0;
    for (uint32_t i = 0; i < d->rows.count; i++)
        for (uint32_t j = 0; j < d->columns.count; j++)
            for (uint32_t k = 0; k < d->channels.count; k++)
                if (cycle_table_get(table, d->rows.extent[i], d->columns.extent[j], d->channels.extent[k], input_channels) <
                    cycles)
                    count += (uint64_t)d->rows.times[i] * d->columns.times[j] * d->channels.times[k];
    return count;
}

/* At most, of an operand's pixels in a tile, of which L2 has so many channels: with a border, or without. */
static uint64_t most_pixels_cycles(struct mover *mover, uint32_t rows, uint32_t columns, uint32_t pixel_bytes, bool is_whole,
                                   enum hal_direction direction)
{
    const struct hal_dma_copy copy = {.run_bytes = is_whole ? columns * pixel_bytes : pixel_bytes,
                                      .runs = is_whole ? rows : columns,
                                      .planes = is_whole ? 1 : rows,
                                      .local_run_stride = is_whole ? UINT32_MAX : pixel_bytes,
                                      .external_run_stride = UINT32_MAX,
                                      .direction = direction};
    return tile_copy_cycles(mover, &copy);
}

/* Of planes. */
static uint64_t most_planes_cycles(struct mover *mover, uint32_t channels, uint32_t plane_bytes,
                                   enum hal_direction direction)
{
    return most_pixels_cycles(mover, 1, channels, plane_bytes, false, direction);
}

static uint64_t most_input_cycles(const struct tile_bounds *bounds, struct mover *mover, const struct dory_tile_shape *shape)
{
    const struct dory_layer *layer = bounds->problem->layer;
    const struct dory_step *step = &bounds->problem->steps[0];
    uint32_t rows = dory_input_rows(layer, shape->rows), channels = shape->input_channels;
    uint32_t columns = dory_input_extent(shape->columns, layer->kernel_width, layer->stride_width, layer->dilation_width);
    if (layer->input_layout == DORY_CHW)
        return most_planes_cycles(mover, channels, rows * layer->input_width, HAL_TO_LOCAL) +
               mover->target->dma_setup_cycles;
    uint64_t cycles = most_pixels_cycles(mover, rows, columns, dory_element_bytes(channels, layer->input_bits),
                                         channels == step->input[0].channels, HAL_TO_LOCAL);
    if (!dory_has_second_input(layer))
        return cycles;
    if (layer->operation == DORY_CONCATENATION || layer->operation == DORY_LSTM || dory_repeats_channel(layer, 1))
        channels = dory_input_channels(layer, 1);
    columns = layer->operation == DORY_MATRIX_PRODUCT ? shape->channels : columns;
    return cycles + most_pixels_cycles(mover, rows, columns, dory_element_bytes(channels, layer->second_input_bits),
                                       channels == step->input[1].channels, HAL_TO_LOCAL);
}

static uint64_t most_output_cycles(const struct tile_bounds *bounds, struct mover *mover,
                                   const struct dory_tile_shape *shape)
{
    const struct dory_layer *layer = bounds->problem->layer;
    uint32_t channels = shape->channels;
    if (layer->output_layout == DORY_CHW)
        return most_planes_cycles(mover, channels, shape->rows * layer->output_width, HAL_FROM_LOCAL);
    return most_pixels_cycles(mover, shape->rows, shape->columns, dory_element_bytes(channels, layer->output_bits),
                              channels == bounds->problem->steps[0].output.channels, HAL_FROM_LOCAL);
}

/* At most, what copies beside one tile take: to load the next one, and to store the one before. */
static uint64_t most_copies_cycles(const struct tile_bounds *bounds, const struct tiling *tiling)
{
    const struct tile_problem *problem = bounds->problem;
    struct mover mover = tile_mover_of(problem);
    uint64_t constants = dory_has_weights(problem->layer) ? (uint64_t)dory_blocks(problem->layer, tiling->tile.channels) *
                                                                problem->weights->constants_bytes(problem->layer)
                                                          : 0;
    uint64_t first_weights = tiling->in_place & DORY_WEIGHTS_IN_PLACE ? 0 : tile_first_weights_cycles(problem, tiling);
    uint64_t weights = first_weights + constants * 1000 / mover.rates.read + 1;
    return most_input_cycles(bounds, &mover, &tiling->tile) + most_output_cycles(bounds, &mover, &tiling->tile) +
           (dory_has_weights(problem->layer) ? weights : 0) + 2 * problem->target->dma_latency_cycles;
}

/* Of copies beside the longest tile, or one that takes as long, that part counts which a quarter of it is of the longest
 * copies. Those beside others are left out, as is what is exposed. */
uint64_t tile_contention_bound(const struct tile_bounds *bounds, const struct tile_candidate *candidate,
                               const struct transfer_bounds *transfers)
{
    const struct tile_problem *problem = bounds->problem;
    const struct dory_tile_shape *shape = &candidate->tiling.tile;
    const struct division *d = candidate->division;
    uint32_t all = problem->layer->input_channels, slice = reads_all_channels(bounds) ? shape->input_channels : all;
    uint32_t least = all % slice ? all % slice : slice;
    uint64_t chunks = candidate->tiles / ((uint64_t)d->rows.pieces * d->columns.pieces * d->channels.pieces);
    uint64_t kernel = cycle_table_get(problem->cycles, shape->rows, shape->columns, shape->channels, slice);
    uint64_t longest = most_copies_cycles(bounds, &candidate->tiling);
    uint64_t counted = kernel / 4 < longest ? kernel / 4 : longest;
    uint64_t others = count_quicker(bounds, d, least, 4 * counted) * chunks * longest;
    uint64_t exposed = exposed_bound(bounds, candidate, transfers), all_copies = sum_of(bounds, candidate, transfers);
    uint64_t beside = all_copies > exposed + others ? all_copies - exposed - others : 0;
    uint64_t copies = beside * counted / longest, waits = tile_contention_cycles(problem, copies),
             rounding = candidate->tiles;
    waits = waits < copies ? waits : copies; /* more of them may be exposed, which takes no more than their own time */
    return tile_kernels_bound(bounds, candidate->kernels, candidate->tiles) + exposed +
           (waits > rounding ? waits - rounding : 0);
}
