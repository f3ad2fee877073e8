/* What the driver tells the cores, at the start of the L1 arena. */
#ifndef DORY_SHARED_H
#define DORY_SHARED_H

#include "placed_tile.h"

/* What the cores do between two meetings. */
enum dory_work_kind {
    DORY_WORK_NOTHING, /* come to the next meeting: then the tile before is complete */
    DORY_WORK_TILE,
    DORY_WORK_END /* of the run */
};

struct dory_work {
    struct dory_tile tile;
    struct dory_valid valid;
    uint8_t kind;       /* enum dory_work_kind */
    uint8_t has_border; /* to be laid round `valid` before the tile is computed */
};

struct dory_shared {
    struct dory_layer layer;   /* at work */
    struct dory_stages stages; /* its own, where it has any */
    struct dory_work work[2];  /* by turns: one is written while the other is computed */
    uint32_t waited_cycles;    /* by the last core at meetings, where the run is profiled */
};
_Static_assert(sizeof(struct dory_shared) <= DORY_L1_RUNTIME_BYTES,
               "what the cores share fits at the start of the L1 arena");

#endif
