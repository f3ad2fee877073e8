/* Elements of 2 and 4 bits as bytes, and bytes as such elements: a few shifts and shuffles a word.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_UNPACK_H
#define DORY_XPULPV2_UNPACK_H

#include <stdbool.h>

#include "../xpulp.h"
#include "dory/layer.h"
#include "packed.h"

/* 8 elements of 4 bits, in two words of bytes. */
static inline __attribute__((always_inline)) void dory_unpack_4(uint32_t bytes[2], uint32_t word, bool is_signed)
{
    uint32_t even = is_signed ? dory_signed_field_0_4(word) : word & 0x0F0F0F0F;
    uint32_t odd = is_signed ? dory_signed_field_4_4(word) : word >> 4 & 0x0F0F0F0F;
    bytes[0] = pv_shuffle2_b(even, odd, 0x05010400);
    bytes[1] = pv_shuffle2_b(even, odd, 0x07030602);
}

/* 16 elements of 2 bits, in four words: fields of the word, transposed. */
static inline __attribute__((always_inline)) void dory_unpack_2(uint32_t bytes[4], uint32_t word, bool is_signed)
{
    uint32_t a = is_signed ? dory_signed_field_0_2(word) : word & 0x03030303;
    uint32_t b = is_signed ? dory_signed_field_2_2(word) : word >> 2 & 0x03030303;
    uint32_t c = is_signed ? dory_signed_field_4_2(word) : word >> 4 & 0x03030303;
    uint32_t d = is_signed ? dory_signed_field_6_2(word) : word >> 6 & 0x03030303;
    uint32_t low_ab = pv_shuffle2_b(a, b, 0x05010400), high_ab = pv_shuffle2_b(a, b, 0x07030602);
    uint32_t low_cd = pv_shuffle2_b(c, d, 0x05010400), high_cd = pv_shuffle2_b(c, d, 0x07030602);
    bytes[0] = pv_pack_h(low_cd, low_ab);
    bytes[1] = pv_pack_h_h(low_cd, low_ab);
    bytes[2] = pv_pack_h(high_cd, high_ab);
    bytes[3] = pv_pack_h_h(high_cd, high_ab);
}

/* Four elements of 4 or 2 bits, the first in the low bits, as bytes; bits beyond do not matter. */
static inline __attribute__((always_inline)) uint32_t dory_unpack_four(uint32_t packed, uint32_t bits, bool is_signed)
{
    if (bits == 4) {
        uint32_t halves = (packed & 0xFF) | (packed << 8 & 0xFF0000), bytes = halves | halves << 4;
        return is_signed ? dory_signed_field_0_4(bytes) : bytes & 0x0F0F0F0F;
    }
    packed &= 0xFF;
    uint32_t bytes = packed | packed << 6 | packed << 12 | packed << 18;
    return is_signed ? dory_signed_field_0_2(bytes) : bytes & 0x03030303;
}

/* The low 4 bits of 4 bytes, side by side in 16 bits. */
static inline uint32_t dory_pack_4(uint32_t bytes)
{
    bytes &= 0x0F0F0F0F;
    bytes |= bytes >> 4;
    return (bytes & 0xFF) | (bytes >> 8 & 0xFF00);
}

/* The low 2 bits of 4 bytes, in 8 bits. */
static inline uint32_t dory_pack_2(uint32_t bytes)
{
    bytes &= 0x03030303;
    bytes |= bytes >> 6;
    return (bytes | bytes >> 12) & 0xFF;
}

/* ---- sixteen channels of a pixel at a time: whole words, whatever the bits ------------------------------------- */

#define DORY_SIXTEEN 16u

/* Of at most 8 bits, as bytes. */
static inline __attribute__((always_inline)) void dory_unpack_sixteen(uint32_t bytes[4], const uint8_t *input, uint32_t bits,
                                                                      bool is_signed)
{
    if (bits == 2) {
        dory_unpack_2(bytes, dory_load_word(input), is_signed);
    } else if (bits == 4) {
        dory_unpack_4(bytes, dory_load_word(input), is_signed);
        dory_unpack_4(bytes + 2, dory_load_word(input + 4), is_signed);
    } else {
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++) {
            bytes[i] = dory_load_word(input + 4 * i);
        }
    }
}

static inline __attribute__((always_inline)) void dory_pack_sixteen(uint8_t *output, const uint32_t bytes[4], uint32_t bits)
{
    if (bits == 2) {
        dory_store_word(output, dory_pack_2(bytes[0]) | dory_pack_2(bytes[1]) << 8 | dory_pack_2(bytes[2]) << 16 |
                                    dory_pack_2(bytes[3]) << 24);
    } else if (bits == 4) {
        dory_store_word(output, dory_pack_4(bytes[0]) | dory_pack_4(bytes[1]) << 16);
        dory_store_word(output + 4, dory_pack_4(bytes[2]) | dory_pack_4(bytes[3]) << 16);
    } else {
        for (unsigned i = 0; i < 4; i++) {
            dory_store_word(output + 4 * i, bytes[i]);
        }
    }
}

/* Sixteen elements of 2 to 16 bits as integers, and integers as such elements. No byte beyond those of `count` elements is
 * read or written; what is read behind them is anything. */
void dory_read_elements(int32_t element[DORY_SIXTEEN], const uint8_t *input, uint32_t count, uint32_t bits, bool is_signed);
void dory_write_elements(uint8_t *output, const int32_t element[DORY_SIXTEEN], uint32_t count, uint32_t bits);

#endif
