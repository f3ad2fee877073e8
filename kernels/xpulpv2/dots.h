/* The loop of the kernels that have one word of input for four words of weights.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_DOTS_H
#define DORY_XPULPV2_DOTS_H

#include <stdbool.h>

#include "xpulp.h"

#if defined(DORY_XPULPV2)

/* 9 instructions for 16 MAC. */
#define DORY_DOTS(add)                                                                                                      \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n" LP_SETUP("x0", "%[words]", 9, "1") P_LW_NEXT("t0", "%[input]")                       \
                         P_LW_NEXT("t1", "%[weights]") P_LW_NEXT("t2", "%[weights]") P_LW_NEXT("t3", "%[weights]")          \
                             P_LW_NEXT("t4", "%[weights]") add("%[s0]", "t0", "t1") add("%[s1]", "t0", "t2")                \
                                 add("%[s2]", "t0", "t3") "1: " add("%[s3]", "t0", "t4") ".option pop\n"                    \
                     : [s0] "+r"(sum[0]), [s1] "+r"(sum[1]), [s2] "+r"(sum[2]), [s3] "+r"(sum[3]), [input] "+r"(*input),    \
                       [weights] "+r"(*weights)                                                                             \
                     : [words] "r"(words)                                                                                   \
                     : "t0", "t1", "t2", "t3", "t4", "memory")

/* Adds to each of four sums the dot products of `words` words of input with every fourth word of weights; both addresses
 * move on. */
static inline __attribute__((always_inline)) void dory_dots(int32_t sum[4], const uint8_t **input, const uint8_t **weights,
                                                            uint32_t words, bool is_signed)
{
    if (is_signed) {
        DORY_DOTS(PV_SDOTSP_B);
    } else {
        DORY_DOTS(PV_SDOTUSP_B);
    }
}

#else

static inline void dory_dots(int32_t sum[4], const uint8_t **input, const uint8_t **weights, uint32_t words, bool is_signed)
{
    for (; words > 0; words--, *input += 4) {
        for (unsigned i = 0; i < 4; i++, *weights += 4) {
            uint32_t x = dory_load_word(*input), w = dory_load_word(*weights);
            sum[i] = is_signed ? pv_sdotsp_b(sum[i], x, w) : pv_sdotusp_b(sum[i], x, w);
        }
    }
}

#endif

#endif
