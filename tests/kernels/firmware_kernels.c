/* The kernels on the hardware they are for: random layers against the portable kernels, bit for bit, then a table of usual
 * layers with cycles measured and predicted. All operands lie in L1; no DMA runs. */
#include <stdio.h>
#include <stdlib.h>

#include "dory/hal.h"
#include "firmware_case.h"

#define RANDOM_CASES 300
#define MAXIMUM_MACS 20000
#define CORES        8

/* The largest error of a prediction for a layer of the table, per cent. */
#define WORST_PREDICTION 10

static struct test_case test;

static unsigned run_random_cases(void)
{
    unsigned failures = 0, tries = 0;
    for (uint32_t seed = 1; seed <= RANDOM_CASES && failures < 10; seed++) {
        do {
            test_case_random(&test, seed + 100000 * tries++, MAXIMUM_MACS);
        } while (!firmware_case_fits(&test));
        uint32_t cycles;
        tries = 0;
        failures += !firmware_case_run(&test, &cycles);
    }
    printf("%u random layers, %u wrong\n", RANDOM_CASES, failures);
    return failures;
}

#define SHAPE(name, kernel, operation, rows, columns, channels, input_channels, size, stride, normalisation, divisor)       \
    PACKED(name, kernel, operation, rows, columns, channels, input_channels, size, stride, normalisation, divisor, 8, 8, 8)
#define PACKED(name, kernel, operation, rows, columns, channels, input_channels, size, stride, normalisation, divisor,      \
               weight_bits, input_bits, output_bits)                                                                        \
    {                                                                                                                       \
        name, "dory_xpulpv2_" #kernel, operation, rows, columns, channels, input_channels, size, stride,                    \
            DORY_NORMALISE_##normalisation, divisor, weight_bits, input_bits, output_bits, false, false, 0, 0, 1            \
    }
#define TO_CHW(name, kernel, rows, columns, channels, input_channels, size, stride, normalisation, divisor)                 \
    {                                                                                                                       \
        name, "dory_xpulpv2_" #kernel, DORY_CONVOLUTION, rows, columns, channels, input_channels, size, stride,             \
            DORY_NORMALISE_##normalisation, divisor, 8, 8, 8, true, false, 0, 0, 1                                          \
    }
#define LINE(name, kernel, columns, channels, size, normalisation, divisor)                                                 \
    {                                                                                                                       \
        name, "dory_xpulpv2_" #kernel, DORY_DEPTHWISE, 1, columns, channels, channels, size, 1,                             \
            DORY_NORMALISE_##normalisation, divisor, 8, 8, 8, false, false, 1, 0, 1                                         \
    }
#define GROUPS(name, kernel, rows, columns, channels, input_channels, groups, size, stride, normalisation, divisor, bits)   \
    {                                                                                                                       \
        name, "dory_xpulpv2_" #kernel, DORY_GROUPED, rows, columns, channels, input_channels, size, stride,                 \
            DORY_NORMALISE_##normalisation, divisor, 8, bits, bits, false, false, 0, groups, 1                              \
    }
#define ROW(name, kernel, columns, channels, input_channels, size, dilation, normalisation, divisor)                        \
    {                                                                                                                       \
        name, "dory_xpulpv2_" #kernel, DORY_CONVOLUTION, 1, columns, channels, input_channels, size, 1,                     \
            DORY_NORMALISE_##normalisation, divisor, 8, 8, 8, false, false, 1, 0, dilation                                  \
    }

/* name, kernel, operation, rows, columns, channels, input channels, kernel size, stride, normalisation, its divisor */
/* clang-format off */
static const struct test_shape shapes[] = {
    SHAPE("pointwise 32-64, 16x12", convolution, DORY_CONVOLUTION, 16, 12, 64, 32, 1, 1, 32, 0),
    SHAPE("pointwise 64-64, 16x16", convolution, DORY_CONVOLUTION, 16, 16, 64, 64, 1, 1, 32, 0),
    SHAPE("pointwise 128-64, 8x16", convolution, DORY_CONVOLUTION, 8, 16, 64, 128, 1, 1, 32, 0),
    SHAPE("pointwise 256-64, 8x8", convolution, DORY_CONVOLUTION, 8, 8, 64, 256, 1, 1, 32, 0),
    SHAPE("pointwise 512-40, 8x4", convolution, DORY_CONVOLUTION, 8, 4, 40, 512, 1, 1, 32, 0),
    SHAPE("pointwise 1024-24, 4x4", convolution, DORY_CONVOLUTION, 4, 4, 24, 1024, 1, 1, 32, 0),
    SHAPE("pointwise 96-24, 7x7", convolution, DORY_CONVOLUTION, 7, 7, 24, 96, 1, 1, 32, 0),
    SHAPE("3x3 16-32, 16x16", convolution, DORY_CONVOLUTION, 16, 16, 32, 16, 3, 1, 32, 0),
    SHAPE("3x3 32-32, 8x16", convolution, DORY_CONVOLUTION, 8, 16, 32, 32, 3, 1, 32, 0),
    SHAPE("3x3 64-32, 8x8", convolution, DORY_CONVOLUTION, 8, 8, 32, 64, 3, 1, 32, 0),
    SHAPE("3x3 stride 2 16-32, 8x8", convolution, DORY_CONVOLUTION, 8, 8, 32, 16, 3, 2, 32, 0),
    SHAPE("pointwise 64-64, / 2^n", convolution_clamped, DORY_CONVOLUTION, 16, 16, 64, 64, 1, 1, CLAMPED, 1 << 20),
    SHAPE("pointwise 64-64, / (2^n - 1)", convolution_clamped, DORY_CONVOLUTION, 16, 16, 64, 64, 1, 1, CLAMPED, (1 << 20) - 1),
    SHAPE("pointwise 64-64, / another", convolution_clamped, DORY_CONVOLUTION, 8, 8, 64, 64, 1, 1, CLAMPED, 1398101),
    SHAPE("3x3 32-32, 8x16, / (2^n - 1)", convolution_clamped, DORY_CONVOLUTION, 8, 16, 32, 32, 3, 1, CLAMPED, (1 << 20) - 1),
    SHAPE("pointwise 64-64, high", convolution_high, DORY_CONVOLUTION, 16, 16, 64, 64, 1, 1, HIGH, DORY_ROUND_FLOOR),
    SHAPE("pointwise 64-64, split", convolution_split, DORY_CONVOLUTION, 16, 16, 64, 64, 1, 1, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("pointwise 64-64, split, away", convolution_split, DORY_CONVOLUTION, 16, 16, 64, 64, 1, 1, SPLIT, DORY_ROUND_AWAY),
    TO_CHW("pointwise 64-64 to CHW, split", convolution_split, 16, 16, 64, 64, 1, 1, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("pointwise 64-64, 25x5, split", convolution_split, DORY_CONVOLUTION, 25, 5, 64, 64, 1, 1, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("3x3 32-32, 8x16, split", convolution_split, DORY_CONVOLUTION, 8, 16, 32, 32, 3, 1, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("pointwise 8-16, 12x24, split", convolution_split, DORY_CONVOLUTION, 12, 24, 16, 8, 1, 1, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("narrow 8-16, 12x24", narrow_8, DORY_CONVOLUTION, 12, 24, 16, 8, 1, 1, 32, 0),
    SHAPE("narrow 8-16, 12x24, split", narrow_8_split, DORY_CONVOLUTION, 12, 24, 16, 8, 1, 1, SPLIT, DORY_ROUND_FLOOR),
    TO_CHW("narrow 8-16 to CHW, 12x24, split", narrow_8_split, 12, 24, 16, 8, 1, 1, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("narrow 16-96, 3x64", narrow_16, DORY_CONVOLUTION, 3, 64, 96, 16, 1, 1, 32, 0),
    TO_CHW("narrow 16-96 to CHW, 3x64", narrow_16, 3, 64, 96, 16, 1, 1, 32, 0),
    SHAPE("narrow 16-32, 12x24, / 2^n", narrow_16_clamped, DORY_CONVOLUTION, 12, 24, 32, 16, 1, 1, CLAMPED, 1 << 20),
    SHAPE("narrow 16-32, 12x24, / (2^n - 1)", narrow_16_clamped_less_one, DORY_CONVOLUTION, 12, 24, 32, 16, 1, 1, CLAMPED, (1 << 20) - 1),
    SHAPE("narrow 16-32, 12x24, split", narrow_16_split, DORY_CONVOLUTION, 12, 24, 32, 16, 1, 1, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("narrow 24-144, 4x32", narrow_24, DORY_CONVOLUTION, 4, 32, 144, 24, 1, 1, 32, 0),
    SHAPE("narrow 32-64, 16x12", narrow_32, DORY_CONVOLUTION, 16, 12, 64, 32, 1, 1, 32, 0),
    SHAPE("narrow 32-16, 11x32", narrow_32, DORY_CONVOLUTION, 11, 32, 16, 32, 1, 1, 32, 0),
    SHAPE("narrow first 3x3 s2 3-32, 8x64", narrow_gather_28, DORY_CONVOLUTION, 8, 64, 32, 3, 3, 2, 32, 0),
    TO_CHW("narrow first s2 3-32 to CHW, 8x64", narrow_gather_28, 8, 64, 32, 3, 3, 2, 32, 0),
    SHAPE("narrow first 5x5 s2 1-32, 8x50", narrow_gather_28, DORY_CONVOLUTION, 8, 50, 32, 1, 5, 2, 32, 0),
    SHAPE("narrow first 3x3 s2 1-32, 8x50, / 2^n", narrow_gather_12_clamped, DORY_CONVOLUTION, 8, 50, 32, 1, 3, 2, CLAMPED, 1 << 20),
    SHAPE("narrow 24-72, 4x50, split", narrow_24_split, DORY_CONVOLUTION, 4, 50, 72, 24, 1, 1, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("narrow first 3x3 s2 3-8, 16x48, split", narrow_gather_28_split, DORY_CONVOLUTION, 16, 48, 8, 3, 3, 2, SPLIT, DORY_ROUND_FLOOR),
    TO_CHW("narrow first 3-8 to CHW, 16x48, split", narrow_gather_28_split, 16, 48, 8, 3, 3, 2, SPLIT, DORY_ROUND_FLOOR),
    ROW("1x11 11-11, 140, / 2^n", convolution_row_clamped, 140, 11, 11, 11, 1, CLAMPED, 1 << 20),
    ROW("1x11 dilated 4 11-11, 140, / 2^n", convolution_row_clamped, 140, 11, 11, 11, 4, CLAMPED, 1 << 20),
    ROW("1x3 dilated 2 32-32, 64", convolution_row, 64, 32, 32, 3, 2, 32, 0),
    ROW("1x3 dilated 3 24-16, 50, split", convolution_row_split, 50, 16, 24, 3, 3, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("first 3x3 s2 3-8, 16x48, split", convolution_gather_split, DORY_CONVOLUTION, 16, 48, 8, 3, 3, 2, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("first 3x3 s2 3-32, 7x64, split", convolution_gather_split, DORY_CONVOLUTION, 7, 64, 32, 3, 3, 2, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("pointwise 64-64, high, away", convolution_high, DORY_CONVOLUTION, 16, 16, 64, 64, 1, 1, HIGH, DORY_ROUND_AWAY),
    SHAPE("pointwise 64-64, 8x8, high, even", convolution_high, DORY_CONVOLUTION, 8, 8, 64, 64, 1, 1, HIGH, DORY_ROUND_EVEN),
    SHAPE("pointwise 64-64, 8x8, division", convolution, DORY_CONVOLUTION, 8, 8, 64, 64, 1, 1, DIVIDE, 1398101),
    SHAPE("pointwise 64-64, 8x8, 64-bit", convolution, DORY_CONVOLUTION, 8, 8, 64, 64, 1, 1, 64, 0),
    SHAPE("pointwise 64-64, 8x8, 32-bit out", convolution, DORY_CONVOLUTION, 8, 8, 64, 64, 1, 1, NONE, 0),
    TO_CHW("pointwise 64-64 to CHW, 16x16", convolution, 16, 16, 64, 64, 1, 1, 32, 0),
    TO_CHW("pointwise 256-64 to CHW, 8x8", convolution, 8, 8, 64, 256, 1, 1, 32, 0),
    TO_CHW("pointwise 96-24 to CHW, 7x7", convolution, 7, 7, 24, 96, 1, 1, 32, 0),
    TO_CHW("pointwise 64-64 to CHW, / 2^n", convolution_clamped, 16, 16, 64, 64, 1, 1, CLAMPED, 1 << 20),
    TO_CHW("first 3x3 stride 2 3-32 to CHW, 7x64", convolution_gather, 7, 64, 32, 3, 3, 2, 32, 0),
    SHAPE("first 3x3 stride 2 3-32, 7x64", convolution_gather, DORY_CONVOLUTION, 7, 64, 32, 3, 3, 2, 32, 0),
    SHAPE("first 3x3 3-32, 8x32", convolution_gather, DORY_CONVOLUTION, 8, 32, 32, 3, 3, 1, 32, 0),
    SHAPE("first 5x5 stride 2 1-32, 8x50", convolution_gather, DORY_CONVOLUTION, 8, 50, 32, 1, 5, 2, 32, 0),
    SHAPE("first 5x5 stride 2 1-16, 20x50", convolution_gather, DORY_CONVOLUTION, 20, 50, 16, 1, 5, 2, 32, 0),
    SHAPE("first 3x3 1-16, 16x30", convolution_gather, DORY_CONVOLUTION, 16, 30, 16, 1, 3, 1, 32, 0),
    SHAPE("first 3x3 stride 2 2-24, 12x24", convolution_gather, DORY_CONVOLUTION, 12, 24, 24, 2, 3, 2, 32, 0),
    SHAPE("first 7x7 stride 2 3-32, 6x24", convolution_gather, DORY_CONVOLUTION, 6, 24, 32, 3, 7, 2, 32, 0),
    SHAPE("first 3x3 s2 3-32, 7x64, / (2^n - 1)", convolution_gather_clamped, DORY_CONVOLUTION, 7, 64, 32, 3, 3, 2, CLAMPED, (1 << 20) - 1),
    SHAPE("3x3 10-32, 8x16", convolution_gather, DORY_CONVOLUTION, 8, 16, 32, 10, 3, 1, 32, 0),
    SHAPE("linear 1024-32", linear, DORY_CONVOLUTION, 1, 1, 32, 1024, 1, 1, 32, 0),
    SHAPE("linear 256-64, high", linear_high, DORY_CONVOLUTION, 1, 1, 64, 256, 1, 1, HIGH, DORY_ROUND_FLOOR),
    SHAPE("linear 128-128, / 2^n", linear_clamped, DORY_CONVOLUTION, 1, 1, 128, 128, 1, 1, CLAMPED, 1 << 20),
    SHAPE("linear 128-128, split", linear_split, DORY_CONVOLUTION, 1, 1, 128, 128, 1, 1, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("linear 128-128, high, away", linear_high, DORY_CONVOLUTION, 1, 1, 128, 128, 1, 1, HIGH, DORY_ROUND_AWAY),
    SHAPE("linear 128-128, shared, away", linear_shared, DORY_CONVOLUTION, 1, 1, 128, 128, 1, 1, SHARED, DORY_ROUND_AWAY),
    SHAPE("linear 6272-1", linear_few, DORY_CONVOLUTION, 1, 1, 1, 6272, 1, 1, 32, 0),
    SHAPE("linear 2500-2, 32 bits", linear_few, DORY_CONVOLUTION, 1, 1, 2, 2500, 1, 1, NONE, 0),
    SHAPE("linear 1024-3, high", linear_few_high, DORY_CONVOLUTION, 1, 1, 3, 1024, 1, 1, HIGH, DORY_ROUND_FLOOR),
    SHAPE("linear 256-2, shared", linear_few_shared, DORY_CONVOLUTION, 1, 1, 2, 256, 1, 1, SHARED, DORY_ROUND_FLOOR),
    SHAPE("linear 512-5, / 2^n", linear_few_clamped, DORY_CONVOLUTION, 1, 1, 5, 512, 1, 1, CLAMPED, 1 << 20),
    SHAPE("linear 8-128, 32 bits", linear, DORY_CONVOLUTION, 1, 1, 128, 8, 1, 1, 32, 0),
    SHAPE("linear 256-128, 32-bit out", linear, DORY_CONVOLUTION, 1, 1, 128, 256, 1, 1, NONE, 0),
    /* and bits of weights, input, output */
    PACKED("pointwise 64-64, 4-bit weights", packed_convolution_4, DORY_CONVOLUTION, 16, 16, 64, 64, 1, 1, 32, 0, 4, 8, 8),
    PACKED("pointwise 256-64, 4-bit weights", packed_convolution_4, DORY_CONVOLUTION, 8, 8, 64, 256, 1, 1, 32, 0, 4, 8, 8),
    PACKED("pointwise 1024-24, 4-bit weights", packed_convolution_4, DORY_CONVOLUTION, 4, 4, 24, 1024, 1, 1, 32, 0, 4, 8, 8),
    PACKED("3x3 32-32, 4-bit weights", packed_convolution_4, DORY_CONVOLUTION, 8, 16, 32, 32, 3, 1, 32, 0, 4, 8, 8),
    PACKED("pointwise 64-64, 4-bit, / (2^n - 1)", packed_convolution_4, DORY_CONVOLUTION, 16, 16, 64, 64, 1, 1, CLAMPED, (1 << 20) - 1, 4, 8, 8),
    PACKED("pointwise 64-64, 2-bit weights", packed_convolution_2, DORY_CONVOLUTION, 16, 16, 64, 64, 1, 1, 32, 0, 2, 8, 8),
    PACKED("pointwise 256-64, 2-bit weights", packed_convolution_2, DORY_CONVOLUTION, 8, 8, 64, 256, 1, 1, 32, 0, 2, 8, 8),
    PACKED("pointwise 64-64, to 4 bits", packed_convolution_8, DORY_CONVOLUTION, 16, 16, 64, 64, 1, 1, 32, 0, 8, 8, 4),
    PACKED("pointwise 64-64, all of 4 bits", packed_gather_4, DORY_CONVOLUTION, 16, 16, 64, 64, 1, 1, 32, 0, 4, 4, 4),
    PACKED("pointwise 64-64, all of 2 bits", packed_gather_2, DORY_CONVOLUTION, 16, 16, 64, 64, 1, 1, 32, 0, 2, 2, 2),
    PACKED("3x3 32-32, all of 4 bits", packed_gather_4, DORY_CONVOLUTION, 8, 16, 32, 32, 3, 1, 32, 0, 4, 4, 4),
    PACKED("3x3 32-32, from 4 bits", packed_gather_8, DORY_CONVOLUTION, 8, 16, 32, 32, 3, 1, 32, 0, 8, 4, 8),
    PACKED("first 3x3 3-32, 4-bit weights", packed_gather_4, DORY_CONVOLUTION, 8, 32, 32, 3, 3, 1, 32, 0, 4, 8, 8),
    PACKED("3x3 5-32, all of 4 bits", packed_gather_4, DORY_CONVOLUTION, 8, 16, 32, 5, 3, 1, 32, 0, 4, 4, 4),
    PACKED("linear 1024-32, 4-bit weights", packed_linear_4, DORY_CONVOLUTION, 1, 1, 32, 1024, 1, 1, 32, 0, 4, 8, 8),
    PACKED("linear 1024-32, 2-bit weights", packed_linear_2, DORY_CONVOLUTION, 1, 1, 32, 1024, 1, 1, 32, 0, 2, 8, 8),
    PACKED("pointwise 40-120, 8x8, 16 bits", convolution_any_8, DORY_CONVOLUTION, 8, 8, 120, 40, 1, 1, 32, 0, 8, 16, 8),
    PACKED("pointwise 40-60, 16 bits / (2^n - 1)", convolution_any_8, DORY_CONVOLUTION, 8, 8, 60, 40, 1, 1, CLAMPED, (1 << 20) - 1, 8, 16, 8),
    PACKED("pointwise 40-60, 16 bits / 2^n", convolution_any_8, DORY_CONVOLUTION, 8, 8, 60, 40, 1, 1, CLAMPED, 1 << 20, 8, 16, 8),
    PACKED("pointwise 40-60, 16 bits, another", convolution_any_8, DORY_CONVOLUTION, 8, 8, 60, 40, 1, 1, CLAMPED, 1118481, 8, 16, 8),
    PACKED("pointwise 40-60, 16 bits, high", convolution_any_8, DORY_CONVOLUTION, 8, 8, 60, 40, 1, 1, HIGH, DORY_ROUND_FLOOR, 8, 16, 8),
    PACKED("3x3 16-32, 8x8, 16 to 16 bits", convolution_any_8, DORY_CONVOLUTION, 8, 8, 32, 16, 3, 1, 32, 0, 8, 16, 16),
    PACKED("linear 80-40, 16 to 32 bits", convolution_any_8, DORY_CONVOLUTION, 1, 1, 40, 80, 1, 1, NONE, 0, 8, 16, 32),
    GROUPS("3x3 32-64 in 4 groups, 12x16", grouped, 12, 16, 64, 32, 4, 3, 1, 32, 0, 8),
    GROUPS("3x3 32-32 in 4 groups, 16x16", grouped, 16, 16, 32, 32, 4, 3, 1, 32, 0, 8),
    GROUPS("3x3 32-32 in 4, / 2^n", grouped_clamped, 16, 16, 32, 32, 4, 3, 1, CLAMPED, 1 << 20, 8),
    GROUPS("3x3 32-32 in 4, high", grouped_high, 16, 16, 32, 32, 4, 3, 1, HIGH, DORY_ROUND_FLOOR, 8),
    GROUPS("3x3 32-32 in 8 groups, 16x16", grouped, 16, 16, 32, 32, 8, 3, 1, 32, 0, 8),
    GROUPS("3x3 32-32 in 16 groups, 16x16", grouped, 16, 16, 32, 32, 16, 3, 1, 32, 0, 8),
    GROUPS("3x3 16-32 in 16 groups, 16x16", grouped, 16, 16, 32, 16, 16, 3, 1, 32, 0, 8), /* depth multipliers */
    GROUPS("3x3 8-32 in 8 groups, 16x16", grouped, 16, 16, 32, 8, 8, 3, 1, 32, 0, 8),
    GROUPS("5x5 8-32 in 8 groups, 16x16", grouped, 16, 16, 32, 8, 8, 5, 1, 32, 0, 8),
    GROUPS("3x3 stride 2 48-48 in 4, 6x8", grouped, 6, 8, 48, 48, 4, 3, 2, 32, 0, 8),
    GROUPS("3x3 24-24 in 4, 16x16", grouped, 16, 16, 24, 24, 4, 3, 1, 32, 0, 8),
    GROUPS("pointwise 64-64 in 4, 12x12", grouped, 12, 12, 64, 64, 4, 1, 1, 32, 0, 8),
    GROUPS("3x3 16-32, 2 outputs a channel", grouped, 16, 16, 32, 16, 16, 3, 1, 32, 0, 8),
    GROUPS("3x3 8-32, 4 outputs a channel", grouped, 16, 16, 32, 8, 8, 3, 1, 32, 0, 8),
    GROUPS("depth-wise 3x3 32, 16x16, 4 bits", packed_grouped_8, 16, 16, 32, 32, 32, 3, 1, 32, 0, 4),
    GROUPS("3x3 32-32 in 4, 4 bits", packed_grouped_8, 16, 16, 32, 32, 4, 3, 1, 32, 0, 4),
    PACKED("pointwise 40-120, 16 bits, 4-bit weights", convolution_any_4, DORY_CONVOLUTION, 8, 8, 120, 40, 1, 1, 32, 0, 4, 16, 8),
    PACKED("pointwise 40-120, 16 bits, 2-bit weights", convolution_any_2, DORY_CONVOLUTION, 8, 8, 120, 40, 1, 1, 32, 0, 2, 16, 8),
    PACKED("3x3 16-32, 8x8, 8 to 16 bits", convolution_any_8, DORY_CONVOLUTION, 8, 8, 32, 16, 3, 1, 32, 0, 8, 8, 16),
    GROUPS("3x3 32-32 in 4 groups, 16 bits", grouped_any_8, 8, 8, 32, 32, 4, 3, 1, 32, 0, 16),
    GROUPS("3x3 32-32 in 16 groups, 16 bits", grouped_any_8, 8, 8, 32, 32, 16, 3, 1, 32, 0, 16),
    PACKED("depth-wise 3x3, 8x8x32, 16 bits", depthwise_scalar, DORY_DEPTHWISE, 8, 8, 32, 32, 3, 1, 32, 0, 8, 16, 8),
    PACKED("depth-wise 3x3, 16x16x32, 16 bits", depthwise_scalar, DORY_DEPTHWISE, 16, 16, 32, 32, 3, 1, 32, 0, 8, 16, 8),
    PACKED("depth-wise 3x3, 8x8x32, 16 to 16 bits", depthwise_scalar, DORY_DEPTHWISE, 8, 8, 32, 32, 3, 1, 32, 0, 8, 16, 16),
    PACKED("depth-wise 3x3, 16 bits, / 2^n", depthwise_scalar, DORY_DEPTHWISE, 8, 8, 32, 32, 3, 1, CLAMPED, 1 << 20, 8, 16, 8),
    PACKED("depth-wise 5x5, 16 bits, high, away", depthwise_scalar, DORY_DEPTHWISE, 8, 8, 32, 32, 5, 1, HIGH, DORY_ROUND_AWAY, 8, 16, 8),
    PACKED("depth-wise 3x3, 16 bits, 64-bit", depthwise_scalar, DORY_DEPTHWISE, 16, 16, 32, 32, 3, 1, 64, 0, 8, 16, 16),
    PACKED("depth-wise 3x3, 16 bits, division", depthwise_scalar, DORY_DEPTHWISE, 16, 16, 32, 32, 3, 1, DIVIDE, 1398101, 8, 16, 16),
    PACKED("depth-wise 3x3, 8 to 16 bits, 64-bit", depthwise, DORY_DEPTHWISE, 8, 8, 32, 32, 3, 1, 64, 0, 8, 8, 16),
    PACKED("depth-wise 3x3 s2, 16 bits, another", depthwise_scalar, DORY_DEPTHWISE, 8, 8, 32, 32, 3, 2, CLAMPED, 1118481, 8, 16, 8),
    PACKED("depth-wise 5x5, 16 bits, division", depthwise_scalar, DORY_DEPTHWISE, 8, 8, 32, 32, 5, 1, DIVIDE, 1398101, 8, 16, 16),
    SHAPE("depth-wise 32x32, 1x1x16", depthwise_single, DORY_DEPTHWISE, 1, 1, 16, 16, 32, 1, 32, 0),
    SHAPE("depth-wise 7x7, 1x1x256", depthwise_single, DORY_DEPTHWISE, 1, 1, 256, 256, 7, 1, 32, 0),
    SHAPE("depth-wise 7x7, 1x1x256, division", depthwise_single, DORY_DEPTHWISE, 1, 1, 256, 256, 7, 1, DIVIDE, 1398101),
    SHAPE("depth-wise 16x64x8", depthwise_3x3_stride_1, DORY_DEPTHWISE, 16, 64, 8, 8, 3, 1, 32, 0),
    SHAPE("depth-wise 16x32x32", depthwise_3x3_stride_1, DORY_DEPTHWISE, 16, 32, 32, 32, 3, 1, 32, 0),
    SHAPE("depth-wise 16x16x32", depthwise_3x3_stride_1, DORY_DEPTHWISE, 16, 16, 32, 32, 3, 1, 32, 0),
    SHAPE("depth-wise 16x16x64", depthwise_3x3_stride_1, DORY_DEPTHWISE, 16, 16, 64, 64, 3, 1, 32, 0),
    SHAPE("depth-wise 8x8x128", depthwise_3x3_stride_1, DORY_DEPTHWISE, 8, 8, 128, 128, 3, 1, 32, 0),
    SHAPE("depth-wise 4x4x256", depthwise_3x3_stride_1, DORY_DEPTHWISE, 4, 4, 256, 256, 3, 1, 32, 0),
    SHAPE("depth-wise 7x7x64", depthwise_3x3_stride_1, DORY_DEPTHWISE, 7, 7, 64, 64, 3, 1, 32, 0),
    SHAPE("depth-wise stride 2 8x32x16", depthwise_3x3_stride_2, DORY_DEPTHWISE, 8, 32, 16, 16, 3, 2, 32, 0),
    SHAPE("depth-wise stride 2 8x16x32", depthwise_3x3_stride_2, DORY_DEPTHWISE, 8, 16, 32, 32, 3, 2, 32, 0),
    SHAPE("depth-wise stride 2 8x8x64", depthwise_3x3_stride_2, DORY_DEPTHWISE, 8, 8, 64, 64, 3, 2, 32, 0),
    SHAPE("depth-wise stride 2 4x4x256", depthwise_3x3_stride_2, DORY_DEPTHWISE, 4, 4, 256, 256, 3, 2, 32, 0),
    SHAPE("depth-wise 16x16x64, / 2^n", depthwise_3x3_stride_1_clamped, DORY_DEPTHWISE, 16, 16, 64, 64, 3, 1, CLAMPED, 1 << 20),
    SHAPE("depth-wise 16x16x64, / (2^n - 1)", depthwise_3x3_stride_1_clamped_less_one, DORY_DEPTHWISE, 16, 16, 64, 64, 3, 1, CLAMPED, (1 << 20) - 1),
    SHAPE("depth-wise s2 8x8x64, / 2^n", depthwise_3x3_stride_2_clamped, DORY_DEPTHWISE, 8, 8, 64, 64, 3, 2, CLAMPED, 1 << 20),
    SHAPE("depth-wise s2 8x8x64, / (2^n - 1)", depthwise_3x3_stride_2_clamped_less_one, DORY_DEPTHWISE, 8, 8, 64, 64, 3, 2, CLAMPED, (1 << 20) - 1),
    SHAPE("depth-wise 16x16x64, high", depthwise_3x3_stride_1_high, DORY_DEPTHWISE, 16, 16, 64, 64, 3, 1, HIGH, DORY_ROUND_FLOOR),
    SHAPE("depth-wise 16x16x64, split", depthwise_3x3_stride_1_split, DORY_DEPTHWISE, 16, 16, 64, 64, 3, 1, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("depth-wise 16x16x64, high, away", depthwise_3x3_stride_1_high_away, DORY_DEPTHWISE, 16, 16, 64, 64, 3, 1, HIGH, DORY_ROUND_AWAY),
    SHAPE("depth-wise s2 8x8x64, high", depthwise_3x3_stride_2_high, DORY_DEPTHWISE, 8, 8, 64, 64, 3, 2, HIGH, DORY_ROUND_FLOOR),
    SHAPE("depth-wise s2 8x8x64, split", depthwise_3x3_stride_2_split, DORY_DEPTHWISE, 8, 8, 64, 64, 3, 2, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("depth-wise s2 8x8x64, high, away", depthwise_3x3_stride_2_high_away, DORY_DEPTHWISE, 8, 8, 64, 64, 3, 2, HIGH, DORY_ROUND_AWAY),
    SHAPE("CHW depth-wise 16x64x8", depthwise_3x3_chw_stride_1, DORY_DEPTHWISE, 16, 64, 8, 8, 3, 1, 32, 0),
    SHAPE("CHW depth-wise 16x32x32", depthwise_3x3_chw_stride_1, DORY_DEPTHWISE, 16, 32, 32, 32, 3, 1, 32, 0),
    SHAPE("CHW depth-wise 16x16x64", depthwise_3x3_chw_stride_1, DORY_DEPTHWISE, 16, 16, 64, 64, 3, 1, 32, 0),
    SHAPE("CHW depth-wise 8x8x128", depthwise_3x3_chw_stride_1, DORY_DEPTHWISE, 8, 8, 128, 128, 3, 1, 32, 0),
    SHAPE("CHW depth-wise 4x4x256", depthwise_3x3_chw_stride_1, DORY_DEPTHWISE, 4, 4, 256, 256, 3, 1, 32, 0),
    SHAPE("CHW depth-wise 7x7x64", depthwise_3x3_chw_stride_1, DORY_DEPTHWISE, 7, 7, 64, 64, 3, 1, 32, 0),
    SHAPE("CHW depth-wise 14x14x64", depthwise_3x3_chw_stride_1_half, DORY_DEPTHWISE, 14, 14, 64, 64, 3, 1, 32, 0),
    SHAPE("CHW depth-wise 25x5x32, / (2^n - 1)", depthwise_3x3_chw_stride_1_one_clamped_less_one, DORY_DEPTHWISE, 25, 5, 32, 32, 3, 1, CLAMPED, (1 << 20) - 1),
    SHAPE("CHW depth-wise 25x5x32, / 2^n", depthwise_3x3_chw_stride_1_one_clamped, DORY_DEPTHWISE, 25, 5, 32, 32, 3, 1, CLAMPED, 1 << 20),
    SHAPE("CHW depth-wise 25x5x64, split", depthwise_3x3_chw_stride_1_one_split, DORY_DEPTHWISE, 25, 5, 64, 64, 3, 1, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("CHW depth-wise 25x5x64", depthwise_3x3_chw_stride_1_one, DORY_DEPTHWISE, 25, 5, 64, 64, 3, 1, 32, 0),
    SHAPE("CHW depth-wise 5x5x128, high", depthwise_3x3_chw_stride_1_one_high, DORY_DEPTHWISE, 5, 5, 128, 128, 3, 1, HIGH, DORY_ROUND_FLOOR),
    SHAPE("CHW depth-wise 9x9x64, high, away", depthwise_3x3_chw_stride_1_one_high_away, DORY_DEPTHWISE, 9, 9, 64, 64, 3, 1, HIGH, DORY_ROUND_AWAY),
    SHAPE("CHW depth-wise 6x6x64, split", depthwise_3x3_chw_stride_1_half_split, DORY_DEPTHWISE, 6, 6, 64, 64, 3, 1, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("CHW depth-wise 6x6x64, high", depthwise_3x3_chw_stride_1_half_high, DORY_DEPTHWISE, 6, 6, 64, 64, 3, 1, HIGH, DORY_ROUND_FLOOR),
    SHAPE("CHW depth-wise 6x6x64, high, away", depthwise_3x3_chw_stride_1_half_high_away, DORY_DEPTHWISE, 6, 6, 64, 64, 3, 1, HIGH, DORY_ROUND_AWAY),
    SHAPE("CHW depth-wise stride 2 8x32x16", depthwise_3x3_chw_stride_2, DORY_DEPTHWISE, 8, 32, 16, 16, 3, 2, 32, 0),
    SHAPE("CHW depth-wise stride 2 8x16x32", depthwise_3x3_chw_stride_2, DORY_DEPTHWISE, 8, 16, 32, 32, 3, 2, 32, 0),
    SHAPE("CHW depth-wise stride 2 8x8x64", depthwise_3x3_chw_stride_2, DORY_DEPTHWISE, 8, 8, 64, 64, 3, 2, 32, 0),
    SHAPE("CHW depth-wise stride 2 4x4x256", depthwise_3x3_chw_stride_2, DORY_DEPTHWISE, 4, 4, 256, 256, 3, 2, 32, 0),
    SHAPE("CHW depth-wise 16x16x64, / 2^n", depthwise_3x3_chw_stride_1_clamped, DORY_DEPTHWISE, 16, 16, 64, 64, 3, 1, CLAMPED, 1 << 20),
    SHAPE("CHW depth-wise 16x16x64, / (2^n - 1)", depthwise_3x3_chw_stride_1_clamped_less_one, DORY_DEPTHWISE, 16, 16, 64, 64, 3, 1, CLAMPED, (1 << 20) - 1),
    SHAPE("CHW depth-wise s2 8x8x64, / 2^n", depthwise_3x3_chw_stride_2_clamped, DORY_DEPTHWISE, 8, 8, 64, 64, 3, 2, CLAMPED, 1 << 20),
    SHAPE("CHW depth-wise s2 8x8x64, / (2^n - 1)", depthwise_3x3_chw_stride_2_clamped_less_one, DORY_DEPTHWISE, 8, 8, 64, 64, 3, 2, CLAMPED, (1 << 20) - 1),
    SHAPE("CHW depth-wise 16x16x64, high", depthwise_3x3_chw_stride_1_high, DORY_DEPTHWISE, 16, 16, 64, 64, 3, 1, HIGH, DORY_ROUND_FLOOR),
    SHAPE("CHW depth-wise 16x16x64, split", depthwise_3x3_chw_stride_1_split, DORY_DEPTHWISE, 16, 16, 64, 64, 3, 1, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("CHW depth-wise 16x16x64, high, away", depthwise_3x3_chw_stride_1_high_away, DORY_DEPTHWISE, 16, 16, 64, 64, 3, 1, HIGH, DORY_ROUND_AWAY),
    SHAPE("CHW depth-wise s2 8x8x64, high", depthwise_3x3_chw_stride_2_high, DORY_DEPTHWISE, 8, 8, 64, 64, 3, 2, HIGH, DORY_ROUND_FLOOR),
    SHAPE("CHW depth-wise s2 8x8x64, split", depthwise_3x3_chw_stride_2_split, DORY_DEPTHWISE, 8, 8, 64, 64, 3, 2, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("CHW depth-wise s2 8x8x64, high, away", depthwise_3x3_chw_stride_2_high_away, DORY_DEPTHWISE, 8, 8, 64, 64, 3, 2, HIGH, DORY_ROUND_AWAY),
    SHAPE("CHW depth-wise s2 right 8x8x64", depthwise_3x3_chw_stride_2_right, DORY_DEPTHWISE, 8, 8, 64, 64, 3, 2, 32, 0),
    SHAPE("CHW depth-wise s2 right 8x24x16, split", depthwise_3x3_chw_stride_2_right_split, DORY_DEPTHWISE, 8, 24, 16, 16, 3, 2, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("CHW depth-wise s2 right 6x6x64, split", depthwise_3x3_chw_stride_2_right_split, DORY_DEPTHWISE, 6, 6, 64, 64, 3, 2, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("CHW depth-wise s2 7x7x96", depthwise_3x3_chw_stride_2, DORY_DEPTHWISE, 7, 7, 96, 96, 3, 2, 32, 0),
    SHAPE("CHW depth-wise s2 14x14x32, half", depthwise_3x3_chw_stride_2_half, DORY_DEPTHWISE, 14, 14, 32, 32, 3, 2, 32, 0),
    SHAPE("CHW depth-wise s2 6x6x64, half, / 2^n", depthwise_3x3_chw_stride_2_half_clamped, DORY_DEPTHWISE, 6, 6, 64, 64, 3, 2, CLAMPED, 1 << 20),
    SHAPE("CHW depth-wise s2 5x5x96, one", depthwise_3x3_chw_stride_2_one, DORY_DEPTHWISE, 5, 5, 96, 96, 3, 2, 32, 0),
    SHAPE("CHW depth-wise s2 9x9x64, one, high, away", depthwise_3x3_chw_stride_2_one_high_away, DORY_DEPTHWISE, 9, 9, 64, 64, 3, 2, HIGH, DORY_ROUND_AWAY),
    SHAPE("CHW depth-wise s2 right 6x6x64, half, split", depthwise_3x3_chw_stride_2_right_half_split, DORY_DEPTHWISE, 6, 6, 64, 64, 3, 2, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("CHW depth-wise s2 right 5x5x64, one, high", depthwise_3x3_chw_stride_2_right_one_high, DORY_DEPTHWISE, 5, 5, 64, 64, 3, 2, HIGH, DORY_ROUND_FLOOR),
    SHAPE("depth-wise 5x5, 16x16x32", depthwise_direct, DORY_DEPTHWISE, 16, 16, 32, 32, 5, 1, 32, 0),
    SHAPE("depth-wise 5x5, 25x25x20, / 2^n", depthwise_clamped, DORY_DEPTHWISE, 25, 25, 20, 20, 5, 1, CLAMPED, 1 << 20),
    SHAPE("depth-wise 5x5, 16x16x32, / 2^n", depthwise_clamped, DORY_DEPTHWISE, 16, 16, 32, 32, 5, 1, CLAMPED, 1 << 20),
    SHAPE("depth-wise 5x5, 16x16x32, / (2^n - 1)", depthwise_clamped_less_one, DORY_DEPTHWISE, 16, 16, 32, 32, 5, 1, CLAMPED, (1 << 20) - 1),
    SHAPE("depth-wise 5x5, 16x16x32, high", depthwise_high, DORY_DEPTHWISE, 16, 16, 32, 32, 5, 1, HIGH, DORY_ROUND_FLOOR),
    SHAPE("depth-wise 5x5, 16x16x32, high, away", depthwise_high_away, DORY_DEPTHWISE, 16, 16, 32, 32, 5, 1, HIGH, DORY_ROUND_AWAY),
    SHAPE("depth-wise 5x5, 16x16x32, split", depthwise_split, DORY_DEPTHWISE, 16, 16, 32, 32, 5, 1, SPLIT, DORY_ROUND_FLOOR),
    SHAPE("depth-wise 5x5, 16x16x32, split, away", depthwise_split_away, DORY_DEPTHWISE, 16, 16, 32, 32, 5, 1, SPLIT, DORY_ROUND_AWAY),
    SHAPE("depth-wise 5x5 stride 2, 8x8x32", depthwise_direct, DORY_DEPTHWISE, 8, 8, 32, 32, 5, 2, 32, 0),
    SHAPE("depth-wise 5x5 s2, 8x25x16, / 2^n", depthwise_clamped, DORY_DEPTHWISE, 8, 25, 16, 16, 5, 2, CLAMPED, 1 << 20),
    SHAPE("depth-wise 5x5 s2, 8x25x16, high, away", depthwise_high_away, DORY_DEPTHWISE, 8, 25, 16, 16, 5, 2, HIGH, DORY_ROUND_AWAY),
    SHAPE("depth-wise 7x7, 8x8x32", depthwise_direct, DORY_DEPTHWISE, 8, 8, 32, 32, 7, 1, 32, 0),
    SHAPE("depth-wise 7x7, 8x8x32, / 2^n", depthwise_clamped, DORY_DEPTHWISE, 8, 8, 32, 32, 7, 1, CLAMPED, 1 << 20),
    SHAPE("depth-wise 7x7, 13x13x32, / 2^n", depthwise_clamped, DORY_DEPTHWISE, 13, 13, 32, 32, 7, 1, CLAMPED, 1 << 20),
    SHAPE("depth-wise 7x7, 16x16x32, / 2^n", depthwise_clamped, DORY_DEPTHWISE, 16, 16, 32, 32, 7, 1, CLAMPED, 1 << 20),
    SHAPE("depth-wise 7x7 s2, 13x13x16, / (2^n - 1)", depthwise_clamped_less_one, DORY_DEPTHWISE, 13, 13, 16, 16, 7, 2, CLAMPED, (1 << 20) - 1),
    SHAPE("depth-wise 3x3 stride 4, 8x8x32", depthwise_direct, DORY_DEPTHWISE, 8, 8, 32, 32, 3, 4, 32, 0),
    LINE("depth-wise 1x3, 512x4, / 2^n", line_clamped, 512, 4, 3, CLAMPED, 1 << 20),
    LINE("depth-wise 1x3, 28x64, / 2^n", line_clamped, 28, 64, 3, CLAMPED, 1 << 20),
    LINE("depth-wise 1x3, 28x40, high, away", line_high_away, 28, 40, 3, HIGH, DORY_ROUND_AWAY),
    {"depth-wise 5x1, 24x64", "dory_xpulpv2_line_direct", DORY_DEPTHWISE, 24, 1, 64, 64, 1, 1, DORY_NORMALISE_32, 0, 8, 8, 8, false, false, 5, 0, 1},
    LINE("depth-wise 1x5, 24x64", line_direct, 24, 64, 5, 32, 0),
    LINE("depth-wise 1x5, 64x64, / 2^n", line_clamped, 64, 64, 5, CLAMPED, 1 << 20),
    LINE("depth-wise 1x5, 24x64, high, away", line_high_away, 24, 64, 5, HIGH, DORY_ROUND_AWAY),
    LINE("depth-wise 1x5, 24x128, split, away", line_split_away, 24, 128, 5, SPLIT, DORY_ROUND_AWAY),
    LINE("depth-wise 1x10, 64x32, / 2^n", line_clamped, 64, 32, 10, CLAMPED, 1 << 20),
    LINE("depth-wise 1x10, 15x64, high, away", line_high_away, 15, 64, 10, HIGH, DORY_ROUND_AWAY),
    LINE("depth-wise 1x15, 1x128, high, away", depthwise_single, 1, 128, 15, HIGH, DORY_ROUND_AWAY),
    LINE("depth-wise 1x16, 64x32, / (2^n - 1)", line_clamped_less_one, 64, 32, 16, CLAMPED, (1 << 20) - 1),
    SHAPE("depth-wise 3x3 64-bit, 16x16x32", depthwise_64, DORY_DEPTHWISE, 16, 16, 32, 32, 3, 1, 64, 0),
    SHAPE("depth-wise 3x3 division, 16x16x32", depthwise_divided, DORY_DEPTHWISE, 16, 16, 32, 32, 3, 1, DIVIDE, 1398101),
    LINE("depth-wise 1x3, 28x64, 64-bit", line_64, 28, 64, 3, 64, 0),
    LINE("depth-wise 1x5, 24x64, division", line_divided, 24, 64, 5, DIVIDE, 1398101),
    LINE("depth-wise 1x10, 64x32, 64-bit", line_64, 64, 32, 10, 64, 0),
    LINE("depth-wise 1x5, 24x64, even", line_high_even, 24, 64, 5, HIGH, DORY_ROUND_EVEN),
    SHAPE("depth-wise 3x3 even, 8x8x32", depthwise_high_even, DORY_DEPTHWISE, 8, 8, 32, 32, 3, 1, HIGH, DORY_ROUND_EVEN),
    SHAPE("depth-wise 5x5 64-bit, 8x8x32", depthwise_64, DORY_DEPTHWISE, 8, 8, 32, 32, 5, 1, 64, 0),
    PACKED("pointwise 40-60, 16 to 16, division", convolution_any_8, DORY_CONVOLUTION, 8, 8, 60, 40, 1, 1, DIVIDE, 1398101, 8, 16, 16),
    PACKED("pointwise 8-32, 16 to 16, 64-bit", convolution_any_8, DORY_CONVOLUTION, 8, 8, 32, 8, 1, 1, 64, 0, 8, 16, 16),
    SHAPE("depth-wise 5x5 high, 8x8x32", depthwise_high, DORY_DEPTHWISE, 8, 8, 32, 32, 5, 1, HIGH, DORY_ROUND_FLOOR),
    SHAPE("depth-wise 3x3 / another, 16x16x32", depthwise, DORY_DEPTHWISE, 16, 16, 32, 32, 3, 1, CLAMPED, 1398101),
    SHAPE("addition 16x16x32", addition, DORY_ADDITION, 16, 16, 32, 32, 1, 1, 32, 0),
    SHAPE("addition 16x16x32, two stages", addition, DORY_ADDITION, 16, 16, 32, 32, 1, 1, 32, 4),
    SHAPE("addition 16x16x32, tables", addition, DORY_ADDITION, 16, 16, 32, 32, 1, 1, HIGH, DORY_ROUND_FLOOR),
    SHAPE("addition 16x16x32, tables, away", addition, DORY_ADDITION, 16, 16, 32, 32, 1, 1, HIGH, DORY_ROUND_AWAY),
    SHAPE("addition 16x16x32, tables, even", addition, DORY_ADDITION, 16, 16, 32, 32, 1, 1, HIGH, DORY_ROUND_EVEN),
    SHAPE("multiplication 16x16x32", multiplication, DORY_MULTIPLICATION, 16, 16, 32, 32, 1, 1, HIGH, DORY_ROUND_FLOOR),
    SHAPE("multiplication 16x16x32, away", multiplication, DORY_MULTIPLICATION, 16, 16, 32, 32, 1, 1, HIGH, DORY_ROUND_AWAY),
    SHAPE("multiplication 16x16x32, even", multiplication, DORY_MULTIPLICATION, 16, 16, 32, 32, 1, 1, HIGH, DORY_ROUND_EVEN),
    {"multiplication 16x16x32 by 1x1x32", "dory_xpulpv2_multiplication", DORY_MULTIPLICATION, 16, 16, 32, 32, 1, 1, DORY_NORMALISE_HIGH, DORY_ROUND_FLOOR, 8, 8, 8, false, true, 0, 0, 1},
    SHAPE("table 16x16x32", table, DORY_TABLE, 16, 16, 32, 32, 1, 1, 32, 0),
    SHAPE("copy 16x16x48", copy, DORY_COPY, 16, 16, 48, 48, 1, 1, 32, 0),
    SHAPE("concatenation 16x16x48", concatenation, DORY_CONCATENATION, 16, 16, 48, 48, 1, 1, 32, 0),
    SHAPE("concatenation 16x16x6", concatenation, DORY_CONCATENATION, 16, 16, 6, 6, 1, 1, 32, 0),
    SHAPE("concatenation 16x16x48, requantised", concatenation_any, DORY_CONCATENATION, 16, 16, 48, 48, 1, 1, NONE, 0),
    PACKED("concatenation 16x16x64, 2 bits", concatenation_any, DORY_CONCATENATION, 16, 16, 64, 64, 1, 1, 32, 0, 8, 2, 2),
    PACKED("concatenation 8x16x48, 16 to 8 bits", concatenation_any, DORY_CONCATENATION, 8, 16, 48, 48, 1, 1, NONE, 0, 8, 16, 8),
    PACKED("concatenation 16x16x30, 4 bits", concatenation_any, DORY_CONCATENATION, 16, 16, 30, 30, 1, 1, NONE, 0, 8, 4, 4),
    PACKED("concatenation 1x1x400, 8 to 4 bits", concatenation_any, DORY_CONCATENATION, 1, 1, 400, 400, 1, 1, NONE, 0, 8, 8, 4),
    SHAPE("interpolation 16x16x48, even", interpolation, DORY_INTERPOLATION, 16, 16, 48, 48, 1, 1, HIGH, DORY_ROUND_EVEN),
    SHAPE("interpolation 16x16x3, away", interpolation, DORY_INTERPOLATION, 16, 16, 3, 3, 1, 1, HIGH, DORY_ROUND_AWAY),
    SHAPE("softmax 1x1x12", softmax, DORY_SOFTMAX, 1, 1, 12, 12, 1, 1, 32, 0),
    SHAPE("softmax 8x8x12", softmax, DORY_SOFTMAX, 8, 8, 12, 12, 1, 1, 32, 0),
    SHAPE("exact softmax 1x1x12", softmax_exact, DORY_SOFTMAX, 1, 1, 12, 12, 1, 1, THRESHOLDS, 0),
    SHAPE("exact softmax 8x8x12", softmax_exact, DORY_SOFTMAX, 8, 8, 12, 12, 1, 1, THRESHOLDS, 0),
    SHAPE("average 7x7, 1x1x256, high", pool_average, DORY_AVERAGE_POOL, 1, 1, 256, 256, 7, 7, HIGH, DORY_ROUND_FLOOR),
    SHAPE("average 2x2, 8x8x64, high", pool_average, DORY_AVERAGE_POOL, 8, 8, 64, 64, 2, 2, HIGH, DORY_ROUND_FLOOR),
    SHAPE("average 16x16, 1x1x64, high, away", pool_average, DORY_AVERAGE_POOL, 1, 1, 64, 64, 16, 16, HIGH, DORY_ROUND_AWAY),
    SHAPE("average 2x2, 8x8x64", pool_average, DORY_AVERAGE_POOL, 8, 8, 64, 64, 2, 2, 32, 0),
    SHAPE("average 4x4, 4x4x64, thresholds", pool_average, DORY_AVERAGE_POOL, 4, 4, 64, 64, 4, 4, THRESHOLDS, 0),
    SHAPE("maximum 2x2, 8x16x32", pool_maximum, DORY_MAXIMUM_POOL, 8, 16, 32, 32, 2, 2, 32, 0),
    SHAPE("maximum 3x3, 8x8x32", pool_maximum, DORY_MAXIMUM_POOL, 8, 8, 32, 32, 3, 2, 32, 0),
    SHAPE("average 4x4, 1x1x1024", pool_average, DORY_AVERAGE_POOL, 1, 1, 1024, 1024, 4, 4, 32, 0),
    SHAPE("average 7x7, 1x1x256", pool_average, DORY_AVERAGE_POOL, 1, 1, 256, 256, 7, 7, 32, 0),
    SHAPE("maximum 3x3, 8x8x27", pool_maximum, DORY_MAXIMUM_POOL, 8, 8, 27, 27, 3, 2, 32, 0),
    SHAPE("average 4x4, 4x4x27", pool_average, DORY_AVERAGE_POOL, 4, 4, 27, 27, 4, 4, 32, 0),
    SHAPE("addition 16x16x32, requantised", addition, DORY_ADDITION, 16, 16, 32, 32, 1, 1, NONE, 0),
    PACKED("addition 8x16x32, 16 bits", addition_any, DORY_ADDITION, 8, 16, 32, 32, 1, 1, 32, 0, 8, 16, 16),
    PACKED("addition 8x16x27, 8 + 8 to 4 bits", addition_any, DORY_ADDITION, 8, 16, 27, 27, 1, 1, 32, 0, 8, 8, 4),
    PACKED("addition 16x16x32, 8 to 16 bits", addition_any, DORY_ADDITION, 16, 16, 32, 32, 1, 1, 32, 0, 8, 8, 16),
    PACKED("addition 16x16x40, 4 bits", addition_any, DORY_ADDITION, 16, 16, 40, 40, 1, 1, 32, 0, 8, 4, 4),
    PACKED("addition 16x16x32, 2 bits, requant.", addition_any, DORY_ADDITION, 16, 16, 32, 32, 1, 1, NONE, 0, 8, 2, 2),
    PACKED("addition 16x16x32, 4 bits, tables", addition_any, DORY_ADDITION, 16, 16, 32, 32, 1, 1, HIGH, DORY_ROUND_FLOOR, 8, 4, 8),
    PACKED("maximum 2x2, 8x16x32, 2 bits", pool_any, DORY_MAXIMUM_POOL, 8, 16, 32, 32, 2, 2, 32, 0, 8, 2, 2),
    PACKED("maximum 2x2, 8x8x96, 2 bits", pool_any, DORY_MAXIMUM_POOL, 8, 8, 96, 96, 2, 2, 32, 0, 8, 2, 2),
    PACKED("maximum 3x3, 8x8x40, 4 bits", pool_any, DORY_MAXIMUM_POOL, 8, 8, 40, 40, 3, 2, 32, 0, 8, 4, 4),
    PACKED("maximum 3x3, 8x8x32, 16 bits", pool_any, DORY_MAXIMUM_POOL, 8, 8, 32, 32, 3, 2, 32, 0, 8, 16, 16),
    PACKED("average 7x7, 1x1x256, 4 bits", pool_any, DORY_AVERAGE_POOL, 1, 1, 256, 256, 7, 7, 32, 0, 8, 4, 4),
    PACKED("average 2x2, 8x8x64, 2 bits", pool_any, DORY_AVERAGE_POOL, 8, 8, 64, 64, 2, 2, 32, 0, 8, 2, 2),
    PACKED("average 2x2, 8x8x27, 4 bits", pool_any, DORY_AVERAGE_POOL, 8, 8, 27, 27, 2, 2, 32, 0, 8, 4, 4),
    PACKED("average 2x2, 8x8x64, 4 bits, high", pool_any, DORY_AVERAGE_POOL, 8, 8, 64, 64, 2, 2, HIGH, DORY_ROUND_FLOOR, 8, 4, 4),
    PACKED("average 4x4, 4x4x64, 16 bits", pool_any, DORY_AVERAGE_POOL, 4, 4, 64, 64, 4, 4, 32, 0, 8, 16, 16),
    PACKED("average 7x7, 1x1x80, 8 to 16 bits", pool_any, DORY_AVERAGE_POOL, 1, 1, 80, 80, 7, 7, 32, 0, 8, 8, 16),
    {"average 18x9, 1x1x17, 8 to 2 bits", "dory_xpulpv2_pool_any", DORY_AVERAGE_POOL, 1, 1, 17, 17, 9, 9, DORY_NORMALISE_32, 0, 8, 8, 2, false, false, 18, 0, 1},
    PACKED("average 12x12, 1x1x16, 16 bits", pool_any, DORY_AVERAGE_POOL, 1, 1, 16, 16, 12, 12, 32, 0, 8, 16, 16),
    PACKED("maximum 12x12, 1x1x32, 8 to 4 bits", pool_any, DORY_MAXIMUM_POOL, 1, 1, 32, 32, 12, 12, 32, 0, 8, 8, 4),
};
/* clang-format on */

static unsigned measure(const struct test_shape *shape, unsigned cores)
{
    test_case_of(&test, shape, cores);
    uint32_t taken;
    unsigned failures = !firmware_case_run(&test, &taken);
    long predicted = (long)test.description->cycles(&test.layer, &test.shape, cores), cycles = (long)taken;
    long error = (predicted - cycles) * 100 / cycles, rate = (long)(test.macs * 1000 / (uint64_t)cycles);
    printf("%-42s %u %8ld %8ld %+5ld %% %4ld.%03ld\n", shape->name, cores, cycles, predicted, error, rate / 1000,
           rate % 1000);
    if (labs(error) > WORST_PREDICTION) {
        printf("    the prediction is off by more than %d %%\n", WORST_PREDICTION);
        failures++;
    }
    return failures;
}

int main(void)
{
    int status = firmware_case_open(CORES);
    if (status != 0) {
        return status;
    }
    unsigned failures = run_random_cases();
    printf("%-42s cores cycles predicted error MAC/cycle\n", "layer in L1");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        failures += measure(&shapes[i], CORES);
    }
    for (unsigned cores = 1; cores <= CORES; cores *= 2) {
        failures += measure(&shapes[1], cores);
    }
    hal_cluster_close();
    return failures != 0;
}
