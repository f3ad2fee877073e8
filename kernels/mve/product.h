/* Inner products of pixels of signed bytes and weights in sixteens (sixteens.h). */
#ifndef DORY_MVE_PRODUCT_H
#define DORY_MVE_PRODUCT_H

#include "helium.h"

/* Sums of four channels of three pixels. */
struct dory_mve_sums {
    int32x4_t pixel[3];
};

/* Two channels of three pixels: 96 products in 12 instructions, whose sums take six of the eight even registers. Registers
 * have names, and lr the number of sixteens: compilers find too few others with -Os, or with a frame pointer, as in a Debug
 * build. */
#define DORY_MVE_PAIR_LOOP                                                                                                  \
    "mov %[c], %[a]\n"                                                                                                      \
    "mov %[d], %[b]\n"                                                                                                      \
    "mov %[e], %[a]\n"                                                                                                      \
    "mov %[f], %[b]\n"                                                                                                      \
    "dls lr, lr\n"                                                                                                          \
    "1:\n"                                                                                                                  \
    "vldrb.8 q0, [%[weights]], #32\n"                                                                                       \
    "vldrb.8 q1, [%[first]], #16\n"                                                                                         \
    "vmladava.s8 %[a], q0, q1\n"                                                                                            \
    "vldrb.8 q2, [%[weights]], #32\n"                                                                                       \
    "vmladava.s8 %[b], q2, q1\n"                                                                                            \
    "vldrb.8 q1, [%[second]], #16\n"                                                                                        \
    "vmladava.s8 %[c], q0, q1\n"                                                                                            \
    "vmladava.s8 %[d], q2, q1\n"                                                                                            \
    "vldrb.8 q1, [%[third]], #16\n"                                                                                         \
    "vmladava.s8 %[e], q0, q1\n"                                                                                            \
    "vmladava.s8 %[f], q2, q1\n"                                                                                            \
    "le lr, 1b\n"
#define DORY_MVE_PAIR_SUMS(low, high)                                                                                       \
    "vmov %q[x][" high "], %q[x][" low "], %[a], %[b]\n"                                                                    \
    "vmov %q[y][" high "], %q[y][" low "], %[c], %[d]\n"                                                                    \
    "vmov %q[z][" high "], %q[z][" low "], %[e], %[f]\n"

/* Four channels of three pixels, which lie one behind the other. There is at least one sixteen; behind the weights lie the
 * words that sums start from, where the pointer to them is after channels 0 and 2; those to pixels are at the next one. */
static inline __attribute__((always_inline)) struct dory_mve_sums
dory_mve_product_pixels(const uint8_t *pixels, const uint8_t *weights, uint32_t sixteens)
{
    struct dory_mve_sums sums;
    const int32_t *starts = (const int32_t *)(const void *)(weights + 64 * sixteens);
#if defined(DORY_HAS_HELIUM)
    register const uint8_t *first __asm__("r1") = pixels, *second __asm__("r3") = first + 16 * sixteens;
    register const uint8_t *third __asm__("r5") = second + 16 * sixteens, *next __asm__("r9") = weights;
    register int32_t a __asm__("r0") = starts[0], b __asm__("r2") = starts[2];
    register int32_t c __asm__("r4"), d __asm__("r6"), e __asm__("r8"), f __asm__("r10");
    int32x4_t x, y, z;
    __asm__("vmov lr, %[count]\n" DORY_MVE_PAIR_LOOP DORY_MVE_PAIR_SUMS(
                "0", "2") "vmov lr, %[count]\n"
                          "ldr %[a], [%[weights], #4]\n"
                          "ldr %[b], [%[weights], #12]\n"
                          "mov %[third], %[second]\n"
                          "mov %[second], %[first]\n"
                          "sub %[first], %[first], lr, lsl #4\n"
                          "sub %[weights], %[weights], lr, lsl #6\n"
                          "add %[weights], %[weights], #16\n" DORY_MVE_PAIR_LOOP DORY_MVE_PAIR_SUMS("1", "3")
            : [a] "+&r"(a), [b] "+&r"(b), [c] "=&r"(c), [d] "=&r"(d), [e] "=&r"(e), [f] "=&r"(f), [x] "=&w"(x), [y] "=&w"(y),
              [z] "=&w"(z), [first] "+&r"(first), [second] "+&r"(second), [third] "+&r"(third), [weights] "+&r"(next)
            : [count] "t"(sixteens)
            : "q0", "q1", "q2", "lr", "memory");
    sums = (struct dory_mve_sums){{x, y, z}};
#else
    for (uint32_t i = 0; i < 12; i++) {
        int32_t sum = 0;
        for (uint32_t k = 0; k < 16 * sixteens; k++) {
            sum += (int8_t)pixels[i / 4 * 16 * sixteens + k] * (int8_t)weights[k / 16 * 64 + i % 4 * 16 + k % 16];
        }
        sums.pixel[i / 4].lane[i % 4] = (int32_t)((uint32_t)starts[i % 4] + (uint32_t)sum);
    }
#endif
    return sums;
}

/* Whole quads of three pixels, requantised: bytes in the form DORY_NORMALISE_HIGH, rounding down or away from zero. Assembly
 * knows the order of the members. */
struct dory_mve_quads {
    const uint8_t *pixels, *weights;
    uint8_t *output;
    uint32_t sixteens, pixel_bytes, left_shift;
    uint32_t away; /* what is taken off a sum below zero */
    int32_t minimum, maximum;
    const uint8_t *end; /* of the weights; there is at least one quad */
};
typedef void dory_mve_quads_function(const struct dory_mve_quads *quads);
dory_mve_quads_function dory_mve_quads_high, dory_mve_quads_high_away;

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
