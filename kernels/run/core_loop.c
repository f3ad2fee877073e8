/* Most of it is apart from the loop, which has to fit the cores' instruction cache beside a kernel: profile, copies, the
 * core that drives. */
#include <stdbool.h>

#define DORY_HAL_ON_CORES
#include "core_loop.h"
#include "input.h"
#include "two_parts.h"

struct counts {
    uint32_t dma_cycles, l3_cycles; /* waited */
    uint32_t tiles;
};

/* What a core needs of a run; on its stack, which on GAP8 is in L1. The first core makes the copies that all wait for, and
 * keeps the profile. */
struct team_member {
    struct dory_shared *shared;
    unsigned core, cores; /* that compute */
    bool is_first, is_profiled, is_observed;
    bool starts_apart; /* what the next layer's first meeting waits for is no part of it: the run starts, or is observed */
    struct dory_layer_profile *profiles, *profile; /* by layer; of the layer at work; null: none is kept */
    uint32_t layer_start;
    struct counts layer, meeting; /* in this layer; at the last meeting */
};

static inline const struct dory_layer *layer_of(const struct team_member *member, const struct dory_work *work)
{
    return &member->shared->layer[work->layer_turn];
}

/* ---- profile ---- */

static uint32_t clock_of(const struct team_member *member) { return member->profile ? hal_cycles() : 0; }

/* At a meeting the driver says how long it has waited for L3: the cores waited for that if they waited. Not inlined, as most
 * runs keep no profile; small, as it is to push little of a kernel out of the cores' cache. */
static __attribute__((noinline)) void add_meeting(struct team_member *member, const struct dory_work *work, uint32_t cycles)
{
    member->meeting.l3_cycles = dory_minimum(cycles, work->l3_wait_cycles);
    member->meeting.dma_cycles = cycles - member->meeting.l3_cycles;
    member->layer.l3_cycles += member->meeting.l3_cycles;
    member->layer.dma_cycles += member->meeting.dma_cycles;
    member->meeting.tiles = work->kind >= DORY_WORK_TILE;
    member->layer.tiles += member->meeting.tiles;
}

/* The store of a layer's last results, of this turn, is complete. The meeting before it was for the layer that starts, if
 * one does. */
static void turn_layer(struct team_member *member, const struct dory_work *work)
{
    struct counts carried = {0};
    if (work->starts_layer) {
        carried = member->meeting;
        carried.dma_cycles = member->starts_apart ? 0 : carried.dma_cycles;
    }
    uint32_t start = hal_cycles() - carried.dma_cycles - carried.l3_cycles;
    if (work->ends_layer) {
        member->profile->cycles += start - member->layer_start;
        member->profile->dma_wait_cycles += member->layer.dma_cycles - carried.dma_cycles;
        member->profile->l3_wait_cycles += member->layer.l3_cycles - carried.l3_cycles;
        member->profile->tiles += member->layer.tiles - carried.tiles;
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

/* All read it for every tile, so that all of it lies in L1. The first core, if there are others, has copies to make. */
static void share_layer(const struct team_member *team, const struct dory_work *work)
{
    unsigned apart = team->cores > 1, turn = work->layer_turn;
    if (team->core >= team->cores || (team->is_first && apart)) {
        return;
    }
    dory_copy_layer(&team->shared->layer[turn], &team->shared->stages[turn], work->described, team->core - apart,
                    team->cores - apart);
}

/* Core, where copies are its own to make. Apart from what most tiles need: see complete_input. */
static __attribute__((noinline)) void complete_copies(struct team_member *member, const struct dory_work *work)
{
    if (work->starts_layer) {
        share_layer(member, work);
    }
    if (member->is_first) {
        store_and_load(member, work);
    }
    hal_barrier();
}

/* Core. Border, table and data of the tile are complete after it. Not inlined: what most tiles do not need is not to lie
 * between the lines of the loop. */
static __attribute__((noinline)) void complete_input(struct team_member *member, const struct dory_work *work)
{
    if (work->has_copies) {
        complete_copies(member, work);
    }
    if (work->has_table) {
        dory_copy_table(layer_of(member, work), &work->tile, hal_core_id(), hal_core_count());
        hal_barrier();
    }
    if (work->has_border) {
        dory_fill_border(layer_of(member, work), &work->tile, &work->valid, hal_core_id(), hal_core_count());
        hal_barrier();
    }
}

/* ---- the loop ---- */

static struct team_member join_team(const struct dory_run *run)
{
    struct team_member member = {.shared = run->buffers->l1, .core = hal_core_id(), .starts_apart = true};
    member.cores = dory_minimum(hal_core_count(), run->network->cores);
    member.is_first = member.core == 0;
    member.is_profiled = run->buffers->profile;
    member.is_observed = run->buffers->observe;
    member.profiles = member.profile = member.is_first ? run->buffers->profile : 0;
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

/* Where a profile is kept, to wait for another core's share of a tile is a part of computing it. */
static inline uint32_t start_to_wait(const struct team_member *member)
{
    if (!member->is_profiled) {
        return 0;
    }
    hal_barrier();
    return clock_of(member);
}

/* Meets the others, and brings the work that the driver has prepared. The first core counts what it waits. */
static inline const struct dory_work *meet(struct team_member *member, struct dory_driver *driver, unsigned turn)
{
    struct dory_work *work = &member->shared->work[turn & 1];
    uint32_t before = start_to_wait(member);
    if (driver) {
        dory_driver_prepare(driver, work);
    }
    hal_meet();
    if (member->profile) {
        add_meeting(member, work, hal_cycles() - before);
    }
    return work;
}

/* Inlined with what its caller knows of the driver: a core's loop has nothing of it. */
static inline __attribute__((always_inline)) void run_team(struct team_member *member, struct dory_driver *driver)
{
    for (unsigned turn = 0;; turn++) {
        const struct dory_work *work = meet(member, driver, turn);
        if (work->kind == DORY_WORK_END) {
            return;
        }
        if (work->has_copies | work->has_border | work->has_table) {
            complete_input(member, work);
        }
        if (driver) {
            dory_driver_start(driver, work);
        }
        if (work->kind == DORY_WORK_TILE) {
            compute(member, work);
        } else if (work->kind == DORY_WORK_TILE_IN_TWO_PARTS) {
            dory_compute_in_two_parts(layer_of(member, work), &work->tile, member->core, member->cores);
        }
    }
}

void dory_run_core(const struct dory_run *run)
{
    struct team_member member = join_team(run);
    run_team(&member, 0);
}

void dory_run_driving_core(struct dory_driver *driver)
{
    struct team_member member = join_team(&driver->run);
    run_team(&member, driver);
}
