/* Computes products of two activations of bytes without a sign whose first factor has few pixels a row: a decoder's token,
 * or the only one that a classifier reads. Shapes: any, HWC; bytes or words come out.
 *
 * Nothing is packed: each core takes a part of the pixels by fours of channels. Inner loop: a word of the first factor and
 * four of the second, four dot products and the sums of the second factor's elements, 13 instructions for 16 MAC.
 *
 * With a = x + A, b = y + B: sum(a b) = sum(x y) + B sum(x) + A sum(y) + K A B. */
#include "../normalise.h"
#include "../share.h"
#include "../xpulpv2.h"
#include "dory/matrix_product.h"

#define ONES 0x01010101u

struct dots {
    uint32_t terms;
    int32_t first_addend, second_addend; /* A, B */
};

/* What four channels are the sums of. */
struct channels {
    const uint8_t *input[4];
    int32_t products[4], sums[4];
};

#if defined(DORY_XPULPV2)

static void add_words(struct channels *channels, const uint8_t *first, uint32_t words)
{
    const uint8_t *second0 = channels->input[0], *second1 = channels->input[1], *second2 = channels->input[2],
                  *second3 = channels->input[3];
    int32_t product0 = 0, product1 = 0, product2 = 0, product3 = 0, sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    __asm__ volatile(
        ".option push\n"
        ".balign 4\n"
        ".option norvc\n" LP_SETUP("x0", "%[words]", 13, "1") P_LW_NEXT("t0", "%[first]") P_LW_NEXT("t1", "%[second0]")
            P_LW_NEXT("t2", "%[second1]") P_LW_NEXT("t3", "%[second2]") P_LW_NEXT("t4", "%[second3]")
                PV_SDOTUP_B("%[product0]", "t0", "t1") PV_SDOTUP_B("%[product1]", "t0", "t2")
                    PV_SDOTUP_B("%[product2]", "t0", "t3") PV_SDOTUP_B("%[product3]", "t0", "t4")
                        PV_SDOTUP_B("%[sum0]", "t1", "%[ones]") PV_SDOTUP_B("%[sum1]", "t2", "%[ones]") PV_SDOTUP_B(
                            "%[sum2]", "t3", "%[ones]") "1: " PV_SDOTUP_B("%[sum3]", "t4", "%[ones]") ".option pop\n"
        : [first] "+r"(first), [second0] "+r"(second0), [second1] "+r"(second1), [second2] "+r"(second2),
          [second3] "+r"(second3), [product0] "+r"(product0), [product1] "+r"(product1), [product2] "+r"(product2),
          [product3] "+r"(product3), [sum0] "+r"(sum0), [sum1] "+r"(sum1), [sum2] "+r"(sum2), [sum3] "+r"(sum3)
        : [words] "r"(words), [ones] "r"(ONES)
        : "t0", "t1", "t2", "t3", "t4", "memory");
    *channels = (struct channels){
        {second0, second1, second2, second3}, {product0, product1, product2, product3}, {sum0, sum1, sum2, sum3}};
}

#else

static void add_words(struct channels *channels, const uint8_t *first, uint32_t words)
{
    for (unsigned lane = 0; lane < 4; lane++) {
        channels->products[lane] = channels->sums[lane] = 0;
        for (uint32_t i = 0; i < words; i++, channels->input[lane] += 4) {
            uint32_t word = dory_load_word(channels->input[lane]);
            channels->products[lane] = pv_sdotup_b(channels->products[lane], dory_load_word(first + 4 * i), word);
            channels->sums[lane] = pv_sdotup_b(channels->sums[lane], word, ONES);
        }
    }
}

#endif

static int32_t sum_of(const uint8_t *input, uint32_t terms)
{
    int32_t sum = 0;
    for (; terms >= 4; terms -= 4, input += 4) {
        sum = pv_sdotup_b(sum, dory_load_word(input), ONES);
    }
    for (; terms > 0; terms--) {
        sum += *input++;
    }
    return sum;
}

/* Of a pixel by four pixels of the second factor; where there are fewer, these are some of them again. */
static void multiply(const struct dots *dots, const uint8_t *first, const uint8_t *second, uint32_t lanes, int32_t same,
                     int32_t sum[4])
{
    uint32_t terms = dots->terms, words = terms / 4;
    struct channels channels = {.products = {0}};
    for (unsigned lane = 0; lane < 4; lane++) {
        channels.input[lane] = second + dory_minimum(lane, lanes - 1) * terms;
    }
    if (words > 0) { /* which a hardware loop has to be */
        add_words(&channels, first, words);
    }
    for (unsigned lane = 0; lane < 4; lane++) {
        int32_t product = channels.products[lane], all = channels.sums[lane];
        for (uint32_t k = 4 * words; k < terms; k++) {
            uint8_t y = channels.input[lane][k - 4 * words];
            product += first[k] * y;
            all += y;
        }
        sum[lane] = product + dots->first_addend * all + same;
    }
}

static inline __attribute__((always_inline)) void run(const struct dory_layer *layer, const struct dory_tile *tile,
                                                      unsigned core, unsigned cores, enum dory_direct direct,
                                                      dory_lane_normaliser *normalise)
{
    const struct dots dots = {layer->input_channels, (int32_t)layer->stages->input[0].addend,
                              (int32_t)layer->stages->input[1].addend};
    const struct dory_matrix_constants constants = dory_matrix_constants(layer);
    const struct dory_matrix_grid grid = dory_matrix_grid_of(layer, tile->rows, tile->columns);
    uint32_t quads = dory_divide_up(tile->channels, 4), columns = grid.columns, bytes = layer->output_bits / 8u;
    struct dory_normaliser normaliser;
    dory_start_normaliser_as(&normaliser, layer, direct);
    struct dory_grid_share share = dory_grid_share_of(grid.rows * columns, quads, core, cores);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, quads), row = dory_quotient(share.row, columns);
        const uint8_t *first = (const uint8_t *)tile->input + share.row * dots.terms;
        const uint8_t *second = (const uint8_t *)tile->second_input + row * tile->channels * dots.terms;
        uint8_t *output = (uint8_t *)tile->output + share.row * tile->channels * bytes;
        int32_t same = dots.second_addend * (sum_of(first, dots.terms) + (int32_t)dots.terms * dots.first_addend);
        for (uint32_t channel = 4 * share.first; channel < 4 * end; channel += 4) {
            uint32_t lanes = dory_minimum(4, tile->channels - channel);
            int32_t sum[4];
            multiply(&dots, first, second + channel * dots.terms, lanes, same, sum);
            normalise(&normaliser, (const uint8_t *)constants.words, 0, sum, 1, 4);
            dory_store_elements(output + channel * bytes, sum, lanes, bytes);
        }
        dory_grid_share_next_row(&share, end);
    }
}

#define MATRIX_DOTS(suffix, direct, normalise)                                                                              \
    void dory_xpulpv2_matrix_dots##suffix(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,      \
                                          unsigned cores)                                                                   \
    {                                                                                                                       \
        run(layer, tile, core, cores, direct(layer), normalise);                                                            \
    }

MATRIX_DOTS(, dory_direct_32_of, dory_normalise_lane)
MATRIX_DOTS(_clamped, dory_direct_clamped_of, dory_normalise_lane_clamped)
MATRIX_DOTS(_split, dory_direct_split_of, dory_normalise_lane_split)
MATRIX_DOTS(_high, dory_direct_high_of, dory_normalise_lane_high)
