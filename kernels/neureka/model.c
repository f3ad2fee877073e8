/* N-EUREKA in plain C: bit for bit what the engine computes, in another order. */
#include <string.h>

#include "job.h"

#define PIXELS 32u /* whose sums are made with weights that are read once */

/* The weights of an output channel for the inputs of a word, tap after tap. */
struct word {
    int32_t weight[9][32];
    uint32_t first, inputs, taps;
};

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static int32_t weight_of(const struct dory_neureka_job *job, const uint8_t *bits, uint32_t input, uint32_t tap)
{
    int32_t weight = -(1 << (job->weight_bits - 1));
    for (uint32_t bit = 0; bit < job->weight_bits; bit++) {
        uint32_t at = dory_neureka_bit((enum dory_neureka_mode)job->mode, job->weight_bits, input, tap, bit);
        weight += (bits[at / 8] >> at % 8 & 1) << bit;
    }
    return weight;
}

static void read_word(const struct dory_neureka_job *job, uint32_t channel, uint32_t first, struct word *word)
{
    enum dory_neureka_mode mode = (enum dory_neureka_mode)job->mode;
    bool is_depthwise = mode == DORY_NEUREKA_DEPTHWISE;
    uint32_t bytes = dory_neureka_weight_bytes(mode, job->input_channels, job->weight_bits);
    const uint8_t *bits = (const uint8_t *)job->weights + (is_depthwise ? 0 : channel * bytes);
    word->first = is_depthwise ? channel : first;
    word->inputs = is_depthwise ? 1 : smaller(dory_neureka_inputs(mode), job->input_channels - first);
    word->taps = mode == DORY_NEUREKA_1X1 ? 1 : 9;
    for (uint32_t tap = 0; tap < word->taps; tap++) {
        for (uint32_t i = 0; i < word->inputs; i++) {
            word->weight[tap][i] = weight_of(job, bits, word->first + i, tap);
        }
    }
}

static uint32_t sum_of(const struct dory_neureka_job *job, const struct word *word, uint32_t row, uint32_t column)
{
    int32_t sum = 0;
    const uint8_t *corner =
        (const uint8_t *)job->input + row * job->input_row_bytes + column * job->input_pixel_bytes + word->first;
    for (uint32_t tap = 0; tap < word->taps; tap++) {
        const uint8_t *pixel = corner + tap / 3 * job->input_row_bytes + tap % 3 * job->input_pixel_bytes;
        for (uint32_t i = 0; i < word->inputs; i++) {
            sum += word->weight[tap][i] * (job->input_is_signed ? (int8_t)pixel[i] : pixel[i]);
        }
    }
    return (uint32_t)sum;
}

static uint32_t load(const void *words, uint32_t index)
{
    uint32_t word;
    memcpy(&word, (const uint8_t *)words + 4 * index, sizeof word);
    return word;
}

/* The product is that of a number with a sign and one without. */
static int32_t scale(const struct dory_neureka_job *job, uint32_t channel, int32_t sum)
{
    int64_t product = (int64_t)((uint64_t)sum * load(job->multipliers, channel));
    if (job->output_kind == DORY_NEUREKA_WIDE) {
        return (int32_t)(uint32_t)(product >> job->shift);
    }
    int32_t value = (int32_t)((uint32_t)product + load(job->addends, channel)) >> job->shift;
    int32_t least = job->output_is_signed ? INT8_MIN : 0, most = job->output_is_signed ? INT8_MAX : UINT8_MAX;
    return value < least ? least : value > most ? most : value;
}

static void put(const struct dory_neureka_job *job, uint32_t pixel, uint32_t channel, int32_t sum)
{
    uint8_t *to = (uint8_t *)job->output + pixel / job->columns * job->output_row_bytes +
                  pixel % job->columns * job->output_pixel_bytes;
    if (job->output_kind == DORY_NEUREKA_BYTES) {
        to[channel] = (uint8_t)scale(job, channel, sum);
        return;
    }
    int32_t value = job->output_kind == DORY_NEUREKA_WIDE ? scale(job, channel, sum) : sum;
    memcpy(to + 4 * channel, &value, sizeof value);
}

static void compute_pixels(const struct dory_neureka_job *job, uint32_t channel, uint32_t first, uint32_t pixels)
{
    enum dory_neureka_mode mode = (enum dory_neureka_mode)job->mode;
    uint32_t inputs = mode == DORY_NEUREKA_DEPTHWISE ? 1 : job->input_channels, sums[PIXELS] = {0};
    for (uint32_t input = 0; input < inputs; input += dory_neureka_inputs(mode)) {
        struct word word;
        read_word(job, channel, input, &word);
        for (uint32_t i = 0; i < pixels; i++) {
            sums[i] += sum_of(job, &word, (first + i) / job->columns, (first + i) % job->columns);
        }
    }
    for (uint32_t i = 0; i < pixels; i++) {
        put(job, first + i, channel, (int32_t)sums[i]);
    }
}

void dory_neureka_model(const struct dory_neureka_job *job)
{
    uint32_t pixels = (uint32_t)job->rows * job->columns;
    for (uint32_t channel = 0; channel < job->channels; channel++) {
        for (uint32_t first = 0; first < pixels; first += PIXELS) {
            compute_pixels(job, channel, first, smaller(PIXELS, pixels - first));
        }
    }
}
