/* Random jobs of N-EUREKA: on Siracusa the engine, elsewhere its model, against a convolution that is written down as it is
 * defined; and everywhere the model. Weights, bytes round the output, strides: all as they come. And elements that cores
 * make of such sums. */
#include "dory/hal.h"
#include "expect.h"
#include "job.h"
#include "neureka_elements.h"

#ifndef JOBS
#define JOBS 60
#endif
#define MOST_SUMS   30000u
#define INPUT_BYTES 32768u
#define OTHER_BYTES 65536u
#define GUARD       0xA5

#ifdef __unix__ /* whose HAL has less, and no weight memory */
#define LOCAL
static uint8_t memory[OTHER_BYTES];
#else
#define LOCAL  DORY_L1
#define memory ((uint8_t *)0x10400000u)
#endif

static LOCAL _Alignas(8) uint8_t input[INPUT_BYTES], local[OTHER_BYTES], output[OTHER_BYTES];
static LOCAL _Alignas(8) uint32_t multipliers[128], addends[128];
static _Alignas(8) uint8_t expected[OTHER_BYTES], modelled[OTHER_BYTES];
static uint8_t *weights;           /* of the job: local, or in the weight memory */
static int8_t values[OTHER_BYTES]; /* weights: output channel, input channel, tap */

static uint32_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(state >> 8) * below >> 24);
}

static uint32_t between(uint32_t least, uint32_t most) { return least + draw(most - least + 1); }

/* ---- making one up ---- */

static uint32_t inputs_of(const struct dory_neureka_job *job)
{
    return job->mode == DORY_NEUREKA_DEPTHWISE ? 1 : job->input_channels;
}

static uint32_t taps_of(const struct dory_neureka_job *job) { return job->mode == DORY_NEUREKA_1X1 ? 1 : 9; }
static uint32_t border_of(const struct dory_neureka_job *job) { return job->mode == DORY_NEUREKA_1X1 ? 0 : 2; }

static uint32_t sums_of(const struct dory_neureka_job *job)
{
    return (uint32_t)job->rows * job->columns * job->channels * inputs_of(job) * taps_of(job);
}

static struct dory_neureka_job draw_shape(void)
{
    struct dory_neureka_job job = {.mode = (uint8_t)draw(3), .output_kind = (uint8_t)draw(3)};
    do {
        job.rows = (uint16_t)between(1, 15);
        job.columns = (uint16_t)between(1, 15);
        job.channels = (uint16_t)between(1, 64);
        job.input_channels = job.mode == DORY_NEUREKA_DEPTHWISE ? job.channels : (uint16_t)between(1, draw(4) ? 70 : 200);
    } while (sums_of(&job) > MOST_SUMS);
    job.weight_bits = (uint8_t)(draw(2) ? 8 : between(2, 8));
    job.weights_in_memory = draw(2);
    job.input_is_signed = draw(2);
    job.output_is_signed = draw(2);
    return job;
}

/* Pixels may lie apart, in the input as a window's stride has them. */
static void lay_out(struct dory_neureka_job *job)
{
    uint32_t element = job->output_kind == DORY_NEUREKA_BYTES ? 1 : 4, stride = between(1, 2);
    job->input_pixel_bytes = stride * job->input_channels;
    job->input_row_bytes = (job->columns + border_of(job)) * job->input_pixel_bytes + draw(8);
    if ((job->rows + border_of(job)) * job->input_row_bytes > INPUT_BYTES) {
        job->input_pixel_bytes = job->input_channels;
        job->input_row_bytes = (job->columns + border_of(job)) * job->input_pixel_bytes;
    }
    job->output_pixel_bytes = job->channels * element + (draw(2) ? 4 * draw(4) : 0);
    job->output_row_bytes = job->columns * job->output_pixel_bytes;
    job->input = input;
    job->weights = weights = job->weights_in_memory ? memory : local;
    job->multipliers = job->output_kind == DORY_NEUREKA_SUMS ? 0 : multipliers;
    job->addends = job->output_kind == DORY_NEUREKA_BYTES ? addends : 0;
    job->output = output;
}

static void put_bit(uint32_t at, uint32_t bit) { weights[at / 8] |= (uint8_t)(bit << at % 8); }

static void pack_weight(const struct dory_neureka_job *job, uint32_t channel, uint32_t in, uint32_t tap, uint32_t value)
{
    enum dory_neureka_mode mode = (enum dory_neureka_mode)job->mode;
    bool is_depthwise = mode == DORY_NEUREKA_DEPTHWISE;
    uint32_t bytes = dory_neureka_weight_bytes(mode, job->input_channels, job->weight_bits);
    for (uint32_t bit = 0; bit < job->weight_bits; bit++) {
        uint32_t at = dory_neureka_bit(mode, job->weight_bits, is_depthwise ? channel : in, tap, bit);
        put_bit((is_depthwise ? 0 : 8 * channel * bytes) + at, value >> bit & 1);
    }
}

static void draw_weights(const struct dory_neureka_job *job)
{
    uint32_t taps = taps_of(job), each = inputs_of(job) * taps, span = 1u << job->weight_bits;
    uint32_t bytes = dory_neureka_weight_bytes((enum dory_neureka_mode)job->mode, job->input_channels, job->weight_bits);
    memset(weights, 0, job->mode == DORY_NEUREKA_DEPTHWISE ? bytes : job->channels * bytes);
    for (uint32_t i = 0; i < job->channels * each; i++) {
        uint32_t value = draw(span);
        values[i] = (int8_t)((int32_t)value - (int32_t)(span / 2));
        pack_weight(job, i / each, i % each / taps, i % taps, value);
    }
}

static uint32_t bits_of(uint32_t value)
{
    uint32_t bits = 0;
    for (; value; value >>= 1) {
        bits++;
    }
    return bits;
}

/* Products keep to 32 bits, or for wide ones to 47, and what is left of them to 31. */
static void draw_scale(struct dory_neureka_job *job)
{
    uint32_t sum_bits = bits_of(inputs_of(job) * taps_of(job)) + 8 + job->weight_bits - 1;
    bool is_wide = job->output_kind == DORY_NEUREKA_WIDE;
    uint32_t scale_bits = is_wide ? 46 - sum_bits : 30 - sum_bits;
    scale_bits = scale_bits > 31 ? 31 : scale_bits;
    for (uint32_t i = 0; i < 128; i++) {
        multipliers[i] = 1 + draw(1u << (scale_bits - (scale_bits > 3 ? draw(3) : 0)));
        addends[i] = draw(1u << 29) - (1u << 28);
    }
    uint32_t product_bits = sum_bits + scale_bits;
    job->shift = (uint8_t)(is_wide ? (product_bits > 31 ? product_bits - 31 : 0) + draw(4) : product_bits - 12 + draw(4));
    job->shift = job->shift > 31 ? 31 : job->shift;
}

/* ---- what it is to be ---- */

static int32_t convolve(const struct dory_neureka_job *job, uint32_t row, uint32_t column, uint32_t channel)
{
    uint32_t taps = taps_of(job), inputs = inputs_of(job);
    bool is_depthwise = job->mode == DORY_NEUREKA_DEPTHWISE;
    int32_t sum = 0;
    for (uint32_t tap = 0; tap < taps; tap++) {
        const uint8_t *pixel = input + (row + tap / 3) * job->input_row_bytes + (column + tap % 3) * job->input_pixel_bytes;
        for (uint32_t in = 0; in < inputs; in++) {
            uint8_t element = pixel[is_depthwise ? channel : in];
            sum += values[(channel * inputs + in) * taps + tap] * (job->input_is_signed ? (int8_t)element : element);
        }
    }
    return sum;
}

static int32_t finish(const struct dory_neureka_job *job, uint32_t channel, int32_t sum)
{
    int64_t product = (int64_t)sum * multipliers[channel];
    if (job->output_kind != DORY_NEUREKA_BYTES) {
        return job->output_kind == DORY_NEUREKA_SUMS ? sum : (int32_t)(product >> job->shift);
    }
    int32_t value = (int32_t)((uint32_t)product + addends[channel]) >> job->shift;
    int32_t least = job->output_is_signed ? -128 : 0, most = least + 255;
    return value < least ? least : value > most ? most : value;
}

/* With what lies behind it. */
static uint32_t output_bytes(const struct dory_neureka_job *job) { return job->rows * job->output_row_bytes + 64; }

static void expect_output(const struct dory_neureka_job *job)
{
    memset(expected, GUARD, output_bytes(job));
    for (uint32_t row = 0; row < job->rows; row++) {
        for (uint32_t column = 0; column < job->columns; column++) {
            uint8_t *pixel = expected + row * job->output_row_bytes + column * job->output_pixel_bytes;
            for (uint32_t channel = 0; channel < job->channels; channel++) {
                int32_t value = finish(job, channel, convolve(job, row, column, channel));
                if (job->output_kind == DORY_NEUREKA_BYTES) {
                    pixel[channel] = (uint8_t)value;
                } else {
                    memcpy(pixel + 4 * channel, &value, sizeof value);
                }
            }
        }
    }
}

/* ---- the test ---- */

static void try_job(uint32_t number)
{
    uint32_t start = state;
    struct dory_neureka_job job = draw_shape();
    lay_out(&job);
    for (uint32_t i = 0; i < (job.rows + border_of(&job)) * job.input_row_bytes; i++) {
        input[i] = (uint8_t)draw(256);
    }
    draw_weights(&job);
    draw_scale(&job);
    expect_output(&job);
    struct dory_neureka_job model = job;
    model.output = modelled;
    memset(modelled, GUARD, output_bytes(&job));
    dory_neureka_model(&model);
    memset(output, GUARD, output_bytes(&job));
    struct dory_neureka_registers registers = dory_neureka_registers_of(&job);
    struct dory_neureka_pointers pointers = {job.weights, job.input, job.output, job.multipliers, job.addends};
    dory_neureka_await(dory_neureka_start(&registers, &pointers));
    uint32_t bytes = output_bytes(&job);
    EXPECT(memcmp(output, expected, bytes) == 0 && memcmp(modelled, expected, bytes) == 0,
           "job %u (state %u): mode %u, output %u, %u bits, %ux%ux%u of %u channels", (unsigned)number, (unsigned)start,
           job.mode, job.output_kind, job.weight_bits, job.rows, job.columns, job.channels, job.input_channels);
}

int main(void)
{
    for (uint32_t i = 0; i < JOBS && expect_failures < 20; i++) {
        try_job(i);
    }
    for (uint32_t i = 0; i < 5 * JOBS && expect_failures < 20; i++) {
        neureka_try_elements(i);
    }
    return expect_result("random jobs of N-EUREKA");
}
