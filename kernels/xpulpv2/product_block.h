/* The product's innermost code, blocks of 4 pixels x 4 channels, for weights of any bits: assembly text, and its twin in C;
 * see product.h.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_PRODUCT_BLOCK_H
#define DORY_XPULPV2_PRODUCT_BLOCK_H

#include "product.h"

#if defined(DORY_XPULPV2)

/* clang-format off */

/* Register    Use
 * a0, a1      input and weights, moving
 * a3 - a5     offsets of the pixels 1 to 3
 * t0 - t3     weights of four channels; then multiplier, addend, shift and clip bound
 * t4, t5      input of two pixels in turn; then counters, output and its stride
 * the others  the sums; s0 is left to the compiler, for the address of struct dory_blocks */
#define SUM0  "s1"
#define SUM1  "s2"
#define SUM2  "s3"
#define SUM3  "s4"
#define SUM4  "s5"
#define SUM5  "s6"
#define SUM6  "s7"
#define SUM7  "s8"
#define SUM8  "s9"
#define SUM9  "s10"
#define SUM10 "s11"
#define SUM11 "a2"
#define SUM12 "a6"
#define SUM13 "a7"
#define SUM14 "t6"
#define SUM15 "ra"

/* All of them but s0, as what is clobbered. */
#define REGISTERS_OF_BLOCK                                                                                                  \
    "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s1", "s2", "s3", "s4", \
        "s5", "s6", "s7", "s8", "s9", "s10", "s11"

/* Hardware loops need instructions of 4 bytes, which start where memory has a word. ".option pop" ends it. */
#define WORDS_OF_CODE ".option push\n.balign 4\n.option norvc\n"

/* The pixels of a block, struct dory_pixels, as operands, and their offsets' registers. */
#define PIXELS(first, distance)                                                                                             \
    [input] "m"(first), [offset1] "m"((distance)[0]), [offset2] "m"((distance)[1]), [offset3] "m"((distance)[2])
#define LOAD_OFFSETS                                                                                                        \
    "lw a3, %[offset1]\n"                                                                                                   \
    "lw a4, %[offset2]\n"                                                                                                   \
    "lw a5, %[offset3]\n"

/* The weights of a step, 4 bytes of each channel in t0 to t3: they are loaded first, and unpacked where the loads' results are
 * there. */
#define LOAD_BYTES P_LW_NEXT("t0", "a1") P_LW_NEXT("t1", "a1") P_LW_NEXT("t2", "a1") P_LW_NEXT("t3", "a1")

/* 4 bytes of each pixel by 4 bytes of each channel: 20 instructions, and those for the weights. No result is used by the
 * instruction behind it. */
#define STEP(load, unpack, dot, behind_use_of_t4, label_of_last)                                                            \
    load P_LW_NEXT("t4", "a0") P_LW_AT("t5", "a3", "a0") unpack                                                             \
        dot(SUM0, "t4", "t0") dot(SUM1, "t4", "t1") dot(SUM2, "t4", "t2") dot(SUM3, "t4", "t3") P_LW_AT("t4", "a4", "a0")   \
        dot(SUM4, "t5", "t0") dot(SUM5, "t5", "t1") dot(SUM6, "t5", "t2") dot(SUM7, "t5", "t3") P_LW_AT("t5", "a5", "a0")   \
        dot(SUM8, "t4", "t0") dot(SUM9, "t4", "t1") dot(SUM10, "t4", "t2") dot(SUM11, "t4", "t3") behind_use_of_t4          \
        dot(SUM12, "t5", "t0") dot(SUM13, "t5", "t1") dot(SUM14, "t5", "t2") label_of_last                                  \
        dot(SUM15, "t5", "t3")

/* A run of words; label 2 is behind it. */
#define SUM_WORDS(load, unpack, step, set, add)                                                                             \
    STEP(load, unpack, set, "lw t4, %[more_words]\n", "")                                                                   \
    "beqz t4, 2f\n"                                                                                                         \
    LP_SETUP("x0", "t4", step, "1") STEP(load, unpack, add, "", "1: ")                                                      \
    "2:\n"

/* The same on top of what the sums of each pixel and, in front of a quad's weights, of each channel start from: all words in
 * the loop. */
#define SUM_WORDS_FROM_STARTS(load, unpack, step, set, add)                                                                 \
    "lw t4, %[starts]\n"                                                                                                    \
    LOAD_BYTES                                                                                                              \
    "lw " SUM0 ", 0(t4)\n"                                                                                                  \
    "lw " SUM4 ", 4(t4)\n"                                                                                                  \
    "lw " SUM8 ", 8(t4)\n"                                                                                                  \
    "lw " SUM12 ", 12(t4)\n"                                                                                                \
    "lw t4, %[words]\n"                                                                                                     \
    START(SUM0, SUM1, SUM2, SUM3) START(SUM4, SUM5, SUM6, SUM7) START(SUM8, SUM9, SUM10, SUM11)                             \
        START(SUM12, SUM13, SUM14, SUM15) LP_SETUP("x0", "t4", step, "1") STEP(load, unpack, add, "", "1: ")
#define START(a, b, c, d)                                                                                                   \
    "add " b ", " a ", t1\n"                                                                                                \
    "add " c ", " a ", t2\n"                                                                                                \
    "add " d ", " a ", t3\n"                                                                                                \
    "add " a ", " a ", t0\n"

/* Four sums of one channel become elements. Each kind has LOAD_, its constants from where `from` points to; BIAS_, which adds
 * what is the channel's own where that is apart; and SCALE_, which leaves the constants as they are. In groups of four,
 * because a product is not ready for the very next instruction. */
#define LOAD_NORMALISE(from) P_LW_NEXT("t0", from) P_LW_NEXT("t1", from)
#define BIAS_NORMALISE(a, b, c, d) ""
#define SCALE_NORMALISE(a, b, c, d)                                                                                         \
    "mul " a ", " a ", t0\n"                                                                                                \
    "mul " b ", " b ", t0\n"                                                                                                \
    "mul " c ", " c ", t0\n"                                                                                                \
    "mul " d ", " d ", t0\n" P_ADDNR(a, "t1", "t2") P_ADDNR(b, "t1", "t2") P_ADDNR(c, "t1", "t2") P_ADDNR(d, "t1", "t2")    \
        P_CLIPUR(a, a, "t3") P_CLIPUR(b, b, "t3") P_CLIPUR(c, c, "t3") P_CLIPUR(d, d, "t3")

/* The clamped kinds; see direct.h. */
#define LOAD_FOUR(from) P_LW_NEXT("t0", from) P_LW_NEXT("t1", from) P_LW_NEXT("t3", from) P_LW_NEXT("t4", from)
#define CLAMP(a, b, c, d)                                                                                                   \
    P_MAX(a, a, "t0")                                                                                                       \
    P_MAX(b, b, "t0") P_MAX(c, c, "t0") P_MAX(d, d, "t0") P_MIN(a, a, "t1") P_MIN(b, b, "t1") P_MIN(c, c, "t1")             \
        P_MIN(d, d, "t1") "mul " a ", " a ", t3\n"                                                                          \
                          "mul " b ", " b ", t3\n"                                                                          \
                          "mul " c ", " c ", t3\n"                                                                          \
                          "mul " d ", " d ", t3\n"

#define LOAD_CLAMPED LOAD_FOUR
#define BIAS_CLAMPED BIAS_NORMALISE
#define SCALE_CLAMPED(a, b, c, d)                                                                                           \
    CLAMP(a, b, c, d)                                                                                                       \
    P_ADDUNR(a, "t4", "t2") P_ADDUNR(b, "t4", "t2") P_ADDUNR(c, "t4", "t2") P_ADDUNR(d, "t4", "t2")

#define LOAD_CLAMPED_DIVIDED LOAD_FOUR
#define BIAS_CLAMPED_DIVIDED BIAS_NORMALISE
#define SCALE_CLAMPED_DIVIDED(a, b, c, d)                                                                                   \
    CLAMP(a, b, c, d)                                                                                                       \
    "lw a0, %[reciprocal]\n"                                                                                                \
    "add " a ", " a ", t4\n"                                                                                                \
    "add " b ", " b ", t4\n"                                                                                                \
    "add " c ", " c ", t4\n"                                                                                                \
    "add " d ", " d ", t4\n"                                                                                                \
    "mulhu " a ", " a ", a0\n"                                                                                              \
    "mulhu " b ", " b ", a0\n"                                                                                              \
    "mulhu " c ", " c ", a0\n"                                                                                              \
    "mulhu " d ", " d ", a0\n"                                                                                              \
    "srl " a ", " a ", t2\n"                                                                                                \
    "srl " b ", " b ", t2\n"                                                                                                \
    "srl " c ", " c ", t2\n"                                                                                                \
    "srl " d ", " d ", t2\n"

/* The high kinds. t2 has the left shift, a0 the clip bound. */
#define BIAS(a, b, c, d)                                                                                                    \
    "add " a ", " a ", t0\n"                                                                                                \
    "add " b ", " b ", t0\n"                                                                                                \
    "add " c ", " c ", t0\n"                                                                                                \
    "add " d ", " d ", t0\n"

#define HIGH(a)                                                                                                             \
    "sll " a ", " a ", t2\n"                                                                                                \
    "mulh " a ", " a ", t1\n"

#define HIGH_AWAY(a)                                                                                                        \
    "slt t5, " a ", x0\n"                                                                                                   \
    HIGH(a)                                                                                                                 \
    P_MSU(a, "t5", "t0")

#define HIGH_EVEN(a)                                                                                                        \
    HIGH(a)                                                                                                                 \
    "sra t5, " a ", t4\n"                                                                                                   \
    "andi t5, t5, 1\n"                                                                                                      \
    "add " a ", " a ", t5\n"

#define SHIFT_AND_CLIP(a, b, c, d)                                                                                          \
    P_ADDNR(a, "t3", "t4") P_ADDNR(b, "t3", "t4") P_ADDNR(c, "t3", "t4") P_ADDNR(d, "t3", "t4")                             \
    P_CLIPUR(a, a, "a0") P_CLIPUR(b, b, "a0") P_CLIPUR(c, c, "a0") P_CLIPUR(d, d, "a0")

#define LOAD_HIGH LOAD_FOUR
#define BIAS_HIGH BIAS
#define SCALE_HIGH(a, b, c, d) HIGH(a) HIGH(b) HIGH(c) HIGH(d) SHIFT_AND_CLIP(a, b, c, d)

#define LOAD_HIGH_AWAY LOAD_FOUR
#define BIAS_HIGH_AWAY BIAS
#define SCALE_HIGH_AWAY(a, b, c, d)                                                                                         \
    "lw t0, %[away]\n"                                                                                                      \
    HIGH_AWAY(a) HIGH_AWAY(b) HIGH_AWAY(c) HIGH_AWAY(d)                                                                     \
    SHIFT_AND_CLIP(a, b, c, d)

#define LOAD_HIGH_EVEN LOAD_FOUR
#define BIAS_HIGH_EVEN BIAS
#define SCALE_HIGH_EVEN(a, b, c, d) HIGH_EVEN(a) HIGH_EVEN(b) HIGH_EVEN(c) HIGH_EVEN(d) SHIFT_AND_CLIP(a, b, c, d)

/* The split kinds: bias, limit, fine multiplier, addend (which has the shift in its low bits), coarse multiplier. Two sums at a
 * time, for both products need what is multiplied. The elements are the high bytes. */
#define SPLIT(a, b)                                                                                                         \
    P_CLIPUR("t0", a, "t1") P_CLIPUR("t5", b, "t1")                                                                         \
    "mul " a ", t0, t3\n"                                                                                                   \
    "mul " b ", t5, t3\n" P_ADDUNR(a, "t4", "t4") P_ADDUNR(b, "t4", "t4") P_MAC(a, "t0", "a0") P_MAC(b, "t5", "a0")

#define LOAD_SPLIT(from) LOAD_FOUR(from) P_LW_NEXT("a0", from)
#define BIAS_SPLIT BIAS
#define SCALE_SPLIT(a, b, c, d) SPLIT(a, b) SPLIT(c, d)

/* The same, and a step less below zero. */
#define SPLIT_AWAY(a, b)                                                                                                    \
    SPLIT(a, b)                                                                                                             \
    "slt t0, t0, t2\n"                                                                                                      \
    "slt t5, t5, t2\n" P_MSU(a, "t0", "a5") P_MSU(b, "t5", "a5")

#define LOAD_SPLIT_AWAY(from) LOAD_SPLIT(from) P_LW_NEXT("t2", from) P_LW_NEXT("a5", from)
#define BIAS_SPLIT_AWAY BIAS
#define SCALE_SPLIT_AWAY(a, b, c, d) SPLIT_AWAY(a, b) SPLIT_AWAY(c, d)

/* BY_OWN: each channel has its constants, behind the quad's weights. BY_SAME: all have the same ones, and nothing of their own,
 * for their sums start with it. */
#define BY_OWN(kind)                                                                                                        \
    ONE_BY_OWN(kind, SUM0, SUM4, SUM8, SUM12) ONE_BY_OWN(kind, SUM1, SUM5, SUM9, SUM13)                                     \
        ONE_BY_OWN(kind, SUM2, SUM6, SUM10, SUM14) ONE_BY_OWN(kind, SUM3, SUM7, SUM11, SUM15)
#define ONE_BY_OWN(kind, a, b, c, d) LOAD_##kind("a1") BIAS_##kind(a, b, c, d) SCALE_##kind(a, b, c, d)
#define BY_SAME(kind)                                                                                                       \
    "lw t5, %[same]\n"                                                                                                      \
    "nop\n"                                                                                                                 \
    LOAD_##kind("t5")                                                                                                       \
    SCALE_##kind(SUM0, SUM4, SUM8, SUM12) SCALE_##kind(SUM1, SUM5, SUM9, SUM13) SCALE_##kind(SUM2, SUM6, SUM10, SUM14)      \
        SCALE_##kind(SUM3, SUM7, SUM11, SUM15)

/* What a multiplication of blocks does with direct sums: at first, with what KIND loads (t2 shift, t3 maximum, t4 kind), and aside,
 * from where it goes back to label 10; `by` is BY_OWN or BY_SAME. Each kind has its own code, so that a network has only what
 * it needs in the cores' cache. */
#define KIND_DIRECT         "lw t2, %[shift]\n" "lw t3, %[maximum]\n"
#define FINISH_DIRECT(by)       by(NORMALISE)
#define FINISH_DIRECT_ASIDE(by) ""

#define KIND_CLAMPED "lw t2, %[shift]\n" "lw t4, %[direct]\n"
#define FINISH_CLAMPED(by)                                                                                                  \
    "addi t5, t4, -2\n"                                                                                                     \
    "bnez t5, 21f\n" by(CLAMPED)
#define FINISH_CLAMPED_ASIDE(by)                                                                                            \
    "21:\n" by(CLAMPED_DIVIDED)                                                                                             \
    "j 10b\n"

#define KIND_HIGH "lw t2, %[shift]\n" "lw t3, %[maximum]\n" "lw t4, %[direct]\n"
#define FINISH_FLOOR_OR_AWAY(by)                                                                                            \
    "addi t5, t4, 1\n"                                                                                                      \
    "beqz t5, 24f\n" by(HIGH)                                                                                               \
    "25: lw t0, %[minimum]\n"                                                                                               \
    "nop\n"                                                                                                                 \
    "bnez t0, 26f\n"
#define FINISH_FLOOR_OR_AWAY_ASIDE(by)                                                                                      \
    "24:\n" by(HIGH_AWAY)                                                                                                   \
    "j 25b\n"                                                                                                               \
    "26:\n"                                                                                                                 \
    P_MAX(SUM0, SUM0, "t0") P_MAX(SUM1, SUM1, "t0") P_MAX(SUM2, SUM2, "t0") P_MAX(SUM3, SUM3, "t0")                         \
    P_MAX(SUM4, SUM4, "t0") P_MAX(SUM5, SUM5, "t0") P_MAX(SUM6, SUM6, "t0") P_MAX(SUM7, SUM7, "t0")                         \
    P_MAX(SUM8, SUM8, "t0") P_MAX(SUM9, SUM9, "t0") P_MAX(SUM10, SUM10, "t0") P_MAX(SUM11, SUM11, "t0")                     \
    P_MAX(SUM12, SUM12, "t0") P_MAX(SUM13, SUM13, "t0") P_MAX(SUM14, SUM14, "t0") P_MAX(SUM15, SUM15, "t0")                 \
    "j 10b\n"

#define FINISH_HIGH(by)                                                                                                     \
    "mv a0, t3\n"                                                                                                           \
    "addi t5, t4, 3\n"                                                                                                      \
    "beqz t5, 28f\n" FINISH_FLOOR_OR_AWAY(by)
#define FINISH_HIGH_ASIDE(by)                                                                                               \
    FINISH_FLOOR_OR_AWAY_ASIDE(by)                                                                                          \
    "28:\n" by(HIGH_EVEN)                                                                                                   \
    "j 25b\n"

#define KIND_SPLIT "lw t4, %[direct]\n"
#define FINISH_SPLIT(by)                                                                                                    \
    "addi t5, t4, -5\n"                                                                                                     \
    "beqz t5, 27f\n" by(SPLIT)
#define FINISH_SPLIT_ASIDE(by)                                                                                              \
    "27:\n" by(SPLIT_AWAY)                                                                                                  \
    "lw a5, %[offset3]\n"                                                                                                   \
    "j 10b\n"

/* Every kind but the split ones and the one that rounds halves to even. */
#define KIND_ANY "lw t2, %[shift]\n" "lw t3, %[maximum]\n" "lw t4, %[direct]\n"
#define FINISH_ANY(by)                                                                                                      \
    "addi t5, t4, -1\n"                                                                                                     \
    "bnez t5, 20f\n" FINISH_DIRECT(by)
#define FINISH_ANY_ASIDE(by)                                                                                                \
    "20: bltz t4, 23f\n" FINISH_CLAMPED(by)                                                                                 \
    "j 10b\n" FINISH_CLAMPED_ASIDE(by)                                                                                      \
    "23: mv a0, t3\n" FINISH_FLOOR_OR_AWAY(by)                                                                              \
    "j 10b\n" FINISH_FLOOR_OR_AWAY_ASIDE(by)

/* Four channels of one pixel into a word; the address moves on to the next pixel. In CHW, four pixels of one channel, and from
 * there to the channel before: the sign of the step tells which. Elements are low bytes, or high bytes, which the selector
 * picks. */
#define STORE_LOW(a, b, c, d) PV_PACKLO_B(a, b, a) PV_PACKHI_B(a, d, c) P_SW_STEP(a, "t5", "t4")
#define SELECT_LOW            ""
#define STORE_HIGH(a, b, c, d)                                                                                              \
    PV_SHUFFLE2_B(a, b, "t2") PV_SHUFFLE2_B(c, d, "t2") PV_PACK_H(a, c, a) P_SW_STEP(a, "t5", "t4")
#define SELECT_HIGH "li t2, 0x07030703\n"

#define KEEP(a, b, c, d, offset)                                                                                            \
    "sw " a ", " #offset "(t0)\n"                                                                                           \
    "sw " b ", " #offset " + 4(t0)\n"                                                                                       \
    "sw " c ", " #offset " + 8(t0)\n"                                                                                       \
    "sw " d ", " #offset " + 12(t0)\n"

#define KEEP_SUMS                                                                                                           \
    KEEP(SUM0, SUM1, SUM2, SUM3, 0) KEEP(SUM4, SUM5, SUM6, SUM7, 16) KEEP(SUM8, SUM9, SUM10, SUM11, 32)                     \
        KEEP(SUM12, SUM13, SUM14, SUM15, 48)

/* The first step of a block sets the sums, which saves 16 instructions that would clear them. The words of a run are
 * counted by the inner hardware loop, the runs behind the first by the outer one; a loop of no rounds is not
 * allowed and jumped over. A block of one run takes step * words + 84 cycles, where a step has `step` instructions. `scale`
 * is done with the sums, which it may bring from the scale that the unpacked weights have to their own. `finish` and `end` are
 * names behind FINISH_ and STORE_. */
#define MULTIPLY(blocks, load, unpack, step, set, add, scale, finish, end)                                                  \
    MULTIPLY_BY(SUM_WORDS, BY_OWN, blocks, load, unpack, step, set, add, scale, finish, end)
#define MULTIPLY_BY(sum_words, by, blocks, load, unpack, step, set, add, scale, finish, end)                                \
    __asm__ volatile(                                                                                                       \
        WORDS_OF_CODE                                                                                                       \
        "lw a1, %[weights]\n"                                                                                               \
        LOAD_OFFSETS                                                                                                        \
        "0: lw a0, %[input]\n"                                                                                              \
        sum_words(load, unpack, step, set, add)                                                                             \
        "lw t5, %[special]\n"                                                                                               \
        KIND_##finish                                                                                                       \
        "bnez t5, 4f\n"                                                                                                     \
        scale                                                                                                               \
        "3:\n"                                                                                                              \
        FINISH_##finish(by)                                                                                                 \
        "10: lw t4, %[output]\n"                                                                                            \
        "lw t5, %[output_step]\n"                                                                                           \
        "lw t1, %[weights_end]\n"                                                                                           \
        SELECT_##end                                                                                                        \
        "bltz t5, 11f\n"                                                                                                    \
        "addi t0, t4, 4\n"                                                                                                  \
        "sw t0, %[output]\n"                                                                                                \
        STORE_##end(SUM0, SUM1, SUM2, SUM3)                                                                                 \
        STORE_##end(SUM4, SUM5, SUM6, SUM7)                                                                                 \
        STORE_##end(SUM8, SUM9, SUM10, SUM11)                                                                               \
        STORE_##end(SUM12, SUM13, SUM14, SUM15)                                                                             \
        "bne a1, t1, 0b\n"                                                                                                  \
        "j 9f\n"                                                                                                            \
        "11:\n"                                                                                                             \
        STORE_##end(SUM3, SUM7, SUM11, SUM15)                                                                               \
        STORE_##end(SUM2, SUM6, SUM10, SUM14)                                                                               \
        STORE_##end(SUM1, SUM5, SUM9, SUM13)                                                                                \
        STORE_##end(SUM0, SUM4, SUM8, SUM12)                                                                                \
        "slli t5, t5, 3\n"                                                                                                  \
        "sub t4, t4, t5\n"                                                                                                  \
        "sw t4, %[output]\n"                                                                                                \
        "bne a1, t1, 0b\n"                                                                                                  \
        "j 9f\n"                                                                                                            \
        "4: lw t5, %[more_runs]\n"                                                                                          \
        "nop\n"                                                                                                             \
        "beqz t5, 7f\n"                                                                                                     \
        LP_SETUP("x1", "t5", 6 + step, "6")                                                                                 \
        "lw t4, %[words]\n"                                                                                                 \
        "lw t5, %[jump]\n"                                                                                                  \
        "nop\n"                                                                                                             \
        "add a0, a0, t5\n"                                                                                                  \
        LP_SETUP("x0", "t4", step, "5")                                                                                     \
        STEP(load, unpack, add, "", "5: ")                                                                                  \
        "6: nop\n"                                                                                                          \
        "7: lw t4, %[direct]\n"                                                                                             \
        "lw t2, %[shift]\n"                                                                                                 \
        "lw t3, %[maximum]\n"                                                                                               \
        scale                                                                                                               \
        "bnez t4, 3b\n"                                                                                                     \
        "8: lw t0, %[sum]\n"                                                                                                \
        "nop\n"                                                                                                             \
        KEEP_SUMS                                                                                                           \
        "j 9f\n"                                                                                                            \
        FINISH_##finish##_ASIDE(by)                                                                                         \
        "9: sw a1, %[weights]\n"                                                                                            \
        ".option pop\n"                                                                                                     \
        : [weights] "+m"((blocks)->weights), [output] "+m"((blocks)->output)                                                \
        : PIXELS((blocks)->pixels.input, (blocks)->pixels.offset),                                                          \
          [words] "m"((blocks)->words), [more_words] "m"((blocks)->more_words), [more_runs] "m"((blocks)->more_runs),       \
          [jump] "m"((blocks)->jump), [weights_end] "m"((blocks)->weights_end), [special] "m"((blocks)->special),           \
          [direct] "m"((blocks)->direct), [shift] "m"((blocks)->normaliser.direct_shift),                                   \
          [reciprocal] "m"((blocks)->normaliser.reciprocal), [away] "m"((blocks)->normaliser.away),                         \
          [minimum] "m"((blocks)->normaliser.minimum),                                                                      \
          [maximum] "m"((blocks)->normaliser.maximum), [output_step] "m"((blocks)->output_step), [sum] "m"((blocks)->sum),  \
          [starts] "m"((blocks)->starts), [same] "m"((blocks)->same)                                                        \
        : REGISTERS_OF_BLOCK, "memory")

/* clang-format on */

/* multiply_<name>, the product of unsigned bytes and 8-bit weights whose blocks end in one way, `kind` and `end` of
 * MULTIPLY. */
#define DORY_DEFINE_MULTIPLY_OF_KIND(name, kind, end)                                                                       \
    static inline __attribute__((always_inline)) void multiply_##name(struct dory_blocks *blocks, bool is_signed)           \
    {                                                                                                                       \
        (void)is_signed;                                                                                                    \
        MULTIPLY(blocks, LOAD_BYTES, "", 24, PV_DOTUSP_B, PV_SDOTUSP_B, "", kind, end);                                     \
    }

/* The same for sums that start from blocks->starts and end by blocks->same. */
#define DORY_DEFINE_MULTIPLY_FROM_STARTS(name, kind, end)                                                                   \
    static inline __attribute__((always_inline)) void multiply_##name(struct dory_blocks *blocks, bool is_signed)           \
    {                                                                                                                       \
        (void)is_signed;                                                                                                    \
        MULTIPLY_BY(SUM_WORDS_FROM_STARTS, BY_SAME, blocks, LOAD_BYTES, "", 24, PV_DOTUSP_B, PV_SDOTUSP_B, "", kind, end);  \
    }

#else

/* Makes the words of four channels from the weights of a step. */
typedef void dory_unpack_weights(const uint8_t *weights, uint32_t word[4]);

static inline void dory_unpack_bytes(const uint8_t *weights, uint32_t word[4]) { memcpy(word, weights, 16); }

static inline void dory_multiply_step(int32_t sum[16], const uint8_t *const pixel[4], const uint32_t word[4], bool is_signed)
{
    for (unsigned i = 0; i < 16; i++) {
        uint32_t x = dory_load_word(pixel[i / 4]), w = word[i % 4];
        sum[i] = is_signed ? pv_sdotsp_b(sum[i], x, w) : pv_sdotusp_b(sum[i], x, w);
    }
}

/* `starts`: of each pixel, and those of each channel are in front of the weights; null: zeros. */
static inline void dory_multiply_block(struct dory_blocks *blocks, const int32_t *starts, bool is_signed,
                                       dory_unpack_weights *unpack, uint32_t step_bytes)
{
    const uint8_t *input = blocks->pixels.input;
    for (unsigned i = 0; i < 16; i++) {
        blocks->sum[i] = starts ? (int32_t)((uint32_t)starts[i / 4] + dory_load_word(blocks->weights + 4 * (i % 4))) : 0;
    }
    blocks->weights += starts ? 16 : 0;
    for (uint32_t run = 0; run <= blocks->more_runs; run++) {
        for (uint32_t step = 0; step < blocks->words; step++) {
            const uint8_t *next = input + 4, *pixel[4] = {input};
            for (unsigned p = 1; p < 4; p++) {
                pixel[p] = next + blocks->pixels.offset[p - 1];
            }
            uint32_t word[4];
            unpack(blocks->weights, word);
            dory_multiply_step(blocks->sum, pixel, word, is_signed);
            input = next;
            blocks->weights += step_bytes;
        }
        input += (int32_t)blocks->jump; /* runs whose last word is not full may overlap */
    }
}

static inline void dory_store_planes(struct dory_blocks *blocks)
{
    for (int32_t lane = 3; lane >= 0; lane--) {
        const int32_t *sum = blocks->sum + lane, pixel[4] = {sum[0], sum[4], sum[8], sum[12]};
        dory_store_word(blocks->output + (3 - lane) * blocks->output_step, dory_pack_bytes(pixel));
    }
    blocks->output -= 4 * blocks->output_step;
}

/* `same`: the constants of all channels; null: each has its own, behind the weights. */
static inline void dory_store_block(struct dory_blocks *blocks, const uint32_t *same)
{
    int32_t *sum = blocks->sum;
    for (unsigned lane = 0; lane < 4; lane++) {
        const uint8_t *constants = same ? (const uint8_t *)same : blocks->weights;
        dory_normalise_in_its_kind(&blocks->normaliser, sum + lane, 4, 4, constants);
        blocks->weights += same ? 0 : dory_direct_constants_bytes(&blocks->normaliser);
    }
    if (blocks->output_step < 0) {
        dory_store_planes(blocks);
        return;
    }
    for (int32_t p = 0; p < 4; p++, sum += 4) {
        dory_store_word(blocks->output + p * blocks->output_step, dory_pack_bytes(sum));
    }
    blocks->output += 4;
}

static inline void dory_multiply_from(struct dory_blocks *blocks, const int32_t *starts, bool is_signed,
                                      dory_unpack_weights *unpack, uint32_t step_bytes)
{
    do {
        dory_multiply_block(blocks, starts, is_signed, unpack, step_bytes);
        if (!blocks->direct) {
            return;
        }
        dory_store_block(blocks, starts ? blocks->same : NULL);
    } while (blocks->weights != blocks->weights_end);
}

static inline void dory_multiply(struct dory_blocks *blocks, bool is_signed, dory_unpack_weights *unpack,
                                 uint32_t step_bytes)
{
    dory_multiply_from(blocks, NULL, is_signed, unpack, step_bytes);
}

#define DORY_DEFINE_MULTIPLY_FROM_STARTS(name, kind, end)                                                                   \
    static void multiply_##name(struct dory_blocks *blocks, bool is_signed)                                                 \
    {                                                                                                                       \
        dory_multiply_from(blocks, blocks->starts, is_signed, dory_unpack_bytes, 16);                                       \
    }

#define DORY_DEFINE_MULTIPLY_OF_KIND(name, kind, end)                                                                       \
    static void multiply_##name(struct dory_blocks *blocks, bool is_signed)                                                 \
    {                                                                                                                       \
        dory_multiply(blocks, is_signed, dory_unpack_bytes, 16);                                                            \
    }

#endif

#endif
