/* Computes and requantises quads of three pixels. Of a quad 24 instructions for 192 products, and 73 besides: a compiler,
 * which has too few registers for it, takes 113. */
#include "product.h"

#include "lanes.h"

#if defined(DORY_HAS_HELIUM)

#pragma GCC diagnostic ignored "-Wunused-parameter" /* it is in r0 */

/* Two channels of three pixels: r1 weights, r3, r5, r7 pixels, r9 sixteens. Sums start from r0 and r2. */
#define PAIR                                                                                                                \
    "mov r4, r0\n"                                                                                                          \
    "mov r6, r2\n"                                                                                                          \
    "mov r8, r0\n"                                                                                                          \
    "mov r10, r2\n"                                                                                                         \
    "dls lr, r9\n"                                                                                                          \
    "1:\n"                                                                                                                  \
    "vldrb.8 q0, [r1], #32\n"                                                                                               \
    "vldrb.8 q1, [r3], #16\n"                                                                                               \
    "vmladava.s8 r0, q0, q1\n"                                                                                              \
    "vldrb.8 q2, [r1], #32\n"                                                                                               \
    "vmladava.s8 r2, q2, q1\n"                                                                                              \
    "vldrb.8 q1, [r5], #16\n"                                                                                               \
    "vmladava.s8 r4, q0, q1\n"                                                                                              \
    "vmladava.s8 r6, q2, q1\n"                                                                                              \
    "vldrb.8 q1, [r7], #16\n"                                                                                               \
    "vmladava.s8 r8, q0, q1\n"                                                                                              \
    "vmladava.s8 r10, q2, q1\n"                                                                                             \
    "le lr, 1b\n"
#define LANES(high, low)                                                                                                    \
    "vmov q3[" high "], q3[" low "], r0, r2\n"                                                                              \
    "vmov q4[" high "], q4[" low "], r4, r6\n"                                                                              \
    "vmov q5[" high "], q5[" low "], r8, r10\n"

/* A pixel's sums: r0 left shift, r2 what is taken off below zero, q0 multipliers, q1 addends, q2 shifts. */
#define HIGH(sums)                                                                                                          \
    "vshl.s32 " sums ", r0\n"                                                                                               \
    "vmulh.s32 " sums ", " sums ", q0\n"                                                                                    \
    "vadd.i32 " sums ", " sums ", q1\n"
#define HIGH_AWAY(sums)                                                                                                     \
    "vshl.s32 " sums ", r0\n"                                                                                               \
    "vcmp.s32 lt, " sums ", zr\n"                                                                                           \
    "vmulh.s32 " sums ", " sums ", q0\n"                                                                                    \
    "vadd.i32 " sums ", " sums ", q1\n"                                                                                     \
    "vpst\n"                                                                                                                \
    "vsubt.i32 " sums ", " sums ", r2\n"
#define CLIP(sums)                                                                                                          \
    "vshl.s32 " sums ", " sums ", q2\n"                                                                                     \
    "vmin.s32 " sums ", " sums ", q6\n"                                                                                     \
    "vmax.s32 " sums ", " sums ", q7\n"

#define QUADS(name, scale)                                                                                                  \
    __attribute__((naked)) void name(const struct dory_mve_quads *quads)                                                    \
    {                                                                                                                       \
        __asm__ volatile("push {r4-r11, lr}\n"                                                                              \
                         "vpush {d8-d15}\n"                                                                                 \
                         "mov r12, r0\n"                                                                                    \
                         "ldrd r0, r2, [r12, #28]\n"                                                                        \
                         "vdup.32 q7, r0\n"                                                                                 \
                         "vdup.32 q6, r2\n"                                                                                 \
                         "ldrd r1, r11, [r12, #4]\n"                                                                        \
                         "ldr r9, [r12, #12]\n"                                                                             \
                         "2:\n"                                                                                             \
                         "ldr r3, [r12]\n"                                                                                  \
                         "add r5, r3, r9, lsl #4\n"                                                                         \
                         "add r7, r5, r9, lsl #4\n"                                                                         \
                         "add r10, r1, r9, lsl #6\n"                                                                        \
                         "ldr r0, [r10]\n"                                                                                  \
                         "ldr r2, [r10, #8]\n" PAIR LANES("2", "0") /* r1 is at the starts, r3 and r5 one pixel further */  \
                         "ldr r0, [r1, #4]\n"                                                                               \
                         "ldr r2, [r1, #12]\n"                                                                              \
                         "mov r7, r5\n"                                                                                     \
                         "mov r5, r3\n"                                                                                     \
                         "sub r3, r3, r9, lsl #4\n"                                                                         \
                         "sub r1, r1, r9, lsl #6\n"                                                                         \
                         "add r1, r1, #16\n" PAIR LANES("3", "1") /* r1 is at the constants */                              \
                         "ldrd r0, r2, [r12, #20]\n"                                                                        \
                         "vldrw.32 q0, [r1, #16]\n"                                                                         \
                         "vldrw.32 q1, [r1, #32]\n"                                                                         \
                         "vldrw.32 q2, [r1, #48]\n"                                                                         \
                         "vneg.s32 q2, q2\n" scale("q3") scale("q4") scale("q5") CLIP("q3") CLIP("q4")                      \
                             CLIP("q5") "ldr r4, [r12, #16]\n"                                                              \
                                        "ldr r8, [r12, #36]\n"                                                              \
                                        "mov r3, r11\n"                                                                     \
                                        "add r5, r3, r4\n"                                                                  \
                                        "add r7, r5, r4\n"                                                                  \
                                        "vstrb.32 q3, [r3]\n"                                                               \
                                        "vstrb.32 q4, [r5]\n"                                                               \
                                        "vstrb.32 q5, [r7]\n"                                                               \
                                        "add r11, r11, #4\n"                                                                \
                                        "add r1, r1, #64\n"                                                                 \
                                        "cmp r1, r8\n"                                                                      \
                                        "bne 2b\n"                                                                          \
                                        "vpop {d8-d15}\n"                                                                   \
                                        "pop {r4-r11, pc}\n");                                                              \
    }

QUADS(dory_mve_quads_high, HIGH)
QUADS(dory_mve_quads_high_away, HIGH_AWAY)

#else

static void compute(enum dory_finish kind, struct dory_mve_quads quads)
{
    uint32_t weights_bytes = 64 * quads.sixteens;
    struct dory_lanes_scale scale = {.left_shift = (int32_t)quads.left_shift, .away = (int32_t)quads.away};
    scale.minimum = vdupq_n_s32(quads.minimum);
    scale.maximum = vdupq_n_s32(quads.maximum);
    for (; quads.weights != quads.end; quads.weights += weights_bytes + 80, quads.output += 4) {
        struct dory_mve_sums sums = dory_mve_product_pixels(quads.pixels, quads.weights, quads.sixteens);
        dory_read_lanes(kind, quads.weights + weights_bytes + 16, &scale);
        for (uint32_t i = 0; i < 3; i++) {
            vstrbq_s32((int8_t *)quads.output + i * quads.pixel_bytes, dory_finish_lanes(kind, &scale, sums.pixel[i]));
        }
    }
}

void dory_mve_quads_high(const struct dory_mve_quads *quads) { compute(DORY_FINISH_HIGH, *quads); }
void dory_mve_quads_high_away(const struct dory_mve_quads *quads) { compute(DORY_FINISH_HIGH_AWAY, *quads); }

#endif
