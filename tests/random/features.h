/* What random networks contain, counted, so that a feature that never occurs is noticed. */
#ifndef DORY_TEST_FEATURES_H
#define DORY_TEST_FEATURES_H

#include <stdbool.h>

#include "onnx_builder.h"
#include "plan/plan.h"

#define MAXIMUM_FEATURES   80
#define MAXIMUM_NODE_TYPES 16

struct features {
    int networks[MAXIMUM_FEATURES]; /* in how many networks each occurs */
    int models[MAXIMUM_NODE_TYPES]; /* in how many models nodes of each type occur */
};

void features_count(struct features *features, const struct plan *plan);
void features_count_nodes(struct features *features, const Onnx__ModelProto *model);

/* Prints all of them. False where one does not occur; of imported networks, one that an import can give. */
bool features_print(const struct features *features, bool imported);

#endif
