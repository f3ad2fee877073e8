#include "tile_loop.h"

/* What a core needs of a run; on its stack, which on GAP8 is in L1. */
struct team_member {
    struct dory_shared *shared;
    unsigned core, cores; /* that compute */
    bool is_core, is_timed;
};

/* ---- border ---- */

typedef uint32_t __attribute__((may_alias)) word;

/* Like memset, which a small C library does byte by byte. */
static void fill(uint8_t *start, uint32_t bytes, uint8_t value)
{
    uint8_t *end = start + bytes;
    word four = value * 0x01010101u;
    for (; start < end && (uintptr_t)start % sizeof four != 0; start++) {
        *start = value;
    }
    for (; end - start >= 4 * (ptrdiff_t)sizeof four; start += 4 * sizeof four) {
        word *words = (word *)(void *)start;
        words[0] = words[1] = words[2] = words[3] = four;
    }
    for (; end - start >= (ptrdiff_t)sizeof four; start += sizeof four) {
        *(word *)(void *)start = four;
    }
    for (; start < end; start++) {
        *start = value;
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

/* This core's part of some whole rows. */
static void fill_rows(uint8_t *start, uint32_t bytes, uint8_t value)
{
    uint32_t share = dory_round_up(dory_divide_up(bytes, hal_core_count()), sizeof(word));
    uint32_t first = hal_core_id() * share;
    if (first < bytes) {
        fill(start + first, dory_minimum(share, bytes - first), value);
    }
}

/* Zeros, where all are whole words: short runs, which fill() would take long for, and a call of memset, too, which the
 * compiler would make of the loop. */
static inline void fill_words(uint8_t *start, uint32_t bytes)
{
    for (word *next = (word *)(void *)start, *end = next + bytes / sizeof *next; next < end;) {
        *next++ = 0;
        __asm__ volatile("" : "+r"(next));
    }
}

/* In CHW, rows above and below each plane's. Those below a plane and above the next follow each other. */
static void fill_rows_of_planes(const struct dory_work *work)
{
    const struct dory_tile *tile = &work->tile;
    uint32_t plane_bytes = (uint32_t)tile->input_rows * tile->input_columns;
    uint32_t above = work->valid.top * tile->input_columns, there = work->valid.bottom * tile->input_columns;
    uint32_t share = dory_divide_up(tile->input_channels, hal_core_count()), first = hal_core_id() * share;
    uint32_t end = dory_minimum(first + share, tile->input_channels);
    uint8_t *plane = (uint8_t *)(uintptr_t)tile->input + first * plane_bytes;
    if (first >= end) {
        return;
    }
    if (tile->input_columns % sizeof(word) != 0) {
        for (; first < end; first++, plane += plane_bytes) {
            fill(plane, above, 0);
            fill(plane + there, plane_bytes - there, 0);
        }
        return;
    }
    fill_words(plane, above);
    for (; first + 1 < end; first++, plane += plane_bytes) {
        fill_words(plane + there, plane_bytes - there + above);
    }
    fill_words(plane + there, plane_bytes - there);
}

/* Lays the border round the part of the tile that the DMA has filled. */
static void fill_border(const struct dory_layer *layer, const struct dory_work *work)
{
    if (layer->input_layout == DORY_CHW) {
        fill_rows_of_planes(work);
        return;
    }
    const struct dory_tile *tile = &work->tile;
    const struct dory_valid *valid = &work->valid;
    uint8_t value = border_byte(layer);
    uint32_t pixel = dory_element_bytes(tile->input_channels, layer->input_bits);
    uint32_t row_bytes = tile->input_columns * pixel, left = valid->left * pixel, right = valid->right * pixel;
    uint8_t *base = (uint8_t *)(uintptr_t)tile->input;
    fill_rows(base, valid->top * row_bytes, value);
    fill_rows(base + valid->bottom * row_bytes, (tile->input_rows - valid->bottom) * row_bytes, value);
    for (uint32_t row = valid->top + hal_core_id(); row < valid->bottom; row += hal_core_count()) {
        uint8_t *start = base + row * row_bytes;
        fill(start, left, value);
        fill(start + right, row_bytes - right, value);
    }
}

/* ---- the loop ---- */

static struct team_member join_team(const struct dory_run *run)
{
    struct team_member member = {.shared = run->buffers->l1, .is_core = hal_is_core()};
    if (member.is_core) {
        member.core = hal_core_id();
        member.cores = dory_minimum(hal_core_count(), run->network->cores);
        member.is_timed = run->buffers->profile && member.core + 1 == hal_core_count();
    }
    return member;
}

/* Scratch in L1 is planned for network->cores; further cores have no place in it and sit out. */
static void compute(const struct team_member *member, const struct dory_work *work)
{
    const struct dory_layer *layer = &member->shared->layer;
    if (member->core < member->cores) {
        layer->kernel(layer, &work->tile, member->core, member->cores);
    }
}

/* Core. Both border and data of the tile are complete after it. */
static void complete_input(const struct team_member *member, const struct dory_work *work)
{
    if (work->has_border) {
        fill_border(&member->shared->layer, work);
        hal_barrier();
    }
}

/* Meets the others, and brings the work that the driver has prepared. */
static const struct dory_work *meet(const struct team_member *member, struct dory_driver *driver, unsigned turn)
{
    struct dory_work *work = &member->shared->work[turn & 1];
    uint32_t before = member->is_timed ? hal_cycles() : 0;
    if (driver) {
        dory_driver_prepare(driver, work);
    }
    hal_meet();
    if (member->is_timed) {
        member->shared->waited_cycles += hal_cycles() - before;
    }
    return work;
}

static void run_team(const struct team_member *member, struct dory_driver *driver)
{
    for (unsigned turn = 0;; turn++) {
        const struct dory_work *work = meet(member, driver, turn);
        bool computes = member->is_core && work->kind == DORY_WORK_TILE;
        if (work->kind == DORY_WORK_END) {
            return;
        }
        if (computes) {
            complete_input(member, work);
        }
        if (driver) {
            dory_driver_start(driver);
        }
        if (computes) {
            compute(member, work);
        }
    }
}

void dory_run_tiles(struct dory_driver *driver)
{
    struct team_member member = join_team(&driver->run);
    if (hal_is_driver()) {
        dory_driver_open(driver);
        run_team(&member, driver);
    } else {
        run_team(&member, 0);
    }
}
