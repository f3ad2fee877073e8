/* Moves bytes: copies by a map, with a stride or as they are, constants, and concatenations, whose inputs may be
 * requantised. Shapes: any, HWC.
 *
 * Each core takes a part of the pixels. Inner loop: memcpy of a run of channels; or a byte by its channel's place, or by a
 * table that says what becomes of each of an input's 256 values. */
#include "dory/copy_map.h"
#include "dory/normalise.h"
#include "dory/share.h"

#include "armv7em.h"
#include "line.h"

/* ---- copies ---- */

struct copy {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    struct dory_border_rows border;
    struct dory_map_part map;
    int32_t above; /* bytes of the input's rows above the tile */
};

static struct copy copy_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    struct copy copy = {.layer = layer, .tile = tile, .map = dory_map_part_of(layer, tile)};
    copy.border = dory_border_of(layer, tile);
    if (layer->constants.map) {
        int32_t first_row = dory_first_input_row(layer, tile->first_row) + (int32_t)copy.border.top;
        copy.above = first_row * tile->input_columns * tile->input_channels;
    }
    return copy;
}

/* Where a pixel's channels come from; negative: from the border. */
static inline int32_t offset_of(const struct copy *copy, uint32_t y, uint32_t x)
{
    const struct dory_tile *tile = copy->tile;
    if (copy->map.rows) {
        int32_t row = copy->map.rows[y], column = copy->map.columns[x];
        return row < 0 || column < 0 ? -1 : row + column - copy->above;
    }
    uint32_t row = y * copy->layer->stride_height - copy->border.top; /* may wrap */
    uint32_t column = x * copy->layer->stride_width - copy->border.left;
    bool is_there = row < tile->input_rows && column < tile->input_columns;
    return is_there ? (int32_t)((row * tile->input_columns + column) * tile->input_channels) : -1;
}

/* Channels behind those that follow each other. */
static void pick(const struct copy *copy, const uint8_t *from, uint8_t *to)
{
    uint8_t border = (uint8_t)copy->layer->border_value;
    for (uint32_t i = copy->map.run; i < copy->tile->channels; i++) {
        int32_t channel = copy->map.channels[i];
        to[i] = channel < 0 ? border : from[channel];
    }
}

void dory_armv7em_copy(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct copy copy = copy_of(layer, tile);
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    uint32_t channels = tile->channels;
    for (uint32_t pixel = share.first; pixel < share.end; pixel++) {
        uint8_t *to = (uint8_t *)tile->output + pixel * channels;
        int32_t offset = offset_of(&copy, pixel / tile->columns, pixel % tile->columns);
        if (offset < 0) {
            memset(to, layer->border_value, channels);
        } else {
            memcpy(to, (const uint8_t *)tile->input + offset + copy.map.channel, copy.map.run);
            pick(&copy, (const uint8_t *)tile->input + offset, to);
        }
    }
}

void dory_armv7em_constant(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct dory_share share = dory_share_of(tile->channels, core, cores);
    (void)layer;
    memcpy((uint8_t *)tile->output + share.first, (const uint8_t *)tile->weights + share.first, share.end - share.first);
}

/* ---- concatenations ---- */

static bool is_signed(const struct dory_layer *layer, unsigned which)
{
    return which ? layer->second_input_is_signed : layer->input_is_signed;
}

static bool is_unchanged(const struct dory_layer *layer, unsigned which)
{
    const struct dory_stage *stage = &layer->stages->input[which];
    return layer->normalisation != DORY_NORMALISE_HIGH && layer->normalisation != DORY_NORMALISE_THRESHOLDS &&
           dory_is_plain(stage) && stage->multiplier == 1 && stage->addend == 0 &&
           dory_is_identity(layer, is_signed(layer, which));
}

/* What becomes of a byte of an input. */
static uint8_t element_of(const struct dory_layer *layer, unsigned which, uint8_t byte)
{
    const struct dory_stages *stages = layer->stages;
    int64_t value = dory_stage_apply(&stages->input[which], is_signed(layer, which) ? (int8_t)byte : byte);
    if (layer->normalisation == DORY_NORMALISE_HIGH) {
        return (uint8_t)dory_normalise_high_stages(layer, (int32_t)((uint32_t)value << (layer->left_shift & 31)));
    }
    if (layer->normalisation == DORY_NORMALISE_THRESHOLDS) {
        return (uint8_t)dory_count_thresholds(layer->constants.thresholds, (int32_t)value);
    }
    value = dory_stage_apply(&stages->first, value);
    value = stages->has_second ? dory_stage_apply(&stages->second, value) : value;
    return (uint8_t)dory_clip(value, layer->minimum, layer->maximum);
}

/* Some channels of an input, and where they go in a pixel of the output. */
struct part {
    unsigned which;
    const uint8_t *input;
    uint8_t *output;
    uint32_t pixel_bytes, channels;
};

static void join(const struct dory_layer *layer, const struct part *part, uint32_t pixels, uint32_t output_bytes,
                 uint8_t table[256])
{
    bool is_copy = is_unchanged(layer, part->which), has_table = !is_copy && pixels * part->channels > 256;
    for (uint32_t i = 0; has_table && i < 256; i++) {
        table[i] = element_of(layer, part->which, (uint8_t)i);
    }
    const uint8_t *from = part->input;
    uint8_t *to = part->output;
    for (; pixels > 0; pixels--, from += part->pixel_bytes, to += output_bytes) {
        if (is_copy) {
            memcpy(to, from, part->channels);
            continue;
        }
        for (uint32_t i = 0; i < part->channels; i++) {
            to[i] = has_table ? table[from[i]] : element_of(layer, part->which, from[i]);
        }
    }
}

void dory_armv7em_concatenation(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct dory_share share = dory_share_of((uint32_t)tile->rows * tile->columns, core, cores);
    uint32_t channels = tile->channels, start = tile->first_channel, middle = layer->input_channels;
    uint32_t first = start < middle ? dory_minimum(channels, middle - start) : 0; /* of the first input */
    for (unsigned which = 0; which < 2; which++) {
        struct part part = {.which = which, .pixel_bytes = dory_input_channels(layer, which)};
        part.channels = which ? channels - first : first;
        part.input = (const uint8_t *)(which ? tile->second_input : tile->input) + share.first * part.pixel_bytes;
        part.input += which ? start + first - middle : start;
        part.output = (uint8_t *)tile->output + share.first * channels + (which ? first : 0);
        if (part.channels > 0) {
            join(layer, &part, share.end - share.first, channels, (uint8_t *)tile->scratch + 256 * core);
        }
    }
}
