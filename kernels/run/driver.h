/* The driver: walks through a network tile by tile, moves tiles by DMA, and says at each meeting what the cores have to do
 * until the next one. While all cores compute tile n, tile n+1 is loaded and tile n-1 stored (DORY paper, Listing 1).
 *
 *     driver   prepare 0 | start: load 1          prepare 1 | start: store 0, load 2     prepare 2 | ...
 *     meeting            X                                  X                                      X
 *     cores              | compute tile 0                   | compute tile 1                       | ...
 *
 * Where a tile cannot be loaded beside the one before, as at the start of a layer, which reads what that one computes, the
 * driver describes its copies in advance, and a core makes them, which is there when the last result is: the cores wait for
 * nothing but the copies. The first weights of a layer come sooner, beside the last tile of the layer before, where the plan
 * has found room for them in L1 (weights_are_early).
 *
 *     driver   prepare n (first of a layer) | start: load n + 1       prepare n + 1 | ...
 *     meeting                               X                                       X
 *     cores    compute tile n - 1           | store n - 1, load n, compute tile n   | ...
 *
 * One driver serves every kind of layer; what differs is in the kernel. */
#ifndef DORY_DRIVER_H
#define DORY_DRIVER_H

#include "placer.h"
#include "run_state.h"
#include "shared.h"
#include "tile_copies.h"

/* The FC lends its memory to it: cores' stacks are small. It copies there what it reads for every tile, for a word of L2 may
 * cost hundreds of cycles where a transfer is under way. */
struct dory_driver {
    struct dory_run run;
    struct dory_shared *shared;
    struct dory_bases bases;
    struct dory_layer layer[2];        /* at work, and the next one, by turns */
    unsigned layer_turn;               /* index in `layer` */
    struct dory_step step[2];          /* at work, by turns: tiles of two steps may be on their way */
    unsigned step_turn;                /* index in `step` of the newest one */
    const struct dory_step *next_step; /* of the network */
    struct dory_placed_tile tile[2];
    struct dory_placed_tile *now, *next;
    bool computed;                    /* `now` has been given to the cores, the store of its results to nobody */
    bool more;                        /* there is a tile behind it: `next` */
    bool turns;                       /* and that is the first one of another layer */
    bool early;                       /* its weights are on their way, with load_ticket */
    bool stopped;                     /* the cores have been given the store of `now` alone */
    struct dory_bordered bordered[2]; /* by input buffer */
    struct dory_copies copies;        /* beside which the cores compute */
    hal_dma_ticket load_ticket;
    hal_dma_ticket store_ticket[2]; /* by output buffer */
    bool store_open[2];
    bool ends[2]; /* of a run without tiles, by turns: the run */
};

/* Has the network a further step? */
static inline bool dory_driver_has_step(const struct dory_driver *driver)
{
    return driver->next_step != driver->run.network->steps + driver->run.network->step_count;
}

/* True where the next step is of the layer at work, too. Layers may take turns. */
static inline bool dory_driver_has_step_of_layer(const struct dory_driver *driver)
{
    return dory_driver_has_step(driver) && driver->next_step->layer == driver->now->step->layer;
}

/* Before the first meeting. `run` is set, and sets the rest. */
void dory_driver_open(struct dory_driver *driver);

/* Before each meeting. Writes what the cores do after it, and waits until they can: their data are in L1 then. */
void dory_driver_prepare(struct dory_driver *driver, struct dory_work *work);

/* After each meeting but the last. Starts the copies that go on while the cores work, when the cores' own are complete. */
void dory_driver_start(struct dory_driver *driver, const struct dory_work *work);

#endif
