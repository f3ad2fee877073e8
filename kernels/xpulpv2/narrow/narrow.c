/* Pointwise convolutions of bytes from few input channels, see narrow.h. A core's share is a range of the grid of pairs of
 * output channels by pixels. */
#include "narrow.h"
#include "../share.h"
#include "../xpulpv2.h"

static inline void start(struct dory_narrow *narrow, struct dory_normaliser *normaliser, const struct dory_layer *layer,
                         const struct dory_tile *tile, enum dory_direct kind)
{
    bool planes = layer->output_layout == DORY_CHW;
    int32_t pixels = (int32_t)tile->rows * tile->columns;
    dory_start_normaliser_as(normaliser, layer, kind);
    narrow->normaliser = normaliser;
    narrow->shift = normaliser->direct_shift;
    narrow->words = tile->input_channels / 4u;
    narrow->constants_step = dory_constants_bytes(layer) / 4;
    narrow->step[0] = planes ? pixels : 1;
    narrow->step[1] = planes ? 1 - pixels : (int32_t)tile->channels - 1;
}

/* So many pixels of a pair, from pixel `first` on. */
static inline void place(struct dory_narrow *narrow, const struct dory_tile *tile, uint32_t pair, uint32_t first,
                         uint32_t pixels)
{
    uint32_t quad_bytes = 16 * narrow->words + 4 * narrow->constants_step, half = pair % 2;
    int32_t pixel_step = narrow->step[0] + narrow->step[1];
    const uint8_t *quad = (const uint8_t *)tile->weights + pair / 2 * quad_bytes;
    narrow->weights = quad + 8 * half;
    narrow->constants = quad + 16 * narrow->words + 2 * half * narrow->constants_step;
    narrow->input = (const uint8_t *)tile->input + first * 4 * narrow->words;
    narrow->output = (uint8_t *)tile->output + 2 * pair * (uint32_t)narrow->step[0] + first * (uint32_t)pixel_step;
    narrow->pixels = pixels;
}

typedef void narrow_pixels(struct dory_narrow *narrow);

static inline __attribute__((always_inline)) void run(const struct dory_layer *layer, const struct dory_tile *tile,
                                                      unsigned core, unsigned cores, enum dory_direct kind,
                                                      narrow_pixels *compute)
{
    struct dory_narrow narrow;
    struct dory_normaliser normaliser;
    uint32_t pixels = (uint32_t)tile->rows * tile->columns;
    start(&narrow, &normaliser, layer, tile, kind);
    struct dory_grid_share share = dory_grid_share_of(tile->channels / 2u, pixels, core, cores);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, pixels);
        place(&narrow, tile, share.row, share.first, end - share.first);
        compute(&narrow);
        dory_grid_share_next_row(&share, end);
    }
}

/* Both bytes of a pixel may lie side by side, and are written together then. */
#define NARROW_SPLIT(narrow, words)                                                                                         \
    do {                                                                                                                    \
        if ((narrow)->step[0] == 1) {                                                                                       \
            DORY_NARROW(narrow, words, SPLIT);                                                                              \
        } else {                                                                                                            \
            DORY_NARROW(narrow, words, SPLIT_APART);                                                                        \
        }                                                                                                                   \
    } while (0)

/* One function for each number of words and kind of normalisation, so that a network has only what it needs. */
#define KERNEL(name, kind, pixels)                                                                                          \
    static inline __attribute__((always_inline)) void compute_##name(struct dory_narrow *narrow) { pixels; }                \
    void dory_xpulpv2_narrow_##name(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,            \
                                    unsigned cores)                                                                         \
    {                                                                                                                       \
        run(layer, tile, core, cores, kind, compute_##name);                                                                \
    }

KERNEL(8, DORY_DIRECT, DORY_NARROW(narrow, 2, DIRECT))
KERNEL(8_clamped, DORY_DIRECT_CLAMPED, DORY_NARROW(narrow, 2, CLAMPED))
KERNEL(8_clamped_less_one, DORY_DIRECT_CLAMPED_LESS_ONE, DORY_NARROW(narrow, 2, CLAMPED_LESS_ONE))
KERNEL(8_split, DORY_DIRECT_SPLIT, NARROW_SPLIT(narrow, 2))
KERNEL(16, DORY_DIRECT, DORY_NARROW(narrow, 4, DIRECT))
KERNEL(16_clamped, DORY_DIRECT_CLAMPED, DORY_NARROW(narrow, 4, CLAMPED))
KERNEL(16_clamped_less_one, DORY_DIRECT_CLAMPED_LESS_ONE, DORY_NARROW(narrow, 4, CLAMPED_LESS_ONE))
KERNEL(16_split, DORY_DIRECT_SPLIT, NARROW_SPLIT(narrow, 4))
KERNEL(24, DORY_DIRECT, DORY_NARROW(narrow, 6, DIRECT))
KERNEL(24_clamped, DORY_DIRECT_CLAMPED, DORY_NARROW(narrow, 6, CLAMPED))
KERNEL(24_clamped_less_one, DORY_DIRECT_CLAMPED_LESS_ONE, DORY_NARROW(narrow, 6, CLAMPED_LESS_ONE))
KERNEL(32, DORY_DIRECT, DORY_NARROW(narrow, 8, DIRECT))
