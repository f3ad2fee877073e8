/* Computes depth-wise layers of bytes, of any kernel size and stride along two dimensions, signed inputs too. HWC.
 *
 * Transposes make words of four columns of one channel. Inner loop: series.h, two fours of outputs at a time. There is one
 * kernel for each requantisation between registers, and one for all others, whose sums go through memory. */
#include "../xpulpv2.h"
#include "any.h"
#include "depthwise.h"

#define MAXIMUM_FOURS (DORY_DEPTHWISE_MAXIMUM_SUMS / 4) /* whose sums are in memory: an even number */

static void start_any(const struct dory_depthwise *work)
{
    struct dory_series *series = work->series;
    series->outer = dory_depthwise_steps(work->layer->kernel_width, work->stride_width);
    series->inner = work->kernel_height;
    series->step = 4;
    series->rolls = work->stride_height == 1 && series->inner % 2 != 0 ? series->inner / 2 : 0;
    series->second = 4 * work->stride_height;
    series->pair_step = 8 * work->stride_height;
    series->weights = work->spread;
    series->weights_bytes = 8 * series->inner * series->outer;
    series->four_bytes = work->columns * series->pixel_bytes;
}

/* So many rows and columns of fours; of one column or two, an odd row is computed twice. */
static void start_fours(struct dory_series *series, const struct dory_strip *strip)
{
    uint32_t fours = strip->columns <= 2 ? (strip->rows + 1) / 2 : strip->rows;
    series->below = strip->rows - fours;
    series->columns = strip->columns;
    series->pairs = fours / 2;
    series->single = fours % 2;
    series->lanes = strip->lanes;
    series->lane_bytes = 4 * strip->input_rows;
    dory_start_elements(series);
}

/* The fours of a strip follow each other from row to row. */
static void compute_strip(const struct dory_depthwise *work, struct dory_strip *strip, dory_compute_series *compute)
{
    struct dory_series *series = work->series;
    uint32_t step = 4 / dory_depthwise_spacing(work->stride_width), far = step * work->stride_width / 2;
    if (strip->new_quad) {
        dory_pair_weights(strip->weights, work->kernel_height, work->layer->kernel_width,
                          dory_round_up(work->layer->kernel_width, 4), work->stride_width, work->spread);
    }
    if (strip->new_band || strip->columns != series->columns) {
        start_fours(series, strip);
    }
    for (uint32_t i = 0; i < series->outer; i++) {
        const uint8_t *near = series->source[2 * i] = strip->unit[step * i];
        series->source[2 * i + 1] =
            series->below ? near + 4 * series->below * work->stride_height : strip->unit[step * i + far];
    }
    series->constants = strip->constants;
    series->output = strip->output;
    compute(series);
}

/* Inlined in each kernel, where `compute` and `strip` are constants. */
static inline __attribute__((always_inline)) void run(const struct dory_layer *layer, const struct dory_tile *tile,
                                                      unsigned core, unsigned cores, dory_depthwise_strip *strip)
{
    uint32_t stride = layer->stride_width;
    struct dory_series series;
    struct dory_depthwise work;
    dory_start_series(&series, layer, tile);
    dory_depthwise_start(&work, layer, tile, core, dory_depthwise_units(layer->kernel_width, stride),
                         dory_depthwise_quad_bytes(layer->kernel_height, layer->kernel_width, stride));
    work.series = &series;
    series.words =
        (uint32_t *)(void *)(work.spread + dory_depthwise_pairs_bytes(layer->kernel_height, layer->kernel_width, stride));
    start_any(&work);
    dory_depthwise_share(&work, core, cores, work.units, dory_depthwise_advance(stride), dory_depthwise_spacing(stride),
                         strip);
}

/* The elements of a four of which not all are next to each other. */
static void store_part(const struct dory_series *series, uint8_t *output, const int32_t *element, uint32_t bytes)
{
    uint32_t below = series->below * series->four_bytes;
    for (uint32_t i = 0; i < series->columns; i++, output += series->pixel_bytes) {
        dory_store_element(output, element[i], bytes);
        if (series->below) {
            dory_store_element(output + below, element[i + 2], bytes);
        }
    }
}

/* Elements from the sums of so many fours. */
static void finish(struct dory_series *series, uint8_t *output, uint32_t lane, int32_t *sum, uint32_t fours)
{
    uint32_t bytes = series->normaliser.output_bytes;
    dory_normalise_lane(&series->normaliser, series->constants, lane, sum, 1, 4 * fours);
    for (const int32_t *end = sum + 4 * fours; sum < end; output += series->four_bytes, sum += 4) {
        if (series->columns == 4) {
            dory_store_four_elements(output, series->pixel_bytes, sum, bytes);
        } else {
            store_part(series, output, sum, bytes);
        }
    }
}

/* The fours of a lane, a few at a time. */
static void compute_long_lane(struct dory_series *series, uint32_t lane, uint32_t fours)
{
    uint32_t bytes = series->normaliser.output_bytes;
    uint8_t *output = series->output + lane * bytes;
    int32_t *sums = (int32_t *)series->words;
    series->first.offset = lane * series->lane_bytes;
    series->first.last = (uint8_t *)sums;
    while (fours > 0) {
        uint32_t now = dory_minimum(fours, MAXIMUM_FOURS);
        series->pairs = now / 2;
        series->single = now % 2;
        dory_compute_lanes(series, DORY_NOT_DIRECT);
        finish(series, output, lane, sums, now);
        series->first.offset += now / 2 * series->pair_step;
        output += now * series->four_bytes;
        fours -= now;
    }
}

static __attribute__((noinline)) void compute_long(struct dory_series *series)
{
    uint32_t pairs = series->pairs, single = series->single, lanes = series->lanes;
    series->own.source = series->source;
    series->own.constants_bytes = 0;
    series->first.weights = series->weights;
    series->lanes = 1;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        compute_long_lane(series, lane, 2 * pairs + single);
        series->first.weights += series->weights_bytes;
    }
    series->pairs = pairs;
    series->single = single;
    series->lanes = lanes;
}

/* A call a strip, not in line: compilers would see there that units which no strip reads are not set, and warn. */
#define KERNEL(name, compute)                                                                                               \
    static __attribute__((noinline)) void strip_of_##name(const struct dory_depthwise *work, struct dory_strip *strip)      \
    {                                                                                                                       \
        compute_strip(work, strip, compute);                                                                                \
    }                                                                                                                       \
    void dory_xpulpv2_##name(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)   \
    {                                                                                                                       \
        run(layer, tile, core, cores, strip_of_##name);                                                                     \
    }

#define DIRECT_KERNEL(suffix, kind)                                                                                         \
    static __attribute__((noinline)) void compute_##suffix(struct dory_series *series)                                      \
    {                                                                                                                       \
        dory_compute_directly(series, kind);                                                                                \
    }                                                                                                                       \
    KERNEL(depthwise_##suffix, compute_##suffix)

DIRECT_KERNEL(direct, DORY_DIRECT)
DIRECT_KERNEL(clamped, DORY_DIRECT_CLAMPED)
DIRECT_KERNEL(split, DORY_DIRECT_SPLIT)
DIRECT_KERNEL(split_away, DORY_DIRECT_SPLIT_AWAY)
DIRECT_KERNEL(high_away, DORY_DIRECT_HIGH_AWAY)
DIRECT_KERNEL(high_even, DORY_DIRECT_HIGH_EVEN)
KERNEL(depthwise, compute_long)
