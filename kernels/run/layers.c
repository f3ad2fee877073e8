/* Networks of which nothing is copied: the operands of all tiles are in place. The cores go from step to step by themselves,
 * and the driver meets them behind each, to look at results and to see whether the run ends:
 *
 *     cores    compute step n    | compute step n + 1
 *     driver                     X (observe)          X ... */
#define DORY_HAL_ON_CORES
#include "driver.h"
#include "observe.h"
#include "two_parts.h"

/* One core's, or the driver's. */
struct worker {
    struct dory_driver *driver;
    struct dory_bases bases;
    unsigned core, cores; /* that compute */
    bool is_core, is_driver;
    struct dory_layer_profile *profiles; /* of the first core, by layer; null: none is kept */
};

static struct worker start_worker(struct dory_driver *driver)
{
    const struct dory_buffers *buffers = driver->run.buffers;
    const struct dory_network *network = driver->run.network;
    struct worker worker = {.driver = driver, .core = hal_core_id(), .is_core = hal_is_core(), .is_driver = hal_is_driver()};
    worker.cores = dory_minimum(hal_core_count(), network->cores);
    worker.bases.l1 = buffers->l1;
    worker.bases.l2 = buffers->l2;
    worker.bases.weights = network->weights ? network->weights : worker.bases.l2;
    worker.profiles = worker.is_core && worker.core == 0 ? buffers->profile : 0;
    return worker;
}

/* Apart, so that a kernel has what this takes of the stack. */
static __attribute__((noinline)) void place(const struct worker *worker, const struct dory_step *step,
                                            const struct dory_cursor *at, struct dory_tile *tile)
{
    struct dory_placed_tile nothing, placed;
    dory_place_nothing(&nothing);
    placed.step = step;
    placed.starts_step = true;
    placed.at = *at;
    dory_place_tile(&placed, &nothing, step->layer, &worker->bases);
    *tile = placed.tile;
}

static void compute_tile(const struct worker *worker, const struct dory_layer *layer, const struct dory_tile *tile)
{
    if (dory_second_part(layer)) {
        dory_compute_in_two_parts(layer, tile, worker->core, worker->cores);
    } else if (worker->core < worker->cores) { /* scratch in L1 is planned for these */
        layer->kernel(layer, tile, worker->core, worker->cores);
    }
}

static void compute(const struct worker *worker, const struct dory_step *step)
{
    struct dory_cursor at;
    struct dory_tile tile;
    uint32_t before = worker->profiles ? hal_cycles() : 0, tiles = 0;
    dory_cursor_first(&at, step);
    do {
        if (tiles++ > 0) {
            hal_barrier(); /* they share scratch */
        }
        place(worker, step, &at, &tile);
        compute_tile(worker, step->layer, &tile);
    } while (dory_cursor_next(&at, step->layer, step));
    if (worker->profiles) {
        worker->profiles[step->layer_number].cycles += hal_cycles() - before;
        worker->profiles[step->layer_number].tiles += tiles;
    }
}

/* Driver. By turns, as a core may be slow to read. */
static void say_whether_to_end(const struct worker *worker, unsigned turn)
{
    if (worker->is_driver) {
        worker->driver->ends[turn] = dory_run_ends(&worker->driver->run);
    }
}

/* All results in front of `behind` are there. */
static void observe(const struct worker *worker, const struct dory_step *behind, unsigned turn)
{
    if (worker->is_driver) {
        dory_run_observe(&worker->driver->run, behind);
    }
    say_whether_to_end(worker, turn);
    hal_meet();
}

void dory_run_layers(struct dory_driver *driver)
{
    const struct dory_network *network = driver->run.network;
    const struct dory_step *step = network->steps, *end = step + network->step_count;
    bool is_observed = dory_run_is_observed(&driver->run), ends = false;
    struct worker worker = start_worker(driver);
    for (unsigned turn = 0; step != end && !ends; turn ^= 1) {
        if (worker.is_core) {
            compute(&worker, step);
        }
        step++;
        say_whether_to_end(&worker, turn);
        hal_meet();
        if (is_observed && (step == end || step->layer_number != step[-1].layer_number)) {
            observe(&worker, step, turn);
        }
        ends = driver->ends[turn];
    }
}
