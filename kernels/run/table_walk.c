/* Cores that go from tile to tile of a table by themselves. Between two tiles they wait for one another twice: when all have
 * computed the one, and when the other's data lie in L1. Meanwhile the first core stores results and loads data, and the
 * others bring from the table the record of the tile behind, and the layer's, if another one starts. Where a tile has a
 * border they lay it beside the loads, and wait for the first core before: results may lie there that have to leave.
 *
 *     first core   | store n - 1, (wait) load n               | load n + 1, if it can be; compute n | store n ...
 *     others       | bring record n + 1, (wait, lay border n) | compute n                           | bring ...
 *
 * They meet the driver only where a step needs transfers of L3, or lets some start. */
#include <stddef.h>

#define DORY_HAL_ON_CORES
#include "dory/hal.h"
#include "input.h"
#include "tile_loop.h"
#include "two_parts.h"
#include "walker.h"

/* ---- records ---- */

#define POINTERS 6 /* of a tile, which it starts with; offsets in the table, and null stays null */
_Static_assert(offsetof(struct dory_prepared_tile, tile) == 0 &&
                   offsetof(struct dory_tile, rows) == POINTERS * sizeof(dory_member),
               "a tile starts with its pointers");

static dory_member address_of(const struct walker *walker, dory_member offset)
{
    const uint8_t *base = offset < DORY_PREPARED_WEIGHTS ? walker->l1 : walker->weights - DORY_PREPARED_WEIGHTS;
    return offset ? (dory_member)base + offset : 0;
}

/* Part `share` of `shares` of the next record. */
static void bring_record(struct walker *walker, struct dory_prepared_tile *to, unsigned share, unsigned shares)
{
    const dory_member *record = (const dory_member *)(const void *)walker->records;
    dory_member *target = (dory_member *)(void *)to;
    for (uint32_t i = share; i < sizeof *to / sizeof *target; i += shares) {
        dory_member value = record[i];
        target[i] = i < POINTERS ? address_of(walker, value) : value;
    }
    walker->records++;
}

/* This core's part of what all need: the record behind the tile's, if there is one, and the tile's layer. */
static inline void bring(struct walker *walker, bool more)
{
    if (walker->share >= walker->shares) {
        return;
    }
    if (walker->tile->starts_layer && !dory_is_added(walker, walker->tile)) {
        dory_copy_layer(&walker->shared->layer, &walker->shared->stages, walker->step->layer, walker->share, walker->shares);
    }
    if (more) {
        bring_record(walker, walker->next, walker->share, walker->shares);
    }
}

/* And of the tile's border and of its table. */
static __attribute__((noinline)) void lay_border(const struct walker *walker)
{
    const struct dory_prepared_tile *tile = walker->tile;
    if (walker->share < walker->shares) {
        dory_fill_border(&walker->shared->layer, &tile->tile, &tile->valid, walker->share, walker->shares);
    }
}

static __attribute__((noinline)) void lay_table(const struct walker *walker)
{
    if (walker->share < walker->shares) {
        dory_copy_table(&walker->shared->layer, &walker->tile->tile, walker->share, walker->shares);
    }
}

/* ---- copies, all by the first core ---- */

static inline void note(struct walker *walker, int status)
{
    if (status != DORY_OK && walker->status == DORY_OK) {
        walker->status = status;
    }
}

static __attribute__((noinline)) int start_large_copy(hal_dma_ticket ticket, const struct dory_prepared_copy *prepared,
                                                      struct hal_dma_copy *copy)
{
    copy->planes = prepared->planes;
    copy->external_plane_stride = prepared->external_plane_stride;
    copy->local_run_stride = prepared->local_run_stride;
    copy->local_plane_stride = prepared->local_plane_stride;
    return hal_dma_copy(ticket, copy);
}

/* Most are flat; for these the compiler knows what need not be asked. One function for loads and stores, which is in the
 * cache for the second of them. */
static __attribute__((noinline)) void start_copy(struct walker *walker, hal_dma_ticket ticket,
                                                 const struct dory_prepared_copy *prepared, const uint8_t *external,
                                                 enum hal_direction direction)
{
    struct hal_dma_copy copy = {.local = walker->l1 + dory_prepared_local(prepared),
                                .external = (void *)((uintptr_t)external + prepared->external),
                                .run_bytes = prepared->run_bytes,
                                .runs = prepared->runs,
                                .planes = 1,
                                .external_run_stride = prepared->external_run_stride,
                                .local_run_stride = prepared->run_bytes,
                                .direction = direction};
    if (prepared->is_flat) {
        note(walker, hal_dma_copy(ticket, &copy));
    } else {
        note(walker, start_large_copy(ticket, prepared, &copy));
    }
}

static __attribute__((noinline)) hal_dma_ticket start_loads(struct walker *walker, const struct dory_prepared_tile *tile,
                                                            unsigned first, unsigned end)
{
    hal_dma_ticket ticket;
    note(walker, hal_dma_open(&ticket));
    for (unsigned i = first; i < end; i++) {
        const uint8_t *external = i < tile->load_weights ? walker->weights : walker->l2;
        start_copy(walker, ticket, &tile->loads[i], external, HAL_TO_LOCAL);
    }
    return ticket;
}

/* Those that need not wait for the tile before. */
static inline void begin_loads(struct walker *walker, const struct dory_prepared_tile *tile)
{
    if (DORY_HAS_ENGINE) {
        walker->has_loaded = false;
    }
    walker->loads_begun = tile->loads_beside;
    walker->load_ticket = start_loads(walker, tile, 0, tile->loads_beside);
}

static inline void start_store(struct walker *walker)
{
    const struct dory_prepared_tile *before = walker->before;
    hal_dma_ticket *ticket = &walker->store_ticket[before->output_buffer];
    note(walker, hal_dma_open(ticket));
    start_copy(walker, *ticket, &before->store, walker->l2, HAL_FROM_LOCAL);
    walker->store_open[before->output_buffer] = true;
}

static inline void await_store(struct walker *walker, unsigned buffer)
{
    if (walker->store_open[buffer]) {
        note(walker, hal_dma_wait(walker->store_ticket[buffer]));
        walker->store_open[buffer] = false;
    }
}

static inline void await_begun_loads(struct walker *walker)
{
    if (walker->loads_begun && !(DORY_HAS_ENGINE && walker->has_loaded)) {
        note(walker, hal_dma_wait(walker->load_ticket));
    }
}

static void await_stores(struct walker *walker)
{
    await_store(walker, 0);
    await_store(walker, 1);
}

/* ---- profile, by the first core: in L1 at first, as it shall not take the layers' time to go to L2 ---- */

static inline uint32_t clock_of(const struct walker *walker) { return walker->profiles ? hal_cycles() : 0; }

/* The layer at work, if any, has ended: its results are in L2. */
static void end_layer(struct walker *walker, uint32_t now)
{
    if (walker->sum) {
        walker->ended = walker->profile;
        walker->ended.dma_wait_cycles += now - walker->waits_since;
        walker->ended.cycles += now - walker->layer_start;
        walker->ended_sum = walker->sum;
    }
}

static void start_layer(struct walker *walker, uint32_t now)
{
    end_layer(walker, now);
    walker->sum = walker->profiles + walker->step->layer_number;
    walker->profile = (struct dory_layer_profile){0};
    walker->layer_start = walker->waits_since = now;
}

/* The tile's data are there. */
static inline void end_waits(struct walker *walker)
{
    walker->profile.l3_wait_cycles += walker->l3_wait_cycles;
    walker->profile.dma_wait_cycles += hal_cycles() - walker->waits_since - walker->l3_wait_cycles;
    walker->profile.tiles++;
    walker->l3_wait_cycles = 0;
}

static __attribute__((noinline)) void write_ended(struct walker *walker)
{
    struct dory_layer_profile *sum = walker->ended_sum;
    sum->cycles += walker->ended.cycles;
    sum->dma_wait_cycles += walker->ended.dma_wait_cycles;
    sum->l3_wait_cycles += walker->ended.l3_wait_cycles;
    sum->tiles += walker->ended.tiles;
    walker->ended_sum = 0;
}

static inline void add_ended(struct walker *walker)
{
    if (walker->ended_sum) {
        write_ended(walker);
    }
}

/* ---- what has not come beside the tile before, comes now ---- */

/* All that a tile needs is on its way: the time to write what is kept of the layer before. */
static inline void await_loads(struct walker *walker)
{
    add_ended(walker);
    await_begun_loads(walker);
}

static inline void load(struct walker *walker)
{
    const struct dory_prepared_tile *tile = walker->tile;
    if (walker->loads_begun < tile->load_count) {
        hal_dma_ticket ticket = start_loads(walker, tile, walker->loads_begun, tile->load_count);
        await_loads(walker);
        note(walker, hal_dma_wait(ticket));
    } else {
        await_loads(walker);
    }
    walker->loads_begun = 0;
}

/* ---- meetings ---- */

/* False: the run ends here. Adds up what the cores waited for because the driver waited for L3. */
static bool meet(struct walker *walker)
{
    struct dory_meeting *meeting = &walker->shared->meeting[walker->meetings++ & 1];
    uint32_t before = clock_of(walker);
    if (walker->is_first) {
        meeting->core_status = walker->status;
    }
    if (walker->lead) {
        dory_lead_prepare(walker->lead);
    }
    hal_meet();
    walker->l3_wait_cycles += dory_minimum(meeting->l3_wait_cycles, clock_of(walker) - before);
    walker->has_ended = meeting->core_status != DORY_OK || meeting->driver_status != DORY_OK;
    if (walker->lead) {
        dory_lead_go_on(walker->lead);
    }
    return !walker->has_ended;
}

/* Before the tile is loaded. What the cores wait for at the first meeting is the start of the run, but for L3; and behind a
 * layer that is looked at, the observer's time. */
static __attribute__((noinline)) bool meet_driver(struct walker *walker)
{
    const struct dory_prepared_tile *tile = walker->tile;
    bool is_first = walker->step == walker->first_step, ends_layer = tile->starts_layer && !is_first;
    unsigned meets = walker->is_observed && ends_layer ? DORY_MEETS_TWICE : tile->meets; /* a result is looked at */
    bool goes_on = meets == DORY_MEETS_NOBODY || (meet(walker) && (meets == DORY_MEETS || meet(walker)));
    if (walker->profiles && (is_first || (walker->is_observed && ends_layer))) {
        walker->layer_start = walker->waits_since = hal_cycles() - walker->l3_wait_cycles;
    }
    return goes_on;
}

/* ---- from tile to tile ---- */

/* The tile has the results of the one before in L1, and nobody waits for them in L2: the engine's constants, and whatever
 * else the tile waits for, are not to come behind them. */
static inline bool stores_late(const struct walker *walker)
{
    const struct dory_prepared_tile *tile = walker->tile;
    return tile->starts_layer & !tile->awaits_stores & !walker->is_observed;
}

/* First core, all have computed the tile before: its results leave, and those that were in this one's place have left. Where
 * what is loaded may be among the results, all have; and where an observer looks at them. */
static inline void store(struct walker *walker)
{
    const struct dory_prepared_tile *tile = walker->tile;
    walker->waits_since = clock_of(walker);
    if (walker->stores & !stores_late(walker)) {
        start_store(walker);
    }
    if (tile->overlaps == DORY_OVERLAPS_STORE && tile->loads_beside) { /* early weights, where no results leave from */
        begin_loads(walker, tile);
    }
    await_store(walker, tile->output_buffer);
    if (tile->awaits_stores | (tile->starts_layer & walker->is_observed)) {
        await_store(walker, tile->output_buffer ^ 1);
    }
    walker->stores = tile->stores == DORY_STORES || (tile->stores != DORY_STORES_NOTHING && walker->is_observed);
}

/* What comes behind that, be it a meeting, is the next layer's time: even to look into L2, which is behind the copies that
 * are on their way. */
static __attribute__((noinline)) void turn_layer(struct walker *walker)
{
    if (walker->profiles) {
        start_layer(walker, hal_cycles());
    }
    if (dory_run_is_cancelled(walker->run)) {
        note(walker, DORY_ERROR_CANCELLED);
    }
}

/* All have computed the tile before. True: the data of this one lie in L1; false: the run ends. */
static inline bool come_to_tile(struct walker *walker, bool more)
{
    struct dory_table_shared *shared = walker->shared;
    const struct dory_prepared_tile *tile = walker->tile;
    if (walker->is_first) {
        store(walker);
        if (tile->starts_layer) {
            turn_layer(walker);
        }
    }
    bring(walker, more);
    if ((tile->meets | (tile->starts_layer & walker->is_observed)) && !meet_driver(walker)) {
        return false;
    }
    if (tile->border == DORY_BORDER_BESIDE) {
        hal_barrier();
        lay_border(walker);
    } else if (tile->has_table) {
        hal_barrier();
        lay_table(walker);
    }
    if (walker->is_first) {
        load(walker);
        if (walker->profiles) {
            end_waits(walker);
        }
        shared->status = walker->status;
    }
    hal_barrier();
    return shared->status == DORY_OK;
}

/* First core, all that the tile waits for is there: what others wait for. `to_load`: the tile behind it; null: nothing can
 * be loaded yet. */
static inline void begin_copies(struct walker *walker, const struct dory_prepared_tile *to_load)
{
    if (stores_late(walker) && walker->before->stores == DORY_STORES) {
        start_store(walker);
    }
    if (to_load) {
        begin_loads(walker, to_load);
    }
}

/* What is copied beside it is not as urgent as the constants, and starts while the engine works. */
static __attribute__((noinline, cold)) void compute_by_engine(struct walker *walker,
                                                              const struct dory_prepared_tile *to_load)
{
    const struct dory_layer *layer = &walker->shared->layer;
    bool computes = walker->core < walker->cores;
    if (computes) {
        layer->kernel(layer, &walker->tile->tile, walker->core, walker->cores);
    }
    if (walker->is_first) {
        begin_copies(walker, to_load);
        if (to_load && dory_is_added(walker, to_load)) {
            dory_take_addition(&walker->tile->tile, &to_load->tile);
            await_begun_loads(walker);
            walker->has_loaded = true;
        }
    }
    hal_barrier();
    if (computes) {
        layer->finish(layer, &walker->tile->tile, walker->core, walker->cores);
    }
}

static inline void compute(struct walker *walker, bool more)
{
    const struct dory_layer *layer = &walker->shared->layer;
    const struct dory_prepared_tile *tile = walker->tile, *next = walker->next;
    if (tile->border == DORY_BORDER_BEHIND) {
        lay_border(walker);
        hal_barrier();
    }
    const struct dory_prepared_tile *to_load = more && next->overlaps != DORY_OVERLAPS_STORE ? next : 0;
    bool was_made = dory_is_added(walker, tile), adds = to_load && dory_is_added(walker, to_load);
    if (!was_made && (dory_is_for_engine(layer) || adds)) {
        compute_by_engine(walker, to_load);
        return;
    }
    if (walker->is_first) {
        begin_copies(walker, to_load);
    }
    if (was_made) {
        return;
    }
    if (dory_second_part(layer)) {
        dory_compute_in_two_parts(layer, &tile->tile, walker->core, walker->cores);
    } else if (walker->core < walker->cores) { /* scratch in L1 is planned for these */
        layer->kernel(layer, &tile->tile, walker->core, walker->cores);
    }
}

static inline void step_on(struct walker *walker)
{
    struct dory_prepared_tile *free = walker->before;
    walker->step += walker->tile->ends_step;
    walker->before = walker->tile;
    walker->tile = walker->next;
    walker->next = free;
}

/* All have computed the last tile, or the run has been cut short. Nothing of it is under way afterwards. */
static void end(struct walker *walker)
{
    hal_barrier();
    if (walker->is_first) {
        walker->waits_since = clock_of(walker);
        if (walker->stores && walker->status == DORY_OK && !walker->has_ended) {
            start_store(walker);
        }
        await_stores(walker);
        await_begun_loads(walker);
        add_ended(walker); /* if the run has been cut short before the layer behind that one was loaded */
        end_layer(walker, clock_of(walker));
        add_ended(walker);
    }
    if (!walker->has_ended) {
        meet(walker);
    }
}

static void walk(struct walker *walker)
{
    bool more;
    bring_record(walker, walker->tile, walker->core, hal_core_count());
    do {
        hal_barrier();
        more = !walker->tile->ends_step || walker->step + 1 != walker->end;
        if (!come_to_tile(walker, more)) {
            walker->stores = false;
            break;
        }
        compute(walker, more);
        step_on(walker);
    } while (more);
    end(walker);
}

/* Member by member: small C libraries clear a struct byte by byte. */
static void start_walker(struct walker *walker, const struct dory_run *run)
{
    const struct dory_network *network = run->network;
    const struct dory_buffers *buffers = run->buffers;
    walker->run = run;
    walker->shared = buffers->l1;
    walker->l1 = buffers->l1;
    walker->l2 = buffers->l2;
    walker->weights = network->weights ? network->weights : walker->l2;
    walker->step = walker->first_step = network->steps;
    walker->end = walker->step + network->step_count;
    walker->records = network->tiles;
    walker->before = &walker->shared->tile[0];
    walker->tile = &walker->shared->tile[1];
    walker->next = &walker->shared->tile[2];
    walker->core = hal_core_id();
    walker->cores = dory_minimum(hal_core_count(), network->cores);
    walker->is_first = walker->core == 0;
    walker->shares = walker->cores > 1 ? walker->cores - 1 : 1; /* the first core has other work, if there are others */
    walker->share = walker->cores > 1 ? walker->core - 1 : walker->core;
    walker->is_observed = dory_run_is_observed(run);
    walker->has_ended = walker->stores = walker->store_open[0] = walker->store_open[1] = false;
    walker->meetings = walker->loads_begun = 0;
    walker->status = DORY_OK;
    walker->l3_wait_cycles = 0;
    walker->profiles = walker->is_first ? buffers->profile : 0;
    walker->sum = walker->ended_sum = 0;
}

void dory_run_table(struct dory_driver *driver)
{
    struct dory_lead lead;
    if (hal_is_driver()) {
        dory_lead_open(&lead, &driver->run);
    }
    if (!hal_is_core()) {
        dory_lead_alone(&lead);
        return;
    }
    struct walker walker;
    start_walker(&walker, &driver->run);
    walker.lead = hal_is_driver() ? &lead : 0;
    walk(&walker);
}
