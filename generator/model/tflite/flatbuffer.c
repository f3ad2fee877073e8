#include "model/tflite/flatbuffer.h"

#include <string.h>

void flat_fail(struct flat_file *file, size_t at, const char *fault)
{
    if (file->fault)
        return;
    file->fault = fault;
    file->fault_at = at;
}

static bool is_inside(struct flat_file *file, size_t at, size_t bytes, const char *fault)
{
    if (!file->fault && at <= file->length && bytes <= file->length - at)
        return true;
    flat_fail(file, at, fault);
    return false;
}

/* Little endian; the place was checked. */
static uint64_t number_at(const struct flat_file *file, size_t at, size_t bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)file->bytes[at + i] << (8 * i);
    return number;
}

static int64_t signed_at(const struct flat_file *file, size_t at, size_t bytes)
{
    uint64_t number = number_at(file, at, bytes), sign = (uint64_t)1 << (8 * bytes - 1);
    return (int64_t)((number ^ sign) - sign);
}

static float float_at(const struct flat_file *file, size_t at)
{
    uint32_t bits = (uint32_t)number_at(file, at, 4);
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* ---- tables ---- */

/* The vtable lies at table - distance, on either side. */
static struct flat_table table_at(struct flat_file *file, size_t at)
{
    static const char fault[] = "a table that leaves the file";
    struct flat_table table = {.at = at};
    if (!is_inside(file, at, 4, fault))
        return (struct flat_table){0};
    int64_t vtable = (int64_t)at - signed_at(file, at, 4);
    if (vtable < 0 || !is_inside(file, (size_t)vtable, 4, "a vtable that leaves the file")) {
        flat_fail(file, at, "a vtable that leaves the file");
        return (struct flat_table){0};
    }
    table.vtable = (size_t)vtable;
    table.vtable_bytes = (size_t)number_at(file, table.vtable, 2);
    table.bytes = (size_t)number_at(file, table.vtable + 2, 2);
    if (table.vtable_bytes < 4 || table.bytes < 4)
        flat_fail(file, table.vtable, "a vtable of less than 4 bytes");
    bool is_whole = is_inside(file, table.vtable, table.vtable_bytes, "a vtable that leaves the file") &&
                    is_inside(file, at, table.bytes, fault);
    return is_whole ? table : (struct flat_table){0};
}

struct flat_table flat_root(struct flat_file *file)
{
    if (!is_inside(file, 0, 8, "a file of less than 8 bytes"))
        return (struct flat_table){0};
    return table_at(file, (size_t)number_at(file, 0, 4));
}

/* Where a field of so many bytes lies; 0, where nothing can lie, if the table leaves it out. */
static size_t field_at(struct flat_file *file, struct flat_table table, int field, size_t bytes)
{
    size_t entry = 4 + 2 * (size_t)field;
    if (file->fault || table.bytes == 0 || entry + 2 > table.vtable_bytes)
        return 0;
    size_t offset = (size_t)number_at(file, table.vtable + entry, 2);
    if (offset == 0)
        return 0;
    if (offset >= 4 && offset + bytes <= table.bytes)
        return table.at + offset;
    flat_fail(file, table.vtable + entry, "a field that leaves its table");
    return 0;
}

int64_t flat_integer(struct flat_file *file, struct flat_table table, int field, int bytes, int64_t otherwise)
{
    size_t at = field_at(file, table, field, (size_t)bytes);
    return at ? signed_at(file, at, (size_t)bytes) : otherwise;
}

float flat_float(struct flat_file *file, struct flat_table table, int field, float otherwise)
{
    size_t at = field_at(file, table, field, 4);
    return at ? float_at(file, at) : otherwise;
}

struct flat_table flat_subtable(struct flat_file *file, struct flat_table table, int field)
{
    size_t at = field_at(file, table, field, 4);
    return at ? table_at(file, at + (size_t)number_at(file, at, 4)) : (struct flat_table){0};
}

/* ---- vectors ---- */

struct flat_vector flat_vector(struct flat_file *file, struct flat_table table, int field, size_t element_bytes)
{
    static const char fault[] = "a vector that leaves the file";
    size_t at = field_at(file, table, field, 4);
    if (!at)
        return (struct flat_vector){0};
    at += (size_t)number_at(file, at, 4);
    if (!is_inside(file, at, 4, fault))
        return (struct flat_vector){0};
    size_t count = (size_t)number_at(file, at, 4);
    if (!is_inside(file, at + 4, count * element_bytes, fault)) /* both below 2^32 and 9 */
        return (struct flat_vector){0};
    return (struct flat_vector){at + 4, count, element_bytes, true};
}

static size_t element_at(struct flat_file *file, struct flat_vector vector, size_t index)
{
    if (!file->fault && index < vector.count)
        return vector.at + index * vector.element_bytes;
    flat_fail(file, vector.at, "a vector that is too short");
    return 0;
}

int64_t flat_element(struct flat_file *file, struct flat_vector vector, size_t index)
{
    size_t at = element_at(file, vector, index);
    return at ? signed_at(file, at, vector.element_bytes) : 0;
}

float flat_element_float(struct flat_file *file, struct flat_vector vector, size_t index)
{
    size_t at = element_at(file, vector, index);
    return at ? float_at(file, at) : 0;
}

struct flat_table flat_element_table(struct flat_file *file, struct flat_vector vector, size_t index)
{
    size_t at = element_at(file, vector, index);
    return at ? table_at(file, at + (size_t)number_at(file, at, 4)) : (struct flat_table){0};
}
