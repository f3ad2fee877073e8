/* Computes bilinear interpolation of bytes, in the form DORY_NORMALISE_HIGH. Shapes: any, HWC.
 *
 * Each core takes a part of rows and columns, see interpolation.h. An output is the weighted sum of four pixels, of two rows
 * and two columns. Inner loops: a byte of each corner and its product; or, where the weights are bytes, a word of each
 * corner becomes a word of four corners for each channel, and a dot product. */
#include "interpolation.h"
#include "../share.h"
#include "../stage.h"
#include "../xpulpv2.h"

/* Words of a row or column in `taps`: two positions, two weights. */
#define TAP_WORDS 4u

/* A scale of 2^-n: the high half of a product with 2^30 is a quarter of what is shifted to the left. */
#define UNIT       (1 << 30)
#define UNIT_SHIFT 2

struct interpolation {
    struct dory_high high;
    int32_t bias, above;   /* above: rows of the input above the tile */
    uint32_t weight_shift; /* where is_shift: the weights have the shift in them */
    /* A sum's bits from `select` on, of which `correction` is added: halves go to even, or away from zero. */
    int32_t select, correction;
    bool is_shift, is_floor, is_window, is_byte; /* is_floor: any other scale, and nothing is corrected */
};

struct pixel {
    const uint8_t *corners[4]; /* of the input: two rows, of each two columns */
    int32_t weights[4];
};

static inline struct pixel find_pixel(const struct interpolation *work, const struct dory_tile *tile, const int32_t *row,
                                      const int32_t *column, uint32_t input_width)
{
    const uint8_t *input = tile->input;
    uint32_t top = (uint32_t)(row[0] - work->above) * input_width, bottom = (uint32_t)(row[1] - work->above) * input_width;
    uint32_t channels = tile->channels;
    uint32_t left = (uint32_t)column[0], right = (uint32_t)column[1];
    int32_t upper = row[2] * (1 << work->weight_shift), lower = row[3] * (1 << work->weight_shift);
    return (struct pixel){{input + (top + left) * channels, input + (top + right) * channels,
                           input + (bottom + left) * channels, input + (bottom + right) * channels},
                          {upper * column[2], upper * column[3], lower * column[2], lower * column[3]}};
}

/* Two rows of the input with their weights. */
struct row {
    const uint8_t *top, *bottom;
    int32_t upper, lower;
};

static inline struct pixel pixel_of(const struct row *row, const int32_t *column)
{
    return (struct pixel){{row->top + column[0], row->top + column[1], row->bottom + column[0], row->bottom + column[1]},
                          {row->upper * column[2], row->upper * column[3], row->lower * column[2], row->lower * column[3]}};
}

/* The loops have all that they need in registers: stores to the output could change what lies elsewhere. */
static inline int32_t sum_of(struct pixel pixel, uint32_t channel, int32_t bias)
{
    int32_t sum = p_mac(bias, pixel.corners[0][channel], pixel.weights[0]);
    sum = p_mac(sum, pixel.corners[1][channel], pixel.weights[1]);
    sum = p_mac(sum, pixel.corners[2][channel], pixel.weights[2]);
    return p_mac(sum, pixel.corners[3][channel], pixel.weights[3]);
}

/* Channel by channel, with loads between products that wait for each other: 16 instructions where the scale is a shift, 17
 * where it is any, of which one takes 5 cycles, or 14 where that rounds down. */
#define SUM_OF_CORNERS                                                                                                      \
    P_LBU_NEXT("%[x0]", "%[a]")                                                                                             \
    P_LBU_NEXT("%[x1]", "%[b]")                                                                                             \
    "mv %[sum], %[bias]\n" P_MAC("%[sum]", "%[x0]", "%[w0]") P_LBU_NEXT("%[x0]", "%[c]") P_MAC("%[sum]", "%[x1]", "%[w1]")  \
        P_LBU_NEXT("%[x1]", "%[d]") P_MAC("%[sum]", "%[x0]", "%[w2]") P_MAC("%[sum]", "%[x1]", "%[w3]")
#define STORE_SUM                                                                                                           \
    P_ADDNR("%[sum]", "%[addend]", "%[shift]")                                                                              \
    P_MAX("%[sum]", "%[sum]", "%[least]") P_MIN("%[sum]", "%[sum]", "%[most]") "1: " P_SB_NEXT("%[sum]", "%[to]")
#define CORRECT_SUM                                                                                                         \
    "sra %[x0], %[sum], %[select]\n"                                                                                        \
    "and %[x0], %[x0], %[correction]\n"                                                                                     \
    "add %[sum], %[sum], %[x0]\n"
#define SCALE_SUM "mulh %[sum], %[sum], %[multiplier]\n"

#define CHANNELS(name, instructions, scale)                                                                                 \
    static inline __attribute__((always_inline)) void name(const struct interpolation *work, const struct pixel *pixel,     \
                                                           uint32_t channel, uint8_t *output, uint32_t channels)            \
    {                                                                                                                       \
        const uint8_t *a = pixel->corners[0] + channel, *b = pixel->corners[1] + channel, *c = pixel->corners[2] + channel, \
                      *d = pixel->corners[3] + channel;                                                                     \
        uint8_t *to = output + channel;                                                                                     \
        int32_t x0, x1, sum;                                                                                                \
        __asm__ volatile(                                                                                                   \
            ".option push\n"                                                                                                \
            ".balign 4\n"                                                                                                   \
            ".option norvc\n" LP_SETUP("x0", "%[count]", instructions, "1") SUM_OF_CORNERS scale STORE_SUM ".option pop\n"  \
            : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [to] "+r"(to), [x0] "=&r"(x0), [x1] "=&r"(x1),            \
              [sum] "=&r"(sum)                                                                                              \
            : [count] "r"(channels - channel), [w0] "r"(pixel->weights[0]), [w1] "r"(pixel->weights[1]),                    \
              [w2] "r"(pixel->weights[2]), [w3] "r"(pixel->weights[3]), [bias] "r"(work->bias),                             \
              [multiplier] "r"(work->high.multiplier), [select] "r"(work->select), [correction] "r"(work->correction),      \
              [addend] "r"(work->high.addend), [shift] "r"(work->high.shift), [least] "r"(work->high.normaliser.minimum),   \
              [most] "r"(work->high.normaliser.maximum)                                                                     \
            : "memory");                                                                                                    \
    }

#if defined(DORY_XPULPV2)

CHANNELS(interpolate_shift, 16, CORRECT_SUM)

#else

static inline uint8_t finish_sum(const struct interpolation *work, int32_t sum)
{
    const struct dory_high *high = &work->high;
    return (uint8_t)p_min(p_max(p_addnr(sum, high->addend, high->shift), high->normaliser.minimum),
                          high->normaliser.maximum);
}

static inline void interpolate_shift(const struct interpolation *work, const struct pixel *pixel, uint32_t channel,
                                     uint8_t *output, uint32_t channels)
{
    for (; channel < channels; channel++) {
        int32_t sum = sum_of(*pixel, channel, work->bias);
        output[channel] = finish_sum(work, sum + (sum >> work->select & work->correction));
    }
}

/* A product has the sign of its sum. */
static inline void interpolate_any(const struct interpolation *work, const struct pixel *pixel, uint32_t channel,
                                   uint8_t *output, uint32_t channels)
{
    for (; channel < channels; channel++) {
        int64_t product = (int64_t)sum_of(*pixel, channel, work->bias) * work->high.multiplier;
        int32_t high = (int32_t)(product >> 32);
        output[channel] = finish_sum(work, high + (high >> work->select & work->correction));
    }
}

#endif

/* Four channels at a time, whose weights are bytes: a word of each corner becomes a word of four corners for each channel.
 */
#if defined(DORY_XPULPV2)

#define TURN_WORDS                                                                                                          \
    P_LW_NEXT("%[x0]", "%[a]")                                                                                              \
    P_LW_NEXT("%[x1]", "%[b]")                                                                                              \
    P_LW_NEXT("%[x2]", "%[c]")                                                                                              \
    P_LW_NEXT("%[x3]", "%[d]")                                                                                              \
    PV_PACK_H("%[y0]", "%[x2]", "%[x0]")                                                                                    \
    PV_PACK_H_H("%[y2]", "%[x2]", "%[x0]")                                                                                  \
    PV_PACK_H("%[x0]", "%[x3]", "%[x1]")                                                                                    \
    PV_PACK_H_H("%[x2]", "%[x3]", "%[x1]")                                                                                  \
    "mv %[y1], %[y0]\n"                                                                                                     \
    "mv %[y3], %[y2]\n" PV_SHUFFLE2_B("%[y0]", "%[x0]", "%[first]") PV_SHUFFLE2_B("%[y1]", "%[x0]", "%[second]")            \
        PV_SHUFFLE2_B("%[y2]", "%[x2]", "%[first]") PV_SHUFFLE2_B("%[y3]", "%[x2]", "%[second]")
#define START(x)      "mv %[" x "], %[bias]\n"
#define SUM(x, y)     PV_SDOTUP_B("%[" x "]", "%[" y "]", "%[weights]")
#define SELECT(x, y)  "sra %[" y "], %[" x "], %[select]\n"
#define CORRECT(x, y) "and %[" y "], %[" y "], %[correction]\n"
#define ADD(x, y)     "add %[" x "], %[" x "], %[" y "]\n"

/* 46 instructions for four elements: with a core's waits for L1 and its part of a pixel 17 cycles each, 0.46 elements a
 * cycle of eight cores with 48 channels; a channel at a time takes 28 cycles. */
static void interpolate_fours(const struct interpolation *work, const struct pixel *pixel, uint32_t weights, uint8_t *output,
                              uint32_t fours)
{
    const uint8_t *a = pixel->corners[0], *b = pixel->corners[1], *c = pixel->corners[2], *d = pixel->corners[3];
    uint32_t x0, x1, x2, x3, y0, y1, y2, y3; /* an array would be stored */
    if (fours == 0) {                        /* a hardware loop of no rounds is not allowed */
        return;
    }
    __asm__ volatile(
        ".option push\n"
        ".balign 4\n"
        ".option norvc\n" LP_SETUP("x0", "%[fours]", 46 + MORE_FOR_HIGH_PACKS(2), "1") TURN_WORDS DORY_FOUR(START)
            DORY_FOUR_PAIRS(SUM) DORY_FOUR_PAIRS(SELECT) DORY_FOUR_PAIRS(CORRECT) DORY_FOUR_PAIRS(ADD)
                DORY_HIGH_STORE("1: ") ".option pop\n"
        : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [output] "+r"(output), [x0] "=&r"(x0), [x1] "=&r"(x1),
          [x2] "=&r"(x2), [x3] "=&r"(x3), [y0] "=&r"(y0), [y1] "=&r"(y1), [y2] "=&r"(y2), [y3] "=&r"(y3)
        : [fours] "r"(fours), [weights] "r"(weights), [bias] "r"(work->bias), [select] "r"(work->select),
          [correction] "r"(work->correction), [addend] "r"(work->high.addend), [shift] "r"(work->high.shift),
          [maximum] "r"(work->high.normaliser.maximum), [least] "r"(work->high.least), [first] "r"(0x06020400),
          [second] "r"(0x07030501)
        : "memory");
}

#else

static void interpolate_fours(const struct interpolation *work, const struct pixel *pixel, uint32_t weights, uint8_t *output,
                              uint32_t fours)
{
    for (uint32_t channel = 0; channel < 4 * fours; channel++) {
        uint32_t corners = 0;
        for (uint32_t i = 0; i < 4; i++) {
            corners |= (uint32_t)pixel->corners[i][channel] << (8 * i);
        }
        int32_t sum = pv_sdotup_b(work->bias, corners, weights);
        output[channel] = finish_sum(work, sum + (sum >> work->select & work->correction));
    }
}

#endif

/* Fours where the weights are bytes, and what is left one by one. */
static inline void interpolate_bytes(const struct interpolation *work, const struct pixel *pixel, uint8_t *output,
                                     uint32_t channels)
{
    const int32_t *w = pixel->weights;
    uint32_t fours = 0;
    if ((uint32_t)(w[0] | w[1] | w[2] | w[3]) <= UINT8_MAX) {
        fours = channels / 4;
        interpolate_fours(work, pixel, (uint32_t)w[0] | (uint32_t)w[1] << 8 | (uint32_t)w[2] << 16 | (uint32_t)w[3] << 24,
                          output, fours);
    }
    if (4 * fours < channels) {
        interpolate_shift(work, pixel, 4 * fours, output, channels);
    }
}

/* A core's part of a row, of which `columns` says where its pixels are. One function for each way, so that each has the
 * registers for itself. */
#define ROW(name, interpolate_pixel)                                                                                        \
    static __attribute__((noinline)) void name(const struct interpolation *work, const struct row *row,                     \
                                               const int32_t *columns, uint32_t count, uint8_t *output, uint32_t channels)  \
    {                                                                                                                       \
        const struct interpolation own = *work; /* in registers: stores to the output do not change it */                   \
        const struct row two = *row;                                                                                        \
        work = &own;                                                                                                        \
        for (const int32_t *end = columns + TAP_WORDS * count; columns < end; columns += TAP_WORDS, output += channels) {   \
            struct pixel pixel = pixel_of(&two, columns);                                                                   \
            interpolate_pixel;                                                                                              \
        }                                                                                                                   \
    }

ROW(interpolate_row_bytes, interpolate_bytes(work, &pixel, output, channels))

#if defined(DORY_XPULPV2)

/* The same as one loop in another: 13 instructions a pixel, and those of its channels. Where the next pixel's elements are
 * is loaded behind these, that of one pixel more than there are, too. */
#define LOAD_COLUMN P_LW_NEXT("%[x0]", "%[columns]") P_LW_NEXT("%[x1]", "%[columns]")
#define FIND_CORNERS                                                                                                        \
    "add %[a], %[top], %[x0]\n"                                                                                             \
    "add %[c], %[bottom], %[x0]\n"                                                                                          \
    "add %[b], %[top], %[x1]\n"                                                                                             \
    "add %[d], %[bottom], %[x1]\n"
#define FIND_WEIGHTS                                                                                                        \
    "mul %[w0], %[upper], %[x0]\n"                                                                                          \
    "mul %[w2], %[lower], %[x0]\n"                                                                                          \
    "mul %[w1], %[upper], %[x1]\n"                                                                                          \
    "mul %[w3], %[lower], %[x1]\n"
#define LOAD_NEXT_COLUMN P_LW_NEXT("%[x0]", "%[columns]") "2: " P_LW_NEXT("%[x1]", "%[columns]")

#define ROW_OF_CHANNELS(name, instructions, scale)                                                                          \
    static __attribute__((noinline)) void name(const struct interpolation *work, const struct row *row,                     \
                                               const int32_t *columns, uint32_t count, uint8_t *output, uint32_t channels)  \
    {                                                                                                                       \
        const uint8_t *a, *b, *c, *d;                                                                                       \
        int32_t x0, x1, w0, w1, w2, w3, sum = (int32_t)count;                                                               \
        __asm__ volatile(                                                                                                   \
            ".option push\n"                                                                                                \
            ".balign 4\n"                                                                                                   \
            ".option norvc\n" LOAD_COLUMN LP_SETUP("x1", "%[sum]", 13 + instructions, "2")                                  \
                FIND_CORNERS LOAD_COLUMN FIND_WEIGHTS LP_SETUP("x0", "%[channels]", instructions, "1")                      \
                    SUM_OF_CORNERS scale STORE_SUM LOAD_NEXT_COLUMN ".option pop\n"                                         \
            : [columns] "+r"(columns), [to] "+r"(output), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d),           \
              [x0] "=&r"(x0), [x1] "=&r"(x1), [sum] "+r"(sum), [w0] "=&r"(w0), [w1] "=&r"(w1), [w2] "=&r"(w2),              \
              [w3] "=&r"(w3)                                                                                                \
            : [channels] "r"(channels), [top] "r"(row->top), [bottom] "r"(row->bottom), [upper] "r"(row->upper),            \
              [lower] "r"(row->lower), [bias] "r"(work->bias), [multiplier] "r"(work->high.multiplier),                     \
              [select] "r"(work->select), [correction] "r"(work->correction), [addend] "r"(work->high.addend),              \
              [shift] "r"(work->high.shift), [least] "r"(work->high.normaliser.minimum),                                    \
              [most] "r"(work->high.normaliser.maximum)                                                                     \
            : "memory");                                                                                                    \
    }

ROW_OF_CHANNELS(interpolate_row_shift, 16, CORRECT_SUM)
ROW_OF_CHANNELS(interpolate_row_floor, 14, SCALE_SUM)
ROW_OF_CHANNELS(interpolate_row_any, 17, SCALE_SUM CORRECT_SUM)

#else

ROW(interpolate_row_any, interpolate_any(work, &pixel, 0, output, channels))
ROW(interpolate_row_shift, interpolate_shift(work, &pixel, 0, output, channels))
#define interpolate_row_floor interpolate_row_any

#endif

/* Bytes from a row of the input to the elements of columns, and their weights: for every row that a core has. */
static void start_columns(int32_t *to, const int32_t *taps, uint32_t count, uint32_t channels)
{
    for (const int32_t *end = to + TAP_WORDS * count; to < end; to += TAP_WORDS, taps += TAP_WORDS) {
        int32_t left = taps[0], right = taps[1], first = taps[2], second = taps[3];
        to[0] = left * (int32_t)channels;
        to[1] = right * (int32_t)channels;
        to[2] = first;
        to[3] = second;
    }
}

static struct row row_of(const struct interpolation *work, const int32_t *taps, const uint8_t *input, int32_t row_bytes)
{
    return (struct row){input + (taps[0] - work->above) * row_bytes, input + (taps[1] - work->above) * row_bytes,
                        taps[2] * (1 << work->weight_shift), taps[3] * (1 << work->weight_shift)};
}

static void interpolate_part(const struct interpolation *work, const struct dory_layer *layer, const struct dory_tile *tile,
                             unsigned core, unsigned cores)
{
    const uint32_t channels = tile->channels;
    struct dory_parts parts = dory_parts_of(tile->rows, tile->columns, cores);
    uint32_t down = dory_quotient(core, parts.across), across = core - down * parts.across;
    uint32_t first = across * parts.columns, row = down * parts.rows;
    uint32_t end = dory_minimum(first + parts.columns, tile->columns), last_row = dory_minimum(row + parts.rows, tile->rows);
    int32_t *columns = (int32_t *)tile->scratch + core * parts.columns * TAP_WORDS;
    if (first >= end || row >= last_row) {
        return;
    }
    start_columns(columns, layer->constants.taps + TAP_WORDS * (layer->output_height + tile->first_column + first),
                  end - first, channels);
    for (; row < last_row; row++) {
        struct row two = row_of(work, layer->constants.taps + TAP_WORDS * (tile->first_row + row), tile->input,
                                (int32_t)(layer->input_width * channels));
        uint8_t *output = (uint8_t *)tile->output + (row * tile->columns + first) * channels;
        if (work->is_byte && channels >= 4) {
            interpolate_row_bytes(work, &two, columns, end - first, output, channels);
        } else if (work->is_shift) {
            interpolate_row_shift(work, &two, columns, end - first, output, channels);
        } else if (work->is_floor) {
            interpolate_row_floor(work, &two, columns, end - first, output, channels);
        } else {
            interpolate_row_any(work, &two, columns, end - first, output, channels);
        }
    }
}

/* More than one pair of rows and columns, as windows take that leave the image: up to 6 x 6 elements with all addresses at
 * hand. */
#define MAXIMUM_PAIRS 9u

static void interpolate_windows(const struct interpolation *work, const struct pixel *pixels, uint32_t count,
                                uint8_t *output, uint32_t channels)
{
    const struct dory_high high = work->high;
    for (uint32_t channel = 0; channel < channels; channel++) {
        int32_t sum = work->bias;
        for (uint32_t i = 0; i < count; i++) {
            sum = sum_of(pixels[i], channel, sum);
        }
        output[channel] = (uint8_t)dory_high_apply(&high, sum, 0);
    }
}

static void interpolate_large_windows(const struct interpolation *work, const struct dory_layer *layer,
                                      const struct dory_tile *tile, const int32_t *row, const int32_t *column,
                                      uint8_t *output)
{
    const struct dory_high high = work->high;
    for (uint32_t channel = 0; channel < tile->channels; channel++) {
        int32_t sum = work->bias;
        for (uint32_t i = 0; i < layer->interpolation.row_pairs; i++) {
            for (uint32_t k = 0; k < layer->interpolation.column_pairs; k++) {
                sum = sum_of(find_pixel(work, tile, row + TAP_WORDS * i, column + TAP_WORDS * k, layer->input_width),
                             channel, sum);
            }
        }
        output[channel] = (uint8_t)dory_high_apply(&high, sum, 0);
    }
}

static void interpolate_window(const struct interpolation *work, const struct dory_layer *layer,
                               const struct dory_tile *tile, const int32_t *row, const int32_t *column, uint8_t *output)
{
    struct pixel pixels[MAXIMUM_PAIRS];
    uint32_t count = 0;
    if ((uint32_t)layer->interpolation.row_pairs * layer->interpolation.column_pairs > MAXIMUM_PAIRS) {
        interpolate_large_windows(work, layer, tile, row, column, output);
        return;
    }
    for (uint32_t i = 0; i < layer->interpolation.row_pairs; i++) {
        for (uint32_t k = 0; k < layer->interpolation.column_pairs; k++) {
            pixels[count++] = find_pixel(work, tile, row + TAP_WORDS * i, column + TAP_WORDS * k, layer->input_width);
        }
    }
    interpolate_windows(work, pixels, count, output, tile->channels);
}

/* Sums have left_shift - UNIT_SHIFT zeros below, and are shifted to the right: they lose both, floor for floor. What
 * rounding adds to some sums is the difference of two addends. */
static void start_shift(struct interpolation *work, const struct dory_layer *layer, uint32_t zeros)
{
    bool is_even = layer->rounding == DORY_ROUND_EVEN;
    struct dory_high *high = &work->high;
    uint32_t less = dory_minimum(zeros, (uint32_t)high->shift);
    int32_t corrected = is_even ? high->addend + 1 : high->addend - high->normaliser.away; /* 0 for a floor */
    work->weight_shift = zeros - less;
    work->bias = (int32_t)((uint32_t)work->bias << work->weight_shift);
    work->correction = (corrected >> less) - (high->addend >> less);
    high->addend >>= less;
    high->shift -= (int32_t)less;
    work->select = is_even ? high->shift : 31;
    work->is_byte = high->normaliser.minimum >= 0 && high->normaliser.maximum <= UINT8_MAX && dory_weights_are_bytes(layer);
}

/* Of any scale, for sums that are shifted to the left with their weights. */
static void start_any(struct interpolation *work, const struct dory_layer *layer)
{
    bool is_even = layer->rounding == DORY_ROUND_EVEN;
    work->weight_shift = layer->left_shift;
    work->bias = (int32_t)((uint32_t)work->bias << layer->left_shift);
    work->select = is_even ? work->high.shift : 31;
    work->correction = is_even ? 1 : -work->high.normaliser.away;
    work->is_floor = work->correction == 0;
}

static void start(struct interpolation *work, const struct dory_layer *layer)
{
    dory_high_start(&work->high, layer, layer->left_shift);
    work->bias = (int32_t)layer->stages->input[0].addend;
    work->weight_shift = 0;
    work->is_window = layer->interpolation.row_pairs > 1 || layer->interpolation.column_pairs > 1;
    work->is_byte = work->is_floor = false;
    work->is_shift = !work->is_window && work->high.multiplier == UNIT && layer->left_shift >= UNIT_SHIFT;
    if (work->is_shift) {
        start_shift(work, layer, layer->left_shift - UNIT_SHIFT);
    }
    if (!work->is_shift && !work->is_window) {
        start_any(work, layer);
    }
}

static void interpolate_all_windows(const struct interpolation *work, const struct dory_layer *layer,
                                    const struct dory_tile *tile, unsigned core, unsigned cores)
{
    const uint32_t row_words = TAP_WORDS * layer->interpolation.row_pairs,
                   column_words = TAP_WORDS * layer->interpolation.column_pairs;
    const int32_t *rows = layer->constants.taps + row_words * tile->first_row;
    const int32_t *columns = layer->constants.taps + row_words * layer->output_height + column_words * tile->first_column;
    struct dory_grid_share share = dory_grid_share_of(tile->rows, tile->columns, core, cores);
    uint8_t *output = (uint8_t *)tile->output + (share.row * tile->columns + share.first) * tile->channels;
    while (share.items != 0) {
        uint32_t end = dory_grid_share_row_end(&share, tile->columns);
        const int32_t *row = rows + row_words * share.row;
        for (uint32_t column = share.first; column < end; column++, output += tile->channels) {
            interpolate_window(work, layer, tile, row, columns + column_words * column, output);
        }
        dory_grid_share_next_row(&share, end);
    }
}

void dory_xpulpv2_interpolation(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct interpolation work;
    start(&work, layer);
    work.above = dory_first_input_row(layer, tile->first_row);
    if (work.is_window) {
        interpolate_all_windows(&work, layer, tile, core, cores);
    } else {
        interpolate_part(&work, layer, tile, core, cores);
    }
}
