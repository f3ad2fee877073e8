/* Convolutions of few pixels, above all of one: a fully connected layer. One pixel times 8 channels: 9 loads for 8 dot products,
 * each core its own range of channels. */
#include "product.h"
#include "walk.h"
#include "xpulpv2.h"

/* Eight channels are two quads of the weight blob. */
struct position {
    const uint8_t *input, *first, *second;
};

#if defined(DORY_XPULPV2)

#define ACCUMULATE(add)                                                                                                \
    __asm__ volatile(".option push\n"                                                                                  \
                     ".balign 4\n"                                                                                     \
                     ".option norvc\n"                                                                                 \
                     LP_SETUP("x0", "%[words]", 17, "1")                                                               \
                     P_LW_NEXT("t0", "%[input]")                                                                       \
                     P_LW_NEXT("t1", "%[first]")                                                                       \
                     P_LW_NEXT("t2", "%[first]")                                                                       \
                     P_LW_NEXT("t3", "%[first]")                                                                       \
                     P_LW_NEXT("t4", "%[first]")                                                                       \
                     add("%[s0]", "t0", "t1") add("%[s1]", "t0", "t2") add("%[s2]", "t0", "t3")                        \
                     P_LW_NEXT("t1", "%[second]")                                                                      \
                     P_LW_NEXT("t2", "%[second]")                                                                      \
                     P_LW_NEXT("t3", "%[second]")                                                                      \
                     P_LW_NEXT("t5", "%[second]")                                                                      \
                     add("%[s3]", "t0", "t4") add("%[s4]", "t0", "t1") add("%[s5]", "t0", "t2") add("%[s6]", "t0", "t3") \
                     "1: " add("%[s7]", "t0", "t5")                                                                    \
                     ".option pop\n"                                                                                   \
                     : [s0] "+r"(sum[0]), [s1] "+r"(sum[1]), [s2] "+r"(sum[2]), [s3] "+r"(sum[3]), [s4] "+r"(sum[4]),  \
                       [s5] "+r"(sum[5]), [s6] "+r"(sum[6]), [s7] "+r"(sum[7]), [input] "+r"(at->input),               \
                       [first] "+r"(at->first), [second] "+r"(at->second)                                              \
                     : [words] "r"(words)                                                                              \
                     : "t0", "t1", "t2", "t3", "t4", "t5", "memory")

static inline void accumulate(int32_t sum[8], struct position *at, uint32_t words, bool is_signed)
{
    if (is_signed) {
        ACCUMULATE(PV_SDOTSP_B);
    } else {
        ACCUMULATE(PV_SDOTUSP_B);
    }
}

#else

static inline void accumulate(int32_t sum[8], struct position *at, uint32_t words, bool is_signed)
{
    for (; words > 0; words--, at->input += 4, at->first += 16, at->second += 16) {
        uint32_t x = dory_load_word(at->input);
        for (unsigned i = 0; i < 8; i++) {
            uint32_t w = dory_load_word((i < 4 ? at->first : at->second) + i % 4 * 4);
            sum[i] = is_signed ? pv_sdotsp_b(sum[i], x, w) : pv_sdotusp_b(sum[i], x, w);
        }
    }
}

#endif

/* One or two quads of one pixel; where there is one, it is computed twice. */
static void compute_quads(struct dory_product *product, const uint8_t *input, uint32_t pixel, uint32_t quad, uint32_t quads)
{
    const struct dory_blocks *blocks = &product->blocks;
    uint32_t quad_bytes = product->quad_bytes;
    struct position at = {.input = input, .first = product->weights + quad * quad_bytes};
    int32_t sum[8] = {0};
    at.second = quads > 1 ? at.first + quad_bytes : at.first;
    accumulate(sum, &at, blocks->words, product->input_is_signed);
    for (uint32_t run = blocks->more_runs; run > 0; run--) {
        at.input += blocks->jump;
        accumulate(sum, &at, blocks->words, product->input_is_signed);
    }
    int32_t kept[8] = {sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], sum[7]};
    for (uint32_t i = 0; i < quads; i++) {
        dory_product_finish(product, kept + 4 * i, i ? at.second : at.first, pixel, 1, quad + i);
    }
}

void dory_xpulpv2_linear(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t run_bytes = (uint32_t)layer->kernel_width * tile->input_channels;
    uint32_t row_bytes = (uint32_t)tile->input_columns * tile->input_channels;
    struct dory_product product;
    dory_product_start(&product, layer, tile, run_bytes, layer->kernel_height, row_bytes * layer->dilation_height - run_bytes);
    struct dory_grid_share share = dory_grid_share_of(product.pixel_count, product.quads, core, cores);
    struct dory_walk walk = dory_walk_from(layer, tile, share.row);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, product.quads);
        for (uint32_t quad = share.first; quad < end; quad += 2) {
            compute_quads(&product, walk.input, share.row, quad, dory_minimum(2, end - quad));
        }
        dory_walk_on(&walk);
        dory_grid_share_next_row(&share, end);
    }
}
