/* Buffers of a case between guards, what is in them, and the comparison afterwards. */
#include "case.h"
#include "case_parts.h"

#include <stdio.h>
#include <string.h>

#include "dory/matrix_product.h"
#include "quads.h"
#include "random_layer.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define FORBID(address, bytes) __asan_poison_memory_region(address, bytes)
#define PERMIT(address, bytes) __asan_unpoison_memory_region(address, bytes)
#else
#define FORBID(address, bytes) ((void)(address), (void)(bytes))
#define PERMIT(address, bytes) ((void)(address), (void)(bytes))
#endif

#define GUARD_BYTES 16
#define GUARD       0xA5

/* ---- memory ------------------------------------------------------------------------------------------------ */

/* By words: the C library of a firmware takes ten cycles a byte. */
static void fill_with_guards(void *start, size_t bytes)
{
    uint32_t *words = start, word = 0x01010101u * GUARD;
    __asm__ volatile("" : "+r"(word)); /* or the compiler calls memset again */
    for (size_t i = 0; i < bytes / sizeof word; i++) {
        words[i] = word;
    }
}

/* The start is on a word, and so is the end. */
void test_memory_start(struct test_memory *memory, void *start, size_t bytes)
{
    memory->start = memory->next = start;
    memory->end = memory->start + bytes;
    memory->full = false;
    FORBID(start, bytes);
}

/* Buffers start on words, and as in L1 whole words may be read; the last one's rest is checked like a guard. All of it is
 * filled like guards at first: what a kernel leaves out is not by chance what an earlier case has left there. */
static void *allocate(struct test_memory *memory, uint32_t bytes)
{
    uint8_t *guard = memory->next, *buffer = guard + GUARD_BYTES;
    uint32_t words_bytes = dory_round_up(bytes, 4);
    if ((size_t)(memory->end - memory->next) < words_bytes + 2 * GUARD_BYTES) {
        memory->full = true;
        return memory->start;
    }
    memory->next = buffer + words_bytes;
    PERMIT(guard, words_bytes + 2 * GUARD_BYTES);
    fill_with_guards(guard, words_bytes + 2 * GUARD_BYTES);
    FORBID(guard, GUARD_BYTES);
    FORBID(memory->next, GUARD_BYTES);
    return buffer;
}

static bool is_guard(const uint8_t *start, const uint8_t *end)
{
    while (start < end && *start == GUARD) {
        start++;
    }
    return start == end;
}

/* ---- data -------------------------------------------------------------------------------------------------- */

/* From a word on. */
static void fill(void *start, uint32_t bytes)
{
    uint32_t *words = start, rest = bytes % 4;
    for (uint32_t i = 0; i < bytes / 4; i++) {
        words[i] = random_word();
    }
    if (rest != 0) {
        uint32_t last = random_word();
        memcpy(words + bytes / 4, &last, rest);
    }
}

static uint32_t weight_bytes_of_quad(const struct test_case *test)
{
    const struct dory_layer *layer = &test->layer;
    return layer->operation == DORY_CONVOLUTION ? dory_chunk_bytes(layer, test->tile.input_channels)
                                                : dory_depthwise_quad_weight_bytes(layer);
}

/* In groups: zeros for channels that the input has not, and where runs are filled up. */
static void fill_window(const struct dory_layer *layer, uint8_t *quad, uint32_t bytes)
{
    uint32_t window = dory_window_channels(layer), there = dory_minimum(window, layer->input_channels);
    uint32_t run = dory_run_elements(layer, window), filled = dory_round_up(run, 4);
    for (uint32_t i = 0; i < bytes; i++) {
        uint32_t element = i / (2u * layer->weight_bits) * 4 + i % 4;
        bool is_filled = element % filled >= run;
        quad[i] = !is_filled && element % filled % window < there ? (uint8_t)(random_word() >> 9) : 0;
    }
}

/* Random weights with the zeros at the end, or behind each row of a depth-wise layer, that the blob's format asks
 * for, or behind each tap. */
static void fill_weights(const struct test_case *test, uint8_t *quad, uint32_t bytes)
{
    const struct dory_layer *layer = &test->layer;
    bool convolution = layer->operation == DORY_CONVOLUTION;
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    uint32_t channels = dory_fills_taps(layer) ? test->tile.input_channels : taps * test->tile.input_channels;
    uint32_t run = convolution ? channels : layer->kernel_width, words = (run + 3) / 4;
    if (layer->operation == DORY_GROUPED) {
        fill_window(layer, quad, bytes);
        return;
    }
    uint32_t word_bytes = convolution ? dory_lanes(layer) * layer->weight_bits / 2 : 4; /* of all lanes */
    fill(quad, bytes);
    for (uint32_t last = (words - 1) * word_bytes; run % 4 != 0 && last < bytes; last += words * word_bytes) {
        for (uint32_t i = last; i < last + word_bytes; i++) {
            quad[i] = i % 4 < run % 4 ? quad[i] : 0;
        }
    }
}

static int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static int64_t between(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static void store_constant(uint8_t **next, int64_t value, uint32_t bytes)
{
    memcpy(*next, &value, bytes);
    *next += bytes;
}

/* A multiplier for which sums of the usual size span the range, and the sums at which the output is 0 and the maximum. */
static void fill_clamped_lane(const struct dory_layer *layer, uint8_t **constants)
{
    int64_t range = ((int64_t)layer->maximum + 1) * layer->divisor; /* of multiplier * sum + addend */
    int64_t multiplier = range >> (usual_shift(layer) + random_up_to(3));
    multiplier = multiplier < 1 ? 1 : multiplier;
    int64_t addend = (int64_t)random_up_to((uint32_t)(range / 2 < UINT32_MAX ? range / 2 : UINT32_MAX - 1)) - range / 16;
    int64_t high = floor_quotient(range - 1 - addend, multiplier), low = -floor_quotient(addend, multiplier);
    low = between(low, INT32_MIN, INT32_MAX);
    high = between(high, INT32_MIN, INT32_MAX);
    if (low > high) { /* no sum gives anything between */
        low = high = between(0, low, low);
        addend = -multiplier * low;
    }
    store_constant(constants, low, 4);
    store_constant(constants, high, 4);
    store_constant(constants, multiplier, 4);
    store_constant(constants, addend, 4);
}

static int64_t random_bias(const struct dory_layer *layer)
{
    int64_t most = (int64_t)1 << dory_minimum(usual_shift(layer) + 6u, 24);
    return (int64_t)random_up_to((uint32_t)(2 * most)) - most;
}

static void fill_high_lane(const struct dory_layer *layer, uint8_t **constants)
{
    struct random_scale scale = random_scale(layer);
    store_constant(constants, random_bias(layer), 4);
    store_constant(constants, one_in(10) ? -scale.multiplier : scale.multiplier, 4);
    store_constant(constants, scale.addend, 4);
    store_constant(constants, scale.shift, 4);
}

/* Sums of the usual size from the first to the last output; the fine product fills its bits. */
static void fill_split_lane(const struct dory_layer *layer, uint8_t **constants)
{
    uint32_t bits = dory_minimum(usual_shift(layer) + random_between(6, 9), 28), places = 31 - bits;
    uint32_t limit = random_between(1u << (bits - 1), (1u << bits) - 1), high = UINT32_MAX / (limit + 1);
    store_constant(constants, (int64_t)random_up_to(limit) - (int64_t)random_up_to(limit / 4), 4);
    store_constant(constants, limit, 4);
    store_constant(constants, random_up_to((1u << places) - 1), 4);
    store_constant(constants, (random_up_to(1u << 30) & ~31u) | places, 4);
    store_constant(constants, high, 4);
    if (layer->rounding == DORY_ROUND_AWAY) {
        store_constant(constants, random_up_to(limit), 4);
        store_constant(constants, random_up_to(high), 4);
    }
}

static void fill_constants(const struct test_case *test, uint8_t *constants)
{
    const struct dory_layer *layer = &test->layer;
    bool wide = layer->normalisation == DORY_NORMALISE_64 || layer->normalisation == DORY_NORMALISE_DIVIDE;
    uint32_t usual = usual_shift(layer); /* a small divisor's is less */
    uint32_t more = wide && layer->shift > usual ? layer->shift - usual : 0;
    for (unsigned lane = 0; lane < dory_lanes(layer); lane++) {
        int64_t addend = (int64_t)random_up_to(255) << (layer->shift > 1 ? layer->shift - 1 : 0);
        switch (layer->normalisation) {
        case DORY_NORMALISE_NONE: store_constant(&constants, (int64_t)random_word() >> 8, 4); break;
        case DORY_NORMALISE_32:
            store_constant(&constants, (int64_t)random_between(1, 8), 4);
            store_constant(&constants, addend - (int64_t)(random_word() >> 16), 4);
            break;
        case DORY_NORMALISE_CLAMPED: fill_clamped_lane(layer, &constants); break;
        case DORY_NORMALISE_SPLIT: fill_split_lane(layer, &constants); break;
        case DORY_NORMALISE_HIGH: fill_high_lane(layer, &constants); break;
        case DORY_NORMALISE_SHARED: store_constant(&constants, random_bias(layer), 4); break;
        default:
            store_constant(&constants,
                           ((int64_t)random_between(1, 8) << more) + (int64_t)random_up_to(1u << (more < 20 ? more : 20)),
                           8);
            store_constant(&constants, addend - (int64_t)random_word(), 8);
            break;
        }
    }
}

static void *place_weights(struct test_case *test, struct test_memory *memory)
{
    uint32_t weights = weight_bytes_of_quad(test);
    uint32_t constants = test->tile.last_chunk ? dory_constants_bytes(&test->layer) : 0;
    uint32_t quads = dory_divide_up(test->tile.channels, 4);
    uint8_t *blob = allocate(memory, quads * (weights + constants));
    for (uint32_t quad = 0; quad < quads && !memory->full; quad++) {
        uint8_t *start = blob + quad * (weights + constants);
        fill_weights(test, start, weights);
        if (constants) {
            fill_constants(test, start + weights);
        }
    }
    test->quads = blob;
#if !defined(DORY_TEST_GAP8) /* whose firmware has no other engine */
    if (test_engine->weights != &dory_quads && !memory->full) {
        dory_set_format(&test->layer, test_engine->weights);
        uint32_t bytes = dory_weights_tile_bytes(test_engine->weights, &test->layer, &test->shape);
        uint8_t *written = allocate(memory, bytes);
        if (!memory->full &&
            !test_case_write_format(test, test_engine->weights, blob, quads * (weights + constants), written, bytes)) {
            memory->full = true; /* which is told as a failure */
        }
        return written;
    }
#endif
    return blob;
}

static void *place_constant(const struct test_case *test, struct test_memory *memory)
{
    uint32_t bytes = dory_round_up(test->tile.channels, 4);
    void *elements = allocate(memory, bytes);
    if (!memory->full) {
        fill(elements, bytes);
    }
    return elements;
}

/* Tables whose entries, two of which are added, have 28 bits, or where the sum is squared 14. */
static void *place_table(const struct test_case *test, struct test_memory *memory)
{
    uint32_t bytes = dory_table_bytes(&test->layer);
    int32_t *table = allocate(memory, bytes);
    const uint32_t listed = 1u << DORY_NORM | 1u << DORY_SOFTMAX | 1u << DORY_LSTM;
    if ((listed >> test->layer.operation & 1) && !memory->full) {
        memcpy(table, test->lists, bytes);
        return table;
    }
    for (uint32_t i = 0; i < bytes / 4 && !memory->full; i++) {
        unsigned shift = test->layer.operation == DORY_TABLE ? 0 : test->layer.operation == DORY_SQUARED_DIFFERENCE ? 18 : 4;
        table[i] = (int32_t)random_word() >> shift;
    }
    return table;
}

static void *place_input(const struct test_case *test, struct test_memory *memory, unsigned which)
{
    bool joins = test->layer.operation == DORY_CONCATENATION || test->layer.operation == DORY_LSTM;
    bool has_all = joins || dory_repeats_channel(&test->layer, which);
    uint32_t channels = has_all ? dory_input_channels(&test->layer, which) : test->tile.input_channels;
    uint32_t pixel_bytes = dory_element_bytes(channels, which ? test->layer.second_input_bits : test->layer.input_bits);
    uint32_t bytes = (uint32_t)test->tile.input_rows * test->tile.input_columns * pixel_bytes;
    if (which == 1 && (test->layer.second_repeats & DORY_REPEATS_PIXEL)) {
        bytes = pixel_bytes;
    }
    if (which == 1 && is_matrix_product(&test->layer)) {
        bytes = (uint32_t)test->tile.rows * test->tile.channels * pixel_bytes;
    }
    void *input = allocate(memory, bytes);
    if (!memory->full) {
        fill(input, bytes);
    }
    return input;
}

/* One channel's constants, in the layer's stages. */
static void place_product_constants(struct test_case *test)
{
    uint8_t quad[4 * 4 * DORY_MATRIX_WORDS];
    int32_t narrow[DORY_MATRIX_WORDS];
    int64_t wide[2];
    struct dory_stages *stages = &test->stages;
    fill_constants(test, quad);
    memcpy(narrow, quad, sizeof narrow);
    memcpy(wide, quad, sizeof wide);
    switch (test->layer.normalisation) {
    case DORY_NORMALISE_NONE: stages->first.addend = narrow[0]; break;
    case DORY_NORMALISE_32:
        stages->first.multiplier = narrow[0];
        stages->first.addend = narrow[1];
        break;
    case DORY_NORMALISE_CLAMPED: stages->first = (struct dory_stage){narrow[2], narrow[3], 1, narrow[0], narrow[1]}; break;
    case DORY_NORMALISE_SPLIT:
        stages->first = (struct dory_stage){narrow[2], narrow[3], 1, narrow[0], narrow[1]};
        stages->second = (struct dory_stage){narrow[4], narrow[6], 1, narrow[5], INT32_MAX};
        break;
    case DORY_NORMALISE_HIGH:
        stages->first = (struct dory_stage){narrow[1], narrow[2], (int64_t)1 << narrow[3], INT32_MIN, INT32_MAX};
        stages->second.addend = narrow[0];
        break;
    default:
        stages->first.multiplier = wide[0];
        stages->first.addend = wide[1];
        break;
    }
}

bool test_case_place(struct test_case *test, struct test_memory *memory, struct test_memory *expected_memory)
{
    struct dory_tile *tile = &test->tile;
    const struct dory_layer *layer = &test->layer;
    tile->input = place_input(test, memory, 0);
    tile->second_input = dory_has_second_input(layer) ? place_input(test, memory, 1) : NULL;
    if (is_matrix_product(layer)) {
        place_product_constants(test);
    }
    tile->weights = has_weights(layer)                  ? place_weights(test, memory)
                    : layer->operation == DORY_CONSTANT ? place_constant(test, memory)
                    : dory_table_bytes(layer) != 0      ? place_table(test, memory)
                                                        : NULL;
    if (dory_table_bytes(layer) != 0) {
        test->layer.constants.any = tile->weights;
    }
    uint32_t output_bytes = (uint32_t)tile->rows * tile->columns * dory_element_bytes(tile->channels, layer->output_bits);
    uint32_t gap_bytes = dory_output_gap(layer) * dory_element_bytes(tile->channels, layer->output_bits);
    test->row_bytes = gap_bytes ? output_bytes / tile->rows : output_bytes; /* else all of it is one */
    test->row_step = test->row_bytes + gap_bytes;
    tile->output = allocate(memory, dory_output_tile_bytes(layer, &test->shape));
    tile->scratch = allocate(memory, dory_scratch_bytes(test->description, layer, &test->shape, test->cores));
    test->output = tile->output;
    test->output_bytes = output_bytes;
    if (!(tile->first_chunk && tile->last_chunk)) {
        uint32_t bytes = (uint32_t)tile->rows * tile->columns * dory_round_up(tile->channels, 4) * 4;
        tile->accumulators = allocate(memory, bytes);
        if (!memory->full) {
            for (uint32_t i = 0; i < bytes / 4; i++) {
                tile->accumulators[i] = (int32_t)(random_word() >> 16) - 32768;
            }
        }
        if (!tile->last_chunk) {
            test->output = (uint8_t *)tile->accumulators;
            test->output_bytes = test->row_bytes = test->row_step = bytes;
        }
    }
    test->expected = allocate(expected_memory, output_bytes);
    if (tile->accumulators) {
        test->expected_accumulators =
            allocate(expected_memory, (uint32_t)tile->rows * tile->columns * dory_round_up(tile->channels, 4) * 4);
    }
    return !memory->full && !expected_memory->full;
}

bool test_case_fits(const struct test_case *test, uint32_t bytes)
{
    const struct dory_layer *layer = &test->layer;
    const struct dory_tile_shape *shape = &test->shape;
    uint32_t sum = dory_input_tile_bytes(layer, shape, 0) + dory_output_tile_bytes(layer, shape) +
                   (dory_has_second_input(layer) ? dory_input_tile_bytes(layer, shape, 1) : 0) +
                   dory_weights_tile_bytes(&dory_quads, layer, shape) +
                   dory_scratch_bytes(test->description, layer, shape, test->cores);
    if (!(test->tile.first_chunk && test->tile.last_chunk)) {
        sum += shape->rows * shape->columns * dory_round_up(shape->channels, 4) * 4;
    }
    return sum + 8 * (GUARD_BYTES + 4) <= bytes;
}

struct dory_tile test_case_expected_tile(struct test_case *test)
{
    struct dory_tile tile = test->tile;
    tile.output = test->expected;
    tile.weights = test->quads ? test->quads : tile.weights;
    if (tile.accumulators) {
        uint32_t bytes = (uint32_t)tile.rows * tile.columns * dory_round_up(tile.channels, 4) * 4;
        memcpy(test->expected_accumulators, tile.accumulators, bytes);
        tile.accumulators = test->expected_accumulators;
    }
    if (!tile.last_chunk) {
        test->expected = (uint8_t *)tile.accumulators;
    }
    return tile;
}

/* ---- comparison -------------------------------------------------------------------------------------------- */

/* Where a byte of the output lies in its buffer. */
static uint32_t place_of(const struct test_case *test, uint32_t byte)
{
    bool has_gaps = test->row_step != test->row_bytes; /* as accumulators have none */
    return has_gaps ? byte / test->row_bytes * test->row_step + byte % test->row_bytes : byte;
}

static uint32_t output_end(const struct test_case *test) { return place_of(test, test->output_bytes - 1) + 1; }

static bool gaps_are_whole(const struct test_case *test)
{
    bool whole = true;
    for (uint32_t row = 0; test->row_step != test->row_bytes && row + 1u < test->tile.rows; row++) {
        const uint8_t *start = test->output + row * test->row_step;
        whole = whole && is_guard(start + test->row_bytes, start + test->row_step);
    }
    return whole;
}

static bool guards_are_whole(const struct test_case *test, const struct test_memory *memory)
{
    const struct dory_tile *tile = &test->tile;
    const uint8_t *const buffers[] = {tile->input,  tile->second_input, tile->weights,
                                      tile->output, tile->scratch,      (const uint8_t *)tile->accumulators};
    PERMIT(memory->start, (size_t)(memory->end - memory->start));
    bool whole = true;
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        whole = whole && (!buffers[i] || is_guard(buffers[i] - GUARD_BYTES, buffers[i]));
    }
    return whole &&
           (!tile->output || is_guard(test->output + output_end(test), test->output + dory_round_up(output_end(test), 4))) &&
           gaps_are_whole(test) && is_guard(memory->next, memory->next + GUARD_BYTES);
}

static void describe(const struct test_case *test)
{
    const struct dory_layer *layer = &test->layer;
    const struct dory_tile *tile = &test->tile;
    printf("seed %u: %s on %u cores: %ux%ux%u of %u bits from %ux%ux%u of %u bits, weights of %u bits, kernel %ux%u, stride "
           "%ux%u, dilation %ux%u, normalisation %u, shift %u, left shift %u, rounding %u, clip %d..%d, border %d, input "
           "%s, chunk first %u last %u, layouts %u %u\n",
           (unsigned)test->seed, test->description->name, test->cores, tile->rows, tile->columns, tile->channels,
           layer->output_bits, tile->input_rows, tile->input_columns, tile->input_channels, layer->input_bits,
           layer->weight_bits, layer->kernel_height, layer->kernel_width, layer->stride_height, layer->stride_width,
           layer->dilation_height, layer->dilation_width, layer->normalisation, layer->shift, layer->left_shift,
           layer->rounding, (int)layer->minimum, (int)layer->maximum, layer->border_value,
           layer->input_is_signed ? "signed" : "unsigned", tile->first_chunk, tile->last_chunk, layer->input_layout,
           layer->output_layout);
}

/* How many there are from the start of the first row on, at least; by words, for gvsoc simulates each access. */
static uint32_t equal_bytes(const struct test_case *test)
{
    const uint32_t *output = (const void *)test->output, *expected = (const void *)test->expected;
    uint32_t words = 0;
    while (words < test->row_bytes / 4 && output[words] == expected[words]) {
        words++;
    }
    return 4 * words;
}

bool test_case_check(const struct test_case *test, const struct test_memory *memory)
{
    uint32_t differences = 0, first = 0;
    for (uint32_t i = equal_bytes(test); i < test->output_bytes; i++) {
        if (test->output[place_of(test, i)] != test->expected[i] && differences++ == 0) {
            first = i;
        }
    }
    bool whole = guards_are_whole(test, memory);
    if (differences == 0 && whole) {
        return true;
    }
    describe(test);
    if (differences) {
        printf("    %u of %u bytes differ, first byte %u: %u, expected %u\n", (unsigned)differences,
               (unsigned)test->output_bytes, (unsigned)first, test->output[place_of(test, first)], test->expected[first]);
    }
    if (!whole) {
        printf("    written outside its buffers\n");
    }
    return false;
}
