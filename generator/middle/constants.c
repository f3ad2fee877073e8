#include "middle/constants.h"

/* ---- which elements are which ---- */

/* They are the same in all pixels (in all channels of each pixel). */
static bool is_repeated(const int8_t *elements, size_t pixels, size_t channels, bool by_channel)
{
    for (size_t pixel = 0; pixel < pixels; pixel++)
        for (size_t channel = 0; channel < channels; channel++)
            if (elements[pixel * channels + channel] != elements[by_channel ? channel : pixel * channels])
                return false;
    return true;
}

struct middle_constant middle_place_constant(struct quantised_builder *builder, const struct middle_value *value,
                                             const int8_t *elements)
{
    const struct tensor *tensor = &builder->network->tensors[value->tensor];
    size_t count = tensor_elements(tensor), channels = (size_t)tensor->channels, pixels = count / channels;
    int64_t *places = arena_array(builder->arena, int64_t, count);
    int8_t *placed = arena_array(builder->arena, int8_t, count);
    view_positions(&value->view, places);
    for (size_t i = 0; i < count; i++)
        placed[places[i]] = elements[i];
    if (is_repeated(placed, pixels, channels, true))
        return (struct middle_constant){1, 1, tensor->channels, placed};
    if (!is_repeated(placed, pixels, channels, false))
        return (struct middle_constant){tensor->height, tensor->width, tensor->channels, placed};
    for (size_t pixel = 0; pixel < pixels; pixel++)
        placed[pixel] = placed[pixel * channels];
    return (struct middle_constant){tensor->height, tensor->width, 1, placed};
}

/* ---- tensors ---- */

/* A copy of the first elements, as they come. */
static int lay_first(struct quantised_builder *builder, const char *name, int input, int height, int width, int channels)
{
    int output = quantised_tensor_like(builder, name, input, height, width, channels);
    struct layer *layer = quantised_layer(builder, LAYER_COPY, name, input, output);
    layer->map = (struct layer_map){positions_in_steps(height, 0, width * channels, builder->arena),
                                    positions_in_steps(width, 0, channels, builder->arena),
                                    positions_in_steps(channels, 0, 1, builder->arena)};
    return output;
}

/* A copy that is nothing but one element of border. There is one for all constants: it takes as long as a small layer. */
static int any_element(struct quantised_builder *builder, const char *name, int source)
{
    const struct network *network = builder->network;
    for (int i = 0; i < network->layer_count; i++) {
        const struct layer *layer = &network->layers[i];
        if (layer->kind == LAYER_COPY && layer->stage_count == 0 && tensor_elements(&network->tensors[layer->output]) == 1 &&
            layer->map.rows[0] < 0)
            return layer->output;
    }
    name = arena_format(builder->arena, "%s, its source", name);
    int output = quantised_tensor_like(builder, name, source, 1, 1, 1);
    struct layer *layer = quantised_layer(builder, LAYER_COPY, name, source, output);
    int32_t *none = arena_array(builder->arena, int32_t, 1);
    *none = -1;
    layer->map = (struct layer_map){none, none, none};
    return output;
}

/* As the channels of a pixel. */
static int lay_pixel(struct quantised_builder *builder, const char *name, int source, const uint8_t *elements, int count,
                     const struct quantisation *quantisation)
{
    int input = any_element(builder, name, source), output = quantised_tensor(builder, name, 1, 1, count, quantisation);
    int64_t *multipliers = arena_array(builder->arena, int64_t, (size_t)count);
    int64_t *addends = arena_array(builder->arena, int64_t, (size_t)count);
    struct layer *layer = quantised_layer(builder, LAYER_CONVOLUTION, name, input, output);
    for (int i = 0; i < count; i++) {
        multipliers[i] = 1;
        addends[i] = elements[i];
    }
    layer->weights = arena_array(builder->arena, int8_t, (size_t)count);
    layer->stages[0] = (struct stage){
        .count = count, .multiplier = multipliers, .addend = addends, .divisor = 1, .has_clip = true, .maximum = UINT8_MAX};
    layer->stage_count = 1;
    return output;
}

#define PART_IN_L1 32768 /* elements: tiles of one pixel have all of its channels */

/* The fewest equal ones of up to `most` elements; 0: there are none. */
static int count_parts(int64_t count, int64_t most)
{
    for (int parts = 1; parts <= MIDDLE_MAXIMUM_PARTS; parts++)
        if (count % parts == 0 && count / parts <= most)
            return parts;
    return 0;
}

int middle_lay_elements(struct quantised_builder *builder, const char *name, int source, const uint8_t *elements,
                        int64_t count, const struct quantisation *quantisation)
{
    int parts[MIDDLE_MAXIMUM_PARTS], pixels = count_parts(count, PART_IN_L1);
    pixels = pixels ? pixels : count_parts(count, MAXIMUM_DIMENSION);
    if (pixels == 0 || count < 1)
        return -1;
    const int each = (int)(count / pixels);
    for (int i = 0; i < pixels; i++) {
        const char *own = pixels == 1 ? name : arena_format(builder->arena, "%s, part %d", name, i);
        parts[i] = lay_pixel(builder, own, source, elements + (ptrdiff_t)i * each, each, quantisation);
    }
    return quantised_concatenate(builder, name, parts, pixels, AXIS_WIDTH);
}

bool middle_lay_constant(struct quantised_builder *builder, const char *name, const struct middle_constant *constant,
                         const struct quantisation *quantisation, int source, int *tensor)
{
    int64_t count = (int64_t)constant->height * constant->width * constant->channels;
    uint8_t *elements = arena_array(builder->arena, uint8_t, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        elements[i] = (uint8_t)(constant->elements[i] + (quantisation->is_signed ? 128 : 0));
    bool is_pixel = constant->height == 1 && constant->width == 1;
    const char *own = is_pixel ? name : arena_format(builder->arena, "%s, in a row", name);
    *tensor = middle_lay_elements(builder, own, source, elements, count, quantisation);
    if (*tensor < 0)
        return false;
    if (!is_pixel)
        *tensor = lay_first(builder, name, *tensor, constant->height, constant->width, constant->channels);
    return true;
}
