#include "emit/print_struct.h"

#include <inttypes.h>
#include <string.h>

#include "dory/layer.h"

#define LINE_COLUMNS 120

static uint64_t read_unsigned(const uint8_t *place, size_t bytes)
{
    uint8_t value_8;
    uint16_t value_16;
    uint32_t value_32;
    uint64_t value_64;
    switch (bytes) {
    case 1: memcpy(&value_8, place, 1); return value_8;
    case 2: memcpy(&value_16, place, 2); return value_16;
    case 4: memcpy(&value_32, place, 4); return value_32;
    default: memcpy(&value_64, place, 8); return value_64;
    }
}

static int64_t read_signed(const uint8_t *place, size_t bytes)
{
    uint64_t value = read_unsigned(place, bytes), sign = UINT64_C(1) << (8 * bytes - 1);
    return (int64_t)((value ^ sign) - sign);
}

uint64_t field_unsigned(const struct field *field, const void *value, size_t element)
{
    return read_unsigned((const uint8_t *)value + field->offset + element * field->bytes, field->bytes);
}

int64_t field_signed(const struct field *field, const void *value, size_t element)
{
    return read_signed((const uint8_t *)value + field->offset + element * field->bytes, field->bytes);
}

/* The least integers cannot be written as a minus and a number. */
static void print_signed(struct text *text, int64_t value)
{
    if (value == INT64_MIN)
        text_add_string(text, "INT64_MIN");
    else if (value == INT32_MIN || value == INT32_MAX)
        text_add_string(text, value == INT32_MIN ? "INT32_MIN" : "INT32_MAX");
    else
        text_add(text, "%" PRId64, value);
}

static void print_value(struct text *text, const struct field *field, const uint8_t *place, size_t indent)
{
    if (field->kind == FIELD_STRUCT)
        print_record(text, field->record, place, indent);
    else if (field->kind == FIELD_ENUM)
        text_add_string(text, field->names[read_unsigned(place, field->bytes)]);
    else if (field->kind == FIELD_SIGNED)
        print_signed(text, read_signed(place, field->bytes));
    else if (field->kind == FIELD_OFFSET && read_unsigned(place, field->bytes) == DORY_NO_BUFFER)
        text_add_string(text, "DORY_NO_BUFFER");
    else if (field->kind == FIELD_OFFSET && read_unsigned(place, field->bytes) == DORY_IN_PLACE)
        text_add_string(text, "DORY_IN_PLACE");
    else
        text_add(text, "%" PRIu64, read_unsigned(place, field->bytes));
}

static void print_field(struct text *text, const struct field *field, const uint8_t *place, size_t indent)
{
    text_add(text, ".%s = ", field->name);
    if (field->count > 1)
        text_add_string(text, "{");
    for (size_t i = 0; i < field->count; i++) {
        if (i)
            text_add_string(text, ", ");
        print_value(text, field, place + i * field->bytes, indent);
    }
    text_add_string(text, field->count > 1 ? "}," : ",");
}

/* An enumeration is always printed: its zero has a name that says something. */
static bool is_left_out(const struct field *field, const uint8_t *place)
{
    bool zero = true;
    for (size_t i = 0; i < field->count * field->bytes; i++)
        zero = zero && place[i] == 0;
    return zero && field->kind != FIELD_ENUM;
}

static void start_line(struct text *text, size_t indent) { text_add(text, "\n%*s", (int)indent, ""); }

/* A member goes on the current line where it fits, else on the next. */
static void place_field(struct text *text, const char *printed, size_t indent)
{
    size_t column = text_column(text);
    bool at_start = column == indent || text->bytes[text->length - 1] == '{';
    if (!at_start && column + 1 + strlen(printed) > LINE_COLUMNS)
        start_line(text, indent);
    else if (!at_start)
        text_add_string(text, " ");
    text_add_string(text, printed);
}

void print_members(struct text *text, const struct record *record, const void *value, size_t indent)
{
    const char *group = NULL;
    for (size_t i = 0; i < record->field_count; i++) {
        const struct field *field = &record->fields[i];
        const uint8_t *place = (const uint8_t *)value + field->offset;
        if (field->group)
            group = field->group; /* opened by the first member of it that is printed */
        if (is_left_out(field, place) || (field->is_live && !field->is_live(value)))
            continue;
        if (group) {
            start_line(text, indent);
            if (*group) {
                text_add(text, "/* %s */", group);
                start_line(text, indent);
            }
            group = NULL;
        }
        struct text printed = {.arena = text->arena};
        print_field(&printed, field, place, indent + 4);
        place_field(text, printed.bytes, indent);
    }
}

void print_record(struct text *text, const struct record *record, const void *value, size_t indent)
{
    text_add_string(text, "{");
    size_t start = text->length;
    print_members(text, record, value, indent);
    if (text->length == start)
        text_add_string(text, "0"); /* an empty initialiser is no C11 */
    else
        text->bytes[--text->length] = 0; /* the comma behind the last member */
    text_add_string(text, "}");
}
