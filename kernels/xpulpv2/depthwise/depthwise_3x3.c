/* Computes depth-wise layers 3x3 of unsigned bytes, stride 1 or 2. Input and output HWC.
 *
 * A strip is four columns of four channels, computed from top to bottom; transposes make words of four columns of one
 * channel. Columns of a strip that do not exist go where an existing one is written afterwards. Inner loop:
 * depthwise_3x3.h. */
#include "../xpulpv2.h"
#include "depthwise.h"

#if defined(DORY_XPULPV2)

/* clang-format off */

/* a0, a1 and a7: words of the units, whose rows and lanes follow each other. a6: selector. */
#define STEP_1 "s9"
#define STEP_2 "s10"
#define LOAD_OWN                                                                                                            \
    "lw s9, %[step1]\n"                                                                                                     \
    "lw s10, %[step2]\n"                                                                                                    \
    "lw a0, %[unit0]\n"                                                                                                     \
    "lw a1, %[unit1]\n"                                                                                                     \
    "lw a7, %[unit2]\n"                                                                                                     \
    "li a6, 0x01000706\n"

/* Stride 1: the word at column 2 is a shuffle of two words. */
#define LOAD_ROW(left, right)     P_LW_NEXT(right, "a1") P_LW_NEXT(left, "a0")
#define ALIGN_ROW(left, right, free) PV_SHUFFLE2_B(right, left, "a6")
#define INSTRUCTIONS_OF_ALIGN_ROW 1

/* Stride 2: outputs 0 and 2 read the words at columns 0 and 4, outputs 1 and 3 words between. */
#define START_STRIDE_2(way) "li a6, 0x05040302\n"
#define START_LANE_STRIDE_2(way) ""
#define INSTRUCTIONS_OF_START_LANE(way) 0
#define INPUT_ROW(way, dot, a, b, c, d, next_a, next_b, next_c, next_d)                                                     \
    P_LW_NEXT("t0", "a0") P_LW_NEXT("t1", "a1") P_LW_NEXT("t2", "a7")                                                       \
    dot(a, next_a, "t0", NEAR) PV_SHUFFLE2_B("t0", "t1", "a6") dot(c, next_c, "t1", NEAR) PV_SHUFFLE2_B("t1", "t2", "a6")   \
    dot(b, next_b, "t0", NEAR) dot(d, next_d, "t1", NEAR)
#define INSTRUCTIONS_OF_INPUT_ROW(way) 9

#define NEXT_CHANNEL          "nop\n"
#define NEXT_CHANNEL_STRIDE_2 NEXT_CHANNEL
#define AGAIN(label) "bnez t6, " label "\n"
#define OWN_OPERANDS                                                                                                        \
    FINISH_OPERANDS(*dory_normaliser_of(work)),                                                                             \
    [step0] "m"(strip->own.step[0]), [step1] "m"(strip->own.step[1]),           \
        [step2] "m"(strip->own.step[2]), [row_step] "m"(strip->own.row_step), [rounds] "m"(strip->own.rounds),              \
        [rest] "m"(strip->own.rest), [unit0] "m"(strip->unit[0]), [unit1] "m"(strip->unit[1]), [unit2] "m"(strip->unit[2])

/* clang-format on */

#endif

#include "depthwise_3x3.h"
#include "quads.h"

#if defined(DORY_XPULPV2)

/* `kind` is a constant. */
static inline __attribute__((always_inline)) void compute(const struct dory_depthwise *work, const struct dory_strip *strip,
                                                          struct dory_lanes *lanes, uint32_t stride, enum dory_direct kind)
{
    if (stride == 1) {
        COMPUTE(COMPUTE_STRIDE_1, ALIGN, kind);
    } else {
        COMPUTE(COMPUTE_STRIDE_2, ALIGN, kind);
    }
}

#else

/* The four sums of one output row; `offset` is that of its first input row in the units. */
static void sum_row(int32_t sum[4], const struct dory_strip *strip, const uint8_t *weights, uint32_t offset, unsigned stride)
{
    for (unsigned i = 0; i < 4; i++) {
        uint32_t column = i * stride, unit = column / 4;
        sum[i] = 0;
        for (unsigned ky = 0; ky < 3; ky++) {
            uint32_t first = dory_load_word(strip->unit[unit] + offset + 4 * ky);
            uint32_t second = column % 4 == 0 ? 0 : dory_load_word(strip->unit[unit + 1] + offset + 4 * ky);
            uint64_t both = (uint64_t)second << 32 | first;
            sum[i] = pv_sdotusp_b(sum[i], (uint32_t)(both >> (8 * (column % 4))), dory_load_word(weights + 4 * ky));
        }
    }
}

static void compute_lane(const struct dory_depthwise *work, const struct dory_strip *strip, const struct dory_lanes *lanes,
                         unsigned stride, uint32_t offset)
{
    uint8_t *output = lanes->output;
    for (uint32_t row = 0; row < strip->rows; row++, output += strip->own.row_step) {
        int32_t sum[4];
        sum_row(sum, strip, lanes->weights, offset + 4 * row * stride, stride);
        dory_normalise_in_its_kind(dory_normaliser_of(work), sum, 1, 4, lanes->constants);
        for (unsigned i = 3; i > 0; output += strip->own.step[3 - i], i--) {
            *output = (uint8_t)sum[i];
        }
        *output = (uint8_t)sum[0];
    }
}

static void compute(const struct dory_depthwise *work, const struct dory_strip *strip, struct dory_lanes *lanes,
                    uint32_t stride, enum dory_direct kind)
{
    (void)kind;
    for (uint32_t offset = 0; lanes->left > 0; lanes->left--) {
        compute_lane(work, strip, lanes, stride, offset);
        offset += 4 * strip->input_rows;
        lanes->weights += 12;
        lanes->constants += dory_direct_constants_bytes(dory_normaliser_of(work));
        lanes->output++;
    }
}

#endif

/* The order of writing, for a strip of so many columns. */
static inline void set_steps(const struct dory_depthwise *work, struct dory_strip *strip, int32_t channels, int32_t last)
{
    strip->own.step[0] = last > 2 ? -channels : 0;
    strip->own.step[1] = last > 1 ? -channels : 0;
    strip->own.step[2] = last > 0 ? -channels : 0;
    strip->own.row_step = ((int32_t)work->columns + last) * channels;
}

static inline __attribute__((always_inline)) void compute_strip(const struct dory_depthwise *work, struct dory_strip *strip,
                                                                uint32_t stride, enum dory_direct kind)
{
    int32_t channels = (int32_t)work->channels, last = (int32_t)strip->columns - 1;
    if (strip->new_band) {
        strip->own.rounds = dory_rounds(strip->rows, stride, &strip->own.rest);
    }
    if (strip->new_band || last < 3) {
        set_steps(work, strip, channels, last);
    }
    struct dory_lanes lanes;
    lanes.weights = strip->weights;
    lanes.constants = strip->constants;
    lanes.output = strip->output + last * channels;
    lanes.left = strip->lanes;
    compute(work, strip, &lanes, stride, kind);
}

/* One function for each stride and kind of normalisation, so that a network has only what it needs. */
#define KERNEL(name, units, stride, kind)                                                                                   \
    static inline void strip_of_##name(const struct dory_depthwise *work, struct dory_strip *strip)                         \
    {                                                                                                                       \
        compute_strip(work, strip, stride, kind);                                                                           \
    }                                                                                                                       \
    void dory_xpulpv2_depthwise_3x3_##name(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,     \
                                           unsigned cores)                                                                  \
    {                                                                                                                       \
        dory_depthwise_run(layer, tile, core, cores, units, stride, strip_of_##name);                                       \
    }

KERNEL(stride_1, 2, 1, DORY_DIRECT)
KERNEL(stride_1_clamped, 2, 1, DORY_DIRECT_CLAMPED)
KERNEL(stride_1_split, 2, 1, DORY_DIRECT_SPLIT)
KERNEL(stride_1_high_away, 2, 1, DORY_DIRECT_HIGH_AWAY)
KERNEL(stride_2, 3, 2, DORY_DIRECT)
KERNEL(stride_2_clamped, 3, 2, DORY_DIRECT_CLAMPED)
KERNEL(stride_2_split, 3, 2, DORY_DIRECT_SPLIT)
KERNEL(stride_2_high_away, 3, 2, DORY_DIRECT_HIGH_AWAY)
