/* The kernel for N-EUREKA: how layers become its jobs, and its weights' format.
 *
 * A block of weights has 32 output channels, depth-wise all of them: words as job.h has them, and behind them the constants.
 * Where the engine requantises, these are the multipliers of all channels of the block, then their addends; else those of
 * one channel after the other, as dory_normalise() reads them. */
#ifndef DORY_NEUREKA_H
#define DORY_NEUREKA_H

#include "dory/contract.h"
#include "dory/layer.h"
#include "job.h"

dory_kernel_function dory_neureka_convolution, dory_neureka_finish_convolution;

static inline enum dory_neureka_mode dory_neureka_mode_of(const struct dory_layer *layer)
{
    return layer->operation == DORY_DEPTHWISE ? DORY_NEUREKA_DEPTHWISE
           : layer->kernel_height == 1        ? DORY_NEUREKA_1X1
                                              : DORY_NEUREKA_3X3;
}

/* True where the engine writes the layer's elements. Else it writes sums, of which the cores make them: the engine clips to
 * a whole byte and to nothing less, and has one form of requantisation. Its factors have no sign; see dory_engine. */
static inline bool dory_neureka_requantises(const struct dory_layer *layer)
{
    int32_t least = layer->output_is_signed ? INT8_MIN : 0;
    return layer->normalisation == DORY_NORMALISE_32 && layer->output_bits == 8 && layer->minimum <= least &&
           layer->maximum >= least + UINT8_MAX;
}

/* Channels that a block has. */
static inline uint32_t dory_neureka_block_channels(const struct dory_layer *layer)
{
    return dory_minimum(dory_block_channels(layer), dory_round_up(layer->output_channels, 4));
}

/* Bytes of its weights. */
static inline uint32_t dory_neureka_block_weight_bytes(const struct dory_layer *layer)
{
    enum dory_neureka_mode mode = dory_neureka_mode_of(layer);
    uint32_t bytes = dory_neureka_weight_bytes(mode, layer->input_channels, layer->weight_bits);
    return mode == DORY_NEUREKA_DEPTHWISE ? bytes : dory_neureka_block_channels(layer) * bytes;
}

static inline uint32_t dory_neureka_block_bytes(const struct dory_layer *layer)
{
    return dory_neureka_block_weight_bytes(layer) + dory_neureka_block_channels(layer) * dory_channel_constants_bytes(layer);
}

/* A tile's jobs: each a block of channels by a band of rows. Where cores work on one job's sums beside the next job there
 * are some eight of them. */
struct dory_neureka_jobs {
    uint32_t blocks, block_channels; /* the last block may have fewer */
    uint32_t bands, band_rows;
};

static inline struct dory_neureka_jobs dory_neureka_jobs_of(const struct dory_layer *layer, uint32_t rows, uint32_t channels)
{
    struct dory_neureka_jobs jobs = {.block_channels = dory_neureka_block_channels(layer), .band_rows = rows, .bands = 1};
    jobs.blocks = dory_divide_up(channels, jobs.block_channels);
    if (!dory_neureka_requantises(layer) && jobs.blocks < 8) {
        jobs.band_rows = dory_round_up(dory_divide_up(rows, 8 / jobs.blocks), DORY_NEUREKA_PIXELS);
        jobs.bands = dory_divide_up(rows, jobs.band_rows);
    }
    return jobs;
}

/* In front of a tile's sums, in scratch. */
struct dory_neureka_queue {
    uint32_t first_number; /* of its jobs */
    uint32_t started;      /* how many of them */
};

#endif
