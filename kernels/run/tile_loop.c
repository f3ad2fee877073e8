#include "tile_loop.h"

#include <string.h>

#include "placed_tile.h"

_Static_assert(sizeof(struct dory_layer) <= DORY_L1_RUNTIME_BYTES, "the layer at work fits at the start of the L1 arena");

/* What a core carries through a layer. It lives on the core's stack, in L1 on GAP8: a word of L2 costs ten times as much. */
struct tile_loop {
    struct dory_run *run;
    uint8_t *l2;
    bool driver;
    unsigned cores; /* that compute */
    const struct dory_layer *layer; /* the copy in L1 that all cores share */
    struct dory_step step[2]; /* of the current tile and of the next; equal most of the time */
    struct dory_placed_tile tile[2];
    struct dory_l1_state state;
    unsigned now;             /* index of the current tile and its step */
    const struct dory_step *next_step, *end_step;
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

static void copy_rectangle(struct tile_loop *loop, hal_dma_ticket ticket, const struct rectangle *r)
{
    uint32_t pixel = pixel_bytes(r->window->channels, r->bits);
    uint32_t run = pixel_bytes(r->channels, r->bits);
    uint8_t *external = loop->l2 + r->window->offset + ((r->row - r->window->first_row) * r->width + r->column) * pixel +
                        pixel_bytes(r->channel - r->window->first_channel, r->bits);
    struct hal_dma_copy copy = {.local = r->local, .external = external, .direction = r->direction};

    if (run == pixel) { /* whole pixels: a row is one run */
        copy.run_bytes = r->columns * pixel;
        copy.runs = r->rows;
        copy.external_run_stride = r->width * pixel;
        copy.local_run_stride = r->pitch * pixel;
        copy.planes = 1;
    } else {
        copy.run_bytes = run;
        copy.runs = r->columns;
        copy.external_run_stride = pixel;
        copy.local_run_stride = run;
        copy.planes = r->rows;
        copy.external_plane_stride = r->width * pixel;
        copy.local_plane_stride = r->pitch * run;
    }
    dory_run_fail(loop->run, hal_dma_copy(ticket, &copy));
}

static void load_input(struct tile_loop *loop, const struct dory_placed_tile *placed, const struct dory_step *step,
                       unsigned which)
{
    const struct dory_layer *layer = loop->layer;
    const struct dory_tile *tile = &placed->tile;
    const struct dory_valid *valid = &placed->valid;
    uint32_t bits = which ? layer->second_input_bits : layer->input_bits;
    bool concatenation = layer->operation == DORY_CONCATENATION;
    uint32_t channels = concatenation ? dory_input_channels(layer, which) : tile->input_channels;
    if (valid->top == valid->bottom || valid->left == valid->right) {
        return;
    }
    uint8_t *base = (uint8_t *)(uintptr_t)(which ? tile->second_input : tile->input);
    struct rectangle rectangle = {
        .window = &step->input[which],
        .width = layer->input_width,
        .bits = bits,
        .row = (uint32_t)(placed->input_row + valid->top),
        .column = (uint32_t)(placed->input_column + valid->left),
        .channel = dory_reads_all_channels(layer) ? placed->at.chunk : placed->at.channel,
        .rows = (uint32_t)valid->bottom - valid->top,
        .columns = (uint32_t)valid->right - valid->left,
        .channels = channels,
        .local = base + (uint32_t)(valid->top * tile->input_columns + valid->left) * pixel_bytes(channels, bits),
        .pitch = tile->input_columns,
        .direction = HAL_TO_LOCAL,
    };
    copy_rectangle(loop, loop->load_ticket, &rectangle);
}

static void load_weights(struct tile_loop *loop, const struct dory_placed_tile *placed, const struct dory_step *step)
{
    const struct dory_layer *layer = loop->layer;
    const struct dory_tile *tile = &placed->tile;
    uint32_t quads = dory_divide_up(tile->channels, 4);
    uint32_t first_quad = (uint32_t)(placed->at.channel - step->first_channel) / 4;
    uint8_t *external = loop->l2 + step->weights_offset + first_quad * layer->quad_bytes;
    struct hal_dma_copy copy = {
        .local = (void *)(uintptr_t)tile->weights,
        .external = external,
        .run_bytes = quads * layer->quad_bytes,
        .runs = 1,
        .planes = 1,
        .direction = HAL_TO_LOCAL,
    };
    if (!(tile->first_chunk && tile->last_chunk)) {
        uint32_t chunk_start = placed->at.chunk / layer->tile_input_channels * layer->chunk_bytes;
        copy.external = external + chunk_start;
        copy.run_bytes = tile->last_chunk ? layer->quad_bytes - chunk_start : layer->chunk_bytes;
        copy.runs = quads;
        copy.external_run_stride = layer->quad_bytes;
        copy.local_run_stride = copy.run_bytes;
    }
    dory_run_fail(loop->run, hal_dma_copy(loop->load_ticket, &copy));
}

static void start_loads(struct tile_loop *loop, const struct dory_placed_tile *placed, const struct dory_step *step)
{
    dory_run_fail(loop->run, hal_dma_open(&loop->load_ticket));
    if (placed->load_weights) {
        load_weights(loop, placed, step);
    }
    if (placed->load_input) {
        load_input(loop, placed, step, 0);
        if (dory_has_second_input(loop->layer)) {
            load_input(loop, placed, step, 1);
        }
    }
}

static void start_store(struct tile_loop *loop, const struct dory_placed_tile *placed, const struct dory_step *step)
{
    const struct dory_tile *tile = &placed->tile;
    if (!tile->last_chunk) {
        return;
    }
    struct rectangle rectangle = {
        .window = &step->output,
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
    hal_dma_ticket *ticket = &loop->store_ticket[placed->output_buffer];
    dory_run_fail(loop->run, hal_dma_open(ticket));
    loop->store_open[placed->output_buffer] = true;
    copy_rectangle(loop, *ticket, &rectangle);
}

static void wait_dma(struct tile_loop *loop, hal_dma_ticket ticket)
{
    uint32_t before = loop->run->profile ? hal_cycles() : 0;
    dory_run_fail(loop->run, hal_dma_wait(ticket));
    if (loop->run->profile) {
        loop->dma_wait_cycles += hal_cycles() - before;
    }
}

static void wait_store(struct tile_loop *loop, unsigned buffer)
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
    bool none = valid->top == 0 && valid->left == 0 && valid->bottom == tile->input_rows && valid->right == tile->input_columns;
    if (!placed->load_input || none) {
        return;
    }
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

/* Places the tile after the current one; false when the layer has none. */
static bool place_next(struct tile_loop *loop)
{
    unsigned next = loop->now ^ 1;
    struct dory_cursor cursor = loop->tile[loop->now].at;
    bool same_step = dory_cursor_next(&cursor, loop->layer, &loop->step[loop->now]);
    if (same_step) {
        loop->step[next] = loop->step[loop->now];
    } else {
        if (loop->next_step == loop->end_step) {
            return false;
        }
        loop->step[next] = *loop->next_step++;
        dory_cursor_first(&cursor, &loop->step[next]);
    }
    dory_place_tile(&loop->tile[next], &loop->state, loop->layer, &loop->step[next], &cursor);
    if (!same_step && loop->step[next].drain) {
        loop->tile[next].overlaps = false;
    }
    return true;
}

/* Driver. Everything that tile `index` needs is on its way after this. */
static void fetch(struct tile_loop *loop, unsigned index)
{
    dory_await_transfers(loop->run, loop->step[index].transfers_awaited);
    start_loads(loop, &loop->tile[index], &loop->step[index]);
}

/* Scratch is reserved for the cores of the plan: where there are more, the others only come to the barriers. */
static void compute(struct tile_loop *loop)
{
    if (hal_core_id() < loop->cores) {
        loop->layer->kernel(loop->layer, &loop->tile[loop->now].tile, hal_core_id(), loop->cores);
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
    struct dory_cursor cursor;
    loop->run = run;
    loop->l2 = run->buffers->l2;
    loop->driver = dory_is_driver();
    loop->cores = dory_minimum(hal_core_count(), run->network->cores);
    loop->layer = share_layer(steps->layer, run->buffers->l1);
    loop->step[0] = *steps;
    loop->now = 0;
    loop->next_step = steps + 1;
    loop->end_step = steps + step_count;
    loop->load_ticket = -1;
    loop->store_open[0] = loop->store_open[1] = false;
    loop->dma_wait_cycles = loop->tiles = 0;
    dory_l1_state_start(&loop->state, loop->layer, run->buffers->l1);
    dory_cursor_first(&cursor, &loop->step[0]);
    dory_place_tile(&loop->tile[0], &loop->state, loop->layer, &loop->step[0], &cursor);
}

/* The tile's data have come and its output buffer is free: then everybody may go. */
static void meet(struct tile_loop *loop)
{
    if (loop->driver) {
        wait_dma(loop, loop->load_ticket);
        wait_store(loop, loop->tile[loop->now].output_buffer);
    }
    hal_barrier();
}

void dory_run_layer(struct dory_run *run, const struct dory_step *steps, unsigned step_count)
{
    struct tile_loop loop;
    loop_start(&loop, run, steps, step_count);
    if (loop.driver) {
        fetch(&loop, 0);
    }
    fill_border(&loop, &loop.tile[0]);

    bool stored = true; /* the tile before the current one: its store has been started */
    for (bool more = true; more;) {
        meet(&loop);
        unsigned next = loop.now ^ 1;
        if (loop.driver && !stored) {
            start_store(&loop, &loop.tile[next], &loop.step[next]);
        }
        if (loop.driver) {
            dory_start_transfers(run, loop.step[loop.now].transfers_started);
        }
        more = place_next(&loop);
        bool overlaps = more && loop.tile[next].overlaps;
        if (overlaps) {
            if (loop.driver) {
                fetch(&loop, next);
            }
            fill_border(&loop, &loop.tile[next]);
        }
        compute(&loop);
        loop.tiles++;
        stored = false;
        if (!overlaps) { /* the next tile, or the end, waits for this one's results */
            hal_barrier();
            if (loop.driver) {
                start_store(&loop, &loop.tile[loop.now], &loop.step[loop.now]);
                wait_stores(&loop);
                if (more) {
                    fetch(&loop, next);
                }
            }
            if (more) {
                fill_border(&loop, &loop.tile[next]);
            }
            stored = true;
        }
        loop.now = next;
    }
    if (loop.driver && run->profile) {
        run->profile->dma_wait_cycles += loop.dma_wait_cycles;
        run->profile->tiles += loop.tiles;
    }
    hal_barrier();
}
