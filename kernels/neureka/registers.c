/* A job as the engine's registers have it, and back. The generator makes them, too: a core that finds them starts a job by
 * some stores. */
#include "job.h"

#define SHAPE 9 /* behind the strides */

enum {
    CONFIGURATION_NORMALISES = 1 << 4,
    CONFIGURATION_MODE = 5,
    CONFIGURATION_WEIGHT_MEMORY = DORY_NEUREKA_WEIGHT_MEMORY,
    CONFIGURATION_PREFETCH = 1 << 10,
    CONFIGURATION_WORD_MULTIPLIERS = 2 << 12,
    CONFIGURATION_SHIFT = 16,
    CONFIGURATION_WORD_OUTPUT = 2 << 21,
    CONFIGURATION_SIGNED_OUTPUT = 1 << 23,
    CONFIGURATION_ADDENDS = 1 << 25,
    CONFIGURATION_SIGNED_INPUT = 1 << 26
};

static uint32_t configuration_of(const struct dory_neureka_job *job)
{
    bool has_words = job->output_kind != DORY_NEUREKA_BYTES;
    uint32_t all = (job->weight_bits - 1u) | (uint32_t)job->mode << CONFIGURATION_MODE | CONFIGURATION_WORD_MULTIPLIERS;
    all |= job->output_kind == DORY_NEUREKA_SUMS ? 0 : CONFIGURATION_NORMALISES;
    all |= job->output_kind == DORY_NEUREKA_BYTES ? CONFIGURATION_ADDENDS : 0;
    all |= has_words ? CONFIGURATION_WORD_OUTPUT : 0;
    all |= has_words || job->output_is_signed ? CONFIGURATION_SIGNED_OUTPUT : 0;
    all |= job->weights_in_memory ? CONFIGURATION_WEIGHT_MEMORY | CONFIGURATION_PREFETCH : 0;
    all |= job->input_is_signed ? CONFIGURATION_SIGNED_INPUT : 0;
    return all | (uint32_t)job->shift << CONFIGURATION_SHIFT;
}

/* Tiles, and what the last of them has: all of it where it divides. */
struct cut {
    uint32_t tiles, rest;
};

static struct cut cut_of(uint32_t all, uint32_t tile)
{
    uint32_t tiles = (all + tile - 1) / tile;
    return (struct cut){tiles, all - (tiles - 1) * tile};
}

static void write_strides(const struct dory_neureka_job *job, uint32_t words, uint32_t *to)
{
    to[0] = job->input_pixel_bytes;
    to[1] = job->input_row_bytes;
    to[2] = 0;
    to[3] = DORY_NEUREKA_WORD_BYTES; /* of one output channel's 8 words, to the next */
    to[4] = job->output_pixel_bytes;
    to[5] = job->output_row_bytes;
    to[6] = DORY_NEUREKA_WORD_BYTES;
    to[7] = job->mode == DORY_NEUREKA_1X1   ? DORY_NEUREKA_WORD_BYTES * words
            : job->mode == DORY_NEUREKA_3X3 ? DORY_NEUREKA_WORD_BYTES * words * job->weight_bits
                                            : 0;
    to[8] = 0;
}

static void write_shape(const struct dory_neureka_job *job, uint32_t words, uint32_t *to)
{
    uint32_t inputs = dory_neureka_inputs((enum dory_neureka_mode)job->mode), more = job->mode == DORY_NEUREKA_1X1 ? 0 : 2;
    struct cut rows = cut_of(job->rows, DORY_NEUREKA_PIXELS), columns = cut_of(job->columns, DORY_NEUREKA_PIXELS);
    struct cut channels = cut_of(job->channels, job->mode == DORY_NEUREKA_DEPTHWISE ? inputs : DORY_NEUREKA_OUTPUTS);
    to[0] = channels.rest << 16 | (job->input_channels - (words - 1) * inputs);
    to[1] = rows.rest << 16 | columns.rest;
    to[2] = (rows.rest + more) << 16 | (columns.rest + more);
    to[3] = channels.tiles << 16 | words;
    to[4] = rows.tiles << 16 | columns.tiles;
    to[5] = 0;                                    /* border */
    to[6] = 0u - (1u << (job->weight_bits - 1u)); /* what a weight of bits 0 is */
    to[7] = 0;                                    /* taps that are left out */
    to[8] = configuration_of(job);
}

struct dory_neureka_registers dory_neureka_registers_of(const struct dory_neureka_job *job)
{
    struct dory_neureka_registers registers;
    uint32_t words = dory_neureka_words((enum dory_neureka_mode)job->mode, job->input_channels);
    write_strides(job, words, registers.word);
    write_shape(job, words, registers.word + SHAPE);
    return registers;
}

/* ---- and back ---- */

static uint16_t all_of(uint32_t tiles, uint32_t tile, uint32_t rest) { return (uint16_t)((tiles - 1) * tile + rest); }

static void read_shape(const uint32_t *from, struct dory_neureka_job *job)
{
    uint32_t inputs = dory_neureka_inputs((enum dory_neureka_mode)job->mode);
    uint32_t outputs = job->mode == DORY_NEUREKA_DEPTHWISE ? inputs : DORY_NEUREKA_OUTPUTS;
    job->input_channels = all_of(from[3] & 0xffff, inputs, from[0] & 0xffff);
    job->channels = all_of(from[3] >> 16, outputs, from[0] >> 16);
    job->rows = all_of(from[4] >> 16, DORY_NEUREKA_PIXELS, from[1] >> 16);
    job->columns = all_of(from[4] & 0xffff, DORY_NEUREKA_PIXELS, from[1] & 0xffff);
}

static void read_configuration(uint32_t all, struct dory_neureka_job *job)
{
    job->mode = (uint8_t)(all >> CONFIGURATION_MODE & 3);
    job->weight_bits = (uint8_t)((all & 7) + 1);
    job->shift = (uint8_t)(all >> CONFIGURATION_SHIFT & 31);
    job->output_kind = (uint8_t)(all & CONFIGURATION_ADDENDS      ? DORY_NEUREKA_BYTES
                                 : all & CONFIGURATION_NORMALISES ? DORY_NEUREKA_WIDE
                                                                  : DORY_NEUREKA_SUMS);
    job->weights_in_memory = (all & CONFIGURATION_WEIGHT_MEMORY) != 0;
    job->input_is_signed = (all & CONFIGURATION_SIGNED_INPUT) != 0;
    job->output_is_signed = (all & CONFIGURATION_SIGNED_OUTPUT) != 0;
}

struct dory_neureka_job dory_neureka_job_of(const struct dory_neureka_registers *registers,
                                            const struct dory_neureka_pointers *pointers)
{
    const uint32_t *word = registers->word;
    struct dory_neureka_job job = {.input = pointers->input,
                                   .weights = pointers->weights,
                                   .output = pointers->output,
                                   .multipliers = pointers->multipliers,
                                   .addends = pointers->addends,
                                   .input_pixel_bytes = word[0],
                                   .input_row_bytes = word[1],
                                   .output_pixel_bytes = word[4],
                                   .output_row_bytes = word[5]};
    read_configuration(word[DORY_NEUREKA_REGISTERS - 1], &job);
    read_shape(word + SHAPE, &job);
    return job;
}
