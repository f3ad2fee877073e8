/* What the firmware does in a layer, and what it is called. */
#ifndef DORYGEN_OPERATION_H
#define DORYGEN_OPERATION_H

#include "dory/layer.h"
#include "network/network.h"

/* All of enum dory_operation: its constant in C, its word in report.json, which stays, and what people read. */
#define DORY_OPERATIONS(X)                                                                                                  \
    X(DORY_CONVOLUTION, "convolution", "convolution")                                                                       \
    X(DORY_DEPTHWISE, "depthwise", "depth-wise convolution")                                                                \
    X(DORY_MAXIMUM_POOL, "maximum_pool", "maximum pool")                                                                    \
    X(DORY_AVERAGE_POOL, "average_pool", "average pool")                                                                    \
    X(DORY_ADDITION, "addition", "addition")                                                                                \
    X(DORY_GROUPED, "grouped", "convolution in groups")                                                                     \
    X(DORY_CONCATENATION, "concatenation", "concatenation")                                                                 \
    X(DORY_COPY, "copy", "copy")                                                                                            \
    X(DORY_TABLE, "table", "table")                                                                                         \
    X(DORY_SOFTMAX, "softmax", "softmax")                                                                                   \
    X(DORY_MULTIPLICATION, "multiplication", "multiplication")                                                              \
    X(DORY_INTERPOLATION, "interpolation", "interpolation")                                                                 \
    X(DORY_LARGEST, "largest", "channel of the largest element")

enum dory_operation layer_operation(const struct network *network, const struct layer *layer);

/* In report.json, where a convolution over its whole input is "fully_connected". */
const char *layer_identifier(const struct network *network, const struct layer *layer);

/* For people: "depth-wise convolution", "fully connected". */
const char *layer_words(const struct network *network, const struct layer *layer);

#endif
