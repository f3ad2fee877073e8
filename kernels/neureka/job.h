/* Jobs of N-EUREKA, the engine of Siracusa: convolutions of bytes with windows of 1x1 and 3x3, stride 1 of the window.
 *
 * It computes tiles of 6x6 pixels by 32 output channels (depth-wise 28), and may have two jobs at a time, one of which
 * waits. On Siracusa a job is written into the engine's registers; elsewhere dory_neureka_model() computes it when it is
 * started.
 *
 * Weights are *words* of 32 bytes, each one bit of the weights, which are w + 2^(bits - 1) without a sign:
 *
 *     1x1          for each output channel, for each 32 input channels (the last may be fewer) one word: for each 4 of them
 *                  8 times 4 bits, the least bit of the weights first. Of fewer than 8 bits, those that are left are 0
 *     3x3          for each output channel, for each 28 input channels, for each bit a word: 9 taps, row after row, of 28
 * bits depth-wise   for each 28 channels, for each bit a word: 9 taps of 28 bits
 */
#ifndef DORY_NEUREKA_JOB_H
#define DORY_NEUREKA_JOB_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dory_neureka_mode { DORY_NEUREKA_3X3, DORY_NEUREKA_DEPTHWISE, DORY_NEUREKA_1X1 }; /* as its register has them */

enum dory_neureka_output {
    DORY_NEUREKA_SUMS,  /* 32 bits each */
    DORY_NEUREKA_BYTES, /* (sum * multiplier + addend) >> shift in 32 bits, clipped to all that a byte can be */
    DORY_NEUREKA_WIDE   /* (sum * multiplier) >> shift: the product has 48 bits at most, what is left of it 32 */
};

/* Strides and shapes in pixels of the output; the input has two rows and columns more where the window is 3x3. No border:
 * it lies round the input. All pointers are into L1, but that to weights in their memory. */
struct dory_neureka_job {
    uint8_t mode;        /* enum dory_neureka_mode */
    uint8_t output_kind; /* enum dory_neureka_output */
    uint8_t weight_bits; /* 2 to 8 */
    uint8_t shift;       /* 0 to 31, of all channels */
    bool input_is_signed, output_is_signed;
    bool weights_in_memory; /* in the chip's weight memory, not in L1: pixels are then loaded beside products */
    uint16_t rows, columns, channels, input_channels; /* depth-wise: as many of both */
    uint32_t input_pixel_bytes, input_row_bytes;
    uint32_t output_pixel_bytes, output_row_bytes;
    const void *input, *weights;
    const void *multipliers; /* 32 bits each without a sign; null for sums */
    const void *addends;     /* 32 bits each; null but for bytes */
    void *output;            /* channels of a pixel side by side */
};

/* What the engine's registers hold of a job beside pointers: strides, shape, configuration. */
#define DORY_NEUREKA_REGISTERS     18u
#define DORY_NEUREKA_WEIGHT_MEMORY 512 /* in the last of them, the configuration: weights lie there */

struct dory_neureka_registers {
    uint32_t word[DORY_NEUREKA_REGISTERS];
};

/* The pointers of a job. */
struct dory_neureka_pointers {
    const void *weights, *input;
    void *output;
    const void *multipliers, *addends;
};

#define DORY_NEUREKA_WORD_BYTES  32u
#define DORY_NEUREKA_PIXELS      6u /* rows, and columns, of a tile */
#define DORY_NEUREKA_OUTPUTS     32u
#define DORY_NEUREKA_WIDE_INPUTS 28u /* of a word of a 3x3 window; of one of 1x1 there are 32 */

/* Input channels of a word. */
static inline uint32_t dory_neureka_inputs(enum dory_neureka_mode mode)
{
    return mode == DORY_NEUREKA_1X1 ? 32u : DORY_NEUREKA_WIDE_INPUTS;
}

/* Words that have them all. */
static inline uint32_t dory_neureka_words(enum dory_neureka_mode mode, uint32_t input_channels)
{
    uint32_t inputs = dory_neureka_inputs(mode);
    return (input_channels + inputs - 1) / inputs;
}

/* Bytes of weights of an output channel; depth-wise, of all channels. */
static inline uint32_t dory_neureka_weight_bytes(enum dory_neureka_mode mode, uint32_t input_channels, uint32_t weight_bits)
{
    return dory_neureka_words(mode, input_channels) * (mode == DORY_NEUREKA_1X1 ? 1 : weight_bits) * DORY_NEUREKA_WORD_BYTES;
}

/* Where a bit of a weight of an output channel lies, in bits from its first word on. */
static inline uint32_t dory_neureka_bit(enum dory_neureka_mode mode, uint32_t weight_bits, uint32_t input, uint32_t tap,
                                        uint32_t bit)
{
    uint32_t inputs = dory_neureka_inputs(mode), word = input / inputs, rest = input % inputs;
    return mode == DORY_NEUREKA_1X1 ? word * 256 + rest / 4 * 32 + bit * 4 + rest % 4
                                    : (word * weight_bits + bit) * 256 + tap * DORY_NEUREKA_WIDE_INPUTS + rest;
}

/* All of a job but its pointers. */
struct dory_neureka_registers dory_neureka_registers_of(const struct dory_neureka_job *job);

/* And back. */
struct dory_neureka_job dory_neureka_job_of(const struct dory_neureka_registers *registers,
                                            const struct dory_neureka_pointers *pointers);

/* ---- the engine: called by one core ---- */

/* True where a job can be started: fewer than two are there. */
bool dory_neureka_has_room(void);

/* Returns the job's number, which is that of the job before and one more. All that it reads is there, and stays so. */
uint32_t dory_neureka_start(const struct dory_neureka_registers *registers, const struct dory_neureka_pointers *pointers);

/* Any core: returns when the job has ended, and its output is there. */
void dory_neureka_await(uint32_t number);

/* What the engine makes of a job, in plain C. */
void dory_neureka_model(const struct dory_neureka_job *job);

#ifdef __cplusplus
}
#endif

#endif
