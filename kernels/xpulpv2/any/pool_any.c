/* Maximum and average of elements of any bits, sixteen channels at a time: as many elements fill whole words, whatever their
 * bits. A maximum of elements that stay what they are is that of fields of words, and neither unpacked nor packed. */
#include "../packed/unpack.h"
#include "../share.h"
#include "../stage.h"
#include "../walk.h"
#include "../xpulpv2.h"

struct pool {
    uint32_t input_bits, output_bits;
    bool is_signed, is_maximum;
    bool is_plain;          /* what comes out is the maximum itself */
    bool sums_halves;       /* sums of bytes or less have 16 bits */
    uint32_t rows, columns; /* of the window */
    uint32_t step;          /* bytes from pixel to pixel */
    int32_t row_step;       /* from behind a row of the window to the start of the next */
    struct dory_scalar_finish finish;
};

/* ---- maxima of words --------------------------------------------------------------------------------------- */

/* The sign bits of a word's elements: without them the order of signed elements is that of unsigned ones. */
static inline uint32_t sign_bits(const struct pool *pool)
{
    return !pool->is_signed ? 0 : pool->input_bits == 2 ? 0xAAAAAAAA : pool->input_bits == 4 ? 0x88888888 : 0x80008000;
}

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
    for (uint32_t row = (pool)->rows; row > 0; row--, (input) += (pool)->row_step) {                                        \
        for (uint32_t column = (pool)->columns; column > 0; column--, (input) += (pool)->step) {                            \
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
    uint32_t sign = sign_bits(pool), bits = count * pool->input_bits;
    for (; bits >= 32; bits -= 32, input += 4, output += 4) {
        dory_store_word(output, maximum_of_word(pool, input, 4, sign));
    }
    if (bits != 0) {
        uint32_t word = maximum_of_part(pool, input, (bits + 7) / 8, sign) & ((1u << bits) - 1);
        memcpy(output, &word, (bits + 7) / 8);
    }
}

/* ---- sums of elements of at most 8 bits ---------------------------------------------------------------------- */

#define HALVES 0x00FF00FFu

/* Sixteen sums of at most 16 bits, two in a word; elements without sign. */
static inline __attribute__((always_inline)) void sum_halves(const struct pool *pool, const uint8_t *input, uint32_t bits,
                                                             int32_t result[DORY_SIXTEEN])
{
    uint32_t sum[8] = {0, 0, 0, 0, 0, 0, 0, 0}, bytes[4];
    for (uint32_t row = pool->rows; row > 0; row--, input += pool->row_step) {
        for (uint32_t column = pool->columns; column > 0; column--, input += pool->step) {
            dory_unpack_sixteen(bytes, input, bits, false);
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

static void sum_sixteen(const struct pool *pool, const uint8_t *input, int32_t result[DORY_SIXTEEN])
{
    switch (pool->input_bits) {
    case 2: sum_halves(pool, input, 2, result); break;
    case 4: sum_halves(pool, input, 4, result); break;
    default: sum_halves(pool, input, 8, result); break;
    }
}

/* ---- sums of elements of 16 bits ----------------------------------------------------------------------------- */

static inline uint32_t high_half(uint32_t word, bool is_signed)
{
    return is_signed ? (uint32_t)((int32_t)word >> 16) : word >> 16;
}

/* Of eight channels, which are as many sums as registers hold. */
static inline __attribute__((always_inline)) void sum_eight(const struct pool *pool, const uint8_t *input, bool is_signed,
                                                            int32_t result[8])
{
    uint32_t sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (uint32_t row = pool->rows; row > 0; row--, input += pool->row_step) {
        for (uint32_t column = pool->columns; column > 0; column--, input += pool->step) {
#pragma GCC unroll 4
            for (unsigned i = 0; i < 4; i++) {
                uint32_t word = dory_load_word(input + 4 * i);
                sum[2 * i] += high_half(word << 16, is_signed);
                sum[2 * i + 1] += high_half(word, is_signed);
            }
        }
    }
#pragma GCC unroll 8
    for (unsigned i = 0; i < 8; i++) {
        result[i] = (int32_t)sum[i];
    }
}

static void sum_wide(const struct pool *pool, const uint8_t *input, int32_t result[DORY_SIXTEEN])
{
    for (unsigned half = 0; half < 2; half++, input += 16, result += 8) {
        if (pool->is_signed) {
            sum_eight(pool, input, true, result);
        } else {
            sum_eight(pool, input, false, result);
        }
    }
}

/* ---- any elements -------------------------------------------------------------------------------------------- */

/* Sixteen maxima or sums. */
static void combine_elements(const struct pool *pool, const uint8_t *input, uint32_t count, int32_t result[DORY_SIXTEEN])
{
    int32_t element[DORY_SIXTEEN];
    bool is_maximum = pool->is_maximum;
    for (uint32_t i = 0; i < DORY_SIXTEEN; i++) {
        result[i] = is_maximum ? INT32_MIN : 0;
    }
    for (uint32_t row = pool->rows; row > 0; row--, input += pool->row_step) {
        for (uint32_t column = pool->columns; column > 0; column--, input += pool->step) {
            dory_read_elements(element, input, count, pool->input_bits, pool->is_signed);
#pragma GCC unroll 4
            for (uint32_t i = 0; i < DORY_SIXTEEN; i++) {
                result[i] =
                    is_maximum ? p_max(result[i], element[i]) : (int32_t)((uint32_t)result[i] + (uint32_t)element[i]);
            }
        }
    }
}

static void compute(const struct pool *pool, const uint8_t *input, uint8_t *output, uint32_t count)
{
    int32_t result[DORY_SIXTEEN];
    if (pool->is_plain && pool->input_bits == pool->output_bits) {
        maximum_of_words(pool, input, output, count);
        return;
    }
    if (pool->sums_halves && count == DORY_SIXTEEN) {
        sum_sixteen(pool, input, result);
    } else if (pool->input_bits == 16 && !pool->is_maximum && count == DORY_SIXTEEN) {
        sum_wide(pool, input, result);
    } else {
        combine_elements(pool, input, count, result);
    }
    if (!pool->is_plain) {
        dory_scalar_finish_all(&pool->finish, result, DORY_SIXTEEN);
    }
    dory_write_elements(output, result, count, pool->output_bits);
}

static void pool_start(struct pool *pool, const struct dory_layer *layer, const struct dory_tile *tile, uint32_t pixel_bytes)
{
    struct dory_range range = dory_element_range(layer->input_bits, layer->input_is_signed);
    pool->input_bits = layer->input_bits;
    pool->output_bits = layer->output_bits;
    pool->is_signed = layer->input_is_signed;
    pool->is_maximum = layer->operation == DORY_MAXIMUM_POOL;
    pool->rows = layer->kernel_height;
    pool->columns = layer->kernel_width;
    pool->step = layer->dilation_width * pixel_bytes;
    pool->row_step =
        (int32_t)((uint32_t)layer->dilation_height * tile->input_columns * pixel_bytes - pool->columns * pool->step);
    if (!pool->is_maximum) {
        range.least *= pool->rows * pool->columns;
        range.most *= pool->rows * pool->columns;
    }
    dory_scalar_finish_start(&pool->finish, layer, range);
    pool->is_plain = pool->finish.is_plain && pool->is_maximum;
    pool->sums_halves = !pool->is_maximum && !pool->is_signed && pool->input_bits <= 8 && range.most <= UINT16_MAX;
}

/* A core's share is a range of the grid of pixels by sixteens of channels. */
void dory_xpulpv2_pool_any(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t input_pixel_bytes = dory_element_bytes(tile->channels, layer->input_bits);
    uint32_t output_pixel_bytes = dory_element_bytes(tile->channels, layer->output_bits);
    uint32_t groups = dory_divide_up(tile->channels, DORY_SIXTEEN);
    struct pool pool;
    pool_start(&pool, layer, tile, input_pixel_bytes);
    struct dory_grid_share share = dory_grid_share_of((uint32_t)tile->rows * tile->columns, groups, core, cores);
    struct dory_tile bytes = *tile; /* whose pixels take as many bytes as the packed ones */
    bytes.input_channels = (uint16_t)input_pixel_bytes;
    struct dory_walk walk = dory_walk_from(layer, &bytes, share.row);
    uint8_t *output = (uint8_t *)tile->output + share.row * output_pixel_bytes;
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, groups);
        for (uint32_t group = share.first; group < end; group++) {
            uint32_t count = dory_minimum(DORY_SIXTEEN, tile->channels - DORY_SIXTEEN * group);
            compute(&pool, walk.input + 2 * group * pool.input_bits, output + 2 * group * pool.output_bits, count);
        }
        dory_walk_on(&walk);
        output += output_pixel_bytes;
        dory_grid_share_next_row(&share, end);
    }
}
