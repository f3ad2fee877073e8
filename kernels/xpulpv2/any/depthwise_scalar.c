/* Depth-wise layers that no other kernel takes: elements of 16 bits, dilations, kernels of any size. Four pixels of a
 * channel at a time, product by product: a weight and four elements are loaded for four products, 9 instructions. */
#include "../scratch.h"
#include "../walk.h"
#include "../xpulpv2.h"
#include "store.h"

struct scalar {
    struct dory_product product;
    uint32_t rows, columns;   /* of the kernel */
    int32_t step, row_step;   /* bytes of input from tap to tap; from behind the last of a row to the first of the next */
    uint32_t row_weights;     /* bytes that fill a row of weights up */
    uint32_t element_bytes;   /* of the input */
    uint32_t channel_weights; /* bytes of a channel's weights */
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
                                              P_SW_NEXT("a7", "%[sum]") "addi %[lanes], %[lanes], -1\n"                     \
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
    for (; sums->lanes > 0; sums->lanes--, sums->weights += work->channel_weights) {
        for (unsigned p = 0; p < 4; p++, sums->sum++) {
            *sums->sum = sum_pixel(work, sums->input[p], sums->weights);
            sums->input[p] += work->element_bytes;
        }
    }
}

#endif

/* From sums to elements, in place. */
static inline void normalise(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t lanes)
{
    const struct dory_normaliser kept = product->blocks.normaliser; /* in registers, whatever is stored */
    uint32_t bytes = dory_direct_constants_bytes(&kept);
    for (uint32_t lane = 0; lane < lanes; lane++, sum += 4) {
        if (kept.direct != DORY_NOT_DIRECT) {
            dory_normalise_in_its_kind(&kept, sum, 1, constants + lane * bytes);
        } else {
            dory_normalise_lane(&product->blocks.normaliser, constants, lane, sum, 1, 4);
        }
    }
}

/* From [lane][pixel] to where they belong. */
static inline void store(const struct dory_product *product, const int32_t *element, uint32_t index, uint32_t count,
                         uint32_t quad)
{
    uint32_t channels = product->blocks.channels;
    if (product->output_bits == 8 && count == 4 && 4 * quad + 4 <= channels) {
        uint8_t *output = product->output + index * channels + 4 * quad;
        for (uint32_t p = 0; p < 4; p++, element++, output += channels) {
            const int32_t pixel[4] = {element[0], element[4], element[8], element[12]};
            dory_store_word(output, dory_pack_bytes(pixel));
        }
        return;
    }
    int32_t block[16];
    for (uint32_t i = 0; i < 16; i++) {
        block[i] = element[i % 4 * 4 + i / 4];
    }
    dory_store_any(product, block, index, count, quad);
}

/* Four channels of the four pixels that start at `pixels`. */
static void compute_quad(const struct scalar *work, const struct dory_pixels *pixels, uint32_t index, uint32_t count,
                         uint32_t quad)
{
    const struct dory_product *product = &work->product;
    const uint8_t *weights = product->weights + quad * product->quad_bytes;
    const uint8_t *start = pixels->input + 4 * quad * work->element_bytes;
    uint32_t lanes = dory_minimum(4, product->blocks.channels - 4 * quad);
    int32_t sum[16];
    struct sums sums = {{start, start + pixels->offset[0] + 4, start + pixels->offset[1] + 4, start + pixels->offset[2] + 4},
                        weights,
                        lanes,
                        sum};
    sum_lanes(work, &sums);
    normalise(product, sum, weights + 4 * work->channel_weights, lanes);
    store(product, sum, index, count, quad);
}

static void scalar_start(struct scalar *work, const struct dory_layer *layer, const struct dory_tile *tile)
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
}

/* A core's share is a range of the grid of channel quads by pixel quads: cores that work at other channels load from other
 * banks of the memory, while all pixels of a channel are often in one. */
void dory_xpulpv2_depthwise_scalar(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                   unsigned cores)
{
    struct scalar work;
    scalar_start(&work, layer, tile);
    uint32_t pixel_count = work.product.pixel_count, pixel_quads = (pixel_count + 3) / 4;
    struct dory_grid_share share = dory_grid_share_of(work.product.quads, pixel_quads, core, cores);
    struct dory_tile bytes = *tile; /* whose pixels take as many bytes */
    bytes.input_channels = (uint16_t)(work.element_bytes * tile->channels);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, pixel_quads);
        struct dory_walk walk = dory_walk_from(layer, &bytes, 4 * share.first);
        for (uint32_t index = 4 * share.first; index < 4 * end; index += 4) {
            uint32_t count = dory_minimum(4, pixel_count - index);
            struct dory_pixels pixels;
            dory_walk_pixels(&walk, &pixels, count);
            compute_quad(&work, &pixels, index, count, share.row);
        }
        dory_grid_share_next_row(&share, end);
    }
}
