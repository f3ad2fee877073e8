/* Computes the element-wise addition of elements of 2, 4, 8 or 16 bits. Shapes: any, HWC.
 *
 * Each core takes a part of the groups of sixteen channels of a pixel. Inner loop: both inputs are unpacked to 32-bit
 * integers, added, requantised and packed. */
#include "../packed/unpack.h"
#include "../share.h"
#include "../stage.h"
#include "../xpulpv2.h"
#include "dory/normalise.h"

struct addition {
    const struct dory_layer *layer;
    bool is_narrow;
    struct dory_narrow_stage input[2];
    struct dory_scalar_finish finish;
    const int32_t *terms;
};

static bool is_linear(const struct dory_narrow_stage *stage)
{
    return stage->shift != DORY_DIVIDES && stage->minimum == INT32_MIN && stage->maximum == INT32_MAX;
}

/* Inputs without divisions or bounds: constants that stay in registers whatever is stored. */
static void sum_linearly(const struct addition *work, int32_t *first, const int32_t *second)
{
    const struct dory_narrow_stage a = work->input[0], b = work->input[1];
#pragma GCC unroll 4
    for (uint32_t i = 0; i < DORY_SIXTEEN; i++) {
        int32_t x = p_addnr((int32_t)((uint32_t)first[i] * (uint32_t)a.multiplier), a.addend, a.shift);
        first[i] = x + p_addnr((int32_t)((uint32_t)second[i] * (uint32_t)b.multiplier), b.addend, b.shift);
    }
}

static void sum_narrowly(const struct addition *work, int32_t *first, const int32_t *second)
{
    const struct dory_narrow_stage a = work->input[0], b = work->input[1];
    for (uint32_t i = 0; i < DORY_SIXTEEN; i++) {
        first[i] = dory_narrow_stage_apply(&a, first[i]) + dory_narrow_stage_apply(&b, second[i]);
    }
}

/* Elements behind the last one are anything: so are their sums. */
static void add_narrowly(const struct addition *work, int32_t *first, const int32_t *second)
{
    if (is_linear(&work->input[0]) && is_linear(&work->input[1])) {
        sum_linearly(work, first, second);
    } else {
        sum_narrowly(work, first, second);
    }
    dory_scalar_finish_all(&work->finish, first, DORY_SIXTEEN);
}

static int32_t add_one(const struct addition *work, int32_t first, int32_t second)
{
    const struct dory_stages *stages = work->layer->stages;
    if (work->finish.is_high) {
        uint32_t sum = (uint32_t)work->terms[(uint8_t)first] + (uint32_t)work->terms[256 + (uint8_t)second];
        return dory_high_apply(&work->finish.high, (int32_t)sum, 0);
    }
    return dory_stages_apply(work->layer,
                             dory_stage_apply(&stages->input[0], first) + dory_stage_apply(&stages->input[1], second));
}

static void addition_start(struct addition *work, const struct dory_layer *layer, const struct dory_tile *tile)
{
    struct dory_range first = dory_element_range(layer->input_bits, layer->input_is_signed);
    struct dory_range second = dory_element_range(layer->second_input_bits, layer->second_input_is_signed), sum;
    work->layer = layer;
    work->terms = tile->weights;
    work->is_narrow = false;
    work->finish.is_high = layer->normalisation == DORY_NORMALISE_HIGH;
    if (work->finish.is_high) {
        dory_high_start(&work->finish.high, layer, 0); /* the tables have done it */
    } else if (dory_narrow_stage_of(&work->input[0], &layer->stages->input[0], &first) &&
               dory_narrow_stage_of(&work->input[1], &layer->stages->input[1], &second)) {
        sum = (struct dory_range){first.least + second.least, first.most + second.most};
        dory_scalar_finish_start(&work->finish, layer, sum);
        work->is_narrow = work->finish.is_narrow && dory_fits_32(sum.least) && dory_fits_32(sum.most);
    }
}

/* ---- of 8 and 16 bits without sign ---------------------------------------------------------------------------- */

typedef uint16_t __attribute__((may_alias)) half;

static inline __attribute__((always_inline)) uint32_t element_at(const uint8_t *input, uint32_t index, uint32_t bits)
{
    return bits == 8 ? input[index] : ((const half *)input)[index];
}

/* Elements `index` to `end` - 1 of all; the bits are constants. */
static inline __attribute__((always_inline)) void add_range(const struct addition *work, const struct dory_tile *tile,
                                                            uint32_t index, uint32_t end, uint32_t first_bits,
                                                            uint32_t second_bits, uint32_t output_bits)
{
    const struct dory_narrow_stage a = work->input[0], b = work->input[1], sum = work->finish.stage[0];
    int32_t minimum = work->finish.minimum, maximum = work->finish.maximum;
    const uint8_t *first = tile->input, *second = tile->second_input;
    uint8_t *output = tile->output;
    for (; index < end; index++) {
        uint32_t x = element_at(first, index, first_bits), y = element_at(second, index, second_bits);
        int32_t scaled = p_addnr((int32_t)(x * (uint32_t)a.multiplier), a.addend, a.shift);
        scaled += p_addnr((int32_t)(y * (uint32_t)b.multiplier), b.addend, b.shift);
        scaled = p_addnr((int32_t)((uint32_t)scaled * (uint32_t)sum.multiplier), sum.addend, sum.shift);
        scaled = p_min(p_max(scaled, minimum), maximum);
        if (output_bits == 8) {
            output[index] = (uint8_t)scaled;
        } else {
            ((half *)output)[index] = (uint16_t)scaled;
        }
    }
}

static inline bool has_bytes_or_halves(const struct dory_layer *layer)
{
    return layer->input_bits >= 8 && layer->second_input_bits >= 8 && layer->output_bits >= 8 && !layer->input_is_signed &&
           !layer->second_input_is_signed;
}

/* Cores share words of output elements. */
static void add_in_a_row(const struct addition *work, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t elements = (uint32_t)tile->rows * tile->columns * tile->channels;
    struct dory_grid_share share = dory_grid_share_of(1, dory_divide_up(elements, 4), core, cores);
    uint32_t index = 4 * share.first, end = dory_minimum(index + 4 * share.items, elements);
    uint32_t bits =
        (uint32_t)work->layer->input_bits << 16 | (uint32_t)work->layer->second_input_bits << 8 | work->layer->output_bits;
    switch (bits) {
    case 0x080810: add_range(work, tile, index, end, 8, 8, 16); break;
    case 0x081010: add_range(work, tile, index, end, 8, 16, 16); break;
    case 0x100810: add_range(work, tile, index, end, 16, 8, 16); break;
    case 0x101010: add_range(work, tile, index, end, 16, 16, 16); break;
    case 0x081008: add_range(work, tile, index, end, 8, 16, 8); break;
    case 0x100808: add_range(work, tile, index, end, 16, 8, 8); break;
    default: add_range(work, tile, index, end, 16, 16, 8); break;
    }
}

/* ---- of any bits ------------------------------------------------------------------------------------------------ */

/* The elements of a group: where they lie in inputs and output, in all groups of so many channels of all pixels. */
static void compute(const struct addition *work, const uint8_t *const input[2], uint8_t *output, uint32_t count)
{
    const struct dory_layer *layer = work->layer;
    int32_t first[DORY_SIXTEEN], second[DORY_SIXTEEN];
    dory_read_elements(first, input[0], count, layer->input_bits, layer->input_is_signed);
    dory_read_elements(second, input[1], count, layer->second_input_bits, layer->second_input_is_signed);
    if (work->is_narrow) {
        add_narrowly(work, first, second);
    } else {
        for (uint32_t i = 0; i < count; i++) {
            first[i] = add_one(work, first[i], second[i]);
        }
    }
    dory_write_elements(output, first, count, layer->output_bits);
}

/* A core's share is a range of the grid of pixels by sixteens of channels. */
void dory_xpulpv2_addition_any(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t bits[2] = {layer->input_bits, layer->second_input_bits}, channels = tile->channels;
    uint32_t groups = dory_divide_up(channels, DORY_SIXTEEN);
    struct addition work;
    addition_start(&work, layer, tile);
    if (work.is_narrow && has_bytes_or_halves(layer) && work.finish.is_linear && is_linear(&work.input[0]) &&
        is_linear(&work.input[1])) {
        add_in_a_row(&work, tile, core, cores);
        return;
    }
    struct dory_grid_share share = dory_grid_share_of((uint32_t)tile->rows * tile->columns, groups, core, cores);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, groups);
        const uint8_t *first = (const uint8_t *)tile->input + share.row * dory_element_bytes(channels, bits[0]);
        const uint8_t *second = (const uint8_t *)tile->second_input + share.row * dory_element_bytes(channels, bits[1]);
        uint8_t *output = (uint8_t *)tile->output + share.row * dory_element_bytes(channels, layer->output_bits);
        for (uint32_t group = share.first; group < end; group++) {
            const uint8_t *const input[2] = {first + 2 * group * bits[0], second + 2 * group * bits[1]};
            compute(&work, input, output + 2 * group * layer->output_bits,
                    dory_minimum(DORY_SIXTEEN, channels - DORY_SIXTEEN * group));
        }
        dory_grid_share_next_row(&share, end);
    }
}
