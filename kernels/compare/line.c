#include "line.h"

#include "dory/hal.h"

#define LINE_BREAK_BYTES 2 /* '\n' and the zero */

void line_add(struct line *line, const char *text)
{
    while (*text && line->length < sizeof line->text - LINE_BREAK_BYTES) {
        line->text[line->length++] = *text++;
    }
}

void line_add_unsigned(struct line *line, uint64_t value)
{
    char digits[21];
    char *first = digits + sizeof digits - 1;
    *first = 0;
    do {
        *--first = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    line_add(line, first);
}

void line_add_signed(struct line *line, int32_t value)
{
    if (value < 0) {
        line_add(line, "-");
    }
    line_add_unsigned(line, value < 0 ? 0u - (uint32_t)value : (uint32_t)value);
}

void line_add_layer(struct line *line, unsigned layer, const char *name)
{
    line_add(line, "layer ");
    line_add_unsigned(line, layer);
    line_add(line, " ");
    line_add(line, name);
}

void line_add_ratio(struct line *line, uint64_t dividend, uint64_t divisor)
{
    if (divisor == 0) {
        line_add(line, "-");
        return;
    }
    uint64_t hundredths = dividend * 100 / divisor;
    line_add_unsigned(line, hundredths / 100);
    line_add(line, hundredths % 100 < 10 ? ".0" : ".");
    line_add_unsigned(line, hundredths % 100);
}

void line_log(struct line *line)
{
    line->text[line->length] = '\n';
    line->text[line->length + 1] = 0;
    hal_log(line->text);
    line->length = 0;
}
