/* What the planner knows of the additions and products of 8, 16 and 32 bits in 64-bit arithmetic. */
#include "../description.h"
#include "wide.h"

/* Cycles of an element: its reads and its write, and the ends that are no scale; of sixteen; of a run; of all. */
enum {
    WIDE_ELEMENT = 56,
    WIDE_HIGH = 24,
    WIDE_THRESHOLDS = 100,
    WIDE_SECOND = 40,
    WIDE_BATCH = 60,
    WIDE_RUN = 30,
    WIDE_START = 500,
    WIDE_COPY = 3300
};

static bool has_whole_bytes(const struct dory_layer *layer)
{
    return layer->input_bits >= 8 && layer->second_input_bits >= 8 && layer->output_bits >= 8;
}

/* The tables of an addition's terms are for the others. */
static bool addition_wide_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_ADDITION && !dory_adds_terms(layer) && has_whole_bytes(layer);
}

static bool multiplication_wide_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_MULTIPLICATION && layer->normalisation != DORY_NORMALISE_CHANNELS &&
           has_whole_bytes(layer);
}

/* Of elements of so many bits. */
static uint64_t wide_stage_cycles(const struct dory_stage *stage, uint32_t bits)
{
    static const uint32_t cycles[] = {[DORY_WIDE_KEEPS] = 0,
                                      [DORY_WIDE_ADDS] = 4,
                                      [DORY_WIDE_SHIFTS_A_WORD] = 30,
                                      [DORY_WIDE_SHIFTS] = 51,
                                      [DORY_WIDE_DIVIDES] = 400};
    return cycles[dory_wide_scale_of(stage, bits).scaling];
}

static uint64_t wide_end_cycles(const struct dory_layer *layer)
{
    const struct dory_stages *stages = layer->stages;
    switch (layer->normalisation) {
    case DORY_NORMALISE_HIGH: return WIDE_HIGH;
    case DORY_NORMALISE_THRESHOLDS: return WIDE_THRESHOLDS;
    default: break;
    }
    uint64_t first = wide_stage_cycles(&stages->first, layer->operation == DORY_ADDITION ? 33 : 64);
    return stages->has_second ? first + wide_stage_cycles(&stages->second, 64) + WIDE_SECOND : first;
}

/* Of each core, which copies the thresholds. */
static uint32_t wide_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)tile;
    return layer->normalisation == DORY_NORMALISE_THRESHOLDS ? cores * DORY_THRESHOLDS * 4 : 0;
}

/* An element's reads, its stages, and its write; a repeated one is read, and scaled, once a run. */
static uint64_t wide_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t count = ((uint64_t)tile->rows * tile->columns * tile->channels + cores - 1) / cores;
    uint64_t first = wide_stage_cycles(&layer->stages->input[0], layer->input_bits);
    uint64_t second = wide_stage_cycles(&layer->stages->input[1], layer->second_input_bits);
    bool is_one = (layer->second_repeats & DORY_REPEATS_CHANNEL) != 0;
    uint64_t runs = layer->second_repeats ? count / tile->channels + 1 : 1;
    uint64_t element = WIDE_ELEMENT + first + (is_one ? 0 : second) + wide_end_cycles(layer);
    uint64_t batches = count / DORY_WIDE_BATCH + runs,
             copy = layer->normalisation == DORY_NORMALISE_THRESHOLDS ? WIDE_COPY : 0;
    return count * element + batches * WIDE_BATCH + runs * (WIDE_RUN + (is_one ? second : 0)) + WIDE_START + copy;
}

DORY_DESCRIBE(xpulpv2_addition_wide, addition_wide_supports, wide_scratch, wide_cycles)

DORY_DESCRIBE(xpulpv2_multiplication_wide, multiplication_wide_supports, wide_scratch, wide_cycles)
