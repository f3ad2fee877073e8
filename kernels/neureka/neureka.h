/* The kernel for N-EUREKA: how layers become its jobs, and its weights' format.
 *
 * A block of weights has 32 output channels, depth-wise all of them: words as job.h has them, and behind them the constants.
 * Where the engine requantises, these are the multipliers of all channels of the block, then their addends; else those of
 * one channel after the other, as dory_normalise() reads them. Layers that may be WIDE (wide.h) have the multipliers of all
 * channels, a record for each, and for each a byte: 1 where its record is that of the form WIDE, 0 where it is its own
 * form's. */
#ifndef DORY_NEUREKA_H
#define DORY_NEUREKA_H

#include "dory/contract.h"
#include "dory/layer.h"
#include "job.h"

dory_kernel_function dory_neureka_convolution, dory_neureka_finish_convolution;

#define DORY_NEUREKA_FEW_CHANNELS 8u /* so few leave most of the engine's 28 idle, in a window of 3x3 */

/* True where cores lay all that the window of a pixel reads side by side, which the engine computes as a window of 1x1: of
 * windows that it does not have, or where it would be at work for pixels that are not taken, or for few channels. */
static inline bool dory_neureka_gathers(const struct dory_layer *layer)
{
    bool is_1x1 = layer->kernel_height == 1 && layer->kernel_width == 1;
    bool is_3x3 = layer->kernel_height == 3 && layer->kernel_width == 3 && layer->stride_height == 1 &&
                  layer->stride_width == 1 && layer->input_channels > DORY_NEUREKA_FEW_CHANNELS;
    return layer->operation == DORY_CONVOLUTION && !is_1x1 && !is_3x3;
}

static inline enum dory_neureka_mode dory_neureka_mode_of(const struct dory_layer *layer)
{
    return layer->operation == DORY_DEPTHWISE                          ? DORY_NEUREKA_DEPTHWISE
           : layer->kernel_height == 3 && !dory_neureka_gathers(layer) ? DORY_NEUREKA_3X3
                                                                       : DORY_NEUREKA_1X1;
}

/* Bytes that a row of a window reads, side by side. */
static inline uint32_t dory_neureka_run_bytes(const struct dory_layer *layer)
{
    return (uint32_t)layer->kernel_width * layer->input_channels;
}

/* Channels that the engine reads. */
static inline uint32_t dory_neureka_input_channels(const struct dory_layer *layer)
{
    return dory_neureka_gathers(layer) ? layer->kernel_height * dory_neureka_run_bytes(layer) : layer->input_channels;
}

/* Of a pixel that cores lay. */
static inline uint32_t dory_neureka_pixel_bytes(const struct dory_layer *layer)
{
    return dory_round_up(dory_neureka_input_channels(layer), 4);
}

/* Where in such a pixel a channel of a tap lies: words of all rows, then what is left of the rows. */
static inline uint32_t dory_neureka_input_of(const struct dory_layer *layer, uint32_t input, uint32_t tap)
{
    uint32_t run = dory_neureka_run_bytes(layer), words_bytes = run & ~3u, row = tap / layer->kernel_width;
    uint32_t byte = tap % layer->kernel_width * layer->input_channels + input;
    return byte < words_bytes ? row * words_bytes + byte
                              : layer->kernel_height * words_bytes + row * (run - words_bytes) + byte - words_bytes;
}

/* True where the engine writes the layer's elements. Else it writes sums, of which the cores make them: the engine clips to
 * a whole byte and to nothing less, and has one form of requantisation. Its factors have no sign; see dory_engine. */
static inline bool dory_neureka_requantises(const struct dory_layer *layer)
{
    int32_t least = layer->output_is_signed ? INT8_MIN : 0;
    return layer->normalisation == DORY_NORMALISE_32 && layer->output_bits == 8 && layer->minimum <= least &&
           layer->maximum >= least + UINT8_MAX;
}

/* True where channels may have the form WIDE. */
static inline bool dory_neureka_may_be_wide(const struct dory_layer *layer)
{
    bool has_form = layer->normalisation == DORY_NORMALISE_CLAMPED || layer->normalisation == DORY_NORMALISE_HIGH ||
                    layer->normalisation == DORY_NORMALISE_64 || layer->normalisation == DORY_NORMALISE_SPLIT;
    return has_form && layer->output_bits == 8;
}

/* Bytes of a channel's record where its layer may be WIDE: an addend, a shift, and where a step is taken off and which. */
static inline uint32_t dory_neureka_record_bytes(const struct dory_layer *layer)
{
    uint32_t own = dory_channel_constants_bytes(layer);
    return own > 16 ? own : 16;
}

#define DORY_NEUREKA_WIDE_SHIFT 16u /* the engine's, of a product of 47 bits */

/* Channels that a block has. */
static inline uint32_t dory_neureka_block_channels(const struct dory_layer *layer)
{
    return dory_minimum(dory_block_channels(layer), dory_round_up(layer->output_channels, 4));
}

/* Bytes of its weights. */
static inline uint32_t dory_neureka_block_weight_bytes(const struct dory_layer *layer)
{
    enum dory_neureka_mode mode = dory_neureka_mode_of(layer);
    uint32_t bytes = dory_neureka_weight_bytes(mode, dory_neureka_input_channels(layer), layer->weight_bits);
    return mode == DORY_NEUREKA_DEPTHWISE ? bytes : dory_neureka_block_channels(layer) * bytes;
}

/* Of its constants. */
static inline uint32_t dory_neureka_block_constants_bytes(const struct dory_layer *layer)
{
    bool may_be_wide = dory_neureka_may_be_wide(layer);
    return dory_neureka_block_channels(layer) *
           (may_be_wide ? 4 + dory_neureka_record_bytes(layer) + 1 : dory_channel_constants_bytes(layer));
}

/* Where records begin behind the multipliers, and bytes behind the records. */
static inline uint32_t dory_neureka_first_record(const struct dory_layer *layer)
{
    return 4 * dory_neureka_block_channels(layer);
}

static inline uint32_t dory_neureka_first_kind(const struct dory_layer *layer)
{
    return dory_neureka_block_channels(layer) * (4 + dory_neureka_record_bytes(layer));
}

static inline uint32_t dory_neureka_block_bytes(const struct dory_layer *layer)
{
    return dory_neureka_block_weight_bytes(layer) + dory_neureka_block_constants_bytes(layer);
}

#if !defined(DORY_NEUREKA_JOBS) /* 1, in generator and firmware: without cores beside the engine, for scripts/measure */
#define DORY_NEUREKA_JOBS 4u    /* at most, of a tile whose elements cores make */
#endif
#define DORY_NEUREKA_ELEMENTS 4096u /* of such a job, about: to start one costs a core a thousand cycles */

/* A tile's jobs: each some channels of a block, by a band of rows. Where cores work on one job's sums beside the next job
 * there are two to four of them. A window of 1x1 that steps by one pixel knows no rows: where the engine is all that a tile
 * waits for, pixels are in rows of six if it then has fewer tiles that are not full, and what is left of them is a band of
 * one row. */
struct dory_neureka_jobs {
    uint32_t blocks, block_channels;                /* the last block may have fewer */
    uint32_t parts, part_channels, parts_per_block; /* likewise */
    uint32_t rows, columns;                         /* of whole bands */
    uint32_t first_rows, band_rows;                 /* of the first band, of others */
    uint32_t bands;                                 /* with that of the rest */
    uint32_t rest;                                  /* pixels; 0: there is no such band */
    uint32_t step;                                  /* of the engine's pixels one is taken, in rows and columns */
    bool is_flat;                                   /* in rows of six */
    bool by_cores;                                  /* cores make elements of what the engine writes */
};

/* The engine's windows of 3x3 step by one pixel. Where a depth-wise layer's step by two, cores take every second one of its
 * rows and columns. */
static inline uint32_t dory_neureka_step(const struct dory_layer *layer)
{
    return layer->operation == DORY_DEPTHWISE ? layer->stride_height : 1;
}

static inline bool dory_neureka_is_by_cores(const struct dory_layer *layer)
{
    return !dory_neureka_requantises(layer) || dory_neureka_step(layer) > 1;
}

/* Rows, or columns, of which every step-th is taken. */
static inline uint32_t dory_neureka_stepped(uint32_t rows, uint32_t step) { return (rows - 1) * step + 1; }

static inline uint32_t dory_neureka_tiles(uint32_t rows, uint32_t columns)
{
    return dory_divide_up(rows, DORY_NEUREKA_PIXELS) * dory_divide_up(columns, DORY_NEUREKA_PIXELS);
}

/* The engine's tiles of 6x6 pixels, of a block. */
static inline uint32_t dory_neureka_engine_tiles(const struct dory_neureka_jobs *jobs)
{
    return dory_neureka_tiles(dory_neureka_stepped(jobs->rows, jobs->step),
                              dory_neureka_stepped(jobs->columns, jobs->step)) +
           (jobs->rest > 0);
}

/* Lays a tile's pixels in rows of six where that is better. */
static inline void dory_neureka_flatten(struct dory_neureka_jobs *jobs)
{
    uint32_t pixels = jobs->rows * jobs->columns, rows = pixels / DORY_NEUREKA_PIXELS, rest = pixels % DORY_NEUREKA_PIXELS;
    uint32_t tiles = dory_neureka_tiles(rows, DORY_NEUREKA_PIXELS) + (rest > 0);
    if (rows > 0 && tiles < dory_neureka_tiles(jobs->rows, jobs->columns)) {
        jobs->rows = rows;
        jobs->columns = DORY_NEUREKA_PIXELS;
        jobs->rest = rest;
        jobs->is_flat = true;
    }
}

/* Jobs that a tile is cut into where cores make so many elements: two where they take as long as it does to start one. */
static inline uint32_t dory_neureka_cuts(uint32_t elements)
{
    uint32_t cuts = elements / DORY_NEUREKA_ELEMENTS, least = elements < DORY_NEUREKA_ELEMENTS / 4 ? 1 : 2;
    return dory_minimum(cuts < least ? least : cuts, DORY_NEUREKA_JOBS);
}

/* Into channels as the engine has them together, then into rows. */
static inline void dory_neureka_cut(struct dory_neureka_jobs *jobs, uint32_t cuts, bool is_depthwise)
{
    if (!is_depthwise && jobs->blocks > 0 && jobs->blocks < cuts) {
        uint32_t channels = dory_divide_up(jobs->part_channels, cuts / jobs->blocks);
        jobs->part_channels = dory_minimum(dory_round_up(channels, DORY_NEUREKA_OUTPUTS), jobs->block_channels);
        jobs->parts_per_block = dory_divide_up(jobs->block_channels, jobs->part_channels);
    }
}

/* The first band has no more than the others: cores have nothing to do until it is there. */
static inline void dory_neureka_cut_rows(struct dory_neureka_jobs *jobs, uint32_t cuts)
{
    if (jobs->parts > 0 && jobs->parts < cuts) {
        uint32_t together = DORY_NEUREKA_PIXELS / dory_minimum(jobs->step, 2), tiles = dory_divide_up(jobs->rows, together);
        uint32_t each = dory_divide_up(tiles, cuts / jobs->parts);
        jobs->bands = dory_divide_up(tiles, each);
        jobs->band_rows = together * each;
        jobs->first_rows = dory_minimum(together * (tiles - (jobs->bands - 1) * each), jobs->rows);
    }
}

static inline void dory_neureka_set_jobs(struct dory_neureka_jobs *jobs, const struct dory_layer *layer, uint32_t rows,
                                         uint32_t columns, uint32_t channels)
{
    bool is_1x1 = layer->kernel_height == 1 && layer->kernel_width == 1;
    bool is_dense = is_1x1 && layer->stride_height == 1 && layer->stride_width == 1;
    jobs->block_channels = dory_neureka_block_channels(layer);
    jobs->blocks = dory_divide_up(channels, jobs->block_channels);
    jobs->part_channels = dory_minimum(jobs->block_channels, channels);
    jobs->parts_per_block = 1;
    jobs->rows = rows;
    jobs->columns = columns;
    jobs->rest = 0;
    jobs->is_flat = false;
    jobs->step = dory_neureka_step(layer);
    jobs->by_cores = dory_neureka_is_by_cores(layer);
    if (!jobs->by_cores && layer->rows.output_gap == 0 && (is_dense || dory_neureka_gathers(layer))) {
        dory_neureka_flatten(jobs);
    }
    jobs->first_rows = jobs->band_rows = jobs->rows;
    jobs->bands = 1 + (jobs->rest > 0);
    uint32_t cuts = jobs->by_cores ? dory_neureka_cuts(rows * columns * channels) : 1;
    dory_neureka_cut(jobs, cuts, layer->operation == DORY_DEPTHWISE);
    uint32_t last = channels - (jobs->blocks - 1) * jobs->block_channels;
    jobs->parts = (jobs->blocks - 1) * jobs->parts_per_block + dory_divide_up(last, jobs->part_channels);
    dory_neureka_cut_rows(jobs, cuts);
}

/* Where the parts of a block's constants lie, where its layer may be WIDE. */
struct dory_neureka_records {
    uint32_t first_record, record_bytes, first_kind;
};

/* What kernels ask of a tile: found once. */
struct dory_neureka_common {
    struct dory_neureka_records records;
    uint32_t block_channels;
    uint16_t jobs;
    uint8_t step, element_bytes; /* of the output */
    bool by_cores, may_be_wide, requantises;
};

/* A job of a tile. Nothing in it depends on where the tile lies. */
struct dory_neureka_part {
    uint16_t rows, columns, channels; /* rows and columns of the layer, of which the engine makes step x step as many */
    uint16_t first;                   /* of its channels, in its block */
    uint32_t input;                   /* from the tile's input on, or from scratch where pixels are gathered */
    uint32_t weights;                 /* from the tile's weights on */
    uint32_t constants;               /* of its block: likewise, or from scratch where weights are in their memory */
    uint32_t sums;                    /* what the engine leaves for the cores: from scratch on */
    uint32_t output;                  /* from the tile's output on */
    struct dory_neureka_registers registers;
};

/* A tile's jobs as the generator makes them, the last of a block's constants: a core that has to find all this out waits for
 * L2 instruction by instruction, 3,000 cycles for two jobs. They are those of the layer's largest tile, nearly always of all
 * its tiles. Only blocks of layers with few of them end so: others have more jobs, beside which that time is short. */
#define DORY_NEUREKA_PREPARED_JOBS 4u

struct dory_neureka_prepared {
    uint16_t rows, columns, channels, reserved; /* of the tile; 0: it has more jobs */
    struct dory_neureka_common common;
    struct dory_neureka_part part[DORY_NEUREKA_PREPARED_JOBS];
};
_Static_assert(sizeof(struct dory_neureka_prepared) == 432, "the same on generator and chip, in whole words");

static inline uint32_t dory_neureka_prepared_bytes(const struct dory_layer *layer)
{
    bool has_few = layer->output_channels <= DORY_NEUREKA_PREPARED_JOBS * dory_block_channels(layer);
    return has_few ? (uint32_t)sizeof(struct dory_neureka_prepared) : 0;
}

/* Of another tile. */
struct dory_neureka_description {
    struct dory_neureka_common common;
    struct dory_neureka_jobs jobs;
    struct dory_neureka_job job;                      /* what all parts have in common */
    uint32_t block_bytes, weight_bytes;               /* of a block */
    uint32_t input, constants, constants_step;        /* of the first pixel that the engine reads, of the first block */
    uint32_t sums, pixels, tile_channels, left_bytes; /* what the engine leaves for the cores, an element */
    uint32_t pitch;                                   /* pixels from row to row of the output */
};

/* Whose pointers are not read. */
void dory_neureka_describe(const struct dory_layer *layer, const struct dory_tile *tile,
                           struct dory_neureka_description *description);

/* Sets one of its jobs, but no registers; and finds those, which are the same for all parts of a shape. */
void dory_neureka_set_part(const struct dory_neureka_description *description, uint32_t index,
                           struct dory_neureka_part *part);
struct dory_neureka_registers dory_neureka_registers_of_part(const struct dory_neureka_description *description,
                                                             const struct dory_neureka_part *part);

/* At the start of scratch; behind it constants, where weights are in their memory, gathered pixels and sums. */
struct dory_neureka_queue {
    uint32_t first_number, started; /* of the tile's jobs */
    bool is_prepared;
    struct dory_neureka_description description; /* of a tile that is not */
    struct dory_neureka_part part[2];            /* its jobs that were started last */
};

#define DORY_NEUREKA_QUEUE_BYTES 448u /* the same on generator and chip */
_Static_assert(sizeof(struct dory_neureka_queue) <= DORY_NEUREKA_QUEUE_BYTES, "it has room");

#endif
