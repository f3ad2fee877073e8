/* Depth-wise layers 3x3 of unsigned bytes in strips of four columns that are computed from top to bottom: what both layouts
 * of the input have in common, assembly text. An including file says, before it includes this, how words are loaded:
 *
 * - STEP_1, STEP_2: registers; from the fourth column of the output to the third, from there to the second
 * - LOAD_OWN: sets what the following need
 * - LOAD_ROW(a, b), two instructions, and ALIGN_ROW(a, b, free), for stride 1: words at columns 0 (a) and 2 (b) of the next
 *   input row, border included; with a register that is free
 * - INSTRUCTIONS_OF_ALIGN_ROW: how many these are
 * - START_STRIDE_2(way), START_LANE_STRIDE_2(way): set what the following need, before the first lane and in each, in
 *   INSTRUCTIONS_OF_START_LANE(way)
 * - INPUT_ROW(way, dot, a, b, c, d, next_a, next_b, next_c, next_d), for stride 2: the dot products of the next input row,
 *   FIRST_DOT, MIDDLE_DOT or LAST_DOT; in INSTRUCTIONS_OF_INPUT_ROW(way), and 4 more for the last
 * - NEXT_CHANNEL, NEXT_CHANNEL_STRIDE_2: moves on from the last input row of a channel to the first one of the next
 * - AGAIN(label): to `label` where lanes are left to do, whose number is in t6
 * - OWN_OPERANDS: operands of all these, and FINISH_OPERANDS of its normaliser
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_DEPTHWISE_3X3_H
#define DORY_XPULPV2_DEPTHWISE_3X3_H

#include "finish.h"
#include "quads.h"

/* The lanes of a strip that are left to do. The elements of a row are written from the last one to the first. */
struct dory_lanes {
    const uint8_t *weights;   /* three words a lane: a kernel row each, with a zero byte behind it */
    const uint8_t *constants; /* multiplier and addend of each lane */
    uint8_t *output;          /* of the last element of the first row */
    uint32_t left;
    uint32_t saved[2]; /* registers */
};

/* Rounds of three rows (stride 2: two), the first of which may have only `*rest` rows, if that is not 0; up to 120 rows. A
 * division would take 30 cycles. */
static inline uint32_t dory_rounds(uint32_t rows, uint32_t stride, uint32_t *rest)
{
    uint32_t whole = stride == 2 ? rows / 2 : rows * 43 >> 7;
    *rest = rows - whole * (stride == 2 ? 2 : 3);
    return whole + (*rest != 0);
}

#if defined(DORY_XPULPV2)

/* clang-format off */

/* a2 output, a3 multiplier, a4 addend, a5 shift, s8, STEP_1, STEP_2 and s11 steps of the output; gp and tp are the compiler's, and
 * nothing that would need them happens meanwhile, for cluster cores take no interrupts. What there is no register for is
 * kept in memory: all but s0 are in use. */
#define LOAD_STRIP                                                                                                          \
    "sw gp, %[saved_gp]\n"                                                                                                  \
    "sw tp, %[saved_tp]\n"                                                                                                  \
    "lw a5, %[shift]\n"                                                                                                     \
    "lw s8, %[step0]\n"                                                                                                     \
    "lw s11, %[row_step]\n"                                                                                                 \
    LOAD_OWN

#define END_STRIP                                                                                                           \
    "lw gp, %[saved_gp]\n"                                                                                                  \
    "lw tp, %[saved_tp]\n"

/* 10 instructions beside `load_constants`. */
#define LOAD_LANE(load_constants)                                                                                           \
    "lw t0, %[weights]\n"                                                                                                   \
    "lw t1, %[constants]\n"                                                                                                 \
    "lw a2, %[output]\n"                                                                                                    \
    P_LW_NEXT("s1", "t0") P_LW_NEXT("s2", "t0") P_LW_NEXT("s3", "t0") load_constants                                        \
    "addi t2, a2, 1\n"                                                                                                      \
    "sw t0, %[weights]\n"                                                                                                   \
    "sw t1, %[constants]\n"                                                                                                 \
    "sw t2, %[output]\n"

/* To `label` for the next lane. */
#define NEXT_LANE(label, next_channel)                                                                                      \
    "lw t6, %[lanes]\n"                                                                                                     \
    next_channel                                                                                                            \
    "addi t6, t6, -1\n"                                                                                                     \
    "sw t6, %[lanes]\n"                                                                                                     \
    AGAIN(label)
#define CHANGED_OPERANDS                                                                                                    \
    [weights] "+m"(lanes->weights), [constants] "+m"(lanes->constants), [output] "+m"(lanes->output),                       \
        [lanes] "+m"(lanes->left), [saved_gp] "+m"(lanes->saved[0]), [saved_tp] "+m"(lanes->saved[1])

/* Stride 1. Outputs 0 and 1 are dot products of the word at column 0 with the weights and with the weights a byte
 * further; outputs 2 and 3 the same of the word at column 2.
 *
 * s1-s3    weights of three kernel rows;  s4-s6  a byte further
 * t0-t5    words at columns 0 and 2 of three input rows, in rotation
 * t6, a7, s7, ra   sums */
#define DOTS(dot, left, right, weights, further)                                                                            \
    dot("t6", left, weights) dot("a7", left, further) dot("s7", right, weights) dot("ra", right, further)

/* `way` is ALIGN, or LEAVE for words that need not be aligned. */
#define LEAVE_ROW(left, right, free) ""
#define INSTRUCTIONS_OF_LEAVE_ROW 0

/* One output row; the third input row is loaded here. 14 instructions beside those of `way` and `finish`. */
#define ROW(way, finish, left0, right0, left1, right1, left2, right2, label_of_last)                                        \
    LOAD_ROW(left2, right2)                                                                                                 \
    DOTS(PV_DOTUSP_B, left0, right0, "s1", "s4")                                                                            \
    DOTS(PV_SDOTUSP_B, left1, right1, "s2", "s5")                                                                           \
    way##_ROW(left2, right2, left0)                                                                                                \
    DOTS(PV_SDOTUSP_B, left2, right2, "s3", "s6")                                                                           \
    finish("t6", "a7", "s7", "ra", left0, right0, label_of_last)

/* The first two input rows of a lane. */
#define FIRST_ROWS(way, left0, right0, left1, right1)                                                                       \
    LOAD_ROW(left0, right0)                                                                                                 \
    LOAD_ROW(left1, right1)                                                                                                 \
    way##_ROW(left0, right0, "t6")                                                                                                \
    way##_ROW(left1, right1, "t6")

/* A lane's instructions in front of its loop, and those of a row. */
#define HEAD_STRIDE_1(way, constants) (21 + (constants) + 2 * INSTRUCTIONS_OF_##way##_ROW)
#define ROW_STRIDE_1(way, finish)     (14 + INSTRUCTIONS_OF_##way##_ROW + (finish))

/* Three rows a round, since three input rows are in registers in turn; where the first round has one or two rows only, the
 * loop is entered behind the others. `first_2` loads the input rows before the row at label 2, `row_2`, and so on. */
#define COMPUTE_THREE_ROWS(load_constants, head, row_instructions, first_2, row_2, first_3, row_3, first_4, row_4)          \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n"                                                                                                   \
        LOAD_STRIP                                                                                                          \
        LP_START("x0", 2 + head, "2")                                                                                       \
        LP_END("x0", head + 3 * row_instructions, "1")                                                                      \
        "0:\n"                                                                                                              \
        LOAD_LANE(load_constants)                                                                                           \
        "lw s7, %[rounds]\n"                                                                                                \
        "lw t6, %[rest]\n"                                                                                                  \
        "slli s4, s1, 8\n"                                                                                                  \
        "slli s5, s2, 8\n"                                                                                                  \
        "slli s6, s3, 8\n"                                                                                                  \
        LP_COUNT("x0", "s7")                                                                                                \
        "bnez t6, 5f\n"                                                                                                     \
        first_2                                                                                                             \
        "2:\n"                                                                                                              \
        row_2                                                                                                               \
        "3:\n"                                                                                                              \
        row_3                                                                                                               \
        "4:\n"                                                                                                              \
        row_4                                                                                                               \
        NEXT_LANE("0b", NEXT_CHANNEL)                                                                                       \
        "j 7f\n"                                                                                                            \
        "5: addi t6, t6, -1\n"                                                                                              \
        "bnez t6, 6f\n"                                                                                                     \
        first_4                                                                                                             \
        "j 4b\n"                                                                                                            \
        "6:\n"                                                                                                              \
        first_3                                                                                                             \
        "j 3b\n"                                                                                                            \
        "7:\n"                                                                                                              \
        END_STRIP                                                                                                           \
        ".option pop\n"                                                                                                     \
        : CHANGED_OPERANDS                                                                                                  \
        : OWN_OPERANDS                                                                                                      \
        : CLOBBERED)

#define COMPUTE_STRIDE_1(way, finish, load_constants, constants_instructions, finish_instructions)                          \
    COMPUTE_THREE_ROWS(load_constants, HEAD_STRIDE_1(way, constants_instructions), ROW_STRIDE_1(way, finish_instructions),  \
                       FIRST_ROWS(way, "t0", "t1", "t2", "t3"), ROW(way, finish, "t0", "t1", "t2", "t3", "t4", "t5", ""),   \
                       FIRST_ROWS(way, "t2", "t3", "t4", "t5"), ROW(way, finish, "t2", "t3", "t4", "t5", "t0", "t1", ""),   \
                       FIRST_ROWS(way, "t4", "t5", "t0", "t1"), ROW(way, finish, "t4", "t5", "t0", "t1", "t2", "t3", "1: "))

/* The same for the last two columns alone, outputs 2 and 3: 8 instructions a row beside those of `finish`. `way` is ALIGN or
 * BORDER; START_.._RIGHT sets what .._RIGHT(word) needs in t0, which is free, as t2 and t4 are. */
#define ROW_HALF(way, finish, right0, right1, right2, label_of_last)                                                        \
    P_LW_STEP(right2, "a6", "a1")                                                                                           \
    PV_DOTUSP_B("s7", right0, "s1") PV_DOTUSP_B("ra", right0, "s4")                                                         \
    PV_SDOTUSP_B("s7", right1, "s2") PV_SDOTUSP_B("ra", right1, "s5")                                                       \
    way##_RIGHT(right2)                                                                                                     \
    PV_SDOTUSP_B("s7", right2, "s3") PV_SDOTUSP_B("ra", right2, "s6")                                                       \
    finish("s7", "ra", "t6", "a7", label_of_last)

#define FIRST_ROWS_HALF(way, right0, right1)                                                                                \
    START_##way##_RIGHT                                                                                                     \
    P_LW_STEP(right0, "a6", "a1") P_LW_STEP(right1, "a6", "a1")                                                             \
    way##_RIGHT(right0)                                                                                                     \
    way##_RIGHT(right1)

#define HALF_OF(instructions) (((instructions) + 3 * ((instructions) & 1)) / 2)
#define HEAD_HALF(constants)  (22 + (constants))
#define ROW_OF_HALF(finish)   (8 + HALF_OF(finish))

/* Of the right column alone: `row` is ROW_HALF or ROW_ONE. */
#define COMPUTE_RIGHT(way, row, finish, load_constants, constants_instructions, row_instructions)                           \
    COMPUTE_THREE_ROWS(load_constants, HEAD_HALF(constants_instructions), row_instructions,                                 \
                       FIRST_ROWS_HALF(way, "t1", "t3"), row(way, finish, "t1", "t3", "t5", ""),                            \
                       FIRST_ROWS_HALF(way, "t3", "t5"), row(way, finish, "t3", "t5", "t1", ""),                            \
                       FIRST_ROWS_HALF(way, "t5", "t1"), row(way, finish, "t5", "t1", "t3", "1: "))

#define COMPUTE_HALF(way, finish, load_constants, constants_instructions, finish_instructions)                              \
    COMPUTE_RIGHT(way, ROW_HALF, finish##_HALF, load_constants, constants_instructions, ROW_OF_HALF(finish_instructions))

/* And for the last column alone, output 3: 5 instructions a row beside those of `finish`. */
#define ROW_ONE(way, finish, right0, right1, right2, label_of_last)                                                         \
    P_LW_STEP(right2, "a6", "a1")                                                                                           \
    PV_DOTUSP_B("ra", right0, "s4")                                                                                         \
    PV_SDOTUSP_B("ra", right1, "s5")                                                                                        \
    way##_RIGHT(right2)                                                                                                     \
    PV_SDOTUSP_B("ra", right2, "s6")                                                                                        \
    finish("ra", "t6", "a7", label_of_last)

#define QUARTER_OF(instructions) (((instructions) + 9 * ((instructions) & 1)) / 4)
#define ROW_OF_ONE(finish)       (5 + QUARTER_OF(finish))

#define COMPUTE_ONE(way, finish, load_constants, constants_instructions, finish_instructions)                               \
    COMPUTE_RIGHT(way, ROW_ONE, finish##_ONE, load_constants, constants_instructions, ROW_OF_ONE(finish_instructions))

/* Stride 2.
 *
 * s1-s3            weights of three kernel rows
 * t3-t6 and s4-s7  sums of this output row and of the next, which shares an input row with it; in turn
 * t0-t2, a1, a6, s9, s10, ra are the including file's */

/* A dot product of the first input row of an output row, of the second, and of the third, which is the first of the next.
 * `weights` is NEAR or what the including file has beside it. */
#define FIRST_DOT(sum, next, word, weights)  PV_DOTUSP_B(sum, word, weights##_1)
#define MIDDLE_DOT(sum, next, word, weights) PV_SDOTUSP_B(sum, word, weights##_2)
#define LAST_DOT(sum, next, word, weights)   PV_SDOTUSP_B(sum, word, weights##_3) PV_DOTUSP_B(next, word, weights##_1)
#define NEAR_1 "s1"
#define NEAR_2 "s2"
#define NEAR_3 "s3"

/* Two rows a round, since two sets of sums are used in turn; or one in the first round, likewise. `first_a` is the first
 * input row before `row_a`, in `first_instructions` as `first_b`. */
#define COMPUTE_TWO_ROWS(way, load_constants, constants_instructions, first_instructions, row_instructions, first_a, row_a, \
                         first_b, row_b)                                                                                    \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n"                                                                                                   \
        LOAD_STRIP                                                                                                          \
        START_STRIDE_2(way)                                                                                                 \
        LP_START("x0", 2 + HEAD_STRIDE_2(way, constants_instructions, first_instructions), "2")                             \
        LP_END("x0", HEAD_STRIDE_2(way, constants_instructions, first_instructions) + 2 * (row_instructions), "1")          \
        "0:\n"                                                                                                              \
        LOAD_LANE(load_constants)                                                                                           \
        "lw t0, %[rounds]\n"                                                                                                \
        "lw t1, %[rest]\n"                                                                                                  \
        START_LANE_STRIDE_2(way)                                                                                            \
        LP_COUNT("x0", "t0")                                                                                                \
        "bnez t1, 5f\n"                                                                                                     \
        first_a                                                                                                             \
        "2:\n"                                                                                                              \
        row_a                                                                                                               \
        "3:\n"                                                                                                              \
        row_b                                                                                                               \
        NEXT_LANE("0b", NEXT_CHANNEL_STRIDE_2)                                                                              \
        "j 7f\n"                                                                                                            \
        "5:\n"                                                                                                              \
        first_b                                                                                                             \
        "j 3b\n"                                                                                                            \
        "7:\n"                                                                                                              \
        END_STRIP                                                                                                           \
        ".option pop\n"                                                                                                     \
        : CHANGED_OPERANDS                                                                                                  \
        : OWN_OPERANDS                                                                                                      \
        : CLOBBERED)

#define HEAD_STRIDE_2(way, constants, first) (14 + (constants) + INSTRUCTIONS_OF_START_LANE(way) + (first))

/* Two input rows of four outputs beside `finish`, of which the second has four dot products more. */
#define STRIDE_2_ROW(way, finish, a, b, c, d, next_a, next_b, next_c, next_d, label_of_last)                                \
    INPUT_ROW(way, MIDDLE_DOT, a, b, c, d, , , , )                                                                          \
    INPUT_ROW(way, LAST_DOT, a, b, c, d, next_a, next_b, next_c, next_d)                                                    \
    finish(a, b, c, d, "t0", "t1", label_of_last)

#define COMPUTE_STRIDE_2(way, finish, load_constants, constants_instructions, finish_instructions)                          \
    COMPUTE_TWO_ROWS(way, load_constants, constants_instructions, INSTRUCTIONS_OF_INPUT_ROW(way),                           \
                     2 * INSTRUCTIONS_OF_INPUT_ROW(way) + 4 + (finish_instructions),                                        \
                     INPUT_ROW(way, FIRST_DOT, "t3", "t4", "t5", "t6", , , , ),                                             \
                     STRIDE_2_ROW(way, finish, "t3", "t4", "t5", "t6", "s4", "s5", "s6", "s7", ""),                         \
                     INPUT_ROW(way, FIRST_DOT, "s4", "s5", "s6", "s7", , , , ),                                             \
                     STRIDE_2_ROW(way, finish, "s4", "s5", "s6", "s7", "t3", "t4", "t5", "t6", "1: "))

/* `compute` is COMPUTE_STRIDE_1, COMPUTE_STRIDE_2 or one of those for last columns, `kind` a constant. */
#define COMPUTE(compute, way, kind)                                                                                         \
    do {                                                                                                                    \
        if ((kind) == DORY_DIRECT) {                                                                                        \
            compute(way, FINISH, LOAD_CONSTANTS, 2, 16);                                                                    \
        } else if ((kind) == DORY_DIRECT_SPLIT) {                                                                           \
            compute(way, FINISH_SPLIT, LOAD_CONSTANTS_SPLIT, 5, 28);                                                        \
        } else if ((kind) == DORY_DIRECT_HIGH_AWAY) {                                                                       \
            compute(way, FINISH_HIGH_AWAY, LOAD_CONSTANTS_HIGH, 4, 39);                                                     \
        } else {                                                                                                            \
            compute(way, FINISH_CLAMPED, LOAD_CONSTANTS_CLAMPED, 4, 20);                                                    \
        }                                                                                                                   \
    } while (0)

/* clang-format on */

#endif

#endif
