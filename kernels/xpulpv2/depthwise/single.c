/* Computes depth-wise layers of bytes with one output pixel, as at the end of a network or of a line. Shapes: any kernel;
 * HWC.
 *
 * Each core takes a part of the quads of channels. Inner loop: words of four taps are transposed to words of one channel, 8
 * instructions for 16 products, beside as many loads and 4 dot products. */
#include "../product.h"
#include "../xpulpv2.h"

struct single {
    struct dory_product product;
    const uint8_t *input;
    uint32_t rows, fours;     /* of the kernel; words of weights in a row */
    uint32_t pixel, row_step; /* bytes */
    uint32_t last[3];         /* where the pixels 1 to 3 of a row's last four are: on the one before, where there is none */
    uint32_t lane_weights;    /* bytes of a channel's weights */
};

static inline void sum_taps(int32_t sum[4], const uint8_t *input, const uint32_t offset[3], const uint8_t *weights,
                            uint32_t lane_weights, bool is_signed)
{
    uint32_t a = dory_load_word(input), b = dory_load_word(input + offset[0]), c = dory_load_word(input + offset[1]),
             d = dory_load_word(input + offset[2]);
    uint32_t low_even = pv_pack_h(c, a), low_odd = pv_pack_h(d, b), high_even = pv_pack_h_h(c, a),
             high_odd = pv_pack_h_h(d, b);
    uint32_t lane[4] = {pv_shuffle2_b(low_even, low_odd, 0x06020400), pv_shuffle2_b(low_even, low_odd, 0x07030501),
                        pv_shuffle2_b(high_even, high_odd, 0x06020400), pv_shuffle2_b(high_even, high_odd, 0x07030501)};
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++, weights += lane_weights) {
        uint32_t word = dory_load_word(weights);
        sum[i] = is_signed ? pv_sdotsp_b(sum[i], lane[i], word) : pv_sdotusp_b(sum[i], lane[i], word);
    }
}

static inline __attribute__((always_inline)) void sum_quad(const struct single *work, const uint8_t *input,
                                                           const uint8_t *weights, int32_t sum[4], bool is_signed)
{
    uint32_t pixel = work->pixel, lane_weights = work->lane_weights, more = work->fours - 1, step = work->row_step;
    const uint32_t next[3] = {pixel, 2 * pixel, 3 * pixel}, last[3] = {work->last[0], work->last[1], work->last[2]};
    int32_t own[4] = {0, 0, 0, 0};
    for (uint32_t row = work->rows; row > 0; row--, input += step) {
        const uint8_t *four = input;
        for (uint32_t left = more; left > 0; left--, four += 4 * pixel, weights += 4) {
            sum_taps(own, four, next, weights, lane_weights, is_signed);
        }
        sum_taps(own, four, last, weights, lane_weights, is_signed);
        weights += 4;
    }
    memcpy(sum, own, sizeof own);
}

/* Elements of a byte and more: layers of fewer bits are not for this kernel (dory_is_single_depthwise). */
static void finish_long(const struct dory_product *product, int32_t sum[4], const uint8_t *constants, uint32_t quad)
{
    uint32_t bytes = product->output_bits / 8;
    uint8_t *output = product->output + 4 * quad * bytes;
    for (uint32_t lane = 0; lane < 4; lane++, output += bytes) {
        dory_normalise_lane(&product->blocks.normaliser, constants, lane, sum + lane, 1, 1);
        dory_store_element(output, sum[lane], bytes);
    }
}

static void compute_quad(const struct single *work, const struct dory_normaliser *normaliser, uint32_t quad)
{
    const struct dory_product *product = &work->product;
    const uint8_t *weights = product->weights + quad * product->quad_bytes, *constants = weights + 4 * work->lane_weights;
    int32_t sum[4];
    if (product->input_is_signed) {
        sum_quad(work, work->input + 4 * quad, weights, sum, true);
    } else {
        sum_quad(work, work->input + 4 * quad, weights, sum, false);
    }
    if (normaliser->direct && product->output_bits == 8) {
        uint32_t bytes = dory_direct_constants_bytes(normaliser);
        for (unsigned lane = 0; lane < 4; lane++, constants += bytes) {
            dory_normalise_in_its_kind(normaliser, sum + lane, 1, 1, constants);
        }
        dory_store_word(product->output + 4 * quad, dory_pack_bytes(sum));
    } else {
        finish_long(product, sum, constants, quad);
    }
}

static void start(struct single *work, const struct dory_layer *layer, const struct dory_tile *tile)
{
    uint32_t width = layer->kernel_width, row_bytes = dory_round_up(width, 4), rest = width - (row_bytes - 4);
    /* as a product whose quads have as many bytes; nothing but its end is used */
    dory_product_start(&work->product, layer, tile, dory_direct_of(layer), row_bytes, layer->kernel_height, 0);
    work->input = tile->input;
    work->rows = layer->kernel_height;
    work->fours = row_bytes / 4;
    work->pixel = tile->channels;
    work->row_step = (uint32_t)tile->input_columns * tile->channels;
    work->lane_weights = layer->kernel_height * row_bytes;
    for (uint32_t i = 0; i < 3; i++) {
        work->last[i] = dory_minimum(i + 1, rest - 1) * work->pixel;
    }
}

void dory_xpulpv2_depthwise_single(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                   unsigned cores)
{
    struct single work;
    start(&work, layer, tile);
    const struct dory_normaliser normaliser = work.product.blocks.normaliser;
    for (uint32_t quad = core; quad < work.product.quads; quad += cores) {
        compute_quad(&work, &normaliser, quad);
    }
}
