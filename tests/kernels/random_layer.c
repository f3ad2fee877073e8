#include "random_layer.h"

#include <string.h>

uint32_t random_state;

uint32_t random_word(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

uint32_t random_up_to(uint32_t most) { return random_word() % (most + 1); }
uint32_t random_between(uint32_t least, uint32_t most) { return least + random_up_to(most - least); }
bool one_in(uint32_t n) { return random_up_to(n - 1) == 0; }

bool has_weights(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONVOLUTION || layer->operation == DORY_DEPTHWISE || layer->operation == DORY_GROUPED;
}

static void random_clip(struct dory_layer *layer)
{
    uint32_t largest = layer->output_bits < 8 ? (1u << layer->output_bits) - 1 : 255;
    layer->minimum = 0;
    layer->maximum = (int32_t)(one_in(3) ? random_up_to(largest - 1) : largest);
    if (layer->output_bits == 32) {
        layer->minimum = INT32_MIN;
        layer->maximum = INT32_MAX;
    } else if (one_in(4)) {
        layer->output_is_signed = 1;
        layer->maximum = (int32_t)largest / 2;
        layer->minimum = -layer->maximum - 1;
    }
}

uint8_t usual_shift(const struct dory_layer *layer)
{
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    taps *= layer->operation == DORY_CONVOLUTION || is_matrix_product(layer) ? layer->input_channels : 1;
    taps *= layer->operation == DORY_GROUPED ? layer->grouped.channels : 1;
    uint32_t shift = 9u + layer->input_bits + layer->weight_bits;
    while (taps > 1) {
        taps /= 4; /* sums grow with the root of the number of products */
        shift++;
    }
    shift -= 8 + (layer->output_bits < 8 ? layer->output_bits : 8u);
    return (uint8_t)(shift < 32 ? shift : 0);
}

void divide_clamped(struct dory_layer *layer, uint32_t divisor)
{
    unsigned log2 = 31;
    while (divisor >> log2 == 0) {
        log2--;
    }
    layer->normalisation = DORY_NORMALISE_CLAMPED;
    layer->divisor = divisor;
    layer->minimum = 0;
    layer->output_is_signed = 0;
    layer->shift = (uint8_t)log2;
    layer->reciprocal = divisor & (divisor - 1) ? (uint32_t)(((uint64_t)1 << (32 + log2)) / divisor + 1) : 0;
}

/* 2^n and 2^n - 1 are what real networks have; at most 2^24, so that 256 times as much has 32 bits. */
static void random_clamped(struct dory_layer *layer)
{
    uint32_t power = 1u << random_between(9, 24), largest = (1u << layer->output_bits) - 1;
    layer->maximum = (int32_t)(one_in(4) ? random_up_to(largest) : largest);
    divide_clamped(layer, one_in(2) ? power - 1 : one_in(3) ? power - random_between(2, 100) : power);
    uint64_t bound = ((uint64_t)layer->maximum + 1) * (uint64_t)layer->divisor,
             power_64 = (uint64_t)1 << (32 + layer->shift);
    uint64_t error = layer->reciprocal * (uint64_t)layer->divisor - power_64;
    if (layer->reciprocal && error != 0 &&
        (bound - 1) > (power_64 - 1) / error) { /* not exact: the generator takes another form */
        divide_clamped(layer, power);
    }
}

static void random_high(struct dory_layer *layer)
{
    uint32_t largest = layer->output_bits < 8 ? (1u << layer->output_bits) - 1 : 255;
    layer->normalisation = DORY_NORMALISE_HIGH;
    layer->rounding = (uint8_t)random_up_to(DORY_ROUND_EVEN);
    layer->left_shift = (uint8_t)random_between(layer->rounding == DORY_ROUND_AWAY, 3);
    if (!layer->output_is_signed && layer->output_bits <= 8 && one_in(3)) { /* a ReLU's zero point */
        layer->minimum = (int32_t)random_up_to(largest / 2);
        layer->maximum = (int32_t)random_between(largest / 2, largest);
    }
}

struct random_scale random_scale(const struct dory_layer *layer)
{
    uint32_t usual = usual_shift(layer) + layer->left_shift, less = random_between(3, 5);
    int32_t shift = usual < less ? 0 : usual - less > 31 ? 31 : (int32_t)(usual - less);
    int64_t one = (int64_t)1 << shift;
    int64_t zero_point = (int64_t)random_up_to(255) & (layer->rounding == DORY_ROUND_EVEN ? ~1 : ~0);
    int64_t rounding = layer->rounding == DORY_ROUND_FLOOR ? (int64_t)random_word() >> 16 : (one >> 1) - (one > 1);
    int32_t multiplier = one_in(3) ? 1 << 30 : (int32_t)random_between(1u << 29, INT32_MAX);
    return (struct random_scale){multiplier, zero_point * one + rounding, shift};
}

void share_scale(struct dory_layer *layer)
{
    struct random_scale scale = random_scale(layer);
    layer->normalisation = DORY_NORMALISE_SHARED;
    layer->multiplier = scale.multiplier;
    layer->addend = (int32_t)scale.addend; /* as the blob cuts it */
    layer->shift = (uint8_t)scale.shift;
}

static void random_split(struct dory_layer *layer)
{
    layer->normalisation = DORY_NORMALISE_SPLIT;
    layer->rounding = one_in(2) ? DORY_ROUND_AWAY : DORY_ROUND_FLOOR;
    layer->output_bits = 8;
    layer->output_is_signed = 0;
    layer->minimum = 0;
    layer->maximum = 255;
}

/* A divisor near 2^shift, by which fill_constants makes the multipliers; or a small one. */
static void random_division(struct dory_layer *layer)
{
    int64_t power = (int64_t)1 << layer->shift;
    layer->normalisation = DORY_NORMALISE_DIVIDE;
    layer->divisor = one_in(8)   ? (int64_t)random_between(1, 300)
                     : one_in(2) ? power - (power > 1)
                                 : power / 2 + (power >> 8) * (int64_t)random_up_to(255) + 1;
    if (one_in(8)) {
        layer->output_bits = 32;
        layer->output_is_signed = 1;
        layer->minimum = INT32_MIN;
        layer->maximum = INT32_MAX;
    }
}

static struct dory_stage random_stage(uint32_t gain)
{
    struct dory_stage stage = {
        .multiplier = (int64_t)random_between(1, 8), .divisor = 1, .minimum = INT32_MIN, .maximum = INT32_MAX};
    stage.addend = (int64_t)random_up_to(200) - 100;
    if (gain) {
        stage.divisor = one_in(3) ? (int64_t)random_between(1, 8 * gain) : 1 << random_up_to(5);
        stage.minimum = one_in(3) ? -128 : 0;
        stage.maximum = stage.minimum ? 127 : 255;
    }
    if (one_in(20)) { /* beyond 32 bits */
        stage.multiplier <<= 30;
        stage.divisor <<= 30;
    }
    return stage;
}

/* One scale in the form DORY_NORMALISE_HIGH; what a sum is at most depends on the operation. */
static void random_high_stages(struct dory_layer *layer, struct dory_stages *stages)
{
    static const struct dory_stage none = {.multiplier = 1, .divisor = 1, .minimum = INT32_MIN, .maximum = INT32_MAX};
    bool pool = layer->operation == DORY_AVERAGE_POOL || layer->operation == DORY_MAXIMUM_POOL;
    uint32_t usual = layer->operation == DORY_ADDITION ? 18 : layer->operation == DORY_MULTIPLICATION ? 8 : 3;
    random_clip(layer);
    random_high(layer);
    stages->input[0] = stages->input[1] = stages->first = none;
    if (layer->operation != DORY_ADDITION) {
        stages->input[0].addend = (int64_t)random_up_to(pool ? 4000 : 255) - (pool ? 4000 : 255);
        stages->input[1].addend = pool ? 0 : (int64_t)random_up_to(255) - 255;
    }
    stages->first.multiplier = one_in(3) ? 1 << 30 : (int64_t)random_between(1u << 29, INT32_MAX);
    stages->first.divisor = (int64_t)1 << (usual + layer->left_shift + random_up_to(2));
    stages->first.addend = (int64_t)random_up_to(127) * 2 * stages->first.divisor + stages->first.divisor / 2 - 1;
    stages->has_second = 0;
    layer->stages = stages;
}

static void random_stages(struct dory_layer *layer, struct dory_stages *stages)
{
    if (layer->operation == DORY_MULTIPLICATION || one_in(3)) {
        random_high_stages(layer, stages);
        return;
    }
    if (layer->operation == DORY_ADDITION && random_addition(layer, stages)) {
        return;
    }
    uint32_t gain = layer->operation == DORY_AVERAGE_POOL ? (uint32_t)layer->kernel_height * layer->kernel_width : 2;
    layer->stages = stages;
    stages->input[0] = random_stage(0);
    stages->input[1] = random_stage(0);
    stages->first = random_stage(gain);
    if (layer->operation == DORY_MAXIMUM_POOL && !one_in(4)) {
        stages->first = (struct dory_stage){.multiplier = 1, .divisor = 1, .minimum = INT32_MIN, .maximum = INT32_MAX};
    }
    stages->has_second = one_in(4);
    stages->second = random_stage(2);
    layer->output_is_signed = stages->first.minimum < 0;
    int32_t half = 1 << (layer->output_bits - 1);
    layer->minimum = layer->output_is_signed ? -half : 0;
    layer->maximum = layer->output_is_signed ? half - 1 : 2 * half - 1;
    if (layer->output_bits == 16 && one_in(2)) {
        stages->first.maximum = INT32_MAX;
    }
}

/* Of any element of 32 bits, without leaving 64. */
static struct dory_stage random_wide_stage(void)
{
    struct dory_stage stage = {.multiplier = 1, .divisor = 1, .minimum = INT32_MIN, .maximum = INT32_MAX};
    if (one_in(3)) {
        return stage;
    }
    stage.multiplier = (int64_t)random_up_to(1u << random_between(1, 29)) - (one_in(4) ? 1 << 20 : 0);
    stage.addend = ((int64_t)random_up_to(1u << 30) - (1 << 29)) * (1 << random_up_to(28));
    stage.divisor = one_in(8) ? (int64_t)random_between(1, INT32_MAX) : (int64_t)1 << random_up_to(45);
    if (one_in(4)) {
        stage.minimum = -(int32_t)random_up_to(1u << 20);
        stage.maximum = (int32_t)random_up_to(1u << 20);
    }
    return stage;
}

/* Products of bytes and what is added to them, whose floor has 32 bits before it is clipped to one byte or two. */
static void random_product(struct dory_layer *layer, struct dory_stages *stages)
{
    const struct dory_stage plain = {.multiplier = 1, .divisor = 1, .minimum = INT32_MIN, .maximum = INT32_MAX};
    layer->output_bits = one_in(2) ? 8 : 16;
    layer->output_is_signed = one_in(3);
    layer->normalisation = one_in(2) ? DORY_NORMALISE_32 : DORY_NORMALISE_NONE;
    layer->stages = stages;
    stages->input[0] = stages->input[1] = stages->first = plain;
    stages->input[0].addend = -(int64_t)random_up_to(255);
    stages->input[1].addend = -(int64_t)random_up_to(255);
    if (layer->normalisation == DORY_NORMALISE_32) {
        stages->first.multiplier = random_up_to(1000);
        stages->first.addend = (int64_t)random_up_to(1 << 29) - (1 << 28);
        stages->first.divisor = (int64_t)1 << random_up_to(24);
    }
    int64_t span = (int64_t)1 << layer->output_bits;
    layer->minimum = layer->output_is_signed ? (int32_t)(-span / 2) : 0;
    layer->maximum = (int32_t)(layer->output_is_signed ? span / 2 - 1 : span - 1);
}

/* Elements of whole bytes; stages that only 64 bits hold. Factors of products have 16 bits, so that these have 32. */
static void random_wide(struct dory_layer *layer, struct dory_stages *stages)
{
    bool multiplies = layer->operation == DORY_MULTIPLICATION;
    layer->input_bits = (uint8_t)(8u << random_up_to(multiplies ? 1 : 2));
    layer->second_input_bits = (uint8_t)(8u << random_up_to(multiplies ? 1 : 2));
    layer->output_bits = (uint8_t)(8u << random_up_to(2));
    layer->output_is_signed = layer->output_bits == 32 || one_in(2);
    if (multiplies && one_in(4)) {
        layer->second_input_bits = 8; /* so that a shifted product has 32 bits, as it must */
        random_high_stages(layer, stages);
        return;
    }
    layer->normalisation = DORY_NORMALISE_64;
    layer->stages = stages;
    stages->input[0] = random_wide_stage();
    stages->input[1] = random_wide_stage();
    for (unsigned i = 0; multiplies && i < 2; i++) {
        stages->input[i].minimum = INT16_MIN;
        stages->input[i].maximum = INT16_MAX;
    }
    stages->first = random_wide_stage();
    stages->has_second = one_in(6);
    stages->second = random_wide_stage();
    int64_t span = (int64_t)1 << layer->output_bits;
    layer->minimum = layer->output_is_signed ? (int32_t)(-span / 2) : 0;
    layer->maximum = (int32_t)(layer->output_is_signed ? span / 2 - 1 : span - 1);
}

static void random_kernel_size(struct dory_layer *layer, const char *name)
{
    if (strstr(name, "_3x3_")) {
        layer->kernel_height = layer->kernel_width = 3;
        layer->stride_height = layer->stride_width = strstr(name, "_stride_2") ? 2 : 1;
        return;
    }
    static const uint8_t sizes[] = {1, 1, 2, 3, 3, 3, 4, 5, 7};
    layer->kernel_height = layer->kernel_width = sizes[random_up_to(sizeof sizes - 1)];
    if (one_in(4)) {
        layer->kernel_width = sizes[random_up_to(sizeof sizes - 1)];
    }
    if (layer->operation == DORY_DEPTHWISE && one_in(5)) { /* along one dimension, or large */
        layer->kernel_height = (uint16_t)(one_in(2) ? 1 : random_between(1, 32));
        layer->kernel_width = (uint16_t)(layer->kernel_height > 1 && !one_in(8) ? 1 : random_between(1, 20));
    }
    if (!has_weights(layer) && one_in(8)) { /* of pools: sums beyond 16 bits */
        layer->kernel_height = (uint16_t)random_between(8, 24);
        layer->kernel_width = (uint16_t)random_between(8, 24);
    }
    layer->stride_height = layer->stride_width = (uint16_t)random_between(1, 2);
    if (one_in(5)) {
        layer->stride_height = (uint16_t)random_between(1, 3);
        layer->stride_width = (uint16_t)random_between(1, 4);
    }
    if (one_in(10)) {
        layer->dilation_height = (uint16_t)random_between(1, 2);
        layer->dilation_width = (uint16_t)random_between(1, 3);
    }
    if (layer->operation == DORY_CONVOLUTION && one_in(6)) { /* along a row */
        layer->kernel_height = layer->stride_width = 1;
        layer->kernel_width = (uint16_t)random_between(2, 12);
        layer->dilation_width = (uint16_t)random_between(1, 5);
    }
}

static uint8_t random_bits(void) { return (uint8_t)(one_in(3) ? 2u << random_up_to(2) : 8); }
static uint8_t random_wide_bits(void) { return (uint8_t)(2u << random_up_to(3)); }

/* Of a kernel, by a part of its name; of those that have none of them, any. */
static uint8_t random_operation(const char *name)
{
    static const struct {
        const char *part;
        uint8_t operation;
    } known[] = {
        {"_grouped", DORY_GROUPED},       {"_depthwise", DORY_DEPTHWISE},     {"_linear", DORY_CONVOLUTION},
        {"_line", DORY_DEPTHWISE},        {"_convolution", DORY_CONVOLUTION}, {"_gather", DORY_CONVOLUTION},
        {"_narrow", DORY_CONVOLUTION},    {"_addition", DORY_ADDITION},       {"_multiplication", DORY_MULTIPLICATION},
        {"_maximum", DORY_MAXIMUM_POOL},  {"_average", DORY_AVERAGE_POOL},    {"_table", DORY_TABLE},
        {"_matrix", DORY_MATRIX_PRODUCT},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strstr(name, known[i].part)) {
            return known[i].operation;
        }
    }
    return (uint8_t)random_up_to(DORY_ADDITION);
}

/* The forms that a kernel's name tells, and others where it tells none. */
static void random_narrow_form(struct dory_layer *layer, const char *name)
{
    bool split = strstr(name, "_split"), clamped = strstr(name, "_clamped"), shared = strstr(name, "_shared");
    bool high = shared || strstr(name, "_high"), any = !split && !clamped && !high;
    if (split || (any && one_in(3))) {
        random_split(layer);
    } else if (high || (any && one_in(2))) {
        random_high(layer);
        if (shared || one_in(2)) {
            share_scale(layer);
        }
    } else {
        random_clamped(layer);
    }
}

static bool tells_form(const char *name)
{
    return strstr(name, "_split") || strstr(name, "_clamped") || strstr(name, "_high") || strstr(name, "_shared");
}

/* Of a normalisation and bits that are chosen. */
static void random_requantisation(struct dory_layer *layer, const char *name)
{
    layer->shift = (uint8_t)(usual_shift(layer) + (layer->normalisation == DORY_NORMALISE_64 ? random_up_to(30) : 0));
    random_clip(layer);
    if (layer->normalisation == DORY_NORMALISE_64 && one_in(2)) {
        random_division(layer);
    } else if (layer->output_bits <= 8 && (tells_form(name) || one_in(2))) {
        random_narrow_form(layer, name);
    }
}

/* Of bytes; the constants come with the data, as a convolution's do. */
static void random_matrix_product(struct dory_layer *layer, struct dory_stages *stages, const char *name)
{
    static const struct dory_stage none = {.multiplier = 1, .divisor = 1, .minimum = INT32_MIN, .maximum = INT32_MAX};
    if (one_in(4)) {
        layer->input_channels = (uint16_t)random_between(1, 3); /* tiny heads, which hardly come by chance */
    }
    layer->normalisation = (uint8_t)random_up_to(DORY_NORMALISE_64);
    layer->output_bits = layer->normalisation == DORY_NORMALISE_NONE ? 32 : 8;
    layer->matrix_product.pixel_bytes = one_in(3) ? UINT16_MAX : 0; /* wider than any: rows are joined */
    random_requantisation(layer, name);
    layer->stages = stages;
    stages->input[0] = stages->input[1] = stages->first = stages->second = none;
    stages->has_second = 0;
    for (unsigned i = 0; i < 2; i++) {
        stages->input[i].addend = -(int64_t)random_up_to(255);
    }
}

static void random_weighted(struct dory_layer *layer, const char *name)
{
    layer->normalisation = (uint8_t)(one_in(2) ? DORY_NORMALISE_32 : random_up_to(DORY_NORMALISE_64));
    layer->input_bits = one_in(8) ? 16 : random_bits();
    layer->weight_bits = layer->operation == DORY_DEPTHWISE ? 8 : random_bits();
    layer->output_bits = layer->normalisation == DORY_NORMALISE_NONE ? 32 : one_in(8) ? 16 : random_bits();
    random_requantisation(layer, name);
}

/* Additions, multiplications and pools. */
static void random_elements(struct dory_layer *layer, struct dory_stages *stages)
{
    if (layer->operation != DORY_MULTIPLICATION && one_in(2)) {
        layer->input_bits = random_wide_bits();
        layer->second_input_bits = random_wide_bits();
        layer->output_bits = random_wide_bits();
    }
    random_stages(layer, stages);
}

/* What every layer has: inputs of bytes, and a window of one pixel. */
static void random_inputs(struct dory_layer *layer)
{
    if ((layer->operation == DORY_MULTIPLICATION || layer->operation == DORY_ADDITION) && one_in(2)) {
        layer->second_repeats = (uint8_t)random_up_to(DORY_REPEATS_PIXEL | DORY_REPEATS_CHANNEL);
    }
    if (layer->operation == DORY_GROUPED) {
        layer->grouped.channels = (uint16_t)(one_in(2) ? 4 * random_between(1, 4) : random_between(1, 12));
        layer->grouped.outputs = (uint16_t)(one_in(2) ? 4 * random_between(1, 4) : random_between(1, 12));
    }
    layer->input_bits = layer->second_input_bits = layer->weight_bits = layer->output_bits = 8;
    layer->input_is_signed = one_in(4);
    layer->second_input_is_signed = one_in(4);
    layer->stride_height = layer->stride_width = layer->kernel_height = layer->kernel_width = 1;
    layer->dilation_height = layer->dilation_width = 1;
    layer->input_channels =
        (uint16_t)(one_in(2) ? 4 * random_between(1, 16) : random_between(1, one_in(2) ? 4 : 40)); /* 4: first layers */
    layer->divisor = 1;
}

void random_layer(struct dory_layer *layer, struct dory_stages *stages, const char *name)
{
    memset(layer, 0, sizeof *layer);
    layer->operation = random_operation(name);
    random_inputs(layer);
    if (has_weights(layer) || layer->operation == DORY_MAXIMUM_POOL || layer->operation == DORY_AVERAGE_POOL) {
        random_kernel_size(layer, name);
    }
    if (is_matrix_product(layer)) {
        random_matrix_product(layer, stages, name);
    } else if (has_weights(layer)) {
        random_weighted(layer, name);
    } else if (strstr(name, "_wide")) {
        random_wide(layer, stages);
    } else if (layer->operation == DORY_MULTIPLICATION && strstr(name, "_floor")) {
        random_product(layer, stages);
    } else if (layer->operation != DORY_TABLE) {
        random_elements(layer, stages);
    }
}
