/* How the cores of a kernel divide a list of equal items. */
#ifndef DORY_SHARE_H
#define DORY_SHARE_H

#include "dory/layer.h"

/* The part [first, end) of `items` that a core does: equal parts, the first cores one more where it does not divide. */
struct dory_share {
    uint32_t first, end;
};

static inline struct dory_share dory_share_of(uint32_t items, unsigned core, unsigned cores)
{
    uint32_t each = items / cores, more = items % cores;
    uint32_t first = core * each + dory_minimum(core, more);
    return (struct dory_share){first, first + each + (core < more)};
}

#endif
