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
    window.fills_taps = fills_taps;
    return window;
}

/* Where pairs of the next group go. */
struct place {
    uint32_t *pairs;
    uint32_t step;
};

static inline __attribute__((always_inline)) void lay_word(struct place *place, bool is_signed, uint32_t word)
{
    place->pairs[0] = is_signed ? dory_even_signed(word) : dory_even_bytes(word);
    place->pairs[place->step] = is_signed ? dory_odd_signed(word) : dory_odd_bytes(word);
    place->pairs += 2 * place->step;
}

static inline __attribute__((always_inline)) void lay_words(struct place *place, bool is_signed, const uint8_t *run,
                                                            uint32_t words)
{
    struct place here = *place;
    for (; words >= 4; words -= 4, run += 16) {
        lay_word(&here, is_signed, dory_word_at(run));
        lay_word(&here, is_signed, dory_word_at(run + 4));
        lay_word(&here, is_signed, dory_word_at(run + 8));
        lay_word(&here, is_signed, dory_word_at(run + 12));
    }
    for (; words > 0; words--, run += 4) {
        lay_word(&here, is_signed, dory_word_at(run));
    }
    *place = here;
}

/* Bytes that come together from the ends of runs, until they are a word. */
struct rest {
    uint32_t word, bits;
};

static inline void lay_rest(struct place *place, struct rest *rest, bool is_signed, const uint8_t *bytes, uint32_t count)
{
    for (; count > 0; count--, bytes++) {
        rest->word |= (uint32_t)*bytes << rest->bits;
        rest->bits += 8;
        if (rest->bits == 32) {
            lay_word(place, is_signed, rest->word);
            *rest = (struct rest){0};
        }
    }
}

static inline void end_rest(struct place *place, struct rest *rest, bool is_signed)
{
    if (rest->bits != 0) {
        lay_word(place, is_signed, rest->word);
        *rest = (struct rest){0};
    }
}

typedef void run_function(struct place *place, struct rest *rest, bool is_signed, const uint8_t *run, uint32_t elements);

static inline __attribute__((always_inline)) void lay_whole(struct place *place, struct rest *rest, bool is_signed,
                                                            const uint8_t *run, uint32_t elements)
{
    (void)rest;
    lay_words(place, is_signed, run, elements / 4);
}

static inline __attribute__((always_inline)) void lay_end(struct place *place, struct rest *rest, bool is_signed,
                                                          const uint8_t *run, uint32_t elements)
{
    lay_rest(place, rest, is_signed, run + elements / 4 * 4, elements % 4);
}

static inline __attribute__((always_inline)) void lay_tap(struct place *place, struct rest *rest, bool is_signed,
                                                          const uint8_t *run, uint32_t elements)
{
    lay_whole(place, rest, is_signed, run, elements);
    lay_end(place, rest, is_signed, run, elements);
    end_rest(place, rest, is_signed);
}

static inline __attribute__((always_inline)) void lay_runs(const struct dory_window *window, struct place *place,
                                                           bool is_signed, const uint8_t *corner, run_function *lay)
{
    struct rest rest = {0};
    for (uint32_t row = window->rows; row > 0; row--, corner += window->row_bytes) {
        const uint8_t *run = corner;
        for (uint32_t i = window->runs_per_row; i > 0; i--, run += window->run_bytes) {
            lay(place, &rest, is_signed, run, window->elements);
        }
    }
    end_rest(place, &rest, is_signed);
}

static inline __attribute__((always_inline)) void lay(const struct dory_window *window, struct place *place, bool is_signed,
                                                      const uint8_t *corner)
{
    if (window->fills_taps) {
        lay_runs(window, place, is_signed, corner, lay_tap);
        return;
    }
    lay_runs(window, place, is_signed, corner, lay_whole);
    if (window->elements % 4 != 0) {
        lay_runs(window, place, is_signed, corner, lay_end);
    }
}

void dory_lay_pixel(const struct dory_window *window, uint32_t pixel, uint32_t *pairs, uint32_t step)
{
    uint32_t row = pixel / window->columns, column = pixel - row * window->columns;
    const uint8_t *corner = window->input + row * window->line_bytes + column * window->pixel_bytes;
    struct place place = {pairs, step};
    if (window->is_signed) {
        lay(window, &place, true, corner);
    } else {
        lay(window, &place, false, corner);
    }
}
