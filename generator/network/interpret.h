/* The golden model: executes a network in exact integers, straight from the meaning that layer.h gives each layer.
 * It shares no code with the kernels and none with the planner. A tensor is an array of int64_t in HWC order.
 */
#ifndef DORYGEN_INTERPRET_H
#define DORYGEN_INTERPRET_H

#include "base/support.h"
#include "network/network.h"

/* Writes what a view has of its home's elements; of another tensor nothing. */
void interpret_view(const struct network *network, int tensor, int64_t *const *tensors);

/* Writes what a layer has computed to the tensor that its output is a view of; of another layer nothing. */
void interpret_result(const struct network *network, int layer, int64_t *const *tensors);

/* Computes tensors[layer's output] (allocated by the caller) from tensors[its inputs], of which it writes those that are
 * views. False after an error was reported: a value exceeds 64 bits. */
bool interpret_layer(const struct network *network, int layer, int64_t *const *tensors, struct diagnostics *diagnostics);

/* Arrays for the values of every tensor, indexed as network->tensors. */
int64_t **interpret_allocate(const struct network *network, struct arena *arena);

/* All layers. `inputs` has network->input_count arrays. The values of every tensor, indexed as network->tensors; null after
 * an error was reported. */
int64_t **interpret_network(const struct network *network, const int64_t *const *inputs, struct arena *arena,
                            struct diagnostics *diagnostics);

/* One stage on one number. False if the result exceeds 64 bits. */
bool interpret_stage(const struct stage *stage, int channel, int64_t x, int64_t *y);

#endif
