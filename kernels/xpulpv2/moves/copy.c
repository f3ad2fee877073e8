/* Copies bytes: by a map of rows, columns and channels (dory_constants.map), with a stride, or as a concatenation along the
 * channels. Shapes: any, HWC.
 *
 * Each core takes a part of the pixels, or of their channels where pixels are few. Inner loops: two unaligned words of a
 * pixel's channels are loaded, then stored; of channels that do not follow each other one byte in three instructions. The
 * map lies in L2: a core reads it once a row, once a pixel, and once for as many channels as it picks of all its pixels. */
#include "dory/copy_map.h"

#include "../share.h"
#include "../xpulp.h"
#include "../xpulpv2.h"
#include "copy_run.h"

struct copy {
    const uint8_t *input;
    uint8_t *output;
    struct dory_map_part map;
    uint32_t columns, count;         /* of the tile's output, and channels of a pixel */
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

/* ---- by a map ---------------------------------------------------------------------------------------------- */

/* Some channels of some of the tile's pixels. */
struct piece {
    uint32_t channel, channels, pixel, pixels;
};

/* Where a piece's next pixel lies in the input. */
struct walk {
    uint32_t row, column;
    int32_t start; /* of the row */
};

static struct walk walk_from(const struct copy *copy, uint32_t pixel)
{
    uint32_t row = dory_quotient(pixel, copy->columns);
    return (struct walk){row, pixel - row * copy->columns, copy->map.rows[row]};
}

/* Null for a pixel of the border. */
static inline const uint8_t *next_pixel(const struct copy *copy, struct walk *walk)
{
    if (walk->column == copy->columns) {
        walk->column = 0;
        walk->start = copy->map.rows[++walk->row];
    }
    int32_t column = copy->map.columns[walk->column++];
    return walk->start < 0 || column < 0 ? NULL : copy->input + (walk->start + column - copy->above);
}

/* Of channels that follow each other in the input, too. */
static void copy_runs(const struct copy *copy, struct piece piece)
{
    struct walk walk = walk_from(copy, piece.pixel);
    uint8_t *to = copy->output + piece.pixel * copy->count + piece.channel;
    for (; piece.pixels != 0; piece.pixels--, to += copy->count) {
        const uint8_t *from = next_pixel(copy, &walk);
        if (from) {
            dory_copy_run(from + copy->map.channel + piece.channel, to, piece.channels);
        } else {
            fill_run(to, copy->border, piece.channels);
        }
    }
}

static inline void pick(const uint8_t *from, const int32_t *channels, uint8_t *to, uint32_t count)
{
#if defined(DORY_XPULPV2)
    uint32_t first, second, pairs = count / 2;
    if (pairs != 0) {
        __asm__ volatile(".option push\n"
                         ".balign 4\n"
                         ".option norvc\n" LP_SETUP("x0", "%[pairs]", 6, "1") P_LW_NEXT("%[first]", "%[channels]")
                             P_LW_NEXT("%[second]", "%[channels]") P_LBU_AT("%[first]", "%[first]", "%[from]")
                                 P_LBU_AT("%[second]", "%[second]", "%[from]")
                                     P_SB_NEXT("%[first]", "%[to]") "1: " P_SB_NEXT("%[second]", "%[to]") ".option pop\n"
                         : [channels] "+r"(channels), [to] "+r"(to), [first] "=&r"(first), [second] "=&r"(second)
                         : [from] "r"(from), [pairs] "r"(pairs)
                         : "memory");
    }
    count -= 2 * pairs;
#endif
    for (; count != 0; count--) {
        *to++ = from[*channels++];
    }
}

static inline void pick_or_fill(const uint8_t *from, const int32_t *channels, uint8_t *to, uint32_t count, uint32_t border)
{
    for (uint32_t i = 0; i < count; i++) {
        to[i] = channels[i] < 0 ? (uint8_t)border : from[channels[i]];
    }
}

/* Channels that the map picks one by one, from the stack: 64 at most, whose places are read from L2 once. */
static void copy_picked(const struct copy *copy, struct piece piece)
{
    int32_t channels[DORY_PICKED_AT_ONCE], lowest = 0;
    struct walk walk = walk_from(copy, piece.pixel);
    uint8_t *to = copy->output + piece.pixel * copy->count + piece.channel;
    for (uint32_t i = 0; i < piece.channels; i++) {
        channels[i] = copy->map.channels[piece.channel + i];
        lowest = channels[i] < lowest ? channels[i] : lowest;
    }
    for (; piece.pixels != 0; piece.pixels--, to += copy->count) {
        const uint8_t *from = next_pixel(copy, &walk);
        if (!from) {
            fill_run(to, copy->border, piece.channels);
        } else if (lowest < 0) {
            pick_or_fill(from, channels, to, piece.channels, copy->border);
        } else {
            pick(from, channels, to, piece.channels);
        }
    }
}

static void copy_piece(const struct copy *copy, struct piece piece)
{
    uint32_t end = piece.channel + piece.channels;
    if (piece.channel < copy->map.run) {
        piece.channels = dory_minimum(end, copy->map.run) - piece.channel;
        copy_runs(copy, piece);
        piece.channel += piece.channels;
    }
    for (; piece.channel < end; piece.channel += piece.channels) {
        piece.channels = dory_minimum(end - piece.channel, DORY_PICKED_AT_ONCE);
        copy_picked(copy, piece);
    }
}

static void copy_mapped(const struct copy *copy, uint32_t pixels, unsigned core, unsigned cores)
{
    uint32_t length = dory_joined_length(pixels, copy->count, cores);
    uint32_t parts = length == 0 ? 0 : dory_divide_up(copy->count, length); /* never: a tile has channels */
    struct dory_grid_share share = dory_grid_share_of(parts, pixels, core, cores);
    while (share.items != 0) {
        uint32_t end = dory_grid_share_row_end(&share, pixels), channel = share.row * length;
        copy_piece(copy,
                   (struct piece){channel, dory_minimum(length, copy->count - channel), share.first, end - share.first});
        dory_grid_share_next_row(&share, end);
    }
}

/* ---- with a stride ----------------------------------------------------------------------------------------- */

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
        .columns = tile->columns,
        .count = tile->channels,
        .row_bytes = layer->stride_height * (uint32_t)tile->input_columns * tile->input_channels,
        .pixel_bytes = layer->stride_width * (uint32_t)tile->input_channels,
        .map = dory_map_part_of(layer, tile),
        .border = (uint8_t)layer->border_value * 0x01010101u,
    };
    if (layer->constants.map) {
        copy.map.run = copy.map.run < DORY_LEAST_RUN ? 0 : copy.map.run;
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
    if (layer->constants.map) {
        copy_mapped(&copy, (uint32_t)tile->rows * tile->columns, core, cores);
        return;
    }
    struct dory_grid_share share = dory_grid_share_of(tile->rows, tile->columns, core, cores);
    copy.output += share.row * tile->columns * copy.count;
    while (share.items != 0) {
        uint32_t end = dory_grid_share_row_end(&share, tile->columns);
        copy_strided(&copy, share.row, share.first, end);
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
