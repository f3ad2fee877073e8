/* What pools of bytes and pools of any elements share: windows' rows of four channels, and the end of four elements.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_POOL_H
#define DORY_XPULPV2_POOL_H

#include "../normalise.h"
#include "../stage.h"
#include "dory/layer.h"

struct dory_pool {
    bool is_signed, is_plain; /* plain: what comes out is the maximum itself */
    uint32_t rows, columns;   /* of the window */
    uint32_t step;            /* bytes from pixel to pixel */
    int32_t row_step;         /* from behind a row of the window to the start of the next */
    struct dory_scalar_finish finish;
};

#if defined(DORY_XPULPV2)

/* No assembly here says that it reads memory: what it reads does not change, and all else may stay in registers. */
#define MAXIMUM(larger)                                                                                                     \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n" LP_SETUP("x0", "%[count]", 2, "1") P_LW_STEP(                                        \
                         "t0", "%[step]", "%[input]") "1: " larger("%[result]", "%[result]", "t0") ".option pop\n"          \
                     : [input] "+r"(*input), [result] "+r"(result)                                                          \
                     : [count] "r"(pool->columns), [step] "r"(pool->step)                                                   \
                     : "t0")

static inline uint32_t dory_pool_maximum_of_row(const struct dory_pool *pool, const uint8_t **input, uint32_t result)
{
    if (pool->is_signed) {
        MAXIMUM(PV_MAX_B);
    } else {
        MAXIMUM(PV_MAXU_B);
    }
    return result;
}

/* A dot product with a word that is one byte of 1 picks a channel and adds it. */
#define SUM(add)                                                                                                            \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n" LP_SETUP("x0", "%[count]", 5, "1") P_LW_STEP("t0", "%[step]", "%[input]")                         \
            add("%[s0]", "t0", "%[w0]") add("%[s1]", "t0", "%[w1]")                                                         \
                add("%[s2]", "t0", "%[w2]") "1: " add("%[s3]", "t0", "%[w3]") ".option pop\n"                               \
        : [input] "+r"(*input), [s0] "+r"(sum[0]), [s1] "+r"(sum[1]), [s2] "+r"(sum[2]), [s3] "+r"(sum[3])                  \
        : [count] "r"(count), [step] "r"(pool->step), [w0] "r"(1), [w1] "r"(0x100), [w2] "r"(0x10000), [w3] "r"(0x1000000)  \
        : "t0")

/* Four pixels at a time: a word has two channels of two pixels, and 1 for either pixel adds both. 16 instructions. */
#define SUM_OF_TWO(add, a, b)                                                                                               \
    PV_PACK_H("t4", b, a)                                                                                                   \
    PV_PACK_H_H("t5", b, a) add("%[s0]", "t4", "%[even]") add("%[s1]", "t4", "%[odd]") add("%[s2]", "t5", "%[even]")
#define SUM_OF_FOUR(add)                                                                                                    \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n" LP_SETUP("x0", "%[count]", 16 + MORE_FOR_HIGH_PACKS(2), "1")                         \
                         P_LW_STEP("t0", "%[step]", "%[input]") P_LW_STEP("t1", "%[step]", "%[input]")                      \
                             P_LW_STEP("t2", "%[step]", "%[input]") P_LW_STEP("t3", "%[step]", "%[input]")                  \
                                 SUM_OF_TWO(add, "t0", "t1") add("%[s3]", "t5", "%[odd]")                                   \
                                     SUM_OF_TWO(add, "t2", "t3") "1: " add("%[s3]", "t5", "%[odd]") ".option pop\n"         \
                     : [input] "+r"(*input), [s0] "+r"(sum[0]), [s1] "+r"(sum[1]), [s2] "+r"(sum[2]), [s3] "+r"(sum[3])     \
                     : [count] "r"(count), [step] "r"(pool->step), [even] "r"(0x00010001), [odd] "r"(0x01000100)            \
                     : "t0", "t1", "t2", "t3", "t4", "t5")

static inline __attribute__((always_inline)) void add_fours(const struct dory_pool *pool, const uint8_t **input,
                                                            int32_t sum[4], uint32_t count)
{
    if (pool->is_signed) {
        SUM_OF_FOUR(PV_SDOTSP_B);
    } else {
        SUM_OF_FOUR(PV_SDOTUP_B);
    }
}

static inline __attribute__((always_inline)) void add_pixels(const struct dory_pool *pool, const uint8_t **input,
                                                             int32_t sum[4], uint32_t count)
{
    if (pool->is_signed) {
        SUM(PV_SDOTSP_B);
    } else {
        SUM(PV_SDOTUP_B);
    }
}

static inline __attribute__((always_inline)) void dory_pool_add_row(const struct dory_pool *pool, const uint8_t **input,
                                                                    int32_t sum[4])
{
    if (pool->columns >= 4) {
        add_fours(pool, input, sum, pool->columns / 4);
    }
    if (pool->columns % 4 != 0) {
        add_pixels(pool, input, sum, pool->columns % 4);
    }
}

#else

static uint32_t dory_pool_maximum_of_row(const struct dory_pool *pool, const uint8_t **input, uint32_t result)
{
    for (uint32_t i = 0; i < pool->columns; i++, *input += pool->step) {
        uint32_t word = dory_load_word(*input);
        result = pool->is_signed ? pv_max_b(result, word) : pv_maxu_b(result, word);
    }
    return result;
}

static void dory_pool_add_row(const struct dory_pool *pool, const uint8_t **input, int32_t sum[4])
{
    for (uint32_t i = 0; i < pool->columns; i++, *input += pool->step) {
        uint32_t word = dory_load_word(*input);
        for (unsigned lane = 0; lane < 4; lane++) {
            uint32_t one = 1u << (8 * lane);
            sum[lane] = pool->is_signed ? pv_sdotsp_b(sum[lane], word, one) : pv_sdotup_b(sum[lane], word, one);
        }
    }
}

#endif

/* Four elements, with all that is the same for them in registers. */
static inline void finish_linearly(const struct dory_scalar_finish *finish, int32_t value[4])
{
    int32_t factor = finish->stage[0].multiplier, addend = finish->stage[0].addend, shift = finish->stage[0].shift;
    int32_t minimum = finish->minimum, maximum = finish->maximum;
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++) {
        int32_t product = (int32_t)((uint32_t)value[i] * (uint32_t)factor);
        value[i] = p_min(p_max(p_addnr(product, addend, shift), minimum), maximum);
    }
}

static inline void finish_highly(const struct dory_scalar_finish *finish, int32_t value[4])
{
    const struct dory_high *high = &finish->high;
    int32_t bias = finish->bias, multiplier = high->multiplier, addend = high->addend, shift = high->shift;
    const struct dory_normaliser normaliser = high->normaliser;
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++) {
        int32_t scaled = dory_scale_highly(&normaliser, value[i], bias, multiplier, addend, shift);
        value[i] = p_min(p_max(scaled, normaliser.minimum), normaliser.maximum);
    }
}

static inline void dory_pool_finish_four(const struct dory_scalar_finish *finish, int32_t value[4])
{
    if (finish->is_linear) {
        finish_linearly(finish, value);
    } else if (finish->is_high) {
        finish_highly(finish, value);
    } else {
        int32_t in_memory[4] = {value[0], value[1], value[2], value[3]}; /* a copy, so that those above need not be there */
        dory_scalar_finish_all(finish, in_memory, 4);
        memcpy(value, in_memory, sizeof in_memory);
    }
}

/* Pixels take so many bytes. */
static inline void dory_pool_start(struct dory_pool *pool, const struct dory_layer *layer, const struct dory_tile *tile,
                                   uint32_t pixel_bytes)
{
    struct dory_range range = dory_element_range(layer->input_bits, layer->input_is_signed);
    pool->is_signed = layer->input_is_signed;
    pool->rows = layer->kernel_height;
    pool->columns = layer->kernel_width;
    pool->step = (uint32_t)layer->dilation_width * pixel_bytes;
    pool->row_step =
        (int32_t)((uint32_t)layer->dilation_height * tile->input_columns * pixel_bytes - pool->columns * pool->step);
    if (layer->operation == DORY_AVERAGE_POOL) {
        range.least *= pool->rows * pool->columns;
        range.most *= pool->rows * pool->columns;
    }
    if (pool->row_step == 0) { /* all of the window is one row */
        pool->columns *= pool->rows;
        pool->rows = 1;
    }
    dory_scalar_finish_start(&pool->finish, layer, range);
    pool->is_plain = pool->finish.is_plain && layer->operation == DORY_MAXIMUM_POOL;
}

#endif
