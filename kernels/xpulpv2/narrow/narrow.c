/* Computes pointwise convolutions of bytes from 8, 16, 24 or 32 input channels. Input HWC, output HWC or CHW.
 *
 * A core's share is a range of the grid of pairs of output channels by pixels. Inner loop: narrow.h, one pixel times two
 * channels, whose weights stay in registers. */
#include "narrow.h"
#include "../share.h"
#include "../xpulpv2.h"

static inline __attribute__((always_inline)) void run(const struct dory_layer *layer, const struct dory_tile *tile,
                                                      unsigned core, unsigned cores, enum dory_direct kind,
                                                      dory_narrow_compute *compute)
{
    struct dory_narrow narrow;
    struct dory_normaliser normaliser;
    uint32_t pixels = (uint32_t)tile->rows * tile->columns;
    dory_start_normaliser_as(&normaliser, layer, kind);
    dory_narrow_start(&narrow, &normaliser, layer, tile, tile->input_channels / 4u);
    struct dory_grid_share share = dory_grid_share_of(tile->channels / 2u, pixels, core, cores);
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, pixels);
        dory_narrow_place(&narrow, tile, share.row, share.first, end - share.first);
        compute(&narrow);
        dory_grid_share_next_row(&share, end);
    }
}

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
KERNEL(8_split, DORY_DIRECT_SPLIT, DORY_NARROW_PAIRED_SPLIT(narrow, 2))
KERNEL(16, DORY_DIRECT, DORY_NARROW(narrow, 4, DIRECT))
KERNEL(16_clamped, DORY_DIRECT_CLAMPED, DORY_NARROW(narrow, 4, CLAMPED))
KERNEL(16_split, DORY_DIRECT_SPLIT, DORY_NARROW_PAIRED_SPLIT(narrow, 4))
KERNEL(24, DORY_DIRECT, DORY_NARROW(narrow, 6, DIRECT))
KERNEL(24_clamped, DORY_DIRECT_CLAMPED, DORY_NARROW(narrow, 6, CLAMPED))
KERNEL(24_split, DORY_DIRECT_SPLIT, DORY_NARROW_BIASED_SPLIT(narrow, 6))
KERNEL(32, DORY_DIRECT, DORY_NARROW(narrow, 8, DIRECT))
