/* From which layer to which a tensor is needed, and what lives in L2 at a time. */
#ifndef DORYGEN_LIVES_H
#define DORYGEN_LIVES_H

#include "base/support.h"
#include "network/network.h"

struct plan_buffer; /* plan/plan.h */

/* Layers in which a tensor is needed: an observer looks at a layer's output when the next layer is about to start, even if
 * nobody reads it. */
struct tensor_life {
    int first, last;
    int readers;    /* also of what is a view of it */
    bool is_viewed; /* or a view: it is in L2, in HWC, and no ring */
};

/* Of all tensors. */
void tensor_lives(const struct network *network, struct tensor_life *lives);

/* By step, the bytes of L2 that buffers take. */
const uint32_t *buffers_live_bytes(const struct plan_buffer *buffers, int count, int step_count, struct arena *arena);

#endif
