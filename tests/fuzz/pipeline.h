/* Everything that dory generate does with a model before it writes files. */
#ifndef DORY_FUZZ_PIPELINE_H
#define DORY_FUZZ_PIPELINE_H

#include <stddef.h>
#include <stdint.h>

/* Import, range, plan (which checks itself), weights, and the golden interpreter on an input of extremes. Aborts where a
 * pass breaks a promise: a failure without an error, a fault of dory, a value out of its proven range. */
void pipeline_run(const uint8_t *model, size_t length, unsigned choices);

#endif
