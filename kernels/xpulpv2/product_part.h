/* The product's innermost code for the last quad of channels where it has fewer than four: blocks of 4 pixels x 3 channels,
 * whose elements are written one by one. A step of 4 bytes takes 19 instructions where four channels take 24, and 12 stores
 * are as many instructions as packing and storing words. Only for pixels of one run, unsigned, of bytes; see product.h.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_PRODUCT_PART_H
#define DORY_XPULPV2_PRODUCT_PART_H

#include "product_block.h"

#if defined(DORY_XPULPV2)

/* clang-format off */

/* Registers as in product_block.h; SUM3, SUM7, SUM11 and SUM15 are not used. The fourth channel's weights are skipped. */
#define STEP_OF_THREE(dot, behind_use_of_t4, label_of_last)                                                                 \
    P_LW_NEXT("t0", "a1") P_LW_NEXT("t1", "a1") P_LW_BEFORE_NEXT("t2", "a1")                                                \
    P_LW_NEXT("t4", "a0") P_LW_AT("t5", "a3", "a0")                                                                         \
    dot(SUM0, "t4", "t0") dot(SUM1, "t4", "t1") dot(SUM2, "t4", "t2") P_LW_AT("t4", "a4", "a0")                             \
    dot(SUM4, "t5", "t0") dot(SUM5, "t5", "t1") dot(SUM6, "t5", "t2") P_LW_AT("t5", "a5", "a0")                             \
    dot(SUM8, "t4", "t0") dot(SUM9, "t4", "t1") dot(SUM10, "t4", "t2") behind_use_of_t4                                     \
    dot(SUM12, "t5", "t0") dot(SUM13, "t5", "t1") label_of_last dot(SUM14, "t5", "t2")

/* From sums to elements in the low byte. */
#define THREE_BY_OWN(kind)                                                                                                  \
    ONE_BY_OWN(kind, SUM0, SUM4, SUM8, SUM12) ONE_BY_OWN(kind, SUM1, SUM5, SUM9, SUM13)                                     \
        ONE_BY_OWN(kind, SUM2, SUM6, SUM10, SUM14)
#define PART_CLAMPED "lw t2, %[shift]\n" THREE_BY_OWN(CLAMPED)
#define PART_SPLIT                                                                                                          \
    THREE_BY_OWN(SPLIT) LOW_BYTES(SUM0, SUM4, SUM8, SUM12) LOW_BYTES(SUM1, SUM5, SUM9, SUM13)                               \
        LOW_BYTES(SUM2, SUM6, SUM10, SUM14)
#define LOW_BYTES(a, b, c, d)                                                                                               \
    "srli " a ", " a ", 24\n"                                                                                               \
    "srli " b ", " b ", 24\n"                                                                                               \
    "srli " c ", " c ", 24\n"                                                                                               \
    "srli " d ", " d ", 24\n"

/* A pixel's elements; t1 is the step between them, t3 from the last one to the next pixel's first. */
#define STORE_THREE(a, b, c) P_SB_STEP(a, "t1", "t0") P_SB_STEP(b, "t1", "t0") P_SB_STEP(c, "t3", "t0")
#define STORE_TWO(a, b)      P_SB_STEP(a, "t1", "t0") P_SB_STEP(b, "t3", "t0")
#define STORE_ONE(a)         P_SB_STEP(a, "t3", "t0")

#define MULTIPLY_PART(blocks, kind)                                                                                         \
    __asm__ volatile(                                                                                                       \
        WORDS_OF_CODE                                                                                                       \
        "lw a1, %[weights]\n"                                                                                               \
        LOAD_OFFSETS                                                                                                        \
        "lw a0, %[input]\n"                                                                                                 \
        "nop\n"                                                                                                             \
        STEP_OF_THREE(PV_DOTUSP_B, "lw t4, %[more_words]\n", "")                                                            \
        "beqz t4, 2f\n"                                                                                                     \
        LP_SETUP("x0", "t4", 19, "1")                                                                                       \
        STEP_OF_THREE(PV_SDOTUSP_B, "", "1: ")                                                                              \
        "2:\n"                                                                                                              \
        PART_##kind                                                                                                         \
        "lw t5, %[lanes]\n"                                                                                                 \
        "lw t0, %[output]\n"                                                                                                \
        "lw t1, %[lane_step]\n"                                                                                             \
        "lw t3, %[pixel_step]\n"                                                                                            \
        "addi t5, t5, -2\n"                                                                                                 \
        "bltz t5, 3f\n"                                                                                                     \
        "beqz t5, 4f\n"                                                                                                     \
        STORE_THREE(SUM0, SUM1, SUM2) STORE_THREE(SUM4, SUM5, SUM6)                                                         \
        STORE_THREE(SUM8, SUM9, SUM10) STORE_THREE(SUM12, SUM13, SUM14)                                                     \
        "j 5f\n"                                                                                                            \
        "3:\n"                                                                                                              \
        STORE_ONE(SUM0) STORE_ONE(SUM4) STORE_ONE(SUM8) STORE_ONE(SUM12)                                                    \
        "j 5f\n"                                                                                                            \
        "4:\n"                                                                                                              \
        STORE_TWO(SUM0, SUM1) STORE_TWO(SUM4, SUM5) STORE_TWO(SUM8, SUM9) STORE_TWO(SUM12, SUM13)                           \
        "5:\n"                                                                                                              \
        ".option pop\n"                                                                                                     \
        :                                                                                                                   \
        : [weights] "m"((blocks)->weights), PIXELS((blocks)->pixels.input, (blocks)->pixels.offset),                        \
          [more_words] "m"((blocks)->more_words), [shift] "m"((blocks)->normaliser.direct_shift),                           \
          [maximum] "m"((blocks)->normaliser.maximum), [lanes] "m"((blocks)->part.lanes),                                   \
          [output] "m"((blocks)->part.output), [lane_step] "m"((blocks)->part.lane_step),                                   \
          [pixel_step] "m"((blocks)->part.pixel_step)                                                                       \
        : REGISTERS_OF_BLOCK, "memory")

/* clang-format on */

#else

#define MULTIPLY_PART(blocks, kind) dory_multiply_part(blocks)

static inline void dory_multiply_part(struct dory_blocks *blocks)
{
    const int32_t *sum = blocks->sum;
    uint32_t constants_bytes = dory_direct_constants_bytes(&blocks->normaliser);
    dory_multiply_block(blocks, NULL, false, dory_unpack_bytes, 16);
    for (uint32_t lane = 0; lane < blocks->part.lanes; lane++) {
        dory_normalise_in_its_kind(&blocks->normaliser, blocks->sum + lane, 4, 4, blocks->weights + lane * constants_bytes);
    }
    uint8_t *output = blocks->part.output;
    for (unsigned pixel = 0; pixel < 4; pixel++, sum += 4) {
        for (uint32_t lane = 0; lane < blocks->part.lanes; lane++) {
            *output = (uint8_t)sum[lane];
            output += lane + 1 < blocks->part.lanes ? blocks->part.lane_step : blocks->part.pixel_step;
        }
    }
}

#endif

/* Whether such blocks can be computed so: `direct` is the one kind that the code has. */
static inline bool dory_product_has_part(const struct dory_product *product, enum dory_direct direct)
{
    return product->direct == (int8_t)direct && product->blocks.more_runs == 0 && !product->input_is_signed;
}

#endif
