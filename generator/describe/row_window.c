/* Which rows of the input a tile of whole rows needs. */
#include "describe/row_window.h"

#include <limits.h>
#include <stdbool.h>

#include "base/arithmetic.h"

/* The fewest rows with which such a window has all that each output row reads. */
static struct row_window fit_window(const struct row_span *spans, int count, int stride, int divisor)
{
    struct row_window window = {stride, divisor, INT16_MIN, 1};
    bool reads = false;
    for (int y = 0; y < count; y++) {
        int early = (int)((int64_t)y * stride / divisor) - spans[y].first;
        window.padding = spans[y].last >= spans[y].first && early > window.padding ? early : window.padding;
        reads |= spans[y].last >= spans[y].first;
    }
    window.padding = reads ? window.padding : 0;
    for (int y = 0; y < count; y++) {
        int rows = spans[y].last + 1 - ((int)((int64_t)y * stride / divisor) - window.padding);
        window.rows = spans[y].last >= spans[y].first && rows > window.rows ? rows : window.rows;
    }
    return window;
}

/* By `rise` input rows in `run` output rows, as near as a divisor of 8 bits allows. */
static struct row_window fit_slope(const struct row_span *spans, int count, int rise, int run)
{
    int common = (int)greatest_common_divisor(rise, run), divisor = run / common;
    if (divisor <= UINT8_MAX)
        return fit_window(spans, count, rise / common, divisor);
    return fit_window(spans, count, (int)((int64_t)rise * UINT8_MAX / run), UINT8_MAX);
}

struct row_window find_row_window(const struct row_span *spans, int output, int input)
{
    int first = 0, last = output - 1;
    while (first < last && spans[first].last < spans[first].first)
        first++;
    while (last > first && spans[last].last < spans[last].first)
        last--;
    struct row_window window = fit_slope(spans, output, input, output);
    if (last > first && spans[last].first > spans[first].first) {
        struct row_window other = fit_slope(spans, output, spans[last].first - spans[first].first, last - first);
        window = other.rows < window.rows ? other : window;
    }
    bool is_all = window.rows >= input || window.padding >= input || window.padding > INT16_MAX;
    return is_all ? (struct row_window){0, 1, 0, input} : window;
}

void set_row_window(struct dory_layer *record, struct row_window window)
{
    record->kernel_height = (uint16_t)window.rows;
    record->stride_height = (uint16_t)window.stride;
    record->row_divisor = (uint8_t)window.divisor;
    record->padding_top = (int16_t)window.padding;
    record->kernel_width = record->input_width;
    record->stride_width = record->padding_left = 0;
    record->dilation_height = record->dilation_width = 1;
}

struct row_span row_span_of(const int32_t *positions, int count)
{
    struct row_span span = {INT_MAX, -1};
    for (int i = 0; i < count; i++) {
        span.first = positions[i] >= 0 && positions[i] < span.first ? positions[i] : span.first;
        span.last = positions[i] > span.last ? positions[i] : span.last;
    }
    return span;
}
