/* From four sums of depth-wise layers to four output elements, assembly text. An including file defines STEP_1 and STEP_2:
 * registers with the steps from the fourth column of the output to the third, from there to the second.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_FINISH_H
#define DORY_XPULPV2_FINISH_H

#include "../normalise.h"
#include "../scratch.h"
#include "../xpulp.h"

/* Bytes of a channel's constants. */
static inline uint32_t dory_finish_constants_bytes(enum dory_direct kind)
{
    return kind == DORY_DIRECT ? 8 : kind == DORY_DIRECT_SPLIT ? 20 : kind == DORY_DIRECT_SPLIT_AWAY ? 28 : 16;
}

#if defined(DORY_XPULPV2)

/* clang-format off */

/* Four sums to bytes. The clip to [0, 255] is an immediate: n = 9 is 8 bits. */
#if defined(__pulp__) || defined(__gap8__)
#define CLIP(a) "p.clipu " a ", " a ", 9\n"
#else
#define CLIP(a) ".insn r 0x33, 2, 0x0A, " a ", " a ", x9\n"
#endif
#define STORE(a, b, c, d, label_of_last)                                                                                    \
    P_SB_STEP(d, "s8", "a2") P_SB_STEP(c, STEP_1, "a2") P_SB_STEP(b, STEP_2, "a2") label_of_last P_SB_STEP(a, "s11", "a2")

#define SCALE(a, b, c, d)                                                                                                   \
    "mul " a ", " a ", a3\n"                                                                                                \
    "mul " b ", " b ", a3\n"                                                                                                \
    "mul " c ", " c ", a3\n"                                                                                                \
    "mul " d ", " d ", a3\n"

/* DORY_DIRECT: 16 instructions for four elements. t0 and t1 name registers that are free; not here. */
#define FINISH(a, b, c, d, t0, t1, label_of_last)                                                                           \
    SCALE(a, b, c, d)                                                                                                       \
    P_ADDNR(a, "a4", "a5") P_ADDNR(b, "a4", "a5") P_ADDNR(c, "a4", "a5") P_ADDNR(d, "a4", "a5")                             \
    CLIP(a) CLIP(b) CLIP(c) CLIP(d)                                                                                         \
    STORE(a, b, c, d, label_of_last)

/* The clamped kinds, see direct.h, have their bounds in gp and tp. 20 and 28 instructions. */
#define CLAMP(a, b, c, d)                                                                                                   \
    P_MAX(a, a, "gp") P_MAX(b, b, "gp") P_MAX(c, c, "gp") P_MAX(d, d, "gp")                                                 \
    P_MIN(a, a, "tp") P_MIN(b, b, "tp") P_MIN(c, c, "tp") P_MIN(d, d, "tp")

#define FINISH_CLAMPED(a, b, c, d, t0, t1, label_of_last)                                                                   \
    CLAMP(a, b, c, d)                                                                                                       \
    SCALE(a, b, c, d)                                                                                                       \
    P_ADDUNR(a, "a4", "a5") P_ADDUNR(b, "a4", "a5") P_ADDUNR(c, "a4", "a5") P_ADDUNR(d, "a4", "a5")                         \
    STORE(a, b, c, d, label_of_last)

/* The high kinds have bias and shift in gp and tp, the left shift in a5. HIGH_AWAY rounds away from zero, or not at all, and
 * has any bounds: 39 instructions, of which mulh takes 5 cycles. */
#define BIAS(a, b, c, d)                                                                                                    \
    "add " a ", " a ", gp\n"                                                                                                \
    "add " b ", " b ", gp\n"                                                                                                \
    "add " c ", " c ", gp\n"                                                                                                \
    "add " d ", " d ", gp\n"

#define HIGH(a)                                                                                                             \
    "sll " a ", " a ", a5\n"                                                                                                \
    "mulh " a ", " a ", a3\n"

#define HIGH_AWAY(a, t0, t1)                                                                                                \
    "slt " t0 ", " a ", x0\n"                                                                                               \
    HIGH(a)                                                                                                                 \
    P_MSU(a, t0, t1)

#define SHIFT(a, b, c, d) P_ADDNR(a, "a4", "tp") P_ADDNR(b, "a4", "tp") P_ADDNR(c, "a4", "tp") P_ADDNR(d, "a4", "tp")

#define FINISH_HIGH_AWAY(a, b, c, d, t0, t1, label_of_last)                                                                 \
    BIAS(a, b, c, d)                                                                                                        \
    FINISH_BIASED_HIGH_AWAY(a, b, c, d, t0, t1, label_of_last)

#define FINISH_BIASED_HIGH_AWAY(a, b, c, d, t0, t1, label_of_last)                                                          \
    "lw " t1 ", %[away]\n"                                                                                                  \
    HIGH_AWAY(a, t0, t1) HIGH_AWAY(b, t0, t1) HIGH_AWAY(c, t0, t1) HIGH_AWAY(d, t0, t1)                                     \
    SHIFT_WITHIN(a, b, c, d, t0, t1, label_of_last)

/* Behind the high halves: 18 instructions. */
#define SHIFT_WITHIN(a, b, c, d, t0, t1, label_of_last)                                                                     \
    "lw " t0 ", %[minimum]\n"                                                                                               \
    "lw " t1 ", %[maximum]\n"                                                                                               \
    SHIFT(a, b, c, d)                                                                                                       \
    WITHIN(a, b, c, d, t0, t1)                                                                                              \
    STORE(a, b, c, d, label_of_last)
#define WITHIN(a, b, c, d, least, most)                                                                                     \
    P_MAX(a, a, least) P_MAX(b, b, least) P_MAX(c, c, least) P_MAX(d, d, least)                                             \
    P_MIN(a, a, most) P_MIN(b, b, most) P_MIN(c, c, most) P_MIN(d, d, most)

/* Half to even: what is odd is a step more, before it is rounded down. 38 instructions from sums that start with the bias. */
#define HIGH_EVEN(a, t0)                                                                                                    \
    HIGH(a)                                                                                                                 \
    "sra " t0 ", " a ", tp\n"                                                                                               \
    "andi " t0 ", " t0 ", 1\n"                                                                                              \
    "add " a ", " a ", " t0 "\n"
#define FINISH_BIASED_HIGH_EVEN(a, b, c, d, t0, t1, label_of_last)                                                          \
    HIGH_EVEN(a, t0) HIGH_EVEN(b, t1) HIGH_EVEN(c, t0) HIGH_EVEN(d, t1)                                                     \
    SHIFT_WITHIN(a, b, c, d, t0, t1, label_of_last)

/* DORY_DIRECT_SPLIT has bias and limit in gp and tp, the fine multiplier in a3, the addend with the shift in a4, and the coarse
 * multiplier in a5. 28 instructions, and 24 from sums that start with the bias. */
#define LIMIT(a, b, c, d) P_CLIPUR(a, a, "tp") P_CLIPUR(b, b, "tp") P_CLIPUR(c, c, "tp") P_CLIPUR(d, d, "tp")
#define PRODUCTS(a, b, t0, t1)                                                                                              \
    "mul " t0 ", " a ", a3\n"                                                                                               \
    "mul " t1 ", " b ", a3\n" P_ADDUNR(t0, "a4", "a4") P_ADDUNR(t1, "a4", "a4") P_MAC(t0, a, "a5") P_MAC(t1, b, "a5")
#define HIGH_BYTES(a, b, t0, t1)                                                                                            \
    "srli " a ", " t0 ", 24\n"                                                                                              \
    "srli " b ", " t1 ", 24\n"
#define SPLIT(a, b, t0, t1) PRODUCTS(a, b, t0, t1) HIGH_BYTES(a, b, t0, t1)

#define FINISH_BIASED_SPLIT(a, b, c, d, t0, t1, label_of_last)                                                              \
    LIMIT(a, b, c, d)                                                                                                       \
    SPLIT(a, b, t0, t1) SPLIT(c, d, t0, t1)                                                                                 \
    STORE(a, b, c, d, label_of_last)

#define FINISH_SPLIT(a, b, c, d, t0, t1, label_of_last)                                                                     \
    BIAS(a, b, c, d)                                                                                                        \
    FINISH_BIASED_SPLIT(a, b, c, d, t0, t1, label_of_last)

/* The same, and a step less below zero; t4 and t5 are free, too. 34 instructions. */
#define SPLIT_AWAY(a, b, t0, t1)                                                                                            \
    PRODUCTS(a, b, t0, t1)                                                                                                  \
    "slt " a ", " a ", t4\n"                                                                                                \
    "slt " b ", " b ", t4\n" P_MSU(t0, a, "t5") P_MSU(t1, b, "t5")                                                          \
    HIGH_BYTES(a, b, t0, t1)

#define FINISH_BIASED_SPLIT_AWAY(a, b, c, d, t0, t1, label_of_last)                                                         \
    "lw t4, %[zero]\n"                                                                                                      \
    "lw t5, %[step_below]\n"                                                                                                \
    LIMIT(a, b, c, d)                                                                                                       \
    SPLIT_AWAY(a, b, t0, t1) SPLIT_AWAY(c, d, t0, t1)                                                                       \
    STORE(a, b, c, d, label_of_last)

/* The kinds of 3x3 layers for two sums, which are stored last, in half the instructions; HIGH_AWAY in 21. */
#define STORE_HALF(c, d, label_of_last) P_SB_STEP(d, "s8", "a2") label_of_last P_SB_STEP(c, "s11", "a2")
#define SCALE_HALF(c, d)                                                                                                    \
    "mul " c ", " c ", a3\n"                                                                                                \
    "mul " d ", " d ", a3\n"
#define FINISH_HALF(c, d, t0, t1, label_of_last)                                                                            \
    SCALE_HALF(c, d) P_ADDNR(c, "a4", "a5") P_ADDNR(d, "a4", "a5") CLIP(c) CLIP(d) STORE_HALF(c, d, label_of_last)

#define CLAMP_HALF(c, d) P_MAX(c, c, "gp") P_MAX(d, d, "gp") P_MIN(c, c, "tp") P_MIN(d, d, "tp")
#define FINISH_CLAMPED_HALF(c, d, t0, t1, label_of_last)                                                                    \
    CLAMP_HALF(c, d) SCALE_HALF(c, d) P_ADDUNR(c, "a4", "a5") P_ADDUNR(d, "a4", "a5") STORE_HALF(c, d, label_of_last)
#define BIAS_HALF(c, d)                                                                                                     \
    "add " c ", " c ", gp\n"                                                                                                \
    "add " d ", " d ", gp\n"
#define FINISH_SPLIT_HALF(c, d, t0, t1, label_of_last)                                                                      \
    BIAS_HALF(c, d) P_CLIPUR(c, c, "tp") P_CLIPUR(d, d, "tp") SPLIT(c, d, t0, t1) STORE_HALF(c, d, label_of_last)
#define FINISH_HIGH_AWAY_HALF(c, d, t0, t1, label_of_last)                                                                  \
    BIAS_HALF(c, d)                                                                                                         \
    "lw " t1 ", %[away]\n"                                                                                                  \
    HIGH_AWAY(c, t0, t1) HIGH_AWAY(d, t0, t1)                                                                               \
    "lw " t0 ", %[minimum]\n"                                                                                               \
    "lw " t1 ", %[maximum]\n"                                                                                               \
    P_ADDNR(c, "a4", "tp") P_ADDNR(d, "a4", "tp") P_MAX(c, c, t0) P_MAX(d, d, t0) P_MIN(c, c, t1) P_MIN(d, d, t1)           \
    STORE_HALF(c, d, label_of_last)

/* And for one sum, in a quarter of them; HIGH_AWAY in 12. */
#define STORE_ONE(d, label_of_last) label_of_last P_SB_STEP(d, "s11", "a2")
#define SCALE_ONE(d) "mul " d ", " d ", a3\n"
#define FINISH_ONE(d, t0, t1, label_of_last)                                                                          \
    SCALE_ONE(d) P_ADDNR(d, "a4", "a5") CLIP(d) STORE_ONE(d, label_of_last)
#define CLAMP_ONE(d) P_MAX(d, d, "gp") P_MIN(d, d, "tp")
#define FINISH_CLAMPED_ONE(d, t0, t1, label_of_last)                                                                  \
    CLAMP_ONE(d) SCALE_ONE(d) P_ADDUNR(d, "a4", "a5") STORE_ONE(d, label_of_last)
#define BIAS_ONE(d) "add " d ", " d ", gp\n"
#define SPLIT_ONE(d, t0)                                                                                                    \
    "mul " t0 ", " d ", a3\n" P_ADDUNR(t0, "a4", "a4") P_MAC(t0, d, "a5")                                                   \
    "srli " d ", " t0 ", 24\n"
#define FINISH_SPLIT_ONE(d, t0, t1, label_of_last)                                                                    \
    BIAS_ONE(d) P_CLIPUR(d, d, "tp") SPLIT_ONE(d, t0) STORE_ONE(d, label_of_last)
#define FINISH_HIGH_AWAY_ONE(d, t0, t1, label_of_last)                                                                \
    BIAS_ONE(d)                                                                                                             \
    "lw " t1 ", %[away]\n"                                                                                                  \
    HIGH_AWAY(d, t0, t1)                                                                                                    \
    "lw " t0 ", %[minimum]\n"                                                                                               \
    "lw " t1 ", %[maximum]\n"                                                                                               \
    P_ADDNR(d, "a4", "tp") P_MAX(d, d, t0) P_MIN(d, d, t1) STORE_ONE(d, label_of_last)

/* DORY_DIRECT with any largest element, in tp: 16 instructions. */
#define CLIP_UP_TO(a, b, c, d, most) P_CLIPUR(a, a, most) P_CLIPUR(b, b, most) P_CLIPUR(c, c, most) P_CLIPUR(d, d, most)

#define FINISH_UP_TO(a, b, c, d, t0, t1, label_of_last)                                                                     \
    SCALE(a, b, c, d)                                                                                                       \
    P_ADDNR(a, "a4", "a5") P_ADDNR(b, "a4", "a5") P_ADDNR(c, "a4", "a5") P_ADDNR(d, "a4", "a5")                             \
    CLIP_UP_TO(a, b, c, d, "tp")                                                                                              \
    STORE(a, b, c, d, label_of_last)

/* The sums as they are, in the order of the columns, to be finished elsewhere. */
#define FINISH_NOT(a, b, c, d, t0, t1, label_of_last)                                                                       \
    P_SW_NEXT(a, "a2") P_SW_NEXT(b, "a2") P_SW_NEXT(c, "a2") label_of_last P_SW_NEXT(d, "a2")

/* Of a lane, from address t1 on. */
#define LOAD_CONSTANTS_NOT ""

#define LOAD_CONSTANTS_SPLIT                                                                                                \
    P_LW_NEXT("gp", "t1") P_LW_NEXT("tp", "t1") P_LW_NEXT("a3", "t1") P_LW_NEXT("a4", "t1") P_LW_NEXT("a5", "t1")
#define LOAD_CONSTANTS_SPLIT_AWAY                                                                                           \
    LOAD_CONSTANTS_SPLIT P_LW_NEXT("t2", "t1") P_LW_NEXT("t3", "t1")                                                        \
    "sw t2, %[zero]\n"                                                                                                      \
    "sw t3, %[step_below]\n"
#define LOAD_CONSTANTS_HIGH P_LW_NEXT("gp", "t1") P_LW_NEXT("a3", "t1") P_LW_NEXT("a4", "t1") P_LW_NEXT("tp", "t1")
#define LOAD_CONSTANTS                  P_LW_NEXT("a3", "t1") P_LW_NEXT("a4", "t1")
#define LOAD_CONSTANTS_UP_TO            LOAD_CONSTANTS "lw tp, %[maximum]\n"
#define LOAD_CONSTANTS_CLAMPED          P_LW_NEXT("gp", "t1") P_LW_NEXT("tp", "t1") P_LW_NEXT("a3", "t1") P_LW_NEXT("a4", "t1")

#define FINISH_OPERANDS(normaliser)                                                                                         \
    [away] "m"((normaliser).away), [minimum] "m"((normaliser).minimum), [maximum] "m"((normaliser).maximum),                \
        [shift] "m"((normaliser).direct_shift)

/* All registers but s0. */
#define CLOBBERED                                                                                                           \
    "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s1", "s2", "s3", "s4", "s5", \
        "s6", "s7", "s8", "s9", "s10", "s11", "ra", "memory"

/* clang-format on */

#endif

#endif
