/* What the planner knows of N-EUREKA. Cycles are those of jobs on the maintained gvsoc: docs/siracusa.md. */
#include <string.h>

#include "dory/engine.h"
#include "dory/normalise.h"
#include "neureka.h"
#include "wide.h"

static uint32_t ceiling_log2(uint32_t value)
{
    uint32_t log2 = 0;
    while (1u << log2 < value) {
        log2++;
    }
    return log2;
}

/* ---- weights ---- */

#define BLOCK_BYTES      32768u /* with fewer jobs than channels by 32, as long as tiles remain small */
#define MOST_BLOCK_BYTES 65536u /* of which two are in L1 beside all else */

static uint8_t block_shift(const struct dory_layer *layer)
{
    enum dory_neureka_mode mode = dory_neureka_mode_of(layer);
    uint32_t bytes = dory_neureka_weight_bytes(mode, dory_neureka_input_channels(layer), layer->weight_bits);
    uint32_t channels = dory_round_up(layer->output_channels, 4), shift = ceiling_log2(channels);
    if (mode == DORY_NEUREKA_DEPTHWISE) {
        return (uint8_t)shift;
    }
    while (shift > 2 && bytes * dory_minimum(1u << shift, channels) > (shift > 5 ? BLOCK_BYTES : MOST_BLOCK_BYTES)) {
        shift--;
    }
    return (uint8_t)shift;
}

static uint32_t chunk_bytes(const struct dory_layer *layer, uint32_t input_channels)
{
    (void)input_channels; /* all */
    return dory_neureka_block_weight_bytes(layer);
}

static uint32_t constants_bytes(const struct dory_layer *layer)
{
    return dory_neureka_block_constants_bytes(layer) + dory_neureka_prepared_bytes(layer);
}

/* Bits from `to` on, which are 0. */
static void put_weight(const struct dory_layer *layer, int8_t weight, uint32_t input, uint32_t tap, uint8_t *to)
{
    enum dory_neureka_mode mode = dory_neureka_mode_of(layer);
    uint32_t value = (uint32_t)weight + (1u << (layer->weight_bits - 1));
    for (uint32_t bit = 0; bit < layer->weight_bits; bit++) {
        uint32_t at = dory_neureka_bit(mode, layer->weight_bits, input, tap, bit);
        to[at / 8] |= (uint8_t)((value >> bit & 1) << at % 8);
    }
}

/* Those of one output channel; `to`: of the block. */
static void write_channel(const struct dory_layer *layer, const struct dory_model_weights *model, uint32_t block,
                          uint32_t lane, uint8_t *to)
{
    enum dory_neureka_mode mode = dory_neureka_mode_of(layer);
    bool is_depthwise = mode == DORY_NEUREKA_DEPTHWISE, gathers = dory_neureka_gathers(layer);
    uint32_t inputs = is_depthwise ? 1 : layer->input_channels, output = block * dory_block_channels(layer) + lane;
    uint32_t bytes = dory_neureka_weight_bytes(mode, dory_neureka_input_channels(layer), layer->weight_bits);
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    uint8_t *first = to + (is_depthwise ? 0 : lane * bytes);
    for (uint32_t input = 0; input < inputs && output < layer->output_channels; input++) {
        for (uint32_t tap = 0; tap < taps; tap++) {
            uint32_t at = gathers ? dory_neureka_input_of(layer, input, tap) : is_depthwise ? output : input;
            put_weight(layer, dory_model_weight(layer, model, output, input, tap), at, gathers ? 0 : tap, first);
        }
    }
}

static void put_word(uint8_t *to, int64_t value)
{
    for (uint32_t byte = 0; byte < 4; byte++) {
        to[byte] = (uint8_t)((uint64_t)value >> 8 * byte);
    }
}

/* Where the engine requantises. */
static bool write_scale(const struct dory_channel_constants *channel, uint32_t channels, uint8_t *to)
{
    int64_t multiplier = channel ? channel->product.multiplier : 0, addend = channel ? channel->product.addend : 0;
    put_word(to, multiplier);
    put_word(to + 4 * channels, addend);
    return multiplier >= 0 && multiplier <= INT32_MAX && addend >= INT32_MIN && addend <= INT32_MAX;
}

/* A channel of a layer that may be WIDE: its multiplier, its record and which this is; `to`: of the block's constants. */
static bool write_record(const struct dory_layer *layer, const struct dory_model_weights *model, uint32_t output,
                         uint32_t lane, uint8_t *to)
{
    uint8_t *record = to + dory_neureka_first_record(layer) + lane * dory_neureka_record_bytes(layer);
    struct dory_neureka_wide wide = {0};
    bool is_there = output < layer->output_channels, is_wide = !is_there || dory_neureka_widen(layer, model, output, &wide);
    put_word(to + 4 * lane, is_wide ? wide.multiplier : 1 << DORY_NEUREKA_WIDE_SHIFT);
    to[dory_neureka_first_kind(layer) + lane] = is_wide;
    if (!is_wide) {
        return dory_write_constants(layer, &model->constants[output], record);
    }
    put_word(record, wide.addend);
    put_word(record + 4, wide.shift);
    put_word(record + 8, wide.zero);
    put_word(record + 12, wide.step);
    return true;
}

static bool write_constants(const struct dory_layer *layer, const struct dory_model_weights *model, uint32_t block,
                            uint8_t *to)
{
    uint32_t channels = dory_neureka_block_channels(layer), first = block * dory_block_channels(layer);
    bool requantises = dory_neureka_requantises(layer), may_be_wide = dory_neureka_may_be_wide(layer), fit = true;
    for (uint32_t lane = 0; lane < channels && fit; lane++) {
        bool is_there = first + lane < layer->output_channels;
        const struct dory_channel_constants *channel = is_there ? &model->constants[first + lane] : 0;
        fit = requantises   ? write_scale(channel, channels, to + 4 * lane)
              : may_be_wide ? write_record(layer, model, first + lane, lane, to)
                            : dory_write_constants(layer, channel, to + lane * dory_channel_constants_bytes(layer));
    }
    return fit;
}

/* The layer's largest tile. */
static struct dory_tile tile_of(const struct dory_layer *layer)
{
    bool is_depthwise = layer->operation == DORY_DEPTHWISE;
    return (struct dory_tile){
        .rows = layer->tile.rows,
        .columns = layer->tile.columns,
        .channels = layer->tile.channels,
        .input_columns = (uint16_t)((layer->tile.columns - 1u) * layer->stride_width + layer->kernel_width),
        .input_channels = is_depthwise ? layer->tile.channels : layer->input_channels,
    };
}

/* Behind a block's constants. Words of a chip that begins with the least byte, as every machine does that runs dory. */
static void write_prepared(const struct dory_layer *layer, uint8_t *to)
{
    struct dory_tile tile = tile_of(layer);
    struct dory_neureka_prepared prepared = {.rows = tile.rows, .columns = tile.columns, .channels = tile.channels};
    struct dory_neureka_description description;
    dory_neureka_describe(layer, &tile, &description);
    if (description.common.jobs > DORY_NEUREKA_PREPARED_JOBS) {
        prepared.rows = 0;
        description.common.jobs = 0;
    }
    prepared.common = description.common;
    for (uint32_t i = 0; i < description.common.jobs; i++) {
        dory_neureka_set_part(&description, i, &prepared.part[i]);
        prepared.part[i].registers = dory_neureka_registers_of_part(&description, &prepared.part[i]);
    }
    memcpy(to, &prepared, sizeof prepared);
}

static bool write_blocks(const struct dory_layer *layer, const struct dory_model_weights *model, uint8_t *to, uint32_t bytes)
{
    uint32_t weight_bytes = dory_neureka_block_weight_bytes(layer), block_bytes = weight_bytes + constants_bytes(layer);
    uint32_t blocks = dory_blocks(layer, layer->output_channels);
    bool fit = bytes == blocks * block_bytes;
    for (uint32_t block = 0; block < blocks && fit; block++, to += block_bytes) {
        for (uint32_t i = 0; i < block_bytes; i++) {
            to[i] = 0;
        }
        for (uint32_t lane = 0; lane < dory_neureka_block_channels(layer); lane++) {
            write_channel(layer, model, block, lane, to);
        }
        fit = write_constants(layer, model, block, to + weight_bytes);
        if (dory_neureka_prepared_bytes(layer) > 0) {
            write_prepared(layer, to + weight_bytes + dory_neureka_block_constants_bytes(layer));
        }
    }
    return fit;
}

static const struct dory_weights_format format = {
    .name = "words of N-EUREKA",
    .block_shift = block_shift,
    .chunk_bytes = chunk_bytes,
    .constants_bytes = constants_bytes,
    .write = write_blocks,
};

/* ---- what it can compute ---- */

static bool has_bytes(const struct dory_layer *layer)
{
    return layer->input_bits == 8 && layer->weight_bits <= 8 && (layer->output_bits == 8 || layer->output_bits == 32);
}

static bool supports(const struct dory_layer *layer)
{
    bool steps = layer->stride_height <= 2 && layer->stride_width == layer->stride_height;
    bool is_dense = layer->dilation_height == 1 && layer->dilation_width == 1;
    bool is_1x1 = layer->kernel_height == 1 && layer->kernel_width == 1;
    bool has_window = layer->operation == DORY_DEPTHWISE
                          ? layer->kernel_height == 3 && layer->kernel_width == 3 && is_dense && steps
                          : layer->operation == DORY_CONVOLUTION && (is_1x1 || is_dense);
    struct dory_layer formed = *layer;
    if (!has_bytes(layer) || !has_window || layer->row_divisor > 1) {
        return false;
    }
    formed.block_shift = block_shift(layer);
    return layer->operation == DORY_DEPTHWISE || dory_neureka_block_bytes(&formed) <= 2 * MOST_BLOCK_BYTES;
}

static uint32_t scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)cores;
    uint32_t step = dory_neureka_step(layer);
    uint32_t left = tile->rows * step * dory_neureka_stepped(tile->columns, step) * tile->channels;
    uint32_t bytes = !dory_neureka_is_by_cores(layer) ? 0 : dory_neureka_requantises(layer) ? 1 : 4;
    uint32_t gathered = dory_neureka_gathers(layer) ? tile->rows * tile->columns * dory_neureka_pixel_bytes(layer) : 0;
    return DORY_NEUREKA_QUEUE_BYTES + gathered + bytes * left;
}

static uint32_t scratch_bytes_in_memory(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    struct dory_layer formed = *layer;
    formed.block_shift = block_shift(layer);
    return scratch_bytes(layer, tile, cores) + dory_blocks(&formed, tile->channels) * constants_bytes(&formed);
}

/* ---- additions of what it computes ---- */

static bool only_scales(const struct dory_stage *stage)
{
    return stage->divisor == 1 && stage->minimum == INT32_MIN && stage->maximum == INT32_MAX;
}

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

/* Of bytes without a sign, in a line for which low words are proven to be enough. */
static bool is_one_line(const struct dory_layer *addition)
{
    const struct dory_stages *stages = addition->stages;
    bool have_bytes = addition->input_bits == 8 && addition->second_input_bits == 8 && addition->output_bits == 8;
    bool have_signs = addition->input_is_signed || addition->second_input_is_signed || addition->output_is_signed;
    return addition->operation == DORY_ADDITION && have_bytes && !have_signs &&
           addition->normalisation == DORY_NORMALISE_32 && addition->second_repeats == 0 && !stages->has_second &&
           only_scales(&stages->input[0]) && only_scales(&stages->input[1]) && stages->first.divisor > 0 &&
           stages->first.divisor <= 1ll << 31 && (stages->first.divisor & (stages->first.divisor - 1)) == 0;
}

static struct dory_stage line(int64_t multiplier, int64_t addend, int64_t divisor, int32_t minimum, int32_t maximum)
{
    return (struct dory_stage){multiplier, addend, divisor, minimum, maximum};
}

static bool adds(const struct dory_layer *layer, const struct dory_layer *addition, unsigned input,
                 struct dory_stages *stages)
{
    bool makes_bytes = layer->output_bits == 8 && !layer->output_is_signed && layer->minimum >= 0;
    if (dory_neureka_requantises(layer) || !makes_bytes || !is_one_line(addition)) {
        return false;
    }
    const struct dory_stage *own = &addition->stages->input[input], *other = &addition->stages->input[input ^ 1],
                            *sum = &addition->stages->first;
    uint32_t factor = (uint32_t)sum->multiplier, addend = (uint32_t)own->addend + (uint32_t)other->addend;
    int32_t least = smaller(larger(sum->minimum, addition->minimum), addition->maximum),
            most = smaller(larger(sum->maximum, addition->minimum), addition->maximum);
    memset(stages, 0, sizeof *stages);
    stages->input[0] = line((int32_t)((uint32_t)own->multiplier * factor), 0, 1, INT32_MIN, INT32_MAX);
    stages->input[1] = line((int32_t)((uint32_t)other->multiplier * factor), 0, 1, INT32_MIN, INT32_MAX);
    stages->first =
        line(1, (int32_t)(addend * factor + (uint32_t)sum->addend), dory_log2((uint64_t)sum->divisor), least, most);
    return least >= 0 && most <= UINT8_MAX;
}

/* Where such a layer has stages, a core adds in the loop of the form WIDE, or behind its elements. */
static uint32_t add_cycles(const struct dory_layer *layer)
{
    if (!layer->stages) {
        return 0;
    }
    const struct dory_stage *sum = &layer->stages->first;
    bool has_loop = dory_neureka_may_be_wide(layer) && layer->minimum == 0 && sum->minimum == 0 &&
                    layer->maximum == sum->maximum && dory_neureka_step(layer) == 1;
    return has_loop ? 6 : 15;
}

/* ---- cycles ---- */

/* Of 36 pixels by some channels. From the weight memory a word of products takes what they take, or its pixels' loading. */
static uint32_t engine_tile_cycles(const struct dory_layer *layer, uint32_t channels, bool in_memory)
{
    enum dory_neureka_mode mode = dory_neureka_mode_of(layer);
    uint32_t words = dory_neureka_words(mode, dory_neureka_input_channels(layer)), bits = layer->weight_bits;
    uint32_t load = mode == DORY_NEUREKA_1X1 ? 48 : 70, each = mode == DORY_NEUREKA_1X1 ? channels : channels * bits;
    uint32_t word = in_memory ? (each + 14 > load ? each + 14 : load) + 8 : load + each + 10;
    uint32_t products = mode == DORY_NEUREKA_DEPTHWISE ? 80 + 9 * bits : words * word;
    uint32_t sums = 40 + 36 * dory_divide_up(channels, 8), scales = 17 + channels;
    return products + (dory_neureka_requantises(layer)   ? 65 + channels
                       : dory_neureka_may_be_wide(layer) ? sums + scales
                                                         : sums);
}

static uint64_t engine_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile,
                              const struct dory_neureka_jobs *jobs, bool in_memory)
{
    uint32_t most = dory_neureka_mode_of(layer) == DORY_NEUREKA_DEPTHWISE
                        ? DORY_NEUREKA_WIDE_INPUTS
                        : dory_minimum(jobs->block_channels, DORY_NEUREKA_OUTPUTS);
    uint32_t whole = tile->channels / most, rest = tile->channels % most;
    uint64_t pixels = (uint64_t)whole * engine_tile_cycles(layer, most, in_memory) +
                      (rest ? engine_tile_cycles(layer, rest, in_memory) : 0);
    return dory_neureka_engine_tiles(jobs) * pixels + 30ull * jobs->parts * jobs->bands;
}

/* Of a core, an element, with what its instructions wait for: kws and ic of MLPerf Tiny on gvsoc. */
static uint32_t finish_cycles(const struct dory_layer *layer)
{
    if (dory_neureka_requantises(layer)) {
        return 2;
    }
    if (dory_neureka_may_be_wide(layer)) {
        bool is_away = layer->rounding == DORY_ROUND_AWAY;
        return layer->minimum != 0 ? (is_away ? 14 : 6) : is_away ? 7 : 5;
    }
    switch (layer->normalisation) {
    case DORY_NORMALISE_32: return 14;
    case DORY_NORMALISE_CLAMPED: return layer->reciprocal ? 22 : 16;
    case DORY_NORMALISE_SPLIT: return layer->rounding == DORY_ROUND_AWAY ? 21 : 18;
    case DORY_NORMALISE_SHARED:
    case DORY_NORMALISE_HIGH: return layer->rounding == DORY_ROUND_EVEN ? 90 : 24;
    default: return 90;
    }
}

/* Of a core: pieces of windows, a loop over an output row each. */
static uint64_t gather_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t run = dory_neureka_run_bytes(layer), pieces = layer->kernel_height * (run / 4 + run % 4);
    bool by_rows = tile->rows >= cores;
    uint32_t rows = by_rows ? dory_divide_up(tile->rows, cores) : tile->rows;
    uint32_t columns = by_rows ? tile->columns : dory_divide_up(tile->columns, cores);
    return dory_neureka_gathers(layer) ? 600 + (uint64_t)rows * pieces * (30 + 4 * columns) : 0;
}

/* Of copies beside it, of what cores would wait: the engine works meanwhile. MobileNetV1 and V2 with and without tables. */
#define CONTENTION_PERCENT 25

/* Until the engine works, and for each job more: where the generator has prepared the tile's jobs; and where a core has to
 * describe them, whose code comes to its cache first. */
#define START          500
#define JOB_START      150
#define DESCRIBE       2500
#define JOB_IS_NOT_SET 350

/* Other tiles than that of a whole layer may be prepared, too, but those that are left of its rows and columns are not. */
static uint64_t start_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile,
                             const struct dory_neureka_jobs *jobs)
{
    uint32_t count = jobs->parts * jobs->bands;
    bool is_whole = tile->rows == layer->output_height && tile->columns == layer->output_width &&
                    tile->channels == layer->output_channels;
    bool is_prepared = is_whole && dory_neureka_prepared_bytes(layer) > 0 && count <= DORY_NEUREKA_PREPARED_JOBS;
    return is_prepared ? START + (uint64_t)JOB_START * count
                       : START + DESCRIBE + (uint64_t)(JOB_START + JOB_IS_NOT_SET) * count;
}

static uint64_t tile_cycles(const struct dory_layer *asked, const struct dory_tile_shape *tile, unsigned cores,
                            bool in_memory)
{
    struct dory_layer formed = *asked, *layer = &formed;
    formed.block_shift = block_shift(asked);
    struct dory_neureka_jobs jobs;
    dory_neureka_set_jobs(&jobs, layer, tile->rows, tile->columns, tile->channels);
    uint64_t engine = engine_cycles(layer, tile, &jobs, in_memory),
             elements = (uint64_t)tile->rows * tile->columns * tile->channels;
    uint64_t start = start_cycles(layer, tile, &jobs) + gather_cycles(layer, tile, cores);
    uint32_t count = jobs.parts * jobs.bands;
    if (!jobs.by_cores || count == 0) {
        return start + engine;
    }
    uint64_t finish = (elements + cores - 1) / cores * (finish_cycles(layer) + add_cycles(layer));
    return start + (engine > finish ? engine + finish / count : finish + engine / count);
}

static uint64_t cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return tile_cycles(layer, tile, cores, false);
}

static uint64_t cycles_in_memory(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return tile_cycles(layer, tile, cores, true);
}

/* All windows of depth-wise layers wait for one word of weights: those belong in L1. */
static bool supports_in_memory(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONVOLUTION && supports(layer);
}

static const struct dory_kernel_description convolution = {
    .name = "dory_neureka_convolution",
    .finish = "dory_neureka_finish_convolution",
    .supports = supports,
    .scratch_bytes = scratch_bytes,
    .cycles = cycles,
    .contention_percent = CONTENTION_PERCENT,
    .leaves_gaps = true,
    .adds = adds,
};

/* The same with weights that lie in the weight memory. */
static const struct dory_kernel_description in_memory = {
    .name = "dory_neureka_convolution",
    .finish = "dory_neureka_finish_convolution",
    .supports = supports_in_memory,
    .scratch_bytes = scratch_bytes_in_memory,
    .cycles = cycles_in_memory,
    .contention_percent = CONTENTION_PERCENT,
    .in_place = DORY_WEIGHTS_IN_PLACE,
    .needs_in_place = true,
    .copies_constants = true,
    .leaves_gaps = true,
    .adds = adds,
};

static const struct dory_kernel_description *const kernels[] = {&in_memory, &convolution, 0};

const struct dory_engine dory_neureka_engine = {
    .name = "neureka",
    .weights = &format,
    .kernels = kernels,
    .is_accelerator = true,
    .has_unsigned_factors = true,
};
