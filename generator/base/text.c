#include "base/text.h"

#include <stdarg.h>
#include <string.h>

/* Room for `bytes` more and the zero behind them. */
static char *reserve(struct text *text, size_t bytes)
{
    size_t needed = text->length + bytes + 1;
    if (needed > text->capacity) {
        size_t capacity = text->capacity ? text->capacity : 4096;
        while (capacity < needed)
            capacity *= 2;
        char *grown = arena_allocate(text->arena, capacity);
        if (text->length)
            memcpy(grown, text->bytes, text->length);
        text->bytes = grown;
        text->capacity = capacity;
    }
    return text->bytes + text->length;
}

static void add_bytes(struct text *text, const char *bytes, size_t count)
{
    char *end = reserve(text, count);
    memcpy(end, bytes, count);
    end[count] = 0;
    text->length += count;
}

void text_add(struct text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length > 0) {
        vsnprintf(reserve(text, (size_t)length), (size_t)length + 1, format, arguments);
        text->length += (size_t)length;
    }
    va_end(arguments);
}

void text_add_string(struct text *text, const char *string) { add_bytes(text, string, strlen(string)); }

static bool is_printable(char character) { return character >= ' ' && character <= '~'; }

void text_add_in_comment(struct text *text, const char *string)
{
    char before = 0;
    for (; *string; string++) {
        bool ends_comment = *string == '/' && before == '*';
        bool opens_comment = *string == '*' && before == '/'; /* -Wcomment */
        before = is_printable(*string) && !ends_comment && !opens_comment && *string != '\\' ? *string : '_';
        add_bytes(text, &before, 1);
    }
}

void text_add_literal(struct text *text, const char *string)
{
    text_add_string(text, "\"");
    for (; *string; string++) {
        if (strchr("\"\\?", *string)) /* a question mark could be part of a trigraph */
            text_add(text, "\\%c", *string);
        else if (is_printable(*string))
            add_bytes(text, string, 1);
        else
            text_add(text, "\\%03o", (unsigned char)*string);
    }
    text_add_string(text, "\"");
}

void text_add_file(struct text *text, const char *path)
{
    for (; *path; path++)
        text_add(text, *path == '$' ? "$%c" : strchr(" #\\", *path) ? "\\%c" : "%c", *path);
}

const char *text_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

size_t text_column(const struct text *text)
{
    size_t column = 0;
    while (column < text->length && text->bytes[text->length - 1 - column] != '\n')
        column++;
    return column;
}
