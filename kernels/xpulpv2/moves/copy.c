/* Copies bytes: by a map of rows, columns and channels (dory_constants.map), with a stride, or as a concatenation along the
 * channels. Shapes: any, HWC.
 *
 * Each core takes a part of the pixels. Inner loop: two unaligned words of a pixel's channels are loaded, then stored. The
 * map lies in L2: a core reads it once a row and once a pixel. */
#include "dory/copy_map.h"

#include "../share.h"
#include "../xpulpv2.h"
#include "copy_run.h"

struct copy {
    const uint8_t *input;
    uint8_t *output;
    struct dory_map_part map;
    uint32_t count;                  /* of channels */
    uint32_t row_bytes, pixel_bytes; /* without a map: from one output row or pixel to the next */
    int32_t above;                   /* bytes of the input's rows above the tile */
    uint32_t border;                 /* four of it */
};

static inline void fill_run(uint8_t *to, uint32_t value, uint32_t bytes)
{
    for (; bytes >= 4; bytes -= 4, to += 4) {
        dory_store_word(to, value);
    }
    for (; bytes != 0; bytes--) {
        *to++ = (uint8_t)value;
    }
}

/* Channels behind those that follow each other. */
static void pick(const struct copy *copy, const uint8_t *from, uint8_t *to)
{
    for (uint32_t i = copy->map.run; i < copy->count; i++) {
        int32_t channel = copy->map.channels[i];
        to[i] = channel < 0 ? (uint8_t)copy->border : from[channel];
    }
}

static void copy_mapped(const struct copy *copy, uint32_t row, uint32_t first, uint32_t end)
{
    int32_t start = copy->map.rows[row];
    uint8_t *to = copy->output + first * copy->count;
    for (uint32_t i = first; i < end; i++, to += copy->count) {
        int32_t column = copy->map.columns[i];
        const uint8_t *from = copy->input + (start + column - copy->above);
        if (start < 0 || column < 0) {
            fill_run(to, copy->border, copy->count);
        } else {
            dory_copy_run(from + copy->map.channel, to, copy->map.run);
            pick(copy, from, to);
        }
    }
}

static void copy_strided(const struct copy *copy, uint32_t row, uint32_t first, uint32_t end)
{
    const uint8_t *from = copy->input + row * copy->row_bytes + first * copy->pixel_bytes + copy->map.channel;
    uint8_t *to = copy->output + first * copy->count;
    for (uint32_t i = first; i < end; i++, from += copy->pixel_bytes, to += copy->count) {
        dory_copy_run(from, to, copy->count);
    }
}

static struct copy copy_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    struct copy copy = {
        .input = tile->input,
        .output = tile->output,
        .count = tile->channels,
        .row_bytes = layer->stride_height * (uint32_t)tile->input_columns * tile->input_channels,
        .pixel_bytes = layer->stride_width * (uint32_t)tile->input_channels,
        .map = dory_map_part_of(layer, tile),
        .border = (uint8_t)layer->border_value * 0x01010101u,
    };
    if (layer->constants.map) {
        copy.above = dory_first_input_row(layer, tile->first_row) * (tile->input_columns * tile->input_channels);
    }
    return copy;
}

/* All bytes of the tile, as they are. */
static void copy_all(const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t bytes = (uint32_t)tile->rows * tile->columns * tile->channels;
    struct dory_grid_share share = dory_grid_share_of(1, dory_divide_up(bytes, 8), core, cores);
    uint32_t start = 8 * share.first, end = dory_minimum(start + 8 * share.items, bytes);
    if (start < end) {
        dory_copy_run((const uint8_t *)tile->input + start, (uint8_t *)tile->output + start, end - start);
    }
}

void dory_xpulpv2_copy(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    if (dory_copies_all(layer, tile->channels)) {
        copy_all(tile, core, cores);
        return;
    }
    struct copy copy = copy_of(layer, tile);
    struct dory_grid_share share = dory_grid_share_of(tile->rows, tile->columns, core, cores);
    copy.output += share.row * tile->columns * copy.count;
    while (share.items != 0) {
        uint32_t end = dory_grid_share_row_end(&share, tile->columns);
        if (layer->constants.map) {
            copy_mapped(&copy, share.row, share.first, end);
        } else {
            copy_strided(&copy, share.row, share.first, end);
        }
        dory_grid_share_next_row(&share, end);
        copy.output += tile->columns * copy.count;
    }
}

void dory_xpulpv2_constant(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    (void)layer;
    struct dory_grid_share share = dory_grid_share_of(1, dory_divide_up(tile->channels, 4), core, cores); /* words */
    uint32_t start = 4 * share.first, end = dory_minimum(start + 4 * share.items, tile->channels);
    if (start < end) {
        dory_copy_run((const uint8_t *)tile->weights + start, (uint8_t *)tile->output + start, end - start);
    }
}

/* ---- concatenations ---------------------------------------------------------------------------------------- */

/* Of each pixel the channels of one input, then those of the other, whose scales are the output's. */

/* Channels of one input that a tile has: from byte `from` of each pixel to byte `to` of the output's. */
struct part {
    const uint8_t *input;
    uint32_t pixel_bytes, from, to, count;
};

/* The input has channels `first` and up of the output, which has those from `start` to `end` of all. */
static struct part part_of(const struct dory_tile *tile, const void *input, uint32_t first, uint32_t channels,
                           uint32_t start, uint32_t end)
{
    uint32_t behind = first + channels;
    struct part part = {.input = input, .pixel_bytes = channels};
    start = start < first ? first : start;
    end = dory_minimum(end, behind);
    if (start < end) {
        part.from = start - first;
        part.to = start - tile->first_channel;
        part.count = end - start;
    }
    return part;
}

static inline __attribute__((always_inline)) void copy_part(const struct part *part, uint8_t *output, uint32_t pixel_bytes,
                                                            uint32_t first, uint32_t end)
{
    const uint8_t *from = part->input + first * part->pixel_bytes + part->from;
    uint8_t *to = output + first * pixel_bytes + part->to;
    if (part->count == 0) {
        return;
    }
    for (uint32_t pixel = first; pixel < end; pixel++, from += part->pixel_bytes, to += pixel_bytes) {
        dory_copy_run(from, to, part->count);
    }
}

/* Channels `start` to `end` of all, of some pixels. */
static __attribute__((noinline)) void join(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t start,
                                           uint32_t end, uint32_t first_pixel, uint32_t end_pixel)
{
    uint32_t first_channels = layer->input_channels, second_channels = layer->output_channels - first_channels;
    struct part first = part_of(tile, tile->input, 0, first_channels, start, end);
    struct part second = part_of(tile, tile->second_input, first_channels, second_channels, start, end);
    copy_part(&first, tile->output, tile->channels, first_pixel, end_pixel);
    copy_part(&second, tile->output, tile->channels, first_pixel, end_pixel);
}

/* Cores take pixels; where these are fewer, parts of their channels. */
void dory_xpulpv2_concatenation(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t pixels = (uint32_t)tile->rows * tile->columns;
    uint32_t length = dory_joined_length(pixels, tile->channels, cores), parts = dory_divide_up(tile->channels, length);
    uint32_t behind = (uint32_t)tile->first_channel + tile->channels;
    struct dory_grid_share share = dory_grid_share_of(parts, pixels, core, cores);
    while (share.items != 0) {
        uint32_t end_pixel = dory_grid_share_row_end(&share, pixels), start = tile->first_channel + share.row * length;
        join(layer, tile, start, dory_minimum(start + length, behind), share.first, end_pixel);
        dory_grid_share_next_row(&share, end_pixel);
    }
}
