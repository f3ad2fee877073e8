#include "values/text_tensor.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_LINE 512 /* headers are short, values shorter */

/* ---- reading ---- */

enum line_kind { LINE_EMPTY, LINE_VALUE, LINE_TEXT };

/* The number in front of the first comma. */
static enum line_kind read_line(const char *line, int64_t *value)
{
    while (isspace((unsigned char)*line) || *line == '\\')
        line++;
    if (!*line || *line == '#')
        return *line ? LINE_TEXT : LINE_EMPTY;
    char *end;
    double number = strtod(line, &end);
    while (isspace((unsigned char)*end))
        end++;
    if (end == line || (*end && *end != ',' && *end != '\\') || number != floor(number) || fabs(number) > 9e15)
        return LINE_TEXT;
    *value = (int64_t)number;
    return LINE_VALUE;
}

/* Of "# name (shape [1, 2]),"; null where the line has another form. */
static const char *header_name(const char *line, struct arena *arena)
{
    line += strspn(line, "# ");
    const char *end = strstr(line, " (shape");
    return end && end > line ? arena_format(arena, "%.*s", (int)(end - line), line) : NULL;
}

/* A shape of one or two dimensions. */
static void read_shape(const char *line, struct text_tensor *tensor)
{
    const char *at = strstr(line, "(shape [");
    char *end = NULL;
    int64_t dimensions[2];
    for (at = at ? at + strlen("(shape [") : ""; isdigit((unsigned char)*at); at = end + strspn(end, ", ")) {
        int64_t dimension = strtoll(at, &end, 10);
        if (tensor->rank == 2) { /* there is one more: the shape of an image */
            tensor->rank = 0;
            return;
        }
        dimensions[tensor->rank++] = dimension;
    }
    memcpy(tensor->dimensions, dimensions, (size_t)tensor->rank * sizeof *dimensions);
}

static bool read_lines(FILE *file, const char *path, struct text_tensor *tensor, struct arena *arena,
                       struct diagnostics *diagnostics)
{
    char line[MAXIMUM_LINE];
    for (size_t number = 1; fgets(line, sizeof line, file); number++) {
        int64_t value;
        switch (read_line(line, &value)) {
        case LINE_VALUE:
            arena_grow(arena, tensor->values, tensor->count);
            tensor->values[tensor->count++] = value;
            break;
        case LINE_EMPTY: break;
        case LINE_TEXT:
            if (number == 1) {
                tensor->name = header_name(line, arena);
                read_shape(line, tensor);
            }
            if (number == 1 || *line == '#')
                break;
            line[strcspn(line, "\r\n")] = 0;
            diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s, line %zu: '%.40s' is not a whole number", path, number,
                     line);
            return false;
        }
    }
    return true;
}

bool text_tensor_read(const char *path, struct text_tensor *tensor, struct arena *arena, struct diagnostics *diagnostics)
{
    *tensor = (struct text_tensor){0};
    FILE *file = fopen(path, "r");
    if (!file) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot open %s: %s", path, strerror(errno));
        return false;
    }
    bool is_good = read_lines(file, path, tensor, arena, diagnostics);
    if (is_good && ferror(file)) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot read %s: %s", path, strerror(errno));
        is_good = false;
    }
    fclose(file);
    return is_good;
}

/* ---- writing ---- */

static bool write_values(FILE *file, const char *name, const struct tensor *shape, const int64_t *values)
{
    if (shape->height == 1 && shape->width == 1)
        fprintf(file, "# %s (shape [%d]),\n", name, shape->channels);
    else if (shape->height == 1)
        fprintf(file, "# %s (shape [%d, %d]),\n", name, shape->width, shape->channels);
    else
        fprintf(file, "# %s (shape [%d, %d, %d]),\n", name, shape->height, shape->width, shape->channels);
    for (size_t i = 0; i < tensor_elements(shape); i++)
        fprintf(file, "%lld,\n", (long long)values[i]);
    return !ferror(file);
}

bool text_tensor_write(const char *path, const char *name, const struct tensor *shape, const int64_t *values,
                       struct diagnostics *diagnostics)
{
    struct arena scratch = {0};
    const char *temporary = arena_format(&scratch, "%s.tmp", path);
    FILE *file = fopen(temporary, "w");
    bool is_written = file && write_values(file, name, shape, values);
    if (file && fclose(file) != 0)
        is_written = false;
    if (is_written)
        is_written = rename(temporary, path) == 0;
    if (!is_written) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot write %s: %s", path, strerror(errno));
        if (file)
            remove(temporary);
    }
    arena_free(&scratch);
    return is_written;
}

/* ---- comparing ---- */

/* Where an element stands in the file. */
static size_t position(const struct tensor *shape, size_t pixel, size_t channel, bool channels_first)
{
    size_t pixels = (size_t)shape->height * (size_t)shape->width;
    return channels_first ? channel * pixels + pixel : pixel * (size_t)shape->channels + channel;
}

static int64_t expected_value(const struct text_tensor *expected, size_t index, bool joined_bytes)
{
    if (!joined_bytes)
        return expected->values[index];
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; i++)
        bits |= (uint32_t)(expected->values[4 * index + i] & 255) << (8 * i);
    return (int32_t)bits;
}

static void compare_in_order(const struct text_tensor *expected, const struct tensor *shape, const int64_t *actual,
                             struct text_comparison *comparison)
{
    size_t channels = (size_t)shape->channels;
    comparison->compared = tensor_elements(shape);
    for (size_t i = 0; i < comparison->compared; i++) {
        size_t pixel = i / channels, channel = i % channels;
        size_t index = position(shape, pixel, channel, comparison->channels_first);
        int64_t wanted = expected_value(expected, index, comparison->joined_bytes);
        if (wanted == actual[i] || comparison->different++ > 0)
            continue;
        comparison->row = (int)(pixel / (size_t)shape->width);
        comparison->column = (int)(pixel % (size_t)shape->width);
        comparison->channel = (int)channel;
        comparison->expected = wanted;
        comparison->actual = actual[i];
    }
}

struct text_comparison text_tensor_compare(const struct text_tensor *expected, const struct tensor *shape,
                                           const int64_t *actual)
{
    struct text_comparison plain = {0}, turned;
    size_t count = tensor_elements(shape);
    plain.joined_bytes = expected->count == 4 * count;
    plain.same_count = expected->count == count || plain.joined_bytes;
    if (!plain.same_count)
        return plain;
    turned = plain;
    turned.channels_first = true;
    compare_in_order(expected, shape, actual, &plain);
    if (plain.different)
        compare_in_order(expected, shape, actual, &turned);
    return plain.different && !turned.different ? turned : plain;
}
