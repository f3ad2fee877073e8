/* Lays the elements of windows as halves, four in two words: {0, 2}, {1, 3}. Each is expanded once for all channels. */
#include "pixels.h"

#include "instructions.h"
#include "quads.h"

struct dory_window dory_window_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    uint32_t channels = tile->input_channels, row_bytes = tile->input_columns * channels;
    bool fills_taps = dory_fills_taps(layer);
    struct dory_window window = {.input = tile->input, .rows = layer->kernel_height, .columns = tile->columns};
    window.runs_per_row = fills_taps ? layer->kernel_width : dory_runs(layer) / layer->kernel_height;
    window.row_bytes = layer->dilation_height * row_bytes;
    window.run_bytes = layer->dilation_width * channels;
    window.elements = fills_taps ? channels : dory_run_elements(layer, channels);
    window.pixel_bytes = layer->stride_width * channels;
    window.line_bytes = layer->stride_height * row_bytes;
    window.groups = dory_chunk_elements(layer, channels) / 4;
    window.is_signed = layer->input_is_signed;
    window.fills_taps = fills_taps && channels % 4 != 0;
    window.has_ends = !fills_taps && window.elements % 4 != 0;
    return window;
}

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
    for (; words >= 4; words -= 4, run += 16) {
        pairs = lay_word(how, pairs, dory_word_at(run));
        pairs = lay_word(how, pairs, dory_word_at(run + 4));
        pairs = lay_word(how, pairs, dory_word_at(run + 8));
        pairs = lay_word(how, pairs, dory_word_at(run + 12));
    }
    for (; words > 0; words--, run += 4) {
        pairs = lay_word(how, pairs, dory_word_at(run));
    }
    return pairs;
}

/* The one to three elements at the end of a run, in the low bytes. A word that ends there is within the run, if it has as
 * many elements. */
static inline uint32_t end_of(const uint8_t *run, uint32_t elements)
{
    uint32_t rest = elements % 4, word = 0;
    if (elements > 4) {
        return dory_word_at(run + elements - 4) >> (32 - 8 * rest);
    }
    for (uint32_t i = 0; i < rest; i++) {
        word |= (uint32_t)run[i] << 8 * i;
    }
    return word;
}

/* Ends of runs, which come together until they are a word. */
struct ends {
    uint32_t word, bits;
};

static inline __attribute__((always_inline)) uint32_t *lay_end(struct laying how, uint32_t *pairs, struct ends *ends,
                                                               const uint8_t *run, uint32_t elements)
{
    uint32_t end = end_of(run, elements), before = ends->bits;
    ends->word |= end << before;
    ends->bits += elements % 4 * 8;
    if (ends->bits >= 32) {
        pairs = lay_word(how, pairs, ends->word);
        ends->bits -= 32;
        ends->word = ends->bits != 0 ? end >> (32 - before) : 0;
    }
    return pairs;
}

static inline __attribute__((always_inline)) void lay(struct laying how, const struct dory_window *window, uint32_t *pairs,
                                                      const uint8_t *corner)
{
    uint32_t words = window->elements / 4;
    for (uint32_t row = 0; row < window->rows; row++) {
        const uint8_t *run = corner + row * window->row_bytes;
        for (uint32_t i = window->runs_per_row; i > 0; i--, run += window->run_bytes) {
            pairs = lay_words(how, pairs, run, words);
            if (window->fills_taps) {
                pairs = lay_word(how, pairs, end_of(run, window->elements));
            }
        }
    }
    struct ends ends = {0};
    for (uint32_t row = 0; row < window->rows && window->has_ends; row++) {
        const uint8_t *run = corner + row * window->row_bytes;
        for (uint32_t i = window->runs_per_row; i > 0; i--, run += window->run_bytes) {
            pairs = lay_end(how, pairs, &ends, run, window->elements);
        }
    }
    if (ends.bits != 0) {
        lay_word(how, pairs, ends.word);
    }
}

static const uint8_t *corner_of(const struct dory_window *window, uint32_t pixel)
{
    uint32_t row = pixel / window->columns, column = pixel - row * window->columns;
    return window->input + row * window->line_bytes + column * window->pixel_bytes;
}

void dory_lay_pixel(const struct dory_window *window, uint32_t pixel, uint32_t *pairs)
{
    const uint8_t *corner = corner_of(window, pixel);
    if (window->is_signed) {
        lay((struct laying){1, true}, window, pairs, corner);
    } else {
        lay((struct laying){1, false}, window, pairs, corner);
    }
}

void dory_lay_four(const struct dory_window *window, uint32_t pixel, uint32_t *pairs)
{
    for (uint32_t i = 0; i < 4; i++) {
        const uint8_t *corner = corner_of(window, pixel + i);
        if (window->is_signed) {
            lay((struct laying){4, true}, window, pairs + i, corner);
        } else {
            lay((struct laying){4, false}, window, pairs + i, corner);
        }
    }
}
