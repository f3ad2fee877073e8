/* What the driver tells the cores, at the start of the L1 arena. */
#ifndef DORY_SHARED_H
#define DORY_SHARED_H

#include "tile_copies.h"

/* What the cores do between two meetings. */
enum dory_work_kind {
    DORY_WORK_NOTHING, /* make the copies, and come to the next meeting */
    DORY_WORK_END,     /* of the run */
    DORY_WORK_TILE,    /* this and what follows are tiles */
    DORY_WORK_TILE_IN_TWO_PARTS
};

struct dory_work {
    struct dory_tile tile;
    struct dory_valid valid;
    const struct dory_layer
        *described;     /* the layer, in the network: where starts_layer, to be copied to dory_shared first */
    uint8_t kind;       /* enum dory_work_kind */
    uint8_t has_border; /* to be laid round `valid` before the tile is computed */
    uint8_t has_table;  /* of the layer, to be copied to where weights are */
    uint8_t has_copies; /* dory_shared.copies are to be made first: nothing is computed beside them */
    uint8_t ends_layer; /* with the store of those copies */
    uint8_t starts_layer;
    uint16_t layer_number;   /* of the network */
    uint8_t layer_turn;      /* index of the layer in dory_shared */
    uint32_t l3_wait_cycles; /* of the driver, to prepare it */
};

struct dory_shared {
    struct dory_layer layer[2];   /* at work, and the next one, by turns */
    struct dory_stages stages[2]; /* theirs, where they have any */
    struct dory_work work[2];     /* by turns: one is written while the other is computed */
    struct dory_copies copies;    /* the store of the tile before, and then the loads of the work's tile */
    int status;                   /* of making them */
};
_Static_assert(sizeof(struct dory_shared) <= DORY_L1_RUNTIME_BYTES,
               "what the cores share fits at the start of the L1 arena");

#endif
