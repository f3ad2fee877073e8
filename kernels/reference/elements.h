/* Reading and writing activation elements of any width. */
#ifndef DORY_REFERENCE_ELEMENTS_H
#define DORY_REFERENCE_ELEMENTS_H

#include <string.h>

#include "dory/layer.h"
#include "dory/share.h"

/* Element `index` of a pixel that starts at `pixel`. */
static inline int32_t dory_read_element(const uint8_t *pixel, uint32_t index, uint32_t bits, uint32_t is_signed)
{
    uint32_t value = 0;
    if (bits == 8) {
        value = pixel[index];
    } else if (bits == 16) { /* copies of a known size are no calls */
        memcpy(&value, pixel + 2 * index, 2);
    } else if (bits == 32) {
        memcpy(&value, pixel + 4 * index, 4);
    } else {
        value = (uint32_t)pixel[index * bits / 8] >> (index * bits % 8) & ((1u << bits) - 1);
    }
    return is_signed ? (int32_t)(value << (32 - bits)) >> (32 - bits) : (int32_t)value;
}

static inline void dory_write_element(uint8_t *pixel, uint32_t index, uint32_t bits, int32_t value)
{
    if (bits == 8) {
        pixel[index] = (uint8_t)value;
        return;
    }
    if (bits > 8) {
        memcpy(pixel + index * (bits / 8), &value, bits / 8);
        return;
    }
    uint32_t position = index * bits % 8;
    uint32_t mask = ((1u << bits) - 1) << position;
    uint8_t *byte = pixel + index * bits / 8;
    *byte = (uint8_t)((position == 0 ? 0u : *byte) | ((uint32_t)value << position & mask));
}

#endif
