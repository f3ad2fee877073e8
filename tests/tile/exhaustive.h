/* The best tile of a layer by trying all of them, one by one: what the planner's search has to find. */
#ifndef EXHAUSTIVE_H
#define EXHAUSTIVE_H

#include "tile/tile.h"

struct exhaustive {
    struct tiling best;
    uint64_t cycles;
    uint32_t l1_bytes;
    bool found;
    uint64_t any_cycles;    /* the fewest of all tilings that fit, those with fewer double buffers than fit among
                             * them; with a limit, as of `cycles` */
    uint64_t tried, played; /* tilings that fit; those of them that were played to their end */
    uint64_t above;         /* without a limit, of some of these: a bound of tile_bounds.h is more than they take */
};

/* The legal tiling with the fewest cycles, among equals with the least L1. UINT64_MAX as limit: all are played to their end.
 * Else those that take at most `limit` cycles, and one is given up when the cycles it has taken, and the overheads of its
 * tiles to come, exceed the best so far. With all that may be in place there: L1 is large enough for that. */
struct exhaustive try_all_tilings(const struct tile_problem *problem, uint64_t limit);

#endif
