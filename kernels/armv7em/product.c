/* Computes inner products. Inner loops: 16 multiplications in 13 instructions for four pixels by two channels, whose sums
 * take eight of fourteen registers; in 19 for one pixel by four channels, whose weights are used once. Four groups a round,
 * and a round is entered in its middle where groups are no multiple of four. */
#include "product.h"

#include "instructions.h"

#if defined(DORY_HAS_SIMD32)

#pragma GCC diagnostic ignored "-Wunused-parameter" /* they are in r0 to r3 */

/* All instructions have 4 bytes, of which the entry into a round is computed. r0, r1: pairs, weights. */
#define PAIR_HALF(load_weights, turn)                                                                                       \
    "ldrd r8, r9, [r0], #8\n" load_weights "sxtb16 r10, r10" turn "\n"                                                      \
    "sxtb16 r11, r11" turn "\n"                                                                                             \
    "smlad r2, r8, r10, r2\n"                                                                                               \
    "smlad r3, r8, r11, r3\n"                                                                                               \
    "smlad r4, r9, r10, r4\n"                                                                                               \
    "smlad r5, r9, r11, r5\n"                                                                                               \
    "ldrd r8, r9, [r0], #8\n"                                                                                               \
    "smlad r6, r8, r10, r6\n"                                                                                               \
    "smlad r7, r8, r11, r7\n"                                                                                               \
    "smlad r12, r9, r10, r12\n"                                                                                             \
    "smlad lr, r9, r11, lr\n"
#define PAIR_GROUP PAIR_HALF("ldrd r10, r11, [r1]\n", "") PAIR_HALF("ldrd r10, r11, [r1], #16\n", ", ror #8")

/* Leaves r8 as the address of the last `groups` % 4 groups (r3) of a round that begins at label 1. Clobbers r9. */
#define ENTRY(group_bytes)                                                                                                  \
    "rsb r8, r3, #0\n"                                                                                                      \
    "and r8, r8, #3\n"                                                                                                      \
    "mov r9, #" group_bytes "\n"                                                                                            \
    "mul r8, r8, r9\n"                                                                                                      \
    "adr r9, 1f\n"                                                                                                          \
    "add r8, r8, r9\n"                                                                                                      \
    "add r8, r8, #1\n" /* Thumb */

__attribute__((naked)) void dory_product_pair(const uint32_t *pairs, const uint8_t *weights, int32_t sums[8],
                                              uint32_t groups)
{
    __asm__ volatile("push {r2, r4-r11, lr}\n" ENTRY("104") "add r3, r0, r3, lsl #5\n"
                                                            "push {r3}\n" /* the end of the pairs */
                                                            "ldmia r2, {r2, r3, r4, r5, r6, r7, r12, lr}\n"
                                                            "bx r8\n"
                                                            ".p2align 2\n"
                                                            "1:\n" PAIR_GROUP PAIR_GROUP PAIR_GROUP PAIR_GROUP
                                                            "ldr r10, [sp]\n"
                                                            "cmp r0, r10\n"
                                                            "bne 1b\n"
                                                            "pop {r0, r1}\n"
                                                            "stmia r1, {r2, r3, r4, r5, r6, r7, r12, lr}\n"
                                                            "pop {r4-r11, pc}\n");
}

/* Requantises the sums of a channel, which are shifted left: r9 has its multiplier, r11 its addend, later its shift, r0 its
 * constants, r1 the output, r8 the distance of pixels, r10 what is taken off below zero. */
#define HIGH(sum) "smmla " sum ", " sum ", r9, r11\n"
#define HIGH_AWAY(sum)                                                                                                      \
    "and r8, r10, " sum ", asr #31\n"                                                                                       \
    "smmla " sum ", " sum ", r9, r11\n"                                                                                     \
    "sub " sum ", " sum ", r8\n"
#define SHIFT_DOWN(sum)                                                                                                     \
    "asr " sum ", " sum ", r9\n"                                                                                            \
    "usat " sum ", #8, " sum "\n"
#define FINISH_CHANNEL(scale, load_pixel_bytes, p0, p1, p2, p3)                                                             \
    "ldrd r9, r11, [r0, #4]\n" scale(p0) scale(p1) scale(p2) scale(p3) "ldr r9, [r0, #12]\n" load_pixel_bytes SHIFT_DOWN(   \
        p0) SHIFT_DOWN(p1) SHIFT_DOWN(p2) SHIFT_DOWN(p3) "strb " p0 ", [r1]\n"                                              \
                                                         "strb " p1 ", [r1, r8]\n"                                          \
                                                         "add r11, r1, r8, lsl #1\n"                                        \
                                                         "strb " p2 ", [r11]\n"                                             \
                                                         "strb " p3 ", [r11, r8]\n"
#define SHIFT_UP(sum) "lsl " sum ", " sum ", r9\n"

#define PRODUCT_PAIR_HIGH(name, scale, load_pixel_bytes)                                                                    \
    __attribute__((naked)) void name(const uint32_t *pairs, const uint8_t *weights, const struct dory_pair_high *to,        \
                                     uint32_t groups)                                                                       \
    {                                                                                                                       \
        __asm__ volatile("push {r2, r4-r11, lr}\n" ENTRY(                                                                   \
            "104") "add r3, r0, r3, lsl #5\n"                                                                               \
                   "push {r3}\n"                                                                                            \
                   "ldr r9, [r2]\n"                                                                                         \
                   "ldr r2, [r9]\n" /* biases */                                                                            \
                   "ldr r3, [r9, #16]\n"                                                                                    \
                   "mov r4, r2\n"                                                                                           \
                   "mov r5, r3\n"                                                                                           \
                   "mov r6, r2\n"                                                                                           \
                   "mov r7, r3\n"                                                                                           \
                   "mov r12, r2\n"                                                                                          \
                   "mov lr, r3\n"                                                                                           \
                   "bx r8\n"                                                                                                \
                   ".p2align 2\n"                                                                                           \
                   "1:\n" PAIR_GROUP PAIR_GROUP PAIR_GROUP PAIR_GROUP "ldr r10, [sp]\n"                                     \
                   "cmp r0, r10\n"                                                                                          \
                   "bne 1b\n"                                                                                               \
                   "ldr r0, [sp, #4]\n"                                                                                     \
                   "ldmia r0, {r0, r1, r8, r9, r10}\n" SHIFT_UP("r2") SHIFT_UP("r3") SHIFT_UP("r4") SHIFT_UP("r5")          \
                             SHIFT_UP("r6") SHIFT_UP("r7") SHIFT_UP("r12") SHIFT_UP("lr") FINISH_CHANNEL(                   \
                                 scale, load_pixel_bytes, "r2", "r4", "r6",                                                 \
                                 "r12") "add r0, r0, #16\n"                                                                 \
                                        "add r1, r1, #1\n" FINISH_CHANNEL(scale, load_pixel_bytes, "r3", "r5", "r7",        \
                                                                          "lr") "add sp, sp, #8\n"                          \
                                                                                "pop {r4-r11, pc}\n");                      \
    }

PRODUCT_PAIR_HIGH(dory_product_pair_high, HIGH, "")
PRODUCT_PAIR_HIGH(dory_product_pair_high_away, HIGH_AWAY,
                  "ldr r8, [sp, #4]\n"
                  "ldr r8, [r8, #8]\n")

#define QUAD_CHANNEL(word, sum)                                                                                             \
    "sxtb16 r12, " word "\n"                                                                                                \
    "smlad " sum ", r12, r8, " sum "\n"                                                                                     \
    "sxtb16 " word ", " word ", ror #8\n"                                                                                   \
    "smlad " sum ", " word ", r9, " sum "\n"
#define QUAD_CHANNELS                                                                                                       \
    "ldrd r10, r11, [r1], #8\n" QUAD_CHANNEL("r10", "r4")                                                                   \
        QUAD_CHANNEL("r11", "r5") "ldrd r10, r11, [r1], #8\n" QUAD_CHANNEL("r10", "r6") QUAD_CHANNEL("r11", "r7")
#define QUAD_OF_HALVES        "ldrd r8, r9, [r0], #8\n" QUAD_CHANNELS
#define QUAD_OF_BYTES(expand) "ldr r9, [r0], #4\n" expand " r8, r9\n" expand " r9, r9, ror #8\n" QUAD_CHANNELS

#define PRODUCT_QUAD(name, type, group, code_bytes, log2_bytes)                                                             \
    __attribute__((naked)) void name(const type *terms, const uint8_t *weights, int32_t sums[4], uint32_t groups)           \
    {                                                                                                                       \
        __asm__ volatile("push {r4-r11, lr}\n" ENTRY(code_bytes) "add r3, r0, r3, lsl #" log2_bytes "\n"                    \
                                                                 "ldmia r2, {r4, r5, r6, r7}\n"                             \
                                                                 "bx r8\n"                                                  \
                                                                 ".p2align 2\n"                                             \
                                                                 "1:\n" group group group group "cmp r0, r3\n"              \
                                                                 "bne 1b\n"                                                 \
                                                                 "stmia r2, {r4, r5, r6, r7}\n"                             \
                                                                 "pop {r4-r11, pc}\n");                                     \
    }

PRODUCT_QUAD(dory_product_quad, uint32_t, QUAD_OF_HALVES, "76", "3")
PRODUCT_QUAD(dory_product_quad_unsigned, uint8_t, QUAD_OF_BYTES("uxtb16"), "84", "2")
PRODUCT_QUAD(dory_product_quad_signed, uint8_t, QUAD_OF_BYTES("sxtb16"), "84", "2")

#else

static int32_t add_group(uint32_t even, uint32_t odd, const uint8_t *weights, int32_t sum)
{
    uint32_t word = dory_word_at(weights);
    return dory_smlad(odd, dory_odd_signed(word), dory_smlad(even, dory_even_signed(word), sum));
}

void dory_product_pair(const uint32_t *pairs, const uint8_t *weights, int32_t sums[8], uint32_t groups)
{
    for (; groups > 0; groups--, pairs += 8, weights += 16) {
        for (uint32_t i = 0; i < 8; i++) {
            sums[i] = add_group(pairs[i / 2], pairs[4 + i / 2], weights + i % 2 * 4, sums[i]);
        }
    }
}

static void product_pair_high(const uint32_t *pairs, const uint8_t *weights, const struct dory_pair_high *to,
                              uint32_t groups)
{
    int32_t sums[8];
    for (uint32_t i = 0; i < 8; i++) {
        sums[i] = (int32_t)dory_word_at(to->constants + i % 2 * 16);
    }
    dory_product_pair(pairs, weights, sums, groups);
    for (uint32_t i = 0; i < 8; i++) {
        const uint8_t *constants = to->constants + i % 2 * 16;
        int32_t shifted = (int32_t)((uint32_t)sums[i] << to->left_shift), addend = (int32_t)dory_word_at(constants + 8);
        int32_t value = dory_smmla((uint32_t)shifted, dory_word_at(constants + 4), addend);
        value = (int32_t)((uint32_t)value - (to->away & (uint32_t)(shifted >> 31)));
        to->output[i / 2 * to->pixel_bytes + i % 2] = (uint8_t)dory_byte_of(value >> dory_word_at(constants + 12));
    }
}

void dory_product_pair_high(const uint32_t *pairs, const uint8_t *weights, const struct dory_pair_high *to, uint32_t groups)
{
    struct dory_pair_high down = *to;
    down.away = 0;
    product_pair_high(pairs, weights, &down, groups);
}

void dory_product_pair_high_away(const uint32_t *pairs, const uint8_t *weights, const struct dory_pair_high *to,
                                 uint32_t groups)
{
    product_pair_high(pairs, weights, to, groups);
}

void dory_product_quad(const uint32_t *pairs, const uint8_t *weights, int32_t sums[4], uint32_t groups)
{
    for (; groups > 0; groups--, pairs += 2, weights += 16) {
        for (uint32_t i = 0; i < 4; i++) {
            sums[i] = add_group(pairs[0], pairs[1], weights + 4 * i, sums[i]);
        }
    }
}

void dory_product_quad_unsigned(const uint8_t *terms, const uint8_t *weights, int32_t sums[4], uint32_t groups)
{
    for (; groups > 0; groups--, terms += 4, weights += 16) {
        uint32_t pairs[2] = {dory_even_bytes(dory_word_at(terms)), dory_odd_bytes(dory_word_at(terms))};
        dory_product_quad(pairs, weights, sums, 1);
    }
}

void dory_product_quad_signed(const uint8_t *terms, const uint8_t *weights, int32_t sums[4], uint32_t groups)
{
    for (; groups > 0; groups--, terms += 4, weights += 16) {
        uint32_t pairs[2] = {dory_even_signed(dory_word_at(terms)), dory_odd_signed(dory_word_at(terms))};
        dory_product_quad(pairs, weights, sums, 1);
    }
}

#endif
