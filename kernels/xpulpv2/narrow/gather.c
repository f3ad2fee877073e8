/* Computes first layers of bytes: 3x3 of three channels, 5x5 of one (28 bytes a pixel), 3x3 of one (12 bytes). Input HWC,
 * output HWC or CHW.
 *
 * A core copies what each pixel of a batch reads to its scratch, which all output channels go by. Inner loop: narrow.h. */
#include "../gather.h"
#include "../scratch.h"
#include "../xpulpv2.h"
#include "narrow.h"
#include "quads.h"

struct first {
    struct dory_gather gather;
    struct dory_narrow narrow;
    struct dory_normaliser normaliser;
    uint8_t *buffer;
    bool has_nines; /* three runs of nine bytes, whose copy has its own code */
};

/* Three runs of nine bytes. All is loaded before it is stored, since a load has to be waited for. */
static inline __attribute__((always_inline)) void copy_nines(uint8_t *output, const uint8_t *input, uint32_t run_step)
{
    const uint8_t *second = input + run_step, *third = second + run_step;
    uint32_t a = dory_load_word(input), b = dory_load_word(input + 4), c = dory_load_word(second);
    uint32_t d = dory_load_word(second + 4), e = dory_load_word(third), f = dory_load_word(third + 4);
    uint8_t x = input[8], y = second[8], z = third[8];
    dory_store_word(output, a);
    dory_store_word(output + 4, b);
    dory_store_word(output + 8, c);
    dory_store_word(output + 12, d);
    dory_store_word(output + 16, e);
    dory_store_word(output + 20, f);
    output[24] = x;
    output[25] = y;
    output[26] = z;
}

static __attribute__((noinline)) void gather_nines(struct dory_walk *walk, uint32_t run_step, uint8_t *output,
                                                   uint32_t pixels)
{
    while (pixels > 0) {
        const uint8_t *input = walk->input;
        uint32_t some = dory_minimum(pixels, walk->columns - walk->column);
        int32_t step = walk->step;
        for (uint32_t left = some; left > 0; left--, input += step, output += 28) {
            copy_nines(output, input, run_step);
        }
        walk->input = input;
        walk->column += some;
        if (walk->column == walk->columns) {
            walk->column = 0;
            walk->input += walk->row_step;
        }
        pixels -= some;
    }
}

static __attribute__((noinline)) void gather_fours(struct dory_gather *gather, uint8_t *output, uint32_t pixels)
{
    for (uint32_t done = 0; done < pixels; done += 4, output += 4 * gather->pixel_bytes) {
        dory_gather_to(gather, output);
        dory_gather_four(gather, dory_minimum(4, pixels - done));
    }
}

static inline void start(struct first *first, const struct dory_layer *layer, const struct dory_tile *tile, uint32_t pixel,
                         unsigned core, enum dory_direct kind)
{
    dory_start_normaliser_as(&first->normaliser, layer, kind);
    first->buffer = (uint8_t *)tile->scratch + core * dory_narrow_core_bytes((uint32_t)tile->rows * tile->columns);
    first->has_nines =
        layer->dilation_width == 1 && layer->kernel_height == 3 && dory_run_elements(layer, tile->input_channels) == 9;
    dory_gather_start(&first->gather, layer, tile, pixel, first->buffer);
    dory_narrow_start(&first->narrow, &first->normaliser, layer, tile, (uint32_t)first->gather.pixel_bytes / 4);
}

/* A core's share is a range of fours of pixels, of which it does so many at a time. */
static inline __attribute__((always_inline)) void run(const struct dory_layer *layer, const struct dory_tile *tile,
                                                      unsigned core, unsigned cores, enum dory_direct kind,
                                                      dory_narrow_compute *compute)
{
    struct first first;
    uint32_t pixels = (uint32_t)tile->rows * tile->columns, pairs = tile->channels / 2u, batch = dory_narrow_batch(pixels);
    struct dory_grid_share share = dory_grid_share_of(dory_divide_up(pixels, 4), 1, core, cores);
    uint32_t pixel = 4 * share.row, end = dory_minimum(pixel + 4 * share.items, pixels);
    start(&first, layer, tile, pixel, core, kind);
    while (pixel < end) {
        uint32_t some = dory_minimum(batch, end - pixel);
        if (first.has_nines) {
            gather_nines(&first.gather.walk, first.gather.run_step, first.buffer, some);
        } else {
            gather_fours(&first.gather, first.buffer, some);
        }
        for (uint32_t pair = 0; pair < pairs; pair++) {
            dory_narrow_place(&first.narrow, tile, pair, pixel, some);
            first.narrow.input = first.buffer;
            compute(&first.narrow);
        }
        pixel += some;
    }
}

#define KERNEL(name, kind, pixels)                                                                                          \
    static inline __attribute__((always_inline)) void compute##name(struct dory_narrow *narrow) { pixels; }                 \
    void dory_xpulpv2_narrow_gather##name(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,      \
                                          unsigned cores)                                                                   \
    {                                                                                                                       \
        run(layer, tile, core, cores, kind, compute##name);                                                                 \
    }

KERNEL(_12_clamped, DORY_DIRECT_CLAMPED, DORY_NARROW(narrow, 3, CLAMPED))
KERNEL(_28, DORY_DIRECT, DORY_NARROW(narrow, 7, DIRECT))
KERNEL(_28_split, DORY_DIRECT_SPLIT, DORY_NARROW_BIASED_SPLIT(narrow, 7))
