/* Elements that floating point may round to either side: exact halves of stages that round them to even, and what depends on
 * such elements. onnxruntime's outputs may differ there, however exact both are. */
#ifndef DORYGEN_TIES_H
#define DORYGEN_TIES_H

#include "base/support.h"
#include "network/network.h"

/* Of each tensor, one number an element: 1 at a tie or behind one, else 0. `tensors` are the network's values, as
 * interpret_network gives them. Null after an error was reported. */
int64_t **ties_find(const struct network *network, int64_t *const *tensors, struct arena *arena,
                    struct diagnostics *diagnostics);

#endif
