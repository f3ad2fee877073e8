/* Largest elements of bytes, and sums of exponentials by the distance to them, of four elements a round. */
#ifndef DORY_XPULPV2_SOFTMAX_SUMS_H
#define DORY_XPULPV2_SOFTMAX_SUMS_H

#include "../xpulp.h"
#include "dory/share.h"

#if defined(DORY_XPULPV2)

/* Bytes of words, which are not none. */
static inline uint32_t largest_bytes(const uint8_t *input, uint32_t words)
{
    uint32_t largest = 0, word;
    __asm__ volatile(".option push\n"
                     ".balign 4\n"
                     ".option norvc\n" LP_SETUP("x0", "%[words]", 2, "1") P_LW_NEXT("%[word]", "%[input]") "1: " PV_MAXU_B(
                         "%[largest]", "%[largest]", "%[word]") ".option pop\n"
                     : [input] "+r"(input), [largest] "+r"(largest), [word] "=&r"(word)
                     : [words] "r"(words)
                     : "memory");
    return largest;
}

#else

static inline uint32_t largest_bytes(const uint8_t *input, uint32_t words)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < words; i++) {
        largest = pv_maxu_b(largest, dory_load_word(input + 4 * i));
    }
    return largest;
}

#endif

/* The last word may have bytes of the one in front of it, too. */
static inline uint32_t largest_of(const uint8_t *input, uint32_t channels)
{
    if (channels < 4) {
        uint32_t few = dory_minimum(channels, 2) - 1; /* the second of two or three, the first of one */
        return pv_maxu_b(pv_maxu_b(input[0], input[few]), input[channels - 1]);
    }
    uint32_t words = pv_maxu_b(largest_bytes(input, channels / 4), dory_load_word(input + channels - 4));
    words = pv_maxu_b(words, words >> 16);
    return pv_maxu_b(words, words >> 8) & UINT8_MAX;
}

#if defined(DORY_XPULPV2)

/* A word of elements becomes one of distances, whose bytes do not borrow from each other. A dot product takes a byte of it
 * out, four times as large: its place in the table. */
#define DISTANCES                                                                                                           \
    P_LW_NEXT("%[d]", "%[input]")                                                                                           \
    "sub %[d], %[largest], %[d]\n" PV_DOTUP_B("%[a]", "%[d]", "%[first]") PV_DOTUP_B("%[b]", "%[d]", "%[second]")           \
        PV_DOTUP_B("%[c]", "%[d]", "%[third]") PV_DOTUP_B("%[d]", "%[d]", "%[fourth]") P_LW_AT("%[a]", "%[a]", "%[table]")  \
            P_LW_AT("%[b]", "%[b]", "%[table]") P_LW_AT("%[c]", "%[c]", "%[table]") P_LW_AT("%[d]", "%[d]", "%[table]")
#define FOUR_PLACES [first] "r"(4u), [second] "r"(4u << 8), [third] "r"(4u << 16), [fourth] "r"(4u << 24)

/* As fractions of 19 bits: one instruction more each, which rounds. */
static inline uint32_t add_fours_rounded(const uint32_t *table, uint32_t largest, const uint8_t *input, uint32_t fours)
{
    uint32_t sum = 0, a, b, c, d;
    __asm__ volatile(".option push\n"
                     ".balign 4\n"
                     ".option norvc\n" LP_SETUP("x0", "%[fours]", 18, "1") DISTANCES P_ADDUNR("%[a]", "%[half]", "%[places]")
                         P_ADDUNR("%[b]", "%[half]", "%[places]") P_ADDUNR("%[c]", "%[half]", "%[places]")
                             P_ADDUNR("%[d]", "%[half]", "%[places]") "add %[sum], %[sum], %[a]\n"
                                                                      "add %[sum], %[sum], %[b]\n"
                                                                      "add %[sum], %[sum], %[c]\n"
                                                                      "1: add %[sum], %[sum], %[d]\n"
                                                                      ".option pop\n"
                     : [input] "+r"(input), [sum] "+r"(sum), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d)
                     : [fours] "r"(fours), [table] "r"(table), [largest] "r"(largest * 0x01010101u), [half] "r"(1 << 11),
                       [places] "r"(12), FOUR_PLACES
                     : "memory");
    return sum;
}

static inline uint32_t add_fours(const uint32_t *table, uint32_t largest, const uint8_t *input, uint32_t fours)
{
    uint32_t sum = 0, a, b, c, d;
    __asm__ volatile(".option push\n"
                     ".balign 4\n"
                     ".option norvc\n" LP_SETUP("x0", "%[fours]", 14, "1") DISTANCES "add %[sum], %[sum], %[a]\n"
                                                                                     "add %[sum], %[sum], %[b]\n"
                                                                                     "add %[sum], %[sum], %[c]\n"
                                                                                     "1: add %[sum], %[sum], %[d]\n"
                                                                                     ".option pop\n"
                     : [input] "+r"(input), [sum] "+r"(sum), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d)
                     : [fours] "r"(fours), [table] "r"(table), [largest] "r"(largest * 0x01010101u), FOUR_PLACES
                     : "memory");
    return sum;
}

#endif

/* Of elements of a pixel, as they are or as fractions of 19 bits, which is without 12 places. */
static inline uint32_t sum_of(const uint32_t *exponentials, const uint8_t *input, uint32_t channels, uint32_t largest,
                              uint32_t places)
{
    uint32_t i = 0, sum = 0;
#if defined(DORY_XPULPV2)
    uint32_t fours = channels / 4;
    if (fours != 0) {
        sum = places != 0 ? add_fours_rounded(exponentials, largest, input, fours)
                          : add_fours(exponentials, largest, input, fours);
        i = 4 * fours;
    }
#endif
    for (; i < channels; i++) {
        sum += (exponentials[largest - input[i]] + ((1u << places) >> 1)) >> places;
    }
    return sum;
}

#endif
