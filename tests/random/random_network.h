/* Random networks: the same seed gives the same network on every machine. */
#ifndef DORY_TEST_RANDOM_NETWORK_H
#define DORY_TEST_RANDOM_NETWORK_H

#include "base/support.h"
#include "network/network.h"

struct random {
    uint64_t state;
};

/* From `least` to `most`, both included. */
int64_t random_between(struct random *random, int64_t least, int64_t most);
bool random_chance(struct random *random, int percent);

enum random_kind {
    RANDOM_CONVOLUTION,
    RANDOM_POINTWISE,
    RANDOM_DEPTHWISE,
    RANDOM_LINEAR,
    RANDOM_LINEAR_32, /* 32-bit results, neither normalised nor clipped */
    RANDOM_MAXIMUM_POOL,
    RANDOM_AVERAGE_POOL,
    RANDOM_GLOBAL_POOL,
    RANDOM_ADDITION,      /* of the input with itself */
    RANDOM_GROUPED,       /* in any number of groups, also as many as input channels with several outputs each */
    RANDOM_CONCATENATION, /* of the input with itself */
    RANDOM_REQUANTISATION,
    RANDOM_PADDING,
    RANDOM_KINDS
};

const char *random_kind_name(enum random_kind kind);

/* One layer; `mixed`: elements and weights of 2 and 4 bits, too. */
struct network *random_layer(struct random *random, enum random_kind kind, bool mixed, struct arena *arena);

/* Two to eight layers, with residual connections, as NEMO writes them. */
struct network *random_network(struct random *random, struct arena *arena);

/* Up to sixteen layers of every kind in any graph: several inputs and outputs, additions and concatenations of any span,
 * elements and weights of 2, 4 and 8 bits. */
struct network *random_graph(struct random *random, struct arena *arena);

/* Up to twelve layers behind each other, residual connections among them, of which some can take turns. */
struct network *random_chain(struct random *random, struct arena *arena);

/* Convolutions whose windows keep the shape, some depth-wise, and residual additions, of words a pixel: results between
 * which the border of the next layer has room. */
struct network *random_windows(struct random *random, struct arena *arena);

/* Up to sixteen layers, of which some have the same weights. */
struct network *random_steps(struct random *random, struct arena *arena);

/* Values for each of its inputs, all within what the tensors declare, extremes included. */
const int64_t *const *random_inputs(struct random *random, const struct network *network, struct arena *arena);

/* "convolution 3x5/2,1 7x9x13->4x9x20, ..." */
const char *random_network_text(const struct network *network, struct arena *arena);

#endif
