/* The DSP instructions that the kernels use. Where the compiler has them they are the instructions; on any other machine,
 * such as the PC that runs the tests, models of them in C. */
#ifndef DORY_ARMV7EM_INSTRUCTIONS_H
#define DORY_ARMV7EM_INSTRUCTIONS_H

#include <stdint.h>
#include <string.h>

#if defined(__ARM_FEATURE_SIMD32) && defined(__thumb2__)
#define DORY_HAS_SIMD32
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && !defined(DORY_MODELS_INSTRUCTIONS)
#error "planned for a core with DSP instructions; name it, as in -mcpu=cortex-m4, or export for host"
#endif

/* A word at any address: one instruction on a core that loads misaligned words, as all of these do. */
static inline uint32_t dory_word_at(const void *address)
{
    uint32_t word;
    memcpy(&word, address, sizeof word);
    return word;
}

/* The last bytes of `count` that are no whole word, 1 to 3, in the low bytes of a word. A word that ends there is within
 * them, if there are as many. */
static inline uint32_t dory_end_of(const uint8_t *bytes, uint32_t count)
{
    uint32_t rest = count % 4, word = 0;
    if (count > 4) {
        return dory_word_at(bytes + count - 4) >> (32 - 8 * rest);
    }
    for (uint32_t i = 0; i < rest; i++) {
        word |= (uint32_t)bytes[i] << 8 * i;
    }
    return word;
}

static inline void dory_put_word(void *address, uint32_t word) { memcpy(address, &word, sizeof word); }
static inline void dory_put_half(void *address, uint32_t half) { memcpy(address, &half, 2); }

/* Halves of a word. */
static inline int32_t dory_bottom(uint32_t word) { return (int16_t)word; }
static inline int32_t dory_top(uint32_t word) { return (int32_t)word >> 16; }

/* PKHBT, PKHTB: the bottom or top halves of two words, the first one's below. */
#if defined(DORY_HAS_SIMD32)
#define DORY_PACK(name, instruction)                                                                                        \
    static inline uint32_t name(uint32_t low, uint32_t high)                                                                \
    {                                                                                                                       \
        uint32_t halves;                                                                                                    \
        __asm__(instruction : "=r"(halves) : "r"(low), "r"(high));                                                          \
        return halves;                                                                                                      \
    }
DORY_PACK(dory_pack_bottoms, "pkhbt %0, %1, %2, lsl #16")
DORY_PACK(dory_pack_tops, "pkhtb %0, %2, %1, asr #16")
#else
static inline uint32_t dory_pack_bottoms(uint32_t low, uint32_t high) { return (low & 0xFFFF) | high << 16; }
static inline uint32_t dory_pack_tops(uint32_t low, uint32_t high) { return low >> 16 | (high & 0xFFFF0000u); }
#endif

/* UXTB16, SXTB16: bytes 0 and 2 as the halves of a word; `odd`: bytes 1 and 3. */
#if defined(DORY_HAS_SIMD32)
#define DORY_EXPAND(name, instruction)                                                                                      \
    static inline uint32_t name(uint32_t bytes)                                                                             \
    {                                                                                                                       \
        uint32_t halves;                                                                                                    \
        __asm__(instruction : "=r"(halves) : "r"(bytes));                                                                   \
        return halves;                                                                                                      \
    }
DORY_EXPAND(dory_even_bytes, "uxtb16 %0, %1")
DORY_EXPAND(dory_odd_bytes, "uxtb16 %0, %1, ror #8")
DORY_EXPAND(dory_even_signed, "sxtb16 %0, %1")
DORY_EXPAND(dory_odd_signed, "sxtb16 %0, %1, ror #8")
#else
static inline uint32_t dory_even_bytes(uint32_t bytes) { return bytes & 0x00FF00FFu; }
static inline uint32_t dory_odd_bytes(uint32_t bytes) { return bytes >> 8 & 0x00FF00FFu; }
static inline uint32_t dory_even_signed(uint32_t bytes)
{
    return (uint16_t)(int8_t)bytes | (uint32_t)(uint16_t)(int8_t)(bytes >> 16) << 16;
}
static inline uint32_t dory_odd_signed(uint32_t bytes) { return dory_even_signed(bytes >> 8); }
#endif

/* UXTAB16: bytes 0 and 2 (`odd`: 1 and 3) added to the halves of a word. */
#if defined(DORY_HAS_SIMD32)
#define DORY_EXPAND_ADD(name, rotation)                                                                                     \
    static inline uint32_t name(uint32_t halves, uint32_t bytes)                                                            \
    {                                                                                                                       \
        uint32_t result;                                                                                                    \
        __asm__("uxtab16 %0, %1, %2" rotation : "=r"(result) : "r"(halves), "r"(bytes));                                    \
        return result;                                                                                                      \
    }
DORY_EXPAND_ADD(dory_add_even_bytes, "")
DORY_EXPAND_ADD(dory_add_odd_bytes, ", ror #8")
#else
static inline uint32_t dory_add_even_bytes(uint32_t halves, uint32_t bytes)
{
    return ((halves + (bytes & 0xFF)) & 0xFFFF) | ((halves & 0xFFFF0000u) + (bytes & 0x00FF0000u));
}
static inline uint32_t dory_add_odd_bytes(uint32_t halves, uint32_t bytes)
{
    return dory_add_even_bytes(halves, bytes >> 8);
}
#endif

/* SMLAD: the sum of both products of halves. SMLABB, SMLATB, SMLABT, SMLATT: a half of the first factor (B: bottom, T: top)
 * times one of the second. All wrap around, and so do the models. */
#if defined(DORY_HAS_SIMD32)
#define DORY_MULTIPLY_ADD(name, instruction)                                                                                \
    static inline int32_t name(uint32_t a, uint32_t b, int32_t sum)                                                         \
    {                                                                                                                       \
        int32_t result;                                                                                                     \
        __asm__(instruction " %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));                                   \
        return result;                                                                                                      \
    }
DORY_MULTIPLY_ADD(dory_smlad, "smlad")
DORY_MULTIPLY_ADD(dory_smlabb, "smlabb")
DORY_MULTIPLY_ADD(dory_smlatb, "smlatb")
DORY_MULTIPLY_ADD(dory_smlabt, "smlabt")
DORY_MULTIPLY_ADD(dory_smlatt, "smlatt")
#else
static inline int32_t dory_add_product(int32_t a, int32_t b, int32_t sum)
{
    return (int32_t)((uint32_t)sum + (uint32_t)(a * b));
}
static inline int32_t dory_smlabb(uint32_t a, uint32_t b, int32_t sum)
{
    return dory_add_product(dory_bottom(a), dory_bottom(b), sum);
}
static inline int32_t dory_smlatb(uint32_t a, uint32_t b, int32_t sum)
{
    return dory_add_product(dory_top(a), dory_bottom(b), sum);
}
static inline int32_t dory_smlabt(uint32_t a, uint32_t b, int32_t sum)
{
    return dory_add_product(dory_bottom(a), dory_top(b), sum);
}
static inline int32_t dory_smlatt(uint32_t a, uint32_t b, int32_t sum)
{
    return dory_add_product(dory_top(a), dory_top(b), sum);
}
static inline int32_t dory_smlad(uint32_t a, uint32_t b, int32_t sum) { return dory_smlatt(a, b, dory_smlabb(a, b, sum)); }
#endif

/* UQSUB8, then UADD8: the larger one of each pair of bytes without a sign. */
#if defined(DORY_HAS_SIMD32)
static inline uint32_t dory_maximum_bytes(uint32_t a, uint32_t b)
{
    uint32_t result;
    __asm__("uqsub8 %0, %1, %2\n\tuadd8 %0, %0, %2" : "=&r"(result) : "r"(a), "r"(b));
    return result;
}
#else
static inline uint32_t dory_maximum_bytes(uint32_t a, uint32_t b)
{
    uint32_t result = 0;
    for (uint32_t mask = 0xFF; mask != 0; mask <<= 8) {
        result |= (a & mask) > (b & mask) ? a & mask : b & mask;
    }
    return result;
}
#endif

/* SMMLA: the high half of a product of 32 bits, and an addend. USAT: clipped to a byte without a sign. */
#if defined(DORY_HAS_SIMD32)
DORY_MULTIPLY_ADD(dory_smmla, "smmla")
static inline uint32_t dory_byte_of(int32_t value)
{
    uint32_t byte;
    __asm__("usat %0, #8, %1" : "=r"(byte) : "r"(value) : "cc");
    return byte;
}
#else
static inline int32_t dory_smmla(uint32_t a, uint32_t b, int32_t addend)
{
    return (int32_t)((uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32) + (uint32_t)addend);
}
static inline uint32_t dory_byte_of(int32_t value) { return (uint32_t)(value < 0 ? 0 : value > 255 ? 255 : value); }
#endif

#endif
