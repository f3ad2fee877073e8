/* Arithmetic on integers that C leaves out: what every room needs of it is here once. */
#ifndef DORYGEN_ARITHMETIC_H
#define DORYGEN_ARITHMETIC_H

#include <stdint.h>

__extension__ typedef __int128 wide; /* for products of two numbers of 64 bits */

static inline wide lesser(wide a, wide b) { return a < b ? a : b; }
static inline wide greater(wide a, wide b) { return a > b ? a : b; }

/* floor(number / divisor), divisor > 0; `/` itself rounds negative quotients up. Two widths, as a wide division takes
 * several times as long, and the golden model divides every element. */
static inline int64_t floor_divide(int64_t number, int64_t divisor) { return number / divisor - (number % divisor < 0); }
static inline wide wide_floor_divide(wide number, wide divisor) { return number / divisor - (number % divisor < 0); }

/* Of the magnitudes. At least 1, so that anything may be divided by it: two zeros have no greatest one. */
static inline wide greatest_common_divisor(wide a, wide b)
{
    while (b != 0) {
        wide rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a > 0 ? a : 1;
}

/* The number of least..most that is nearest to `number`; least <= most. */
static inline int64_t clamp(int64_t number, int64_t least, int64_t most)
{
    return number < least ? least : number > most ? most : number;
}

static inline uint32_t little_endian_word(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

#endif
