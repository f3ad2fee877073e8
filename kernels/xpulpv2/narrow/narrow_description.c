/* What the planner knows of the kernels for pixels of few words. */
#include "../convolution_description.h"
#include "../scratch.h"

/* The kernels clip to all values of a byte. Fewer pixels are not worth the weights' way to the registers. */
static bool is_narrow(const struct dory_layer *layer, uint32_t channels, enum dory_direct kind)
{
    bool pointwise = layer->operation == DORY_CONVOLUTION && layer->kernel_height == 1 && layer->kernel_width == 1 &&
                     layer->stride_height == 1 && layer->stride_width == 1;
    bool bytes = dory_has_bytes(layer) && !layer->input_is_signed && layer->output_bits == 8;
    return pointwise && bytes && layer->input_channels == channels && layer->output_channels % 2 == 0 &&
           layer->output_height * layer->output_width >= 32 && dory_direct_of(layer) == kind &&
           (kind != DORY_DIRECT || layer->maximum == 255);
}

/* The slowest core's pixels of pairs of channels, of so many tenths of a cycle, and the pairs that it starts. */
static uint64_t narrow_cycles(const struct dory_tile_shape *tile, unsigned cores, uint32_t pixel_tenths, uint32_t start)
{
    uint32_t pixels = (uint32_t)tile->rows * tile->columns,
             items = dory_divide_up(pixels * dory_divide_up(tile->channels, 2), cores);
    uint32_t starts = dory_divide_up(items, pixels) + (items % pixels != 0);
    return (uint64_t)items * pixel_tenths / 10 + starts * start + 250;
}

/* Instructions of a pixel: three a word, and `finish`. */
#define NARROW(suffix, channels, kind, finish)                                                                              \
    static bool supports_##suffix(const struct dory_layer *layer) { return is_narrow(layer, channels, kind); }              \
    static uint64_t cycles_##suffix(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)     \
    {                                                                                                                       \
        uint32_t instructions =                                                                                             \
            3 * (channels) / 4 + (finish) + (layer->output_layout == DORY_CHW && (finish) == 12 && (channels) == 24) * 2;   \
        return narrow_cycles(tile, cores, instructions * 10 + (cores > 1 ? 4 : 0), 60 + 2 * (channels) / 4);                \
    }                                                                                                                       \
    DORY_DESCRIBE(xpulpv2_narrow_##suffix, supports_##suffix, NULL, cycles_##suffix, .writes_chw = true)

NARROW(8, 8, DORY_DIRECT, 8)
NARROW(8_clamped, 8, DORY_DIRECT_CLAMPED, 10)
NARROW(8_split, 8, DORY_DIRECT_SPLIT, 12)
NARROW(16, 16, DORY_DIRECT, 8)
NARROW(16_clamped, 16, DORY_DIRECT_CLAMPED, 10)
NARROW(16_split, 16, DORY_DIRECT_SPLIT, 12)
NARROW(24, 24, DORY_DIRECT, 8)
NARROW(24_clamped, 24, DORY_DIRECT_CLAMPED, 10)
NARROW(24_split, 24, DORY_DIRECT_SPLIT, 12)
NARROW(32, 32, DORY_DIRECT, 8)

/* ---- first layers ------------------------------------------------------------------------------------------------ */

static bool is_first(const struct dory_layer *layer, uint32_t pixel_bytes, enum dory_direct kind)
{
    bool bytes = dory_has_bytes(layer) && !layer->input_is_signed && layer->output_bits == 8;
    return layer->operation == DORY_CONVOLUTION && bytes && layer->output_channels % 2 == 0 &&
           layer->output_height * layer->output_width >= 32 &&
           dory_gather_pixel_bytes(layer, layer->input_channels) == pixel_bytes && dory_direct_of(layer) == kind &&
           (kind != DORY_DIRECT || layer->maximum == 255);
}

static uint32_t first_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer;
    return cores * dory_narrow_core_bytes((uint32_t)tile->rows * tile->columns);
}

static uint64_t first_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores,
                             uint32_t bytes, uint32_t finish)
{
    uint32_t instructions = 3 * bytes / 4 + finish;
    uint32_t fours = dory_divide_up((uint32_t)tile->rows * tile->columns, 4), pairs = tile->channels / 2;
    uint32_t pixels = 4 * dory_divide_up(fours, cores);
    uint32_t batches = dory_divide_up(pixels, dory_narrow_batch((uint32_t)tile->rows * tile->columns));
    bool nines = layer->dilation_width == 1 && layer->kernel_height == 3 && layer->kernel_width * layer->input_channels == 9;
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width * layer->input_channels,
             copy = (nines ? 40 : 45 + bytes * 5 / 8) + (layer->dilation_width == 1 ? 0 : 3 * taps);
    uint64_t pixel = pairs * (instructions * 10 + (cores > 1 ? 5u : 0u)) / 10 + copy;
    return pixels * pixel + batches * (pairs * 75 + 60) + 400;
}

#define FIRST(suffix, bytes, kind, finish)                                                                                  \
    static bool supports##suffix(const struct dory_layer *layer) { return is_first(layer, bytes, kind); }                   \
    static uint64_t cycles##suffix(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)      \
    {                                                                                                                       \
        bool apart = (kind) == DORY_DIRECT_SPLIT && layer->output_layout == DORY_CHW;                                       \
        return first_cycles(layer, tile, cores, bytes, (finish) + (apart ? 2 : 0));                                         \
    }                                                                                                                       \
    DORY_DESCRIBE(xpulpv2_narrow##suffix, supports##suffix, first_scratch_bytes, cycles##suffix, .contention_percent = 30,  \
                  .writes_chw = true)

FIRST(_gather_12_clamped, 12, DORY_DIRECT_CLAMPED, 10)
FIRST(_gather_28, 28, DORY_DIRECT, 8)
FIRST(_gather_28_split, 28, DORY_DIRECT_SPLIT, 13)

bool dory_has_narrow(const struct dory_layer *layer)
{
    enum dory_direct kind = dory_direct_of(layer);
    bool has_24 = kind == DORY_DIRECT_CLAMPED || kind == DORY_DIRECT_SPLIT;
    uint32_t channels = layer->input_channels, most = kind == DORY_DIRECT ? 32 : has_24 ? 24 : 0;
    return (channels % 8 == 0 && channels <= most && is_narrow(layer, channels, kind)) || is_first(layer, 28, DORY_DIRECT) ||
           is_first(layer, 28, DORY_DIRECT_SPLIT) || is_first(layer, 12, DORY_DIRECT_CLAMPED);
}
