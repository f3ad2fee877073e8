/* Depth-wise layers of any kernel size and stride: dot products with weights that are spread out, for each of the four
 * outputs of a strip, over the words that the strip reads. All loads are aligned; zeros are multiplied, too. */
#include "../dots.h"
#include "../xpulpv2.h"
#include "depthwise.h"

/* Word `index` of a kernel row; zero beside it. */
static inline uint32_t row_word(const uint8_t *row, uint32_t words, uint32_t index)
{
    return index < words ? dory_load_word(row + 4 * index) : 0;
}

/* A kernel row for one output, moved on by as many bytes as the output's columns are. */
static void spread_row(const uint8_t *row, uint32_t words, uint32_t bytes, uint8_t *spread, uint32_t units,
                       uint32_t unit_bytes)
{
    uint32_t shift = 8 * (bytes % 4),
             index = 0u - bytes / 4; /* wraps: words before the first are as zero as those behind the last */
    for (uint32_t unit = 0; unit < units; unit++, index++, spread += unit_bytes) {
        uint32_t word = row_word(row, words, index) << shift;
        if (shift != 0) {
            word |= row_word(row, words, index - 1) >> (32 - shift);
        }
        dory_store_word(spread, word);
    }
}

/* [lane][unit][kernel row][output] words: byte b of unit u's word meets the weight of kernel column 4 * u + b - output *
 * stride. */
static void spread_weights(const struct dory_depthwise *work, const uint8_t *weights)
{
    uint32_t rows = work->kernel_height, words = work->lane_weight_bytes / (4 * rows), unit_bytes = 16 * rows;
    uint8_t *of_lane = work->spread;
    for (uint32_t lane = 0; lane < 4; lane++, of_lane += work->units * unit_bytes) {
        for (uint32_t row = 0; row < rows; row++, weights += 4 * words) {
            for (uint32_t output = 0; output < 4; output++) {
                spread_row(weights, words, output * work->stride_width, of_lane + 16 * row + 4 * output, work->units,
                           unit_bytes);
            }
        }
    }
}

/* One output row of one lane in up to 4 columns; `offset` is that of its first input row in the units. */
static inline __attribute__((always_inline)) void sum_row(int32_t sum[4], const struct dory_depthwise *work,
                                                          const struct dory_strip *strip, const uint8_t *weights,
                                                          uint32_t offset, bool is_signed)
{
    sum[0] = sum[1] = sum[2] = sum[3] = 0;
    for (uint32_t unit = 0; unit < work->units; unit++) {
        const uint8_t *input = strip->unit[unit] + offset;
        dory_dots(sum, &input, &weights, work->kernel_height, is_signed);
    }
}

static __attribute__((noinline)) void store_row(const struct dory_depthwise *work, const struct dory_strip *strip,
                                                uint32_t lane, const int32_t sum[4], uint8_t *output)
{
    int32_t element[4] = {sum[0], sum[1], sum[2], sum[3]};
    uint32_t bytes = work->normaliser.output_bytes;
    dory_normalise_lane(&work->normaliser, strip->constants, lane, element, 1, strip->columns);
    for (uint32_t i = 0; i < strip->columns; i++) {
        dory_store_elements(output + i * work->channels * bytes, element + i, 1, bytes);
    }
}

/* Without a loop, which would keep the sums in memory. */
static inline __attribute__((always_inline)) void
store_row_directly(const struct dory_depthwise *work, const uint8_t *constants, const int32_t sum[4], uint8_t *output)
{
    int32_t addend = (int32_t)dory_load_word(constants + 4);
    int32_t shift = work->normaliser.shift, maximum = work->normaliser.maximum;
    uint32_t channels = work->channels, factor = dory_load_word(constants);
    int32_t a = (int32_t)((uint32_t)sum[0] * factor), b = (int32_t)((uint32_t)sum[1] * factor);
    int32_t c = (int32_t)((uint32_t)sum[2] * factor), d = (int32_t)((uint32_t)sum[3] * factor);
    output[0] = (uint8_t)p_clipur(p_addnr(a, addend, shift), maximum);
    output[channels] = (uint8_t)p_clipur(p_addnr(b, addend, shift), maximum);
    output[2 * channels] = (uint8_t)p_clipur(p_addnr(c, addend, shift), maximum);
    output[3 * channels] = (uint8_t)p_clipur(p_addnr(d, addend, shift), maximum);
}

/* Output rows of one lane. */
static void compute_lane(const struct dory_depthwise *work, const struct dory_strip *strip, uint32_t lane, bool is_signed)
{
    uint32_t bytes = work->normaliser.output_bytes, row_bytes = work->columns * work->channels * bytes;
    uint32_t offset = lane * strip->input_rows * 4, step = 4 * work->stride_height;
    const uint8_t *weights = work->spread + lane * work->units * work->kernel_height * 16;
    bool direct = work->normaliser.direct == DORY_DIRECT && strip->columns == 4;
    uint8_t *output = strip->output + lane * bytes;
    for (uint32_t row = strip->rows; row > 0; row--, output += row_bytes, offset += step) {
        int32_t sum[4];
        sum_row(sum, work, strip, weights, offset, is_signed);
        if (direct) {
            store_row_directly(work, strip->constants + 8 * lane, sum, output);
        } else {
            int32_t kept[4] = {sum[0], sum[1], sum[2], sum[3]};
            store_row(work, strip, lane, kept, output);
        }
    }
}

static inline void compute_strip(const struct dory_depthwise *work, struct dory_strip *strip)
{
    if (strip->new_quad) {
        spread_weights(work, strip->weights);
    }
    for (uint32_t lane = 0; lane < strip->lanes; lane++) {
        compute_lane(work, strip, lane, work->layer->input_is_signed);
    }
}

void dory_xpulpv2_depthwise(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    dory_depthwise_run(layer, tile, core, cores, dory_depthwise_units(layer), layer->stride_width,
                       dory_depthwise_spread_bytes(layer), compute_strip);
}
