/* Inner products of pixels of signed bytes and weights in sixteens (sixteens.h). */
#ifndef DORY_MVE_PRODUCT_H
#define DORY_MVE_PRODUCT_H

#include "helium.h"

/* Sums of four channels of three pixels. */
struct dory_mve_sums {
    int32x4_t pixel[3];
};

/* Two channels of three pixels, which lie `pixel_bytes` apart: 96 products in 12 instructions, whose sums take six of the
 * eight even registers. They start from `starts` and go to lanes `lane` and `lane` + 2. There is at least one sixteen. */
#if defined(DORY_HAS_HELIUM)
#define DORY_MVE_PRODUCT_PAIR(name, low, high)                                                                              \
    static inline __attribute__((always_inline)) void name(const uint8_t *pixels, uint32_t pixel_bytes,                     \
                                                           const uint8_t *weights, uint32_t sixteens,                       \
                                                           const int32_t *starts, struct dory_mve_sums *sums)               \
    {                                                                                                                       \
        const uint8_t *second = pixels + pixel_bytes, *third = second + pixel_bytes;                                        \
        int32_t a = starts[0], b = starts[2], c = a, d = b, e = a, f = b;                                                   \
        __asm__("dls lr, %[count]\n"                                                                                        \
                "1:\n"                                                                                                      \
                "vldrb.8 q0, [%[weights]], #32\n"                                                                           \
                "vldrb.8 q1, [%[first]], #16\n"                                                                             \
                "vmladava.s8 %[a], q0, q1\n"                                                                                \
                "vldrb.8 q2, [%[weights]], #32\n"                                                                           \
                "vmladava.s8 %[b], q2, q1\n"                                                                                \
                "vldrb.8 q1, [%[second]], #16\n"                                                                            \
                "vmladava.s8 %[c], q0, q1\n"                                                                                \
                "vmladava.s8 %[d], q2, q1\n"                                                                                \
                "vldrb.8 q1, [%[third]], #16\n"                                                                             \
                "vmladava.s8 %[e], q0, q1\n"                                                                                \
                "vmladava.s8 %[f], q2, q1\n"                                                                                \
                "le lr, 1b\n"                                                                                               \
                "vmov %q[x][" high "], %q[x][" low "], %[a], %[b]\n"                                                        \
                "vmov %q[y][" high "], %q[y][" low "], %[c], %[d]\n"                                                        \
                "vmov %q[z][" high "], %q[z][" low "], %[e], %[f]\n"                                                        \
                : [a] "+&Te"(a), [b] "+&Te"(b), [c] "+&Te"(c), [d] "+&Te"(d), [e] "+&Te"(e), [f] "+&Te"(f),                 \
                  [x] "+&w"(sums->pixel[0]), [y] "+&w"(sums->pixel[1]), [z] "+&w"(sums->pixel[2]), [first] "+&r"(pixels),   \
                  [second] "+&r"(second), [third] "+&r"(third), [weights] "+&r"(weights)                                    \
                : [count] "r"(sixteens)                                                                                     \
                : "q0", "q1", "q2", "lr", "memory");                                                                        \
    }
DORY_MVE_PRODUCT_PAIR(dory_mve_product_even, "0", "2")
DORY_MVE_PRODUCT_PAIR(dory_mve_product_odd, "1", "3")
#endif

/* Four channels of three pixels. */
static inline __attribute__((always_inline)) struct dory_mve_sums
dory_mve_product_pixels(const uint8_t *pixels, uint32_t pixel_bytes, const uint8_t *weights, uint32_t sixteens,
                        const int32_t *starts)
{
    struct dory_mve_sums sums;
#if defined(DORY_HAS_HELIUM)
    for (uint32_t i = 0; i < 3; i++) {
        sums.pixel[i] = vuninitializedq_s32();
    }
    dory_mve_product_even(pixels, pixel_bytes, weights, sixteens, starts, &sums);
    dory_mve_product_odd(pixels, pixel_bytes, weights + 16, sixteens, starts + 1, &sums);
#else
    for (uint32_t i = 0; i < 12; i++) {
        int32_t sum = 0;
        for (uint32_t k = 0; k < 16 * sixteens; k++) {
            sum += (int8_t)pixels[i / 4 * pixel_bytes + k] * (int8_t)weights[k / 16 * 64 + i % 4 * 16 + k % 16];
        }
        sums.pixel[i / 4].lane[i % 4] = (int32_t)((uint32_t)starts[i % 4] + (uint32_t)sum);
    }
#endif
    return sums;
}

/* Four channels of one pixel: 64 products in 10 instructions. */
static inline __attribute__((always_inline)) void dory_mve_product_quad(const uint8_t *pixel, const uint8_t *weights,
                                                                        uint32_t sixteens, const int32_t *starts,
                                                                        int32_t sums[4])
{
#if defined(DORY_HAS_HELIUM)
    int32_t a = starts[0], b = starts[1], c = starts[2], d = starts[3];
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
        sums[i] = (int32_t)((uint32_t)starts[i] + (uint32_t)sum);
    }
#endif
}

#endif
