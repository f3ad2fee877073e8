/* How the kernels for depth-wise layers 3x3 load words of an input in CHW, assembly text; see depthwise_3x3.h, which this
 * includes. A word is loaded where it lies; at the edges of a row there are no columns beyond, and words have a byte of
 * border shuffled in, or shifted in for stride 1 where the border is zero.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_DEPTHWISE_3X3_CHW_H
#define DORY_XPULPV2_DEPTHWISE_3X3_CHW_H

#if defined(DORY_XPULPV2)

/* clang-format off */

/* a0 and a1: left and right; s9 and s10: shifts or selectors, for stride 1; pitch: a6 for stride 1, a7 for stride 2 */
#define STEP_1 "s8"
#define STEP_2 "s8"
#define LOAD_OWN                                                                                                            \
    "lw a0, %[left]\n"                                                                                                      \
    "lw a1, %[right]\n"                                                                                                     \
    "lw s9, %[left_align]\n"                                                                                                \
    "lw s10, %[right_align]\n"                                                                                              \
    "lw a6, %[pitch]\n"                                                                                                     \
    "lw a7, %[pitch]\n"

#define LOAD_ROW(left, right) P_LW_STEP(left, "a6", "a0") P_LW_STEP(right, "a6", "a1")
#define ALIGN_ROW(left, right, free)                                                                                        \
    "sll " left ", " left ", s9\n"                                                                                          \
    "srl " right ", " right ", s10\n"
#define INSTRUCTIONS_OF_ALIGN_ROW 2
#define BORDER_ROW(left, right, free)                                                                                       \
    "lw " free ", %[border]\n"                                                                                              \
    PV_SHUFFLE2_B(left, free, "s9")                                                                                         \
    PV_SHUFFLE2_B(right, free, "s10")
#define INSTRUCTIONS_OF_BORDER_ROW 3

/* Last columns alone. */
#define START_ALIGN_RIGHT    "nop\n"
#define ALIGN_RIGHT(right)   "srli " right ", " right ", 8\n"
#define START_BORDER_RIGHT   "lw t0, %[border]\n"
#define BORDER_RIGHT(right)  PV_SHUFFLE2_B(right, "t0", "s10")

/* Stride 2: words at columns 0 and 4 as they lie in memory, without border, and the byte before them, or behind them where the
 * border is on the right: a byte in t2, or at the edge a1, a word of border. */
#define START_STRIDE_2(way) way##_START
#define START_LANE_STRIDE_2(way) way##_START_LANE
#define INSTRUCTIONS_OF_START_LANE(way) INSTRUCTIONS_OF_##way##_START_LANE
#define INPUT_ROW(way, dot, a, b, c, d, next_a, next_b, next_c, next_d)                                                     \
    way##_INPUT_ROW(dot, a, b, c, d, next_a, next_b, next_c, next_d)
#define INSTRUCTIONS_OF_INPUT_ROW(way) INSTRUCTIONS_OF_##way##_INPUT_ROW
#define LOAD_TWO_WORDS "lw t1, 4(a0)\n" P_LW_STEP("t0", "a7", "a0")

/* Border on the left: outputs 1 and 3 are dot products of both words with the weights a byte further, outputs 0 and 2 of words
 * that begin a column earlier. */
#define FURTHER_1 "ra"
#define FURTHER_2 "s9"
#define FURTHER_3 "s10"
#define START_LANE_FURTHER                                                                                                  \
    "slli ra, s1, 8\n"                                                                                                      \
    "slli s9, s2, 8\n"                                                                                                      \
    "slli s10, s3, 8\n"
#define DOTS_LEFT(dot, third, selector, a, b, c, d, next_a, next_b, next_c, next_d)                                         \
    dot(d, next_d, "t1", FURTHER) dot(b, next_b, "t0", FURTHER)                                                             \
    PV_SHUFFLE2_B("t1", "t0", "a6") PV_SHUFFLE2_B("t0", third, selector)                                                    \
    dot(c, next_c, "t1", NEAR) dot(a, next_a, "t0", NEAR)

#define LEFT_START "li a6, 0x02010007\nli a1, 0x02010004\n"
#define LEFT_START_LANE START_LANE_FURTHER
#define INSTRUCTIONS_OF_LEFT_START_LANE 3
#define LEFT_INPUT_ROW(dot, a, b, c, d, next_a, next_b, next_c, next_d)                                                     \
    "lbu t2, -1(a0)\n"                                                                                                      \
    LOAD_TWO_WORDS DOTS_LEFT(dot, "t2", "a1", a, b, c, d, next_a, next_b, next_c, next_d)
#define INSTRUCTIONS_OF_LEFT_INPUT_ROW 9

#define LEFT_EDGE_START "li a6, 0x02010007\nlw a1, %[border]\n"
#define LEFT_EDGE_START_LANE START_LANE_FURTHER
#define INSTRUCTIONS_OF_LEFT_EDGE_START_LANE 3
#define LEFT_EDGE_INPUT_ROW(dot, a, b, c, d, next_a, next_b, next_c, next_d)                                                \
    LOAD_TWO_WORDS DOTS_LEFT(dot, "a1", "a6", a, b, c, d, next_a, next_b, next_c, next_d)
#define INSTRUCTIONS_OF_LEFT_EDGE_INPUT_ROW 8

/* On the right: outputs 0 and 2 are dot products of both words, outputs 1 and 3 of words that begin two columns further. */
#define DOTS_RIGHT(dot, third, a, b, c, d, next_a, next_b, next_c, next_d)                                                  \
    dot(c, next_c, "t1", NEAR) dot(a, next_a, "t0", NEAR)                                                                   \
    PV_SHUFFLE2_B("t0", "t1", "a6") PV_SHUFFLE2_B("t1", third, "a6")                                                        \
    dot(b, next_b, "t0", NEAR) dot(d, next_d, "t1", NEAR)

#define RIGHT_START "li a6, 0x05040302\n"
#define RIGHT_START_LANE ""
#define INSTRUCTIONS_OF_RIGHT_START_LANE 0
#define RIGHT_INPUT_ROW(dot, a, b, c, d, next_a, next_b, next_c, next_d)                                                    \
    "lbu t2, 8(a0)\n"                                                                                                       \
    LOAD_TWO_WORDS DOTS_RIGHT(dot, "t2", a, b, c, d, next_a, next_b, next_c, next_d)
#define INSTRUCTIONS_OF_RIGHT_INPUT_ROW 9

#define RIGHT_EDGE_START "li a6, 0x05040302\nlw a1, %[border]\n"
#define RIGHT_EDGE_START_LANE ""
#define INSTRUCTIONS_OF_RIGHT_EDGE_START_LANE 0
#define RIGHT_EDGE_INPUT_ROW(dot, a, b, c, d, next_a, next_b, next_c, next_d)                                               \
    LOAD_TWO_WORDS DOTS_RIGHT(dot, "a1", a, b, c, d, next_a, next_b, next_c, next_d)
#define INSTRUCTIONS_OF_RIGHT_EDGE_INPUT_ROW 8

/* Stride 2, the last two columns or one alone, with `side` LEFT or RIGHT. Nothing is read behind a row. On the right
 * the border lies above two columns that are there. */
#define LEFT_HALF(dot, c, d, next_c, next_d)                                                                                \
    "lbu t2, -1(a0)\n" P_LW_STEP("t0", "a7", "a0")                                                                          \
    dot(d, next_d, "t0", FURTHER) PV_SHUFFLE2_B("t0", "t2", "a1") dot(c, next_c, "t0", NEAR)
#define INSTRUCTIONS_OF_LEFT_HALF 5
#define LEFT_HALF_START "li a1, 0x02010004\n"
#define LEFT_ONE(dot, d, next_d) P_LW_STEP("t0", "a7", "a0") dot(d, next_d, "t0", FURTHER)
#define INSTRUCTIONS_OF_LEFT_ONE 2
#define LEFT_ONE_START "addi a0, a0, -2\n"

#define RIGHT_HALF(dot, c, d, next_c, next_d)                                                                               \
    P_LW_STEP("t0", "a7", "a0")                                                                                             \
    dot(c, next_c, "t0", NEAR) PV_SHUFFLE2_B("t0", "a1", "a6") dot(d, next_d, "t0", NEAR)
#define INSTRUCTIONS_OF_RIGHT_HALF 4
#define RIGHT_HALF_START RIGHT_EDGE_START
#define RIGHT_ONE(dot, d, next_d)                                                                                           \
    P_LHU_STEP("t0", "a7", "a0")                                                                                            \
    "or t0, t0, a1\n" dot(d, next_d, "t0", NEAR)
#define INSTRUCTIONS_OF_RIGHT_ONE 3
#define RIGHT_ONE_START RIGHT_EDGE_START "slli a1, a1, 16\n"

/* As COMPUTE_STRIDE_2. */
#define END_INSTRUCTIONS(side, end, more, finish) (2 * INSTRUCTIONS_OF_##side##_##end + (more) + (finish))
#define LEFT_HALF_START_LANE   LEFT_START_LANE
#define LEFT_ONE_START_LANE    LEFT_START_LANE
#define RIGHT_HALF_START_LANE  RIGHT_START_LANE
#define RIGHT_ONE_START_LANE   RIGHT_START_LANE
#define INSTRUCTIONS_OF_LEFT_HALF_START_LANE   3
#define INSTRUCTIONS_OF_LEFT_ONE_START_LANE    3
#define INSTRUCTIONS_OF_RIGHT_HALF_START_LANE  0
#define INSTRUCTIONS_OF_RIGHT_ONE_START_LANE   0

#define STRIDE_2_HALF_ROW(side, finish, c, d, next_c, next_d, label_of_last)                                                \
    side##_HALF(MIDDLE_DOT, c, d, , ) side##_HALF(LAST_DOT, c, d, next_c, next_d)                                           \
    finish(c, d, "t0", "t1", label_of_last)
#define COMPUTE_STRIDE_2_HALF(side, finish, load_constants, constants_instructions, finish_instructions)                    \
    COMPUTE_TWO_ROWS(side##_HALF, load_constants, constants_instructions, INSTRUCTIONS_OF_##side##_HALF,                    \
                     END_INSTRUCTIONS(side, HALF, 2, HALF_OF(finish_instructions)),                                         \
                     side##_HALF(FIRST_DOT, "t3", "t4", , ),                                                                \
                     STRIDE_2_HALF_ROW(side, finish##_HALF, "t3", "t4", "s4", "s5", ""),                                    \
                     side##_HALF(FIRST_DOT, "s4", "s5", , ),                                                                \
                     STRIDE_2_HALF_ROW(side, finish##_HALF, "s4", "s5", "t3", "t4", "1: "))

#define STRIDE_2_ONE_ROW(side, finish, d, next_d, label_of_last)                                                            \
    side##_ONE(MIDDLE_DOT, d, ) side##_ONE(LAST_DOT, d, next_d) finish(d, "t0", "t1", label_of_last)
#define COMPUTE_STRIDE_2_ONE(side, finish, load_constants, constants_instructions, finish_instructions)                     \
    COMPUTE_TWO_ROWS(side##_ONE, load_constants, constants_instructions, INSTRUCTIONS_OF_##side##_ONE,                      \
                     END_INSTRUCTIONS(side, ONE, 1, QUARTER_OF(finish_instructions)),                                       \
                     side##_ONE(FIRST_DOT, "t3", ), STRIDE_2_ONE_ROW(side, finish##_ONE, "t3", "s4", ""),                   \
                     side##_ONE(FIRST_DOT, "s4", ), STRIDE_2_ONE_ROW(side, finish##_ONE, "s4", "t3", "1: "))

#define NEXT_CHANNEL_STRIDE_2                                                                                               \
    "lw t5, %[plane_rest]\n"                                                                                                \
    "nop\n"                                                                                                                 \
    "add a0, a0, t5\n"
#define NEXT_CHANNEL NEXT_CHANNEL_STRIDE_2 "add a1, a1, t5\n"

/* Behind every fourth lane there are constants, and then weights, to be jumped over. */
#define AGAIN(label)                                                                                                        \
    "andi t5, t6, 3\n"                                                                                                      \
    "bnez t5, " label "\n"                                                                                                  \
    "beqz t6, 9f\n"                                                                                                         \
    "lw t0, %[weights]\n"                                                                                                   \
    "lw t1, %[constants]\n"                                                                                                 \
    "lw t2, %[constants_bytes]\n"                                                                                           \
    "addi t1, t1, 48\n"                                                                                                     \
    "add t0, t0, t2\n"                                                                                                      \
    "sw t1, %[constants]\n"                                                                                                 \
    "sw t0, %[weights]\n"                                                                                                   \
    "j " label "\n"                                                                                                         \
    "9:\n"

#define OWN_OPERANDS                                                                                                        \
    FINISH_OPERANDS(work->normaliser),                                                                                      \
    [step0] "m"(strip->step), [row_step] "m"(strip->row_step),                  \
        [rounds] "m"(strip->rounds), [rest] "m"(strip->rest), [left] "m"(strip->left), [right] "m"(strip->right),           \
        [left_align] "m"(strip->left_align), [right_align] "m"(strip->right_align), [pitch] "m"(strip->pitch),              \
        [border] "m"(strip->border),                                                                                        \
        [plane_rest] "m"(strip->plane_rest), [constants_bytes] "m"(work->constants_bytes)

/* clang-format on */

#endif

#include "depthwise_3x3.h"

#endif
