/* Tiles that the generator has placed: the network's table. Its functions are whole, for the FC misses lines of a call, too.
 */
#include "driver.h"

/* Numbers, for null has no offset. */
static inline void *moved(const void *offset, const void *base) { return (void *)((uintptr_t)offset + (uintptr_t)base); }

static void take_tile(struct dory_placed_tile *placed, const struct dory_prepared_tile *prepared, uint8_t *l1)
{
    struct dory_tile *tile = &placed->tile;
    *tile = prepared->tile;
    tile->input = moved(tile->input, l1);
    tile->second_input = moved(tile->second_input, l1);
    tile->weights = moved(tile->weights, l1);
    tile->output = moved(tile->output, l1);
    tile->accumulators = tile->accumulators ? moved(tile->accumulators, l1) : 0;
    tile->scratch = moved(tile->scratch, l1);
    placed->valid = prepared->valid;
    placed->prepared = prepared;
    placed->starts_step = prepared->starts_step;
    placed->overlaps = prepared->overlaps;
    placed->load_weights = prepared->load_weights;
    placed->output_buffer = prepared->output_buffer;
}

static void take_copy(struct hal_dma_copy *copy, const struct hal_dma_copy *prepared, const uint8_t *l1,
                      const uint8_t *external)
{
    *copy = *prepared;
    copy->local = moved(copy->local, l1);
    copy->external = moved(copy->external, external);
}

static void take_weights(struct dory_driver *driver, struct hal_dma_copy *copy)
{
    take_copy(copy, &driver->next->prepared->loads[0], driver->bases.l1, driver->bases.weights);
}

static void take_loads(struct dory_driver *driver, struct dory_copies *copies)
{
    const struct dory_placed_tile *next = driver->next;
    const struct dory_prepared_tile *prepared = next->prepared;
    const struct dory_bases *bases = &driver->bases;
    unsigned count = 0, load = prepared->load_weights;
    if (next->load_weights) {
        take_copy(&copies->loads[count++], &prepared->loads[0], bases->l1, bases->weights);
    }
    for (; load < prepared->load_count; load++) {
        take_copy(&copies->loads[count++], &prepared->loads[load], bases->l1, bases->l2);
    }
    copies->load_count = count;
}

static bool take_store(struct dory_driver *driver, struct dory_copies *copies, const struct dory_placed_tile *of)
{
    const struct dory_prepared_tile *prepared = of->prepared;
    copies->store_count = prepared->store_count;
    if (prepared->store_count == 0) {
        return false;
    }
    copies->store_buffer = prepared->output_buffer;
    take_copy(&copies->store, &prepared->store, driver->bases.l1, driver->bases.l2);
    return true;
}

static bool take_first(struct dory_driver *driver)
{
    driver->turns = true;
    driver->next->step = driver->next_step++;
    take_tile(driver->next, driver->run.network->tiles, driver->bases.l1);
    return true;
}

static bool take_next(struct dory_driver *driver)
{
    const struct dory_placed_tile *now = driver->now;
    struct dory_placed_tile *next = driver->next;
    next->step = now->step;
    if (now->prepared->ends_step) {
        driver->turns = !dory_driver_has_step_of_layer(driver);
        if (!dory_driver_has_step(driver)) {
            return false;
        }
        next->step = driver->next_step++;
    }
    take_tile(next, now->prepared + 1, driver->bases.l1);
    return true;
}

static void take_work(struct dory_driver *driver, struct dory_work *work)
{
    work->has_border = driver->next->prepared->has_border;
    work->has_table = driver->next->prepared->has_table;
}

const struct dory_tile_source dory_prepared_tiles = {
    .take_first = take_first,
    .take_next = take_next,
    .describe_weights = take_weights,
    .describe_loads = take_loads,
    .describe_store = take_store,
    .describe_work = take_work,
};
