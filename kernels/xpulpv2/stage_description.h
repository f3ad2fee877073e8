/* What the planner knows of the ends of elements that have the same stages in all channels: see stage.c.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_STAGE_DESCRIPTION_H
#define DORY_XPULPV2_STAGE_DESCRIPTION_H

#include "narrow_stage.h"

/* Cycles from a sum in the range to an element, where they are done one by one. */
uint32_t dory_scalar_finish_cycles(const struct dory_layer *layer, struct dory_range range);

/* From four sums to four elements, see dory_scalar_finish_all: less where one product and one shift are enough. */
uint32_t dory_four_finish_cycles(const struct dory_layer *layer, struct dory_range range);

/* The same of sixteen. */
uint32_t dory_sixteen_finish_cycles(const struct dory_layer *layer, struct dory_range range);

/* From two elements of at most 8 bits to one of an addition's, one by one, not by tables. */
uint32_t dory_addition_element_cycles(const struct dory_layer *layer);

/* Of sixteen integers of both inputs that become those of the output in 32 bits. */
uint32_t dory_sixteen_sums_cycles(const struct dory_narrow_stage input[2], const struct dory_narrow_stage sum[2]);

/* Before the first element, to bring a second stage to its narrow form. */
#define DORY_SECOND_STAGE_CYCLES 220

/* From an element of one input to one of a concatenation's. */
uint32_t dory_concatenation_element_cycles(const struct dory_layer *layer, bool is_second);

#endif
