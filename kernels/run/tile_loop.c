#include "tile_loop.h"

#include <stddef.h>

struct waits {
    uint32_t dma_cycles, l3_cycles;
};

/* What a core needs of a run; on its stack, which on GAP8 is in L1. The first core makes the copies that all wait for, and
 * keeps the profile. */
struct team_member {
    struct dory_shared *shared;
    unsigned core, cores; /* that compute */
    bool is_core, is_first, is_profiled, is_observed;
    bool starts_apart; /* what the next layer's first meeting waits for is no part of it: the run starts, or is observed */
    struct dory_layer_profile *profiles, *profile; /* by layer; of the layer at work; null: none is kept */
    uint32_t layer_start;
    struct waits layer, meeting; /* in this layer; at the last meeting */
};

static inline const struct dory_layer *layer_of(const struct team_member *member, const struct dory_work *work)
{
    return &member->shared->layer[work->layer_turn];
}

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

/* A byte full of elements of the border: the value that a maximum never picks, or the layer's. */
static uint8_t border_byte(const struct dory_layer *layer)
{
    uint32_t bits = dory_minimum(layer->input_bits, 8), element = (uint32_t)layer->border_value;
    if (layer->operation == DORY_MAXIMUM_POOL) {
        element = layer->input_is_signed ? 1u << (bits - 1) : 0;
    }
    element &= (1u << bits) - 1;
    return (uint8_t)(element * (bits == 8 ? 1u : bits == 4 ? 0x11u : 0x55u));
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

#define SHORT_BYTES 24

/* Of rows of a plane, in short runs, which fill() would take long for; and so would memset, which the compiler would make of
 * the loops. */
static __attribute__((noinline)) void fill_run(uint8_t *start, uint32_t bytes, uint8_t value, bool is_words)
{
    uint8_t *end = start + bytes;
    if (!is_words && bytes >= SHORT_BYTES) {
        fill(start, bytes, value);
        return;
    }
    for (word four = value * 0x01010101u; is_words && start < end; start += sizeof four) {
        *(word *)(void *)start = four;
        __asm__ volatile("" : "+r"(start));
    }
    for (; end - start >= 4; start += 4) {
        start[0] = start[1] = start[2] = start[3] = value;
        __asm__ volatile("" : "+r"(start));
    }
    for (; start < end; start++) {
        *start = value;
        __asm__ volatile("" : "+r"(start));
    }
}

/* In CHW, rows above and below each plane's. Those below a plane and above the next follow each other. */
static void fill_rows_of_planes(const struct dory_work *work, uint8_t value)
{
    const struct dory_tile *tile = &work->tile;
    uint32_t plane_bytes = (uint32_t)tile->input_rows * tile->input_columns;
    uint32_t above = work->valid.top * tile->input_columns, there = work->valid.bottom * tile->input_columns;
    uint32_t share = dory_divide_up(tile->input_channels, hal_core_count()), first = hal_core_id() * share;
    uint32_t end = dory_minimum(first + share, tile->input_channels);
    uint8_t *plane = (uint8_t *)(uintptr_t)tile->input + first * plane_bytes;
    bool is_words = tile->input_columns % sizeof(word) == 0;
    if (first >= end) {
        return;
    }
    fill_run(plane, above, value, is_words);
    for (; first + 1 < end; first++, plane += plane_bytes) {
        fill_run(plane + there, plane_bytes - there + above, value, is_words);
    }
    fill_run(plane + there, plane_bytes - there, value, is_words);
}

/* Lays the border round the part of the tile that the DMA has filled. */
static void fill_border(const struct dory_layer *layer, const struct dory_work *work)
{
    uint8_t value = border_byte(layer);
    if (layer->input_layout == DORY_CHW) {
        fill_rows_of_planes(work, value);
        return;
    }
    const struct dory_tile *tile = &work->tile;
    const struct dory_valid *valid = &work->valid;
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

/* ---- tables ---- */

/* This core's part of the table. It is among the program's constants, which no DMA need reach. */
static void copy_table(const struct dory_layer *layer, word *to)
{
    const word *from = (const word *)(const void *)layer->table; /* or its terms */
    uint32_t words = dory_table_bytes(layer) / sizeof(word);
    for (uint32_t i = hal_core_id(); i < words; i += hal_core_count()) {
        to[i] = from[i];
    }
}

/* ---- profile ---- */

static uint32_t clock_of(const struct team_member *member) { return member->profile ? hal_cycles() : 0; }

/* At a meeting the driver says how long it has waited for L3: the cores waited for that if they waited. */
static void add_meeting(struct team_member *member, const struct dory_work *work, uint32_t cycles)
{
    member->meeting.l3_cycles = dory_minimum(cycles, work->l3_wait_cycles);
    member->meeting.dma_cycles = cycles - member->meeting.l3_cycles;
    member->layer.l3_cycles += member->meeting.l3_cycles;
    member->layer.dma_cycles += member->meeting.dma_cycles;
}

/* The store of a layer's last results, of this turn, is complete. The meeting before it was for the layer that starts, if
 * one does. */
static void turn_layer(struct team_member *member, const struct dory_work *work)
{
    struct waits carried = {0};
    if (work->starts_layer) {
        carried = member->meeting;
        carried.dma_cycles = member->starts_apart ? 0 : carried.dma_cycles;
    }
    uint32_t start = hal_cycles() - carried.dma_cycles - carried.l3_cycles;
    if (work->ends_layer) {
        member->profile->cycles += start - member->layer_start;
        member->profile->dma_wait_cycles += member->layer.dma_cycles - carried.dma_cycles;
        member->profile->l3_wait_cycles += member->layer.l3_cycles - carried.l3_cycles;
    }
    if (work->starts_layer) {
        member->profile = member->profiles + work->layer_number;
    }
    member->layer_start = start;
    member->layer = carried;
    member->starts_apart = member->is_observed;
}

/* ---- copies ---- */

static int make_copies(const struct hal_dma_copy *copies, unsigned count)
{
    hal_dma_ticket ticket;
    if (count == 0) {
        return DORY_OK;
    }
    int status = hal_dma_open(&ticket);
    if (status != DORY_OK) {
        return status;
    }
    for (unsigned i = 0; i < count && status == DORY_OK; i++) {
        status = hal_dma_copy(ticket, &copies[i]);
    }
    int waited = hal_dma_wait(ticket);
    return status != DORY_OK ? status : waited;
}

/* First core. */
static void store_and_load(struct team_member *member, const struct dory_work *work)
{
    struct dory_shared *shared = member->shared;
    uint32_t before = clock_of(member);
    int stored = make_copies(&shared->copies.store, shared->copies.store_count);
    member->layer.dma_cycles += clock_of(member) - before;
    if (member->profile && (work->ends_layer || work->starts_layer)) {
        turn_layer(member, work);
    }
    before = clock_of(member);
    int loaded = make_copies(shared->copies.loads, shared->copies.load_count);
    member->layer.dma_cycles += clock_of(member) - before;
    shared->status = stored != DORY_OK ? stored : loaded;
    hal_notify();
}

typedef uintptr_t __attribute__((may_alias)) member;

/* Of those who share a struct: the first core, if there are others, has copies to make. */
static uint32_t sharers(const struct team_member *team) { return team->cores > 1 ? team->cores - 1 : 1; }
static uint32_t own_share(const struct team_member *team) { return team->cores > 1 ? team->core - 1 : 0; }

/* This core's part of a struct whose members are as large as a pointer, or smaller. */
static void copy_struct(const struct team_member *team, void *to, const void *from, uint32_t bytes)
{
    const member *source = from;
    member *target = to;
    for (uint32_t i = own_share(team); i < bytes / sizeof *source; i += sharers(team)) {
        target[i] = source[i];
    }
}

/* All read it for every tile, so that all of it lies in L1. */
static void share_layer(const struct team_member *team, const struct dory_work *work)
{
    struct dory_shared *shared = team->shared;
    const struct dory_layer *layer = work->described;
    unsigned turn = work->layer_turn;
    if (team->core >= team->cores || (team->is_first && team->cores > 1)) {
        return;
    }
    copy_struct(team, &shared->layer[turn], layer, sizeof *layer);
    if (layer->stages) {
        uint32_t pointer = offsetof(struct dory_layer, stages) / sizeof(member);
        copy_struct(team, &shared->stages[turn], layer->stages, sizeof *layer->stages);
        if (pointer % sharers(team) == own_share(team)) { /* this core has copied it */
            shared->layer[turn].stages = &shared->stages[turn];
        }
    }
}

/* Core. Border, table and data of the tile are complete after it. Not inlined: what most tiles do not need is not to lie
 * between the lines of the loop. */
static __attribute__((noinline)) void complete_input(struct team_member *member, const struct dory_work *work)
{
    if (work->has_copies) {
        if (work->starts_layer) {
            share_layer(member, work);
        }
        if (member->is_first) {
            store_and_load(member, work);
        }
        hal_barrier();
    }
    if (work->has_table) {
        copy_table(layer_of(member, work), (word *)(uintptr_t)work->tile.weights);
        hal_barrier();
    }
    if (work->has_border) {
        fill_border(layer_of(member, work), work);
        hal_barrier();
    }
}

/* ---- the loop ---- */

static struct team_member join_team(const struct dory_run *run)
{
    struct team_member member = {.shared = run->buffers->l1, .is_core = hal_is_core()};
    if (member.is_core) {
        member.core = hal_core_id();
        member.cores = dory_minimum(hal_core_count(), run->network->cores);
        member.is_first = member.core == 0;
        member.is_profiled = run->buffers->profile;
        member.is_observed = run->buffers->observe;
        member.starts_apart = true;
        member.profiles = member.profile = member.is_first ? run->buffers->profile : 0;
    }
    return member;
}

/* Scratch in L1 is planned for network->cores; further cores have no place in it and sit out. */
static inline void compute(const struct team_member *member, const struct dory_work *work)
{
    const struct dory_layer *layer = layer_of(member, work);
    if (member->core < member->cores) {
        layer->kernel(layer, &work->tile, member->core, member->cores);
    }
}

/* Meets the others, and brings the work that the driver has prepared. */
static inline const struct dory_work *meet(struct team_member *member, struct dory_driver *driver, unsigned turn)
{
    struct dory_work *work = &member->shared->work[turn & 1];
    if (member->is_profiled) { /* to wait for another core's share of a tile is a part of computing it */
        hal_barrier();
    }
    uint32_t before = clock_of(member);
    if (driver) {
        dory_driver_prepare(driver, work);
    }
    hal_meet();
    if (member->profile) {
        add_meeting(member, work, hal_cycles() - before);
    }
    return work;
}

/* Inlined with what its caller knows: a core's loop has nothing of the driver's. */
static inline __attribute__((always_inline)) void run_team(struct team_member *member, struct dory_driver *driver,
                                                           bool is_core)
{
    for (unsigned turn = 0;; turn++) {
        const struct dory_work *work = meet(member, driver, turn);
        if (work->kind == DORY_WORK_END) {
            return;
        }
        if (is_core && (work->has_copies | work->has_border | work->has_table)) {
            complete_input(member, work);
        }
        if (driver) {
            dory_driver_start(driver, work);
        }
        if (is_core && work->kind == DORY_WORK_TILE) {
            compute(member, work);
        }
    }
}

void dory_run_tiles(struct dory_driver *driver)
{
    struct team_member member = join_team(&driver->run);
    if (!hal_is_driver()) {
        run_team(&member, 0, true);
        return;
    }
    dory_driver_open(driver);
    if (member.is_core) {
        run_team(&member, driver, true);
    } else {
        run_team(&member, driver, false);
    }
}
