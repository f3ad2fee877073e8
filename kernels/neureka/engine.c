/* Starts jobs, and waits for them: on Siracusa by the engine's registers, elsewhere by its model. */
#include "job.h"

#if defined(DORY_NEUREKA)

/* Registers, as the maintained gvsoc's model and programs that tried it have them. */
struct registers {
    uint32_t start; /* write 0: what was configured is queued, and runs when its turn has come */
    int32_t acquire;
    uint32_t reserved;
    uint32_t contexts; /* in use: bits 0 and 8 */
    uint32_t running;  /* number of the job that runs, or ran last, in its low 8 bits */
    uint32_t reserved_behind[3];
    uint32_t job[24];
};
_Static_assert(sizeof(struct registers) == 0x80, "job registers lie from 0x20 on");
#define WEIGHT_MEMORY 0x10400000u /* what the engine counts from there */
#define ENGINE        ((volatile struct registers *)0x10201000u)

enum {
    CONFIGURATION_NORMALISES = 1 << 4,
    CONFIGURATION_MODE = 5,
    CONFIGURATION_WEIGHT_MEMORY = 1 << 9,
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

static uint32_t address_of(const void *pointer) { return (uint32_t)(uintptr_t)pointer; }

static void write_pointers(const struct dory_neureka_job *job, volatile uint32_t *to)
{
    to[0] = address_of(job->weights) - (job->weights_in_memory ? WEIGHT_MEMORY : 0);
    to[1] = address_of(job->input);
    to[2] = address_of(job->output);
    to[3] = address_of(job->multipliers);
    to[4] = 0; /* shifts of channels */
    to[5] = address_of(job->addends);
}

static void write_strides(const struct dory_neureka_job *job, uint32_t words, volatile uint32_t *to)
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

static void write_shape(const struct dory_neureka_job *job, uint32_t words, volatile uint32_t *to)
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

bool dory_neureka_has_room(void) { return (ENGINE->contexts & 0x101) != 0x101; }

uint32_t dory_neureka_start(const struct dory_neureka_job *job)
{
    uint32_t words = dory_neureka_words((enum dory_neureka_mode)job->mode, job->input_channels);
    int32_t number;
    while ((number = ENGINE->acquire) < 0) {
    }
    write_pointers(job, ENGINE->job);
    write_strides(job, words, ENGINE->job + 6);
    write_shape(job, words, ENGINE->job + 15);
    __asm__ volatile("" : : : "memory");
    ENGINE->start = 0;
    return (uint32_t)number;
}

/* The engine counts jobs in 8 bits. */
static bool has_ended(uint32_t number)
{
    int8_t later = (int8_t)(ENGINE->running - number);
    return later > 0 || (later == 0 && ENGINE->contexts == 0);
}

void dory_neureka_await(uint32_t number)
{
    while (!has_ended(number)) {
    }
    __asm__ volatile("" : : : "memory");
}

#else

bool dory_neureka_has_room(void) { return true; }

uint32_t dory_neureka_start(const struct dory_neureka_job *job)
{
    static uint32_t number; /* of one core, which others meet before they ask for it */
    dory_neureka_model(job);
    return number++;
}

void dory_neureka_await(uint32_t number) { (void)number; }

#endif
