/* What an engine says of forms of requantisation. Without one (null) all can be computed, and none is preferred. */
#ifndef DORYGEN_REQUANTISE_ENGINE_H
#define DORYGEN_REQUANTISE_ENGINE_H

#include "describe/requantise.h"

bool engine_can_compute(const struct requantise_engine *engine, const struct requantisation *form);

/* Whether it computes the layer faster in form a than in form b. */
bool engine_is_faster(const struct requantise_engine *engine, const struct requantisation *a,
                      const struct requantisation *b);

/* SPLIT, where it is faster than HIGH. Not where a channel has one output: its constants, which are longer, are then read as
 * often as its sums are made. */
bool engine_prefers_split(const struct requantise_engine *engine, enum dory_rounding rounding);

/* SHARED, where a channel has one output, so that what counts is the bytes of its constants. */
bool engine_prefers_shared(const struct requantise_engine *engine);

#endif
