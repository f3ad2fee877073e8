/* Computes one output of a line of a depth-wise layer for four channels, where fewer than four outputs are next to each
 * other.
 *
 * Inner loop: words of four pixels become a word of each lane, as in transpose.h: 22 instructions for 16 products. */
#include "line_sum.h"

#include "../transpose.h"
#include "dory/layer.h"

/* The taps of one output of a quad of channels, in groups of four. */
struct groups {
    const uint8_t *input, *weights;
    uint32_t count, rest;        /* whole groups, and whether there is one more of fewer taps, whose ... */
    uint32_t step, rest_step[2]; /* ... pixels lie so far apart, or are the same: weights of zero take it in vain */
    uint32_t lane_bytes;         /* of weights */
};

#if defined(DORY_XPULPV2)

/* clang-format off */

/* Four pixels become a word of each lane, as in transpose.h: 22 instructions for 16 products. */
#define ADD_GROUP(dot, label, step0, step1, step2)                                                                          \
    P_LW_STEP("t0", step0, "%[input]") P_LW_STEP("t1", step1, "%[input]")                                                   \
    P_LW_STEP("t2", step2, "%[input]") P_LW_STEP("t3", step2, "%[input]")                                                   \
    P_LW_STEP("a6", "%[lane]", "%[weights]") P_LW_STEP("a7", "%[lane]", "%[weights]")                                       \
    PV_PACK_H("t5", "t3", "t1") PV_PACK_H("t4", "t2", "t0")                                                                 \
    PV_PACK_H_H("t3", "t3", "t1") PV_PACK_H_H("t6", "t2", "t0")                                                             \
    "mv t1, t4\n"                                                                                                           \
    "mv t0, t6\n"                                                                                                           \
    P_LW_STEP("t2", "%[lane]", "%[weights]")                                                                                \
    PV_SHUFFLE2_B("t4", "t5", "%[even]") PV_SHUFFLE2_B("t1", "t5", "%[odd]")                                                \
    P_LW_STEP("t5", "%[back]", "%[weights]")                                                                                \
    PV_SHUFFLE2_B("t6", "t3", "%[even]") PV_SHUFFLE2_B("t0", "t3", "%[odd]")                                                \
    dot("%[s0]", "t4", "a6") dot("%[s1]", "t1", "a7") dot("%[s2]", "t6", "t2") label dot("%[s3]", "t0", "t5")

#define ADD_GROUPS(dot)                                                                                                       \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n"                                                                                                   \
        "beqz %[count], 2f\n"                                                                                              \
        LP_SETUP("x0", "%[count]", 22 + MORE_FOR_HIGH_PACKS(2), "1")                                                        \
        ADD_GROUP(dot, "1: ", "%[step]", "%[step]", "%[step]")                                                              \
        "2: beqz %[rest], 3f\n"                                                                                             \
        ADD_GROUP(dot, "", "%[rest0]", "%[rest1]", "x0")                                                                    \
        "3:\n"                                                                                                              \
        ".option pop\n"                                                                                                     \
        : [s0] "+r"(s0), [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3), [input] "+r"(input), [weights] "+r"(weights)          \
        : [count] "r"(groups->count), [rest] "r"(groups->rest), [step] "r"(groups->step), [rest0] "r"(groups->rest_step[0]),      \
          [rest1] "r"(groups->rest_step[1]), [lane] "r"(groups->lane_bytes), [back] "r"(4 - 3 * groups->lane_bytes),              \
          [even] "r"(0x06020400), [odd] "r"(0x07030501)                                                                     \
        : "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a6", "a7", "memory")

/* clang-format on */

static void add_groups(const struct groups *groups, int32_t sum[4], bool is_signed)
{
    const uint8_t *input = groups->input, *weights = groups->weights;
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    if (is_signed) {
        ADD_GROUPS(PV_SDOTSP_B);
    } else {
        ADD_GROUPS(PV_SDOTUSP_B);
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}

#else

static void add_groups(const struct groups *groups, int32_t sum[4], bool is_signed)
{
    const uint8_t *input = groups->input, *weights = groups->weights;
    sum[0] = sum[1] = sum[2] = sum[3] = 0;
    for (uint32_t group = 0; group < groups->count + (groups->rest != 0); group++, weights += 4) {
        bool is_rest = group == groups->count;
        uint32_t lane[4] = {0, 0, 0, 0};
        for (unsigned tap = 0; tap < 4; tap++) {
            uint32_t pixel = dory_load_word(input);
            input += !is_rest ? groups->step : tap < 2 ? groups->rest_step[tap] : 0;
            for (unsigned i = 0; i < 4; i++) {
                lane[i] |= (pixel >> 8 * i & 0xFF) << 8 * tap;
            }
        }
        for (unsigned i = 0; i < 4; i++) {
            uint32_t words = dory_load_word(weights + i * groups->lane_bytes);
            sum[i] = is_signed ? pv_sdotsp_b(sum[i], lane[i], words) : pv_sdotusp_b(sum[i], lane[i], words);
        }
    }
}

#endif

/* Words of four lanes. */
static inline void sum_words(const struct dory_line_taps *taps, const uint8_t *input, int32_t sum[4])
{
    uint32_t step = taps->pixel_step, rest = taps->kernel % 4;
    struct groups groups = {.input = input,
                            .weights = taps->weights,
                            .count = taps->kernel / 4,
                            .rest = rest,
                            .step = step,
                            .rest_step = {rest > 1 ? step : 0, rest > 2 ? step : 0},
                            .lane_bytes = dory_round_up(taps->kernel, 4)};
    add_groups(&groups, sum, taps->is_signed);
}

/* Fewer lanes, product by product: words would reach beyond the last pixel. */
static void sum_bytes(const struct dory_line_taps *taps, const uint8_t *input, int32_t sum[4])
{
    const int8_t *weights = (const int8_t *)taps->weights;
    for (uint32_t lane = 0; lane < taps->lanes; lane++, input++, weights += dory_round_up(taps->kernel, 4)) {
        const uint8_t *pixel = input;
        sum[lane] = 0;
        for (uint32_t tap = 0; tap < taps->kernel; tap++, pixel += taps->pixel_step) {
            sum[lane] += weights[tap] * (taps->is_signed ? (int8_t)*pixel : *pixel);
        }
    }
}

void dory_line_sum(const struct dory_line_taps *taps, const uint8_t *input, int32_t sum[4])
{
    if (taps->lanes == 4) {
        sum_words(taps, input, sum);
    } else {
        sum_bytes(taps, input, sum);
    }
}
