/* Sums of a block of 4 pixels x 4 channels whose bytes were laid in the order of the weights.
 *
 * Of elements of 16 bits first the products of high bytes are summed, then 256 times that and the products of low bytes, all
 * of it in registers: beside its steps a block takes some 140 cycles.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_SUM_BLOCK_H
#define DORY_XPULPV2_SUM_BLOCK_H

#include "../packed/packed_weights.h"
#include "../product_block.h"

struct dory_laid_block {
    const uint8_t *input, *low; /* bytes of the first pixel; low: of 16 bits only, and input has the high ones */
    int32_t offset[3];          /* as in struct dory_pixels */
    uint32_t words, more_words; /* of a pixel; behind the first */
    const uint8_t *weights;     /* moves on to what is behind them */
    int32_t *sum;               /* of pixel p and lane c at [4 * p + c] */
};

/* Of unsigned low bytes, the input's own sign is that of `input`. */
typedef void dory_sum_block(struct dory_laid_block *block, bool is_signed);

#if defined(DORY_XPULPV2)

/* clang-format off */

#define TIMES_256(a, b, c, d)                                                                                               \
    "slli " a ", " a ", 8\n"                                                                                                \
    "slli " b ", " b ", 8\n"                                                                                                \
    "slli " c ", " c ", 8\n"                                                                                                \
    "slli " d ", " d ", 8\n"

/* Registers as in product_block.h. */
#define SUM_BLOCK(block, load, unpack, step, set, add)                                                                      \
    __asm__ volatile(                                                                                                       \
        WORDS_OF_CODE                                                                                                       \
        "lw a1, %[weights]\n"                                                                                               \
        "lw a0, %[input]\n"                                                                                                 \
        LOAD_OFFSETS                                                                                                        \
        SUM_WORDS(load, unpack, step, set, add)                                                                             \
        "lw t5, %[low]\n"                                                                                                   \
        "lw t4, %[words]\n"                                                                                                 \
        "beqz t5, 4f\n"                                                                                                     \
        TIMES_256(SUM0, SUM1, SUM2, SUM3)                                                                                   \
        TIMES_256(SUM4, SUM5, SUM6, SUM7)                                                                                   \
        TIMES_256(SUM8, SUM9, SUM10, SUM11)                                                                                 \
        TIMES_256(SUM12, SUM13, SUM14, SUM15)                                                                               \
        "lw a1, %[weights]\n"                                                                                               \
        "mv a0, t5\n"                                                                                                       \
        LP_SETUP("x0", "t4", step, "3")                                                                                     \
        STEP(load, unpack, PV_SDOTUSP_B, "", "3: ")                                                                         \
        "4: lw t0, %[sum]\n"                                                                                                \
        "sw a1, %[weights]\n"                                                                                               \
        KEEP_SUMS                                                                                                           \
        ".option pop\n"                                                                                                     \
        : [weights] "+m"((block)->weights)                                                                                  \
        : PIXELS((block)->input, (block)->offset), [low] "m"((block)->low), [words] "m"((block)->words),                    \
          [more_words] "m"((block)->more_words), [sum] "m"((block)->sum)                                                    \
        : REGISTERS_OF_BLOCK, "memory")

/* clang-format on */

/* Not in line: each copy of it would be further code on its way to the cores' cache. */
#define DORY_DEFINE_SUM(bits, load, unpack, step)                                                                           \
    static __attribute__((noinline)) void sum_##bits(struct dory_laid_block *block, bool is_signed)                         \
    {                                                                                                                       \
        if (is_signed) {                                                                                                    \
            SUM_BLOCK(block, load, unpack, step, PV_DOTSP_B, PV_SDOTSP_B);                                                  \
        } else {                                                                                                            \
            SUM_BLOCK(block, load, unpack, step, PV_DOTUSP_B, PV_SDOTUSP_B);                                                \
        }                                                                                                                   \
    }

DORY_DEFINE_SUM(8, LOAD_BYTES, "", 24)
DORY_DEFINE_SUM(4, LOAD_4, UNPACK_4_AS_IS, 28)
DORY_DEFINE_SUM(2, LOAD_2, UNPACK_2, 28)

#else

static inline const uint8_t *dory_sum_plane(const struct dory_laid_block *block, const uint8_t *input, bool is_signed,
                                            dory_unpack_weights *unpack, uint32_t step_bytes)
{
    const uint8_t *weights = block->weights;
    for (uint32_t i = 0; i < block->words; i++, weights += step_bytes) {
        const uint8_t *next = input + 4, *pixel[4] = {input};
        for (unsigned p = 1; p < 4; p++) {
            pixel[p] = next + block->offset[p - 1];
        }
        uint32_t word[4];
        unpack(weights, word);
        dory_multiply_step(block->sum, pixel, word, is_signed);
        input = next;
    }
    return weights;
}

static inline void dory_sum_planes(struct dory_laid_block *block, bool is_signed, dory_unpack_weights *unpack,
                                   uint32_t step_bytes)
{
    memset(block->sum, 0, 16 * sizeof *block->sum);
    const uint8_t *behind = dory_sum_plane(block, block->input, is_signed, unpack, step_bytes);
    if (block->low) {
        for (unsigned i = 0; i < 16; i++) {
            block->sum[i] = (int32_t)((uint32_t)block->sum[i] << 8);
        }
        dory_sum_plane(block, block->low, false, unpack, step_bytes);
    }
    block->weights = behind;
}

#define DORY_DEFINE_SUM(bits, unpack, step_bytes)                                                                           \
    static void sum_##bits(struct dory_laid_block *block, bool is_signed)                                                   \
    {                                                                                                                       \
        dory_sum_planes(block, is_signed, unpack, step_bytes);                                                              \
    }

DORY_DEFINE_SUM(8, dory_unpack_bytes, 16)
DORY_DEFINE_SUM(4, dory_load_4, 8)
DORY_DEFINE_SUM(2, dory_load_2, 4)

#endif

#endif
