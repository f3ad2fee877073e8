/* A convolution of one pixel with one input channel is a function of a byte for each output channel: a table, whatever its
 * arithmetic, which is the model's own for every byte. So is a pool of one element, which is how a model rounds a tensor by
 * itself, with one table for all channels. Of a single element it is a tensor of constants, where the weights
 * are 0: import lays one so (middle/constants.h). */
#include "describe/description.h"

#include "network/interpret.h"

#define MAXIMUM_TABLES 16  /* of 256 bytes, all of which are in L1 */
#define LEAST_PIXELS   256 /* or elements: with fewer, a table is larger than what is looked up in it */

/* Windows of one element, none of them in the border: kernels that look bytes up have none. */
static bool has_windows_inside(const struct description *d)
{
    const struct layer *layer = d->layer;
    bool is_one = layer->kernel_height == 1 && layer->kernel_width == 1;
    return is_one && layer->padding_top == 0 && layer->padding_left == 0 &&
           (d->output->height - 1) * layer->stride_height < d->input->height &&
           (d->output->width - 1) * layer->stride_width < d->input->width;
}

static bool is_of_one_byte(const struct description *d)
{
    bool pays = (int64_t)d->output->height * d->output->width >= LEAST_PIXELS;
    return has_windows_inside(d) && pays && d->input->channels == 1 && d->input->bits == 8 && d->output->bits == 8 &&
           d->output->channels <= MAXIMUM_TABLES;
}

/* Of the byte `element` as it lies in memory. False where the model's arithmetic leaves 64 bits. */
static bool find_entry(const struct description *d, int channel, int element, uint8_t *entry)
{
    int64_t factor = d->layer->weights ? d->layer->weights[channel] : 1;
    int64_t value = factor * (int64_t)(d->input->is_signed ? (int8_t)element : element);
    for (int i = 0; i < d->layer->stage_count; i++)
        if (!interpret_stage(&d->layer->stages[i], channel, value, &value))
            return false;
    *entry = (uint8_t)value;
    return true;
}

static const uint8_t *make_tables(const struct description *d, int channels)
{
    uint8_t *tables = arena_array(d->arena, uint8_t, 256 * (size_t)channels);
    for (int channel = 0; channel < channels; channel++)
        for (int element = 0; element < 256; element++)
            if (!find_entry(d, channel, element, &tables[256 * channel + element]))
                return NULL;
    return tables;
}

static void take(const struct description *d, enum dory_operation operation, const uint8_t *entries)
{
    *d->tables = *d->record;
    d->tables->operation = (uint8_t)operation;
    d->tables->normalisation = DORY_NORMALISE_NONE;
    d->tables->stages = NULL;
    d->tables->weight_bits = 0;
    d->tables->minimum = INT32_MIN;
    d->tables->maximum = INT32_MAX;
    d->tables->constants.table = entries;
}

/* Null where an element depends on the input's. */
static const uint8_t *make_constant(const struct description *d)
{
    uint8_t *elements = arena_array(d->arena, uint8_t, (size_t)d->output->channels);
    for (int channel = 0; channel < d->output->channels; channel++)
        if (d->layer->weights[channel] != 0 || !find_entry(d, channel, 0, &elements[channel]))
            return NULL;
    return elements;
}

static bool is_of_one_element(const struct description *d)
{
    return tensor_elements(d->input) == 1 && d->output->height == 1 && d->output->width == 1 && d->output->bits == 8 &&
           d->layer->kernel_height == 1 && d->layer->kernel_width == 1;
}

void describe_tables(const struct description *d)
{
    const uint8_t *elements = is_of_one_element(d) ? make_constant(d) : NULL;
    const uint8_t *entries = is_of_one_byte(d) ? make_tables(d, d->output->channels) : NULL;
    if (elements)
        take(d, DORY_CONSTANT, elements);
    else if (entries)
        take(d, DORY_TABLE, entries);
}

/* The same for all channels, of bytes next to each other. */
static bool is_of_each_byte(const struct description *d)
{
    const struct layer *layer = d->layer;
    bool is_alike = layer->stage_count > 0 && layer->stride_height == 1 && layer->stride_width == 1;
    for (int i = 0; i < layer->stage_count; i++)
        is_alike = is_alike && layer->stages[i].count <= 1;
    return is_alike && has_windows_inside(d) && d->input->bits == 8 && d->output->bits == 8 &&
           tensor_elements(d->output) >= LEAST_PIXELS;
}

void describe_pool_table(const struct description *d)
{
    const uint8_t *entries = is_of_each_byte(d) ? make_tables(d, 1) : NULL;
    if (entries)
        take(d, DORY_TABLE, entries);
}
