/* Elements that cores make of N-EUREKA's sums and WIDE products, and of what is added to them, against their formulas:
 * random constants, shapes, gaps between rows, bytes round the output. */
#include "neureka_elements.h"

#include "expect.h"
#include "finish.h"

#include "dory/normalise.h"

#define MOST_CHANNELS 24u
#define MOST_PIXELS   10u
#define MOST_ROWS     4u
#define MOST_STEP     32u
#define RECORD_BYTES  16u
#define OUTPUT_BYTES  ((MOST_PIXELS + 3) * MOST_ROWS * MOST_STEP + 8)
#define GUARD         0xA5

static int32_t sums[MOST_CHANNELS * MOST_PIXELS * MOST_ROWS];
static _Alignas(4) uint8_t constants[MOST_CHANNELS * (RECORD_BYTES + 1)];
static _Alignas(4) uint8_t other[OUTPUT_BYTES], output[OUTPUT_BYTES], expected[OUTPUT_BYTES];
static uint32_t state = 7;

static int32_t between(int32_t least, int32_t most)
{
    state = state * 1664525u + 1013904223u;
    return least + (int32_t)((uint64_t)(state >> 8) * (uint32_t)(most - least + 1) >> 24);
}

/* One case; its elements lie as struct dory_neureka_elements says. */
struct made {
    struct dory_layer layer;
    struct dory_stages stages;
    struct dory_neureka_elements elements;
    struct dory_neureka_records records;
    uint32_t channels;
};

static void draw_layer(struct made *made)
{
    struct dory_layer *layer = &made->layer;
    bool is_away = between(0, 1);
    layer->normalisation = is_away ? DORY_NORMALISE_HIGH : DORY_NORMALISE_CLAMPED;
    layer->rounding = is_away ? DORY_ROUND_AWAY : DORY_ROUND_FLOOR;
    layer->output_bits = 8;
    layer->shift = 12;
    layer->minimum = between(0, 3) ? 0 : between(1, 60);
    layer->maximum = between(0, 2) ? 255 : between(100, 255);
    made->stages.input[0].multiplier = between(-3000, 9000);
    made->stages.input[1].multiplier = between(-3000, 9000);
    made->stages.first = (struct dory_stage){1, between(-400000, 400000), between(9, 15), 0, 255};
    made->stages.first.minimum = between(0, 3) ? 0 : between(1, 60);
    made->stages.first.maximum = between(0, 2) ? layer->maximum : between(100, 255);
    layer->stages = between(0, 2) ? &made->stages : 0;
}

static void draw_shape(struct made *made)
{
    struct dory_neureka_elements *elements = &made->elements;
    made->channels = (uint32_t)between(1, (int32_t)MOST_CHANNELS);
    elements->sums = sums;
    elements->output = output;
    elements->sum_step = made->channels;
    elements->output_step = (uint32_t)between((int32_t)made->channels, (int32_t)MOST_STEP);
    elements->pixels = (uint32_t)between(0, (int32_t)MOST_PIXELS);
    elements->rows = (uint32_t)between(0, (int32_t)MOST_ROWS);
    elements->output_skip = (uint32_t)between(0, 3) * elements->output_step;
    elements->constants = constants;
    elements->end_channel = made->channels;
    made->records = (struct dory_neureka_records){0, RECORD_BYTES, MOST_CHANNELS * RECORD_BYTES};
}

/* WIDE or, where the layer rounds down, now and then its own form. */
static void draw_channel(const struct made *made, uint32_t channel)
{
    bool is_away = made->layer.rounding == DORY_ROUND_AWAY, is_wide = is_away || between(0, 9) > 0;
    int32_t words[4] = {between(-100000, 1000000), between(8, 14), between(-100000, 100000), is_away ? between(0, 9999) : 0};
    if (!is_wide) {
        words[0] = between(-5000, 0);
        words[1] = between(1, 20000);
        words[2] = between(1, 40);
        words[3] = 5000 * 40;
    }
    memcpy(constants + channel * RECORD_BYTES, words, sizeof words);
    constants[MOST_CHANNELS * RECORD_BYTES + channel] = is_wide;
}

/* ---- what it is to be ---- */

static int32_t clip(int32_t value, int32_t minimum, int32_t maximum)
{
    return value < minimum ? minimum : value > maximum ? maximum : value;
}

static int32_t element_of(const struct made *made, uint32_t channel, int32_t sum)
{
    const struct dory_layer *layer = &made->layer;
    int32_t words[4];
    if (!constants[MOST_CHANNELS * RECORD_BYTES + channel]) {
        return dory_normalise(layer, constants, channel, sum);
    }
    memcpy(words, constants + channel * RECORD_BYTES, sizeof words);
    int32_t z = sum - (sum < words[2] ? words[3] : 0);
    return clip((z + words[0]) >> words[1], layer->minimum, layer->maximum);
}

static int32_t sum_of(const struct dory_stages *stages, int32_t element, int32_t added)
{
    int64_t line = stages->input[0].multiplier * element + stages->input[1].multiplier * added + stages->first.addend;
    return clip((int32_t)(line >> stages->first.divisor), stages->first.minimum, stages->first.maximum);
}

static void expect_elements(const struct made *made)
{
    const struct dory_neureka_elements *elements = &made->elements;
    uint32_t row_bytes = elements->pixels * elements->output_step;
    memset(expected, GUARD, sizeof expected);
    for (uint32_t row = 0; row < elements->rows; row++) {
        for (uint32_t i = 0; i < elements->pixels * made->channels; i++) {
            uint32_t channel = i % made->channels, at = i / made->channels * elements->output_step + channel;
            int32_t value = element_of(made, channel, sums[row * elements->pixels * made->channels + i]);
            if (made->layer.stages) {
                value = sum_of(&made->stages, value, other[row * row_bytes + at]);
            }
            expected[row * (row_bytes + elements->output_skip) + at] = (uint8_t)value;
        }
    }
}

void neureka_try_elements(uint32_t number)
{
    struct made made = {.channels = 0};
    uint32_t start = state;
    draw_layer(&made);
    draw_shape(&made);
    for (uint32_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        sums[i] = between(-1000000, 2000000);
    }
    for (uint32_t i = 0; i < sizeof other; i++) {
        other[i] = (uint8_t)between(0, 255);
    }
    for (uint32_t channel = 0; channel < made.channels; channel++) {
        draw_channel(&made, channel);
    }
    expect_elements(&made);
    memset(output, GUARD, sizeof output);
    if (made.layer.stages) {
        dory_neureka_add_wide(&made.layer, &made.elements, other, &made.records);
    } else {
        dory_neureka_finish_wide(&made.layer, &made.elements, &made.records);
    }
    EXPECT(memcmp(output, expected, sizeof output) == 0, "elements %u (state %u): %ux%ux%u, form %u, %s", (unsigned)number,
           (unsigned)start, (unsigned)made.elements.rows, (unsigned)made.elements.pixels, (unsigned)made.channels,
           made.layer.normalisation, made.layer.stages ? "with an addition" : "alone");
}
