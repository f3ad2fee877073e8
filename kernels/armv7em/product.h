/* Inner products of pixels, whose elements are laid as pairs of halves, and weights in quads of bytes. */
#ifndef DORY_ARMV7EM_PRODUCT_H
#define DORY_ARMV7EM_PRODUCT_H

#include <stdint.h>

/* Two channels of four pixels: sums[2 * pixel + channel] += products. Of each group of four elements k of the pixels p:
 * `pairs` has the words {p0 k0 k2}, {p1 k0 k2}, {p2 k0 k2}, {p3 k0 k2}, {p0 k1 k3}, ..., {p3 k1 k3}, `weights` has four
 * bytes of either channel and, 16 bytes on, those of the next group. There is at least one group. */
void dory_product_pair(const uint32_t *pairs, const uint8_t *weights, int32_t sums[8], uint32_t groups);

/* The same, requantised: two channels of four pixels of bytes without a sign, which nothing else clips, in the form
 * DORY_NORMALISE_HIGH, rounding down or away from zero. Assembly knows the order of the members. */
struct dory_pair_high {
    const uint8_t *constants; /* of the first channel, see kernels/quads */
    uint8_t *output;
    uint32_t pixel_bytes;
    uint32_t left_shift;
    uint32_t away; /* what is taken off a sum below zero */
};
typedef void dory_product_pair_function(const uint32_t *pairs, const uint8_t *weights, const struct dory_pair_high *to,
                                        uint32_t groups);
dory_product_pair_function dory_product_pair_high, dory_product_pair_high_away;

/* Four channels of one pixel: `pairs` has the words {k0 k2}, {k1 k3} of each group, `weights` four bytes of each channel. */
void dory_product_quad(const uint32_t *pairs, const uint8_t *weights, int32_t sums[4], uint32_t groups);

/* The same of a pixel's bytes as they are: no scratch, and two instructions more for 16 products. */
typedef void dory_product_bytes_function(const uint8_t *terms, const uint8_t *weights, int32_t sums[4], uint32_t groups);
dory_product_bytes_function dory_product_quad_unsigned, dory_product_quad_signed;

#endif
