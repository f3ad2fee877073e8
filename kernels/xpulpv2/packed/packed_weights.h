/* How the product's step loads and unpacks weights of 4 and 2 bits: see packed.h and product_block.h.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_PACKED_WEIGHTS_H
#define DORY_XPULPV2_PACKED_WEIGHTS_H

#include "packed.h"

#if defined(DORY_XPULPV2)

/* 4 bits: two channels in a word. They are left in the high half of each byte, 16 times as large as they are: 26
 * instructions a step, and 16 for the sums at the end. */
#define LOAD_4                                                                                                              \
    P_LW_NEXT("t0", "a1")                                                                                                   \
    P_LW_NEXT("t2", "a1")
#define UNPACK_4                                                                                                            \
    PV_AND_B("t1", "t0", -16)                                                                                               \
    PV_SLL_B("t0", "t0", 4)                                                                                                 \
    PV_AND_B("t3", "t2", -16)                                                                                               \
    PV_SLL_B("t2", "t2", 4)
#define SCALE(sum) "srai " sum ", " sum ", 4\n"
#define SCALE_4                                                                                                             \
    SCALE(SUM0)                                                                                                             \
    SCALE(SUM1)                                                                                                             \
    SCALE(SUM2)                                                                                                             \
    SCALE(SUM3)                                                                                                             \
    SCALE(SUM4)                                                                                                             \
    SCALE(SUM5)                                                                                                             \
    SCALE(SUM6)                                                                                                             \
    SCALE(SUM7)                                                                                                             \
    SCALE(SUM8)                                                                                                             \
    SCALE(SUM9)                                                                                                             \
    SCALE(SUM10)                                                                                                            \
    SCALE(SUM11)                                                                                                            \
    SCALE(SUM12)                                                                                                            \
    SCALE(SUM13)                                                                                                            \
    SCALE(SUM14)                                                                                                            \
    SCALE(SUM15)

/* 4 bits as they are, not 16 times as large, for which sums of 16 bits have no room. */
#define UNPACK_4_AS_IS                                                                                                      \
    PV_SRA_B("t1", "t0", 4)                                                                                                 \
    PV_SLL_B("t0", "t0", 4)                                                                                                 \
    PV_SRA_B("t0", "t0", 4)                                                                                                 \
    PV_SRA_B("t3", "t2", 4)                                                                                                 \
    PV_SLL_B("t2", "t2", 4)                                                                                                 \
    PV_SRA_B("t2", "t2", 4)

/* 2 bits: four channels in a word, 28 instructions a step. */
#define LOAD_2 P_LW_NEXT("t3", "a1")
#define UNPACK_2                                                                                                            \
    PV_SLL_B("t0", "t3", 6)                                                                                                 \
    PV_SLL_B("t1", "t3", 4)                                                                                                 \
    PV_SLL_B("t2", "t3", 2)                                                                                                 \
    PV_SRA_B("t0", "t0", 6)                                                                                                 \
    PV_SRA_B("t1", "t1", 6)                                                                                                 \
    PV_SRA_B("t2", "t2", 6)                                                                                                 \
    PV_SRA_B("t3", "t3", 6)

/* multiply_8, _4 and _2, the products of blocks (product_block.h) of weights of so many bits. Blocks of unsigned inputs end
 * in any way. */
#define DORY_DEFINE_MULTIPLY(bits, load, unpack, step, scale)                                                               \
    static inline __attribute__((always_inline)) void multiply_##bits(struct dory_blocks *blocks, bool is_signed)           \
    {                                                                                                                       \
        if (is_signed) {                                                                                                    \
            MULTIPLY(blocks, load, unpack, step, PV_DOTSP_B, PV_SDOTSP_B, scale, DIRECT, LOW);                              \
        } else {                                                                                                            \
            MULTIPLY(blocks, load, unpack, step, PV_DOTUSP_B, PV_SDOTUSP_B, scale, ANY, LOW);                               \
        }                                                                                                                   \
    }
#define DORY_DEFINE_MULTIPLIES                                                                                              \
    DORY_DEFINE_MULTIPLY(8, LOAD_BYTES, "", 24, "")                                                                         \
    DORY_DEFINE_MULTIPLY(4, LOAD_4, UNPACK_4, 26, SCALE_4)                                                                  \
    DORY_DEFINE_MULTIPLY(2, LOAD_2, UNPACK_2, 28, "")

#else

static inline void dory_load_4(const uint8_t *weights, uint32_t word[4])
{
    for (unsigned i = 0; i < 2; i++) {
        uint32_t packed = dory_load_word(weights + 4 * i);
        word[2 * i] = dory_signed_field_0_4(packed);
        word[2 * i + 1] = dory_signed_field_4_4(packed);
    }
}

static inline void dory_load_2(const uint8_t *weights, uint32_t word[4])
{
    uint32_t packed = dory_load_word(weights);
    word[0] = dory_signed_field_0_2(packed);
    word[1] = dory_signed_field_2_2(packed);
    word[2] = dory_signed_field_4_2(packed);
    word[3] = dory_signed_field_6_2(packed);
}

#define DORY_DEFINE_MULTIPLY(bits, load, step_bytes)                                                                        \
    static void multiply_##bits(struct dory_blocks *blocks, bool is_signed)                                                 \
    {                                                                                                                       \
        dory_multiply(blocks, is_signed, load, step_bytes);                                                                 \
    }
#define DORY_DEFINE_MULTIPLIES                                                                                              \
    DORY_DEFINE_MULTIPLY(8, dory_unpack_bytes, 16)                                                                          \
    DORY_DEFINE_MULTIPLY(4, dory_load_4, 8)                                                                                 \
    DORY_DEFINE_MULTIPLY(2, dory_load_2, 4)

#endif

#endif
