/* Tiles that the driver places as it goes. */
#include "driver.h"

/* The layer of `now`, and that of `next`. */
static const struct dory_layer *layer_of(const struct dory_driver *driver) { return &driver->layer[driver->layer_turn]; }

static const struct dory_layer *layer_of_next(const struct dory_driver *driver)
{
    return &driver->layer[driver->layer_turn ^ driver->turns];
}

/* Takes the next step of the network's table. */
static const struct dory_step *take_step(struct dory_driver *driver)
{
    driver->step_turn ^= 1;
    driver->step[driver->step_turn] = *driver->next_step++;
    return &driver->step[driver->step_turn];
}

/* The first tile of the next step, behind `before`. */
static void place_first(struct dory_driver *driver, const struct dory_placed_tile *before)
{
    struct dory_placed_tile *first = driver->next;
    first->step = take_step(driver);
    first->starts_step = true;
    dory_cursor_first(&first->at, first->step);
    dory_place_tile(first, before, layer_of_next(driver), &driver->bases);
}

/* Takes up the next layer with its first tile; false where there is none. While the cores compute the last tile of the layer
 * before, this takes nobody's time. */
bool dory_place_first(struct dory_driver *driver)
{
    struct dory_placed_tile nothing;
    driver->turns = true;
    if (!dory_driver_has_step(driver)) {
        return false;
    }
    driver->layer[driver->layer_turn ^ 1] = *driver->next_step->layer;
    dory_place_nothing(&nothing);
    place_first(driver, &nothing);
    driver->next->overlaps = false;
    return true;
}

bool dory_place_next(struct dory_driver *driver)
{
    const struct dory_placed_tile *now = driver->now;
    struct dory_placed_tile *next = driver->next;
    next->at = now->at;
    if (dory_cursor_next(&next->at, layer_of(driver), now->step)) {
        next->step = now->step;
        next->starts_step = false;
        dory_place_tile(next, now, layer_of(driver), &driver->bases);
    } else if (dory_driver_has_step_of_layer(driver)) {
        place_first(driver, now);
    } else {
        return dory_place_first(driver);
    }
    return true;
}

void dory_place_weights(struct dory_driver *driver, struct hal_dma_copy *copy)
{
    dory_describe_weights(copy, driver->next, layer_of_next(driver), driver->bases.weights);
}

void dory_place_loads(struct dory_driver *driver, struct dory_copies *copies)
{
    dory_describe_loads(copies, driver->next, layer_of(driver), driver->bases.l2, driver->bases.weights);
}

bool dory_place_store(struct dory_driver *driver, struct dory_copies *copies, const struct dory_placed_tile *of)
{
    return dory_describe_store(copies, of, layer_of(driver), driver->bases.l2);
}

void dory_place_work(struct dory_driver *driver, struct dory_work *work)
{
    work->has_border = dory_needs_border(driver->bordered, driver->next, layer_of(driver));
    work->has_table = driver->next->load_weights && layer_of(driver)->block_bytes == 0;
}
