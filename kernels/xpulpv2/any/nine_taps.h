/* Depth-wise 3x3 of elements of 16 bits, two channels at a time: a word is an element of either.
 *
 * Words of two taps are packed to pairs of one channel, four pairs of either; the ninth tap takes a weight beside zero. All
 * weights are in registers: a pixel takes 9 loads, 8 packs, 10 dot products and 2 stores for 18 products, 14.5 cycles an
 * output, whatever the stride.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_NINE_TAPS_H
#define DORY_XPULPV2_NINE_TAPS_H

#include <stdbool.h>

#include "../xpulp.h"
#include "store.h"

/* Pixels of a row, two channels. */
struct dory_nine_taps {
    const uint8_t *row[3]; /* of the first pixel's taps */
    int32_t step, back;    /* from tap to tap; from a row's last tap to the next pixel's first */
    const uint16_t *weights;
    int32_t *sum;
    uint32_t count;
};

#if defined(DORY_XPULPV2)

/* a0 to a2 are rows, s2 to s11 weights, a6 and a7 sums. */
#define TWO_PAIRS(t0, t1, t2, t3)                                                                                           \
    PV_PACK_H("t4", t1, t0) PV_PACK_H_H(t0, t1, t0) PV_PACK_H("t5", t3, t2) PV_PACK_H_H(t2, t3, t2)

/* Instructions of its loop. */
#define NINE (29 + MORE_FOR_HIGH_PACKS(4))

#define SUM_NINE(first_dot, dot)                                                                                            \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n"                                                                                      \
                     "lw a0, 0(%[nine])\n"                                                                                  \
                     "lw a1, 4(%[nine])\n"                                                                                  \
                     "lw a2, 8(%[nine])\n"                                                                                  \
                     "lw a3, 12(%[nine])\n"                                                                                 \
                     "lw a4, 16(%[nine])\n"                                                                                 \
                     "lw t1, 20(%[nine])\n"                                                                                 \
                     "lw a5, 24(%[nine])\n"                                                                                 \
                     "lw t0, 28(%[nine])\n"                                                                                 \
                     "lw s11, 36(t1)\n"                                                                                     \
                     "lw s2, 0(t1)\n"                                                                                       \
                     "lw s3, 4(t1)\n"                                                                                       \
                     "lw s4, 8(t1)\n"                                                                                       \
                     "lw s5, 12(t1)\n"                                                                                      \
                     "lw s6, 16(t1)\n"                                                                                      \
                     "lw s7, 20(t1)\n"                                                                                      \
                     "lw s8, 24(t1)\n"                                                                                      \
                     "lw s9, 28(t1)\n"                                                                                      \
                     "lw s10, 32(t1)\n"                                                                                     \
                     "slli s11, s11, 16\n" LP_SETUP("x0", "t0", NINE, "1") P_LW_STEP("t0", "a3", "a0")                      \
                         P_LW_STEP("t1", "a3", "a0") P_LW_STEP("t2", "a4", "a0") P_LW_STEP("t3", "a3", "a1")                \
                             TWO_PAIRS("t0", "t1", "t2", "t3") first_dot("a6", "t4", "s2") first_dot("a7", "t0", "s3")      \
                                 dot("a6", "t5", "s4") dot("a7", "t2", "s5") P_LW_STEP("t0", "a3", "a1")                    \
                                     P_LW_STEP("t1", "a4", "a1") P_LW_STEP("t2", "a3", "a2") P_LW_STEP("t3", "a3", "a2")    \
                                         P_LW_STEP("t6", "a4", "a2") TWO_PAIRS("t0", "t1", "t2", "t3")                      \
                                             dot("a6", "t4", "s6") dot("a7", "t0", "s7") dot("a6", "t5", "s8")              \
                                                 dot("a7", "t2", "s9") dot("a6", "t6", "s10") dot("a7", "t6", "s11")        \
                                                     P_SW_NEXT("a6", "a5") "1: sw a7, 60(a5)\n.option pop\n"                \
                     :                                                                                                      \
                     : [nine] "r"(nine)                                                                                     \
                     : "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2",      \
                       "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "memory")

static __attribute__((noinline)) void dory_sum_nine_taps(const struct dory_nine_taps *nine, bool is_signed)
{
    if (is_signed) {
        SUM_NINE(PV_DOTSP_H, PV_SDOTSP_H);
    } else {
        SUM_NINE(PV_DOTUSP_H, PV_SDOTUSP_H);
    }
}

#else

static inline void dory_sum_nine_taps(const struct dory_nine_taps *nine, bool is_signed)
{
    int32_t next = 2 * nine->step + nine->back;
    for (uint32_t i = 0; i < 2 * nine->count; i++) {
        uint32_t pixel = i / 2, lane = i % 2;
        int32_t sum = 0;
        for (uint32_t tap = 0; tap < 9; tap++) {
            const uint8_t *input = nine->row[tap / 3] + (int32_t)(tap % 3) * nine->step + (int32_t)pixel * next + 2 * lane;
            uint16_t half;
            memcpy(&half, input, sizeof half);
            sum = p_mac(sum, is_signed ? (int16_t)half : half, (int16_t)nine->weights[tap / 2 * 4 + lane * 2 + tap % 2]);
        }
        nine->sum[lane * DORY_SUMS_PIXELS + pixel] = sum;
    }
}

#endif

#endif
