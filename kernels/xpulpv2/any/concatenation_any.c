/* Concatenates tensors along the channels, of elements of any bits, or scaled. Shapes: any, HWC. Bytes that stay as they
 * are have a kernel of their own, see copy.c.
 *
 * Each core takes a part of the groups of sixteen channels of an output pixel. Inner loop: they are unpacked to 32-bit
 * integers, requantised and packed. */
#include "../packed/unpack.h"
#include "../share.h"
#include "../stage.h"
#include "../xpulpv2.h"
#include "dory/normalise.h"

#define LANES (2 * DORY_SIXTEEN) /* sixteen are read at once, behind up to sixteen that are there */

struct concatenation {
    const struct dory_layer *layer;
    bool is_narrow;
    struct dory_narrow_stage input[2], end[2];
};

/* One of the two inputs, and the output's channels that are its own. */
struct part {
    const uint8_t *pixel;
    uint32_t bits, first, behind;
    bool is_signed;
};

/* Element `index` of at most 8 bits, wherever it begins. */
static int32_t packed_element(const struct part *part, uint32_t index)
{
    uint32_t unused = 32 - part->bits;
    uint32_t value = (uint32_t)part->pixel[index * part->bits / 8] >> (index * part->bits % 8) << unused;
    return part->is_signed ? (int32_t)value >> unused : (int32_t)(value >> unused);
}

/* Elements from `index` on; those of the second input need not begin with a byte. */
static void read_part(const struct part *part, int32_t *element, uint32_t index, uint32_t count)
{
    uint32_t bit = index * part->bits;
    if (bit % 8 == 0) {
        dory_read_elements(element, part->pixel + bit / 8, count, part->bits, part->is_signed);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        element[i] = packed_element(part, index + i);
    }
}

/* One stage after the other, for the constants of one stay in registers. */
static void apply_stage(const struct dory_narrow_stage *stage, int32_t *element, uint32_t count)
{
    const struct dory_narrow_stage constants = *stage;
    if (constants.shift == DORY_DIVIDES) {
        for (uint32_t i = 0; i < count; i++) {
            element[i] = dory_narrow_stage_apply(&constants, element[i]);
        }
    } else if (!dory_changes_nothing(stage)) {
#pragma GCC unroll 4
        for (uint32_t i = 0; i < count; i++) {
            int32_t product = (int32_t)((uint32_t)element[i] * (uint32_t)constants.multiplier);
            int32_t scaled = p_addnr(product, constants.addend, constants.shift);
            element[i] = p_min(p_max(scaled, constants.minimum), constants.maximum);
        }
    }
}

static void scale(const struct concatenation *work, int32_t *element, uint32_t count, unsigned which)
{
    if (work->is_narrow) {
        apply_stage(&work->input[which], element, count);
        apply_stage(&work->end[0], element, count);
        apply_stage(&work->end[1], element, count);
        return;
    }
    const struct dory_stage *input = &work->layer->stages->input[which];
    for (uint32_t i = 0; i < count; i++) {
        element[i] = dory_stages_apply(work->layer, dory_stage_apply(input, element[i]));
    }
}

/* Channels `first` to `behind` - 1 of a pixel of the output, at most sixteen: first those of one input. */
static void join(const struct concatenation *work, const struct part part[2], int32_t *element, uint32_t first,
                 uint32_t behind)
{
    for (unsigned which = 0; which < 2; which++) {
        uint32_t start = first < part[which].first ? part[which].first : first;
        uint32_t end = dory_minimum(behind, part[which].behind);
        if (start < end) {
            read_part(&part[which], element + (start - first), start - part[which].first, end - start);
            scale(work, element + (start - first), end - start, which);
        }
    }
}

static struct part part_of(const struct dory_layer *layer, const struct dory_tile *tile, unsigned which)
{
    uint32_t split = layer->input_channels;
    return which ? (struct part){tile->second_input, layer->second_input_bits, split, layer->output_channels,
                                 layer->second_input_is_signed}
                 : (struct part){tile->input, layer->input_bits, 0, split, layer->input_is_signed};
}

static void step_to_pixel(struct part *part, uint32_t pixel)
{
    part->pixel += pixel * dory_element_bytes(part->behind - part->first, part->bits);
}

/* Groups of sixteen channels from `group` to `end` - 1 of a pixel. */
static void join_groups(const struct concatenation *work, const struct dory_tile *tile, uint32_t pixel, uint32_t group,
                        uint32_t end)
{
    uint32_t bits = work->layer->output_bits, channels = tile->channels;
    uint8_t *output = (uint8_t *)tile->output + pixel * dory_element_bytes(channels, bits);
    struct part part[2] = {part_of(work->layer, tile, 0), part_of(work->layer, tile, 1)};
    step_to_pixel(&part[0], pixel);
    step_to_pixel(&part[1], pixel);
    for (; group < end; group++) {
        int32_t element[LANES];
        uint32_t first = DORY_SIXTEEN * group, count = dory_minimum(DORY_SIXTEEN, channels - first);
        join(work, part, element, tile->first_channel + first, tile->first_channel + first + count);
        dory_write_elements(output + 2 * group * bits, element, count, bits);
    }
}

/* A core's share is a range of the grid of pixels by sixteens of channels. */
void dory_xpulpv2_concatenation_any(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                    unsigned cores)
{
    uint32_t groups = dory_divide_up(tile->channels, DORY_SIXTEEN);
    struct concatenation work;
    work.layer = layer;
    work.is_narrow = dory_narrow_concatenation_of(work.input, work.end, layer);
    struct dory_grid_share share = dory_grid_share_of((uint32_t)tile->rows * tile->columns, groups, core, cores);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, groups);
        join_groups(&work, tile, share.row, share.first, end);
        dory_grid_share_next_row(&share, end);
    }
}
