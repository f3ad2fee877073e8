/* What the planner knows of depth-wise layers that are computed product by product, see depthwise_scalar.c. */
#include "../depthwise/depthwise_description.h"

static bool depthwise_scalar_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_DEPTHWISE && (layer->input_bits == 8 || layer->input_bits == 16) &&
           2u * layer->input_channels <= UINT16_MAX && !dory_has_depthwise_any(layer) && !dory_is_line(layer) &&
           !dory_is_single_depthwise(layer);
}

static uint32_t depthwise_scalar_scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile,
                                               unsigned cores)
{
    return cores * dory_scalar_core_bytes(dory_scalar_pairs(layer, tile->channels));
}

static bool has_nine_taps(const struct dory_layer *layer) { return layer->kernel_height == 3 && layer->kernel_width == 3; }

/* To go on in another row, where nine taps are summed up. */
enum { PIECE = 218 };

/* Cycles of the sums of 4 pixels x 4 channels. Nine taps go from row to row, 16 pixels at a time: ends of rows lie in them
 * but for those that are an end of these, too, and that of the last row. */
static uint64_t scalar_sums_cycles(const struct dory_layer *layer, uint32_t pairs, const struct dory_tile_shape *tile)
{
    if (pairs == 0) {
        return 4 * (layer->kernel_height * (layer->kernel_width * 9u + 6u) + 45);
    }
    if (!has_nine_taps(layer)) {
        return 2 * (30 * (uint64_t)pairs + 55);
    }
    uint32_t columns = tile->columns, divisor = tile->rows == 1 ? 16 : dory_minimum(columns & -columns, 16);
    return 232 + PIECE * (16 - divisor) / (4 * columns);
}

/* What follows them, stores included, for 16 elements. */
static uint64_t scalar_finish_cycles(const struct dory_layer *layer)
{
    switch (layer->normalisation) {
    case DORY_NORMALISE_CLAMPED: return layer->reciprocal ? 316 : 211;
    case DORY_NORMALISE_64: return dory_multiplies_halves(layer) ? 245 : dory_shifts_narrowly(layer) ? 465 : 695;
    case DORY_NORMALISE_SPLIT: return 380;
    case DORY_NORMALISE_HIGH: return 380;
    case DORY_NORMALISE_DIVIDE:
        return (dory_divides_narrowly(layer) && !dory_divides_quickly(layer) ? 800 : 465) +
               16 * dory_bitwise_division_cycles(layer);
    case DORY_NORMALISE_SHARED: return 580;
    default: return 201;
    }
}

/* To pack them: as much for fewer channels, which are no whole bytes. */
static uint64_t scalar_pack_cycles(const struct dory_layer *layer) { return layer->output_bits < 8 ? 260 : 0; }

/* For up to 16 pixels of a quad at a time: the calls behind their sums. */
static uint64_t scalar_batch_cycles(const struct dory_layer *layer, uint32_t pairs)
{
    uint32_t pack = layer->output_bits < 8 ? 220 : 0, call = pairs == 0 ? 388 : has_nine_taps(layer) ? 282 + PIECE : 356;
    return pack + call;
}

/* What a core's work takes. */
struct work {
    uint32_t quads, pixel_quads, last_lanes; /* of channels; of each of these; channels of the last of them */
    uint64_t quad, batch;                    /* of channels; of up to 16 of its pixels, finished together */
    uint64_t block, pack;                    /* of four pixels; to pack these */
};

/* Of blocks `first` to `end` - 1 of the grid of channel quads by pixel quads: what begins in the middle of a quad has two.
 */
static uint64_t share_cycles(const void *context, uint32_t first, uint32_t end)
{
    const struct work *work = context;
    uint64_t cycles = 0;
    for (uint32_t next; first < end; first = next) {
        uint32_t quad = first / work->pixel_quads;
        next = dory_minimum(end, (quad + 1) * work->pixel_quads);
        uint32_t blocks = next - first, lanes = quad + 1 == work->quads ? work->last_lanes : 4;
        cycles += work->quad + (blocks * work->block + dory_divide_up(blocks, 4) * work->batch) * (1 + lanes) / 5 +
                  blocks * work->pack;
    }
    return cycles;
}

/* Before the first sum, where it is made product by product: more where sums are not simply scaled, or are packed. */
static uint64_t scalar_start_cycles(const struct dory_layer *layer)
{
    bool is_simple = layer->normalisation == DORY_NORMALISE_NONE || layer->normalisation == DORY_NORMALISE_32 ||
                     layer->normalisation == DORY_NORMALISE_CLAMPED;
    return 480u + (is_simple ? 0u : 130u) + (layer->output_bits < 8 ? 160u : 0u);
}

static uint64_t depthwise_scalar_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t pairs = dory_scalar_pairs(layer, tile->channels), pixels = (uint32_t)tile->rows * tile->columns;
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    uint32_t finished = layer->output_bits < 8 ? 4 : dory_minimum(4, pixels); /* of four pixels; what is packed, whole */
    struct work work = {
        .quads = dory_divide_up(tile->channels, 4),
        .pixel_quads = dory_divide_up(pixels, 4),
        .last_lanes = (tile->channels - 1u) % 4 + 1,
        .quad = pairs != 0 ? 63 * taps + 325 : 0, /* to spread its weights */
        .batch = scalar_batch_cycles(layer, pairs),
        .block = scalar_sums_cycles(layer, pairs, tile) + scalar_finish_cycles(layer) * finished / 4,
        .pack = scalar_pack_cycles(layer) * dory_minimum(4, pixels) / 4,
    };
    return dory_busiest_cycles(work.quads * work.pixel_quads, cores, share_cycles, &work) +
           (pairs != 0 ? 320 + 7 * taps : scalar_start_cycles(layer)) + dory_division_start_cycles(layer);
}

DORY_DESCRIBE(xpulpv2_depthwise_scalar, depthwise_scalar_supports, depthwise_scalar_scratch_bytes, depthwise_scalar_cycles)
