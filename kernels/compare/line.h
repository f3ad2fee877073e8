/* A line of text for the log: without printf, whose code is larger than most networks' own. */
#ifndef DORY_CHECK_LINE_H
#define DORY_CHECK_LINE_H

#include <stdint.h>

struct line {
    char text[200]; /* what does not fit is cut off */
    uint32_t length;
};

void line_add(struct line *line, const char *text);
void line_add_unsigned(struct line *line, uint64_t value);
void line_add_signed(struct line *line, int32_t value);

/* "layer 3 conv2". */
void line_add_layer(struct line *line, unsigned layer, const char *name);

/* A ratio with two digits after the point; a dash where the divisor is zero. */
void line_add_ratio(struct line *line, uint64_t dividend, uint64_t divisor);

/* Writes it with a line break and starts anew. */
void line_log(struct line *line);

#endif
