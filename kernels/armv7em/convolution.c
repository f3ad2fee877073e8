/* Computes convolutions and fully connected layers of bytes. Shapes: any kernel, stride, dilation; HWC.
 *
 * Each core takes a part of the pixels. Four pixels are laid as halves in scratch, then all channels computed in pairs; what
 * is left of pixels by fours is computed one by one, in quads of channels. */
#include "dory/share.h"

#include "armv7em.h"
#include "pixels.h"
#include "product.h"
#include "quads.h"
#include "scale.h"

/* What does not change from pixel to pixel. */
struct work {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    dory_finish_function *finish;
    dory_product_pair_function *pair_high; /* of the layer's form; null: it has none */
    dory_product_bytes_function *of_bytes; /* of a pixel that is not laid; else null */
    struct dory_window window;
    uint32_t *pairs;           /* the core's scratch */
    uint32_t quad_bytes;       /* of weights in this tile */
    uint32_t constants_offset; /* in a quad */
    uint32_t constant_bytes;   /* of a channel */
    bool has_bias;             /* that sums start from */
};

static dory_product_pair_function *pair_high_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    enum dory_finish kind = dory_finish_of(layer);
    if (layer->normalisation != DORY_NORMALISE_HIGH || dory_clips(layer) || tile->accumulators) {
        return 0;
    }
    return kind == DORY_FINISH_HIGH        ? dory_product_pair_high
           : kind == DORY_FINISH_HIGH_AWAY ? dory_product_pair_high_away
                                           : 0;
}

static struct work work_of(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core)
{
    struct work work = {.layer = layer, .tile = tile, .window = dory_window_of(layer, tile)};
    bool is_linear = dory_is_fully_connected(layer); /* which is laid a pixel at a time, and has no border */
    uint32_t lanes = is_linear ? dory_lanes(layer) : 4, elements = 4 * work.window.groups;
    uint32_t pairs_bytes = (is_linear ? 2 : 8) * elements;
    uint32_t room_bytes = is_linear ? 0 : dory_window_bytes(layer, tile->input_channels);
    uint8_t *scratch = (uint8_t *)tile->scratch + core * (pairs_bytes + room_bytes);
    work.pairs = (uint32_t *)(void *)scratch;
    work.window.room = scratch + pairs_bytes;
    work.pair_high = pair_high_of(layer, tile);
    work.finish = dory_finish_function_of(layer);
    work.constant_bytes = dory_channel_constants_bytes(layer);
    work.constants_offset = elements * lanes;
    work.quad_bytes = work.constants_offset + (tile->last_chunk ? lanes * work.constant_bytes : 0);
    work.has_bias = tile->last_chunk && dory_has_bias(dory_finish_of(layer));
    return work;
}

/* ---- sums: in registers from the first product to the last, unless input channels are tiled ---- */

static int32_t bias_of(const struct work *work, const uint8_t *constants, uint32_t lane)
{
    return work->has_bias ? (int32_t)dory_word_at(constants + lane * work->constant_bytes) : 0;
}

static int32_t *accumulators_of(const struct work *work, uint32_t pixel, uint32_t channel)
{
    return work->tile->accumulators + pixel * dory_round_up(work->tile->channels, 4) + channel;
}

static __attribute__((noinline)) void resume(const struct work *work, int32_t *sums, uint32_t pixel, uint32_t channel,
                                             uint32_t channels)
{
    const int32_t *from = accumulators_of(work, pixel, channel);
    for (uint32_t lane = 0; lane < channels && !work->tile->first_chunk; lane++) {
        sums[lane] = (int32_t)((uint32_t)sums[lane] + (uint32_t)from[lane]);
    }
}

static __attribute__((noinline)) void suspend(const struct work *work, const int32_t *sums, uint32_t pixel, uint32_t channel,
                                              uint32_t channels)
{
    memcpy(accumulators_of(work, pixel, channel), sums, channels * sizeof *sums);
}

/* ---- blocks ---- */

/* So many sums of each pixel from there on, of the channels that the tile has. */
static void finish(const struct work *work, const uint8_t *constants, const int32_t *sums, uint32_t pixels,
                   uint32_t in_pixel, uint32_t pixel, uint32_t channel)
{
    uint32_t element_bytes = work->layer->output_bits / 8u, channels = work->tile->channels;
    struct dory_sums block = {.sums = sums, .pixels = pixels, .in_pixel = in_pixel, .pixel_bytes = channels * element_bytes};
    block.output = (uint8_t *)work->tile->output + (pixel * channels + channel) * element_bytes;
    block.channels = dory_minimum(in_pixel, channels - channel);
    work->finish(work->layer, constants, &block);
}

/* Channels `channel` and the one behind it of four pixels; `weights` and `constants` are the first one's. */
static void compute_pair(const struct work *work, uint32_t pixel, uint32_t channel, const uint8_t *weights,
                         const uint8_t *constants)
{
    int32_t sums[8], first = bias_of(work, constants, 0), second = bias_of(work, constants, 1);
    for (uint32_t i = 0; i < 8; i += 2) {
        sums[i] = first;
        sums[i + 1] = second;
    }
    for (uint32_t i = 0; work->tile->accumulators && i < 4; i++) {
        resume(work, sums + 2 * i, pixel + i, channel, 2);
    }
    dory_product_pair(work->pairs, weights, sums, work->window.groups);
    if (work->tile->last_chunk) {
        finish(work, constants, sums, 4, 2, pixel, channel);
        return;
    }
    for (uint32_t i = 0; i < 4; i++) {
        suspend(work, sums + 2 * i, pixel + i, channel, 2);
    }
}

/* Two pairs of channels. */
static void compute_quad_high(const struct work *work, const uint8_t *weights, struct dory_pair_high *to)
{
    to->constants = weights + work->constants_offset;
    work->pair_high(work->pairs, weights, to, work->window.groups);
    to->constants += 32;
    to->output += 2;
    work->pair_high(work->pairs, weights + 8, to, work->window.groups);
    to->output += 2;
}

/* Whole quads; returns the first channel that is left. */
static uint32_t compute_four_high(const struct work *work, uint32_t pixel)
{
    const struct dory_layer *layer = work->layer;
    const uint8_t *weights = work->tile->weights;
    struct dory_pair_high to = {.pixel_bytes = work->tile->channels, .left_shift = layer->left_shift & 31u};
    to.output = (uint8_t *)work->tile->output + pixel * to.pixel_bytes;
    to.away = 1u << to.left_shift >> 1;
    for (uint32_t quads = work->tile->channels / 4u; quads > 0; quads--, weights += work->quad_bytes) {
        compute_quad_high(work, weights, &to);
    }
    return work->tile->channels / 4u * 4;
}

static void compute_four(const struct work *work, uint32_t pixel)
{
    dory_lay_four(&work->window, pixel, work->pairs);
    uint32_t channel = work->pair_high ? compute_four_high(work, pixel) : 0;
    const uint8_t *weights = (const uint8_t *)work->tile->weights + channel / 4 * work->quad_bytes;
    for (; channel < work->tile->channels; channel += 4, weights += work->quad_bytes) {
        const uint8_t *constants = weights + work->constants_offset;
        compute_pair(work, pixel, channel, weights, constants);
        if (channel + 2u < work->tile->channels || !work->tile->last_chunk) {
            compute_pair(work, pixel, channel + 2, weights + 8, constants + 2 * work->constant_bytes);
        }
    }
}

static inline void start_quad(const struct work *work, const uint8_t *constants, int32_t sums[4])
{
    uint32_t bytes = work->constant_bytes;
    sums[0] = (int32_t)dory_word_at(constants);
    sums[1] = (int32_t)dory_word_at(constants + bytes);
    sums[2] = (int32_t)dory_word_at(constants + 2 * bytes);
    sums[3] = (int32_t)dory_word_at(constants + 3 * bytes);
}

static void compute_quad(const struct work *work, uint32_t pixel, uint32_t channel, const uint8_t *weights)
{
    const uint8_t *constants = weights + work->constants_offset;
    int32_t sums[4] = {0};
    if (work->has_bias) {
        start_quad(work, constants, sums);
    }
    if (work->tile->accumulators) {
        resume(work, sums, pixel, channel, 4);
    }
    if (work->of_bytes) {
        work->of_bytes(work->tile->input, weights, sums, work->window.groups);
    } else {
        dory_product_quad(work->pairs, weights, sums, work->window.groups);
    }
    if (work->tile->last_chunk) {
        finish(work, constants, sums, 1, 4, pixel, channel);
    } else {
        suspend(work, sums, pixel, channel, 4);
    }
}

static void compute_pixel(const struct work *work, uint32_t pixel, uint32_t quad, uint32_t end)
{
    const uint8_t *weights = (const uint8_t *)work->tile->weights + quad * work->quad_bytes;
    if (!work->of_bytes) {
        dory_lay_pixel(&work->window, pixel, work->pairs);
    }
    for (; quad < end; quad++, weights += work->quad_bytes) {
        compute_quad(work, pixel, 4 * quad, weights);
    }
}

void dory_armv7em_convolution(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct work work = work_of(layer, tile, core);
    uint32_t pixels = (uint32_t)tile->rows * tile->columns, quads = dory_divide_up(tile->channels, 4);
    struct dory_share share = dory_share_of(pixels, core, cores);
    uint32_t pixel = share.first;
    for (; pixel + 4 <= share.end; pixel += 4) {
        compute_four(&work, pixel);
    }
    for (; pixel < share.end; pixel++) {
        compute_pixel(&work, pixel, 0, quads);
    }
}

/* ---- fully connected ---- */

/* Of a quad that is not filled up: fewer than four channels, see dory_lanes(). */
static void compute_few(const struct work *work, uint32_t lanes)
{
    const uint8_t *weights = work->tile->weights, *constants = weights + work->constants_offset;
    int32_t sums[4] = {0};
    for (uint32_t lane = 0; lane < lanes; lane++) {
        int32_t sum = bias_of(work, constants, lane);
        for (uint32_t group = 0; group < work->window.groups; group++) {
            uint32_t word = dory_word_at(weights + (group * lanes + lane) * 4);
            sum = dory_smlad(work->pairs[2 * group], dory_even_signed(word), sum);
            sum = dory_smlad(work->pairs[2 * group + 1], dory_odd_signed(word), sum);
        }
        sums[lane] = sum;
    }
    if (work->tile->accumulators) {
        resume(work, sums, 0, 0, 4);
    }
    if (work->tile->last_chunk) {
        finish(work, constants, sums, 1, 4, 0, 0);
    } else {
        suspend(work, sums, 0, 0, 4);
    }
}

/* Each core takes a part of the channels, and lays the pixel for itself, unless its words are whole. */
void dory_armv7em_linear(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct work work = work_of(layer, tile, core);
    uint32_t lanes = dory_lanes(layer);
    struct dory_share share = dory_share_of(dory_divide_up(tile->channels, 4), core, cores);
    if (share.first == share.end) {
        return;
    }
    if (lanes == 4) {
        bool is_laid = dory_lays_linear(layer);
        work.of_bytes = is_laid ? 0 : layer->input_is_signed ? dory_product_quad_signed : dory_product_quad_unsigned;
        compute_pixel(&work, 0, share.first, share.end);
    } else {
        dory_lay_pixel(&work.window, 0, work.pairs);
        compute_few(&work, lanes);
    }
}
