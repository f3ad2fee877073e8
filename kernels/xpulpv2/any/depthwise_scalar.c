/* Computes depth-wise layers that no other kernel takes: elements of 16 bits, dilations. Shapes: kernels of any size and
 * stride, HWC. Four pixels at a time.
 *
 * Inner loop, 16 bits and an even number of channels: a word is an element of two channels. Words of two taps are packed to
 * pairs of one channel; a tap pair takes each pixel 2 loads, 2 packs and 2 dot products. Others: a weight and four elements
 * are loaded for four products. 3x3 has a loop of its own, nine_taps.h. */
#include "../scratch.h"
#include "../walk.h"
#include "../xpulpv2.h"
#include "nine_taps.h"
#include "store.h"

#define PIXELS DORY_SUMS_PIXELS

struct scalar {
    struct dory_product product;
    uint32_t rows, columns;   /* of the kernel */
    int32_t step, row_step;   /* bytes of input from tap to tap; from behind the last of a row to the first of the next */
    uint32_t row_weights;     /* bytes that fill a row of weights up */
    uint32_t element_bytes;   /* of the input */
    uint32_t channel_weights; /* bytes of a channel's weights */
    uint32_t pairs;           /* of taps, or 0 where all is done product by product */
    uint32_t *offsets;        /* of either tap of a pair, from a pixel's first tap */
    uint16_t *pair_weights;   /* of two channels [pair][channel][tap], twice */
};

/* What four pixels' sums are made of, channel by channel. */
struct sums {
    const uint8_t *input[4];
    const uint8_t *weights;
    uint32_t lanes;
    int32_t *sum; /* [lane][pixel] */
};

#if defined(DORY_XPULPV2)

/* a0 to a3 are the pixels, a4 the weights; t0 to t4 a weight and four elements. */
#define SUM(load, element_bytes)                                                                                            \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n"                                                                                                   \
        "0: mv a0, %[p0]\n"                                                                                                 \
        "mv a1, %[p1]\n"                                                                                                    \
        "mv a2, %[p2]\n"                                                                                                    \
        "mv a3, %[p3]\n"                                                                                                    \
        "li a4, 0\n"                                                                                                        \
        "li a5, 0\n"                                                                                                        \
        "li a6, 0\n"                                                                                                        \
        "li a7, 0\n" LP_SETUP("x1", "%[rows]", 15, "2") LP_SETUP("x0", "%[columns]", 9, "1") P_LB_NEXT("t0", "%[weights]")  \
            load("t1", "%[step]", "a0") load("t2", "%[step]", "a1") load("t3", "%[step]", "a2") load("t4", "%[step]", "a3") \
                P_MAC("a4", "t1", "t0") P_MAC("a5", "t2", "t0") P_MAC("a6", "t3", "t0") "1: " P_MAC(                        \
                    "a7", "t4", "t0") "add a0, a0, %[row_step]\n"                                                           \
                                      "add a1, a1, %[row_step]\n"                                                           \
                                      "add a2, a2, %[row_step]\n"                                                           \
                                      "add a3, a3, %[row_step]\n"                                                           \
                                      "2: add %[weights], %[weights], %[row_weights]\n" P_SW_NEXT("a4", "%[sum]")           \
                                          P_SW_NEXT("a5", "%[sum]") P_SW_NEXT("a6", "%[sum]")                               \
                                              P_SW_NEXT("a7", "%[sum]") "addi %[sum], %[sum], 48\n"                         \
                                                                        "addi %[lanes], %[lanes], -1\n"                     \
                                                                        "addi %[p0], %[p0], " #element_bytes "\n"           \
                                                                        "addi %[p1], %[p1], " #element_bytes "\n"           \
                                                                        "addi %[p2], %[p2], " #element_bytes "\n"           \
                                                                        "addi %[p3], %[p3], " #element_bytes "\n"           \
                                                                        "bnez %[lanes], 0b\n"                               \
                                                                        ".option pop\n"                                     \
        : [weights] "+r"(sums->weights), [p0] "+r"(sums->input[0]), [p1] "+r"(sums->input[1]), [p2] "+r"(sums->input[2]),   \
          [p3] "+r"(sums->input[3]), [sum] "+r"(sums->sum), [lanes] "+r"(sums->lanes)                                       \
        : [rows] "r"(work->rows), [columns] "r"(work->columns), [step] "r"(work->step), [row_step] "r"(work->row_step),     \
          [row_weights] "r"(work->row_weights)                                                                              \
        : "t0", "t1", "t2", "t3", "t4", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "memory")

static __attribute__((noinline)) void sum_lanes(const struct scalar *work, struct sums *sums)
{
    bool is_signed = work->product.input_is_signed;
    if (work->element_bytes == 2) {
        if (is_signed) {
            SUM(P_LH_STEP, 2);
        } else {
            SUM(P_LHU_STEP, 2);
        }
    } else if (is_signed) {
        SUM(P_LB_STEP, 1);
    } else {
        SUM(P_LBU_STEP, 1);
    }
}

#else

static int32_t element_at(const struct scalar *work, const uint8_t *input)
{
    bool is_signed = work->product.input_is_signed;
    uint16_t half;
    if (work->element_bytes == 1) {
        return is_signed ? (int8_t)*input : *input;
    }
    memcpy(&half, input, sizeof half);
    return is_signed ? (int16_t)half : half;
}

static int32_t sum_pixel(const struct scalar *work, const uint8_t *input, const uint8_t *weights)
{
    int32_t sum = 0;
    for (uint32_t row = 0; row < work->rows; row++, weights += work->row_weights, input += work->row_step) {
        for (uint32_t column = 0; column < work->columns; column++, weights++, input += work->step) {
            sum = p_mac(sum, element_at(work, input), (int8_t)*weights);
        }
    }
    return sum;
}

static void sum_lanes(const struct scalar *work, struct sums *sums)
{
    for (; sums->lanes > 0; sums->lanes--, sums->weights += work->channel_weights, sums->sum += PIXELS) {
        for (unsigned p = 0; p < 4; p++) {
            sums->sum[p] = sum_pixel(work, sums->input[p], sums->weights);
            sums->input[p] += work->element_bytes;
        }
    }
}

#endif

/* ---- taps in pairs --------------------------------------------------------------------------------------------- */

#if defined(DORY_XPULPV2)

/* a0 to a3 are the pixels, a4 offsets, a5 weights; a6 and a7 the offsets of a pair, t0 and t1 its weights; t2 to t6 what is
 * read of two pixels; s2 to s9 sums. */
#define PAIR_OF(dot, first, second, sum, other)                                                                             \
    PV_PACK_H("t6", second, first) PV_PACK_H_H(first, second, first) dot(sum, "t6", "t0") dot(other, first, "t1")

#define TWO_PIXELS(dot, a, b, sum_a, other_a, sum_b, other_b)                                                               \
    P_LW_AT("t2", "a6", a)                                                                                                  \
    P_LW_AT("t3", "a7", a)                                                                                                  \
    P_LW_AT("t4", "a6", b)                                                                                                  \
    P_LW_AT("t5", "a7", b) PAIR_OF(dot, "t2", "t3", sum_a, other_a) PAIR_OF(dot, "t4", "t5", sum_b, other_b)

#define BODY (28 + MORE_FOR_HIGH_PACKS(4)) /* instructions of its inner loop */
#define SUM_PAIRS(dot)                                                                                                      \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n"                                                                                      \
                     "lw a0, %[p0]\n"                                                                                       \
                     "lw a1, %[p1]\n"                                                                                       \
                     "lw a2, %[p2]\n"                                                                                       \
                     "lw a3, %[p3]\n"                                                                                       \
                     "lw a5, %[weights]\n"                                                                                  \
                     "lw s10, %[sum]\n"                                                                                     \
                     "lw s11, %[lanes]\n"                                                                                   \
                     "0: lw a4, %[offsets]\n"                                                                               \
                     "lw t0, %[pairs]\n"                                                                                    \
                     "li s2, 0\n"                                                                                           \
                     "li s3, 0\n"                                                                                           \
                     "li s4, 0\n"                                                                                           \
                     "li s5, 0\n"                                                                                           \
                     "li s6, 0\n"                                                                                           \
                     "li s7, 0\n"                                                                                           \
                     "li s8, 0\n"                                                                                           \
                     "li s9, 0\n" LP_SETUP("x0", "t0", BODY, "1") P_LW_NEXT("a6", "a4") P_LW_NEXT("a7", "a4")               \
                         P_LW_NEXT("t0", "a5") P_LW_NEXT("t1", "a5") TWO_PIXELS(dot, "a0", "a1", "s2", "s6", "s3", "s7")    \
                             P_LW_AT("t2", "a6", "a2") P_LW_AT("t3", "a7", "a2") P_LW_AT("t4", "a6", "a3")                  \
                                 P_LW_AT("t5", "a7", "a3") PAIR_OF(dot, "t2", "t3", "s4", "s8") PV_PACK_H("t6", "t5", "t4") \
                                     PV_PACK_H_H("t4", "t5", "t4")                                                          \
                                         dot("s5", "t6", "t0") "1: " dot("s9", "t4", "t1") "addi a0, a0, 4\n"               \
                                                                                           "addi a1, a1, 4\n"               \
                                                                                           "addi a2, a2, 4\n"               \
                                                                                           "addi a3, a3, 4\n"               \
                                                                                           "sw s2, 0(s10)\n"                \
                                                                                           "sw s3, 4(s10)\n"                \
                                                                                           "sw s4, 8(s10)\n"                \
                                                                                           "sw s5, 12(s10)\n"               \
                                                                                           "sw s6, 64(s10)\n"               \
                                                                                           "sw s7, 68(s10)\n"               \
                                                                                           "sw s8, 72(s10)\n"               \
                                                                                           "sw s9, 76(s10)\n"               \
                                                                                           "addi s10, s10, 128\n"           \
                                                                                           "addi s11, s11, -2\n"            \
                                                                                           "bnez s11, 0b\n"                 \
                                                                                           ".option pop\n"                  \
                     :                                                                                                      \
                     : [p0] "m"(sums->input[0]), [p1] "m"(sums->input[1]), [p2] "m"(sums->input[2]),                        \
                       [p3] "m"(sums->input[3]), [offsets] "m"(work->offsets), [weights] "m"(work->pair_weights),           \
                       [pairs] "m"(work->pairs), [sum] "m"(sums->sum), [lanes] "m"(sums->lanes)                             \
                     : "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2",      \
                       "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "memory")

static __attribute__((noinline)) void sum_in_pairs(const struct scalar *work, const struct sums *sums)
{
    if (work->product.input_is_signed) {
        SUM_PAIRS(PV_SDOTSP_H);
    } else {
        SUM_PAIRS(PV_SDOTUSP_H);
    }
}

#else

static void sum_in_pairs(const struct scalar *work, const struct sums *sums)
{
    for (uint32_t lane = 0; lane < sums->lanes; lane++) {
        const uint16_t *weights = work->pair_weights + lane / 2 * 4 * work->pairs + lane % 2 * 2;
        for (unsigned p = 0; p < 4; p++) {
            int32_t sum = 0;
            for (uint32_t tap = 0; tap < 2 * work->pairs; tap++) {
                int32_t element = element_at(work, sums->input[p] + work->offsets[tap] + 2 * lane);
                sum = p_mac(sum, element, (int16_t)weights[tap / 2 * 4 + tap % 2]);
            }
            sums->sum[lane * PIXELS + p] = sum;
        }
    }
}

#endif

/* ---- nine taps ---------------------------------------------------------------------------------------------- */

/* So many pixels of a quad of channels, row by row. */
static void sum_in_rows(const struct scalar *work, struct dory_walk *walk, uint32_t quad, uint32_t lanes, uint32_t count,
                        int32_t *sum)
{
    int32_t row_bytes = work->row_step + 3 * work->step;
    while (count > 0) {
        uint32_t run = dory_minimum(count, walk->columns - walk->column);
        const uint8_t *start = walk->input + 4 * quad * work->element_bytes;
        struct dory_nine_taps nine = {{start, start + row_bytes, start + 2 * row_bytes},
                                      work->step,
                                      walk->step - 2 * work->step,
                                      work->pair_weights,
                                      sum,
                                      run};
        for (uint32_t lane = 0; lane < lanes; lane += 2) {
            dory_sum_nine_taps(&nine, work->product.input_is_signed);
            nine.row[0] += 4;
            nine.row[1] += 4;
            nine.row[2] += 4;
            nine.weights += 4 * work->pairs;
            nine.sum += 2 * PIXELS;
        }
        count -= run;
        sum += run;
        walk->input += (int32_t)run * walk->step;
        walk->column += run;
        if (walk->column == walk->columns) {
            walk->column = 0;
            walk->input += walk->row_step;
        }
    }
}

/* An odd last tap is read twice, the second time by a weight of zero. */
static void start_pairs(const struct scalar *work)
{
    uint32_t *offset = work->offsets, tap = 0;
    for (uint32_t row = 0; row < work->rows; row++, tap += (uint32_t)work->row_step) {
        for (uint32_t column = 0; column < work->columns; column++, tap += (uint32_t)work->step) {
            *offset++ = tap;
        }
    }
    if ((work->rows * work->columns) % 2 != 0) {
        *offset = offset[-1];
    }
}

/* Bytes of weights as halves, those of a tap that is not there as zero. */
static void spread_weights(const struct scalar *work, const uint8_t *weights)
{
    uint16_t *pair = work->pair_weights;
    for (uint32_t lane = 0; lane < 4; lane++) {
        uint16_t *half = pair + lane / 2 * 4 * work->pairs + lane % 2 * 2;
        uint32_t tap = 0;
        for (uint32_t row = 0; row < work->rows; row++, weights += work->row_weights) {
            for (uint32_t column = 0; column < work->columns; column++, tap++, weights++) {
                half[tap / 2 * 4 + tap % 2] = (uint16_t)(int8_t)*weights;
            }
        }
        if (tap % 2 != 0) {
            half[tap / 2 * 4 + 1] = 0;
        }
    }
}

/* ---- four pixels of a quad of channels -------------------------------------------------------------------------- */

static inline void sum_four(const struct scalar *work, const struct dory_pixels *pixels, uint32_t quad, uint32_t lanes,
                            int32_t *sum)
{
    const struct dory_product *product = &work->product;
    const uint8_t *start = pixels->input + 4 * quad * work->element_bytes;
    struct sums sums = {{start, start + pixels->offset[0] + 4, start + pixels->offset[1] + 4, start + pixels->offset[2] + 4},
                        product->weights + quad * product->quad_bytes,
                        lanes,
                        sum};
    if (work->pairs != 0) {
        sum_in_pairs(work, &sums);
    } else {
        sum_lanes(work, &sums);
    }
}

static void sum_in_fours(const struct scalar *work, struct dory_walk *walk, uint32_t quad, uint32_t lanes, uint32_t count,
                         int32_t *sum)
{
    for (uint32_t i = 0; i < count; i += 4) {
        struct dory_pixels pixels;
        dory_walk_pixels(walk, &pixels, dory_minimum(4, count - i));
        sum_four(work, &pixels, quad, lanes, sum + i);
    }
}

static void scalar_start(struct scalar *work, const struct dory_layer *layer, const struct dory_tile *tile, unsigned core)
{
    uint32_t width = layer->kernel_width, row_bytes = dory_round_up(width, 4);
    work->element_bytes = layer->input_bits / 8;
    uint32_t pixel_bytes = work->element_bytes * tile->channels;
    /* as a product whose quads have as many bytes; nothing but its start and its end is used */
    dory_product_start(&work->product, layer, tile, dory_direct_of(layer), row_bytes, layer->kernel_height, 0);
    work->rows = layer->kernel_height;
    work->columns = width;
    work->step = (int32_t)(layer->dilation_width * pixel_bytes);
    work->row_step = (int32_t)(layer->dilation_height * tile->input_columns * pixel_bytes) - (int32_t)width * work->step;
    work->row_weights = row_bytes - width;
    work->channel_weights = layer->kernel_height * row_bytes;
    work->pairs = dory_scalar_pairs(layer, tile->channels);
    work->offsets = (uint32_t *)tile->scratch + core * dory_scalar_core_bytes(work->pairs) / 4;
    work->pair_weights = (uint16_t *)(work->offsets + 2 * work->pairs);
    if (work->pairs != 0) {
        start_pairs(work);
    }
}

/* Pixels `first` to `end` - 1 of a quad of channels. */
static void compute_quad(const struct scalar *work, struct dory_walk *walk, uint32_t first, uint32_t end, uint32_t quad)
{
    uint32_t lanes = dory_minimum(4, work->product.blocks.channels - 4 * quad);
    int32_t sum[4 * PIXELS];
    const uint8_t *weights = work->product.weights + quad * work->product.quad_bytes,
                  *constants = weights + 4 * work->channel_weights;
    if (work->pairs != 0) {
        spread_weights(work, weights);
    }
    while (first < end) {
        uint32_t count = dory_minimum(PIXELS, end - first);
        if (work->pairs != 0 && work->rows == 3 && work->columns == 3) {
            sum_in_rows(work, walk, quad, lanes, count, sum);
        } else {
            sum_in_fours(work, walk, quad, lanes, count, sum);
        }
        dory_finish_sums(&work->product, sum, PIXELS, 1, constants, first, count, quad);
        first += count;
    }
}

/* A core's share is a range of the grid of channel quads by pixel quads: cores that work at other channels load from other
 * banks of the memory, while all pixels of a channel are often in one. */
void dory_xpulpv2_depthwise_scalar(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                   unsigned cores)
{
    struct scalar work;
    scalar_start(&work, layer, tile, core);
    uint32_t pixel_count = work.product.pixel_count, pixel_quads = (pixel_count + 3) / 4;
    struct dory_grid_share share = dory_grid_share_of(work.product.quads, pixel_quads, core, cores);
    struct dory_tile bytes = *tile; /* whose pixels take as many bytes */
    bytes.input_channels = (uint16_t)(work.element_bytes * tile->channels);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, pixel_quads);
        struct dory_walk walk = dory_walk_from(layer, &bytes, 4 * share.first);
        compute_quad(&work, &walk, 4 * share.first, dory_minimum(4 * end, pixel_count), share.row);
        dory_grid_share_next_row(&share, end);
    }
}
