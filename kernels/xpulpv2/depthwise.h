/* What all depth-wise kernels share: which core does what, and the transpose of the HWC input into words of four pixels
 * of one channel. The computing part, which sees only these words, is a function that is inlined here. */
#ifndef DORY_XPULPV2_DEPTHWISE_H
#define DORY_XPULPV2_DEPTHWISE_H

#include <stdbool.h>

#include "normalise.h"
#include "scratch.h"
#include "share.h"
#include "transpose.h"

/* Four output columns of four channels ("lanes"), the rows of a band. */
struct dory_strip {
    const uint8_t *unit[DORY_DEPTHWISE_MOST_UNITS]; /* [4 lanes][input_rows] words of the units that the strip reads, from the left */
    const uint8_t *weights, *constants;             /* of the quad of channels */
    uint8_t *output;                                /* first row and column, lane 0 */
    uint32_t rows, input_rows;
    uint32_t columns, lanes; /* 1 to 4 */
    bool new_quad;           /* other weights than the strip before */
};

/* The work on one tile, as far as it is the same for all strips. */
struct dory_depthwise {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    struct dory_normaliser normaliser;
    uint8_t *ring;   /* of this core: `units` units */
    uint8_t *spread; /* behind it: for the computing part */
    uint32_t units, unit_bytes;
    uint32_t stride_height, stride_width, kernel_height;
    uint32_t rows, columns, channels, input_columns;
    uint32_t lane_weight_bytes, quad_bytes;
    uint32_t band_rows;
};

typedef void dory_depthwise_strip(const struct dory_depthwise *work, const struct dory_strip *strip);

/* Input column 4 * unit and the three behind it, in the quad's channels, from the band's first row on. Columns that are
 * not there are read by weights that are zero, or by no output: any value will do. */
static inline void dory_transpose_unit(const struct dory_depthwise *work, const struct dory_strip *strip, const uint8_t *band,
                                       uint32_t unit, uint32_t slot)
{
    uint32_t column = 4 * unit, channels = work->channels;
    if (column >= work->input_columns) {
        return;
    }
    uint32_t left = work->input_columns - column;
    struct dory_transpose job = {
        .input = band + column * channels,
        .offset = {left > 1 ? channels : 0, left > 2 ? 2 * channels : 0, left > 3 ? 3 * channels : 0},
        .row_bytes = work->input_columns * channels,
        .rows = strip->input_rows,
        .output = work->ring + slot * work->unit_bytes,
        .lanes = strip->lanes,
    };
    if (channels % 4 == 0) {
        dory_transpose_words(&job);
    } else {
        struct dory_transpose passed = job; /* a copy, so that the other branch's may stay in registers */
        dory_transpose_bytes(&passed);
    }
}

/* The strips of a band from left to right. Each reads `units` units, of which the strip before has left the first ones
 * in the ring. */
static inline __attribute__((always_inline)) void dory_depthwise_band(const struct dory_depthwise *work, struct dory_strip *strip,
                                                                      const uint8_t *band, uint8_t *output,
                                                                      dory_depthwise_strip *compute)
{
    uint32_t next = 0, next_slot = 0;   /* the unit to transpose next, and where to */
    uint32_t behind = 0, first_slot = 0; /* the unit behind the strip's last one; where its first one is */
    uint32_t units = work->units, step = 4 * work->channels * work->normaliser.output_bytes;
    strip->output = output;
    for (uint32_t left = work->columns; left > 0; left -= strip->columns) {
        for (behind = behind ? behind + work->stride_width : units; next < behind; next++) {
            dory_transpose_unit(work, strip, band, next, next_slot);
            next_slot = next_slot + 1 == units ? 0 : next_slot + 1;
        }
        for (uint32_t i = 0, slot = first_slot; i < units; i++) {
            strip->unit[i] = work->ring + slot * work->unit_bytes;
            slot = slot + 1 == units ? 0 : slot + 1;
        }
        strip->columns = dory_minimum(4, left);
        compute(work, strip);
        strip->new_quad = false;
        strip->output += step;
        for (first_slot += work->stride_width; first_slot >= units;) {
            first_slot -= units;
        }
    }
}

static inline void dory_depthwise_start(struct dory_depthwise *work, const struct dory_layer *layer, const struct dory_tile *tile,
                                        unsigned core, uint32_t spread_bytes)
{
    uint32_t stride = layer->stride_height, kernel = layer->kernel_height;
    work->layer = layer;
    work->tile = tile;
    work->normaliser = dory_normaliser_of(layer);
    work->rows = tile->rows;
    work->columns = tile->columns;
    work->channels = tile->channels;
    work->input_columns = tile->input_columns;
    work->band_rows = dory_depthwise_band_rows(kernel, stride, work->rows);
    work->units = dory_depthwise_units(layer);
    work->unit_bytes = dory_depthwise_unit_bytes(kernel, stride, work->band_rows);
    work->ring = (uint8_t *)tile->scratch + core * (work->units * work->unit_bytes + spread_bytes);
    work->spread = work->ring + work->units * work->unit_bytes;
    work->stride_height = stride;
    work->stride_width = layer->stride_width;
    work->kernel_height = kernel;
    work->lane_weight_bytes = dory_depthwise_quad_weight_bytes(layer) / 4;
    work->quad_bytes = 4 * work->lane_weight_bytes + dory_constants_bytes(layer);
}

/* A core's share is a range of the grid of channel quads by rows, cut into bands. */
static inline __attribute__((always_inline)) void dory_depthwise_run(const struct dory_layer *layer, const struct dory_tile *tile,
                                                                     unsigned core, unsigned cores, dory_depthwise_strip *compute,
                                                                     uint32_t spread_bytes)
{
    struct dory_depthwise work;
    struct dory_strip strip;
    dory_depthwise_start(&work, layer, tile, core, spread_bytes);
    uint32_t pixel_bytes = work.channels * work.normaliser.output_bytes;
    struct dory_grid_share share = dory_grid_share_of((work.channels + 3) / 4, work.rows, core, cores);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, work.rows), channel = 4 * share.row;
        strip.weights = (const uint8_t *)tile->weights + share.row * work.quad_bytes;
        strip.constants = strip.weights + 4 * work.lane_weight_bytes;
        strip.lanes = dory_minimum(4, work.channels - channel);
        strip.new_quad = true;
        for (uint32_t row = share.first; row < end; row += strip.rows) {
            uint32_t input_row = row * work.stride_height;
            strip.rows = dory_minimum(work.band_rows, end - row);
            strip.input_rows = (strip.rows - 1) * work.stride_height + work.kernel_height;
            dory_depthwise_band(&work, &strip, (const uint8_t *)tile->input + input_row * work.input_columns * work.channels + channel,
                                (uint8_t *)tile->output + row * work.columns * pixel_bytes + channel * work.normaliser.output_bytes,
                                compute);
        }
        dory_grid_share_next_row(&share, end);
    }
}

#endif
