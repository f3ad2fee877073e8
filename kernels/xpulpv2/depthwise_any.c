/* Depth-wise layers of any kernel size and stride: dot products with weights that are spread out, for each of the four
 * outputs of a strip, over the words that the strip reads. All loads are aligned; zeros are multiplied, too. */
#include "depthwise.h"
#include "dots.h"
#include "xpulpv2.h"

/* [lane][unit][kernel row][output] words: byte b of unit u's word meets the weight of kernel column 4 * u + b - output * stride. */
static void spread_weights(const struct dory_depthwise *work, const uint8_t *weights)
{
    uint32_t kernel_width = work->layer->kernel_width, rows = work->kernel_height, row_bytes = (kernel_width + 3) / 4 * 4;
    uint32_t row_step = 16, unit_bytes = row_step * rows, lane_bytes = unit_bytes * work->units;
    uint8_t *spread = work->spread;
    for (uint32_t i = 0; i < lane_bytes; i += 4) {
        for (uint32_t lane = 0; lane < 4; lane++) {
            dory_store_word(spread + lane * lane_bytes + i, 0);
        }
    }
    for (uint32_t line = 0; line < 4 * rows; line++, weights += row_bytes) { /* kernel rows of all lanes */
        uint8_t *of_row = spread + line / rows * lane_bytes + line % rows * row_step;
        for (uint32_t output = 0; output < 4; output++) {
            for (uint32_t k = 0; k < kernel_width; k++) {
                uint32_t column = output * work->stride_width + k;
                of_row[column / 4 * unit_bytes + 4 * output + column % 4] = weights[k];
            }
        }
    }
}

/* One output row of one lane in up to 4 columns; `offset` is that of its first input row in the units. */
static inline void sum_row(int32_t sum[4], const struct dory_depthwise *work, const struct dory_strip *strip, const uint8_t *weights,
                           uint32_t offset, bool is_signed)
{
    sum[0] = sum[1] = sum[2] = sum[3] = 0;
    for (uint32_t unit = 0; unit < work->units; unit++) {
        const uint8_t *input = strip->unit[unit] + offset;
        dory_dots(sum, &input, &weights, work->kernel_height, is_signed);
    }
}

static __attribute__((noinline)) void store_row(const struct dory_depthwise *work, const struct dory_strip *strip, uint32_t lane,
                                                const int32_t sum[4], uint8_t *output)
{
    int32_t element[4] = {sum[0], sum[1], sum[2], sum[3]};
    uint32_t bytes = work->normaliser.output_bytes;
    dory_normalise_lane(&work->normaliser, strip->constants, lane, element, 1, strip->columns);
    for (uint32_t i = 0; i < strip->columns; i++) {
        dory_store_elements(output + i * work->channels * bytes, element + i, 1, bytes);
    }
}

static inline void store_row_directly(const struct dory_depthwise *work, const struct dory_strip *strip, uint32_t lane, int32_t sum[4],
                                      uint8_t *output)
{
    uint32_t channels = work->channels;
    dory_normalise_directly(&work->normaliser, sum, 1, strip->constants + 8 * lane);
    output[0] = (uint8_t)sum[0];
    output[channels] = (uint8_t)sum[1];
    output[2 * channels] = (uint8_t)sum[2];
    output[3 * channels] = (uint8_t)sum[3];
}

/* Output rows of one lane. */
static void compute_lane(const struct dory_depthwise *work, const struct dory_strip *strip, uint32_t lane, bool is_signed)
{
    uint32_t bytes = work->normaliser.output_bytes, row_bytes = work->columns * work->channels * bytes;
    uint32_t offset = lane * strip->input_rows * 4, step = 4 * work->stride_height;
    const uint8_t *weights = work->spread + lane * work->units * work->kernel_height * 16;
    bool direct = work->normaliser.direct && strip->columns == 4;
    uint8_t *output = strip->output + lane * bytes;
    for (uint32_t row = strip->rows; row > 0; row--, output += row_bytes, offset += step) {
        int32_t sum[4];
        sum_row(sum, work, strip, weights, offset, is_signed);
        if (direct) {
            store_row_directly(work, strip, lane, sum, output);
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
    dory_depthwise_run(layer, tile, core, cores, dory_depthwise_units(layer), layer->stride_width, dory_depthwise_spread_bytes(layer),
                       compute_strip);
}
