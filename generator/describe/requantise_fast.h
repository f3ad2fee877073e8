/* CLAMPED where it is not equal, on demand. */
#ifndef DORYGEN_REQUANTISE_FAST_H
#define DORYGEN_REQUANTISE_FAST_H

#include "describe/requantise.h"

/* Constants of the clamped form for a channel that is as near to the function as rounded numbers are; those that are equal
 * where there are such. Adds to the form's wrong accumulators how many of its results differ, counted exactly, and by how
 * much. False where sums would leave 32 bits. */
bool requantise_fast(struct requantisation *form, int channel, const struct step_function *function, long double slope,
                     struct arena *arena);

#endif
