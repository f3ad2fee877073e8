#include "base/array_file.h"

#include <errno.h>
#include <math.h>
#include <string.h>

bool path_ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), end = strlen(ending);
    return length >= end && !strcmp(path + length - end, ending);
}

static unsigned char *read_all(FILE *file, size_t *bytes, struct arena *arena)
{
    unsigned char *data = NULL;
    size_t capacity = 0, count = 0, got = 1;
    while (got > 0) {
        if (count == capacity) {
            unsigned char *larger = arena_allocate(arena, capacity ? 2 * capacity : 65536);
            if (count)
                memcpy(larger, data, count);
            data = larger;
            capacity = capacity ? 2 * capacity : 65536;
        }
        got = fread(data + count, 1, capacity - count, file);
        count += got;
    }
    *bytes = count;
    return ferror(file) ? NULL : data;
}

const unsigned char *file_read(const char *path, size_t *bytes, struct arena *arena, struct diagnostics *diagnostics)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data = file ? read_all(file, bytes, arena) : NULL;
    if (!data)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot %s %s: %s", file ? "read" : "open", path, strerror(errno));
    if (file)
        fclose(file);
    return data;
}

/* ---- .npy: magic, version, length of the header, a Python dictionary as text, numbers ---- */

/* What stands behind 'key': in the dictionary; null where the key is not there. */
static const char *find_entry(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    if (!at)
        return NULL;
    at += strlen(key);
    at += strspn(at, " ");
    return *at == ':' ? at + 1 + strspn(at + 1, " ") : NULL;
}

static bool parse_type(const char *text, struct array_file *array)
{
    static const char kinds[] = "iuf"; /* in the order of enum array_type */
    if (!text || *text++ != '\'' || (*text != '<' && *text != '|' && *text != '='))
        return false;
    const char *kind = memchr(kinds, text[1], 3);
    int bytes = text[2] - '0';
    if (!kind || text[3] != '\'' || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
        return false;
    array->type = (enum array_type)(kind - kinds);
    array->element_bytes = bytes;
    return array->type != ARRAY_FLOAT || bytes >= 2;
}

static bool parse_shape(const char *text, struct array_file *array)
{
    array->count = 1;
    if (!text || *text++ != '(')
        return false;
    for (text += strspn(text, " "); *text >= '0' && *text <= '9'; text += strspn(text, ", ")) {
        size_t digits = strspn(text, "0123456789");
        int64_t size = 0;
        if (array->rank == ARRAY_MAXIMUM_RANK || digits > 10)
            return false;
        for (size_t i = 0; i < digits; i++)
            size = 10 * size + (*text++ - '0');
        array->dimensions[array->rank++] = size;
        if (__builtin_mul_overflow(array->count, (size_t)size, &array->count))
            return false;
    }
    return *text == ')';
}

const char *array_parse_npy(const unsigned char *bytes, size_t length, struct array_file *array, struct arena *arena)
{
    *array = (struct array_file){0};
    if (length < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0 || bytes[6] < 1 || bytes[6] > 3)
        return "is no .npy file";
    size_t start = bytes[6] == 1 ? 10 : 12, header_bytes = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1)
        header_bytes |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (header_bytes > length - start)
        return "ends within its header";
    char *header = arena_allocate(arena, header_bytes + 1);
    memcpy(header, bytes + start, header_bytes);
    const char *order = find_entry(header, "'fortran_order'");
    if (!parse_type(find_entry(header, "'descr'"), array))
        return "has a type that is not supported: little-endian integers or float16, float32, float64 are";
    if (!order || strncmp(order, "False", 5) != 0)
        return "is in Fortran's order; save it with numpy.ascontiguousarray";
    if (!parse_shape(find_entry(header, "'shape'"), array))
        return "has a shape that cannot be read";
    array->data = bytes + start + header_bytes;
    if (array->count > (length - start - header_bytes) / (size_t)array->element_bytes)
        return "holds fewer numbers than its shape says";
    return NULL;
}

bool array_file_read_npy(const char *path, struct array_file *array, struct arena *arena, struct diagnostics *diagnostics)
{
    size_t length;
    *array = (struct array_file){0};
    const unsigned char *bytes = file_read(path, &length, arena, diagnostics);
    const char *fault = bytes ? array_parse_npy(bytes, length, array, arena) : NULL;
    if (fault)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s %s", path, fault);
    return bytes && !fault;
}

/* ---- numbers ---- */

static uint64_t bits_of(const struct array_file *array, size_t index)
{
    uint64_t bits = 0;
    for (int i = 0; i < array->element_bytes; i++)
        bits |= (uint64_t)array->data[index * (size_t)array->element_bytes + (size_t)i] << (8 * i);
    return bits;
}

int64_t array_integer(const struct array_file *array, size_t index)
{
    uint64_t bits = bits_of(array, index);
    int unused = 64 - 8 * array->element_bytes;
    if (array->type == ARRAY_SIGNED)
        return (int64_t)(bits << unused) >> unused;
    return bits > INT64_MAX ? INT64_MAX : (int64_t)bits;
}

static double half_precision(uint64_t bits)
{
    int exponent = (int)(bits >> 10 & 0x1f);
    double fraction = (double)(bits & 0x3ff), sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 0x1f)
        return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

double array_number(const struct array_file *array, size_t index)
{
    uint64_t bits = bits_of(array, index);
    uint32_t low = (uint32_t)bits;
    float narrow;
    double number;
    if (array->type != ARRAY_FLOAT)
        return (double)array_integer(array, index);
    if (array->element_bytes == 2)
        return half_precision(bits);
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&number, &bits, sizeof number);
    return array->element_bytes == 4 ? (double)narrow : number;
}
