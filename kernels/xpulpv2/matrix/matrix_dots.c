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

/* Where four channels are read, and what is added up of them. */
struct channels {
    const uint8_t *input[4];
    int32_t products[4], sums[4];
};

#if defined(DORY_XPULPV2)

/* Inlined, as what is in `channels` is then in registers. */
static inline __attribute__((always_inline)) void add_words(struct channels *channels, const uint8_t *first, uint32_t words)
{
    __asm__ volatile(
        ".option push\n"
        ".balign 4\n"
        ".option norvc\n" LP_SETUP("x0", "%[words]", 13, "1") P_LW_NEXT("t0", "%[first]") P_LW_NEXT("t1", "%[second0]")
            P_LW_NEXT("t2", "%[second1]") P_LW_NEXT("t3", "%[second2]") P_LW_NEXT("t4", "%[second3]")
                PV_SDOTUP_B("%[product0]", "t0", "t1") PV_SDOTUP_B("%[product1]", "t0", "t2")
                    PV_SDOTUP_B("%[product2]", "t0", "t3") PV_SDOTUP_B("%[product3]", "t0", "t4")
                        PV_SDOTUP_B("%[sum0]", "t1", "%[ones]") PV_SDOTUP_B("%[sum1]", "t2", "%[ones]") PV_SDOTUP_B(
                            "%[sum2]", "t3", "%[ones]") "1: " PV_SDOTUP_B("%[sum3]", "t4", "%[ones]") ".option pop\n"
        : [first] "+r"(first), [second0] "+r"(channels->input[0]), [second1] "+r"(channels->input[1]),
          [second2] "+r"(channels->input[2]), [second3] "+r"(channels->input[3]), [product0] "+r"(channels->products[0]),
          [product1] "+r"(channels->products[1]), [product2] "+r"(channels->products[2]),
          [product3] "+r"(channels->products[3]), [sum0] "+r"(channels->sums[0]), [sum1] "+r"(channels->sums[1]),
          [sum2] "+r"(channels->sums[2]), [sum3] "+r"(channels->sums[3])
        : [words] "r"(words), [ones] "r"(ONES)
        : "t0", "t1", "t2", "t3", "t4", "memory");
}

#else

static void add_words(struct channels *channels, const uint8_t *first, uint32_t words)
{
    for (unsigned lane = 0; lane < 4; lane++) {
        for (uint32_t i = 0; i < words; i++, channels->input[lane] += 4) {
            uint32_t word = dory_load_word(channels->input[lane]);
            channels->products[lane] = pv_sdotup_b(channels->products[lane], dory_load_word(first + 4 * i), word);
            channels->sums[lane] = pv_sdotup_b(channels->sums[lane], word, ONES);
        }
    }
}

#endif

/* An element of the first factor by one of each channel. */
#define ADD_ELEMENT(channels, lane, x)                                                                                      \
    do {                                                                                                                    \
        int32_t y_ = *(channels).input[lane]++;                                                                             \
        (channels).products[lane] += (x)*y_;                                                                                \
        (channels).sums[lane] += y_;                                                                                        \
    } while (0)

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

/* Of a pixel by four pixels of the second factor; where there are fewer, the last one is there again. */
static __attribute__((noinline)) void multiply(const struct dots *dots, const uint8_t *first, const uint8_t *second,
                                               uint32_t lanes, int32_t same, int32_t sum[4])
{
    uint32_t terms = dots->terms, words = terms / 4, rest = terms % 4;
    int32_t addend = dots->first_addend;
    const uint8_t *second1 = second + (lanes > 1 ? terms : 0), *second2 = second1 + (lanes > 2 ? terms : 0),
                  *second3 = second2 + (lanes > 3 ? terms : 0);
    struct channels channels = {{second, second1, second2, second3}, {0, 0, 0, 0}, {0, 0, 0, 0}};
    if (words > 0) { /* which a hardware loop has to be */
        add_words(&channels, first, words);
    }
    for (first += 4 * words; rest > 0; rest--, first++) {
        ADD_ELEMENT(channels, 0, *first);
        ADD_ELEMENT(channels, 1, *first);
        ADD_ELEMENT(channels, 2, *first);
        ADD_ELEMENT(channels, 3, *first);
    }
    sum[0] = channels.products[0] + addend * channels.sums[0] + same;
    sum[1] = channels.products[1] + addend * channels.sums[1] + same;
    sum[2] = channels.products[2] + addend * channels.sums[2] + same;
    sum[3] = channels.products[3] + addend * channels.sums[3] + same;
}

#define SUMS 16 /* which are normalised together */

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
        uint8_t *output = (uint8_t *)tile->output + dory_matrix_place(layer, &grid, row, share.row) * tile->channels * bytes;
        int32_t same = dots.second_addend * (sum_of(first, dots.terms) + (int32_t)dots.terms * dots.first_addend);
        for (uint32_t channel = 4 * share.first, count; channel < 4 * end; channel += count) {
            int32_t sum[SUMS];
            count = dory_minimum(SUMS, 4 * end - channel);
            for (uint32_t i = 0; i < count; i += 4) {
                uint32_t lanes = dory_minimum(4, tile->channels - channel - i);
                multiply(&dots, first, second + (channel + i) * dots.terms, lanes, same, sum + i);
            }
            normalise(&normaliser, (const uint8_t *)constants.words, 0, sum, 1, count);
            for (uint32_t i = 0; i < count; i += 4) {
                uint32_t lanes = dory_minimum(4, tile->channels - channel - i);
                dory_store_elements(output + (channel + i) * bytes, sum + i, lanes, bytes);
            }
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
