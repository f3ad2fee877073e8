/* Tiles that the generator has placed. To compute where a tile lies and what must be copied for it takes the fabric
 * controller some 4,700 cycles, which small layers do not last; from a table the cores take their tiles without it. */
#ifndef DORY_PREPARED_H
#define DORY_PREPARED_H

#include "dory/hal.h"
#include "dory/network.h"

#ifdef __cplusplus
extern "C" {
#endif

enum dory_meets {
    DORY_MEETS_NOBODY, /* nothing: it needs no transfer, and starts none */
    DORY_MEETS,        /* come to a meeting: the transfers that it needs are complete then, and others may start */
    DORY_MEETS_TWICE   /* come to two: what it needs can start only then */
};

/* What of a tile is loaded before the one before has been computed and stored. */
enum dory_overlaps {
    DORY_OVERLAPS_STORE,   /* its weights, if they are early: beside the store of the one before */
    DORY_OVERLAPS,         /* all: while the one before is computed */
    DORY_OVERLAPS_WEIGHTS, /* its weights, of which there are many, while the one before is computed */
    DORY_OVERLAPS_ADDED /* all, before the one before, a convolution, ends: that one's kernel adds what is loaded, and makes
                           this tile's output in place of its own. But for an observer, who has both layers' */
};

/* Whether the results of a tile go to L2. */
enum dory_stores {
    DORY_STORES_NOTHING,
    DORY_STORES_FOR_OBSERVER, /* if anybody looks at them there: the next layer has them in L1, and no other reads them */
    DORY_STORES
};

/* When the border of a tile is laid in L1. */
enum dory_border {
    DORY_BORDER_NONE,
    DORY_BORDER_BESIDE, /* the loads, which leave its place alone */
    DORY_BORDER_BEHIND  /* the loads, since they fill its place, too: rows of planes (CHW) */
};

/* A copy of dory/hal.h in few bytes: its strides are 0 where there is nothing that they lead to. */
struct dory_prepared_copy {
    uint32_t
        external; /* offset: of weights from where weights_offset of a step counts, else from the start of the L2 arena */
    uint32_t external_plane_stride;
    uint16_t local; /* offset from the start of the L1 arena, of which local_above has the bits from 16 on */
    uint16_t run_bytes, runs, planes;
    uint16_t external_run_stride, local_run_stride, local_plane_stride;
    uint8_t is_flat; /* one plane, whose runs follow each other in L1 */
    uint8_t local_above;
};

static inline uint32_t dory_prepared_local(const struct dory_prepared_copy *copy)
{
    return copy->local + ((uint32_t)copy->local_above << 16);
}

/* Pointers of a tile are offsets from the start of the L1 arena; null stays null. From this one on they count from where
 * `external` of weights does: those that are in place. */
#define DORY_PREPARED_WEIGHTS 0x10000000u

/* A tile with its copies. */
struct dory_prepared_tile {
    struct dory_tile tile;
    struct dory_valid valid;
    uint8_t starts_layer; /* or another turn of it */
    uint8_t meets;        /* enum dory_meets; of the step that it starts */
    uint8_t ends_step;
    uint8_t awaits_stores; /* all results are in L2 before it is loaded, for it may read them there. Not where it has
                              them in L1, and loads nothing of them */
    uint8_t overlaps;      /* enum dory_overlaps */
    uint8_t loads_beside;  /* so many of `loads` are begun early: all, or the weights */
    uint8_t load_weights;  /* the first of `loads` is that of weights */
    uint8_t border;        /* enum dory_border */
    uint8_t has_table;     /* to be laid in L1, beside the loads */
    uint8_t output_buffer;
    uint8_t stores; /* enum dory_stores */
    uint8_t load_count;
    struct dory_prepared_copy store, loads[3];
};

/* Bytes of such a tile in the firmware of a microcontroller, whose pointers have 32 bits: what the generator counts. */
#define DORY_PREPARED_TILE_BYTES 160u
#if UINTPTR_MAX == UINT32_MAX && !defined(__cplusplus)
_Static_assert(sizeof(struct dory_prepared_tile) == DORY_PREPARED_TILE_BYTES, "the generator counts these bytes");
#endif

/* Of a step: how many transfers it awaits, and how many are started then. */
struct dory_step_counts {
    unsigned awaited, started;
};

static inline struct dory_step_counts dory_step_counts(const struct dory_step *step)
{
    return (struct dory_step_counts){step->transfers_awaited, step->transfers_started};
}

/* The same before the first step: what that one awaits is started with the run. */
static inline struct dory_step_counts dory_counts_at_start(const struct dory_step *first)
{
    return (struct dory_step_counts){0, first->transfers_awaited};
}

static inline enum dory_meets dory_counts_meet(struct dory_step_counts counts, struct dory_step_counts before)
{
    if (counts.awaited > before.started) {
        return DORY_MEETS_TWICE;
    }
    return counts.awaited > before.awaited || counts.started > before.started ? DORY_MEETS : DORY_MEETS_NOBODY;
}

/* What the cores have to do with the driver, who moves data between L3 and L2, at the first tile of a step behind the step
 * `before`, or null. Results of the steps before lie in L2 then. */
static inline enum dory_meets dory_step_meets(const struct dory_step *step, const struct dory_step *before)
{
    return dory_counts_meet(dory_step_counts(step), before ? dory_step_counts(before) : dory_counts_at_start(step));
}

/* Whether a step needs transfers that the step before did not. One that only starts some has its weights in L2 before. */
static inline int dory_step_awaits(const struct dory_step *step, const struct dory_step *before)
{
    return !before || step->transfers_awaited > before->transfers_awaited;
}

#ifdef __cplusplus
}
#endif

#endif
