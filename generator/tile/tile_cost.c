/* What a tiling costs: cycles, by playing the tile loop. */
#include "tile/tile_mover.h"

#include <string.h>

#include "dory/hal.h"
#include "dory/prepared.h"
#include "dory/transposition.h"
#include "dory/turn.h"

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

static bool is_convolution(const struct dory_layer *layer) { return layer->operation == DORY_CONVOLUTION; }

/* ---- the pipeline ---- */

struct position {
    uint32_t row, column, channel, chunk;
};

struct player {
    const struct tile_problem *problem;
    const struct tiling *tiling;
    struct tile_cost *cost;
    struct mover mover;
    bool two_inputs, two_weights, two_outputs; /* buffers are double, or never reloaded */
    /* what L1 holds: keys of the tile loop's operands */
    struct position input, weights;
    struct tile_border laid[2];
    uint64_t border; /* of the cores, to lay that of the tile */
    bool overlapped; /* the tile before was loaded beside another */
    bool first;
    uint64_t time;
    uint64_t kernel, store;                  /* of the tile before */
    uint64_t pending;                        /* store of the tile before that, which is still to overlap */
    struct tally store_tally, pending_tally; /* of these stores */
    uint64_t queueing;                       /* of the driver, transfers from and to L3, behind the start of that tile */
    uint32_t transfers_queued;
    uint32_t step; /* index */
};

static void tell(const struct player *player, enum tile_event_kind kind, uint32_t tile, uint64_t start, uint64_t cycles,
                 const struct dory_tile_shape *shape)
{
    const struct tile_observer *observer = &player->problem->observer;
    if (!observer->see || cycles == 0)
        return;
    struct tile_event event = {.kind = kind, .tile = tile, .step = player->step, .start = start, .cycles = cycles};
    if (shape)
        event.shape = *shape;
    observer->see(observer->context, &event);
}

/* How much of `extent` elements from `start` lies in [0, size). */
static uint32_t inside(int64_t start, uint32_t extent, uint32_t size)
{
    int64_t low = start < 0 ? 0 : start, high = start + extent;
    high = high > (int64_t)size ? (int64_t)size : high;
    return high > low ? (uint32_t)(high - low) : 0;
}

/* Of the cores. */
static uint64_t border_cycles(struct player *player, const struct rectangle *read, const struct position *at, uint32_t rows)
{
    const struct tile_problem *problem = player->problem;
    const struct dory_layer *layer = problem->layer;
    int64_t row = dory_first_input_row(layer, at->row),
            column = (int64_t)at->column * layer->stride_width - layer->padding_left;
    bool is_chw = layer->input_layout == DORY_CHW; /* all columns, and none of border */
    struct tile_border border = {
        .rows = rows,
        .columns = is_chw ? read->width : read->pitch,
        .channels = read->channels,
        .top = row < 0 ? (uint32_t)-row : 0,
        .left = column < 0 && !is_chw ? (uint32_t)-column : 0,
        .inner_rows = read->rows,
        .inner_columns = is_chw ? read->width : read->columns,
    };
    if (!tile_border_take(player->laid, player->two_inputs, layer, &border))
        return 0;
    return tile_border_cycles(problem, &border);
}

/* Bytes of border that are not read with an input in CHW, whose first row that exists is `first`: those of the last plane;
 * all where the planes are moved exactly, or where nothing else is there. See describe_planes of tile_copies.c. */
static uint64_t unread_bytes(const struct dory_window *window, const struct rectangle *read, uint32_t first, uint32_t rows)
{
    uint32_t behind = first - window->first_row, row = behind < window->rows ? behind : behind - window->rows;
    bool exactly = row + read->rows > window->rows || row + rows > 2u * window->rows || read->rows == 0;
    return (uint64_t)(rows - read->rows) * read->width * (exactly ? read->channels : 1);
}

/* Of an input in CHW: as if all planes had their border read. */
static uint64_t planes_cycles(struct player *player, const struct dory_step *step, const struct rectangle *read,
                              int64_t first, uint32_t rows)
{
    uint32_t plane = step->input[0].rows * read->width;
    uint64_t cycles = tile_planes_cycles(&player->mover, read->channels, rows * read->width, plane, true);
    player->mover.moved_bytes -= unread_bytes(&step->input[0], read, first < 0 ? 0 : (uint32_t)first, rows);
    return cycles + (rows > read->rows ? player->problem->target->dma_setup_cycles : 0);
}

/* Of a transposition: what the tile's output is of the input. */
static void turn(struct rectangle *r, const struct dory_layer *layer, const struct dory_tile_shape *shape)
{
    const uint32_t extents[3] = {shape->rows, shape->columns, shape->channels};
    r->rows = extents[dory_axis(layer, 0)];
    r->columns = r->pitch = extents[dory_axis(layer, 1)];
    r->channels = extents[dory_axis(layer, 2)];
}

static uint64_t input_cycles(struct player *player, const struct dory_step *step, const struct position *at,
                             const struct dory_tile_shape *shape)
{
    const struct dory_layer *layer = player->problem->layer;
    uint32_t rows = dory_input_rows(layer, shape->rows);
    uint32_t columns = dory_input_extent(shape->columns, layer->kernel_width, layer->stride_width, layer->dilation_width);
    struct rectangle r = {
        .rows = inside(dory_first_input_row(layer, at->row), rows, layer->input_height),
        .columns = inside((int64_t)at->column * layer->stride_width - layer->padding_left, columns, layer->input_width),
        .channels = dory_reads_all_channels(layer) ? shape->input_channels : shape->channels,
        .width = layer->input_width,
        .window_channels = step->input[0].channels,
        .pitch = columns,
        .bits = layer->input_bits,
    };
    if (layer->operation == DORY_TRANSPOSITION)
        turn(&r, layer, shape), rows = r.rows;
    player->border = border_cycles(player, &r, at, rows);
    unsigned stay = player->problem->inputs_stay;
    if (layer->input_layout == DORY_CHW)
        return stay ? 0 : planes_cycles(player, step, &r, dory_first_input_row(layer, at->row), rows);
    uint64_t cycles = stay & 1 ? 0 : tile_rectangle_cycles(&player->mover, &r, true);
    if (dory_has_second_input(layer) && !(stay & 2)) {
        r.channels = layer->operation == DORY_CONCATENATION ? dory_input_channels(layer, 1) : r.channels;
        r.bits = layer->second_input_bits;
        if (layer->second_is_pixel)
            r.rows = r.columns = r.width = r.pitch = 1;
        r.window_channels = step->input[1].channels;
        cycles += tile_rectangle_cycles(&player->mover, &r, true);
    }
    return cycles;
}

static uint64_t weights_cycles(struct player *player, const struct dory_tile_shape *shape, bool last_chunk)
{
    const struct dory_layer *layer = player->problem->layer;
    uint64_t quads = dory_divide_up(shape->channels, 4);
    bool whole = !is_convolution(layer) || player->tiling->tile.input_channels == layer->input_channels;
    uint64_t quad = !is_convolution(layer)
                        ? tile_quad_bytes(layer, 1)
                        : dory_chunk_bytes(layer, shape->input_channels) + (last_chunk ? dory_constants_bytes(layer) : 0);
    return tile_copy_cycles(&player->mover, quad * quads, whole ? 1 : quads, true);
}

static uint64_t output_cycles(struct player *player, const struct dory_step *step, const struct dory_tile_shape *shape)
{
    struct rectangle r = {.rows = shape->rows,
                          .columns = shape->columns,
                          .channels = shape->channels,
                          .width = player->problem->layer->output_width,
                          .window_channels = step->output.channels,
                          .pitch = shape->columns,
                          .bits = player->problem->layer->output_bits};
    if (player->problem->layer->output_layout == DORY_CHW)
        return tile_planes_cycles(&player->mover, r.channels, r.rows * r.width, step->output.rows * r.width, false);
    return tile_rectangle_cycles(&player->mover, &r, false);
}

static bool same_position(const struct position *a, const struct position *b)
{
    return a->row == b->row && a->column == b->column && a->channel == b->channel && a->chunk == b->chunk;
}

/* Cycles to load what L1 does not hold; *overlaps is cleared where the buffer must be free first. */
static uint64_t load(struct player *player, const struct dory_step *step, const struct position *at,
                     const struct dory_tile_shape *shape, bool *overlaps)
{
    const struct dory_layer *layer = player->problem->layer;
    bool convolution = is_convolution(layer);
    bool last_chunk = !convolution || at->chunk + shape->input_channels >= layer->input_channels;
    struct position input = {at->row, at->column, dory_loads_by_channels(layer) ? at->channel : 0, at->chunk};
    struct position weights = {0, 0, at->channel, at->chunk};
    uint64_t cycles = 0;
    player->border = 0;
    if (player->first || !same_position(&input, &player->input)) {
        cycles += input_cycles(player, step, at, shape);
        *overlaps = *overlaps && player->two_inputs;
    }
    if (layer_has_weights(layer) && (player->first || !same_position(&weights, &player->weights))) {
        uint64_t copied = weights_cycles(player, shape, last_chunk);
        cycles += player->first && player->problem->weights_are_early ? 0 : copied;
        *overlaps = *overlaps && player->two_weights;
    }
    player->input = input;
    player->weights = weights;
    return cycles ? cycles + player->problem->target->dma_latency_cycles : 0;
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

/* Of a kernel, with what it waits for L1 because of the copies beside it. Measured: copies that take more than a quarter of
 * its time cost hardly more than those that take a quarter. */
static uint64_t kernel_beside(const struct tile_problem *problem, uint64_t kernel, uint64_t copies)
{
    return kernel + tile_contention_cycles(problem, copies < kernel / 4 ? copies : kernel / 4);
}

/* Of the driver, for loads of a tile behind the first. */
static uint64_t more_loads_cycles(const struct target *target, const struct tally *loads)
{
    return loads->copies > 1 ? (loads->copies - 1) * target->copy_driver_cycles : 0;
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
        tell(player, TILE_LOAD, tile, issued, load_cycles, NULL);
    tell(player, TILE_STORE, tile - 2, issued + beside - player->pending, player->pending, NULL);
    player->time += maximum(kernel, driver + beside) + overhead;
    player->cost->exposed_cycles += maximum(kernel, beside) - kernel;
    player->pending = overlaps ? player->store : 0;
    player->pending_tally = overlaps ? player->store_tally : (struct tally){0};
    if (!overlaps) {
        tell(player, TILE_STORE, tile - 1, player->time, player->store, NULL);
        issued = player->time += player->store;
        tell(player, TILE_LOAD, tile, issued, load_cycles, NULL);
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

/* The code that lays it comes behind the loads that it is laid beside: half of their time is lost to it. */
static uint64_t border_behind_loads(const struct player *player, uint64_t load_cycles, bool overlaps)
{
    uint64_t hidden = tile_border_is_beside(player->problem) && !overlaps ? load_cycles / 2 : 0;
    return player->border > hidden ? player->border - hidden : 0;
}

/* Of copies that the driver starts; as in tile_driver_cycles, the search takes those of the cores for such, too. */
static uint64_t driver_commands(const struct player *player, const struct tally *loads, bool overlaps)
{
    if (!overlaps && player->problem->is_decided)
        return player->pending_tally.commands;
    return loads->commands + (overlaps ? player->pending_tally : player->store_tally).commands;
}

/* Cores that go through a table meet the driver behind the tile before, and load what the step needs behind that. */
static bool meets_driver(const struct tile_problem *problem, const struct dory_step *step)
{
    return problem->is_decided && problem->target->has_table && step > problem->steps &&
           dory_step_meets(step, step - 1) != DORY_MEETS_NOBODY;
}

static void play_tile(struct player *player, const struct dory_step *step, const struct position *at, bool first_of_step,
                      struct step_times *times)
{
    const struct tile_problem *problem = player->problem;
    const struct dory_tile_shape *most = &player->tiling->tile;
    struct dory_tile_shape shape = {
        .rows = (uint16_t)dory_minimum(most->rows, (uint32_t)step->first_row + step->rows - at->row),
        .columns = (uint16_t)dory_minimum(most->columns, problem->layer->output_width - at->column),
        .channels = (uint16_t)dory_minimum(most->channels, (uint32_t)step->first_channel + step->channels - at->channel),
    };
    bool convolution = dory_reads_all_channels(problem->layer);
    uint32_t chunk = dory_minimum(most->input_channels, problem->layer->input_channels - at->chunk);
    shape.input_channels = convolution ? (uint16_t)chunk : shape.channels;
    bool last_chunk = !convolution || at->chunk + shape.input_channels >= problem->layer->input_channels;
    bool waits = first_of_step && (step->drain || meets_driver(problem, step));
    bool overlaps = !player->first && !waits && !(at->chunk == 0 && !player->two_outputs);
    uint64_t load_cycles = load(player, step, at, &shape, &overlaps), issued = player->time;
    struct tally loads = tile_take_tally(&player->mover);
    uint64_t driver = tile_driver_cycles(problem, overlaps) + (first_of_step ? step_cycles(problem) : 0) +
                      driver_commands(player, &loads, overlaps) * problem->target->command_driver_cycles +
                      more_loads_cycles(problem->target, &loads) + player->queueing +
                      queue_transfers(player, first_of_step ? step->transfers_awaited : 0, false);
    if (player->first) {
        tell(player, TILE_LOAD, 0, 0, load_cycles, NULL);
        player->time = player->cost->exposed_cycles = load_cycles;
    } else {
        issued = finish_previous(player, load_cycles, driver, overlaps, problem->target->tile_overhead_cycles);
    }
    player->first = false;
    player->overlapped = overlaps;
    if (first_of_step && times)
        *times = (struct step_times){.fetch = issued, .start = player->time};
    uint64_t kernel = cycle_table_get(problem->cycles, shape.rows, shape.columns, shape.channels, shape.input_channels);
    player->kernel = kernel + (player->cost->tile_count == 0 ? tile_kernel_start_cycles(problem) : 0) +
                     border_behind_loads(player, load_cycles, overlaps);
    player->store = last_chunk ? output_cycles(player, step, &shape) + problem->target->dma_latency_cycles : 0;
    player->store_tally = tile_take_tally(&player->mover);
    tell(player, TILE_KERNEL, player->cost->tile_count, player->time, player->kernel, &shape);
    player->cost->kernel_cycles += player->kernel;
    player->cost->dma_cycles += load_cycles + player->store;
    player->cost->tile_count++;
    player->queueing = queue_transfers(player, step->transfers_started, true);
}

uint64_t tile_first_load_cycles(const struct tile_problem *problem, const struct tiling *tiling)
{
    const struct dory_layer *layer = problem->layer;
    const struct dory_step *step = &problem->steps[0];
    struct player player = {.problem = problem, .tiling = tiling, .mover = tile_mover_of(problem), .first = true};
    struct position at = {step->first_row, 0, step->first_channel, 0};
    struct dory_tile_shape shape = tiling->tile;
    bool overlaps = false;
    if (!dory_reads_all_channels(layer))
        shape.input_channels = shape.channels;
    return load(&player, step, &at, &shape, &overlaps);
}

uint64_t tile_first_weights_cycles(const struct tile_problem *problem, const struct tiling *tiling)
{
    struct player player = {.problem = problem, .tiling = tiling, .mover = tile_mover_of(problem)};
    const struct dory_step *step = &problem->steps[0];
    struct dory_tile_shape shape = tiling->tile;
    shape.channels = (uint16_t)dory_minimum(shape.channels, step->channels);
    bool whole = shape.input_channels >= problem->layer->input_channels;
    return weights_cycles(&player, &shape, whole) + problem->target->dma_latency_cycles;
}

/* The next tile of a step; false behind the last. */
static bool next_position(const struct player *player, const struct dory_step *step, struct position *at)
{
    const struct dory_layer *layer = player->problem->layer;
    const struct dory_tile_shape *tile = &player->tiling->tile;
    uint32_t channel_end = (uint32_t)step->first_channel + step->channels, row_end = (uint32_t)step->first_row + step->rows;
    bool space_outer = player->tiling->order == DORY_SPACE_OUTER;
    if (is_convolution(layer) && (at->chunk += tile->input_channels) < layer->input_channels)
        return true;
    at->chunk = 0;
    if (space_outer && (at->channel += tile->channels) < channel_end)
        return true;
    if (space_outer)
        at->channel = step->first_channel;
    if ((at->column += tile->columns) < layer->output_width)
        return true;
    at->column = 0;
    if ((at->row += tile->rows) < row_end)
        return true;
    at->row = step->first_row;
    return !space_outer && (at->channel += tile->channels) < channel_end;
}

static struct player player_of(const struct tile_problem *problem, const struct tiling *tiling, struct tile_cost *cost)
{
    struct tile_loads loads = tile_loads_of(problem, tiling);
    memset(cost, 0, sizeof *cost);
    return (struct player){
        .problem = problem,
        .tiling = tiling,
        .cost = cost,
        .mover = tile_mover_of(problem),
        .transfers_queued = problem->transfers_queued,
        .two_inputs = !loads.input || !(tiling->single & SINGLE_INPUT),
        .two_weights = !loads.weights || !(tiling->single & SINGLE_WEIGHTS),
        .two_outputs = !loads.output || !(tiling->single & SINGLE_OUTPUT),
        .first = true,
    };
}

/* What the cores wait for the first weights of the next layer, from a table. Those that are long come beside the kernel: one
 * of which some code is not in the cores' cache waits for what is still to come when it gets there, three quarters of them;
 * else the next layer does, for what is left. Others come behind the store. */
struct early_wait {
    uint64_t kernel, next_layer;
};

static struct early_wait early_wait_cycles(const struct player *player, uint64_t early)
{
    const struct tile_problem *problem = player->problem;
    uint64_t most = (uint64_t)TILE_LONG_BYTES * 1000 / problem->target->dma_read_bytes_per_1000_cycles;
    bool has_code = player->cost->tile_count > 1 || problem->code_since_cycles == 0;
    if (!problem->target->has_table || early == 0)
        return (struct early_wait){0};
    if (early <= player->store + most)
        return (struct early_wait){.next_layer = early};
    if (!has_code)
        return (struct early_wait){.kernel = early - early / 4};
    return (struct early_wait){.next_layer = early > player->kernel ? early - player->kernel : 0};
}

/* Of the layer's start; that its stages come to L1 is not hidden beside loads. */
uint64_t tile_layer_overhead_cycles(const struct tile_problem *problem)
{
    return problem->target->layer_overhead_cycles + (problem->layer->stages ? problem->target->stages_cycles : 0);
}

/* Beside the last tile the driver prepares the next layer. Where the cores wait for that, it is shown behind the last store:
 * a profile counts it as the next layer's. From a table it counts so what they wait for weights, and the last store, where
 * the next layer starts beside it. */
static void finish(struct player *player)
{
    const struct target *target = player->problem->target;
    uint64_t driver =
                 tile_driver_cycles(player->problem, player->overlapped) + target->turn_driver_cycles + player->queueing,
             early = player->problem->early_cycles_of_next,
             kernel = kernel_beside(player->problem, player->kernel, player->pending);
    driver += early ? target->early_driver_cycles : 0;
    bool prepares = !target->has_table && !player->problem->is_last;
    uint64_t ready = player->pending + (prepares ? driver + early : 0); /* a driver's instructions wait for both */
    uint64_t wait = maximum(kernel, ready) - maximum(kernel, player->pending);
    finish_previous(player, 0, 0, false, 0);
    struct early_wait waits = early_wait_cycles(player, early);
    player->time += wait + waits.kernel + waits.next_layer + (early ? target->early_cycles : 0);
    player->cost->turn_cycles = wait + waits.next_layer + (player->problem->next_has_store ? player->store : 0);
    player->cost->cycles = player->time + tile_layer_overhead_cycles(player->problem);
    player->cost->dma_bytes = player->mover.moved_bytes;
    player->cost->l1_bytes = tile_l1_bytes(player->problem, player->tiling, NULL);
}

void tile_simulate(const struct tile_problem *problem, const struct tiling *tiling, struct tile_cost *cost,
                   struct step_times *times)
{
    struct player player = player_of(problem, tiling, cost);
    for (uint32_t i = 0; i < problem->step_count; i++) {
        const struct dory_step *step = &problem->steps[i];
        struct position at = {step->first_row, 0, step->first_channel, 0};
        bool first_of_step = true;
        player.step = i;
        do {
            play_tile(&player, step, &at, first_of_step, times ? &times[i] : NULL);
            first_of_step = false;
        } while (next_position(&player, step, &at));
    }
    finish(&player);
}

/* What is still to come at least: kernels of the tiles that are not in the time yet, and their overheads. */
static uint64_t least_to_come(const struct player *player, uint64_t kernel_cycles, uint64_t tiles)
{
    const struct target *target = player->problem->target;
    uint64_t played = player->cost->kernel_cycles - player->kernel,
             all = kernel_cycles + tile_kernel_start_cycles(player->problem);
    return (all > played ? all - played : 0) + (tiles - player->cost->tile_count) * target->tile_overhead_cycles +
           tile_layer_overhead_cycles(player->problem);
}

bool tile_simulate_below(const struct tile_problem *problem, const struct tiling *tiling, uint64_t limit,
                         uint64_t kernel_cycles, uint64_t tiles, struct tile_cost *cost)
{
    struct player player = player_of(problem, tiling, cost);
    for (uint32_t i = 0; i < problem->step_count; i++) {
        const struct dory_step *step = &problem->steps[i];
        struct position at = {step->first_row, 0, step->first_channel, 0};
        bool first_of_step = true;
        do {
            play_tile(&player, step, &at, first_of_step, NULL);
            first_of_step = false;
            if (player.time + least_to_come(&player, kernel_cycles, tiles) > limit)
                return false;
        } while (next_position(&player, step, &at));
    }
    finish(&player);
    return cost->cycles <= limit;
}
