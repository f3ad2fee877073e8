#include "tile_loop.h"

#include <string.h>

#include "placed_tile.h"

/* What a core carries through a layer. It lives on the core's stack, in L1 on GAP8: a word of L2 costs ten times as much.
 * So do instructions that are not in the cache, and more where a transfer is under way: what is done for every tile is
 * marked DORY_HOT and kept small, what belongs to the start of a step is done there. */
struct tile_loop {
    struct dory_run *run;
    uint8_t *l1, *l2;
    bool driver, profiled;
    unsigned core, cores;           /* that compute */
    const struct dory_layer *layer; /* the copy in L1 that all cores share */
    struct dory_step step[2];       /* at work, by turns: tiles of two steps may be on their way */
    unsigned newest_step;           /* index in `step` */
    const struct dory_step *next_step, *end_step;
    struct dory_placed_tile tile[2];
    hal_dma_ticket load_ticket;
    hal_dma_ticket store_ticket[2]; /* by output buffer */
    bool store_open[2];
    uint32_t dma_wait_cycles, tiles;
};

/* ---- errors and L3 ---- */

void dory_run_fail(struct dory_run *run, int status)
{
    if (status != DORY_OK && run->status == DORY_OK) {
        run->status = status;
    }
}

void dory_start_transfers(struct dory_run *run, unsigned end)
{
    for (; run->transfers_started < end; run->transfers_started++) {
        const struct dory_transfer *transfer = &run->network->transfers[run->transfers_started];
        bool flash = transfer->kind == HAL_FLASH_READ;
        struct hal_l3_copy copy = {
            .kind = (enum hal_l3_kind)transfer->kind,
            .l3_address = transfer->l3_address + (flash ? run->buffers->flash_address : run->buffers->ram_address),
            .l2 = (uint8_t *)run->buffers->l2 + transfer->l2_offset,
            .run_bytes = transfer->run_bytes,
            .runs = transfer->runs,
            .l3_stride = transfer->l3_stride,
            .l2_stride = transfer->l2_stride,
        };
        hal_l3_ticket ticket = 0;
        dory_run_fail(run, hal_l3_start(&copy, &ticket));
        run->ticket_base = ticket - run->transfers_started - 1u;
    }
}

void dory_await_transfers(struct dory_run *run, unsigned end)
{
    if (end == 0) {
        return;
    }
    dory_start_transfers(run, end);
    uint32_t before = run->profile ? hal_cycles() : 0;
    dory_run_fail(run, hal_l3_wait(run->ticket_base + end));
    if (run->profile) {
        run->profile->l3_wait_cycles += hal_cycles() - before;
    }
}

/* ---- copies ---- */

/* What the driver starts for one tile. All copies are described before the first is started, and they are started last
 * before the kernel: on GAP8 an instruction that is not in the cache waits for all transfers in front of it. */
struct copies {
    struct hal_dma_copy store, loads[3];
    bool has_store, has_loads;
    unsigned store_buffer, load_count;
};

/* The start of the L1 arena; stacks, of which there are eight, are no place for it. */
struct shared {
    struct dory_layer layer;
    struct copies copies; /* the driver's */
};
_Static_assert(sizeof(struct shared) <= DORY_L1_RUNTIME_BYTES, "what the cores share fits at the start of the L1 arena");

static inline struct copies *copies_of(const struct tile_loop *loop) { return &((struct shared *)(void *)loop->l1)->copies; }

static uint32_t pixel_bytes(uint32_t channels, uint32_t bits) { return dory_element_bytes(channels, bits); }

/* A rectangle of `rows` x `columns` pixels of `channels` channels between an L2 window and a tile in L1.
 * row, column and channel are its place in the tensor, `pitch` the columns of the L1 tile. */
struct rectangle {
    const struct dory_window *window;
    uint32_t width, bits;
    uint32_t row, column, channel;
    uint32_t rows, columns, channels;
    uint8_t *local;
    uint32_t pitch;
    enum hal_direction direction;
};

DORY_HOT static void describe_rectangle(struct hal_dma_copy *copy, uint8_t *l2, const struct rectangle *r)
{
    const struct dory_window *window = r->window;
    uint32_t pixel = pixel_bytes(window->channels, r->bits);
    uint32_t run = pixel_bytes(r->channels, r->bits);
    uint32_t row_bytes = r->width * pixel;
    copy->local = r->local;
    copy->external = l2 + window->offset + (r->row - window->first_row) * row_bytes + r->column * pixel +
                     pixel_bytes(r->channel - window->first_channel, r->bits);
    copy->direction = r->direction;
    bool whole_pixels = run == pixel; /* then a row is one run */
    copy->run_bytes = whole_pixels ? r->columns * pixel : run;
    copy->runs = whole_pixels ? r->rows : r->columns;
    copy->planes = whole_pixels ? 1 : r->rows;
    copy->external_run_stride = whole_pixels ? row_bytes : pixel;
    copy->local_run_stride = whole_pixels ? r->pitch * pixel : run;
    copy->external_plane_stride = row_bytes;
    copy->local_plane_stride = r->pitch * run;
}

/* False where the tile is nothing but border. */
DORY_HOT static bool describe_input(const struct tile_loop *loop, const struct dory_placed_tile *placed, unsigned which,
                                    struct hal_dma_copy *copy)
{
    const struct dory_layer *layer = loop->layer;
    const struct dory_tile *tile = &placed->tile;
    const struct dory_valid *valid = &placed->valid;
    uint32_t bits = which ? layer->second_input_bits : layer->input_bits;
    bool concatenation = layer->operation == DORY_CONCATENATION;
    uint32_t channels = concatenation ? dory_input_channels(layer, which) : tile->input_channels;
    if (valid->top == valid->bottom || valid->left == valid->right) {
        return false;
    }
    uint8_t *base = (uint8_t *)(uintptr_t)(which ? tile->second_input : tile->input);
    struct rectangle rectangle = {
        .window = &placed->step->input[which],
        .width = layer->input_width,
        .bits = bits,
        .row = (uint32_t)(placed->input_row + (int32_t)valid->top),
        .column = (uint32_t)(placed->input_column + (int32_t)valid->left),
        .channel = dory_reads_all_channels(layer) ? placed->at.chunk : placed->at.channel,
        .rows = valid->bottom - valid->top,
        .columns = valid->right - valid->left,
        .channels = channels,
        .local = base + (valid->top * tile->input_columns + valid->left) * pixel_bytes(channels, bits),
        .pitch = tile->input_columns,
        .direction = HAL_TO_LOCAL,
    };
    describe_rectangle(copy, loop->l2, &rectangle);
    return true;
}

DORY_HOT static void describe_weights(const struct tile_loop *loop, const struct dory_placed_tile *placed,
                                      struct hal_dma_copy *copy)
{
    const struct dory_layer *layer = loop->layer;
    const struct dory_tile *tile = &placed->tile;
    uint32_t quads = dory_divide_up(tile->channels, 4);
    uint32_t first_quad = (placed->at.channel - placed->step->first_channel) / 4;
    uint8_t *external = loop->l2 + placed->step->weights_offset + first_quad * layer->quad_bytes;
    copy->local = (void *)(uintptr_t)tile->weights;
    copy->external = external;
    copy->run_bytes = quads * layer->quad_bytes;
    copy->runs = 1;
    copy->planes = 1;
    copy->direction = HAL_TO_LOCAL;
    if (!(tile->first_chunk && tile->last_chunk)) {
        uint32_t chunk_start = placed->at.chunk / layer->tile_input_channels * layer->chunk_bytes;
        copy->external = external + chunk_start;
        copy->run_bytes = tile->last_chunk ? layer->quad_bytes - chunk_start : layer->chunk_bytes;
        copy->runs = quads;
        copy->external_run_stride = layer->quad_bytes;
        copy->local_run_stride = copy->run_bytes;
    }
}

DORY_HOT static void describe_loads(const struct tile_loop *loop, const struct dory_placed_tile *placed,
                                    struct copies *copies)
{
    unsigned count = 0;
    if (placed->load_input) {
        count += describe_input(loop, placed, 0, copies->loads);
        if (dory_has_second_input(loop->layer)) {
            count += describe_input(loop, placed, 1, &copies->loads[count]);
        }
    }
    if (placed->load_weights) {
        describe_weights(loop, placed, &copies->loads[count++]);
    }
    copies->has_loads = true;
    copies->load_count = count;
}

DORY_HOT static void describe_store(const struct tile_loop *loop, const struct dory_placed_tile *placed,
                                    struct copies *copies)
{
    if (!placed->tile.last_chunk) {
        return;
    }
    copies->has_store = true;
    copies->store_buffer = placed->output_buffer;
    const struct dory_tile *tile = &placed->tile;
    struct rectangle rectangle = {
        .window = &placed->step->output,
        .width = loop->layer->output_width,
        .bits = loop->layer->output_bits,
        .row = placed->at.row,
        .column = placed->at.column,
        .channel = placed->at.channel,
        .rows = tile->rows,
        .columns = tile->columns,
        .channels = tile->channels,
        .local = tile->output,
        .pitch = tile->columns,
        .direction = HAL_FROM_LOCAL,
    };
    describe_rectangle(&copies->store, loop->l2, &rectangle);
}

DORY_HOT static void start_copy(struct tile_loop *loop, hal_dma_ticket ticket, const struct hal_dma_copy *copy)
{
    dory_run_fail(loop->run, hal_dma_copy(ticket, copy));
}

/* Starts what has been described, the results first, as the next tile's output buffer waits for them. */
DORY_HOT static void start_copies(struct tile_loop *loop, const struct copies *copies)
{
    if (copies->has_store) {
        unsigned buffer = copies->store_buffer;
        dory_run_fail(loop->run, hal_dma_open(&loop->store_ticket[buffer]));
        loop->store_open[buffer] = true;
        start_copy(loop, loop->store_ticket[buffer], &copies->store);
    }
    if (copies->has_loads) {
        dory_run_fail(loop->run, hal_dma_open(&loop->load_ticket));
        for (unsigned i = 0; i < copies->load_count; i++) {
            start_copy(loop, loop->load_ticket, &copies->loads[i]);
        }
    }
}

DORY_HOT static void wait_dma(struct tile_loop *loop, hal_dma_ticket ticket)
{
    uint32_t before = loop->profiled ? hal_cycles() : 0;
    dory_run_fail(loop->run, hal_dma_wait(ticket));
    if (loop->profiled) {
        loop->dma_wait_cycles += hal_cycles() - before;
    }
}

static inline void wait_store(struct tile_loop *loop, unsigned buffer)
{
    if (loop->store_open[buffer]) {
        wait_dma(loop, loop->store_ticket[buffer]);
        loop->store_open[buffer] = false;
    }
}

static void wait_stores(struct tile_loop *loop)
{
    wait_store(loop, 0);
    wait_store(loop, 1);
}

/* ---- border ---- */

static void fill(uint8_t *start, uint32_t bytes, uint8_t value)
{
    if (bytes != 0) {
        memset(start, value, bytes);
    }
}

/* The value that a maximum never picks, or zero. Unsigned elements have both in zero. */
static uint8_t border_byte(const struct dory_layer *layer)
{
    bool lowest = layer->operation == DORY_MAXIMUM_POOL && layer->input_is_signed;
    if (!lowest) {
        return 0;
    }
    return layer->input_bits == 8 ? 0x80 : layer->input_bits == 4 ? 0x88 : 0xAA;
}

/* Lays the border round the part of the tile that the DMA fills, rows divided among the cores. */
static void fill_border(const struct tile_loop *loop, const struct dory_placed_tile *placed)
{
    const struct dory_tile *tile = &placed->tile;
    const struct dory_valid *valid = &placed->valid;
    uint8_t value = border_byte(loop->layer);
    uint32_t pixel = pixel_bytes(tile->input_channels, loop->layer->input_bits);
    uint32_t row_bytes = tile->input_columns * pixel;
    uint8_t *base = (uint8_t *)(uintptr_t)tile->input;
    for (uint32_t row = hal_core_id(); row < tile->input_rows; row += hal_core_count()) {
        uint8_t *start = base + row * row_bytes;
        if (row < valid->top || row >= valid->bottom) {
            fill(start, row_bytes, value);
        } else {
            fill(start, valid->left * pixel, value);
            fill(start + valid->right * pixel, row_bytes - valid->right * pixel, value);
        }
    }
}

/* ---- the loop ---- */

/* Takes the next step of the table to L1. */
static const struct dory_step *take_step(struct tile_loop *loop)
{
    loop->newest_step ^= 1;
    loop->step[loop->newest_step] = *loop->next_step++;
    return &loop->step[loop->newest_step];
}

/* Places the tile behind `before`; false when the layer has none. */
DORY_HOT static bool place_next(struct tile_loop *loop, struct dory_placed_tile *placed,
                                const struct dory_placed_tile *before)
{
    placed->at = before->at;
    placed->step = before->step;
    placed->starts_step = false;
    if (!dory_cursor_next(&placed->at, loop->layer, before->step)) {
        if (loop->next_step == loop->end_step) {
            return false;
        }
        placed->step = take_step(loop);
        placed->starts_step = true;
        dory_cursor_first(&placed->at, placed->step);
    }
    dory_place_tile(placed, before, loop->layer, loop->l1);
    return true;
}

/* Driver. Puts what a tile needs on its way, and waits for it in L3 if it must. */
static void fetch(struct tile_loop *loop, const struct dory_placed_tile *placed)
{
    struct copies *copies = copies_of(loop);
    if (placed->starts_step) {
        dory_await_transfers(loop->run, placed->step->transfers_awaited);
    }
    copies->has_store = false;
    describe_loads(loop, placed, copies);
    start_copies(loop, copies);
}

static inline void lay_border(const struct tile_loop *loop, const struct dory_placed_tile *placed)
{
    if (placed->load_input && placed->has_border) {
        fill_border(loop, placed);
    }
}

/* Scratch in L1 is planned for network->cores; further cores have no place in it and sit out. */
static inline void compute(const struct tile_loop *loop, const struct dory_placed_tile *placed)
{
    if (loop->core < loop->cores) {
        loop->layer->kernel(loop->layer, &placed->tile, loop->core, loop->cores);
    }
}

typedef uint32_t __attribute__((may_alias)) word;

/* All cores. Brings the layer to L1, each core some words of it. */
static const struct dory_layer *share_layer(const struct dory_layer *layer, void *l1)
{
    const word *from = (const word *)(const void *)layer;
    word *to = l1;
    for (unsigned i = hal_core_id(); i < sizeof *layer / sizeof *from; i += hal_core_count()) {
        to[i] = from[i];
    }
    hal_barrier();
    return l1;
}

static void loop_start(struct tile_loop *loop, struct dory_run *run, const struct dory_step *steps, unsigned step_count)
{
    loop->run = run;
    loop->l1 = run->buffers->l1;
    loop->l2 = run->buffers->l2;
    loop->driver = dory_is_driver();
    loop->profiled = loop->driver && run->buffers->profile;
    loop->core = hal_core_id();
    loop->cores = dory_minimum(hal_core_count(), run->network->cores);
    loop->layer = share_layer(steps->layer, loop->l1);
    loop->newest_step = 1;
    loop->next_step = steps;
    loop->end_step = steps + step_count;
    loop->load_ticket = -1;
    loop->store_open[0] = loop->store_open[1] = false;
    loop->dma_wait_cycles = loop->tiles = 0;
    struct dory_placed_tile *first = &loop->tile[0], *nothing = &loop->tile[1];
    dory_place_nothing(nothing);
    first->step = take_step(loop);
    first->starts_step = true;
    dory_cursor_first(&first->at, first->step);
    dory_place_tile(first, nothing, loop->layer, loop->l1);
}

/* The tile's data have come and its output buffer is free: then everybody may go. */
static inline void meet(struct tile_loop *loop, const struct dory_placed_tile *placed)
{
    if (loop->driver) {
        wait_dma(loop, loop->load_ticket);
        wait_store(loop, placed->output_buffer);
    }
    hal_barrier();
}

/* Where the next tile, or the end, has to wait for this one's results. */
static void drain(struct tile_loop *loop, const struct dory_placed_tile *placed)
{
    hal_barrier();
    if (loop->driver) {
        struct copies *copies = copies_of(loop);
        copies->has_loads = copies->has_store = false;
        describe_store(loop, placed, copies);
        start_copies(loop, copies);
        wait_stores(loop);
    }
}

/* Driver, at a new step: the results go first, since what the step needs of L3 may take long. */
static void turn_to_step(struct tile_loop *loop, const struct dory_placed_tile *placed, struct copies *copies)
{
    start_copies(loop, copies);
    copies->has_store = false;
    dory_await_transfers(loop->run, placed->step->transfers_awaited);
}

/* Places the tile behind `now` in `next`, which still is the one before `now`, and describes all copies that may go on
 * while `now` is computed: the results of the one, the data of the other. False where there is no further tile. */
DORY_HOT static bool turn(struct tile_loop *loop, const struct dory_placed_tile *now, struct dory_placed_tile *next,
                          bool store)
{
    struct copies *copies = copies_of(loop);
    if (!loop->driver) {
        return place_next(loop, next, now);
    }
    copies->has_store = copies->has_loads = false;
    if (store) {
        describe_store(loop, next, copies);
    }
    bool more = place_next(loop, next, now);
    if (now->starts_step) {
        dory_start_transfers(loop->run, now->step->transfers_started);
    }
    if (more && next->overlaps) {
        if (next->starts_step) {
            turn_to_step(loop, next, copies);
        }
        describe_loads(loop, next, copies);
    }
    return more;
}

DORY_HOT static void run_tiles(struct tile_loop *loop)
{
    struct dory_placed_tile *now = &loop->tile[0], *next = &loop->tile[1];
    bool stored = true; /* the tile before the current one: its store has been started */
    for (bool more = true; more;) {
        meet(loop, now);
        more = turn(loop, now, next, !stored);
        stored = !(more && next->overlaps);
        if (!stored) {
            lay_border(loop, next);
        }
        if (loop->driver) {
            start_copies(loop, copies_of(loop));
        }
        compute(loop, now);
        loop->tiles++;
        if (stored) {
            drain(loop, now);
            if (more && loop->driver) {
                fetch(loop, next);
            }
            if (more) {
                lay_border(loop, next);
            }
        }
        struct dory_placed_tile *swap = now;
        now = next;
        next = swap;
    }
}

void dory_run_layer(struct dory_run *run, const struct dory_step *steps, unsigned step_count)
{
    struct tile_loop loop;
    loop_start(&loop, run, steps, step_count);
    if (loop.driver) {
        fetch(&loop, &loop.tile[0]);
    }
    lay_border(&loop, &loop.tile[0]);
    run_tiles(&loop);
    if (loop.profiled) {
        run->profile->dma_wait_cycles += loop.dma_wait_cycles;
        run->profile->tiles += loop.tiles;
    }
    hal_barrier();
}
