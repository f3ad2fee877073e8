/* Computes maximum and average pools of elements of any bits. Shapes: any window and stride, HWC.
 *
 * Four channels at a time, which are whole bytes whatever their bits; sums of few taps sixteen at a time, two in a word.
 * Inner loop: a maximum of elements that stay what they are is that of fields of words, neither unpacked nor packed. Where
 * elements are fields of a word, their sign bits are turned: that makes them larger by half of their range, and all without
 * a sign. */
#include "../packed/unpack.h"
#include "../share.h"
#include "../walk.h"
#include "../xpulpv2.h"
#include "items.h"
#include "pool.h"

#define FOUR 4u

struct pool {
    struct dory_pool window;
    uint32_t input_bits, output_bits;
    uint32_t pixel_bytes;
    uint32_t sign;  /* the sign bits of a word's elements */
    int32_t offset; /* by which a result is too large as they were turned */
    uint32_t wide;  /* channels of an item of work: four or sixteen */
    bool is_maximum;
};

static inline int32_t less(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }

/* ---- maxima of words --------------------------------------------------------------------------------------- */

static __attribute__((noinline)) uint32_t part_of_word(const uint8_t *input, uint32_t bytes)
{
    uint32_t word = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        word |= (uint32_t)input[i] << (8 * i);
    }
    return word;
}

/* `combine` is a statement with the next `word`, of which so many bytes are there; the window's rows and columns are gone
 * through. */
#define FOR_WINDOW(pool, input, bytes, combine)                                                                             \
    for (uint32_t row = (pool)->window.rows; row > 0; row--, (input) += (pool)->window.row_step) {                          \
        for (uint32_t column = (pool)->window.columns; column > 0; column--, (input) += (pool)->window.step) {              \
            uint32_t word = ((bytes) == 4 ? dory_load_word(input) : part_of_word(input, bytes)) ^ sign;                     \
            combine;                                                                                                        \
        }                                                                                                                   \
    }

static inline __attribute__((always_inline)) uint32_t maximum_of_2(const struct pool *pool, const uint8_t *input,
                                                                   uint32_t bytes, uint32_t sign)
{
    const uint32_t mask = 0x03030303;
    uint32_t a = 0, b = 0, c = 0, d = 0;
    FOR_WINDOW(pool, input, bytes, {
        a = pv_maxu_b(a, word & mask);
        b = pv_maxu_b(b, word >> 2 & mask);
        c = pv_maxu_b(c, word >> 4 & mask);
        d = pv_maxu_b(d, word >> 6 & mask);
    });
    return (a | b << 2 | c << 4 | d << 6) ^ sign;
}

static inline __attribute__((always_inline)) uint32_t maximum_of_4(const struct pool *pool, const uint8_t *input,
                                                                   uint32_t bytes, uint32_t sign)
{
    const uint32_t mask = 0x0F0F0F0F;
    uint32_t even = 0, odd = 0;
    FOR_WINDOW(pool, input, bytes, {
        even = pv_maxu_b(even, word & mask);
        odd = pv_maxu_b(odd, word >> 4 & mask);
    });
    return (even | odd << 4) ^ sign;
}

static inline __attribute__((always_inline)) uint32_t maximum_of_16(const struct pool *pool, const uint8_t *input,
                                                                    uint32_t bytes, uint32_t sign)
{
    uint32_t larger = 0;
    FOR_WINDOW(pool, input, bytes, larger = pv_maxu_h(larger, word));
    return larger ^ sign;
}

static inline __attribute__((always_inline)) uint32_t maximum_of_word(const struct pool *pool, const uint8_t *input,
                                                                      uint32_t bytes, uint32_t sign)
{
    switch (pool->input_bits) {
    case 2: return maximum_of_2(pool, input, bytes, sign);
    case 4: return maximum_of_4(pool, input, bytes, sign);
    default: return maximum_of_16(pool, input, bytes, sign);
    }
}

static __attribute__((noinline)) uint32_t maximum_of_part(const struct pool *pool, const uint8_t *input, uint32_t bytes,
                                                          uint32_t sign)
{
    return maximum_of_word(pool, input, bytes, sign);
}

/* Bits behind the last element are zero. */
static void maximum_of_words(const struct pool *pool, const uint8_t *input, uint8_t *output, uint32_t count)
{
    uint32_t sign = pool->sign, bits = count * pool->input_bits;
    for (; bits >= 32; bits -= 32, input += 4, output += 4) {
        dory_store_word(output, maximum_of_word(pool, input, 4, sign));
    }
    if (bits != 0) {
        uint32_t word = maximum_of_part(pool, input, (bits + 7) / 8, sign) & ((1u << bits) - 1);
        memcpy(output, &word, (bits + 7) / 8);
    }
}

/* ---- sums of sixteen elements of at most 8 bits ---------------------------------------------------------------- */

#define HALVES 0x00FF00FFu

/* Sixteen turned elements as bytes. */
static inline __attribute__((always_inline)) void turned_bytes(uint32_t bytes[4], const uint8_t *input, uint32_t bits,
                                                               uint32_t sign)
{
    if (bits == 2) {
        dory_unpack_2(bytes, dory_load_word(input) ^ sign, false);
    } else if (bits == 4) {
        dory_unpack_4(bytes, dory_load_word(input) ^ sign, false);
        dory_unpack_4(bytes + 2, dory_load_word(input + 4) ^ sign, false);
    } else {
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++) {
            bytes[i] = dory_load_word(input + 4 * i) ^ sign;
        }
    }
}

/* Sixteen sums of at most 16 bits, two in a word. */
static inline __attribute__((always_inline)) void sum_halves(const struct pool *pool, const uint8_t *input, uint32_t bits,
                                                             int32_t result[DORY_SIXTEEN])
{
    uint32_t sum[8] = {0, 0, 0, 0, 0, 0, 0, 0}, bytes[4], sign = pool->sign;
    for (uint32_t row = pool->window.rows; row > 0; row--, input += pool->window.row_step) {
        for (uint32_t column = pool->window.columns; column > 0; column--, input += pool->window.step) {
            turned_bytes(bytes, input, bits, sign);
#pragma GCC unroll 4
            for (unsigned i = 0; i < 4; i++) {
                sum[2 * i] += bytes[i] & HALVES;
                sum[2 * i + 1] += bytes[i] >> 8 & HALVES;
            }
        }
    }
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++) {
        result[4 * i] = (int32_t)(sum[2 * i] & 0xFFFF);
        result[4 * i + 1] = (int32_t)(sum[2 * i + 1] & 0xFFFF);
        result[4 * i + 2] = (int32_t)(sum[2 * i] >> 16);
        result[4 * i + 3] = (int32_t)(sum[2 * i + 1] >> 16);
    }
}

static __attribute__((noinline)) void sixteen(const struct pool *pool, const uint8_t *input, uint8_t *output)
{
    int32_t result[DORY_SIXTEEN];
    switch (pool->input_bits) {
    case 2: sum_halves(pool, input, 2, result); break;
    case 4: sum_halves(pool, input, 4, result); break;
    default: sum_halves(pool, input, 8, result); break;
    }
    for (uint32_t i = 0; pool->offset != 0 && i < DORY_SIXTEEN; i++) {
        result[i] = less(result[i], pool->offset);
    }
    dory_scalar_finish_all(&pool->window.finish, result, DORY_SIXTEEN);
    dory_write_elements(output, result, DORY_SIXTEEN, pool->output_bits);
}

/* ---- four elements ----------------------------------------------------------------------------------------------- */

#if defined(DORY_XPULPV2)

/* Of 16 bits, two words a pixel: a dot product with a half of 1 picks a channel and adds it. */
#define ADD_HALVES(add)                                                                                                     \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n" LP_SETUP("x0", "%[count]", 6, "1") P_LW_NEXT("t0", "%[input]")                       \
                         P_LW_STEP("t1", "%[step]", "%[input]") add("%[s0]", "t0", "%[low]") add("%[s1]", "t0", "%[high]")  \
                             add("%[s2]", "t1", "%[low]") "1: " add("%[s3]", "t1", "%[high]") ".option pop\n"               \
                     : [input] "+r"(*input), [s0] "+r"(sum[0]), [s1] "+r"(sum[1]), [s2] "+r"(sum[2]), [s3] "+r"(sum[3])     \
                     : [count] "r"(pool->columns), [step] "r"(pool->step - 4), [low] "r"(1), [high] "r"(0x10000)            \
                     : "t0", "t1")

static inline void add_row_of_halves(const struct dory_pool *pool, const uint8_t **input, int32_t sum[4])
{
    if (pool->is_signed) {
        ADD_HALVES(PV_SDOTSP_H);
    } else {
        ADD_HALVES(PV_SDOTUP_H);
    }
}

#else

static void add_row_of_halves(const struct dory_pool *pool, const uint8_t **input, int32_t sum[4])
{
    for (uint32_t i = 0; i < pool->columns; i++, *input += pool->step) {
        for (unsigned lane = 0; lane < 4; lane++) {
            uint32_t half = part_of_word(*input + 2 * lane, 2);
            sum[lane] += pool->is_signed ? (int16_t)half : (int32_t)half;
        }
    }
}

#endif

static __attribute__((noinline)) void four_halves(const struct pool *pool, const uint8_t *input, int32_t value[4])
{
    if (pool->is_maximum) {
        for (unsigned half = 0; half < 2; half++) {
            uint32_t word = maximum_of_16(pool, input + 4 * half, 4, pool->sign) ^ pool->sign;
            value[2 * half] = (int32_t)(word & 0xFFFF);
            value[2 * half + 1] = (int32_t)(word >> 16);
        }
        return;
    }
    int32_t sum[4] = {pool->offset, pool->offset, pool->offset, pool->offset};
    for (uint32_t row = pool->window.rows; row > 0; row--, input += pool->window.row_step) {
        add_row_of_halves(&pool->window, &input, sum);
    }
    memcpy(value, sum, sizeof sum);
}

static __attribute__((noinline)) void four_bytes(const struct pool *pool, const uint8_t *input, int32_t value[4])
{
    int32_t sum[4] = {pool->offset, pool->offset, pool->offset, pool->offset};
    if (pool->is_maximum) {
        uint32_t word = dory_load_word(input);
        for (uint32_t row = pool->window.rows; row > 0; row--, input += pool->window.row_step) {
            word = dory_pool_maximum_of_row(&pool->window, &input, word);
        }
        word ^= pool->sign;
        for (unsigned lane = 0; lane < 4; lane++) {
            value[lane] = (int32_t)(word >> (8 * lane) & 0xFF);
        }
        return;
    }
    for (uint32_t row = pool->window.rows; row > 0; row--, input += pool->window.row_step) {
        dory_pool_add_row(&pool->window, &input, sum);
    }
    memcpy(value, sum, sizeof sum);
}

/* Of 4 or 2 bits, which lie in two bytes or in one. */
static inline __attribute__((always_inline)) void four_fields(const struct pool *pool, const uint8_t *input, uint32_t bits,
                                                              bool is_maximum, int32_t value[4])
{
    uint32_t sign = pool->sign, mask = (1u << bits) - 1;
    int32_t result[4] = {0, 0, 0, 0};
    for (uint32_t row = pool->window.rows; row > 0; row--, input += pool->window.row_step) {
        for (uint32_t column = pool->window.columns; column > 0; column--, input += pool->window.step) {
            uint32_t fields = (bits == 2 ? input[0] : input[0] | (uint32_t)input[1] << 8) ^ sign;
#pragma GCC unroll 4
            for (unsigned lane = 0; lane < 4; lane++) {
                int32_t element = (int32_t)(fields >> (bits * lane) & mask);
                result[lane] = is_maximum ? p_max(result[lane], element) : result[lane] + element;
            }
        }
    }
    memcpy(value, result, sizeof result);
}

/* Elements of a pixel that has less than four, or less than the bytes of four. */
static __attribute__((noinline)) void few_elements(const struct pool *pool, const uint8_t *start, uint32_t count,
                                                   int32_t value[4])
{
    uint32_t bits = pool->input_bits, mask = (1u << bits) - 1;
    for (uint32_t channel = 0; channel < count; channel++) {
        const uint8_t *input = start + channel * bits / 8;
        uint32_t shift = channel * bits % 8;
        int32_t result = 0;
        for (uint32_t row = pool->window.rows; row > 0; row--, input += pool->window.row_step) {
            for (uint32_t column = pool->window.columns; column > 0; column--, input += pool->window.step) {
                uint32_t bytes = bits == 16 ? input[0] | (uint32_t)input[1] << 8 : input[0];
                int32_t element = (int32_t)((bytes >> shift ^ pool->sign) & mask);
                result = pool->is_maximum ? p_max(result, element) : less(result, -element);
            }
        }
        value[channel] = result;
    }
}

static void combine_four(const struct pool *pool, const uint8_t *input, int32_t value[4])
{
    bool is_maximum = pool->is_maximum;
    switch (pool->input_bits) {
    case 16: four_halves(pool, input, value); return;
    case 8: four_bytes(pool, input, value); return;
    case 4:
        if (is_maximum) {
            four_fields(pool, input, 4, true, value);
        } else {
            four_fields(pool, input, 4, false, value);
        }
        return;
    default:
        if (is_maximum) {
            four_fields(pool, input, 2, true, value);
        } else {
            four_fields(pool, input, 2, false, value);
        }
    }
}

/* No byte beyond the elements' own is written, for it is another core's; bits behind the last element are zero. */
static inline void write_four(uint8_t *output, const int32_t value[4], uint32_t count, uint32_t bits)
{
    uint32_t words[2];
    if (bits == 16) {
        words[0] = pv_pack_h((uint32_t)value[1], (uint32_t)value[0]);
        words[1] = pv_pack_h((uint32_t)value[3], (uint32_t)value[2]);
    } else {
        uint32_t bytes = dory_pack_bytes(value) & (0xFFFFFFFFu >> (32 - 8 * count));
        words[0] = bits == 8 ? bytes : bits == 4 ? dory_pack_4(bytes) : dory_pack_2(bytes);
    }
    if (count == FOUR && bits >= 8) {
        dory_store_word(output, words[0]);
        if (bits == 16) {
            dory_store_word(output + 4, words[1]);
        }
        return;
    }
    for (uint32_t i = 0; i < dory_element_bytes(count, bits); i++) {
        output[i] = (uint8_t)(words[i / 4] >> (8 * (i % 4)));
    }
}

/* Where less than four are left, the last bytes of the pixel that four elements fill are read. */
static void four(const struct pool *pool, const uint8_t *input, uint8_t *output, uint32_t count)
{
    int32_t value[FOUR + FOUR] = {0};
    uint32_t bits = pool->input_bits, absent = bits / 2 - dory_element_bytes(count, bits); /* bytes */
    int32_t *present = value + absent * 8 / bits, offset = pool->offset;
    if (absent > 0 && pool->pixel_bytes < bits / 2) {
        few_elements(pool, input, count, value);
        present = value;
    } else {
        combine_four(pool, input - absent, value);
    }
#pragma GCC unroll 4
    for (unsigned i = 0; i < FOUR; i++) {
        present[i] = less(present[i], offset);
    }
    dory_pool_finish_four(&pool->window.finish, present);
    write_four(output, present, count, pool->output_bits);
}

/* ---- the tile ---------------------------------------------------------------------------------------------------- */

static void compute(const struct pool *pool, const uint8_t *input, uint8_t *output, uint32_t count)
{
    if (pool->window.is_plain) {
        maximum_of_words(pool, input, output, count);
        return;
    }
    if (count == DORY_SIXTEEN) {
        sixteen(pool, input, output);
        return;
    }
    for (uint32_t channel = 0; channel < count; channel += FOUR) {
        four(pool, input + channel * pool->input_bits / 8, output + channel * pool->output_bits / 8,
             dory_minimum(FOUR, count - channel));
    }
}

static void pool_start(struct pool *pool, const struct dory_layer *layer, const struct dory_tile *tile, unsigned cores)
{
    uint32_t bits = layer->input_bits, taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    int32_t half = layer->input_is_signed ? 1 << (bits - 1) : 0;
    pool->input_bits = bits;
    pool->output_bits = layer->output_bits;
    pool->pixel_bytes = dory_element_bytes(tile->channels, bits);
    pool->is_maximum = layer->operation == DORY_MAXIMUM_POOL;
    dory_pool_start(&pool->window, layer, tile, pool->pixel_bytes);
    pool->sign = (uint32_t)half * (bits == 2 ? 0x55555555 : bits == 4 ? 0x11111111 : bits == 8 ? 0x01010101 : 0x00010001);
    pool->offset = (int32_t)((uint32_t)half * (pool->is_maximum ? 1 : taps));
    pool->window.is_plain = pool->window.is_plain && bits == layer->output_bits;
    pool->wide =
        dory_pool_item_channels(layer, pool->window.is_plain, (uint32_t)tile->rows * tile->columns, tile->channels, cores);
}

/* A core's share is a range of the grid of pixels by sixteens or fours of channels. */
void dory_xpulpv2_pool_any(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct pool pool;
    pool_start(&pool, layer, tile, cores);
    uint32_t wide = pool.wide, groups = dory_divide_up(tile->channels, wide);
    uint32_t output_pixel_bytes = dory_element_bytes(tile->channels, layer->output_bits);
    struct dory_grid_share share = dory_grid_share_of((uint32_t)tile->rows * tile->columns, groups, core, cores);
    struct dory_tile bytes = *tile; /* whose pixels take as many bytes as the packed ones */
    bytes.input_channels = (uint16_t)pool.pixel_bytes;
    struct dory_walk walk = dory_walk_from(layer, &bytes, share.row);
    uint8_t *output = (uint8_t *)tile->output + share.row * output_pixel_bytes;
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, groups);
        for (uint32_t channel = wide * share.first; channel < wide * end; channel += wide) {
            compute(&pool, walk.input + channel * pool.input_bits / 8, output + channel * pool.output_bits / 8,
                    dory_minimum(wide, tile->channels - channel));
        }
        dory_walk_on(&walk);
        output += output_pixel_bytes;
        dory_grid_share_next_row(&share, end);
    }
}
