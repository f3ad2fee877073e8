/* What all depth-wise kernels share: which core does what, and the transpose of the HWC input into words of four pixels
 * of one channel. The computing part, which sees only these words, is a function that is inlined here.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_DEPTHWISE_H
#define DORY_XPULPV2_DEPTHWISE_H

#include <stdbool.h>

#include "../normalise.h"
#include "../scratch.h"
#include "../share.h"
#include "../transpose.h"
#include "quads.h"

/* Four output columns of four channels ("lanes"), the rows of a band. */
struct dory_strip {
    uint8_t *unit[DORY_DEPTHWISE_MAXIMUM_UNITS]; /* [4 lanes][input_rows] words of the units that the strip reads, from the
                                                    left */
    const uint8_t *weights, *constants;          /* of the quad of channels */
    uint8_t *output;                             /* first row and column, lane 0 */
    uint32_t rows, input_rows;
    uint32_t columns, lanes; /* 1 to 4 */
    bool new_quad, new_band; /* other weights, other rows than the strip before */
    struct {                 /* for the computing part, which keeps here what is the same for all strips of a band */
        int32_t step[3], row_step;
        uint32_t rounds, rest;
    } own;
};

/* The work on one tile, as far as it is the same for all strips. */
struct dory_depthwise {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    uint32_t output_bytes; /* of an element */
    uint8_t *ring;         /* of this core: `units` units */
    uint8_t *spread;       /* behind it: for the computing part */
    uint32_t units, unit_bytes;
    uint32_t stride_height, stride_width, kernel_height;
    uint32_t rows, columns, channels, input_columns;
    uint32_t lane_weight_bytes, quad_bytes;
    uint32_t band_rows;
    struct dory_series *series; /* of the kernels of any size */
};

/* That of the kernels 3x3: others have a normaliser in their series, and no stack for another. */
struct dory_depthwise_normalised {
    struct dory_depthwise work;
    struct dory_normaliser normaliser;
};

static inline const struct dory_normaliser *dory_normaliser_of(const struct dory_depthwise *work)
{
    return &((const struct dory_depthwise_normalised *)work)->normaliser;
}

typedef void dory_depthwise_strip(const struct dory_depthwise *work, struct dory_strip *strip);

/* Input columns `column` to column + 3 in the quad's channels, from the band's first row on. Columns that are not
 * there are read by weights that are zero, or by no output: any value will do. */
static inline __attribute__((always_inline)) void dory_transpose_unit(const struct dory_depthwise *work,
                                                                      const struct dory_strip *strip, const uint8_t *band,
                                                                      uint32_t column, uint8_t *unit)
{
    uint32_t channels = work->channels, left = work->input_columns - column;
    if (column >= work->input_columns) {
        return;
    }
    struct dory_transpose job = {
        .input = band + column * channels,
        .offset = {channels, 2 * channels, 3 * channels},
        .row_bytes = work->input_columns * channels,
        .rows = strip->input_rows,
        .output = unit,
        .lane_bytes = 4 * strip->input_rows,
        .lanes = strip->lanes,
    };
    if (left < 4) {
        job.offset[2] = 0;
        job.offset[1] = left < 3 ? 0 : job.offset[1];
        job.offset[0] = left < 2 ? 0 : job.offset[0];
    }
    if (channels % 4 != 0) {
        struct dory_transpose passed = job; /* a copy, so that the other branches' may stay in registers */
        dory_transpose_bytes(&passed);
    } else if (left <= 2) {
        dory_transpose_halves(&job);
    } else {
        dory_transpose_words(&job);
    }
}

/* The same of units `unit` and the next one, which is two columns further, where pixels are whole words; see any.c. */
void dory_transpose_two_units(const struct dory_depthwise *work, const struct dory_strip *strip, const uint8_t *band,
                              uint32_t column, uint32_t unit);

/* The strip's units `first` to `end` - 1, so many columns apart; those two columns apart are an even number. */
static inline __attribute__((always_inline)) void dory_transpose_units(const struct dory_depthwise *work,
                                                                       const struct dory_strip *strip, const uint8_t *band,
                                                                       uint32_t column, uint32_t first, uint32_t end,
                                                                       uint32_t spacing)
{
    for (uint32_t i = first; i < end; i++) {
        uint32_t start = column + spacing * i;
        if (spacing == 2 && work->channels % 4 == 0 && start + 2 < work->input_columns) {
            dory_transpose_two_units(work, strip, band, start, i++);
        } else {
            dory_transpose_unit(work, strip, band, start, strip->unit[i]);
        }
    }
}

/* Steps the strip's units on by `stride` in the ring, so that the last ones of the strip before become the first ones. */
static inline __attribute__((always_inline)) void
dory_rotate_units(const struct dory_depthwise *work, struct dory_strip *strip, uint32_t units, uint32_t stride)
{
    const uint8_t *end = work->spread; /* of the ring */
    uint32_t step = stride * work->unit_bytes, ring_bytes = units * work->unit_bytes;
    for (uint32_t i = 0; i < units; i++) {
        strip->unit[i] += step;
        if (strip->unit[i] >= end) {
            strip->unit[i] -= ring_bytes;
        }
    }
}

/* The strips of a band from left to right. Each reads `units` units, `spacing` columns apart, of which the strip before has
 * left all but `stride`. */
static inline __attribute__((always_inline)) void dory_depthwise_band(const struct dory_depthwise *work,
                                                                      struct dory_strip *strip, const uint8_t *band,
                                                                      uint32_t units, uint32_t stride, uint32_t spacing,
                                                                      dory_depthwise_strip *compute)
{
    uint32_t output_step = 4 * work->channels * work->output_bytes, column = 0, left = work->columns;
    for (uint32_t i = 0; i < units; i++) {
        strip->unit[i] = work->ring + i * work->unit_bytes;
    }
    uint32_t kept = units > stride ? units - stride : 0, first = 0;
    if (__builtin_constant_p(units)) { /* which strips share has code of its own then, so that no loop counts what is new */
        dory_transpose_units(work, strip, band, 0, 0, kept, spacing);
        first = kept;
    }
    for (;; column += spacing * stride, strip->output += output_step, left -= 4) {
        dory_transpose_units(work, strip, band, column, first, units, spacing);
        first = kept;
        strip->columns = dory_minimum(4, left);
        compute(work, strip);
        strip->new_quad = strip->new_band = false;
        if (left <= 4) {
            return;
        }
        if (units > stride) {
            dory_rotate_units(work, strip, units, stride);
        }
    }
}

static inline void dory_depthwise_start(struct dory_depthwise *work, const struct dory_layer *layer,
                                        const struct dory_tile *tile, unsigned core, uint32_t units, uint32_t spread_bytes)
{
    uint32_t stride = layer->stride_height, kernel = layer->kernel_height;
    work->layer = layer;
    work->tile = tile;
    work->output_bytes = layer->output_bits / 8u;
    work->rows = tile->rows;
    work->columns = tile->columns;
    work->channels = tile->channels;
    work->input_columns = tile->input_columns;
    work->band_rows = dory_depthwise_band_rows(kernel, stride, work->rows);
    work->units = units;
    work->unit_bytes = dory_depthwise_unit_bytes(kernel, stride, work->band_rows);
    work->ring = (uint8_t *)tile->scratch + core * (units * work->unit_bytes + spread_bytes);
    work->spread = work->ring + units * work->unit_bytes;
    work->stride_height = stride;
    work->stride_width = layer->stride_width;
    work->kernel_height = kernel;
    work->lane_weight_bytes = dory_depthwise_quad_weight_bytes(layer) / 4;
    work->quad_bytes = 4 * work->lane_weight_bytes + dory_constants_bytes(layer);
}

/* A core's share is a range of the grid of channel quads by rows, cut into bands. `units`, `stride` and `spacing` are those
 * of the layer, as constants where the caller knows them. */
static inline __attribute__((always_inline)) void dory_depthwise_share(struct dory_depthwise *work, unsigned core,
                                                                       unsigned cores, uint32_t units, uint32_t stride,
                                                                       uint32_t spacing, dory_depthwise_strip *compute)
{
    const struct dory_tile *tile = work->tile;
    struct dory_strip strip;
    uint32_t output_bytes = work->output_bytes, output_row_bytes = work->columns * work->channels * output_bytes;
    uint32_t input_row_bytes = work->stride_height * work->input_columns * work->channels;
    struct dory_grid_share share = dory_grid_share_of((work->channels + 3) / 4, work->rows, core, cores);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, work->rows), channel = 4 * share.row;
        strip.weights = (const uint8_t *)tile->weights + share.row * work->quad_bytes;
        strip.constants = strip.weights + 4 * work->lane_weight_bytes;
        strip.lanes = dory_minimum(4, work->channels - channel);
        strip.new_quad = true;
        for (uint32_t row = share.first; row < end; row += strip.rows) {
            strip.new_band = true;
            strip.rows = dory_minimum(work->band_rows, end - row);
            strip.input_rows = (strip.rows - 1) * work->stride_height + work->kernel_height;
            strip.output = (uint8_t *)tile->output + row * output_row_bytes + channel * output_bytes;
            dory_depthwise_band(work, &strip, (const uint8_t *)tile->input + row * input_row_bytes + channel, units, stride,
                                spacing, compute);
        }
        dory_grid_share_next_row(&share, end);
    }
}

/* The kernels whose compute part needs nothing beside that. */
static inline __attribute__((always_inline)) void dory_depthwise_run(const struct dory_layer *layer,
                                                                     const struct dory_tile *tile, unsigned core,
                                                                     unsigned cores, uint32_t units, uint32_t stride,
                                                                     dory_depthwise_strip *compute)
{
    struct dory_depthwise_normalised normalised;
    dory_start_normaliser(&normalised.normaliser, layer);
    dory_depthwise_start(&normalised.work, layer, tile, core, units, 0);
    dory_depthwise_share(&normalised.work, core, cores, units, stride, 4, compute);
}

#endif
