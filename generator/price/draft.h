/* A decision played step by step, before it is written down as a schedule: draft.c, gaps.c, schedule.c. Internal to them. */
#ifndef DORYGEN_DRAFT_H
#define DORYGEN_DRAFT_H

#include "choose/profile.h"
#include "price/price.h"

/* A transfer to come. */
struct item {
    const struct profile_transfer *what;
    uint64_t end_cycle, played_cycle; /* when it is done: as the walk sees it, and by the final times of the layers */
    int layer, buffer;                /* buffer: counted over all layers */
    int needed_step, start_step;
    int after; /* step whose results it reads: it is queued behind their write; NO_STEP: none */
    bool is_queued;
};

/* A step, as the walk leaves it. */
struct draft_step {
    int transfers_awaited, transfers_started;
};

/* What most_live() has seen: steps up to in front of `end`. */
struct look {
    int end;
    uint32_t most; /* bytes */
    int full_step; /* the last at which so many live */
};

struct draft {
    const struct decision *decision;
    const struct problem *problem; /* its */
    struct gaps *gaps;             /* null: there are none */
    uint32_t l2_bytes;             /* for all buffers */
    struct arena *arena;
    const struct profile **profiles; /* by layer */
    int *first_step, *first_buffer;  /* by layer; one more: their number */
    int *buffer_start;               /* by buffer: the step from which on its bytes are taken */
    struct item *reads, *writes;     /* in the order of need, of the steps that make them */
    int read_count, write_count;
    uint32_t *live; /* bytes, by step */
    int layer;      /* at work */
    struct draft_step *steps;
    bool *drains; /* by step: which may have to that its cut did not foresee */
    /* the queue */
    struct item **queue;
    int queued;
    int *awaited_at;                 /* by step: so many transfers, of which it needs the last */
    uint64_t queue_free;             /* time at which L3 is idle again */
    int last_ram_need;               /* last step that waits for a transfer from or to RAM */
    int first_waiting;               /* reads before it are queued */
    const struct item *without_room; /* a read that found none because of step `full_step`: bytes are only ever taken */
    int full_step;
    struct look look;
    int next_write;
    /* by the final times, of what has been played */
    int played; /* transfers */
    uint64_t cycles, channel_free;
    uint64_t channel_left; /* at least, for what has not */
    uint64_t *tails;       /* by layer: cycles from its start on, at least */
};

/* Plays a decision, up to some cycles. With a variant places are found so: where there are none for what must live, `gaps`
 * is null, and nothing is played. */
struct draft draft_make(const struct decision *decision, const struct gaps_variant *variant, uint64_t limit,
                        struct arena *arena);

int draft_steps(const struct draft *draft);

/* Steps at which a tensor lives in L2. */
void draft_tensor_steps(const struct draft *draft, int tensor, int *first, int *last);

/* ---- gaps.c: places found while a decision is played ---- */

/* Bytes with which what must live at each step of a draft has places. */
uint32_t gaps_least_bytes(const struct draft *draft, enum place_care care);

/* Gives it its places; null: they are not found. */
struct gaps *gaps_start(const struct draft *draft, struct gaps_variant variant);

/* A place for what a read brings, from `step` on; false where there is none yet. */
bool gaps_take(struct gaps *gaps, const struct draft *draft, const struct item *item, int step);

/* Offsets of a schedule's buffers; returns where they end. */
uint32_t gaps_write(const struct gaps *gaps, struct plan_buffer *buffers);

#endif
