/* Lays windows: runs of elements that lie one behind the other, in vectors. */
#include "window.h"

#include "helium.h"

struct dory_mve_window dory_mve_window_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    struct dory_mve_window window = {.layer = layer, .tile = tile, .border = dory_border_of(layer, tile)};
    window.flip = layer->input_is_signed ? 0 : 0x80;
    window.taps = layer->dilation_width == 1 ? layer->kernel_width : 1;
    window.row_bytes = (uint32_t)tile->input_columns * tile->input_channels;
    return window;
}

/* Writes whole vectors, but reads no byte behind the run. */
static inline uint8_t *put_run(uint8_t *to, const uint8_t *from, uint32_t bytes, uint8x16_t flip)
{
    uint8_t *end = to + bytes;
    for (; bytes >= 16; bytes -= 16, to += 16, from += 16) {
        vstrbq_u8(to, veorq_u8(vldrbq_u8(from), flip));
    }
    if (bytes > 0) {
        vstrbq_u8(to, veorq_u8(vldrbq_z_u8(from, vctp8q(bytes)), flip));
    }
    return end;
}

static uint8_t *put_border(const struct dory_mve_window *window, uint8_t *to, uint32_t taps)
{
    uint8x16_t value = vdupq_n_u8((uint8_t)((uint8_t)window->layer->border_value ^ window->flip));
    uint8_t *end = to + taps * window->tile->input_channels;
    for (; to < end; to += 16) {
        vstrbq_u8(to, value);
    }
    return end;
}

/* So many columns of a row from `column` on, which may be negative. */
static uint8_t *put_columns(const struct dory_mve_window *window, uint8_t *to, const uint8_t *row, int32_t column,
                            uint32_t taps)
{
    int32_t columns = window->tile->input_columns, end = column + (int32_t)taps;
    int32_t first = column < 0 ? 0 : column, last = end > columns ? columns : end;
    uint32_t channels = window->tile->input_channels;
    if (first >= last) {
        return put_border(window, to, taps);
    }
    to = put_border(window, to, (uint32_t)(first - column));
    to = put_run(to, row + (uint32_t)first * channels, (uint32_t)(last - first) * channels, vdupq_n_u8(window->flip));
    return put_border(window, to, (uint32_t)(end - last));
}

/* A row of the kernel, of which something may be border. */
static __attribute__((noinline)) uint8_t *put_row(const struct dory_mve_window *window, uint8_t *to, int32_t row,
                                                  int32_t column)
{
    const struct dory_layer *layer = window->layer;
    bool is_there = row >= 0 && row < window->tile->input_rows;
    for (uint32_t tap = 0; tap < layer->kernel_width; tap += window->taps) {
        const uint8_t *from = (const uint8_t *)window->tile->input + (is_there ? (uint32_t)row * window->row_bytes : 0);
        to = is_there ? put_columns(window, to, from, column + (int32_t)(tap * layer->dilation_width), window->taps)
                      : put_border(window, to, window->taps);
    }
    return to;
}

void dory_mve_lay(const struct dory_mve_window *window, uint32_t index, uint8_t *to)
{
    const struct dory_layer *layer = window->layer;
    uint32_t row = index / window->tile->columns, column = index - row * window->tile->columns;
    int32_t y = (int32_t)(row * layer->stride_height - window->border.top);
    int32_t x = (int32_t)(column * layer->stride_width - window->border.left);
    int32_t last_y = y + (layer->kernel_height - 1) * layer->dilation_height, last_x = x + layer->kernel_width - 1;
    bool is_inside = y >= 0 && x >= 0 && last_y < window->tile->input_rows && last_x < window->tile->input_columns;
    if (!is_inside || layer->dilation_width != 1) {
        for (uint32_t i = 0; i < layer->kernel_height; i++, y += layer->dilation_height) {
            to = put_row(window, to, y, x);
        }
        return;
    }
    uint8x16_t flip = vdupq_n_u8(window->flip);
    uint32_t channels = window->tile->input_channels, step = layer->dilation_height * window->row_bytes;
    const uint8_t *from = (const uint8_t *)window->tile->input + (uint32_t)y * window->row_bytes + (uint32_t)x * channels;
    for (uint32_t i = layer->kernel_height; i > 0; i--, from += step) {
        to = put_run(to, from, layer->kernel_width * channels, flip);
    }
}
