/* The price of a decision: what follows from it, with nothing written down. */
#ifndef DORYGEN_PRICE_H
#define DORYGEN_PRICE_H

#include "choose/decision.h"
#include "place/place.h"

/* What a decision costs, offsets aside. */
struct price {
    uint64_t cycles;
    uint32_t live_bytes, l2_bytes; /* of what is not prefetched; it does not fit where the first are more */
    int live_layer;                /* at which most live */
    int parts;                     /* steps and transfers */
};

/* Where it fits and takes more cycles than the limit, or where it does not fit, it takes at least as many as the price
 * says. */
struct price decision_price(const struct decision *decision, uint64_t limit);

/* The price's parts, in far less time. */
int decision_parts(const struct decision *decision);

/* How places are found while a decision is played: for what must live, with so much care, and for prefetches in the lowest
 * or highest gap. */
struct gaps_variant {
    bool from_above;
    enum place_care care;
};

/* Cycles with places found so, at least where that is above the limit; UINT64_MAX: there are none. */
uint64_t decision_price_in_gaps(const struct decision *decision, const struct gaps_variant *variant, uint64_t limit);

/* Bytes of L2 with which the decision has places, were nothing prefetched. */
uint32_t decision_least_bytes(const struct decision *decision);

#endif
