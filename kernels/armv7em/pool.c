/* Computes maximum and average pools of bytes. Shapes: any with channels by fours, HWC.
 *
 * Each core takes a part of the pixels, channels by fours. Inner loop: a word of four channels, of a maximum in 4
 * instructions, of an average in 7. */
#include "dory/share.h"

#include "armv7em.h"
#include "line.h"
#include "scale.h"

struct work {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    struct dory_line line;   /* of averages */
    struct dory_scale scale; /* with DORY_NORMALISE_HIGH */
    int32_t bias;            /* likewise */
    bool is_high;
    uint32_t signs;                   /* 0x80808080 where the input is signed */
    uint32_t row_bytes, column_bytes; /* of the window, from tap to tap */
};

/* ---- four channels of a window ---- */

static inline uint32_t maximum_of(const struct work *work, const uint8_t *window)
{
    uint32_t most = 0;
    for (uint32_t row = work->layer->kernel_height; row > 0; row--, window += work->row_bytes) {
        const uint8_t *tap = window;
        for (uint32_t column = work->layer->kernel_width; column > 0; column--, tap += work->column_bytes) {
            most = dory_maximum_bytes(most, dory_word_at(tap) ^ work->signs);
        }
    }
    return most ^ work->signs;
}

/* Adds rows of taps, which are at most DORY_POOL_TAPS, in halves. */
static inline void add_rows(const struct work *work, const uint8_t *window, uint32_t rows, uint32_t sums[2])
{
    uint32_t even = 0, odd = 0;
    for (; rows > 0; rows--, window += work->row_bytes) {
        const uint8_t *tap = window;
        for (uint32_t column = work->layer->kernel_width; column > 0; column--, tap += work->column_bytes) {
            uint32_t word = dory_word_at(tap) ^ work->signs;
            even += dory_even_bytes(word);
            odd += dory_odd_bytes(word);
        }
    }
    sums[0] = even;
    sums[1] = odd;
}

/* Outputs are few: a copy of it for each would be a kilobyte. */
static __attribute__((noinline)) uint32_t finish(const struct work *work, uint32_t sum)
{
    int32_t value = (int32_t)sum;
    if (work->is_high) {
        return dory_finish_sum((enum dory_finish)work->layer->rounding, true, &work->scale, value + work->bias) & 0xFF;
    }
    value = (int32_t)((uint32_t)work->line.first * sum + (uint32_t)work->line.addend) >> work->line.shift;
    value = value < work->line.minimum ? work->line.minimum : value > work->line.maximum ? work->line.maximum : value;
    return (uint32_t)value & 0xFF;
}

static inline uint32_t finish_four(const struct work *work, const uint32_t sums[4])
{
    return finish(work, sums[0]) | finish(work, sums[1]) << 8 | finish(work, sums[2]) << 16 | finish(work, sums[3]) << 24;
}

static inline uint32_t average_of(const struct work *work, const uint8_t *window)
{
    uint32_t halves[2], sums[4] = {0}, most = DORY_POOL_TAPS / work->layer->kernel_width, rows;
    for (uint32_t left = work->layer->kernel_height; left > 0; left -= rows, window += rows * work->row_bytes) {
        rows = dory_minimum(left, most);
        add_rows(work, window, rows, halves);
        for (uint32_t i = 0; i < 4; i++) {
            sums[i] += i < 2 ? halves[i] & 0xFFFF : halves[i - 2] >> 16;
        }
    }
    return finish_four(work, sums);
}

static inline uint32_t scaled_maximum_of(const struct work *work, const uint8_t *window)
{
    uint32_t most = maximum_of(work, window) ^ work->signs;
    const uint32_t bytes[4] = {most & 0xFF, most >> 8 & 0xFF, most >> 16 & 0xFF, most >> 24};
    return finish_four(work, bytes);
}

typedef uint32_t four_function(const struct work *work, const uint8_t *window);

/* ---- pixels ---- */

static inline __attribute__((always_inline)) void pool_pixel(const struct work *work, four_function *four, uint32_t pixel)
{
    const struct dory_tile *tile = work->tile;
    uint32_t row = pixel / tile->columns, column = pixel - row * tile->columns, channels = tile->channels;
    const uint8_t *window =
        (const uint8_t *)tile->input +
        (row * work->layer->stride_height * tile->input_columns + column * work->layer->stride_width) * channels;
    uint8_t *output = (uint8_t *)tile->output + pixel * channels;
    for (uint32_t channel = 0; channel < channels; channel += 4) {
        dory_put_word(output + channel, four(work, window + channel));
    }
}

static inline __attribute__((always_inline)) void pool(const struct work *work, four_function *four, unsigned core,
                                                       unsigned cores)
{
    struct dory_share share = dory_share_of((uint32_t)work->tile->rows * work->tile->columns, core, cores);
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        pool_pixel(work, four, pixel);
    }
}

void dory_armv7em_pool(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct work work = {.layer = layer, .tile = tile, .signs = layer->input_is_signed ? 0x80808080u : 0};
    work.row_bytes = (uint32_t)layer->dilation_height * tile->input_columns * tile->channels;
    work.column_bytes = (uint32_t)layer->dilation_width * tile->channels;
    uint32_t taps = layer->operation == DORY_MAXIMUM_POOL ? 1 : (uint32_t)layer->kernel_height * layer->kernel_width;
    work.is_high = layer->normalisation == DORY_NORMALISE_HIGH;
    if (work.is_high) { /* signed bytes are read as 128 more */
        work.scale = dory_stage_scale_of(layer);
        work.bias = (int32_t)layer->stages->input[0].addend - (layer->input_is_signed ? 128 * (int32_t)taps : 0);
    }
    if (layer->operation == DORY_AVERAGE_POOL) {
        if (!work.is_high) {
            dory_fold_average(layer, taps, &work.line);
        }
        pool(&work, average_of, core, cores);
    } else {
        pool(&work, work.is_high ? scaled_maximum_of : maximum_of, core, cores);
    }
}
