/* Lays the elements of windows as halves, four in two words: {0, 2}, {1, 3}. Each is expanded once for all channels. */
#include "pixels.h"

#include "instructions.h"
#include "quads.h"

/* Of a window's corner, with which all of the window is inside. */
static uint32_t positions(uint32_t extent, uint32_t behind) { return extent > behind ? extent - behind : 0; }

struct dory_window dory_window_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    uint32_t channels = tile->input_channels;
    bool fills_taps = dory_fills_taps(layer);
    struct dory_window window = {.layer = layer, .tile = tile, .channels = channels};
    window.border = dory_border_of(layer, tile);
    window.inside_rows = positions(tile->input_rows, (layer->kernel_height - 1u) * layer->dilation_height);
    window.inside_columns = positions(tile->input_columns, (layer->kernel_width - 1u) * layer->dilation_width);
    window.rows = layer->kernel_height;
    window.runs_per_row = fills_taps ? layer->kernel_width : dory_runs(layer) / layer->kernel_height;
    window.row_bytes = layer->dilation_height * tile->input_columns * channels;
    window.run_bytes = layer->dilation_width * channels;
    window.elements = fills_taps ? channels : dory_run_elements(layer, channels);
    window.groups = dory_chunk_elements_of(layer, channels, fills_taps) / 4;
    window.is_signed = layer->input_is_signed;
    window.fills_taps = fills_taps && channels % 4 != 0;
    window.has_ends = !fills_taps && window.elements % 4 != 0;
    return window;
}

/* ---- where a pixel's window lies ---- */

/* Its runs: in the input, or in `room`. */
struct runs {
    const uint8_t *corner;
    uint32_t row_bytes, run_bytes;
};

static uint8_t *put_bytes(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    for (; bytes >= 4; bytes -= 4, to += 4, from += 4) {
        dory_put_word(to, dory_word_at(from));
    }
    for (; bytes > 0; bytes--) {
        *to++ = *from++;
    }
    return to;
}

static __attribute__((noinline)) uint8_t *put_border(const struct dory_window *window, uint8_t *to, uint32_t taps)
{
    uint32_t word = (uint8_t)window->layer->border_value * 0x01010101u, bytes = taps * window->channels;
    for (; bytes >= 4; bytes -= 4, to += 4) {
        dory_put_word(to, word);
    }
    for (; bytes > 0; bytes--) {
        *to++ = (uint8_t)word;
        __asm__ volatile(""); /* lest three bytes become a call of memset */
    }
    return to;
}

/* So many columns of a row from `column` on, which may be negative. */
static uint8_t *put_columns(const struct dory_window *window, uint8_t *to, const uint8_t *row, int32_t column, uint32_t taps)
{
    int32_t columns = window->tile->input_columns, end = column + (int32_t)taps;
    int32_t first = column < 0 ? 0 : column, last = end > columns ? columns : end;
    if (first >= last) {
        return put_border(window, to, taps);
    }
    to = put_border(window, to, (uint32_t)(first - column));
    to = put_bytes(to, row + (uint32_t)first * window->channels, (uint32_t)(last - first) * window->channels);
    return put_border(window, to, (uint32_t)(end - last));
}

/* A window that reaches into the border, with it. */
static __attribute__((noinline)) struct runs put_window(const struct dory_window *window, int32_t row, int32_t column)
{
    const struct dory_layer *layer = window->layer;
    uint32_t dilation = layer->dilation_width, taps = dilation == 1 ? layer->kernel_width : 1, channels = window->channels;
    uint8_t *to = window->room;
    for (uint32_t i = 0; i < layer->kernel_height; i++, row += layer->dilation_height) {
        const uint8_t *from =
            (const uint8_t *)window->tile->input + (uint32_t)row * window->tile->input_columns * channels; /* may wrap */
        for (uint32_t tap = 0; tap < layer->kernel_width; tap += taps) {
            to = row < 0 || row >= window->tile->input_rows
                     ? put_border(window, to, taps)
                     : put_columns(window, to, from, column + (int32_t)(tap * dilation), taps);
        }
    }
    return (struct runs){window->room, layer->kernel_width * channels, channels};
}

/* An output pixel of the tile, and its window's corner. */
struct pixel {
    uint32_t column; /* of the output */
    int32_t y, x;    /* of the input */
};

static inline struct pixel pixel_of(const struct dory_window *window, uint32_t index)
{
    uint32_t row = index / window->tile->columns, column = index - row * window->tile->columns;
    return (struct pixel){column, (int32_t)(row * window->layer->stride_height - window->border.top),
                          (int32_t)(column * window->layer->stride_width - window->border.left)};
}

static inline void next_pixel(const struct dory_window *window, struct pixel *pixel)
{
    pixel->column++;
    pixel->x += window->layer->stride_width;
    if (pixel->column == window->tile->columns) {
        *pixel = (struct pixel){0, pixel->y + window->layer->stride_height, -(int32_t)window->border.left};
    }
}

static inline struct runs runs_of(const struct dory_window *window, struct pixel pixel)
{
    if ((uint32_t)pixel.y >= window->inside_rows || (uint32_t)pixel.x >= window->inside_columns) {
        return put_window(window, pixel.y, pixel.x);
    }
    uint32_t offset = ((uint32_t)pixel.y * window->tile->input_columns + (uint32_t)pixel.x) * window->channels;
    return (struct runs){(const uint8_t *)window->tile->input + offset, window->row_bytes, window->run_bytes};
}

/* ---- pairs ---- */

/* What is known when the compiler makes a copy of the functions below: words from the first to the second of a group, and
 * the elements' sign. */
struct laying {
    uint32_t step;
    bool is_signed;
};

static inline __attribute__((always_inline)) uint32_t *lay_word(struct laying how, uint32_t *pairs, uint32_t word)
{
    pairs[0] = how.is_signed ? dory_even_signed(word) : dory_even_bytes(word);
    pairs[how.step] = how.is_signed ? dory_odd_signed(word) : dory_odd_bytes(word);
    return pairs + 2 * how.step;
}

static inline __attribute__((always_inline)) uint32_t *lay_words(struct laying how, uint32_t *pairs, const uint8_t *run,
                                                                 uint32_t words)
{
    for (; how.step > 1 && words >= 4; words -= 4, run += 16) { /* of single pixels, which are few, in a shorter program */
        pairs = lay_word(how, pairs, dory_word_at(run));
        pairs = lay_word(how, pairs, dory_word_at(run + 4));
        pairs = lay_word(how, pairs, dory_word_at(run + 8));
        pairs = lay_word(how, pairs, dory_word_at(run + 12));
    }
    if (how.step > 1) {
        if (words & 2) {
            pairs = lay_word(how, pairs, dory_word_at(run));
            pairs = lay_word(how, pairs, dory_word_at(run + 4));
            run += 8;
        }
        return words & 1 ? lay_word(how, pairs, dory_word_at(run)) : pairs;
    }
    for (; words > 0; words--, run += 4) {
        pairs = lay_word(how, pairs, dory_word_at(run));
    }
    return pairs;
}

/* Ends of runs, which come together until they are a word. */
struct ends {
    uint32_t word, bits;
};

static inline __attribute__((always_inline)) uint32_t *lay_end(struct laying how, uint32_t *pairs, struct ends *ends,
                                                               const uint8_t *run, uint32_t elements)
{
    uint32_t end = dory_end_of(run, elements), before = ends->bits;
    ends->word |= end << before;
    ends->bits += elements % 4 * 8;
    if (ends->bits >= 32) {
        pairs = lay_word(how, pairs, ends->word);
        ends->bits -= 32;
        ends->word = ends->bits != 0 ? end >> (32 - before) : 0;
    }
    return pairs;
}

/* The ends of all runs, together. */
static __attribute__((noinline)) void lay_ends(struct laying how, const struct dory_window *window, struct runs runs,
                                               uint32_t *pairs)
{
    struct ends ends = {0, 0};
    uint32_t elements = window->elements;
    for (uint32_t row = window->rows; row > 0; row--, runs.corner += runs.row_bytes) {
        const uint8_t *run = runs.corner;
        for (uint32_t i = window->runs_per_row; i > 0; i--, run += runs.run_bytes) {
            pairs = lay_end(how, pairs, &ends, run, elements);
        }
    }
    if (ends.bits != 0) {
        lay_word(how, pairs, ends.word);
    }
}

static inline __attribute__((always_inline)) void lay(struct laying how, const struct dory_window *window,
                                                      struct pixel pixel, uint32_t *pairs)
{
    struct runs runs = runs_of(window, pixel);
    uint32_t words = window->elements / 4;
    const uint8_t *corner = runs.corner;
    for (uint32_t row = window->rows; row > 0; row--, corner += runs.row_bytes) {
        const uint8_t *run = corner;
        for (uint32_t i = window->runs_per_row; i > 0; i--, run += runs.run_bytes) {
            pairs = lay_words(how, pairs, run, words);
            if (window->fills_taps) {
                pairs = lay_word(how, pairs, dory_end_of(run, window->elements));
            }
        }
    }
    if (window->has_ends) {
        lay_ends(how, window, runs, pairs);
    }
}

/* Of few pixels: one copy for either sign. */
void dory_lay_pixel(const struct dory_window *window, uint32_t index, uint32_t *pairs)
{
    lay((struct laying){1, window->is_signed}, window, pixel_of(window, index), pairs);
}

void dory_lay_four(const struct dory_window *window, uint32_t first, uint32_t *pairs)
{
    struct pixel pixel = pixel_of(window, first);
    for (uint32_t i = 0; i < 4; i++, next_pixel(window, &pixel)) {
        if (window->is_signed) {
            lay((struct laying){4, true}, window, pixel, pairs + i);
        } else {
            lay((struct laying){4, false}, window, pixel, pairs + i);
        }
    }
}
