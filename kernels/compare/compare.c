#include "compare.h"

#include <string.h>

static uint32_t comparison_pixel_bytes(const struct dory_check_layer *layer)
{
    return dory_element_bytes(layer->channels, layer->bits);
}

uint32_t comparison_bytes(const struct dory_check_layer *layer)
{
    return (uint32_t)layer->height * layer->width * comparison_pixel_bytes(layer);
}

/* The element of `bits` bits that starts `first_bit` bits into `bytes`, little end first. */
static int32_t element_at(const uint8_t *bytes, uint32_t first_bit, const struct dory_check_layer *layer)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < (layer->bits + 7u) / 8; i++) {
        value |= (uint32_t)bytes[i] << (8 * i);
    }
    uint32_t unused = 32u - layer->bits;
    value = (value >> first_bit) << unused;
    return layer->is_signed ? (int32_t)value >> unused : (int32_t)(value >> unused);
}

static void take_difference(struct dory_comparison *comparison, const struct dory_check_layer *layer, uint32_t pixel,
                            uint32_t channel, int32_t expected, int32_t actual)
{
    if (comparison->differing++ == 0) {
        comparison->row = pixel / layer->width;
        comparison->column = pixel % layer->width;
        comparison->channel = channel;
        comparison->expected = expected;
        comparison->actual = actual;
    }
}

/* The elements of one unit: one of a byte or more, or as many as a byte holds; bits behind a pixel's end do not count. */
static void take_unit(struct dory_comparison *comparison, const struct dory_check_layer *layer, uint32_t first,
                      const uint8_t *expected, const uint8_t *actual)
{
    uint32_t pixel = first / comparison_pixel_bytes(layer);
    uint32_t channel = first % comparison_pixel_bytes(layer) * 8 / layer->bits;
    for (uint32_t bit = 0; bit == 0 || bit + layer->bits <= 8; bit += layer->bits, channel++) {
        int32_t wanted = element_at(expected, bit, layer), found = element_at(actual, bit, layer);
        if (wanted != found && channel < layer->channels) {
            take_difference(comparison, layer, pixel, channel, wanted, found);
        }
    }
}

void comparison_take(struct dory_comparison *comparison, const struct dory_check_layer *layer, uint32_t first,
                     const uint8_t *expected, const uint8_t *actual, uint32_t bytes)
{
    uint32_t unit = (layer->bits + 7u) / 8;
    comparison->bytes += bytes;
    if (memcmp(expected, actual, bytes) == 0) {
        return;
    }
    for (uint32_t at = 0; at < bytes; at += unit) {
        take_unit(comparison, layer, first + at, expected + at, actual + at);
    }
}
