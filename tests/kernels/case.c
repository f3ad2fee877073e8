#include "case.h"

#include <stdio.h>
#include <string.h>

#include "reference.h"
#include "xpulpv2.h"

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

/* ---- the kernels ------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    dory_kernel_function *function;
} functions[] = {
#define FUNCTION(name) {"dory_xpulpv2_" #name, dory_xpulpv2_##name},
    DORY_XPULPV2_KERNELS(FUNCTION)};

static dory_kernel_function *function_of(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            return functions[i].function;
        }
    }
    return NULL;
}

static dory_kernel_function *reference_of(uint8_t operation)
{
    switch (operation) {
    case DORY_CONVOLUTION: return dory_reference_convolution;
    case DORY_DEPTHWISE: return dory_reference_depthwise;
    case DORY_ADDITION: return dory_reference_addition;
    case DORY_COPY: return dory_reference_copy;
    case DORY_MULTIPLICATION: return dory_reference_multiplication;
    case DORY_TABLE: return dory_reference_table;
    default: return dory_reference_pool;
    }
}

static void use_kernel(struct test_case *test, const struct dory_kernel_description *description)
{
    test->description = description;
    test->kernel = function_of(description->name);
    test->reference = reference_of(test->layer.operation);
}

/* ---- random numbers ---------------------------------------------------------------------------------------- */

static uint32_t random_state;

static uint32_t random_word(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

static uint32_t random_up_to(uint32_t most) { return random_word() % (most + 1); }
static uint32_t random_between(uint32_t least, uint32_t most) { return least + random_up_to(most - least); }
static bool one_in(uint32_t n) { return random_up_to(n - 1) == 0; }

static void fill(void *start, uint32_t bytes)
{
    uint8_t *p = start;
    for (uint32_t i = 0; i < bytes; i++) {
        p[i] = (uint8_t)(random_word() >> 11);
    }
}

/* ---- layers ------------------------------------------------------------------------------------------------ */

static bool has_weights(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONVOLUTION || layer->operation == DORY_DEPTHWISE;
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

/* Factors of about 2^8 / (the largest sum), so that all of the output's range is seen. */
static uint8_t usual_shift(const struct dory_layer *layer)
{
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    taps *= layer->operation == DORY_CONVOLUTION ? layer->input_channels : 1;
    uint32_t shift = 9u + layer->input_bits + layer->weight_bits;
    while (taps > 1) {
        taps /= 4; /* sums grow with the root of the number of products */
        shift++;
    }
    shift -= 8 + (layer->output_bits < 8 ? layer->output_bits : 8u);
    return (uint8_t)(shift < 32 ? shift : 0);
}

/* The clamped form of a division by `divisor`, as the generator makes it (see dory/layer.h). */
static void divide_clamped(struct dory_layer *layer, uint32_t divisor)
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
    layer->minimum = layer->output_is_signed ? -128 : 0;
    layer->maximum = layer->output_is_signed ? 127 : 255;
}

static void random_kernel_size(struct dory_layer *layer)
{
    static const uint8_t sizes[] = {1, 1, 2, 3, 3, 3, 4, 5, 7};
    layer->kernel_height = layer->kernel_width = sizes[random_up_to(sizeof sizes - 1)];
    if (one_in(4)) {
        layer->kernel_width = sizes[random_up_to(sizeof sizes - 1)];
    }
    layer->stride_height = layer->stride_width = (uint16_t)random_between(1, 2);
    if (one_in(5)) {
        layer->stride_height = (uint16_t)random_between(1, 3);
        layer->stride_width = (uint16_t)random_between(1, 4);
    }
    layer->dilation_height = layer->dilation_width = 1;
    if (one_in(10)) {
        layer->dilation_height = (uint16_t)random_between(1, 2);
        layer->dilation_width = (uint16_t)random_between(1, 3);
    }
}

static uint8_t random_bits(void) { return (uint8_t)(one_in(3) ? 2u << random_up_to(2) : 8); }

static void random_layer(struct dory_layer *layer, struct dory_stages *stages)
{
    memset(layer, 0, sizeof *layer);
    layer->operation = (uint8_t)random_up_to(DORY_ADDITION);
    if (one_in(6)) {
        layer->operation = one_in(2) ? DORY_TABLE : DORY_MULTIPLICATION;
        layer->second_is_pixel = layer->operation == DORY_MULTIPLICATION && one_in(2);
    }
    layer->input_bits = layer->second_input_bits = layer->weight_bits = layer->output_bits = 8;
    layer->input_is_signed = one_in(4);
    layer->second_input_is_signed = one_in(4);
    layer->stride_height = layer->stride_width = layer->kernel_height = layer->kernel_width = 1;
    layer->dilation_height = layer->dilation_width = 1;
    layer->input_channels =
        (uint16_t)(one_in(2) ? 4 * random_between(1, 16) : random_between(1, one_in(2) ? 4 : 40)); /* 4: first layers */
    layer->divisor = 1;
    if (has_weights(layer) || layer->operation == DORY_MAXIMUM_POOL || layer->operation == DORY_AVERAGE_POOL) {
        random_kernel_size(layer);
    }
    if (has_weights(layer)) {
        layer->normalisation = (uint8_t)(one_in(2) ? DORY_NORMALISE_32 : random_up_to(DORY_NORMALISE_64));
        layer->input_bits = random_bits();
        layer->weight_bits = layer->operation == DORY_DEPTHWISE ? 8 : random_bits();
        layer->output_bits = layer->normalisation == DORY_NORMALISE_NONE ? 32 : random_bits();
        layer->shift = (uint8_t)(usual_shift(layer) + (layer->normalisation == DORY_NORMALISE_64 ? random_up_to(30) : 0));
        random_clip(layer);
        if (layer->normalisation == DORY_NORMALISE_64 && one_in(2)) {
            random_division(layer);
        } else if (layer->output_bits <= 8 && one_in(2)) {
            if (one_in(2)) {
                random_high(layer);
            } else {
                random_clamped(layer);
            }
        }
    } else if (layer->operation != DORY_TABLE) {
        random_stages(layer, stages);
    }
}

/* ---- tiles ------------------------------------------------------------------------------------------------- */

static void shape_tile(struct test_case *test)
{
    const struct dory_layer *layer = &test->layer;
    struct dory_tile *tile = &test->tile;
    tile->rows = (uint16_t)test->shape.rows;
    tile->columns = (uint16_t)test->shape.columns;
    tile->channels = (uint16_t)test->shape.channels;
    tile->input_channels = (uint16_t)test->shape.input_channels;
    tile->input_rows =
        (uint16_t)dory_input_extent(tile->rows, layer->kernel_height, layer->stride_height, layer->dilation_height);
    tile->input_columns =
        (uint16_t)dory_input_extent(tile->columns, layer->kernel_width, layer->stride_width, layer->dilation_width);
    if (layer->input_layout == DORY_CHW) {
        tile->input_columns = layer->input_width;
    }
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    taps *= layer->operation == DORY_CONVOLUTION ? tile->input_channels : 1;
    test->macs = (uint64_t)tile->rows * tile->columns * tile->channels * taps;
}

/* CHW, where the kernel wants or knows it. */
static void choose_layouts(struct test_case *test, bool writes_chw, int16_t border)
{
    struct dory_layer *layer = &test->layer;
    if (test->description->reads_chw) {
        layer->input_layout = DORY_CHW;
        layer->padding_left = 1; /* rows of border are in the tile like others */
        layer->input_height =
            (uint16_t)dory_input_extent(layer->output_height, layer->kernel_height, layer->stride_height, 1);
        layer->input_width = (uint16_t)(layer->stride_width * layer->output_width);
    }
    layer->border_value = layer->input_layout == DORY_CHW ? border : 0; /* otherwise it is in the tile like all else */
    layer->output_layout = writes_chw ? DORY_CHW : DORY_HWC;
}

static void random_tile(struct test_case *test)
{
    struct dory_layer *layer = &test->layer;
    struct dory_tile *tile = &test->tile;
    struct dory_tile_shape *shape = &test->shape;
    memset(tile, 0, sizeof *tile);
    shape->rows = random_between(1, one_in(3) ? 20 : 8);
    shape->columns = random_between(1, one_in(3) ? 24 : 10);
    if (one_in(8)) {
        shape->rows = shape->columns = 1;
    }
    shape->channels = one_in(2) ? 4 * random_between(1, 12) : random_between(1, 30);
    shape->input_channels = layer->operation == DORY_CONVOLUTION ? layer->input_channels : shape->channels;
    layer->output_channels = (uint16_t)shape->channels;
    layer->output_height = (uint16_t)shape->rows;
    layer->output_width = (uint16_t)shape->columns;
    layer->input_channels = (uint16_t)shape->input_channels;
    layer->tile_input_channels = layer->input_channels;
    tile->first_chunk = tile->last_chunk = 1;
    if (test->description && test->description->can_tile_input_channels && one_in(4)) {
        shape->input_channels = dory_minimum(shape->input_channels, 4 * random_between(1, 8));
        tile->first_chunk = (uint8_t)random_up_to(1);
        tile->last_chunk = (uint8_t)random_up_to(1);
    }
    choose_layouts(test, test->description->writes_chw && layer->output_bits == 8 && one_in(3),
                   one_in(3) ? 0 : (int16_t)random_up_to(255));
    shape_tile(test);
}

static uint32_t random_position(uint32_t count, uint32_t unit)
{
    return one_in(8) ? UINT32_MAX : random_up_to(count - 1) * unit;
}

/* Positions for the tile, which is a part of the output. Channels are a run in half of the cases. */
static void random_map(struct test_case *test)
{
    struct dory_layer *layer = &test->layer;
    int32_t *next = test->map;
    uint32_t pixel = layer->input_channels, row = layer->input_width * pixel;
    bool run = one_in(2) && layer->output_channels <= layer->input_channels;
    for (uint32_t i = 0; i < layer->output_height; i++) {
        *next++ = (int32_t)random_position(layer->input_height, row);
    }
    for (uint32_t i = 0; i < layer->output_width; i++) {
        *next++ = (int32_t)random_position(layer->input_width, pixel);
    }
    for (uint32_t i = 0; i < layer->output_channels; i++) {
        *next++ = run ? (int32_t)i : (int32_t)random_position(pixel, 1);
    }
    layer->map = test->map;
}

/* Of the tile that is there already: a stride, or a map of a whole input. */
static void random_copy(struct test_case *test)
{
    struct dory_layer *layer = &test->layer;
    memset(layer, 0, sizeof *layer);
    layer->operation = DORY_COPY;
    layer->input_bits = layer->output_bits = 8;
    layer->border_value = (int16_t)random_up_to(255);
    layer->kernel_height = layer->kernel_width = layer->dilation_height = layer->dilation_width = 1;
    layer->stride_height = (uint16_t)random_between(1, 3);
    layer->stride_width = (uint16_t)random_between(1, 3);
    test->tile.first_channel = (uint16_t)(4 * random_up_to(3));
    layer->input_channels = (uint16_t)(test->tile.first_channel + test->shape.channels + random_up_to(3));
    if (!one_in(4)) {
        layer->kernel_height = layer->input_height = (uint16_t)random_between(1, 12);
        layer->kernel_width = layer->input_width = (uint16_t)random_between(1, 12);
        layer->stride_height = layer->stride_width = 0;
        layer->input_channels = (uint16_t)random_between(1, 40);
        test->tile.first_row = (uint16_t)random_up_to(5);
        test->tile.first_column = (uint16_t)random_up_to(5);
    }
    layer->output_height = (uint16_t)(test->tile.first_row + test->shape.rows);
    layer->output_width = (uint16_t)(test->tile.first_column + test->shape.columns);
    layer->output_channels = (uint16_t)(test->tile.first_channel + test->shape.channels);
    if (layer->stride_height == 0) {
        random_map(test);
    }
    test->shape.input_channels = layer->input_channels;
    shape_tile(test);
}

void test_case_random(struct test_case *test, uint32_t seed, uint64_t most_macs)
{
    random_state = seed * 2654435761u + 12345;
    memset(test, 0, sizeof *test);
    test->seed = seed;
    size_t count = 0;
    while (dory_xpulpv2_kernels[count]) {
        count++;
    }
    const struct dory_kernel_description *description = dory_xpulpv2_kernels[seed % count];
    do {
        random_layer(&test->layer, &test->stages);
        test->description = description;
        random_tile(test);
        if (strcmp(description->name, "dory_xpulpv2_copy") == 0) {
            random_copy(test);
        }
    } while (!dory_kernel_supports(description, &test->layer) || test->macs > most_macs);
    use_kernel(test, description);
    test->cores = random_between(1, 8);
}

void test_case_of(struct test_case *test, const struct test_shape *shape, unsigned cores)
{
    struct dory_layer *layer = &test->layer;
    random_state = 1;
    memset(test, 0, sizeof *test);
    layer->stages = &test->stages;
    layer->operation = shape->operation;
    layer->second_input_bits = 8;
    layer->input_bits = shape->input_bits ? shape->input_bits : 8;
    layer->weight_bits = shape->weight_bits ? shape->weight_bits : 8;
    layer->normalisation = shape->normalisation;
    layer->output_bits = has_weights(layer) && shape->normalisation == DORY_NORMALISE_NONE ? 32
                         : shape->output_bits                                              ? shape->output_bits
                                                                                           : 8;
    layer->kernel_height = layer->kernel_width = shape->kernel_size;
    layer->stride_height = layer->stride_width = shape->stride;
    layer->dilation_height = layer->dilation_width = 1;
    layer->input_channels = shape->operation == DORY_CONVOLUTION ? shape->input_channels : shape->channels;
    layer->output_channels = shape->channels;
    layer->output_height = shape->rows;
    layer->output_width = shape->columns;
    layer->shift = usual_shift(layer);
    layer->divisor = 1;
    layer->minimum = layer->output_bits == 32 ? INT32_MIN : 0;
    layer->maximum = layer->output_bits == 32 ? INT32_MAX : (1 << layer->output_bits) - 1;
    if (layer->normalisation == DORY_NORMALISE_CLAMPED) {
        divide_clamped(layer, shape->divisor);
    } else if (layer->normalisation == DORY_NORMALISE_HIGH) {
        layer->rounding = (uint8_t)shape->divisor;
        layer->left_shift = 2;
    } else if (layer->normalisation == DORY_NORMALISE_DIVIDE) {
        layer->divisor = shape->divisor;
    }
    layer->second_is_pixel = shape->second_is_pixel;
    test->stages.input[0] = test->stages.input[1] = (struct dory_stage){3, 40, 1, INT32_MIN, INT32_MAX};
    bool maximum = shape->operation == DORY_MAXIMUM_POOL;
    test->stages.first = (struct dory_stage){1, 0, maximum ? 1 : (int64_t)shape->kernel_size * shape->kernel_size, 0, 255};
    if (layer->normalisation == DORY_NORMALISE_HIGH && !has_weights(layer)) {
        test->stages.input[0] = test->stages.input[1] = (struct dory_stage){1, -40, 1, INT32_MIN, INT32_MAX};
        test->stages.first = (struct dory_stage){1 << 30, 1 << 16, 1 << 10, 0, 255};
    }
    test->shape = (struct dory_tile_shape){shape->rows, shape->columns, shape->channels, layer->input_channels};
    test->tile.first_chunk = test->tile.last_chunk = 1;
    test->cores = cores;
    for (size_t i = 0; dory_xpulpv2_kernels[i]; i++) {
        if (strcmp(dory_xpulpv2_kernels[i]->name, shape->kernel) == 0) {
            use_kernel(test, dory_xpulpv2_kernels[i]);
        }
    }
    choose_layouts(test, shape->writes_chw, layer->normalisation == DORY_NORMALISE_HIGH ? 17 : 0);
    shape_tile(test);
}

/* ---- memory ------------------------------------------------------------------------------------------------ */

void test_memory_start(struct test_memory *memory, void *start, size_t bytes)
{
    memory->start = memory->next = start;
    memory->end = memory->start + bytes;
    memory->full = false;
    PERMIT(start, bytes);
    memset(start, GUARD, bytes);
    FORBID(start, bytes);
}

/* Buffers start on words, and as in L1 whole words may be read; the last one's rest is filled like a guard and checked. */
static void *allocate(struct test_memory *memory, uint32_t bytes)
{
    uint8_t *buffer = memory->next + GUARD_BYTES;
    uint32_t words_bytes = dory_round_up(bytes, 4);
    if ((size_t)(memory->end - memory->next) < words_bytes + 2 * GUARD_BYTES) {
        memory->full = true;
        return memory->start;
    }
    memory->next = buffer + words_bytes;
    PERMIT(buffer, words_bytes);
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

static uint32_t weight_bytes_of_quad(const struct test_case *test)
{
    const struct dory_layer *layer = &test->layer;
    return layer->operation == DORY_CONVOLUTION ? dory_chunk_bytes(layer, test->tile.input_channels)
                                                : dory_depthwise_quad_weight_bytes(layer);
}

/* Random weights with the zeros at the end, or behind each row of a depth-wise layer, that the blob's format asks for. */
static void fill_weights(const struct test_case *test, uint8_t *quad, uint32_t bytes)
{
    const struct dory_layer *layer = &test->layer;
    bool convolution = layer->operation == DORY_CONVOLUTION;
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    uint32_t run = convolution ? taps * test->tile.input_channels : layer->kernel_width, words = (run + 3) / 4;
    for (uint32_t i = 0; i < bytes; i++) {
        uint32_t word = convolution ? i / (2u * layer->weight_bits) % words : i / 4 % words;
        quad[i] = word * 4 + i % 4 < run ? (uint8_t)(random_word() >> 9) : 0;
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

/* A multiplier of which the high half is about the same for sums of the usual size, or a power of two, for there are ties.
 */
static void fill_high_lane(const struct dory_layer *layer, uint8_t **constants)
{
    uint32_t usual = usual_shift(layer) + layer->left_shift, less = random_between(3, 5);
    int64_t shift = usual < less ? 0 : usual - less > 31 ? 31 : usual - less, one = (int64_t)1 << shift;
    int64_t multiplier = one_in(3) ? 1 << 30 : (int64_t)random_between(1u << 29, INT32_MAX);
    int64_t zero_point = (int64_t)random_up_to(255) & (layer->rounding == DORY_ROUND_EVEN ? ~1 : ~0);
    int64_t rounding = layer->rounding == DORY_ROUND_FLOOR ? (int64_t)random_word() >> 16 : (one >> 1) - (one > 1);
    int64_t bias = (int64_t)1 << dory_minimum(usual_shift(layer) + 6u, 24);
    store_constant(constants, (int64_t)random_up_to((uint32_t)(2 * bias)) - bias, 4);
    store_constant(constants, one_in(10) ? -multiplier : multiplier, 4);
    store_constant(constants, zero_point * one + rounding, 4);
    store_constant(constants, shift, 4);
}

static void fill_constants(const struct test_case *test, uint8_t *constants)
{
    const struct dory_layer *layer = &test->layer;
    bool wide = layer->normalisation == DORY_NORMALISE_64 || layer->normalisation == DORY_NORMALISE_DIVIDE;
    uint32_t more = wide ? layer->shift - (uint32_t)usual_shift(layer) : 0;
    for (unsigned lane = 0; lane < 4; lane++) {
        int64_t addend = (int64_t)random_up_to(255) << (layer->shift > 1 ? layer->shift - 1 : 0);
        switch (layer->normalisation) {
        case DORY_NORMALISE_NONE: store_constant(&constants, (int64_t)random_word() >> 8, 4); break;
        case DORY_NORMALISE_32:
            store_constant(&constants, (int64_t)random_between(1, 8), 4);
            store_constant(&constants, addend - (int64_t)(random_word() >> 16), 4);
            break;
        case DORY_NORMALISE_CLAMPED: fill_clamped_lane(layer, &constants); break;
        case DORY_NORMALISE_HIGH: fill_high_lane(layer, &constants); break;
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
    return blob;
}

/* Tables whose entries, two of which are added, have 28 bits. */
static void *place_table(const struct test_case *test, struct test_memory *memory)
{
    uint32_t bytes = dory_table_bytes(&test->layer);
    int32_t *table = allocate(memory, bytes);
    for (uint32_t i = 0; i < bytes / 4 && !memory->full; i++) {
        table[i] = test->layer.operation == DORY_TABLE ? (int32_t)random_word() : (int32_t)random_word() >> 4;
    }
    return table;
}

static void *place_input(const struct test_case *test, struct test_memory *memory, unsigned which)
{
    uint32_t pixel_bytes = dory_element_bytes(test->tile.input_channels, test->layer.input_bits);
    uint32_t bytes = (uint32_t)test->tile.input_rows * test->tile.input_columns * pixel_bytes;
    if (which == 1 && test->layer.second_is_pixel) {
        bytes = pixel_bytes;
    }
    void *input = allocate(memory, bytes);
    if (!memory->full) {
        fill(input, bytes);
    }
    return input;
}

bool test_case_place(struct test_case *test, struct test_memory *memory, struct test_memory *expected_memory)
{
    struct dory_tile *tile = &test->tile;
    const struct dory_layer *layer = &test->layer;
    tile->input = place_input(test, memory, 0);
    tile->second_input = dory_has_second_input(layer) ? place_input(test, memory, 1) : NULL;
    tile->weights = has_weights(layer)             ? place_weights(test, memory)
                    : dory_table_bytes(layer) != 0 ? place_table(test, memory)
                                                   : NULL;
    if (dory_table_bytes(layer) != 0) {
        test->layer.table = tile->weights;
    }
    uint32_t output_bytes = (uint32_t)tile->rows * tile->columns * dory_element_bytes(tile->channels, layer->output_bits);
    tile->output = allocate(memory, output_bytes);
    tile->scratch = allocate(memory, test->description->scratch_bytes(layer, &test->shape, test->cores));
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
            test->output_bytes = bytes;
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
    uint32_t inputs = dory_has_second_input(layer) ? 2 : 1;
    uint32_t sum = inputs * dory_input_tile_bytes(layer, shape, 0) + dory_output_tile_bytes(layer, shape) +
                   dory_weights_tile_bytes(layer, shape) + test->description->scratch_bytes(layer, shape, test->cores);
    if (!(test->tile.first_chunk && test->tile.last_chunk)) {
        sum += shape->rows * shape->columns * dory_round_up(shape->channels, 4) * 4;
    }
    return sum + 8 * (GUARD_BYTES + 4) <= bytes;
}

struct dory_tile test_case_expected_tile(struct test_case *test)
{
    struct dory_tile tile = test->tile;
    tile.output = test->expected;
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
           is_guard(tile->output ? test->output + test->output_bytes : NULL,
                    tile->output ? test->output + dory_round_up(test->output_bytes, 4) : NULL) &&
           is_guard(memory->next, memory->next + GUARD_BYTES);
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

bool test_case_check(const struct test_case *test, const struct test_memory *memory)
{
    uint32_t differences = 0, first = 0;
    for (uint32_t i = 0; i < test->output_bytes; i++) {
        if (test->output[i] != test->expected[i] && differences++ == 0) {
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
               (unsigned)test->output_bytes, (unsigned)first, test->output[first], test->expected[first]);
    }
    if (!whole) {
        printf("    written outside its buffers\n");
    }
    return false;
}
