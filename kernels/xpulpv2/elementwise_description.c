/* What the planner knows of the kernels that take elements one by one: additions, multiplications,
 * concatenations. */
#include "description.h"

#include "direct.h"
#include "dory/normalise.h"
#include "moves/copy_run.h"
#include "repeated.h"
#include "stage_description.h"

static uint32_t repeated_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)tile;
    return dory_repeated_scratch_bytes(layer, cores);
}

/* What a core takes to lay `count` of a second input's elements beside each other; they begin where its share does. */
static uint64_t repeat_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, uint64_t count)
{
    uint64_t batches = (count + DORY_REPEATED_BATCH - 1) / DORY_REPEATED_BATCH, runs = count / tile->channels + 1;
    if (!layer->second_repeats) {
        return 0;
    }
    bool has_channels = !(layer->second_repeats & DORY_REPEATS_CHANNEL);
    return batches * 130 + runs * 22 + count * (has_channels ? 30 : 8) / 10;
}

static bool addition_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_ADDITION && layer->normalisation != DORY_NORMALISE_THRESHOLDS &&
           layer->input_bits == 8 && layer->second_input_bits == 8 && layer->output_bits == 8;
}

/* Whether four elements are done at a time with a scale in the high half of a product; see stage.h. */
static bool is_high_byte(const struct dory_layer *layer) { return layer->minimum >= 0 && layer->maximum <= 255; }

enum way { FOLDED, TWICE, SHIFTED, ONE_BY_ONE };

/* Nothing is divided, and nothing clipped but the sum. */
static bool scales(const struct dory_layer *layer, const struct dory_narrow_stage input[2],
                   const struct dory_narrow_stage sum[2])
{
    return dory_stage_is_linear(&input[0]) && dory_stage_is_linear(&input[1]) && sum[0].shift != DORY_DIVIDES &&
           !layer->stages->has_second;
}

/* A second stage behind the sum's, and inputs that are only scaled. */
static bool scales_twice(const struct dory_narrow_stage input[2], const struct dory_narrow_stage sum[2])
{
    return dory_stage_is_linear(&input[0]) && dory_stage_is_linear(&input[1]) && input[0].shift == 0 &&
           input[1].shift == 0 && dory_stage_is_linear(&sum[0]) && sum[1].shift != DORY_DIVIDES && sum[1].minimum >= 0 &&
           sum[1].maximum <= 255;
}

static bool only_scales(const struct dory_stage *stage)
{
    return stage->divisor == 1 && stage->minimum == INT32_MIN && stage->maximum == INT32_MAX;
}

/* Whether the kernel need not follow ranges through the stages, as the generator has done: addition.c's fold_proven. */
static bool is_proven(const struct dory_layer *layer)
{
    return dory_sum_has_32_bits(layer) && !layer->stages->has_second && !layer->input_is_signed &&
           !layer->second_input_is_signed && only_scales(&layer->stages->input[0]) && only_scales(&layer->stages->input[1]);
}

/* Of those of addition.c. */
static enum way way_of(const struct dory_layer *layer)
{
    struct dory_narrow_stage input[2], sum[2];
    if (is_proven(layer)) {
        return FOLDED;
    }
    if (layer->input_is_signed || layer->second_input_is_signed || !dory_narrow_addition_of(input, sum, layer)) {
        return ONE_BY_ONE;
    }
    if (layer->stages->has_second) {
        return scales_twice(input, sum) ? TWICE : ONE_BY_ONE;
    }
    if (!scales(layer, input, sum)) {
        return ONE_BY_ONE;
    }
    if (input[0].shift == 0 && input[1].shift == 0) {
        return FOLDED;
    }
    return dory_only_clips(&sum[0]) && layer->minimum >= 0 && layer->maximum <= 255 ? SHIFTED : ONE_BY_ONE;
}

/* Of one that is FOLDED. */
static bool is_in_halves(const struct dory_layer *layer)
{
    const struct dory_stage *a = &layer->stages->input[0], *b = &layer->stages->input[1], *sum = &layer->stages->first;
    uint64_t first = (uint64_t)(a->multiplier * sum->multiplier), second = (uint64_t)(b->multiplier * sum->multiplier);
    return is_proven(layer) && layer->minimum == 0 && sum->minimum <= 0 && first <= UINT8_MAX && second <= UINT8_MAX &&
           (a->addend + b->addend) * sum->multiplier + sum->addend == 0 &&
           dory_adds_in_halves((uint32_t)first, (uint32_t)second, dory_minimum(dory_log2((uint64_t)sum->divisor), 31));
}

static uint32_t folded_tenths(const struct dory_layer *layer)
{
    if (layer->minimum < 0) {
        return 204;
    }
    return is_in_halves(layer) ? 45 : layer->minimum == 0 ? 69 : 71;
}

/* Tenths of a cycle for an element. Divisions or second stages take the longer ways; see addition.c. */
static uint32_t addition_tenths(const struct dory_layer *layer)
{
    if (layer->normalisation == DORY_NORMALISE_HIGH) {
        bool is_shift = layer->stages->first.multiplier == DORY_QUARTER;
        static const uint32_t by_products[] = {[DORY_ROUND_FLOOR] = 155, [DORY_ROUND_AWAY] = 177, [DORY_ROUND_EVEN] = 488};
        static const uint32_t by_shifts[] = {[DORY_ROUND_FLOOR] = 112, [DORY_ROUND_AWAY] = 169, [DORY_ROUND_EVEN] = 142};
        return !is_high_byte(layer) ? 488 : (is_shift ? by_shifts : by_products)[layer->rounding];
    }
    if (layer->normalisation == DORY_NORMALISE_CHANNELS) {
        return layer->rounding == DORY_ROUND_EVEN ? 330 : 300;
    }
    switch (way_of(layer)) {
    case FOLDED: return folded_tenths(layer);
    case TWICE:
    case SHIFTED: return 93;
    default: return 10 * dory_addition_element_cycles(layer);
    }
}

/* Binary digits behind the ones of divisors: narrow_stage.c counts them one by one. */
static uint32_t logarithms(const struct dory_layer *layer)
{
    const struct dory_stages *stages = layer->stages;
    const struct dory_stage *all[] = {&stages->input[0], &stages->input[1], &stages->first, &stages->second};
    uint32_t sum = 0;
    for (unsigned i = 0; i < (stages->has_second ? 4u : 3u); i++) {
        uint64_t divisor = (uint64_t)all[i]->divisor;
        sum += (divisor & (divisor - 1)) == 0 ? dory_log2(divisor) : 0;
    }
    return sum;
}

/* Before the first element: most ways follow the range of values through the stages, whose bounds are divided in 64 bits. */
static uint32_t addition_start_cycles(const struct dory_layer *layer)
{
    if (dory_adds_terms(layer)) {
        return 550;
    }
    struct dory_narrow_stage input[2], sum[2];
    bool is_narrow = dory_narrow_addition_of(input, sum, layer);
    bool has_second = layer->stages->has_second;
    switch (way_of(layer)) {
    case FOLDED: return is_proven(layer) ? 250 : 1580;
    case TWICE:
    case SHIFTED: return 1030 + (has_second ? DORY_SECOND_STAGE_CYCLES : 0u) + 6 * logarithms(layer);
    default: return !is_narrow ? 650 : 1010 + (has_second ? 120u : 0);
    }
}

/* Cores have an equal number of words. */
static uint64_t words_of_slowest_core(const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t bytes = (uint64_t)tile->rows * tile->columns * tile->channels, words = (bytes + 3) / 4;
    uint64_t most = (words + cores - 1) / cores * 4;
    return most < bytes ? most : bytes;
}

static uint64_t addition_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t count = words_of_slowest_core(tile, cores);
    return count * addition_tenths(layer) / 10 + addition_start_cycles(layer) + repeat_cycles(layer, tile, count);
}

DORY_DESCRIBE(xpulpv2_addition, addition_supports, repeated_scratch, addition_cycles, .leaves_gaps = true)

/* ---- of elements of any bits ---- */

static bool addition_any_supports(const struct dory_layer *layer)
{
    bool bytes = layer->input_bits <= 8 && layer->second_input_bits <= 8; /* tables have 256 entries */
    return layer->operation == DORY_ADDITION && layer->normalisation != DORY_NORMALISE_THRESHOLDS &&
           !layer->second_repeats && layer->input_bits <= 16 && layer->second_input_bits <= 16 && layer->output_bits <= 16 &&
           (bytes || layer->normalisation != DORY_NORMALISE_HIGH) && !addition_supports(layer);
}

static bool has_bytes_or_halves(const struct dory_layer *layer)
{
    return layer->input_bits >= 8 && layer->second_input_bits >= 8 && layer->output_bits >= 8 && !layer->input_is_signed &&
           !layer->second_input_is_signed;
}

/* Cycles to make integers of up to sixteen elements of a pixel, and elements of integers. Fewer are copied first, or last,
 * byte by byte. */
enum { READ = 45, UNPACK = 76, COPY_READ = 34, WRITE_HALVES = 171, PACK = 197, WRITE_BYTES = 312, COPY_WRITTEN = 176 };

static uint32_t copied_bytes_cycles(uint32_t count, uint32_t bits) { return dory_element_bytes(count, bits) * 17 / 2; }

static uint32_t read_cycles(uint32_t count, uint32_t bits)
{
    return (bits < 8 ? UNPACK : READ) + (count < 16 ? COPY_READ + copied_bytes_cycles(count, bits) : 0);
}

static uint32_t write_cycles(uint32_t count, uint32_t bits)
{
    uint32_t written = bits == 8 ? WRITE_BYTES : bits < 8 ? PACK : WRITE_HALVES;
    return written + (count < 16 ? COPY_WRITTEN + copied_bytes_cycles(count, bits) : 0);
}

/* A pixel's groups of sixteen channels, and the cycles of each: before one that may be unlike the others, of that one,
 * behind it, and of the last group, which may be smaller. */
struct groups {
    uint32_t count, other;
    uint64_t before, of_other, behind, last;
};

/* Of the first groups of a pixel. */
static uint64_t first_groups_cycles(const struct groups *groups, uint32_t count)
{
    uint32_t whole = dory_minimum(count, groups->count - 1), before = dory_minimum(whole, groups->other);
    uint64_t others = whole > before ? groups->of_other + (whole - before - 1) * groups->behind : 0;
    return before * groups->before + others + (count == groups->count ? groups->last : 0);
}

/* Of a core that has groups `first` to `end` - 1 of all pixels. */
static uint64_t groups_cycles(const void *context, uint32_t first, uint32_t end)
{
    const struct groups *groups = context;
    uint32_t pixels = end / groups->count - first / groups->count;
    uint32_t visited = (end - 1) / groups->count - first / groups->count + 1;
    return pixels * first_groups_cycles(groups, groups->count) + first_groups_cycles(groups, end % groups->count) +
           visited * 70 - first_groups_cycles(groups, first % groups->count);
}

static uint64_t busiest_groups_cycles(const struct groups *groups, const struct dory_tile_shape *tile, unsigned cores)
{
    return dory_busiest_cycles((uint32_t)tile->rows * tile->columns * groups->count, cores, groups_cycles, groups);
}

/* Of a group: sums of all sixteen where 32 bits are enough, else of those that are there. */
static uint64_t added_group_cycles(const struct dory_layer *layer, uint32_t count)
{
    struct dory_narrow_stage input[2], sum[2];
    uint64_t cycles = read_cycles(count, layer->input_bits) + read_cycles(count, layer->second_input_bits) +
                      write_cycles(count, layer->output_bits);
    if (layer->normalisation == DORY_NORMALISE_HIGH) {
        return cycles + count * 47 + 125;
    }
    return cycles + (dory_narrow_addition_of(input, sum, layer) ? dory_sixteen_sums_cycles(input, sum) + 260
                                                                : count * dory_addition_element_cycles(layer) + 125);
}

static uint64_t addition_any_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    struct dory_narrow_stage input[2], sum[2];
    bool is_high = layer->normalisation == DORY_NORMALISE_HIGH;
    bool is_narrow = !is_high && dory_narrow_addition_of(input, sum, layer); /* for which the range is followed */
    if (is_narrow && has_bytes_or_halves(layer) && scales(layer, input, sum)) {
        return words_of_slowest_core(tile, cores) * 23 + 1080;
    }
    struct groups groups = {.count = dory_divide_up(tile->channels, 16), .other = UINT32_MAX};
    groups.before = added_group_cycles(layer, 16);
    groups.last = tile->channels % 16 != 0 ? added_group_cycles(layer, tile->channels % 16) : groups.before;
    return busiest_groups_cycles(&groups, tile, cores) +
           (is_narrow ? 970 + 7 * logarithms(layer) + (layer->stages->has_second ? 120 : 0) : 620);
}

DORY_DESCRIBE(xpulpv2_addition_any, addition_any_supports, NULL, addition_any_cycles)

static bool multiplication_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_MULTIPLICATION && layer->normalisation == DORY_NORMALISE_HIGH &&
           layer->input_bits == 8 && layer->second_input_bits == 8 && layer->output_bits == 8;
}

/* Elements by fours where the way to bytes is short, and else, or those that are left over, one by one. */
static uint64_t products_cycles(const struct dory_layer *layer, uint64_t count)
{
    bool fast = is_high_byte(layer) && !layer->input_is_signed && !layer->second_input_is_signed;
    static const uint32_t halves_of_four[] = {[DORY_ROUND_FLOOR] = 101, [DORY_ROUND_AWAY] = 117, [DORY_ROUND_EVEN] = 125};
    uint64_t fours = fast ? count / 4 : 0, start = fours != 0 ? 38 : 0;
    return fours * halves_of_four[layer->rounding] / 2 + start + (count - 4 * fours) * (fast ? 52 : 46);
}

static uint64_t multiplication_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t pixels = ((uint64_t)tile->rows * tile->columns + cores - 1) / cores, count = words_of_slowest_core(tile, cores);
    if (layer->second_repeats == DORY_REPEATS_PIXEL) {
        return pixels * (products_cycles(layer, tile->channels) + 36) + 480;
    }
    return products_cycles(layer, count) + repeat_cycles(layer, tile, count) + 480;
}

static uint32_t multiplication_scratch(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return layer->second_repeats == DORY_REPEATS_PIXEL ? 0 : repeated_scratch(layer, tile, cores);
}

DORY_DESCRIBE(xpulpv2_multiplication, multiplication_supports, multiplication_scratch, multiplication_cycles)

static bool squared_difference_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_SQUARED_DIFFERENCE && layer->input_bits == 8 && layer->second_input_bits == 8 &&
           layer->output_bits == 8;
}

static uint64_t squared_difference_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t count = words_of_slowest_core(tile, cores);
    bool fast = is_high_byte(layer) && layer->rounding != DORY_ROUND_EVEN;
    uint64_t fours = fast ? count / 4 : 0;
    return fours * 72 + (count - 4 * fours) * 42 + repeat_cycles(layer, tile, count) + 450;
}

DORY_DESCRIBE(xpulpv2_squared_difference, squared_difference_supports, repeated_scratch, squared_difference_cycles)

/* One floor of a power of two, whose sum with the high half of a product, of 30 bits, has 32. */
static bool quotient_supports(const struct dory_layer *layer)
{
    const struct dory_stage *first = layer->operation == DORY_QUOTIENT ? &layer->stages->first : NULL;
    return first && layer->normalisation != DORY_NORMALISE_THRESHOLDS && !layer->stages->has_second &&
           first->multiplier == 1 && (first->divisor & (first->divisor - 1)) == 0 && first->divisor <= 1LL << 30 &&
           first->addend >= -(1 << 30) && first->addend < 1 << 30 && first->minimum <= layer->minimum &&
           first->maximum >= layer->maximum && is_high_byte(layer);
}

static uint64_t quotient_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t count = words_of_slowest_core(tile, cores), fours = count / 4;
    return fours * 60 + (count - 4 * fours) * 24 + repeat_cycles(layer, tile, count) + 450;
}

DORY_DESCRIBE(xpulpv2_quotient, quotient_supports, repeated_scratch, quotient_cycles)

static bool is_identity(const struct dory_stage *stage)
{
    return stage->multiplier == 1 && stage->addend == 0 && stage->divisor == 1 && stage->minimum == INT32_MIN &&
           stage->maximum == INT32_MAX;
}

/* Bytes of both inputs that are the output's, as they are. */
static bool concatenation_supports(const struct dory_layer *layer)
{
    const struct dory_stages *stages = layer->stages;
    return layer->operation == DORY_CONCATENATION && layer->normalisation < DORY_NORMALISE_HIGH && layer->input_bits == 8 &&
           layer->second_input_bits == 8 && layer->output_bits == 8 && is_identity(&stages->input[0]) &&
           is_identity(&stages->input[1]) && is_identity(&stages->first) && !stages->has_second &&
           layer->input_is_signed == layer->output_is_signed && layer->second_input_is_signed == layer->output_is_signed &&
           layer->minimum <= (layer->output_is_signed ? -128 : 0) && layer->maximum >= (layer->output_is_signed ? 127 : 255);
}

/* Of a pixel's channels of both inputs. Some of them may lie anywhere among all: the mean of those of the first input, of
 * the second, and of both, cut in the middle of where they can be. */
static uint64_t joined_cycles(uint32_t first, uint32_t second, uint32_t channels)
{
    uint32_t of_first = first >= channels ? first - channels + 1 : 0, all = first + second - channels + 1;
    uint32_t of_second = second >= channels ? second - channels + 1 : 0, of_both = all - of_first - of_second;
    uint32_t least = channels > second ? channels - second : 1, cut = (least + dory_minimum(channels - 1, first)) / 2;
    uint64_t both = dory_run_cycles(cut, first, 0, channels) + dory_run_cycles(channels - cut, second, cut, channels);
    return (of_first * dory_run_cycles(channels, first, 0, channels) +
            of_second * dory_run_cycles(channels, second, 0, channels) + of_both * both) /
           all;
}

static uint64_t concatenation_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t pixels = (uint32_t)tile->rows * tile->columns, first = layer->input_channels;
    uint32_t length = dory_joined_length(pixels, tile->channels, cores), parts = dory_divide_up(tile->channels, length);
    return dory_divide_up(pixels * parts, cores) *
               (uint64_t)joined_cycles(first, layer->output_channels - first, dory_minimum(length, tile->channels)) +
           210;
}

DORY_DESCRIBE(xpulpv2_concatenation, concatenation_supports, NULL, concatenation_cycles)

/* ---- of elements of any bits, or that are scaled ---- */

static bool concatenation_any_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONCATENATION && layer->normalisation != DORY_NORMALISE_HIGH &&
           layer->input_bits <= 16 && layer->second_input_bits <= 16 && layer->output_bits <= 16 &&
           !concatenation_supports(layer);
}

/* Of a group's elements that one input has; where they do not begin with a byte in it, each is taken by itself. */
enum { PIECE = 112, NARROW_PIECE = 190, ASKEW = 16, ASKEW_LESS = 50 };

/* The tile may have fewer channels than where the inputs meet, if it has not all of them. */
struct joined {
    const struct dory_layer *layer;
    uint32_t channels;
    uint64_t piece, element[2]; /* the latter of both inputs' elements, their stages */
};

static uint64_t piece_cycles(const struct joined *joined, bool is_second, uint32_t first, uint32_t count)
{
    uint32_t bits = is_second ? joined->layer->second_input_bits : joined->layer->input_bits;
    uint64_t cycles = joined->piece + count * joined->element[is_second];
    return first * bits % 8 != 0 ? cycles + ASKEW * count - ASKEW_LESS : cycles + read_cycles(count, bits);
}

static uint64_t joined_group_cycles(const struct joined *joined, uint32_t group)
{
    uint32_t meeting = joined->layer->input_channels, first = 16 * group;
    uint32_t count = dory_minimum(16, joined->channels - first);
    uint32_t of_first = first < meeting ? dory_minimum(count, meeting - first) : 0;
    uint64_t cycles = write_cycles(count, joined->layer->output_bits);
    cycles += of_first != 0 ? piece_cycles(joined, false, first, of_first) : 0;
    return cycles + (of_first != count ? piece_cycles(joined, true, first + of_first - meeting, count - of_first) : 0);
}

/* The inputs meet in a group that is unlike the others. */
static struct groups groups_of(const struct joined *joined)
{
    struct groups groups = {.count = dory_divide_up(joined->channels, 16), .other = joined->layer->input_channels / 16u};
    uint32_t last = groups.count - 1;
    groups.last = joined_group_cycles(joined, last);
    groups.before = last > 0 ? joined_group_cycles(joined, 0) : 0;
    groups.of_other = last > groups.other ? joined_group_cycles(joined, groups.other) : 0;
    groups.behind = last > groups.other + 1 ? joined_group_cycles(joined, groups.other + 1) : 0;
    return groups;
}

static uint64_t concatenation_any_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    struct dory_narrow_stage input[2], end[2];
    bool is_narrow = dory_narrow_concatenation_of(input, end, layer); /* which the range of values is followed for */
    struct joined joined = {.layer = layer, .channels = tile->channels, .piece = is_narrow ? NARROW_PIECE : PIECE};
    joined.element[0] = dory_concatenation_element_cycles(layer, false);
    joined.element[1] = dory_concatenation_element_cycles(layer, true);
    struct groups groups = groups_of(&joined);
    return busiest_groups_cycles(&groups, tile, cores) +
           (is_narrow ? 870 + 5 * logarithms(layer) + (layer->stages->has_second ? 115 : 0) : 300);
}

DORY_DESCRIBE(xpulpv2_concatenation_any, concatenation_any_supports, NULL, concatenation_any_cycles)
