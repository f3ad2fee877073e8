/* From pixels to words of four pixels of one channel.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_TRANSPOSE_H
#define DORY_XPULPV2_TRANSPOSE_H

#include "xpulp.h"

/* Four pixels next to each other, of which the last ones may be missing (offset 0), row by row. */
struct dory_transpose {
    const uint8_t *input;
    uint32_t offset[3]; /* of pixels 1 to 3 */
    uint32_t row_bytes; /* from row to row */
    uint32_t rows;      /* at least 1 */
    uint8_t *output;    /* words of a lane's rows, lanes lane_bytes apart */
    uint32_t lane_bytes;
    uint32_t lanes; /* channels that exist */
};

#if defined(DORY_XPULPV2)

/* Four lanes, addresses aligned to words. A 4 x 4 block of bytes in 18 instructions: halves of words first, then bytes of
 * halves. t0-t3: pixels 0 to 3; afterwards lanes 0 to 3 are in t4, a6, t6 and t0. */
static inline void dory_transpose_words(const struct dory_transpose *job)
{
    const uint8_t *input = job->input;
    uint8_t *output = job->output;
    uint32_t lane_bytes = job->lane_bytes;
    __asm__ volatile(
        ".option push\n"
        ".balign 4\n"
        ".option norvc\n" LP_SETUP("x0", "%[rows]", 18 + MORE_FOR_HIGH_PACKS(2),
                                   "1") P_LW_AT("t1", "%[offset1]", "%[input]") P_LW_AT("t2", "%[offset2]", "%[input]")
            P_LW_AT("t3", "%[offset3]", "%[input]") P_LW_STEP("t0", "%[row_bytes]", "%[input]") PV_PACK_H("t5", "t3", "t1")
                PV_PACK_H("t4", "t2", "t0") PV_PACK_H_H("a7", "t3", "t1") PV_PACK_H_H(
                    "t6", "t2", "t0") "mv a6, t4\n"
                                      "mv t0, t6\n" PV_SHUFFLE2_B("t4", "t5", "%[even]") PV_SHUFFLE2_B("a6", "t5", "%[odd]")
                                          PV_SHUFFLE2_B("t6", "a7", "%[even]") PV_SHUFFLE2_B("t0", "a7", "%[odd]")
                                              P_SW_STEP("t4", "%[lane_bytes]", "%[output]")
                                                  P_SW_STEP("a6", "%[lane_bytes]", "%[output]")
                                                      P_SW_STEP("t6", "%[lane_bytes]", "%[output]") "1: " P_SW_STEP(
                                                          "t0", "%[back]", "%[output]") ".option pop\n"
        : [input] "+r"(input), [output] "+r"(output)
        : [rows] "r"(job->rows), [offset1] "r"(job->offset[0]), [offset2] "r"(job->offset[1]), [offset3] "r"(job->offset[2]),
          [row_bytes] "r"(job->row_bytes), [lane_bytes] "r"(lane_bytes), [back] "r"(4 - 3 * lane_bytes),
          [even] "r"(0x06020400), [odd] "r"(0x07030501)
        : "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a6", "a7", "memory");
}

/* The same where pixels 2 and 3 do not matter: 12 instructions a row. */
static inline void dory_transpose_halves(const struct dory_transpose *job)
{
    const uint8_t *input = job->input;
    uint8_t *output = job->output;
    uint32_t lane_bytes = job->lane_bytes;
    __asm__ volatile(
        ".option push\n"
        ".balign 4\n"
        ".option norvc\n" LP_SETUP("x0", "%[rows]", 12, "1") P_LW_AT("t1", "%[offset1]", "%[input]") P_LW_STEP(
            "t0", "%[row_bytes]",
            "%[input]") "nop\n"
                        "mv t2, t0\n" PV_SHUFFLE2_B("t0", "t1", "%[low]") PV_SHUFFLE2_B("t2", "t1", "%[high]")
                            P_SW_STEP("t0", "%[lane_bytes]",
                                      "%[output]") "srli t0, t0, 16\n" P_SW_STEP("t0", "%[lane_bytes]", "%[output]")
                                P_SW_STEP("t2", "%[lane_bytes]", "%[output]") "srli t2, t2, 16\n"
                                                                              "1: " P_SW_STEP("t2", "%[back]",
                                                                                              "%[output]") ".option pop\n"
        : [input] "+r"(input), [output] "+r"(output)
        : [rows] "r"(job->rows), [offset1] "r"(job->offset[0]), [row_bytes] "r"(job->row_bytes),
          [lane_bytes] "r"(lane_bytes), [back] "r"(4 - 3 * lane_bytes), [low] "r"(0x05010400), [high] "r"(0x07030602)
        : "t0", "t1", "t2", "memory");
}

#else

static inline void dory_transpose_words(const struct dory_transpose *job)
{
    for (uint32_t row = 0; row < job->rows; row++) {
        const uint8_t *input = job->input + row * job->row_bytes;
        uint32_t p0 = dory_load_word(input), p1 = dory_load_word(input + job->offset[0]);
        uint32_t p2 = dory_load_word(input + job->offset[1]), p3 = dory_load_word(input + job->offset[2]);
        uint32_t low = pv_pack_h(p2, p0), low_odd = pv_pack_h(p3, p1);
        uint32_t high = pv_pack_h_h(p2, p0), high_odd = pv_pack_h_h(p3, p1);
        uint8_t *output = job->output + 4 * row;
        dory_store_word(output, pv_shuffle2_b(low, low_odd, 0x06020400));
        dory_store_word(output + job->lane_bytes, pv_shuffle2_b(low, low_odd, 0x07030501));
        dory_store_word(output + 2 * job->lane_bytes, pv_shuffle2_b(high, high_odd, 0x06020400));
        dory_store_word(output + 3 * job->lane_bytes, pv_shuffle2_b(high, high_odd, 0x07030501));
    }
}

static inline void dory_transpose_halves(const struct dory_transpose *job)
{
    for (uint32_t row = 0; row < job->rows; row++) {
        const uint8_t *input = job->input + row * job->row_bytes;
        uint32_t p0 = dory_load_word(input), p1 = dory_load_word(input + job->offset[0]);
        uint32_t low = pv_shuffle2_b(p0, p1, 0x05010400), high = pv_shuffle2_b(p0, p1, 0x07030602);
        uint8_t *output = job->output + 4 * row;
        dory_store_word(output, low);
        dory_store_word(output + job->lane_bytes, low >> 16);
        dory_store_word(output + 2 * job->lane_bytes, high);
        dory_store_word(output + 3 * job->lane_bytes, high >> 16);
    }
}

#endif

/* Any address, any number of lanes; slowly. */
void dory_transpose_bytes(const struct dory_transpose *job);

#endif
