/* The vector instructions that the kernels use (Helium, MVE): the compiler's intrinsics. On any other machine, such as the
 * PC that runs the tests, models of them in C. */
#ifndef DORY_MVE_HELIUM_H
#define DORY_MVE_HELIUM_H

#include <stdint.h>
#include <string.h>

#if defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>
#define DORY_HAS_HELIUM
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && !defined(DORY_MODELS_INSTRUCTIONS)
#error "planned for a core with vectors (Helium); name it: -mcpu=cortex-m55 -mfloat-abi=hard"
#else

typedef struct {
    uint8_t lane[16];
} uint8x16_t;
typedef struct {
    int8_t lane[16];
} int8x16_t;
typedef struct {
    uint16_t lane[8];
} uint16x8_t;
typedef struct {
    uint32_t lane[4];
} uint32x4_t;
typedef struct {
    int32_t lane[4];
} int32x4_t;
typedef uint16_t mve_pred16_t; /* a bit for each byte */

#define DORY_LANES(type, count, value)                                                                                      \
    type result;                                                                                                            \
    for (unsigned i = 0; i < (count); i++) {                                                                                \
        result.lane[i] = (value);                                                                                           \
    }                                                                                                                       \
    return result

/* Loads and stores. The last two letters of some are widening: bytes in memory, words in lanes. */
static inline int32x4_t vldrwq_s32(const int32_t *from) { DORY_LANES(int32x4_t, 4, from[i]); }
static inline uint32x4_t vldrbq_u32(const uint8_t *from) { DORY_LANES(uint32x4_t, 4, from[i]); }
static inline uint32x4_t vldrbq_z_u32(const uint8_t *from, mve_pred16_t p)
{
    DORY_LANES(uint32x4_t, 4, p >> 4 * i & 1 ? from[i] : 0);
}
static inline uint16x8_t vldrbq_gather_offset_z_u16(const uint8_t *from, uint16x8_t offset, mve_pred16_t p)
{
    DORY_LANES(uint16x8_t, 8, (uint16_t)(p >> 2 * i & 1 ? from[offset.lane[i]] : 0));
}
static inline uint16x8_t vldrbq_gather_offset_u16(const uint8_t *from, uint16x8_t offset)
{
    DORY_LANES(uint16x8_t, 8, from[offset.lane[i]]);
}
static inline int32x4_t vldrwq_gather_shifted_offset_s32(const int32_t *from, uint32x4_t offset)
{
    DORY_LANES(int32x4_t, 4, from[offset.lane[i]]);
}
static inline int32x4_t vldrwq_gather_offset_s32(const int32_t *from, uint32x4_t offset)
{
    int32x4_t result;
    for (unsigned i = 0; i < 4; i++) {
        memcpy(&result.lane[i], (const uint8_t *)from + offset.lane[i], 4);
    }
    return result;
}
static inline void vst1q_s32(int32_t *to, int32x4_t a) { memcpy(to, &a, sizeof a); }
static inline void vstrbq_u8(uint8_t *to, uint8x16_t a) { memcpy(to, &a, sizeof a); }
static inline void vstrbq_u16(uint8_t *to, uint16x8_t a)
{
    for (unsigned i = 0; i < 8; i++) {
        to[i] = (uint8_t)a.lane[i];
    }
}
static inline void vstrbq_p_s32(int8_t *to, int32x4_t a, mve_pred16_t p)
{
    for (unsigned i = 0; i < 4; i++) {
        if (p >> 4 * i & 1) {
            to[i] = (int8_t)a.lane[i];
        }
    }
}
static inline void vstrbq_s32(int8_t *to, int32x4_t a) { vstrbq_p_s32(to, a, 0xFFFF); }
static inline void vstrbq_scatter_offset_p_s32(int8_t *to, uint32x4_t offset, int32x4_t a, mve_pred16_t p)
{
    for (unsigned i = 0; i < 4; i++) {
        if (p >> 4 * i & 1) {
            to[offset.lane[i]] = (int8_t)a.lane[i];
        }
    }
}
static inline void vstrbq_scatter_offset_s32(int8_t *to, uint32x4_t offset, int32x4_t a)
{
    vstrbq_scatter_offset_p_s32(to, offset, a, 0xFFFF);
}
/* Predicates of the first `count` lanes of 8, 16 or 32 bits. */
static inline mve_pred16_t vctp8q(uint32_t count) { return (mve_pred16_t)(count >= 16 ? 0xFFFF : (1u << count) - 1); }
static inline mve_pred16_t vctp16q(uint32_t count) { return vctp8q(count >= 8 ? 16 : 2 * count); }
static inline mve_pred16_t vctp32q(uint32_t count) { return vctp8q(count >= 4 ? 16 : 4 * count); }

/* Arithmetic, which wraps around. */
static inline int32x4_t vdupq_n_s32(int32_t value) { DORY_LANES(int32x4_t, 4, value); }
static inline uint32x4_t vdupq_n_u32(uint32_t value) { DORY_LANES(uint32x4_t, 4, value); }
static inline uint8x16_t vdupq_n_u8(uint8_t value) { DORY_LANES(uint8x16_t, 16, value); }
static inline uint16x8_t vdupq_n_u16(uint16_t value) { DORY_LANES(uint16x8_t, 8, value); }
static inline uint16x8_t vidupq_n_u16(uint32_t start, int step)
{
    DORY_LANES(uint16x8_t, 8, (uint16_t)(start + i * (uint32_t)step));
}
static inline uint32x4_t vidupq_n_u32(uint32_t start, int step) { DORY_LANES(uint32x4_t, 4, start + i * (uint32_t)step); }
static inline uint16x8_t vmulq_n_u16(uint16x8_t a, uint16_t b)
{
    DORY_LANES(uint16x8_t, 8, (uint16_t)((uint32_t)a.lane[i] * b));
}
static inline uint32x4_t vmulq_n_u32(uint32x4_t a, uint32_t b) { DORY_LANES(uint32x4_t, 4, a.lane[i] * b); }
static inline int32x4_t vaddq_s32(int32x4_t a, int32x4_t b)
{
    DORY_LANES(int32x4_t, 4, (int32_t)((uint32_t)a.lane[i] + (uint32_t)b.lane[i]));
}
static inline int32x4_t vnegq_s32(int32x4_t a) { DORY_LANES(int32x4_t, 4, (int32_t)(0u - (uint32_t)a.lane[i])); }
static inline int32x4_t vmulq_s32(int32x4_t a, int32x4_t b)
{
    DORY_LANES(int32x4_t, 4, (int32_t)((uint32_t)a.lane[i] * (uint32_t)b.lane[i]));
}
static inline int32x4_t vmlaq_n_s32(int32x4_t sum, int32x4_t a, int32_t b)
{
    DORY_LANES(int32x4_t, 4, (int32_t)((uint32_t)sum.lane[i] + (uint32_t)a.lane[i] * (uint32_t)b));
}
static inline int32x4_t vmulhq_s32(int32x4_t a, int32x4_t b)
{
    DORY_LANES(int32x4_t, 4, (int32_t)((int64_t)a.lane[i] * b.lane[i] >> 32));
}
static inline int32x4_t vshrq_n_s32(int32x4_t a, int bits) { DORY_LANES(int32x4_t, 4, a.lane[i] >> bits); }

/* Shifts left by the low byte, which may be negative. */
static inline int32_t dory_shift_lane(int32_t value, int32_t by)
{
    int32_t bits = (int8_t)by;
    return bits <= -32 ? value >> 31 : bits < 0 ? value >> -bits : bits < 32 ? (int32_t)((uint32_t)value << bits) : 0;
}
static inline int32x4_t vshlq_r_s32(int32x4_t a, int32_t by) { DORY_LANES(int32x4_t, 4, dory_shift_lane(a.lane[i], by)); }
static inline int32x4_t vshlq_s32(int32x4_t a, int32x4_t by)
{
    DORY_LANES(int32x4_t, 4, dory_shift_lane(a.lane[i], by.lane[i]));
}
static inline int32x4_t vandq_s32(int32x4_t a, int32x4_t b) { DORY_LANES(int32x4_t, 4, a.lane[i] & b.lane[i]); }
static inline uint32x4_t veorq_u32(uint32x4_t a, uint32x4_t b) { DORY_LANES(uint32x4_t, 4, a.lane[i] ^ b.lane[i]); }
static inline int32x4_t vreinterpretq_s32_u32(uint32x4_t a) { DORY_LANES(int32x4_t, 4, (int32_t)a.lane[i]); }
static inline uint16x8_t veorq_u16(uint16x8_t a, uint16x8_t b)
{
    DORY_LANES(uint16x8_t, 8, (uint16_t)(a.lane[i] ^ b.lane[i]));
}
static inline uint16x8_t vpselq_u16(uint16x8_t a, uint16x8_t b, mve_pred16_t p)
{
    DORY_LANES(uint16x8_t, 8, p >> 2 * i & 1 ? a.lane[i] : b.lane[i]);
}
static inline int32x4_t vminq_s32(int32x4_t a, int32x4_t b)
{
    DORY_LANES(int32x4_t, 4, a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]);
}
static inline int32x4_t vmaxq_s32(int32x4_t a, int32x4_t b)
{
    DORY_LANES(int32x4_t, 4, a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]);
}

/* VMLADAV: the sum of sixteen products. */
static inline int8x16_t vreinterpretq_s8_s32(int32x4_t a)
{
    int8x16_t result;
    memcpy(&result, &a, sizeof result);
    return result;
}
static inline int32_t vmladavq_s8(int8x16_t a, int8x16_t b)
{
    int32_t sum = 0;
    for (unsigned i = 0; i < 16; i++) {
        sum += a.lane[i] * b.lane[i];
    }
    return sum;
}

#endif

#endif
