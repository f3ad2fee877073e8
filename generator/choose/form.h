/* The form of requantisation of a layer: the cheapest that equals the model's, for the engine that computes the layer. */
#ifndef DORYGEN_FORM_H
#define DORYGEN_FORM_H

#include "describe/describe.h"
#include "target/target.h"

/* A described layer in the form that suits an engine. */
struct formed_layer {
    const struct dory_engine *engine;
    struct dory_layer record;
    const struct requantisation *requantisation; /* null: nothing to be said */
};

/* For the first of the target's engines that can compute the layer. False after an error was reported: `name`, the layer's,
 * is for it. */
bool form_layer(const struct described_layer *described, const struct target *target, unsigned cores, const char *name,
                struct formed_layer *formed, struct arena *arena, struct diagnostics *diagnostics);

#endif
