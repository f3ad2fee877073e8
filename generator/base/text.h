/* Text that grows, for the passes that write files. It lives in the arena. */
#ifndef DORYGEN_TEXT_H
#define DORYGEN_TEXT_H

#include "base/support.h"

struct text {
    struct arena *arena;
    char *bytes; /* ends with a zero that `length` does not count */
    size_t length, capacity;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As it is, without a format. */
void text_add_string(struct text *text, const char *string);

/* A string from a model, safe inside a comment of C or of assembly: what could end the comment or the line is replaced. */
void text_add_in_comment(struct text *text, const char *string);

/* A string from a model as a string literal of C, quotes included. */
void text_add_literal(struct text *text, const char *string);

/* A file's path as a depfile of ninja or make has it. */
void text_add_file(struct text *text, const char *path);

/* Without folders: what is generated is the same wherever the model lies. */
const char *text_file_name(const char *path);

/* Columns since the last line break. */
size_t text_column(const struct text *text);

#endif
