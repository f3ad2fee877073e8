/* Computes depth-wise 3x3, from a word of four columns for each row: its even columns 0 and 2 meet a row's outer weights in
 * one product of pairs, and so do its odd columns 1 and 3 of the output beside it; the middle weight takes a product of one.
 * Inner loop with stride 1: two rows by two columns in 69 instructions, with ROUND_AWAY in 78; a last column of an odd
 * number alone. */
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
#define LEFT(sum, outer, middle, half, from)                                                                                \
    "smlad " sum ", r12, " outer ", " from "\n"                                                                             \
    "smlab" half " " sum ", lr, " middle ", " sum "\n"
#define RIGHT(sum, outer, middle, half, from)                                                                               \
    "smlad " sum ", lr, " outer ", " from "\n"                                                                              \
    "smlat" half " " sum ", r12, " middle ", " sum "\n"
#define BOTH(left, right, outer, middle, half) LEFT(left, outer, middle, half, left) RIGHT(right, outer, middle, half, right)
#define FIRST_ROW                              ROW("ldr r12, [r0]\n")
#define SECOND_ROW                             ROW("ldr r12, [r0, r1]\n")
#define THIRD_ROW                              ROW("ldr r12, [r0, r1, lsl #1]\n")
#define FOURTH_ROW                             "add r12, r0, r1\n" ROW("ldr r12, [r12, r1, lsl #1]\n")
#define SUMS_OF_TWO                                                                                                         \
    FIRST_ROW LEFT("r8", "r2", "r5", "b", "r7") RIGHT("r10", "r2", "r5", "b", "r7")                                         \
        SECOND_ROW BOTH("r8", "r10", "r3", "r5", "t") LEFT("r9", "r2", "r5", "b", "r7") RIGHT("r11", "r2", "r5", "b", "r7") \
            THIRD_ROW BOTH("r8", "r10", "r4", "r6", "b") BOTH("r9", "r11", "r3", "r5", "t")                                 \
                FOURTH_ROW BOTH("r9", "r11", "r4", "r6", "b")
#define SUMS_OF_ONE                                                                                                         \
    FIRST_ROW LEFT("r8", "r2", "r5", "b", "r7") SECOND_ROW LEFT("r8", "r3", "r5", "t", "r8")                                \
        LEFT("r9", "r2", "r5", "b", "r7") THIRD_ROW LEFT("r8", "r4", "r6", "b", "r8") LEFT("r9", "r3", "r5", "t", "r9")     \
            FOURTH_ROW LEFT("r9", "r4", "r6", "b", "r9")

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
#define OF_ONE(step) step("r8") step("r9")
#define OF_TWO(step) OF_ONE(step) step("r10") step("r11")
#define FINISH(scale, load_away, of)                                                                                        \
    "ldr lr, [sp]\n"                                                                                                        \
    "ldmia lr, {r2-r7}\n" of(SHIFT_UP) load_away                                                                            \
    of(scale) of(SHIFT_DOWN) "ldr r12, [sp, #8]\n"                                                                          \
                             "strb r8, [r12]\n"                                                                             \
                             "strb r9, [r12, r7]\n"

/* On the stack: 0: behind the weights and the start of the struct, from where its halves are loaded either way; 4: the end
 * of the row's even columns; 8: the output; 12: the row; 16: its output; 20: rows that are left. */
#define ROWS(name, scale, load_away)                                                                                        \
    __attribute__((naked)) void name(const struct dory_rows_3x3 *rows, const uint8_t *plane, uint8_t *output,               \
                                     uint32_t row_count)                                                                    \
    {                                                                                                                       \
        __asm__ volatile(                                                                                                   \
            "push {r4-r11, lr}\n"                                                                                           \
            "add r4, r0, #24\n"                                                                                             \
            "ldr r5, [r4, #32]\n"                                                                                           \
            "add r5, r5, r1\n"                                                                                              \
            "mov r6, r2\n"                                                                                                  \
            "mov r7, r1\n"                                                                                                  \
            "mov r8, r2\n"                                                                                                  \
            "mov r9, r3\n"                                                                                                  \
            "push {r4-r9}\n"                                                                                                \
            "mov lr, r4\n"                                                                                                  \
            "mov r0, r1\n"                                                                                                  \
            "ldr r1, [lr, #28]\n"                                                                                           \
            "ldmdb lr, {r2-r7}\n"                                                                                           \
            "1:\n" SUMS_OF_TWO FINISH(scale, load_away, OF_TWO) "add r12, r12, r6\n"                                        \
                                                                "strb r10, [r12]\n"                                         \
                                                                "strb r11, [r12, r7]\n"                                     \
                                                                "add r12, r12, r6\n"                                        \
                                                                "str r12, [sp, #8]\n"                                       \
                                                                "ldmdb lr, {r2-r7}\n"                                       \
                                                                "ldr r12, [sp, #4]\n"                                       \
                                                                "add r0, r0, #2\n"                                          \
                                                                "cmp r0, r12\n"                                             \
                                                                "bne 1b\n"                                                  \
                                                                "ldr r12, [lr, #36]\n"                                      \
                                                                "cmp r12, #0\n"                                             \
                                                                "beq 2f\n" SUMS_OF_ONE FINISH(                              \
                                                                    scale, load_away, OF_ONE) "ldmdb lr, {r2-r7}\n"         \
                                                                                              "2:\n"                        \
                                                                                              "ldr r0, [sp, #12]\n"         \
                                                                                              "add r0, r0, r1, lsl #1\n"    \
                                                                                              "str r0, [sp, #12]\n"         \
                                                                                              "ldr r12, [lr, #32]\n"        \
                                                                                              "add r12, r12, r0\n"          \
                                                                                              "str r12, [sp, #4]\n"         \
                                                                                              "ldr r12, [sp, #16]\n"        \
                                                                                              "ldr r8, [lr, #20]\n"         \
                                                                                              "add r12, r12, r8, lsl #1\n"  \
                                                                                              "str r12, [sp, #16]\n"        \
                                                                                              "str r12, [sp, #8]\n"         \
                                                                                              "ldr r12, [sp, #20]\n"        \
                                                                                              "subs r12, r12, #2\n"         \
                                                                                              "str r12, [sp, #20]\n"        \
                                                                                              "bne 1b\n"                    \
                                                                                              "add sp, sp, #24\n"           \
                                                                                              "pop {r4-r11, pc}\n");        \
    }

ROWS(dory_rows_3x3_high, HIGH, "")
ROWS(dory_rows_3x3_high_away, HIGH_AWAY, "ldr r2, [lr, #24]\n")

#else

static uint8_t finish(const struct dory_rows_3x3 *rows, int32_t sum)
{
    int32_t shifted = (int32_t)((uint32_t)sum << rows->left_shift);
    uint32_t value = (uint32_t)dory_smmla((uint32_t)shifted, rows->multiplier, rows->addend);
    return (uint8_t)dory_byte_of((int32_t)(value - (rows->away & (uint32_t)(shifted >> 31))) >> rows->shift);
}

void dory_rows_3x3_high_away(const struct dory_rows_3x3 *rows, const uint8_t *plane, uint8_t *output, uint32_t row_count)
{
    for (; row_count > 0; row_count--, plane += rows->row_bytes, output += rows->line_bytes) {
        for (uint32_t column = 0; column < rows->even_columns + rows->odd_column; column++) {
            int32_t sum;
            dory_sum_row_3x3(&rows->kernel, plane + column, rows->row_bytes, 1, rows->start, &sum, 1);
            output[column * rows->pixel_bytes] = finish(rows, sum);
        }
    }
}

void dory_rows_3x3_high(const struct dory_rows_3x3 *rows, const uint8_t *plane, uint8_t *output, uint32_t row_count)
{
    struct dory_rows_3x3 down = *rows;
    down.away = 0;
    dory_rows_3x3_high_away(&down, plane, output, row_count);
}

#endif
