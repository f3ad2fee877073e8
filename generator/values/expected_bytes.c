/* Values of a tensor and its bytes in memory. */
#include <string.h>

#include "values/expected.h"
#include "values/expected_source.h"

static size_t pixel_bytes(const struct tensor *tensor) { return ((size_t)tensor->channels * (size_t)tensor->bits + 7) / 8; }

size_t expected_tensor_bytes(const struct tensor *tensor)
{
    return (size_t)tensor->height * (size_t)tensor->width * pixel_bytes(tensor);
}

int64_t expected_least_element(const struct tensor *tensor)
{
    return tensor->is_signed ? -(INT64_C(1) << (tensor->bits - 1)) : 0;
}

int64_t expected_greatest_element(const struct tensor *tensor)
{
    return (INT64_C(1) << (tensor->bits - tensor->is_signed)) - 1;
}

/* First element in the low bits; elements of whole bytes little end first. */
static void pack_element(uint8_t *pixel, size_t channel, unsigned bits, int64_t value)
{
    uint64_t field = (uint64_t)value & ((UINT64_C(1) << bits) - 1);
    size_t bit = channel * bits;
    if (bits < 8)
        pixel[bit / 8] = (uint8_t)(pixel[bit / 8] | field << bit % 8);
    for (unsigned byte = 0; byte < bits / 8; byte++)
        pixel[bit / 8 + byte] = (uint8_t)(field >> (8 * byte));
}

bool expected_pack(const struct tensor *tensor, const int64_t *values, uint8_t *bytes)
{
    int64_t least = expected_least_element(tensor), greatest = expected_greatest_element(tensor);
    size_t channels = (size_t)tensor->channels, pixels = tensor_elements(tensor) / channels;
    bool fit = true;
    memset(bytes, 0, expected_tensor_bytes(tensor));
    for (size_t pixel = 0; pixel < pixels; pixel++)
        for (size_t channel = 0; channel < channels; channel++) {
            int64_t value = values[pixel * channels + channel];
            fit = fit && value >= least && value <= greatest;
            pack_element(bytes + pixel * pixel_bytes(tensor), channel, (unsigned)tensor->bits, value);
        }
    return fit;
}

/* Of an element that lies in `bytes` whole bytes or in a part of one. */
static int64_t unpack_element(const uint8_t *pixel, size_t channel, const struct tensor *tensor)
{
    unsigned bits = (unsigned)tensor->bits, bytes = (bits + 7) / 8;
    size_t bit = channel * bits;
    uint64_t field = 0;
    for (unsigned byte = 0; byte < bytes; byte++)
        field |= (uint64_t)pixel[bit / 8 + byte] << (8 * byte);
    field = field >> bit % 8 & ((UINT64_C(1) << bits) - 1);
    bool negative = tensor->is_signed && field >> (bits - 1);
    return (int64_t)field - (negative ? INT64_C(1) << bits : 0);
}

void expected_unpack(const struct tensor *tensor, const uint8_t *bytes, int64_t *values)
{
    size_t channels = (size_t)tensor->channels;
    for (size_t i = 0; i < tensor_elements(tensor); i++)
        values[i] = unpack_element(bytes + i / channels * pixel_bytes(tensor), i % channels, tensor);
}

bool expected_has_element(const struct tensor *tensor, const bool *has, size_t element)
{
    size_t channels = (size_t)tensor->channels, bits = (size_t)tensor->bits;
    size_t first = element / channels * pixel_bytes(tensor) + element % channels * bits / 8;
    for (size_t byte = 0; byte < (bits + 7) / 8; byte++)
        if (!has[first + byte])
            return false;
    return true;
}
