#define DORY_HAL_ON_DRIVER
#include "driver.h"

#include "observe.h"

/* ---- copies ---- */

static void start_store(struct dory_driver *driver)
{
    struct dory_copies *copies = &driver->copies;
    hal_dma_ticket *ticket = &driver->store_ticket[copies->store_buffer];
    int status = hal_dma_open(ticket);
    if (status == DORY_OK) {
        driver->store_open[copies->store_buffer] = true;
        status = hal_dma_copy(*ticket, &copies->store);
    }
    dory_run_fail(&driver->run, status);
}

static void start_loads(struct dory_driver *driver)
{
    int status = hal_dma_open(&driver->load_ticket);
    for (unsigned i = 0; i < driver->copies.load_count && status == DORY_OK; i++) {
        status = hal_dma_copy(driver->load_ticket, &driver->copies.loads[i]);
    }
    dory_run_fail(&driver->run, status);
}

static void wait_store(struct dory_driver *driver, unsigned buffer)
{
    if (driver->store_open[buffer]) {
        dory_run_fail(&driver->run, hal_dma_wait(driver->store_ticket[buffer]));
        driver->store_open[buffer] = false;
    }
}

/* Puts on its way what `next` needs, as described; waits for it in L3 if it must. */
static void fetch(struct dory_driver *driver)
{
    const struct dory_placed_tile *next = driver->next;
    if (next->starts_step) {
        dory_await_transfers(&driver->run, next->step->transfers_awaited);
    }
    start_loads(driver);
}

/* Brings the first weights of the next layer while the last tile of this one is computed, if they are in L2. */
static void fetch_early(struct dory_driver *driver)
{
    struct dory_placed_tile *next = driver->next;
    if (!next->step->weights_are_early || next->step->transfers_awaited > driver->run.transfers_complete) {
        return;
    }
    dory_place_weights(driver, &driver->copies.loads[0]);
    driver->copies.load_count = 1;
    start_loads(driver);
    next->load_weights = false;
    driver->early = true;
}

static void await_early(struct dory_driver *driver)
{
    if (driver->early) {
        dory_run_fail(&driver->run, hal_dma_wait(driver->load_ticket));
        driver->early = false;
    }
}

/* Until the first core has made the copies that it was given. */
static void await_copied(struct dory_driver *driver)
{
    hal_await_notice();
    dory_run_fail(&driver->run, driver->shared->status);
}

/* ---- from tile to tile ---- */

/* `next` has been given to the cores. Describes the copies that may go on while they compute it, and starts to store the
 * results of the tile before; the loads for the one behind follow at once: on GAP8 an instruction that is not in the cache
 * waits for all transfers in front of it. */
static void step_on(struct dory_driver *driver)
{
    struct dory_placed_tile *before = driver->now;
    bool store = driver->computed && dory_place_store(driver, &driver->copies, before);
    driver->now = driver->next;
    driver->next = before;
    driver->computed = true;
    driver->more = dory_place_next(driver);
    if (driver->more && driver->next->overlaps) {
        dory_place_loads(driver, &driver->copies);
    }
    if (store) {
        start_store(driver);
    }
}

/* ---- from layer to layer ---- */

/* The turn of the layer at work ends with `now`, and there is somebody to see that. */
static bool is_observed(const struct dory_driver *driver)
{
    const struct dory_buffers *buffers = driver->run.buffers;
    return driver->turns && (buffers->observe_turn || (buffers->observe && driver->now->step->last_of_layer));
}

static void enter_layer(struct dory_driver *driver)
{
    driver->layer_turn ^= 1;
    driver->turns = false;
    driver->bordered[0].input_rows = driver->bordered[1].input_rows = 0;
}

/* ---- the driver's side of a meeting ---- */

void dory_driver_open(struct dory_driver *driver)
{
    const struct dory_network *network = driver->run.network;
    dory_start_transfers(&driver->run, network->steps->transfers_awaited); /* they come while the rest gets ready */
    driver->shared = driver->run.buffers->l1;
    driver->bases.l1 = driver->run.buffers->l1;
    driver->bases.l2 = driver->run.buffers->l2;
    driver->bases.weights = network->weights ? network->weights : driver->bases.l2;
    driver->next_step = network->steps;
    driver->layer_turn = driver->step_turn = 0;
    driver->computed = driver->early = driver->stopped = false;
    driver->store_open[0] = driver->store_open[1] = false;
    driver->now = &driver->tile[0];
    driver->next = &driver->tile[1];
    driver->more = dory_place_first(driver);
}

static void give_tile(struct dory_driver *driver, struct dory_work *work)
{
    const struct dory_placed_tile *next = driver->next;
    work->kind = dory_second_part(next->step->layer) ? DORY_WORK_TILE_IN_TWO_PARTS : DORY_WORK_TILE;
    work->tile = next->tile;
    work->valid = next->valid;
    work->layer_turn = (uint8_t)driver->layer_turn;
    work->layer_number = next->step->layer_number;
    dory_place_work(driver, work);
}

/* `next`, whose loads have been started: they have come when this returns, and its output buffer is free then. */
static void prepare_beside(struct dory_driver *driver, struct dory_work *work)
{
    work->has_copies = false;
    give_tile(driver, work);
    dory_run_fail(&driver->run, hal_dma_wait(driver->load_ticket));
    wait_store(driver, driver->next->output_buffer);
}

/* Has results of `now` that are not stored yet, if any, stored by a core. */
static void give_store(struct dory_driver *driver, struct dory_work *work)
{
    struct dory_copies *copies = &driver->shared->copies;
    copies->store_count = copies->load_count = 0;
    if (driver->computed) {
        dory_place_store(driver, copies, driver->now);
    }
    work->kind = DORY_WORK_NOTHING;
    work->has_border = work->has_table = false;
    work->has_copies = true;
    work->ends_layer = driver->computed && driver->turns;
    work->starts_layer = false;
    driver->computed = false;
}

/* `next`, to be loaded by a core when nothing else is on its way. */
static void give_next(struct dory_driver *driver, struct dory_work *work)
{
    work->starts_layer = driver->turns;
    if (driver->turns) {
        enter_layer(driver);
    }
    give_tile(driver, work);
    work->described = driver->next->step->layer;
    dory_place_loads(driver, &driver->shared->copies);
    if (driver->next->starts_step) {
        dory_await_transfers(&driver->run, driver->next->step->transfers_awaited);
    }
}

/* May the next tile not be prepared before the results of this one are in L2? At the end; for an observer; and where what it
 * reads may leave for RAM only then, to come back. */
static bool must_stop(const struct dory_driver *driver)
{
    if (driver->turns && (!driver->more || is_observed(driver))) {
        return true;
    }
    return driver->next->starts_step && driver->next->step->transfers_awaited > driver->now->step->transfers_started;
}

/* All results are in L2. False at the end of the run. */
static bool resume(struct dory_driver *driver)
{
    driver->stopped = false;
    if (is_observed(driver)) {
        dory_run_observe(&driver->run, driver->next_step - driver->more);
    }
    return !driver->turns || (driver->more && driver->run.status == DORY_OK);
}

/* What the cores do next, unless they can go on with a tile that has been loaded beside the one before. */
static void prepare_alone(struct dory_driver *driver, struct dory_work *work)
{
    bool stops = driver->computed && must_stop(driver);
    if (driver->stopped && !resume(driver)) {
        await_early(driver);
        dory_run_close(&driver->run);
        work->kind = DORY_WORK_END;
        return;
    }
    give_store(driver, work);
    if (stops) {
        driver->stopped = true;
    } else {
        give_next(driver, work);
    }
    wait_store(driver, 0);
    wait_store(driver, 1);
    await_early(driver);
}

/* The run ends here: what is on its way comes, and no tile any more. */
static void cut_short(struct dory_driver *driver, struct dory_work *work)
{
    if (driver->more && driver->next->overlaps) {
        dory_run_fail(&driver->run, hal_dma_wait(driver->load_ticket));
    }
    await_early(driver);
    wait_store(driver, 0);
    wait_store(driver, 1);
    dory_run_close(&driver->run);
    work->kind = DORY_WORK_END;
    work->has_copies = false;
}

void dory_driver_prepare(struct dory_driver *driver, struct dory_work *work)
{
    if (dory_run_ends(&driver->run)) {
        cut_short(driver, work);
    } else if (driver->more && driver->next->overlaps) {
        prepare_beside(driver, work);
    } else {
        prepare_alone(driver, work);
    }
    work->l3_wait_cycles = driver->run.l3_wait_cycles; /* with or without a profile, which shall not change the run */
    driver->run.l3_wait_cycles = 0;
}

void dory_driver_start(struct dory_driver *driver, const struct dory_work *work)
{
    struct dory_run *run = &driver->run;
    if (work->has_copies) {
        await_copied(driver);
    }
    if (driver->stopped) {
        return;
    }
    step_on(driver);
    unsigned due = driver->now->step->transfers_started;
    bool beside = driver->more && driver->next->overlaps, awaits = driver->more && driver->next->starts_step;
    if (beside && !awaits && run->transfers_started < due) {
        fetch(driver);
        dory_start_some_transfers(run, due);
        return;
    }
    if (run->transfers_started < due) {
        dory_start_some_transfers(run, due);
    }
    if (beside) { /* last: an instruction behind the copies waits for them */
        fetch(driver);
        return;
    }
    if (driver->more && driver->turns) {
        dory_await_started_transfers(run, driver->next->step->transfers_awaited);
        fetch_early(driver);
    }
}
