/* How the operands of a layer lie in memory, as the firmware sees them: 0 and 1 are inputs, 2 is the output. */
#ifndef DORYGEN_OPERAND_H
#define DORYGEN_OPERAND_H

#include "dory/contract.h"
#include "dory/network.h"

/* A second input of one pixel, which every tile reads. */
bool operand_is_pixel(const struct dory_layer *record, unsigned operand);
/* An input of whose channels every step reads all, whichever it computes. */
bool operand_has_all_channels(const struct dory_layer *record, unsigned operand);

uint32_t operand_height(const struct dory_layer *record, unsigned operand);
uint32_t operand_width(const struct dory_layer *record, unsigned operand);
uint32_t operand_channels(const struct dory_layer *record, unsigned operand);
uint32_t operand_bits(const struct dory_layer *record, unsigned operand);

/* Bytes of some channels of a pixel, of a row, of a window. */
uint32_t operand_pixel_bytes(const struct dory_layer *record, unsigned operand, uint32_t channels);
uint32_t operand_row_bytes(const struct dory_layer *record, unsigned operand);
uint32_t operand_window_bytes(const struct dory_layer *record, unsigned operand, const struct dory_window *window);

/* Where a step finds it. */
const struct dory_window *operand_window(const struct dory_step *step, unsigned operand);

#endif
