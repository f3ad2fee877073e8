#include "model/graph.h"

#include <math.h>
#include <string.h>

#include "base/arithmetic.h"

bool node_is_one_of(const struct node *node, const char *const *types)
{
    for (; *types; types++)
        if (!strcmp(node->type, *types))
            return true;
    return false;
}

const struct attribute *node_attribute(const struct node *node, const char *name)
{
    for (int i = 0; i < node->attribute_count; i++)
        if (!strcmp(node->attributes[i].name, name))
            return &node->attributes[i];
    return NULL;
}

bool element_type_is_integer(enum element_type type) { return type >= ELEMENT_INT8 && type <= ELEMENT_INT64; }

int element_type_bytes(enum element_type type)
{
    switch (type) {
    case ELEMENT_INT8:
    case ELEMENT_UINT8: return 1;
    case ELEMENT_FLOAT16:
    case ELEMENT_INT16:
    case ELEMENT_UINT16: return 2;
    case ELEMENT_DOUBLE:
    case ELEMENT_INT64: return 8;
    default: return 4;
    }
}

/* The bits of a number of the file, on a machine of any byte order. */
static uint64_t little_endian(const unsigned char *bytes, int count)
{
    uint64_t bits = 0;
    for (int i = 0; i < count; i++)
        bits |= (uint64_t)bytes[i] << (8 * i);
    return bits;
}

static float single_precision(const unsigned char *bytes, bool is_little_endian)
{
    uint32_t bits;
    float number;
    memcpy(&bits, bytes, sizeof bits);
    bits = is_little_endian ? little_endian_word(bytes) : bits;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static double half_precision(uint32_t bits)
{
    int exponent = (int)(bits >> 10 & 0x1f);
    double fraction = (double)(bits & 0x3ff), sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 0x1f)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

static uint64_t native_bits(const struct constant *constant, const unsigned char *bytes);

static double floating_point(const struct constant *constant, const unsigned char *bytes)
{
    double number;
    if (constant->type == ELEMENT_FLOAT16)
        return half_precision(
            (uint32_t)(constant->is_little_endian ? little_endian(bytes, 2) : native_bits(constant, bytes)));
    if (constant->type == ELEMENT_FLOAT)
        return (double)single_precision(bytes, constant->is_little_endian);
    uint64_t bits = little_endian(bytes, sizeof bits);
    memcpy(&number, constant->is_little_endian ? (const void *)&bits : bytes, sizeof number);
    return number;
}

/* Types narrower than 32 bits stand in an int32 in the machine's order. */
static uint64_t native_bits(const struct constant *constant, const unsigned char *bytes)
{
    int32_t narrow;
    uint64_t wide;
    if (constant->stride_bytes == (int)sizeof wide) {
        memcpy(&wide, bytes, sizeof wide);
        return wide;
    }
    memcpy(&narrow, bytes, sizeof narrow);
    return (uint64_t)narrow;
}

static int64_t whole_number(const struct constant *constant, const unsigned char *bytes)
{
    uint64_t bits =
        constant->is_little_endian ? little_endian(bytes, element_type_bytes(constant->type)) : native_bits(constant, bytes);
    switch (constant->type) {
    case ELEMENT_INT8: return (int8_t)bits;
    case ELEMENT_UINT8: return (uint8_t)bits;
    case ELEMENT_INT16: return (int16_t)bits;
    case ELEMENT_UINT16: return (uint16_t)bits;
    case ELEMENT_INT32: return (int32_t)bits;
    case ELEMENT_UINT32: return (uint32_t)bits;
    default: return (int64_t)bits;
    }
}

#define MAXIMUM_WHOLE 9007199254740992.0 /* 2^53: beyond it doubles skip integers */
#define MAXIMUM_SMALL 2147483648.0f      /* 2^31 */

static bool is_whole(double value, int64_t *number)
{
    if (!(fabs(value) <= MAXIMUM_WHOLE))
        return false;
    *number = (int64_t)value;
    return (double)*number == value;
}

bool constant_integer(const struct constant *constant, size_t index, int64_t *number)
{
    if (constant->type == ELEMENT_UNSUPPORTED) /* there is no data to point to */
        return false;
    const unsigned char *bytes = constant->data + index * (size_t)constant->stride_bytes;
    if (!element_type_is_integer(constant->type))
        return is_whole(floating_point(constant, bytes), number);
    *number = whole_number(constant, bytes);
    return true;
}

bool constant_same_integer(const struct constant *constant, int64_t *number)
{
    bool is_same = constant->count > 0 && constant_integer(constant, 0, number);
    for (size_t i = 1; is_same && i < constant->count; i++) {
        int64_t other;
        is_same = constant_integer(constant, i, &other) && other == *number;
    }
    return is_same;
}

/* Most of what there is to read is single, small and whole: 32 bits hold it, and the other cases are not worth a look.
 * Returns whether all numbers are. */
static bool singles_are_small(const unsigned char *bytes, size_t stride, bool is_little_endian, size_t count,
                              int64_t *numbers)
{
    const float fraction = 0.5f; /* in place of what an int32 does not hold */
    bool all = true;
    for (size_t i = 0; i < count; i++, bytes += stride) {
        float single = single_precision(bytes, is_little_endian);
        single = fabsf(single) < MAXIMUM_SMALL ? single : fraction;
        int32_t number = (int32_t)single;
        all &= (float)number == single;
        numbers[i] = number;
    }
    return all;
}

size_t constant_integers(const struct constant *constant, size_t from, size_t count, int64_t instead, int64_t *numbers,
                         size_t *first)
{
    const size_t stride = (size_t)constant->stride_bytes;
    if (count == 0) /* as of a constant without data */
        return 0;
    const unsigned char *bytes = constant->data + from * stride;
    size_t fractions = 0;
    if (constant->type == ELEMENT_FLOAT && singles_are_small(bytes, stride, constant->is_little_endian, count, numbers))
        return 0;
    for (size_t i = 0; i < count; i++) {
        if (constant_integer(constant, from + i, &numbers[i]))
            continue;
        numbers[i] = instead;
        *first = fractions++ ? *first : from + i;
    }
    return fractions;
}

double constant_number(const struct constant *constant, size_t index)
{
    if (constant->type == ELEMENT_UNSUPPORTED) /* there is no data to point to */
        return NAN;
    const unsigned char *bytes = constant->data + index * (size_t)constant->stride_bytes;
    if (element_type_is_integer(constant->type))
        return (double)whole_number(constant, bytes);
    return floating_point(constant, bytes);
}

struct constant *constant_make(struct arena *arena, const char *name, const int64_t *numbers, size_t count, int rank)
{
    int64_t *copy = arena_array(arena, int64_t, count);
    if (count)
        memcpy(copy, numbers, count * sizeof *copy);
    struct constant *constant = arena_allocate(arena, sizeof *constant);
    *constant = (struct constant){
        .name = name,
        .type = ELEMENT_INT64,
        .type_name = "INT64",
        .rank = rank,
        .dimensions = {(int64_t)count},
        .count = count,
        .data = (const unsigned char *)copy,
        .stride_bytes = sizeof *copy,
    };
    return constant;
}
