/* What the cores of a network with a table of tiles share, at the start of the L1 arena, and their meetings with the driver.
 * It moves data between L3 and L2, and is needed for nothing else. */
#ifndef DORY_TABLE_LEAD_H
#define DORY_TABLE_LEAD_H

#include "dory/prepared.h"
#include "observe.h"

/* What each side says at a meeting. */
struct dory_meeting {
    int core_status, driver_status; /* not both DORY_OK: the run ends here */
    uint32_t l3_wait_cycles;        /* of the driver, before it came; where the run is profiled */
};

struct dory_table_shared {
    struct dory_prepared_tile tile[3]; /* the one before, at work, and the next one, by turns */
    struct dory_layer layer;           /* at work */
    struct dory_stages stages;         /* its, if it has any */
    struct dory_meeting meeting[2];    /* by turns: one side may write to the next while the other reads */
    int status;                        /* of the tile's copies */
};
_Static_assert(sizeof(struct dory_table_shared) <= DORY_L1_RUNTIME_BYTES,
               "what the cores share fits at the start of the L1 arena");

/* The driver's part. */
struct dory_lead {
    struct dory_run *run;
    struct dory_table_shared *shared;
    const struct dory_step *step, *end; /* for which the cores come next; the end of the table, where they come last */
    struct dory_step_counts before;     /* of the step before that */
    enum dory_meets meets;              /* for it */
    unsigned meetings;
    bool again; /* the next one is the second of two */
};

/* Starts the first transfers. `run` is set. */
void dory_lead_open(struct dory_lead *lead, struct dory_run *run);

/* Before a meeting. Waits for the transfers that the step needs, if they can have been started. */
void dory_lead_prepare(struct dory_lead *lead);

/* After it. False: the run has ended, and nothing is under way. */
bool dory_lead_go_on(struct dory_lead *lead);

/* All of it, by a driver that is no core. */
void dory_lead_alone(struct dory_lead *lead);

#endif
