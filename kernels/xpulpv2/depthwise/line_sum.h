/* One output of a line of a depth-wise layer, where there are fewer than four next to each other.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_LINE_SUM_H
#define DORY_XPULPV2_LINE_SUM_H

#include <stdbool.h>
#include <stdint.h>

struct dory_line_taps {
    const uint8_t *weights; /* of four lanes, each filled up with zeros to words */
    uint32_t kernel, pixel_step;
    uint32_t lanes; /* 1 to 4 channels next to each other */
    bool is_signed; /* the input */
};

/* The sum of each lane of the output whose first pixel is at `input`. */
void dory_line_sum(const struct dory_line_taps *taps, const uint8_t *input, int32_t sum[4]);

#endif
