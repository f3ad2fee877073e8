/* A decision realised: its steps, buffers and transfers, with places. */
#ifndef DORYGEN_SCHEDULE_H
#define DORYGEN_SCHEDULE_H

#include "plan/timeline.h"
#include "price/price.h"

struct schedule {
    struct plan_step *steps;
    int step_count;
    struct plan_buffer *buffers;
    int buffer_count;
    struct plan_transfer *transfers;
    int transfer_count;
    int *tensor_buffer;      /* by tensor: index, or -1 */
    uint32_t l2_bytes;       /* of the arena, beside the tables */
    uint32_t live_bytes;     /* the most that live at one step */
    uint32_t peak_bytes;     /* where the last of its buffers ends, if they have places */
    struct tile_cost *costs; /* by layer, with all drains */
    uint64_t cycles;         /* predicted, with waits for L3: what the plan will report */
    uint64_t gap_cycles;     /* of schedule_fit: of them at most, what free bytes that are not in one piece cost */
};

/* Builds what follows from a decision. Prefetches start as early as bytes of L2 are free, whatever the places. What cannot
 * be avoided may exceed L2: compare live_bytes. */
void schedule_make(const struct decision *decision, struct schedule *schedule, struct arena *arena);

/* The same with places; false where there are none. */
bool schedule_make_in_gaps(const struct decision *decision, const struct gaps_variant *variant, struct schedule *schedule,
                           struct arena *arena);

/* When everything in a schedule happens. */
void schedule_timeline(const struct problem *problem, const struct schedule *schedule, struct timeline *timeline,
                       struct arena *arena);

/* Counts live_bytes anew. */
void schedule_count_live(struct schedule *schedule, struct arena *arena);

/* Offsets for the schedule's buffers, by `place`: false where they take more than `enough` bytes. */
bool schedule_place(const struct problem *problem, struct schedule *schedule, uint32_t enough, enum place_care care);

/* ---- share.c ---- */

/* Adds to a schedule with places what layers need that share weights. False where that is not possible: their tiles were
 * decided differently, or they take turns. */
bool schedule_share(const struct decision *decision, struct schedule *schedule, struct arena *arena);

/* ---- postpone.c ---- */

/* Starts each prefetch as late as it may, so that no step waits longer than it does: the order of the transfers and
 * `cycles` stay, buffers live for less time. `margin`: cycles by which it is queued earlier than it has to, where it was. */
void schedule_postpone(const struct problem *problem, uint64_t margin, struct schedule *schedule, struct arena *arena);

/* Starts each prefetch as early as its buffer's place is free, but not before the step `earliest` (by transfer). Buffers
 * have offsets, and keep them. */
void schedule_advance(struct schedule *schedule, const int *earliest, struct arena *arena);

/* ---- fit.c ---- */

struct fit_limits {
    uint64_t cycles; /* the schedule must take less */
    enum place_care care;
};

/* Makes the fastest schedule that finds places. gap_cycles says what these cost. False where there is none below the limit.
 */
bool schedule_fit(const struct decision *decision, const struct fit_limits *limits, struct schedule *schedule,
                  struct arena *arena);

/* Of a decision whose places cost nothing, with prefetches queued as early as places are found for on the bound,
 * live_bytes: the later they are, the less may take longer than predicted. False where not even the latest starts have such
 * places. */
bool schedule_fit_early(const struct decision *decision, struct schedule *schedule, struct arena *arena);

#endif
