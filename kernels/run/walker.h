/* What a core knows that goes from tile to tile of a table; see table_walk.c. */
#ifndef DORY_WALKER_H
#define DORY_WALKER_H

#include "dory/hal.h"
#include "dory/prepared.h"
#include "table_lead.h"
#include "two_parts.h"

/* One core's; on its stack, which on GAP8 is in L1. */
struct walker {
    struct dory_table_shared *shared;
    const struct dory_run *run;
    struct dory_lead *lead;                          /* null: the driver is somebody else */
    const struct dory_step *step, *first_step, *end; /* of the tile at work; of the network */
    const struct dory_prepared_tile *records;        /* in the network's table: those that have not been brought */
    struct dory_prepared_tile *before, *tile, *next;
    uint8_t *l1, *l2;
    const uint8_t *weights;
    unsigned core, cores;   /* that compute */
    unsigned share, shares; /* this core's part of what they lay in L1, of so many; behind them: none */
    unsigned meetings;
    bool is_first, is_observed, has_ended; /* at a meeting */

    /* the first core's */
    bool stores;          /* results of `before` */
    bool store_open[2];   /* by output buffer */
    bool has_loaded;      /* what of the tile at work was begun while the one before was computed, which has waited for it */
    unsigned loads_begun; /* of the tile at work, while the one before was computed */
    hal_dma_ticket store_ticket[2], load_ticket;
    int status;
    uint32_t l3_wait_cycles; /* of the last meetings */

    /* the first core's, where it keeps a profile */
    struct dory_layer_profile *profiles;        /* by layer; null: none is kept */
    struct dory_layer_profile profile, ended;   /* of the layer at work, and of the one before, to be added to: */
    struct dory_layer_profile *sum, *ended_sum; /* null: there is none */
    uint32_t layer_start, waits_since;
};

/* The kernel of the tile before makes this one's output. */
static inline bool dory_is_added(const struct walker *walker, const struct dory_prepared_tile *tile)
{
    return DORY_HAS_ENGINE && tile->overlaps == DORY_OVERLAPS_ADDED && !walker->is_observed;
}

/* What the tile in front of such an addition adds, and where its output lies then. */
static inline void dory_take_addition(struct dory_tile *tile, const struct dory_tile *addition)
{
    tile->second_input = addition->input == tile->output ? addition->second_input : addition->input;
    tile->output = addition->output;
}

#endif
