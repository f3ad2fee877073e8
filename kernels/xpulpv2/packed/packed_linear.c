/* Convolutions of few pixels, as in linear.c, with weights of 4 and 2 bits; see packed.h. */
#include "../walk.h"
#include "../xpulpv2.h"
#include "packed.h"

/* Adds to each of four sums the dot products of `words` words of input with the weights beside them; both addresses move
 * on. 4 bits: 11 instructions for 16 MAC, and sums of 16 times the products. 2 bits: 13 instructions. */
typedef void dots(int32_t sum[4], const uint8_t **input, const uint8_t **weights, uint32_t words, bool is_signed);

#if defined(DORY_XPULPV2)

#define DOTS(instructions, unpack, add)                                                                                     \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n" LP_SETUP("x0", "%[words]", instructions, "1") unpack add("%[s0]", "t4", "t0")        \
                         add("%[s1]", "t4", "t1") add("%[s2]", "t4", "t2") "1: " add("%[s3]", "t4", "t3") ".option pop\n"   \
                     : [s0] "+r"(sum[0]), [s1] "+r"(sum[1]), [s2] "+r"(sum[2]), [s3] "+r"(sum[3]), [input] "+r"(*input),    \
                       [weights] "+r"(*weights)                                                                             \
                     : [words] "r"(words)                                                                                   \
                     : "t0", "t1", "t2", "t3", "t4", "memory")

#define UNPACK_4                                                                                                            \
    P_LW_NEXT("t0", "%[weights]")                                                                                           \
    P_LW_NEXT("t2", "%[weights]")                                                                                           \
    P_LW_NEXT("t4", "%[input]")                                                                                             \
    PV_AND_B("t1", "t0", -16)                                                                                               \
    PV_SLL_B("t0", "t0", 4)                                                                                                 \
    PV_AND_B("t3", "t2", -16)                                                                                               \
    PV_SLL_B("t2", "t2", 4)

#define UNPACK_2                                                                                                            \
    P_LW_NEXT("t3", "%[weights]")                                                                                           \
    P_LW_NEXT("t4", "%[input]")                                                                                             \
    PV_SLL_B("t0", "t3", 6)                                                                                                 \
    PV_SLL_B("t1", "t3", 4)                                                                                                 \
    PV_SLL_B("t2", "t3", 2)                                                                                                 \
    PV_SRA_B("t0", "t0", 6)                                                                                                 \
    PV_SRA_B("t1", "t1", 6)                                                                                                 \
    PV_SRA_B("t2", "t2", 6)                                                                                                 \
    PV_SRA_B("t3", "t3", 6)

static inline __attribute__((always_inline)) void dots_4(int32_t sum[4], const uint8_t **input, const uint8_t **weights,
                                                         uint32_t words, bool is_signed)
{
    if (is_signed) {
        DOTS(11, UNPACK_4, PV_SDOTSP_B);
    } else {
        DOTS(11, UNPACK_4, PV_SDOTUSP_B);
    }
}

static inline __attribute__((always_inline)) void dots_2(int32_t sum[4], const uint8_t **input, const uint8_t **weights,
                                                         uint32_t words, bool is_signed)
{
    if (is_signed) {
        DOTS(13, UNPACK_2, PV_SDOTSP_B);
    } else {
        DOTS(13, UNPACK_2, PV_SDOTUSP_B);
    }
}

#else

static inline void add_dots(int32_t sum[4], uint32_t x, const uint32_t word[4], bool is_signed)
{
    for (unsigned i = 0; i < 4; i++) {
        sum[i] = is_signed ? pv_sdotsp_b(sum[i], x, word[i]) : pv_sdotusp_b(sum[i], x, word[i]);
    }
}

static inline void dots_4(int32_t sum[4], const uint8_t **input, const uint8_t **weights, uint32_t words, bool is_signed)
{
    for (; words > 0; words--, *input += 4, *weights += 8) {
        uint32_t a = dory_load_word(*weights), b = dory_load_word(*weights + 4);
        const uint32_t word[4] = {a << 4 & 0xF0F0F0F0, a & 0xF0F0F0F0, b << 4 & 0xF0F0F0F0, b & 0xF0F0F0F0};
        add_dots(sum, dory_load_word(*input), word, is_signed);
    }
}

static inline void dots_2(int32_t sum[4], const uint8_t **input, const uint8_t **weights, uint32_t words, bool is_signed)
{
    for (; words > 0; words--, *input += 4, *weights += 4) {
        uint32_t a = dory_load_word(*weights);
        const uint32_t word[4] = {dory_signed_field_0_2(a), dory_signed_field_2_2(a), dory_signed_field_4_2(a),
                                  dory_signed_field_6_2(a)};
        add_dots(sum, dory_load_word(*input), word, is_signed);
    }
}

#endif

static inline __attribute__((always_inline)) void compute_quad(const struct dory_product *product, const uint8_t *input,
                                                               uint32_t pixel, uint32_t quad, dots *add, uint32_t scale_log2)
{
    const struct dory_blocks *blocks = &product->blocks;
    const uint8_t *weights = product->weights + quad * product->quad_bytes;
    bool is_signed = product->input_is_signed;
    int32_t sum[4] = {0};
    add(sum, &input, &weights, blocks->words, is_signed);
    for (uint32_t run = blocks->more_runs; run > 0; run--) {
        input += blocks->jump;
        add(sum, &input, &weights, blocks->words, is_signed);
    }
    int32_t kept[4] = {sum[0] >> scale_log2, sum[1] >> scale_log2, sum[2] >> scale_log2, sum[3] >> scale_log2};
    dory_packed_finish(product, kept, weights, pixel, 1, quad);
}

static inline __attribute__((always_inline)) void compute(const struct dory_layer *layer, const struct dory_tile *tile,
                                                          unsigned core, unsigned cores, dots *add, uint32_t scale_log2)
{
    uint32_t run_bytes = (uint32_t)layer->kernel_width * tile->input_channels;
    uint32_t row_bytes = (uint32_t)tile->input_columns * tile->input_channels;
    struct dory_product product;
    dory_product_start(&product, layer, tile, DORY_NOT_DIRECT, run_bytes, layer->kernel_height,
                       row_bytes * layer->dilation_height - run_bytes);
    struct dory_grid_share share = dory_grid_share_of(product.pixel_count, product.quads, core, cores);
    struct dory_walk walk = dory_walk_from(layer, tile, share.row);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, product.quads);
        for (uint32_t quad = share.first; quad < end; quad++) {
            compute_quad(&product, walk.input, share.row, quad, add, scale_log2);
        }
        dory_walk_on(&walk);
        dory_grid_share_next_row(&share, end);
    }
}

void dory_xpulpv2_packed_linear_4(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                  unsigned cores)
{
    compute(layer, tile, core, cores, dots_4, 4);
}

void dory_xpulpv2_packed_linear_2(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                  unsigned cores)
{
    compute(layer, tile, core, cores, dots_2, 0);
}
