/* Computes fully connected layers of bytes with fewer outputs than cores.
 *
 * First each core adds up a slice of the input for one quad of outputs. Then each core adds up the slices of an output and
 * requantises it (`.finish`); sums are modulo 2^32, in any order. Inner loop: a word of input takes 3 instructions with one
 * output, 5 with two, 7 with three and 9 with four. With one output two words go together, so that no load is waited for. */
#include "few.h"

#include "../dots.h"
#include "../normalise.h"
#include "../xpulpv2.h"

#if defined(DORY_XPULPV2)

#define LOOP(count, instructions, text, last)                                                                               \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n" LP_SETUP("x0", "%[times]", instructions, "1") text "1: " last ".option pop\n"                     \
        : [s0] "+r"(sum[0]), [s1] "+r"(sum[1]), [s2] "+r"(sum[2]), [input] "+r"(input), [weights] "+r"(weights)             \
        : [times] "r"(count)                                                                                                \
        : "t0", "t1", "t2", "t3", "memory")

#define LOAD_INPUT(to)  P_LW_NEXT(to, "%[input]")
#define LOAD_WEIGHT(to) P_LW_NEXT(to, "%[weights]")

#define ADD_SLICE(add)                                                                                                      \
    if (lanes == 1) {                                                                                                       \
        LOOP(words / 2, 6, LOAD_INPUT("t0") LOAD_INPUT("t1") LOAD_WEIGHT("t2") LOAD_WEIGHT("t3") add("%[s0]", "t0", "t2"),  \
             add("%[s0]", "t1", "t3"));                                                                                     \
    } else if (lanes == 2) {                                                                                                \
        LOOP(words, 5, LOAD_INPUT("t0") LOAD_WEIGHT("t1") LOAD_WEIGHT("t2") add("%[s0]", "t0", "t1"),                       \
             add("%[s1]", "t0", "t2"));                                                                                     \
    } else {                                                                                                                \
        LOOP(words, 7,                                                                                                      \
             LOAD_INPUT("t0") LOAD_WEIGHT("t1") LOAD_WEIGHT("t2") LOAD_WEIGHT("t3") add("%[s0]", "t0", "t1")                \
                 add("%[s1]", "t0", "t2"),                                                                                  \
             add("%[s2]", "t0", "t3"));                                                                                     \
    }

/* Up to three lanes; at least one word, of one lane at least two and an even number. */
static inline void add_few(int32_t sum[4], const uint8_t *input, const uint8_t *weights, uint32_t words, uint32_t lanes,
                           bool is_signed)
{
    if (is_signed) {
        ADD_SLICE(PV_SDOTSP_B)
    } else {
        ADD_SLICE(PV_SDOTUSP_B)
    }
}

#else

static void add_few(int32_t sum[4], const uint8_t *input, const uint8_t *weights, uint32_t words, uint32_t lanes,
                    bool is_signed)
{
    for (; words > 0; words--, input += 4) {
        for (uint32_t lane = 0; lane < lanes; lane++, weights += 4) {
            uint32_t x = dory_load_word(input), w = dory_load_word(weights);
            sum[lane] = is_signed ? pv_sdotsp_b(sum[lane], x, w) : pv_sdotusp_b(sum[lane], x, w);
        }
    }
}

#endif

static inline void add_last_word(int32_t *sum, const uint8_t *input, const uint8_t *weights, bool is_signed)
{
    uint32_t x = dory_load_word(input), w = dory_load_word(weights);
    *sum = is_signed ? pv_sdotsp_b(*sum, x, w) : pv_sdotusp_b(*sum, x, w);
}

static void add_slice(int32_t sum[4], const uint8_t *input, const uint8_t *weights, uint32_t words, uint32_t lanes,
                      bool is_signed)
{
    if (lanes == 4) {
        dory_dots(sum, &input, &weights, words, is_signed);
        return;
    }
    uint32_t odd = lanes == 1 ? words & 1 : 0;
    if (words > odd) {
        add_few(sum, input, weights, words - odd, lanes, is_signed);
    }
    if (odd) {
        add_last_word(sum, input + 4 * (words - 1), weights + 4 * (words - 1), is_signed);
    }
}

static inline uint32_t lanes_of(const struct dory_layer *layer) { return dory_minimum(layer->output_channels, 4); }
static inline uint32_t words_of(const struct dory_tile *tile) { return (tile->input_channels + 3u) / 4; }

/* Of a quad in this tile. */
static inline uint32_t quad_bytes_of(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t lanes)
{
    return lanes * (4 * words_of(tile) + (tile->last_chunk ? dory_channel_constants_bytes(layer) : 0));
}

static __attribute__((noinline)) void add_slices(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                                 unsigned cores)
{
    uint32_t lanes = lanes_of(layer), words = words_of(tile);
    struct dory_slices share = dory_slices_of(tile->channels, words, cores);
    for (uint32_t item = core; item < share.quads * share.slices; item += cores) {
        uint32_t quad = item >= share.slices, first = (item - quad * share.slices) * share.words;
        const uint8_t *weights = (const uint8_t *)tile->weights + quad * quad_bytes_of(layer, tile, lanes);
        int32_t sum[4] = {0};
        if (first < words) {
            add_slice(sum, (const uint8_t *)tile->input + 4 * first, weights + 4 * lanes * first,
                      dory_minimum(words - first, share.words), lanes, layer->input_is_signed);
        }
        int32_t *kept = (int32_t *)tile->scratch + 4 * item;
        kept[0] = sum[0];
        kept[1] = sum[1];
        kept[2] = sum[2];
        kept[3] = sum[3];
    }
}

static inline int32_t sum_of(const struct dory_tile *tile, const struct dory_slices *share, uint32_t channel)
{
    const int32_t *kept = (const int32_t *)tile->scratch + channel / 4 * share->slices * 4 + channel % 4;
    uint32_t sum = tile->first_chunk ? 0 : (uint32_t)tile->accumulators[channel];
    for (uint32_t slice = 0; slice < share->slices; slice++, kept += 4) {
        sum += (uint32_t)*kept;
    }
    return (int32_t)sum;
}

static inline __attribute__((always_inline)) void finish(const struct dory_layer *layer, const struct dory_tile *tile,
                                                         unsigned core, unsigned cores, enum dory_direct direct,
                                                         dory_lane_normaliser *normalise)
{
    uint32_t lanes = lanes_of(layer), words = words_of(tile);
    struct dory_slices share = dory_slices_of(tile->channels, words, cores);
    struct dory_normaliser normaliser;
    dory_start_normaliser_as(&normaliser, layer, direct);
    if (!tile->last_chunk) {
        for (uint32_t channel = core; channel < 4 * share.quads; channel += cores) {
            tile->accumulators[channel] = sum_of(tile, &share, channel);
        }
        return;
    }
    for (uint32_t channel = core; channel < tile->channels; channel += cores) {
        const uint8_t *quad = (const uint8_t *)tile->weights + channel / 4 * quad_bytes_of(layer, tile, lanes);
        int32_t element = sum_of(tile, &share, channel);
        normalise(&normaliser, quad + 4 * lanes * words, channel % 4, &element, 1, 1);
        dory_store_element((uint8_t *)tile->output + channel * normaliser.output_bytes, element, normaliser.output_bytes);
    }
}

/* One for each kind, as in linear.c. */
#define DEFINE_FEW(kind, direct, normalise)                                                                                 \
    void dory_xpulpv2_linear_few##kind(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,         \
                                       unsigned cores)                                                                      \
    {                                                                                                                       \
        add_slices(layer, tile, core, cores);                                                                               \
    }                                                                                                                       \
    void dory_xpulpv2_finish_linear_few##kind(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,  \
                                              unsigned cores)                                                               \
    {                                                                                                                       \
        finish(layer, tile, core, cores, direct, normalise);                                                                \
    }

DEFINE_FEW(, dory_direct_32_of(layer), dory_normalise_lane)
DEFINE_FEW(_clamped, dory_direct_clamped_of(layer), dory_normalise_lane_clamped)
DEFINE_FEW(_split, dory_direct_split_of(layer), dory_normalise_lane_split)
DEFINE_FEW(_high, DORY_DIRECT_HIGH, dory_normalise_lane_high)
DEFINE_FEW(_shared, DORY_BY_ONE_SCALE, dory_normalise_lane_shared)
