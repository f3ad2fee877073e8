/* Computes convolutions with weights, inputs or outputs of 2 or 4 bits. Shapes: any kernel, stride and dilation; HWC. The
 * bits in a kernel's name are those of the weights.
 *
 * Inputs of bytes in whole words are read where they lie; others are unpacked to bytes, four pixels at a time. Inner loop:
 * product.h, with weights that are unpacked in registers (packed_weights.h). */
#include "../scratch.h"
#include "../walk.h"
#include "../xpulpv2.h"
#include "packed.h"
#include "quads.h"
#include "unpack.h"

/* ---- inputs of bytes in whole words, where they lie -------------------------------------------------------- */

static void lying_pixels(void *state, struct dory_pixels *pixels, uint32_t count, uint32_t back)
{
    dory_walk_back(state, back);
    dory_walk_pixels(state, pixels, count);
}

static inline void convolve(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores,
                            dory_product_runner *run)
{
    uint32_t run_bytes = (uint32_t)layer->kernel_width * tile->input_channels;
    uint32_t row_bytes = (uint32_t)tile->input_columns * tile->input_channels;
    struct dory_product product;
    dory_product_start(&product, layer, tile, dory_packed_direct_of(layer), run_bytes, layer->kernel_height,
                       row_bytes * layer->dilation_height - run_bytes);
    product.steps_back = true;
    struct dory_grid_share share = dory_product_share(&product, core, cores);
    struct dory_walk walk = dory_walk_from(layer, tile, 4 * share.row);
    run(&product, share, lying_pixels, &walk);
}

/* ---- inputs below 8 bits: unpacked to bytes, four pixels at a time ------------------------------------------ */

struct unpacker {
    struct dory_walk walk;
    uint8_t *buffer; /* of this core: four pixels, in the order of their weights */
    uint32_t pixel_bytes;
    uint32_t rows, runs;         /* kernel rows; runs in each */
    uint32_t row_step, run_step; /* in the input, bytes */
    uint32_t fours, rest;        /* elements of a run: in whole words, and the others, which come behind all words */
    uint32_t bits;
    bool is_signed;
    uint32_t pixels, channels, pixel_step; /* of a run: pixels with elements of their own bytes; else one of all elements */
};

static inline uint32_t element_at(const uint8_t *input, uint32_t index, uint32_t bits, bool is_signed)
{
    uint32_t bit = index * bits, value = (uint32_t)input[bit / 8] >> (bit % 8), unused = 32 - bits;
    return is_signed ? (uint32_t)((int32_t)(value << unused) >> unused) : value << unused >> unused;
}

/* `count` elements that follow one another, the first in the low bits of *input; reads no byte beyond. */
static inline __attribute__((always_inline)) void unpack_elements(uint8_t *output, const uint8_t *input, uint32_t count,
                                                                  uint32_t bits, bool is_signed)
{
    uint32_t each = 32 / bits;
    for (; count >= each; count -= each, input += 4, output += each) {
        uint32_t word = dory_load_word(input), bytes[4];
        if (bits == 4) {
            dory_unpack_4(bytes, word, is_signed);
        } else {
            dory_unpack_2(bytes, word, is_signed);
        }
#pragma GCC unroll 4
        for (uint32_t i = 0; i < each / 4; i++) {
            dory_store_word(output + 4 * i, bytes[i]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        output[i] = (uint8_t)element_at(input, i, bits, is_signed);
    }
}

static __attribute__((noinline)) void unpack_run(uint8_t *output, const uint8_t *input, uint32_t count, uint32_t bits,
                                                 bool is_signed)
{
    if (bits == 4) {
        is_signed ? unpack_elements(output, input, count, 4, true) : unpack_elements(output, input, count, 4, false);
    } else {
        is_signed ? unpack_elements(output, input, count, 2, true) : unpack_elements(output, input, count, 2, false);
    }
}

/* A run of pixels that are filled up to whole bytes. */
static __attribute__((noinline)) void unpack_pixels(const struct unpacker *unpacker, uint8_t *fours, uint8_t *rests,
                                                    const uint8_t *input)
{
    uint32_t index = 0;
    for (uint32_t pixel = 0; pixel < unpacker->pixels; pixel++, input += unpacker->pixel_step) {
        for (uint32_t channel = 0; channel < unpacker->channels; channel++, index++) {
            uint8_t *output = index < unpacker->fours ? fours + index : rests + (index - unpacker->fours);
            *output = (uint8_t)element_at(input, channel, unpacker->bits, unpacker->is_signed);
        }
    }
}

static void unpack_pixel(const struct unpacker *unpacker, uint8_t *fours, const uint8_t *input)
{
    uint8_t *rests = fours + unpacker->rows * unpacker->runs * unpacker->fours;
    for (uint32_t row = unpacker->rows; row > 0; row--, input += unpacker->row_step) {
        const uint8_t *run = input;
        for (uint32_t left = unpacker->runs; left > 0; left--, run += unpacker->run_step) {
            if (unpacker->pixels > 1) {
                unpack_pixels(unpacker, fours, rests, run);
            } else {
                unpack_run(fours, run, unpacker->fours, unpacker->bits, unpacker->is_signed);
                for (uint32_t i = 0; i < unpacker->rest; i++) {
                    rests[i] = (uint8_t)element_at(run, unpacker->fours + i, unpacker->bits, unpacker->is_signed);
                }
            }
            fours += unpacker->fours;
            rests += unpacker->rest;
        }
    }
}

static void unpacked_pixels(void *state, struct dory_pixels *pixels, uint32_t count, uint32_t back)
{
    struct unpacker *unpacker = state;
    dory_walk_back(&unpacker->walk, back);
    uint8_t *output = unpacker->buffer;
    pixels->input = output;
    for (uint32_t i = 0; i < 4; i++, output += unpacker->pixel_bytes) {
        if (i < count) {
            unpack_pixel(unpacker, output, unpacker->walk.input);
            dory_walk_on(&unpacker->walk);
        }
        if (i > 0) {
            pixels->offset[i - 1] = i < count ? (int32_t)(output - unpacker->buffer) - 4 : DORY_MISSING_PIXEL;
        }
    }
}

static void start_unpacker(struct unpacker *unpacker, const struct dory_layer *layer, const struct dory_tile *tile)
{
    uint32_t bits = layer->input_bits, channels = tile->input_channels, pixel_step = dory_element_bytes(channels, bits);
    uint32_t elements = dory_run_elements(layer, channels), row_bytes = tile->input_columns * pixel_step;
    bool seamless = channels * bits % 8 == 0 || elements == channels;
    unpacker->pixel_bytes = dory_gather_pixel_bytes(layer, channels);
    unpacker->rows = layer->kernel_height;
    unpacker->runs = layer->dilation_width == 1 ? 1 : layer->kernel_width;
    unpacker->row_step = row_bytes * layer->dilation_height;
    unpacker->run_step = layer->dilation_width * pixel_step;
    unpacker->fours = elements & ~3u;
    unpacker->rest = elements & 3;
    unpacker->bits = bits;
    unpacker->is_signed = layer->input_is_signed;
    unpacker->pixels = seamless ? 1 : layer->kernel_width;
    unpacker->channels = channels;
    unpacker->pixel_step = pixel_step;
}

static inline void unpack_and_convolve(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                       unsigned cores, dory_product_runner *run)
{
    if (layer->input_bits == 8) {
        dory_gather_and_run(layer, tile, core, cores, dory_packed_direct_of(layer), run);
        return;
    }
    struct unpacker unpacker;
    start_unpacker(&unpacker, layer, tile);
    unpacker.buffer = (uint8_t *)tile->scratch + core * 4 * unpacker.pixel_bytes;
    struct dory_product product;
    dory_product_start(&product, layer, tile, dory_packed_direct_of(layer), unpacker.pixel_bytes, 1, 0);
    product.steps_back = true;
    struct dory_grid_share share = dory_product_share(&product, core, cores);
    struct dory_tile bytes = *tile; /* whose pixels take as many bytes as the packed ones */
    bytes.input_channels = (uint16_t)unpacker.pixel_step;
    unpacker.walk = dory_walk_from(layer, &bytes, 4 * share.row);
    run(&product, share, unpacked_pixels, &unpacker);
}

#define DEFINE_KERNELS(bits)                                                                                                \
    void dory_xpulpv2_packed_convolution_##bits(const struct dory_layer *layer, const struct dory_tile *tile,               \
                                                unsigned core, unsigned cores)                                              \
    {                                                                                                                       \
        convolve(layer, tile, core, cores, dory_packed_run_##bits);                                                         \
    }                                                                                                                       \
    void dory_xpulpv2_packed_gather_##bits(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,     \
                                           unsigned cores)                                                                  \
    {                                                                                                                       \
        unpack_and_convolve(layer, tile, core, cores, dory_packed_run_##bits);                                              \
    }

DEFINE_KERNELS(8)
DEFINE_KERNELS(4)
DEFINE_KERNELS(2)
