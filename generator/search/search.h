/* The search for the best decision, as the planner asks for it. */
#ifndef DORYGEN_SEARCH_H
#define DORYGEN_SEARCH_H

#include "choose/decision.h"

/* ---- optimise.c ---- */

/* What a search has come to. */
struct outcome {
    struct decision decision;           /* the fastest for which places have been found */
    uint64_t cycles;                    /* UINT64_MAX: none */
    struct plan_traffic without_blocks; /* of the fastest that has none, where one with blocks is taken */
    struct plan_proof proof;            /* what is known of all decisions */
};

/* The best decision that is found. False where there is none. */
bool optimise(const struct problem *problem, struct outcome *outcome);

/* ---- least.c ---- */

/* Bytes of the L1 arena with which every layer has a tile, and the layer that needs them. */
uint32_t least_l1(const struct problem *problem, int *layer);

/* A decision with which the network needs the fewest bytes of L2: how many, and the layer that needs most. False where a
 * layer has no tile. */
bool least_l2(struct decision *decision, uint32_t *bytes, int *layer);

/* Reports that the network does not fit, and the least L1 and L2 with which it does. */
void least_report(const struct problem *problem, struct diagnostics *diagnostics);

#endif
