/* Computes depth-wise 3x3, from a word of four columns for each row: its even columns 0 and 2 meet a row's outer weights in
 * one product of pairs, and so do its odd columns 1 and 3 of the output beside it; the middle weight takes a product of one.
 * Inner loop with stride 1: two rows by two columns in 69 instructions, with ROUND_AWAY in 78. */
#include "depthwise_3x3.h"

/* A word of a row. */
struct columns {
    uint32_t even, odd;
};

static inline struct columns columns_at(const uint8_t *row)
{
    uint32_t word = dory_word_at(row);
    return (struct columns){dory_even_bytes(word), dory_odd_bytes(word)};
}

void dory_sum_row_3x3(const struct dory_3x3 *kernel, const uint8_t *plane, uint32_t row_bytes, uint32_t stride,
                      int32_t start, int32_t *sums, uint32_t columns)
{
    struct dory_3x3 k = *kernel;
    for (; columns > 0; columns--, plane += stride) {
        struct columns top = columns_at(plane), middle = columns_at(plane + row_bytes),
                       bottom = columns_at(plane + 2 * row_bytes);
        int32_t sum = dory_smlabb(top.odd, k.middle_01, dory_smlad(top.even, k.outer[0], start));
        sum = dory_smlabt(middle.odd, k.middle_01, dory_smlad(middle.even, k.outer[1], sum));
        *sums++ = dory_smlabb(bottom.odd, k.middle_2, dory_smlad(bottom.even, k.outer[2], sum));
    }
}

#if defined(DORY_HAS_SIMD32)

#pragma GCC diagnostic ignored "-Wunused-parameter" /* they are in r0 to r3 */

/* r0: the plane, r1: bytes of a row; r2 to r6: weights, r7: what sums start from; r8, r9: sums of the left column, upper and
 * lower row, r10, r11: of the right one; r12, lr: even and odd columns of a row. */
#define ROW(load)                                                                                                           \
    load "uxtb16 lr, r12, ror #8\n"                                                                                         \
         "uxtb16 r12, r12\n"
#define PRODUCTS(left, right, outer, middle, half, left_from, right_from)                                                   \
    "smlad " left ", r12, " outer ", " left_from "\n"                                                                       \
    "smlab" half " " left ", lr, " middle ", " left "\n"                                                                    \
    "smlad " right ", lr, " outer ", " right_from "\n"                                                                      \
    "smlat" half " " right ", r12, " middle ", " right "\n"
#define UPPER(outer, middle, half, left_from, right_from) PRODUCTS("r8", "r10", outer, middle, half, left_from, right_from)
#define LOWER(outer, middle, half, left_from, right_from) PRODUCTS("r9", "r11", outer, middle, half, left_from, right_from)
#define SUMS                                                                                                                \
    ROW("ldr r12, [r0]\n")                                                                                                  \
    UPPER("r2", "r5", "b", "r7", "r7")                                                                                      \
    ROW("ldr r12, [r0, r1]\n")                                                                                              \
    UPPER("r3", "r5", "t", "r8", "r10")                                                                                     \
    LOWER("r2", "r5", "b", "r7", "r7")                                                                                      \
    ROW("ldr r12, [r0, r1, lsl #1]\n")                                                                                      \
    UPPER("r4", "r6", "b", "r8", "r10")                                                                                     \
    LOWER("r3", "r5", "t", "r9", "r11")                                                                                     \
    "add r12, r0, r1\n" ROW("ldr r12, [r12, r1, lsl #1]\n") LOWER("r4", "r6", "b", "r9", "r11")

/* r2: left shift, later what is taken off below zero; r3: multiplier, r4: addend, r5: shift. */
#define SHIFT_UP(sum) "lsl " sum ", " sum ", r2\n"
#define HIGH(sum)     "smmla " sum ", " sum ", r3, r4\n"
#define HIGH_AWAY(sum)                                                                                                      \
    "and r12, r2, " sum ", asr #31\n"                                                                                       \
    "smmla " sum ", " sum ", r3, r4\n"                                                                                      \
    "sub " sum ", " sum ", r12\n"
#define SHIFT_DOWN(sum)                                                                                                     \
    "asr " sum ", " sum ", r5\n"                                                                                            \
    "usat " sum ", #8, " sum "\n"
#define ALL_SUMS(step) step("r8") step("r9") step("r10") step("r11")

/* On the stack: behind the weights and the start of the struct, from where its halves are loaded either way; the end of the
 * plane; the output. */
#define TWO_ROWS(name, scale, load_away)                                                                                    \
    __attribute__((naked)) void name(const struct dory_two_rows_3x3 *rows, const uint8_t *plane, const uint8_t *end,        \
                                     uint8_t *output)                                                                       \
    {                                                                                                                       \
        __asm__ volatile("add r0, r0, #24\n"                                                                                \
                         "push {r0, r2, r3, r4-r11, lr}\n"                                                                  \
                         "mov lr, r0\n"                                                                                     \
                         "mov r0, r1\n"                                                                                     \
                         "ldr r1, [lr, #28]\n"                                                                              \
                         "ldmdb lr, {r2-r7}\n"                                                                              \
                         "1:\n" SUMS "ldr lr, [sp]\n"                                                                       \
                         "ldmia lr, {r2-r7}\n" ALL_SUMS(SHIFT_UP) load_away ALL_SUMS(scale)                                 \
                             ALL_SUMS(SHIFT_DOWN) "ldr r12, [sp, #8]\n"                                                     \
                                                  "strb r8, [r12]\n"                                                        \
                                                  "strb r9, [r12, r7]\n"                                                    \
                                                  "add r12, r12, r6\n"                                                      \
                                                  "strb r10, [r12]\n"                                                       \
                                                  "strb r11, [r12, r7]\n"                                                   \
                                                  "add r12, r12, r6\n"                                                      \
                                                  "str r12, [sp, #8]\n"                                                     \
                                                  "ldmdb lr, {r2-r7}\n"                                                     \
                                                  "ldr r12, [sp, #4]\n"                                                     \
                                                  "add r0, r0, #2\n"                                                        \
                                                  "cmp r0, r12\n"                                                           \
                                                  "bne 1b\n"                                                                \
                                                  "add sp, sp, #12\n"                                                       \
                                                  "pop {r4-r11, pc}\n");                                                    \
    }

TWO_ROWS(dory_two_rows_3x3_high, HIGH, "")
TWO_ROWS(dory_two_rows_3x3_high_away, HIGH_AWAY, "ldr r2, [lr, #24]\n")

#else

static uint8_t finish(const struct dory_two_rows_3x3 *rows, int32_t sum)
{
    int32_t shifted = (int32_t)((uint32_t)sum << rows->left_shift);
    uint32_t value = (uint32_t)dory_smmla((uint32_t)shifted, rows->multiplier, rows->addend);
    return (uint8_t)dory_byte_of((int32_t)(value - (rows->away & (uint32_t)(shifted >> 31))) >> rows->shift);
}

void dory_two_rows_3x3_high_away(const struct dory_two_rows_3x3 *rows, const uint8_t *plane, const uint8_t *end,
                                 uint8_t *output)
{
    for (; plane != end; plane += 2, output += 2 * rows->pixel_bytes) {
        for (uint32_t row = 0; row < 2; row++) {
            int32_t sums[2];
            dory_sum_row_3x3(&rows->kernel, plane + row * rows->row_bytes, rows->row_bytes, 1, rows->start, sums, 2);
            output[row * rows->line_bytes] = finish(rows, sums[0]);
            output[row * rows->line_bytes + rows->pixel_bytes] = finish(rows, sums[1]);
        }
    }
}

void dory_two_rows_3x3_high(const struct dory_two_rows_3x3 *rows, const uint8_t *plane, const uint8_t *end, uint8_t *output)
{
    struct dory_two_rows_3x3 down = *rows;
    down.away = 0;
    dory_two_rows_3x3_high_away(&down, plane, end, output);
}

#endif
