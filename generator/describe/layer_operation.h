/* What the firmware does in a layer, and what it is called. */
#ifndef DORYGEN_LAYER_OPERATION_H
#define DORYGEN_LAYER_OPERATION_H

#include "dory/layer.h"
#include "network/network.h"

/* All of enum dory_operation: its constant in C, its word in report.json, which stays, and what people read. A word that the
 * tables of dory/cost.h have, too, is a macro. */
#define WORD_CONVOLUTION    "convolution"
#define WORD_MAXIMUM_POOL   "maximum_pool"
#define WORD_AVERAGE_POOL   "average_pool"
#define WORD_ADDITION       "addition"
#define WORD_MULTIPLICATION "multiplication"
#define WORD_CONCATENATION  "concatenation"
#define WORD_TABLE          "table"
#define DORY_OPERATIONS(X)                                                                                                  \
    X(DORY_CONVOLUTION, WORD_CONVOLUTION, "convolution")                                                                    \
    X(DORY_DEPTHWISE, "depthwise", "depth-wise")                                                                            \
    X(DORY_MAXIMUM_POOL, WORD_MAXIMUM_POOL, "maximum pool")                                                                 \
    X(DORY_AVERAGE_POOL, WORD_AVERAGE_POOL, "average pool")                                                                 \
    X(DORY_ADDITION, WORD_ADDITION, "addition")                                                                             \
    X(DORY_GROUPED, "grouped", "convolution in groups")                                                                     \
    X(DORY_CONCATENATION, WORD_CONCATENATION, "concatenation")                                                              \
    X(DORY_COPY, "copy", "copy")                                                                                            \
    X(DORY_TABLE, WORD_TABLE, "table")                                                                                      \
    X(DORY_SOFTMAX, "softmax", "softmax")                                                                                   \
    X(DORY_MULTIPLICATION, WORD_MULTIPLICATION, "multiplication")                                                           \
    X(DORY_INTERPOLATION, "interpolation", "interpolation")                                                                 \
    X(DORY_LARGEST, "largest", "channel of the largest element")                                                            \
    X(DORY_TRANSPOSITION, "transposition", "transposition")                                                                 \
    X(DORY_NORM, "norm", "norm")                                                                                            \
    X(DORY_MATRIX_PRODUCT, "matrix_product", "matrix product")                                                              \
    X(DORY_SQUARED_DIFFERENCE, "squared_difference", "squared difference")                                                  \
    X(DORY_QUOTIENT, "quotient", "quotient")                                                                                \
    X(DORY_LSTM, "lstm", "LSTM")                                                                                            \
    X(DORY_CONSTANT, "constant", "constant")

/* All of enum dory_normalisation, how an accumulator becomes an element: its constant in C, and its word in report.json. */
#define WORD_NORMALISE_NONE    "none"
#define WORD_NORMALISE_32      "shift_32"
#define WORD_NORMALISE_64      "shift_64"
#define WORD_NORMALISE_DIVIDE  "divide"
#define WORD_NORMALISE_CLAMPED "clamped_32"
#define WORD_NORMALISE_HIGH    "high_32"
#define WORD_NORMALISE_SHARED  "shared_32"
#define DORY_NORMALISATIONS(X)                                                                                              \
    X(DORY_NORMALISE_NONE, WORD_NORMALISE_NONE)                                                                             \
    X(DORY_NORMALISE_32, WORD_NORMALISE_32)                                                                                 \
    X(DORY_NORMALISE_64, WORD_NORMALISE_64)                                                                                 \
    X(DORY_NORMALISE_DIVIDE, WORD_NORMALISE_DIVIDE)                                                                         \
    X(DORY_NORMALISE_CLAMPED, WORD_NORMALISE_CLAMPED)                                                                       \
    X(DORY_NORMALISE_SPLIT, "split_32")                                                                                     \
    X(DORY_NORMALISE_HIGH, WORD_NORMALISE_HIGH)                                                                             \
    X(DORY_NORMALISE_SHARED, WORD_NORMALISE_SHARED)                                                                         \
    X(DORY_NORMALISE_THRESHOLDS, "thresholds")                                                                              \
    X(DORY_NORMALISE_CHANNELS, "high_32_channels")

/* A layer as a plan sees it. What its constants are is of no account, only whether there are any, so their pointer is the
 * same for all that have some; but an interpolation's taps, which say what a tile reads and what it costs. Of the stages
 * there are none: who compares layers compares what they point to. */
struct dory_layer layer_without_constants(const struct dory_layer *record);

enum dory_operation layer_operation(const struct network *network, const struct layer *layer);

/* In report.json, where a convolution over its whole input is "fully_connected". */
const char *layer_identifier(const struct network *network, const struct layer *layer);

/* For people: "depth-wise", "fully connected". */
const char *layer_words(const struct network *network, const struct layer *layer);

#endif
