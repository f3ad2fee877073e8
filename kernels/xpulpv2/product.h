/* The product that all convolutions come down to: every pixel times every output channel, four pixels by four channels at a
 * time.
 *
 * A block of 4 pixels x 4 channels keeps 16 sums in registers; a step of 4 bytes then takes 8 loads for 16 dot products
 * (64 MAC in 24 cycles: at most 21.3 MAC/cycle on 8 cores). 27 of the 31 registers are in use.
 *
 * What ends a block (normalisation, packing, stores) takes 84 instructions with DORY_DIRECT, 110 with a clamp: with 64 input
 * channels 468 and 494 a block in all, at most 17.5 and 16.6 MAC/cycle.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_PRODUCT_H
#define DORY_XPULPV2_PRODUCT_H

#include <stdbool.h>

#include "dory/layer.h"
#include "normalise.h"
#include "share.h"

/* Four pixels of the input: the first one's address, and where the others are from the address that its first load has
 * moved on by 4. Where a tile ends sooner, the missing ones are where the first is. */
struct dory_pixels {
    const uint8_t *input;
    int32_t offset[3];
};
#define DORY_MISSING_PIXEL (-4)

/* Pixels that are computed again may be another core's, which writes the same bytes. ThreadSanitizer, which looks for cores
 * that write to one place, cannot know that they do: for it they are the core's own. */
#if defined(__SANITIZE_THREAD__)
#define DORY_STEPS_ONTO_OTHERS false
#else
#define DORY_STEPS_ONTO_OTHERS true
#endif

/* Gives the four pixels, of which `count` exist, that begin `back` before the end of those it gave last, or before the
 * core's first one. Only a source that says so (`steps_back`) is asked for any before. */
typedef void dory_pixel_source(void *state, struct dory_pixels *pixels, uint32_t count, uint32_t back);

/* Blocks of 4 pixels x 4 channels as the innermost code wants them: in memory, for the registers are full. Where `direct`
 * is set, all blocks up to weights_end are computed and written as bytes; else one, into `sum`. */
struct dory_blocks {
    struct dory_pixels pixels;
    uint32_t words, more_words, more_runs, jump; /* more: behind the first */
    const uint8_t *weights, *weights_end;
    int32_t direct;      /* enum dory_direct */
    uint32_t special;    /* not direct, or more than one run */
    uint8_t *output;     /* of the block's first pixel and channel; in CHW, of its last channel */
    int32_t output_step; /* bytes from pixel to pixel; in CHW, from channel to the one before: negative */
    uint32_t channels;
    int32_t *sum;          /* of pixel p and lane c at [4 * p + c] */
    const int32_t *starts; /* of matrix/ alone: what the sums of each of the four pixels start from */
    const uint32_t *same;  /* and the constants of all channels */
    struct {               /* of a last quad of fewer than four channels, see product_part.h */
        uint8_t *output;
        int32_t lane_step, pixel_step; /* to the next channel; from a pixel's last one to the next pixel's first */
        uint32_t lanes;
    } part;
    struct dory_normaliser normaliser;
};

/* The work on one tile. */
struct dory_product {
    struct dory_blocks blocks;
    const uint8_t *weights;
    uint8_t *output;
    int32_t *accumulators;
    uint32_t quad_bytes;      /* of weights and constants of a channel quad, in this tile */
    uint32_t constants_bytes; /* of them, constants */
    uint32_t quads;           /* channel quads of this tile */
    uint32_t pixel_count;
    bool input_is_signed, first_chunk, last_chunk;
    bool writes_chw;
    bool steps_back; /* the source can: a last part of four pixels is computed with those before it again */
    uint8_t output_bits;
    uint32_t output_pixel_bytes;
    uint32_t pixel_step, channel_step; /* in the output, in elements */
    int8_t direct;                     /* enum dory_direct, of whole blocks */
};

/* `direct` is how whole blocks finish, where no input channels are tiled. What one output pixel reads are `runs` runs of
 * `run_bytes` bytes, `jump` bytes from the end of one to the start of the next. */
void dory_product_start(struct dory_product *product, const struct dory_layer *layer, const struct dory_tile *tile,
                        enum dory_direct direct, uint32_t run_bytes, uint32_t runs, uint32_t jump);

/* A core's share is a range of the grid of pixel quads by channel quads. */
static inline struct dory_grid_share dory_product_share(const struct dory_product *product, unsigned core, unsigned cores)
{
    return dory_grid_share_of((product->pixel_count + 3) / 4, product->quads, core, cores);
}

/* All blocks of a share, for weights of some bits. */
typedef void dory_product_runner(struct dory_product *product, struct dory_grid_share share, dory_pixel_source *source,
                                 void *state);

/* Weights, and outputs, of 8 bits or more; others are in packed.h. Direct are, in this order, DORY_DIRECT alone, the clamped
 * kinds, the high kinds and the split kinds; inputs of all but the first have no sign. */
dory_product_runner dory_product_run, dory_product_run_clamped, dory_product_run_high, dory_product_run_split;

/* The same where a last quad of channels may have fewer than four, faster (product_part.h). */
dory_product_runner dory_product_run_clamped_part, dory_product_run_split_part;

/* A convolution of bytes of any kernel: what four pixels read is copied to scratch (convolution_gather.c). */
void dory_gather_and_run(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores,
                         enum dory_direct direct, dory_product_runner *run);

/* The way that takes every kind of normalisation and chunk: from the sums of up to 4 pixels (in the order [pixel][lane])
 * from output pixel `index` on to elements, in place, or false where they have become partial sums. `constants` are those of
 * the channel quad; `normalise` is dory_normalise_lane, or that of the layer's kind. */
bool dory_product_normalise(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,
                            uint32_t pixels, uint32_t quad, dory_lane_normaliser *normalise);

/* Stores such elements, where they are bytes or words. */
void dory_product_store(const struct dory_product *product, const int32_t *element, uint32_t index, uint32_t pixels,
                        uint32_t quad);

/* Both. */
void dory_product_finish_by(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,
                            uint32_t pixels, uint32_t quad, dory_lane_normaliser *normalise);

/* The same for every kind. */
void dory_product_finish(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,
                         uint32_t pixels, uint32_t quad);

/* A kernel of convolutions, which is compute(layer, tile, core, cores, direct, run). */
#define DORY_PRODUCT_KERNEL(name, compute, direct, run)                                                                     \
    void dory_xpulpv2_##name(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)   \
    {                                                                                                                       \
        compute(layer, tile, core, cores, direct, run);                                                                     \
    }

/* One for each way to finish, so that a network has only what it needs. The first one is also for all that is not direct. */
#define DORY_PRODUCT_KERNELS(name, compute)                                                                                 \
    DORY_PRODUCT_KERNEL(name, compute, dory_direct_32_of(layer), dory_product_run)                                          \
    DORY_PRODUCT_KERNEL(name##_clamped, compute, dory_direct_clamped_of(layer), dory_product_run_clamped)                   \
    DORY_PRODUCT_KERNEL(name##_high, compute, dory_direct_high_of(layer), dory_product_run_high)                            \
    DORY_PRODUCT_KERNEL(name##_split, compute, dory_direct_split_of(layer), dory_product_run_split)

#endif
