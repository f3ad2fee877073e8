/* Inner products of pixels of signed bytes and weights in sixteens (sixteens.h). */
#ifndef DORY_MVE_PRODUCT_H
#define DORY_MVE_PRODUCT_H

#include "helium.h"

/* Two channels of three pixels, which lie `pixel_bytes` apart: sums[4 * pixel + channel]. 96 products in 12 instructions,
 * whose sums take six of the eight even registers. There is at least one sixteen. */
static inline __attribute__((always_inline)) void
dory_mve_product_pair(const uint8_t *pixels, uint32_t pixel_bytes, const uint8_t *weights, uint32_t sixteens, int32_t *sums)
{
#if defined(DORY_HAS_HELIUM)
    const uint8_t *second = pixels + pixel_bytes, *third = second + pixel_bytes;
    int32_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0;
    __asm__("dls lr, %[count]\n"
            "1:\n"
            "vldrb.8 q0, [%[weights]], #16\n"
            "vldrb.8 q1, [%[first]], #16\n"
            "vmladava.s8 %[a], q0, q1\n"
            "vldrb.8 q2, [%[weights]], #48\n"
            "vmladava.s8 %[b], q2, q1\n"
            "vldrb.8 q1, [%[second]], #16\n"
            "vmladava.s8 %[c], q0, q1\n"
            "vmladava.s8 %[d], q2, q1\n"
            "vldrb.8 q1, [%[third]], #16\n"
            "vmladava.s8 %[e], q0, q1\n"
            "vmladava.s8 %[f], q2, q1\n"
            "le lr, 1b\n"
            : [a] "+&Te"(a), [b] "+&Te"(b), [c] "+&Te"(c), [d] "+&Te"(d), [e] "+&Te"(e), [f] "+&Te"(f),
              [first] "+&r"(pixels), [second] "+&r"(second), [third] "+&r"(third), [weights] "+&r"(weights)
            : [count] "r"(sixteens)
            : "q0", "q1", "q2", "lr", "memory");
    sums[0] = a;
    sums[1] = b;
    sums[4] = c;
    sums[5] = d;
    sums[8] = e;
    sums[9] = f;
#else
    for (uint32_t i = 0; i < 6; i++) {
        int32_t sum = 0;
        for (uint32_t k = 0; k < 16 * sixteens; k++) {
            sum += (int8_t)pixels[i / 2 * pixel_bytes + k] * (int8_t)weights[k / 16 * 64 + i % 2 * 16 + k % 16];
        }
        sums[i / 2 * 4 + i % 2] = sum;
    }
#endif
}

/* Four channels of one pixel: 64 products in 10 instructions. */
static inline __attribute__((always_inline)) void dory_mve_product_quad(const uint8_t *pixel, const uint8_t *weights,
                                                                        uint32_t sixteens, int32_t sums[4])
{
#if defined(DORY_HAS_HELIUM)
    int32_t a = 0, b = 0, c = 0, d = 0;
    __asm__("dls lr, %[count]\n"
            "1:\n"
            "vldrb.8 q0, [%[pixel]], #16\n"
            "vldrb.8 q1, [%[weights]], #16\n"
            "vmladava.s8 %[a], q0, q1\n"
            "vldrb.8 q1, [%[weights]], #16\n"
            "vmladava.s8 %[b], q0, q1\n"
            "vldrb.8 q1, [%[weights]], #16\n"
            "vmladava.s8 %[c], q0, q1\n"
            "vldrb.8 q1, [%[weights]], #16\n"
            "vmladava.s8 %[d], q0, q1\n"
            "le lr, 1b\n"
            : [a] "+&Te"(a), [b] "+&Te"(b), [c] "+&Te"(c), [d] "+&Te"(d), [pixel] "+&r"(pixel), [weights] "+&r"(weights)
            : [count] "r"(sixteens)
            : "q0", "q1", "lr", "memory");
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
#else
    for (uint32_t i = 0; i < 4; i++) {
        int32_t sum = 0;
        for (uint32_t k = 0; k < 16 * sixteens; k++) {
            sum += (int8_t)pixel[k] * (int8_t)weights[k / 16 * 64 + i * 16 + k % 16];
        }
        sums[i] = sum;
    }
#endif
}

#endif
