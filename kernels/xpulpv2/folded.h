/* Additions of bytes whose stages fold into one line; see addition.c. */
#ifndef DORY_XPULPV2_FOLDED_H
#define DORY_XPULPV2_FOLDED_H

#include "stage.h"
#include "xpulpv2.h"

/* y = clip((first * x + second * y + addend) >> shift); the sum in the brackets fits 32 bits. */
struct folded {
    int32_t first, second, addend, shift, minimum, maximum;
};

static inline uint8_t add_folded(const struct folded *folded, uint32_t x, uint32_t y)
{
    int32_t sum = p_mac((int32_t)(x * (uint32_t)folded->first), (int32_t)y, folded->second);
    int32_t value = p_addnr(sum, folded->addend, folded->shift);
    return (uint8_t)p_min(p_max(value, folded->minimum), folded->maximum);
}

static inline bool is_in_halves(const struct folded *folded)
{
    return folded->addend == 0 && folded->minimum == 0 &&
           dory_adds_in_halves((uint32_t)folded->first, (uint32_t)folded->second, (uint32_t)folded->shift);
}

#if defined(DORY_XPULPV2)

#define FIRST_PRODUCT(x)     "mul %[" x "], %[" x "], %[first_factor]\n"
#define SECOND_PRODUCT(x, y) P_MAC("%[" x "]", "%[" y "]", "%[second_factor]")

/* Four elements; 20 instructions before `store`: each step for all of them, for a product is not ready for the next one. */
#define FOLD_FOURS(store, instructions_of_it)                                                                               \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n" LP_SETUP("x0", "%[fours]", 20 + instructions_of_it, "1") DORY_FOUR_PAIRS(DORY_LOAD_BYTE_OF_BOTH)  \
            DORY_FOUR(FIRST_PRODUCT) DORY_FOUR_PAIRS(SECOND_PRODUCT) DORY_FOUR(DORY_HIGH_SHIFT)                             \
                store("1: ") ".option pop\n"                                                                                \
        : [first] "+r"(first), [second] "+r"(second), [output] "+r"(output), [x0] "=&r"(x[0]), [x1] "=&r"(x[1]),            \
          [x2] "=&r"(x[2]), [x3] "=&r"(x[3]), [y0] "=&r"(y[0]), [y1] "=&r"(y[1]), [y2] "=&r"(y[2]), [y3] "=&r"(y[3])        \
        : [fours] "r"(fours), [one] "r"(1), [first_factor] "r"(folded->first), [second_factor] "r"(folded->second),         \
          [addend] "r"(folded->addend), [shift] "r"(folded->shift), [maximum] "r"(folded->maximum),                         \
          [least] "r"((uint32_t)folded->minimum * 0x01010101u)                                                              \
        : "memory")

#define CLIPPED_STORE(label) DORY_FOUR(DORY_HIGH_CLIP) DORY_CLIPPED_STORE(label)

/* From 0 on: 7 instructions. */
#define CLIPPED_STORE_FROM_0(label)                                                                                         \
    DORY_FOUR(DORY_HIGH_CLIP)                                                                                               \
    PV_PACKLO_B("%[x0]", "%[x1]", "%[x0]") PV_PACKHI_B("%[x0]", "%[x3]", "%[x2]") label P_SW_NEXT("%[x0]", "%[output]")

static inline void add_fours(const struct folded *folded, const uint8_t *first, const uint8_t *second, uint8_t *output,
                             uint32_t fours)
{
    uint32_t x[4], y[4];
    if (folded->minimum == 0) {
        FOLD_FOURS(CLIPPED_STORE_FROM_0, 7);
    } else {
        FOLD_FOURS(CLIPPED_STORE, 8);
    }
}

/* Four elements in 17 instructions: bytes of both inputs side by side, a dot product for each two, and halfwords. */
static inline void add_fours_in_halves(const struct folded *folded, const uint8_t *first, const uint8_t *second,
                                       uint8_t *output, uint32_t fours)
{
    uint32_t factors = (uint32_t)folded->first | (uint32_t)folded->second << 8, x[4];
    __asm__ volatile(
        ".option push\n"
        ".balign 4\n"
        ".option norvc\n" LP_SETUP("x0", "%[fours]", 17, "1") P_LW_NEXT("%[x0]", "%[first]")
            P_LW_NEXT("%[x3]", "%[second]") "mv %[x2], %[x0]\n" PV_SHUFFLE2_B("%[x0]", "%[x3]", "%[low]")
                PV_SHUFFLE2_B("%[x2]", "%[x3]", "%[high]") PV_DOTUP_B("%[x1]", "%[x0]", "%[behind]")
                    PV_DOTUP_B("%[x0]", "%[x0]", "%[before]") PV_DOTUP_B("%[x3]", "%[x2]", "%[behind]")
                        PV_DOTUP_B("%[x2]", "%[x2]", "%[before]") PV_PACK_H("%[x0]", "%[x1]", "%[x0]")
                            PV_PACK_H("%[x2]", "%[x3]", "%[x2]") PV_SRL_SC_H("%[x0]", "%[x0]", "%[shift]")
                                PV_SRL_SC_H("%[x2]", "%[x2]", "%[shift]") PV_MIN_SC_H("%[x0]", "%[x0]", "%[maximum]")
                                    PV_MIN_SC_H("%[x2]", "%[x2]", "%[maximum]") PV_SHUFFLE2_B(
                                        "%[x0]", "%[x2]", "%[even]") "1: " P_SW_NEXT("%[x0]", "%[output]") ".option pop\n"
        : [first] "+r"(first), [second] "+r"(second), [output] "+r"(output), [x0] "=&r"(x[0]), [x1] "=&r"(x[1]),
          [x2] "=&r"(x[2]), [x3] "=&r"(x[3])
        : [fours] "r"(fours), [before] "r"(factors), [behind] "r"(factors << 16), [shift] "r"(folded->shift),
          [maximum] "r"(folded->maximum), [low] "r"(0x05010400), [high] "r"(0x07030602), [even] "r"(0x06040200)
        : "memory");
}

#else

static inline void add_fours(const struct folded *folded, const uint8_t *first, const uint8_t *second, uint8_t *output,
                             uint32_t fours)
{
    for (uint32_t i = 0; i < 4 * fours; i++) {
        output[i] = add_folded(folded, first[i], second[i]);
    }
}

static inline void add_fours_in_halves(const struct folded *folded, const uint8_t *first, const uint8_t *second,
                                       uint8_t *output, uint32_t fours)
{
    for (uint32_t i = 0; i < 4 * fours; i++) {
        uint32_t half = (uint16_t)((uint32_t)folded->first * first[i] + (uint32_t)folded->second * second[i]);
        output[i] = (uint8_t)p_min((int32_t)(half >> (folded->shift & 15)), folded->maximum); /* as pv.srl.sc.h does */
    }
}

#endif

#endif
