/* Weight blobs of layers small enough to be written down by hand, from the text of kernels/quads/quads.h. */
#include "describe/requantise.h"
#include "emit/assemble.h"
#include "expect.h"
#include "plan/plan.h"

#include <string.h>

/* Tests set the first seven in this order. */
struct shape {
    int height, width, channels, outputs, kernel_height, kernel_width, dilation_width;
    uint8_t weight_bits; /* 0: 8 */
    bool depthwise;
    uint16_t tile_input_channels;
    uint8_t normalisation;
    uint32_t negated; /* bits: outputs whose weights have the other sign */
};

static const int64_t multipliers[5] = {3, -4, 5, 6, 7}, addends[5] = {-1, 256, 0, 1, 2};

static struct layer layer_of(const struct shape *shape, const int8_t *weights, bool no_multiplier)
{
    static const int64_t one[5] = {1, 1, 1, 1, 1};
    return (struct layer){
        .name = "layer",
        .kind = LAYER_CONVOLUTION,
        .inputs = {0, -1},
        .output = 1,
        .kernel_height = shape->kernel_height,
        .kernel_width = shape->kernel_width,
        .stride_height = 1,
        .stride_width = 1,
        .dilation_height = 1,
        .dilation_width = shape->dilation_width,
        .groups = shape->depthwise ? shape->channels : 1,
        .weight_bits = 8,
        .weights = weights,
        .stages =
            {{.count = shape->outputs, .multiplier = no_multiplier ? one : multipliers, .addend = addends, .divisor = 1}},
        .stage_count = 1,
    };
}

static struct dory_layer run_of(const struct shape *shape, bool whole)
{
    return (struct dory_layer){
        .operation = shape->depthwise ? DORY_DEPTHWISE : DORY_CONVOLUTION,
        .normalisation = shape->normalisation,
        .weight_bits = shape->weight_bits ? shape->weight_bits : 8,
        .input_bits = 8,
        .output_bits = 8,
        .output_height = whole ? 1 : (uint16_t)(shape->height - shape->kernel_height + 1),
        .output_width = whole ? 1 : (uint16_t)(shape->width - (shape->kernel_width - 1) * shape->dilation_width),
        .input_channels = (uint16_t)(whole ? shape->height * shape->width * shape->channels : shape->channels),
        .output_channels = (uint16_t)shape->outputs,
        .kernel_height = whole ? 1 : (uint16_t)shape->kernel_height,
        .kernel_width = whole ? 1 : (uint16_t)shape->kernel_width,
        .dilation_height = 1,
        .dilation_width = (uint16_t)shape->dilation_width,
        .tile.input_channels = shape->tile_input_channels,
        .block_shift = 2,
    };
}

/* The stage's constants as the form has them. */
static struct requantisation constants_of(const struct layer *layer, const struct dory_layer *record, uint32_t negated,
                                          struct arena *arena)
{
    struct requantisation form = {.channels = arena_array(arena, struct dory_channel_constants, record->output_channels)};
    const struct stage *stage = &layer->stages[0];
    for (int i = 0; i < record->output_channels; i++) {
        struct dory_channel_constants *channel = &form.channels[i];
        if (record->normalisation == DORY_NORMALISE_NONE)
            channel->none.addend = stage->addend[i];
        else
            channel->product.multiplier = stage->multiplier[i], channel->product.addend = stage->addend[i];
        form.channels[i].is_negated = negated >> i & 1;
    }
    return form;
}

/* Lays out the one layer and compares its blob, which lies behind the header. */
static void expect_blob(const char *what, const struct shape *shape, const int8_t *weights, const uint8_t *expected,
                        uint32_t bytes)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct tensor tensors[2] = {{.name = "x", .height = shape->height, .width = shape->width, .channels = shape->channels}};
    struct layer layer = layer_of(shape, weights, shape->normalisation == DORY_NORMALISE_NONE);
    struct network network = {.tensors = tensors, .tensor_count = 2, .layers = &layer, .layer_count = 1};
    struct plan_layer planned = {.record = run_of(shape, layer_reads_whole_input(&network, &layer)),
                                 .engine = &dory_portable_engine,
                                 .weights_bytes = bytes,
                                 .weights_address = FLASH_HEADER_BYTES};
    struct requantisation form = constants_of(&layer, &planned.record, shape->negated, &arena);
    planned.requantisation = &form;
    struct plan plan = {.network = &network, .layers = &planned, .flash_bytes = FLASH_HEADER_BYTES + bytes};
    EXPECT(layout_weights(&plan, &arena, &diagnostics), "%s: %s", what, diagnostics.count ? diagnostics.list[0].text : "");
    for (uint32_t i = 0; i < bytes; i++)
        EXPECT(plan.flash_image[FLASH_HEADER_BYTES + i] == expected[i], "%s: byte %u is %d, expected %d", what, i,
               plan.flash_image[FLASH_HEADER_BYTES + i], expected[i]);
    planned.weights_bytes -= 4;
    EXPECT(!layout_weights(&plan, &arena, &diagnostics), "%s: a blob that is too small was accepted", what);
    arena_free(&arena);
}

static void test_one_weight_row(void)
{
    const struct shape shape = {4, 4, 1, 1, 1, 2, 1, .tile_input_channels = 1, .normalisation = DORY_NORMALISE_32};
    const uint8_t expected[48] = {1, 254, [16] = 3, 0, 0, 0, 255, 255, 255, 255};
    expect_blob("one row", &shape, (const int8_t[]){1, -2}, expected, sizeof expected);
}

static void test_interleaving(void)
{
    const struct shape shape = {4, 4, 3, 5, 1, 2, 1, .tile_input_channels = 3, .normalisation = DORY_NORMALISE_NONE};
    int8_t weights[30]; /* [output][channel][column] */
    for (int i = 0; i < 30; i++)
        weights[i] = (int8_t)(10 * (i / 6) + i % 6);
    /* a run is column 0 of channels 0, 1, 2, then column 1: elements 0, 2, 4, 1, 3, 5 */
    const uint8_t expected[96] = {0,   2,   4,  1,  10,        12, 14,      11, 20, 22, 24, 21, 30, 32, 34, 31,  3,
                                  5,   0,   0,  13, 15,        0,  0,       23, 25, 0,  0,  33, 35, 0,  0,  255, 255,
                                  255, 255, 0,  1,  0,         0,  0,       0,  0,  0,  1,  0,  0,  0, /* second quad */
                                  40,  42,  44, 41, [64] = 43, 45, [80] = 2};
    expect_blob("interleaving", &shape, weights, expected, sizeof expected);
}

static void test_chunks(void)
{
    const struct shape shape = {4, 4, 6, 1, 1, 2, 1, .tile_input_channels = 4, .normalisation = DORY_NORMALISE_NONE};
    const int8_t weights[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}; /* [channel][column] */
    const uint8_t expected[64] = {1, 3, 5, 7, [16] = 2, 4, 6, 8, [32] = 9, 11, 10, 12, [48] = 255, 255, 255, 255};
    expect_blob("chunks", &shape, weights, expected, sizeof expected);
}

static void test_dilation(void)
{
    const struct shape shape = {4, 4, 2, 1, 1, 2, 2, .tile_input_channels = 2, .normalisation = DORY_NORMALISE_64};
    /* two runs of two elements each */
    const uint8_t expected[80] = {1, 3, 2, 4, [16] = 3, [24] = 255, 255, 255, 255, 255, 255, 255, 255};
    expect_blob("dilation", &shape, (const int8_t[]){1, 2, 3, 4}, expected, sizeof expected);
}

/* Rows of five weights: a whole four of each, then what is left of each, in one word of its own. */
static void test_joined_rests(void)
{
    const struct shape shape = {5, 5, 1, 1, 3, 5, 1, .tile_input_channels = 1, .normalisation = DORY_NORMALISE_32};
    const int8_t weights[15] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const uint8_t expected[96] = {
        1, 2, 3, 4, [16] = 6, 7, 8, 9, [32] = 11, 12, 13, 14, [48] = 5, 10, 15, [64] = 3, 0, 0, 0, 255, 255, 255, 255};
    expect_blob("joined rests", &shape, weights, expected, sizeof expected);
}

static void test_whole_input(void)
{
    const struct shape shape = {2, 1, 2, 4, 2, 1, 1, .tile_input_channels = 4, .normalisation = DORY_NORMALISE_NONE};
    const int8_t weights[16] = {1, 2, 3, 4, 5, 6, 7, 8}; /* from [channel][row] to [row][channel] */
    const uint8_t expected[32] = {1, 3, 2, 4, 5, 7, 6, 8, [16] = 255, 255, 255, 255, 0, 1, [28] = 1};
    expect_blob("whole input", &shape, weights, expected, sizeof expected);
}

/* A fully connected layer of bytes with fewer than four outputs is as large as its weights, filled up to words. */
static void test_few_outputs(void)
{
    struct shape shape = {1, 1, 6, 1, 1, 1, 1, .tile_input_channels = 6, .normalisation = DORY_NORMALISE_32};
    const int8_t weights[18] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};
    const uint8_t one[16] = {1, 2, 3, 4, 5, 6, 0, 0, 3, 0, 0, 0, 255, 255, 255, 255};
    expect_blob("one output", &shape, weights, one, sizeof one);
    shape.outputs = 3;
    shape.normalisation = DORY_NORMALISE_NONE;
    const uint8_t three[36] = {1, 2, 3,  4,  7, 8, 9,   10,  13,  14,  15, 16, 5, 6, 0, 0, 11, 12,
                               0, 0, 17, 18, 0, 0, 255, 255, 255, 255, 0,  1,  0, 0, 0, 0, 0,  0};
    expect_blob("three outputs", &shape, weights, three, sizeof three);
    shape.tile_input_channels = 4; /* chunks: the first word of each output, then the second */
    expect_blob("three outputs in chunks", &shape, weights, three, sizeof three);
}

/* Five elements of five outputs, of which a byte holds as many as go into it: bits from the left, of an element's outputs.
 */
static void test_packing(void)
{
    struct shape shape = {4, 5, 1, 5, 1, 5, 1, .tile_input_channels = 1, .normalisation = DORY_NORMALISE_NONE};
    int8_t weights[25]; /* [output][column] */
    for (int i = 0; i < 25; i++)
        weights[i] = (int8_t)(i % 4 - 2);
    /* columns of outputs 0 to 4: -2 -1 0 1 -2, -1 0 1 -2 -1, 0 1 -2 -1 0, 1 -2 -1 0 1, -2 -1 0 1 -2 */
    shape.weight_bits = 4;
    const uint8_t expected[96] = {
        0xFE,        0x0F,       0x10, 0xE1, 0x10,        0xE1,    0xFE, 0x0F,     [8] = 0xFE,
        [12] = 0x10, [16] = 255, 255,  255,  255,         0,       1,    [28] = 1, /* second quad */
        [32] = 0x0E, 0x0F,       0x00, 0x01, [40] = 0x0E, [48] = 2};
    expect_blob("4-bit weights", &shape, weights, expected, 64);
    shape.weight_bits = 2;
    const uint8_t expected_2[48] = {0x4E,        0x93, 0xE4, 0x39, 0x4E, [8] = 255,
                                    255,         255,  255,  0,    1,    [20] = 1, /* second quad */
                                    [24] = 0x02, 0x03, 0x00, 0x01, 0x02, [32] = 2};
    expect_blob("2-bit weights", &shape, weights, expected_2, sizeof expected_2);
}

static void test_depthwise(void)
{
    const struct shape shape = {4, 4, 2, 2, 2, 3, 1, .depthwise = true, .normalisation = DORY_NORMALISE_32};
    const int8_t weights[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const uint8_t expected[64] = {1,        2, 3, 0, 4,   5,   6,   0,   7,   8,   9,   0,   10, 11, 12, 0,
                                  [32] = 3, 0, 0, 0, 255, 255, 255, 255, 252, 255, 255, 255, 0,  1,  0,  0};
    expect_blob("depth-wise", &shape, weights, expected, sizeof expected);
}

/* The second of two outputs has its weights with the other sign, its constants as they are. */
static void test_negated(void)
{
    struct shape shape = {4, 4, 2, 2, 1, 3, 1, .depthwise = true, .normalisation = DORY_NORMALISE_32, .negated = 2};
    const int8_t weights[6] = {1, 2, 3, 127, -127, 6};
    const uint8_t rows[48] = {1, 2, 3, 0, 129, 127, 250, 0, [16] = 3, 0, 0, 0, 255, 255, 255, 255, 252, 255, 255, 255, 0, 1};
    expect_blob("negated, depth-wise", &shape, weights, rows, sizeof rows);
    shape.depthwise = false;
    shape.kernel_width = 1;
    shape.channels = 3;
    shape.tile_input_channels = 3;
    const uint8_t words[48] = {1, 2,   3,   0,   129, 127, 250, 0,   [16] = 3, 0, 0,
                               0, 255, 255, 255, 255, 252, 255, 255, 255,      0, 1};
    expect_blob("negated", &shape, weights, words, sizeof words);
}

/* The hash of no words. */
static void test_header(void)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct network network = {0};
    struct plan plan = {.network = &network, .flash_bytes = FLASH_HEADER_BYTES};
    EXPECT(layout_weights(&plan, &arena, &diagnostics), "an empty image");
    const uint8_t expected[FLASH_HEADER_BYTES] = {'D', 'O', 'R', 'Y', 2, 0, 0, 0, 32, 0, 0, 0, 0xc5, 0x9d, 0x1c, 0x81};
    EXPECT(!memcmp(plan.flash_image, expected, sizeof expected),
           "the header of an empty image; its hash is FNV's offset basis");
    arena_free(&arena);
}

static void test_constants_out_of_range(void)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    const int64_t huge[1] = {INT64_C(1) << 31}, none[1] = {0};
    const struct shape shape = {4, 4, 1, 1, 1, 1, 1, .tile_input_channels = 1, .normalisation = DORY_NORMALISE_32};
    struct tensor tensors[2] = {{.height = 4, .width = 4, .channels = 1}};
    struct layer layer = layer_of(&shape, (const int8_t[]){1}, false);
    layer.stages[0] = (struct stage){.count = 1, .multiplier = huge, .addend = none, .divisor = 1};
    struct network network = {.tensors = tensors, .tensor_count = 2, .layers = &layer, .layer_count = 1};
    struct plan_layer planned = {.engine = &dory_portable_engine,
                                 .record = run_of(&shape, false),
                                 .weights_bytes = 48,
                                 .weights_address = FLASH_HEADER_BYTES};
    struct requantisation form = constants_of(&layer, &planned.record, 0, &arena);
    planned.requantisation = &form;
    struct plan plan = {.network = &network, .layers = &planned, .flash_bytes = FLASH_HEADER_BYTES + 48};
    EXPECT(!layout_weights(&plan, &arena, &diagnostics), "a multiplier beyond 32 bits was cut off");
    arena_free(&arena);
}

int main(void)
{
    test_one_weight_row();
    test_interleaving();
    test_chunks();
    test_dilation();
    test_joined_rests();
    test_whole_input();
    test_few_outputs();
    test_packing();
    test_depthwise();
    test_negated();
    test_header();
    test_constants_out_of_range();
    return expect_result("test_layout");
}
