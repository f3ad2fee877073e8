/* Lays windows: runs of elements that lie one behind the other, in vectors. */
#include "window.h"

#include "helium.h"

/* Of a window's corner, with which all of the window is inside. */
static uint32_t positions(uint32_t extent, uint32_t behind) { return extent > behind ? extent - behind : 0; }

struct dory_mve_window dory_mve_window_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    struct dory_mve_window window = {.layer = layer, .tile = tile, .border = dory_border_of(layer, tile)};
    window.flip = layer->input_is_signed ? 0 : 0x80;
    window.taps = layer->dilation_width == 1 ? layer->kernel_width : 1;
    window.row_bytes = (uint32_t)tile->input_columns * tile->input_channels;
    bool has_runs = layer->dilation_width == 1;
    window.inside_rows = positions(tile->input_rows, (layer->kernel_height - 1u) * layer->dilation_height);
    window.inside_columns = has_runs ? positions(tile->input_columns, layer->kernel_width - 1u) : 0;
    return window;
}

/* A run of bytes, and how it lies in whole vectors. */
struct run {
    uint32_t bytes, vectors_bytes;
};

static inline struct run run_of(uint32_t bytes) { return (struct run){bytes, dory_round_up(bytes, 16)}; }

/* Moves `to` to its end, and `from` to that of its last vector. */
static inline __attribute__((always_inline)) void put_run(uint8_t **to, const uint8_t **from, struct run run,
                                                          uint8x16_t flip)
{
    uint8_t *there = *to;
    const uint8_t *here = *from;
#if defined(DORY_HAS_HELIUM) /* the last vector has the bytes that are left; as intrinsics it takes twice as many */
    __asm__ volatile("wlstp.8 lr, %[bytes], 2f\n"
                     "1:\n"
                     "vldrb.8 q0, [%[from]], #16\n"
                     "veor q0, q0, %q[flip]\n"
                     "vstrb.8 q0, [%[to]], #16\n"
                     "letp lr, 1b\n"
                     "2:\n"
                     : [to] "+&r"(there), [from] "+&r"(here)
                     : [bytes] "r"(run.bytes), [flip] "w"(flip)
                     : "q0", "lr", "memory");
#else
    for (uint32_t i = 0; i < run.bytes; i++) {
        there[i] = here[i] ^ flip.lane[0];
    }
    there += run.vectors_bytes;
    here += run.vectors_bytes;
#endif
    *to = there - (run.vectors_bytes - run.bytes);
    *from = here;
}

static void put_border(uint8_t *to, uint32_t bytes, uint32_t value)
{
    uint8x16_t values = vdupq_n_u8((uint8_t)value);
    for (uint8_t *end = to + bytes; to < end; to += 16) {
        vstrbq_u8(to, values);
    }
}

/* A row of the kernel, `column` is its first one in the input: what is there of its runs, between the border. */
static inline void put_row(const struct dory_mve_window *window, uint8_t *to, const uint8_t *row, int32_t column)
{
    const struct dory_layer *layer = window->layer;
    int32_t taps = (int32_t)window->taps, columns = window->tile->input_columns;
    uint32_t channels = window->tile->input_channels;
    for (int32_t tap = 0; tap < layer->kernel_width; tap += taps, column += layer->dilation_width) {
        int32_t first = column < 0 ? -column : 0, end = taps < columns - column ? taps : columns - column;
        if (first < end) {
            const uint8_t *from = row + (uint32_t)(column + first) * channels;
            uint8_t *there = to + (uint32_t)(tap + first) * channels;
            put_run(&there, &from, run_of((uint32_t)(end - first) * channels), vdupq_n_u8(window->flip));
        }
    }
}

/* Of a window that has border, all is border at first. */
static __attribute__((noinline)) void lay_border(const struct dory_mve_window *window, uint8_t *to, int32_t y, int32_t x)
{
    const struct dory_layer *layer = window->layer;
    uint32_t row_bytes = layer->kernel_width * (uint32_t)window->tile->input_channels;
    put_border(to, layer->kernel_height * row_bytes, (uint8_t)layer->border_value ^ window->flip);
    for (uint32_t i = layer->kernel_height; i > 0; i--, y += layer->dilation_height, to += row_bytes) {
        if (y >= 0 && y < window->tile->input_rows) {
            put_row(window, to, (const uint8_t *)window->tile->input + (uint32_t)y * window->row_bytes, x);
        }
    }
}

/* What does not change from pixel to pixel is in registers. */
void dory_mve_lay(const struct dory_mve_window *window, uint32_t first, uint32_t pixels, uint8_t *to, uint32_t pixel_bytes)
{
    const struct dory_layer *layer = window->layer;
    uint32_t columns = window->tile->columns, row = first / columns, left_columns = columns - (first - row * columns);
    uint32_t rows = layer->kernel_height, channels = window->tile->input_channels, stride = layer->stride_width;
    uint32_t step = layer->dilation_height * window->row_bytes, back;
    struct run run = run_of(layer->kernel_width * channels);
    int32_t advance = (int32_t)(step - run.vectors_bytes);
    uint8x16_t flip = vdupq_n_u8(window->flip);
    int32_t y = (int32_t)(row * layer->stride_height - window->border.top);
    int32_t x = (int32_t)((columns - left_columns) * stride - window->border.left);
    uint32_t corner = (uint32_t)y * window->row_bytes + (uint32_t)x * channels; /* may wrap */
    for (; pixels > 0; pixels--, to += pixel_bytes, x += (int32_t)stride, corner += stride * channels) {
        if ((uint32_t)y < window->inside_rows && (uint32_t)x < window->inside_columns) {
            const uint8_t *from = (const uint8_t *)window->tile->input + corner;
            uint8_t *next = to;
            for (uint32_t i = rows; i > 0; i--, from += advance) {
                put_run(&next, &from, run, flip);
            }
        } else {
            lay_border(window, to, y, x);
        }
        if (--left_columns == 0) {
            back = columns * stride;
            left_columns = columns;
            x -= (int32_t)back;
            y += layer->stride_height;
            corner += layer->stride_height * window->row_bytes - back * channels;
        }
    }
}
