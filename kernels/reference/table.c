/* Computes functions of bytes: any of one element by a table; softmax and the largest element of a pixel. Shapes: any, HWC.
 */
#include "dory/normalise.h"
#include "dory/softmax.h"
#include "elements.h"
#include "reference.h"

void dory_reference_table(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    const uint8_t *input = tile->input;
    uint8_t *output = tile->output;
    bool has_tables = layer->input_channels == 1;
    uint32_t row_step = (uint32_t)layer->stride_height * tile->input_columns * tile->input_channels;
    uint32_t column_step = (uint32_t)layer->stride_width * tile->input_channels;
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        const uint8_t *from = input + pixel / tile->columns * row_step + pixel % tile->columns * column_step;
        for (uint32_t channel = 0; channel < tile->channels; channel++) {
            const uint8_t *table = layer->constants.table + (has_tables ? 256 * (tile->first_channel + channel) : 0);
            output[pixel * tile->channels + channel] = table[from[has_tables ? 0 : channel]];
        }
    }
}

/* ---- softmax: 31-bit fractions, and numbers of more integer bits where it says so ---- */

/* x / 2^places to the nearest. */
static uint32_t divide(uint32_t x, uint32_t places)
{
    return (uint32_t)(((uint64_t)x + ((uint64_t)1 << (places - 1))) >> places);
}

/* Elements first .. first + count - 1 of the result. */
static void soften(const uint32_t *exponentials, const uint8_t *input, uint32_t channels, uint8_t *output, uint32_t first,
                   uint32_t count)
{
    uint32_t largest = 0, sum = 0, zeros = 0;
    for (uint32_t i = 0; i < channels; i++) {
        largest = input[i] > largest ? input[i] : largest;
    }
    for (uint32_t i = 0; i < channels; i++) {
        sum += divide(exponentials[largest - input[i]], 12);
    }
    for (; sum < 0x80000000u; zeros++) {
        sum <<= 1;
    }
    int32_t reciprocal = dory_reciprocal_of_one_plus((int32_t)(sum - 0x80000000u));
    for (uint32_t i = 0; i < count; i++) {
        int32_t exponential = (int32_t)exponentials[largest - input[first + i]];
        uint32_t quotient = divide((uint32_t)dory_multiply_fractions(reciprocal, exponential), 35 - zeros);
        output[i] = (uint8_t)(quotient > UINT8_MAX ? UINT8_MAX : quotient);
    }
}

/* In L1 where the tile loop has laid them there. */
static const uint32_t *exponentials_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    return dory_table_bytes(layer) != 0 ? tile->weights : layer->constants.exponentials;
}

void dory_reference_softmax(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    const uint32_t *exponentials = exponentials_of(layer, tile);
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        soften(exponentials, (const uint8_t *)tile->input + pixel * layer->input_channels, layer->input_channels,
               (uint8_t *)tile->output + pixel * tile->channels, tile->first_channel, tile->channels);
    }
}

/* ---- softmax: a quotient of whole numbers, and its thresholds ---- */

#define QUOTIENT_BITS 30

static uint32_t largest_of(const uint8_t *input, uint32_t count)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        largest = input[i] > largest ? input[i] : largest;
    }
    return largest;
}

/* Of groups one after the other, each with the largest element so far. */
static uint32_t sum_of(const uint32_t *exponentials, const uint8_t *input, uint32_t channels, uint32_t group)
{
    uint32_t sum = 0, largest = largest_of(input, group);
    for (uint32_t first = 0; first < channels; first += group) {
        uint32_t end = dory_minimum(first + group, channels), before = largest;
        largest = largest_of(input, end);
        sum = largest > before ? dory_lower_sum(exponentials, sum, largest - before) : sum;
        for (uint32_t i = first; i < end; i++) {
            sum += exponentials[largest - input[i]];
        }
    }
    return sum;
}

static void soften_exactly(const uint32_t *exponentials, const uint8_t *input, uint32_t channels, uint32_t group,
                           uint8_t *output, uint32_t first, uint32_t count)
{
    const int32_t *thresholds = (const int32_t *)(exponentials + 256);
    uint32_t largest = largest_of(input, channels), sum = sum_of(exponentials, input, channels, group);
    sum = sum == 0 ? 1 : sum; /* never: the first of the exponentials is not 0 */
    for (uint32_t i = 0; i < count; i++) {
        uint64_t quotient = ((uint64_t)exponentials[largest - input[first + i]] << QUOTIENT_BITS) / sum;
        output[i] = (uint8_t)dory_count_thresholds(thresholds, (int32_t)quotient);
    }
}

void dory_reference_softmax_exact(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                  unsigned cores)
{
    const uint32_t *exponentials = exponentials_of(layer, tile);
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    const uint32_t group = layer->softmax.group_channels != 0 ? layer->softmax.group_channels : layer->input_channels;
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        soften_exactly(exponentials, (const uint8_t *)tile->input + pixel * layer->input_channels, layer->input_channels,
                       group, (uint8_t *)tile->output + pixel * tile->channels, tile->first_channel, tile->channels);
    }
}

/* ---- the largest element ---- */

void dory_reference_largest(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    uint32_t output_bytes = layer->output_bits / 8u;
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        const uint8_t *input = (const uint8_t *)tile->input + pixel * layer->input_channels;
        uint32_t largest = 0;
        for (uint32_t i = 1; i < layer->input_channels; i++) {
            largest = input[i] > input[largest] ? i : largest;
        }
        dory_write_element((uint8_t *)tile->output + pixel * output_bytes, 0, layer->output_bits, (int32_t)largest);
    }
}
