#include "base/nearest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Between the first `length` letters of `a`, and `b`. Names beyond a line's length are not near to anything. */
static size_t edit_distance(const char *a, size_t length, const char *b)
{
    size_t row[128], columns = strlen(b);
    if (columns >= sizeof row / sizeof *row)
        return SIZE_MAX;
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 0; i < length; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= columns; j++) {
            size_t above = row[j];
            row[j] = smaller(smaller(above, row[j - 1]) + 1, diagonal + (a[i] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[columns];
}

/* Dashes say nothing: "--" is the beginning of every option. */
static bool begins_with(const char *name, const char *wanted, size_t length)
{
    return length > strspn(wanted, "-") && !strncmp(name, wanted, length);
}

void nearest_offer(struct nearest *nearest, const char *name)
{
    if (!name)
        return;
    size_t distance =
        begins_with(name, nearest->wanted, nearest->length) ? 0 : edit_distance(nearest->wanted, nearest->length, name);
    size_t letters = nearest->length - smaller(nearest->length, strspn(nearest->wanted, "-"));
    bool is_near = distance <= (letters + 1) / 3;
    if (is_near && (!nearest->best || distance < nearest->distance)) {
        nearest->best = name;
        nearest->distance = distance;
    }
}
