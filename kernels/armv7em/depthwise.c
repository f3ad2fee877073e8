/* Computes depth-wise layers of bytes. Shapes: any kernel and stride, dilation of rows; HWC.
 *
 * Each core takes a part of the quads of channels. It transposes a quad's band of rows to planes, then computes channel by
 * channel. 3x3 with stride 1: two rows by two columns at once, in 76 instructions with HIGH; others: an output at a time, a
 * word of four columns for a row of the kernel. */
#include "dory/share.h"

#include "armv7em.h"
#include "depthwise_3x3.h"
#include "planes.h"
#include "quads.h"
#include "scale.h"

struct work {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    dory_finish_function *finish;
    dory_rows_3x3_function *by_twos; /* null: the layer has none */
    struct dory_planes planes;
    uint8_t *plane;
    uint32_t *pairs;
    int32_t *sums;
    uint32_t channel_bytes, constant_bytes;
};

/* 3x3 with stride 1 has code for two rows by two columns, in the usual forms. */
static dory_rows_3x3_function *by_twos_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    enum dory_finish kind = dory_finish_of(layer);
    bool is_3x3 = layer->kernel_height == 3 && layer->kernel_width == 3 && layer->stride_height == 1 &&
                  layer->stride_width == 1 && layer->dilation_height == 1;
    if (!is_3x3 || layer->normalisation != DORY_NORMALISE_HIGH || dory_clips(layer) || tile->columns < 2) {
        return 0;
    }
    return kind == DORY_FINISH_HIGH ? dory_rows_3x3_high : kind == DORY_FINISH_HIGH_AWAY ? dory_rows_3x3_high_away : 0;
}

static struct work work_of(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core)
{
    struct work work = {.layer = layer, .tile = tile, .finish = dory_finish_function_of(layer)};
    work.by_twos = by_twos_of(layer, tile);
    work.planes = dory_planes_of(layer, tile->rows, tile->columns);
    work.plane = (uint8_t *)tile->scratch + core * dory_planes_core_bytes(&work.planes);
    work.pairs = (uint32_t *)(void *)(work.plane + 4 * work.planes.plane_bytes);
    work.sums = (int32_t *)(void *)(work.pairs + work.planes.pairs);
    work.channel_bytes = dory_depthwise_quad_weight_bytes(layer) / 4;
    work.constant_bytes = dory_channel_constants_bytes(layer);
    return work;
}

/* ---- planes ---- */

/* Rows of four columns of four channels: from a word for each column to one for each channel. Not inlined: it needs all
 * registers. */
static __attribute__((noinline)) void lay_columns(const struct work *work, const uint8_t *row, uint8_t *to, uint32_t rows)
{
    uint32_t pixel_bytes = work->tile->channels, line_bytes = work->tile->input_columns * pixel_bytes;
    uint32_t plane_bytes = work->planes.plane_bytes, row_bytes = work->planes.row_bytes;
    for (; rows > 0; rows--, row += line_bytes, to += row_bytes) {
        const uint8_t *right = row + 2 * pixel_bytes;
        uint8_t *upper = to + 2 * plane_bytes;
        uint32_t a = dory_word_at(row), b = dory_word_at(row + pixel_bytes);
        uint32_t even_ab = dory_even_bytes(a) | dory_even_bytes(b) << 8, odd_ab = dory_odd_bytes(a) | dory_odd_bytes(b) << 8;
        uint32_t c = dory_word_at(right), d = dory_word_at(right + pixel_bytes);
        uint32_t even_cd = dory_even_bytes(c) | dory_even_bytes(d) << 8, odd_cd = dory_odd_bytes(c) | dory_odd_bytes(d) << 8;
        dory_put_word(to, dory_pack_bottoms(even_ab, even_cd));
        dory_put_word(to + plane_bytes, dory_pack_bottoms(odd_ab, odd_cd));
        dory_put_word(upper, dory_pack_tops(even_ab, even_cd));
        dory_put_word(upper + plane_bytes, dory_pack_tops(odd_ab, odd_cd));
    }
}

/* Of a band's input, what the tile has, and where it lies in the planes: the rest is border. */
struct part {
    const uint8_t *input; /* the first channel of its first pixel */
    uint8_t *plane;
    uint32_t rows, columns;
};

/* Whole quads: the last four columns overlap those before where columns are no multiple of four. */
static void lay_fours(const struct work *work, const struct part *part)
{
    for (uint32_t column = 0; column < part->columns; column += 4) {
        uint32_t from = dory_minimum(column, part->columns - 4);
        lay_columns(work, part->input + from * work->tile->channels, part->plane + from, part->rows);
    }
}

/* Columns or channels that make no four. */
static __attribute__((noinline)) void lay_bytes(const struct work *work, const struct part *part, uint32_t channels)
{
    uint32_t pixel_bytes = work->tile->channels;
    for (uint32_t row = 0; row < part->rows; row++) {
        const uint8_t *pixel = part->input + row * work->tile->input_columns * pixel_bytes;
        uint8_t *to = part->plane + row * work->planes.row_bytes;
        for (uint32_t column = 0; column < part->columns; column++, pixel += pixel_bytes) {
            for (uint32_t channel = 0; channel < channels; channel++) {
                to[channel * work->planes.plane_bytes + column] = pixel[channel];
            }
        }
    }
}

/* Where the input is signed: 128 more. */
static __attribute__((noinline)) void lay_signs(const struct work *work)
{
    for (uint32_t i = 0; i < 4 * work->planes.plane_bytes; i += 4) {
        dory_put_word(work->plane + i, dory_word_at(work->plane + i) ^ 0x80808080u);
    }
}

/* So many bytes, a multiple of four, of each plane. */
static __attribute__((noinline)) void lay_border(const struct work *work, uint8_t *to, uint32_t bytes)
{
    uint32_t plane_bytes = work->planes.plane_bytes, word = (uint8_t)work->layer->border_value * 0x01010101u;
    for (uint8_t *end = to + bytes; to < end; to += 4) {
        dory_put_word(to, word);
        dory_put_word(to + plane_bytes, word);
        dory_put_word(to + 2 * plane_bytes, word);
        dory_put_word(to + 3 * plane_bytes, word);
    }
}

/* A word of each row of a part. */
static __attribute__((noinline)) void lay_side(const struct work *work, uint8_t *to, uint32_t rows)
{
    uint32_t plane_bytes = work->planes.plane_bytes, row_bytes = work->planes.row_bytes;
    uint32_t word = (uint8_t)work->layer->border_value * 0x01010101u;
    for (uint8_t *upper = to + 2 * plane_bytes; rows > 0; rows--, to += row_bytes, upper += row_bytes) {
        dory_put_word(to, word);
        dory_put_word(to + plane_bytes, word);
        dory_put_word(upper, word);
        dory_put_word(upper + plane_bytes, word);
    }
}

/* Round a part that begins after so many rows and columns of border. Behind a row's border there is room for three bytes. */
static void lay_borders(const struct work *work, const struct part *part, uint32_t rows, uint32_t columns, uint32_t above,
                        uint32_t left)
{
    uint32_t row_bytes = work->planes.row_bytes, right = columns - left - part->columns;
    uint8_t *first = work->plane + above * row_bytes, *last = first + part->rows * row_bytes;
    lay_border(work, work->plane, above * row_bytes);
    lay_border(work, last, (rows - above - part->rows) * row_bytes);
    if (left > 4 || right > 4) {
        lay_border(work, first, part->rows * row_bytes);
        return;
    }
    if (left != 0) {
        lay_side(work, first, part->rows);
    }
    if (right != 0) {
        lay_side(work, first + left + part->columns, part->rows);
    }
}

/* Rows of a band's input, and columns, with border. */
static __attribute__((noinline)) void lay_planes(const struct work *work, uint32_t first_row, uint32_t rows,
                                                 uint32_t channel, uint32_t channels)
{
    const struct dory_tile *tile = work->tile;
    struct dory_border_rows border = dory_border_of(work->layer, tile);
    uint32_t columns = dory_input_extent(tile->columns, work->layer->kernel_width, work->layer->stride_width, 1);
    uint32_t above = dory_minimum(border.top > first_row ? border.top - first_row : 0, rows), left = border.left;
    uint32_t skipped = first_row + above - border.top, there = tile->input_rows > skipped ? tile->input_rows - skipped : 0;
    struct part part = {.rows = dory_minimum(rows - above, there),
                        .columns = dory_minimum(tile->input_columns, columns > left ? columns - left : 0)};
    part.plane = work->plane + above * work->planes.row_bytes + left;
    part.input = (const uint8_t *)tile->input + skipped * tile->input_columns * tile->channels + channel;
    lay_borders(work, &part, rows, columns, above, left);
    if (channels == 4 && part.columns >= 4) {
        lay_fours(work, &part);
    } else {
        lay_bytes(work, &part, channels);
    }
    if (work->layer->input_is_signed) {
        lay_signs(work);
    }
}

/* ---- one channel ---- */

/* The weights as halves, {0, 2}, {1, 3} of each four of a row; and what a sum starts from. Where the planes have 128 added
 * it is less by that. */
static int32_t lay_weights(const struct work *work, const uint8_t *weights, const uint8_t *constants)
{
    uint32_t *pairs = work->pairs;
    int32_t all = 0, start = dory_has_bias(dory_finish_of(work->layer)) ? (int32_t)dory_word_at(constants) : 0;
    for (uint32_t words = work->planes.pairs / 2; words > 0; words--, weights += 4, pairs += 2) {
        uint32_t word = dory_word_at(weights);
        pairs[0] = dory_even_signed(word);
        pairs[1] = dory_odd_signed(word);
        all = dory_smlad(pairs[0], 0x00010001, dory_smlad(pairs[1], 0x00010001, all));
    }
    return work->layer->input_is_signed ? (int32_t)((uint32_t)start - 128 * (uint32_t)all) : start;
}

static inline int32_t sum_of(const struct work *work, const uint8_t *window, int32_t sum)
{
    const uint32_t *pairs = work->pairs;
    uint32_t row_bytes = work->layer->dilation_height * work->planes.row_bytes;
    for (uint32_t row = work->layer->kernel_height; row > 0; row--, window += row_bytes) {
        for (uint32_t column = 0; column < work->layer->kernel_width; column += 4, pairs += 2) {
            uint32_t word = dory_word_at(window + column);
            sum = dory_smlad(dory_even_bytes(word), pairs[0], sum);
            sum = dory_smlad(dory_odd_bytes(word), pairs[1], sum);
        }
    }
    return sum;
}

static void sum_row(const struct work *work, const uint8_t *plane, int32_t start)
{
    const struct dory_layer *layer = work->layer;
    uint32_t columns = work->tile->columns;
    if (layer->kernel_height == 3 && layer->kernel_width == 3) {
        struct dory_3x3 kernel = dory_3x3_of(work->pairs);
        dory_sum_row_3x3(&kernel, plane, layer->dilation_height * work->planes.row_bytes, layer->stride_width, start,
                         work->sums, columns);
        return;
    }
    for (uint32_t column = 0; column < columns; column++, plane += layer->stride_width) {
        work->sums[column] = sum_of(work, plane, start);
    }
}

/* Of a channel's outputs. */
struct place {
    uint8_t *output;
    uint32_t pixel_bytes;
};

/* Rows of a channel, one after the other. */
static __attribute__((noinline)) void compute_rows(const struct work *work, const uint8_t *plane, uint32_t rows,
                                                   const uint8_t *constants, int32_t start, struct place to)
{
    for (; rows > 0; rows--, plane += work->layer->stride_height * work->planes.row_bytes) {
        sum_row(work, plane, start);
        work->finish(work->layer, constants,
                     &(struct dory_sums){work->sums, to.output, to.pixel_bytes, 1, work->tile->columns, 1});
        to.output += work->tile->columns * to.pixel_bytes;
    }
}

/* An even number of rows. */
static __attribute__((noinline)) void compute_twos(const struct work *work, const uint8_t *plane, uint32_t rows,
                                                   const uint8_t *constants, int32_t start, struct place to)
{
    struct dory_scale scale = dory_layer_scale_of(work->layer);
    uint32_t columns = work->tile->columns;
    dory_read_scale(DORY_FINISH_HIGH, constants, &scale);
    struct dory_rows_3x3 both; /* all of it is set: an initialiser would be a call of memset */
    both.kernel = dory_3x3_of(work->pairs);
    both.start = start;
    both.row_bytes = work->planes.row_bytes;
    both.left_shift = scale.left_shift;
    both.multiplier = scale.multiplier;
    both.addend = scale.addend;
    both.shift = scale.shift;
    both.away = scale.away;
    both.pixel_bytes = to.pixel_bytes;
    both.line_bytes = columns * to.pixel_bytes;
    both.even_columns = columns / 2 * 2;
    both.odd_column = columns % 2;
    work->by_twos(&both, plane, to.output, rows);
}

static void compute_channel(const struct work *work, const uint8_t *plane, uint32_t rows, const uint8_t *constants,
                            int32_t start, struct place to)
{
    uint32_t twos = work->by_twos ? rows / 2 * 2 : 0;
    if (twos > 0) {
        compute_twos(work, plane, twos, constants, start, to);
        plane += twos * work->planes.row_bytes;
        to.output += twos * work->tile->columns * to.pixel_bytes;
    }
    compute_rows(work, plane, rows - twos, constants, start, to);
}

/* ---- all ---- */

static __attribute__((noinline)) void compute_band(const struct work *work, uint32_t quad, uint32_t row, uint32_t rows)
{
    const struct dory_layer *layer = work->layer;
    const struct dory_tile *tile = work->tile;
    uint32_t first = 4 * quad, channels = dory_minimum(4, tile->channels - first), element_bytes = layer->output_bits / 8u;
    const uint8_t *weights = (const uint8_t *)tile->weights + quad * (4 * work->channel_bytes + dory_constants_bytes(layer));
    const uint8_t *constants = weights + 4 * work->channel_bytes;
    uint8_t *output = (uint8_t *)tile->output + (row * tile->columns * tile->channels + first) * element_bytes;
    uint32_t input_rows = dory_input_extent(rows, layer->kernel_height, layer->stride_height, layer->dilation_height);
    lay_planes(work, row * layer->stride_height, input_rows, first, channels);
    for (uint32_t lane = 0; lane < channels; lane++) {
        int32_t start = lay_weights(work, weights + lane * work->channel_bytes, constants + lane * work->constant_bytes);
        compute_channel(work, work->plane + lane * work->planes.plane_bytes, rows, constants + lane * work->constant_bytes,
                        start, (struct place){output + lane * element_bytes, tile->channels * element_bytes});
    }
}

void dory_armv7em_depthwise(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct work work = work_of(layer, tile, core);
    struct dory_share share = dory_share_of(dory_divide_up(tile->channels, 4), core, cores);
    for (uint32_t quad = share.first; quad < share.end; quad++) {
        for (uint32_t row = 0; row < tile->rows; row += work.planes.band_rows) {
            compute_band(&work, quad, row, dory_minimum(work.planes.band_rows, tile->rows - row));
        }
    }
}
