/* When everything in a plan happens, in predicted cluster cycles: one walk over steps and transfers by the rules of
 * kernels/run (transfers_started, transfers_awaited, one queue to L3), for all who want to know. */
#ifndef DORYGEN_TIMELINE_H
#define DORYGEN_TIMELINE_H

#include "plan/plan.h"
#include "tile/tile.h"

/* Cycles for which one transfer occupies the channel to L3. */
uint64_t l3_cycles(const struct target *target, const struct dory_transfer *transfer);

/* A step has its time from begin to end, in which it first waits; the end of one is the begin of the next. Its first
 * loads are issued at start_cycle; where they overlap, kernels of the step before may still be at work. */
struct timeline_step {
    uint64_t begin_cycle;
    uint64_t start_cycle; /* the transfers that it awaits are complete */
    uint64_t end_cycle;
};

struct timeline_transfer {
    uint64_t queued_cycle;
    uint64_t start_cycle; /* the channel to L3 is free for it */
    uint64_t end_cycle;
};

struct timeline {
    struct timeline_step *steps;         /* plan->step_count */
    struct timeline_transfer *transfers; /* plan->transfer_count */
    uint64_t l3_busy_cycles;             /* the channel moves data */
    uint64_t l3_wait_cycles;             /* the cluster waits for it; includes final_wait_cycles */
    uint64_t final_wait_cycles;          /* behind the last step, for results that go to RAM */
    uint64_t end_cycle;                  /* everything is done */
};

void timeline_make(const struct plan *plan, struct timeline *timeline, struct arena *arena);

/* What a timeline is made of: a plan has it, and so does what is to become one. */
struct sequence {
    const struct target *target;
    const struct plan_step *steps;
    int step_count;
    const struct plan_transfer *transfers;
    int transfer_count;
    const uint64_t *layer_cycles;      /* by layer: predicted */
    uint64_t start_cycles;             /* before the first step */
    const struct plan_layer *finished; /* layers of a plan that is finished; else null */
};

void timeline_of_sequence(const struct sequence *sequence, struct timeline *timeline, struct arena *arena);

/* The tiles of a layer, as its predicted cycles were found: loads, kernels, stores. The times count from the
 * start of the run, waits for L3 included. Returns what the layer costs. */
struct tile_cost timeline_watch_tiles(const struct plan *plan, const struct timeline *timeline, int layer,
                                      const struct tile_observer *observer, struct arena *arena);

/* Writes down what a layer takes. */
void timeline_set_cost(struct plan_layer *layer, const struct tile_cost *cost);

/* Finds the times of all layers and their steps anew, in lists of the plan's own, for a target with other
 * costs than those that the plan was made for. */
void timeline_play_layers(struct plan *plan, struct arena *arena);

/* What a run takes on such a target before its first layer. */
uint64_t timeline_run_start_cycles(const struct plan *plan, const struct target *target);

/* The same plan on such a target, with what it predicts there. */
void timeline_play_on(struct plan *plan, const struct target *target, struct arena *arena);

/* A layer as it is planned, of its first step alone. */
struct tile_problem timeline_first_step(const struct plan *plan, int layer);

/* The buffers of a layer's L1 map. */
struct l1_sizes timeline_l1_sizes(const struct plan *plan, int layer);

#endif
