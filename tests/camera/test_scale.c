/* scale_area against a mean that is added up pixel by pixel, for pictures of many sizes, and what it must refuse. */
#include "aideck/scale.h"

#include "common/app.h"
#include "dory/hal.h"
#include "expect.h"

enum { LARGEST_WIDTH = 324, LARGEST_HEIGHT = 257, L1_BYTES = 24 * 1024, GUARD = 0xA5 };

static uint32_t l1[L1_BYTES / 4] DORY_L1;
static uint8_t picture[LARGEST_WIDTH * LARGEST_HEIGHT] DORY_L2;
static uint8_t result[130 * 100 * 3 + 1] DORY_L2;
static struct scale scale DORY_L2;
static enum scale_pattern pattern; /* of the cases to come, and the bits that they flip */
static uint8_t flips;

static void fill_picture(uint32_t seed)
{
    for (size_t i = 0; i < sizeof picture; i++) {
        seed = seed * 1664525u + 1013904223u;
        picture[i] = seed >> 28 < 4 ? 255 : (uint8_t)(seed >> 24); /* the largest sums, too */
    }
}

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* What of pixel `at`, which is `target` long, lies in area `index`, which is `source` long. */
static uint32_t overlap(uint32_t at, uint32_t index, uint32_t source, uint32_t target)
{
    return smaller((at + 1) * target, (index + 1) * source) - larger(at * target, index * source);
}

/* The weighted sum of one pixel of each cell, its row and column in there, over an area; cells of one pixel are the picture.
 */
static uint64_t sum_area(uint32_t row, uint32_t column, uint32_t cell, uint32_t cell_row, uint32_t cell_column)
{
    const uint32_t width = scale.width / cell, height = scale.height / cell;
    uint64_t sum = 0;
    for (uint32_t y = row * height / scale.result_height; y * scale.result_height < (row + 1) * height; y++) {
        uint32_t down = overlap(y, row, height, scale.result_height);
        for (uint32_t x = column * width / scale.result_width; x * scale.result_width < (column + 1) * width; x++) {
            uint32_t across = overlap(x, column, width, scale.result_width);
            size_t at = (size_t)(y * cell + cell_row) * scale.picture_stride + x * cell + cell_column;
            sum += (uint64_t)scale.picture[at] * down * across;
        }
    }
    return sum;
}

static uint8_t round_mean(uint64_t sum, uint64_t area) { return (uint8_t)((2 * sum + area) / (2 * area)) ^ scale.flips; }

/* Of grey, or of colour 0, 1, 2: red, green, blue. Where red is in a cell, by the patterns' names. */
static uint8_t expected(uint32_t row, uint32_t column, uint32_t colour)
{
    static const char names[][5] = {"RGGB", "GRBG", "GBRG", "BGGR"};
    uint64_t sum = 0, count = 0;
    if (scale.pattern == SCALE_GREY)
        return round_mean(sum_area(row, column, 1, 0, 0), (uint64_t)scale.width * scale.height);
    for (uint32_t i = 0; i < 4; i++) {
        if (names[scale.pattern][i] != "RGB"[colour])
            continue;
        sum += sum_area(row, column, 2, i / 2, i % 2);
        count += (uint64_t)scale.width * scale.height / 4;
    }
    return round_mean(sum, count);
}

static int run(uint32_t left, uint16_t width, uint16_t height, uint16_t result_width, uint16_t result_height)
{
    scale = (struct scale){
        .picture = picture + left,
        .result = result,
        .picture_stride = LARGEST_WIDTH,
        .width = width,
        .height = height,
        .result_width = result_width,
        .result_height = result_height,
        .rows = result_height,
        .pattern = pattern,
        .flips = flips,
        .l1 = l1,
        .l1_bytes = sizeof l1,
        .status = -1,
    };
    memset(result, GUARD, sizeof result);
    int status = hal_cluster_run(scale_area, &scale);
    return status ? status : scale.status;
}

/* Of the last result some rows once more, which must be the same. */
static void check_rows(uint16_t first, uint16_t rows)
{
    static uint8_t again[96 * 96] DORY_L2;
    scale.result = again;
    scale.first_row = first;
    scale.rows = rows;
    memset(again, GUARD, sizeof again);
    int status = hal_cluster_run(scale_area, &scale);
    size_t row_bytes = (size_t)scale.result_width * (pattern == SCALE_GREY ? 1 : 3), bytes = rows * row_bytes;
    EXPECT(status == DORY_OK && scale.status == DORY_OK, "%u rows from %u: status %d", rows, first, scale.status);
    EXPECT(!memcmp(again, result + first * row_bytes, bytes) && again[bytes] == GUARD, "%u rows from %u differ", rows,
           first);
}

/* All that is known of the case at hand. */
#define EXPECT_OF_SCALE(condition, what, number)                                                                            \
    EXPECT(condition, "%ux%u to %ux%u: %s %d", scale.width, scale.height, scale.result_width, scale.result_height, what,    \
           number)

static void check(uint32_t left, uint16_t width, uint16_t height, uint16_t result_width, uint16_t result_height)
{
    int status = run(left, width, height, result_width, result_height);
    EXPECT_OF_SCALE(status == DORY_OK, "status", status);
    uint32_t wrong = 0, channels = pattern == SCALE_GREY ? 1 : 3;
    for (uint32_t row = 0; row < result_height; row++)
        for (uint32_t value = 0; value < channels * result_width; value++)
            wrong += result[row * channels * result_width + value] != expected(row, value / channels, value % channels);
    EXPECT_OF_SCALE(wrong == 0, "pixels that differ:", (int)wrong);
    EXPECT_OF_SCALE(result[channels * result_width * result_height] == GUARD, "written behind the result", 0);
}

static void refuse(uint16_t width, uint16_t height, uint16_t result_width, uint16_t result_height, int expected_status)
{
    int status = run(0, width, height, result_width, result_height);
    EXPECT_OF_SCALE(status == expected_status, "should be refused, status", status);
    EXPECT_OF_SCALE(result[0] == GUARD, "refused, and written", 0);
}

static void test_grey(void)
{
    pattern = SCALE_GREY;
    check(40, 244, 244, 8, 8);
    check(0, 324, 244, 96, 96);
    check_rows(31, 40);
    check_rows(95, 1);
    check(0, 44, 257, 1, 1);
    check(3, 100, 257, 7, 31);
    check(1, 20, 13, 7, 5);
    check(0, 4, 1, 4, 1);
    check(5, 32, 16, 32, 16);
    check(0, 64, 64, 33, 63);
    check(0, 64, 40, 97, 95); /* larger */
    check(2, 8, 4, 8, 5);
    flips = 0x80;
    check(0, 100, 64, 50, 50);
    flips = 0;
}

static void test_colours(void)
{
    for (pattern = SCALE_RGGB; pattern < SCALE_GREY; pattern++) {
        check(40, 244, 244, 130, 100);
        check(2, 64, 48, 33, 7);
        check_rows(2, 4);
        check(0, 4, 2, 3, 5);
        flips = 0x80;
        check(0, 20, 16, 10, 8);
        flips = 0;
    }
    pattern = SCALE_RGGB;
    refuse(4, 3, 1, 1, DORY_ERROR_ARGUMENT);
    refuse(324, 244, 1, 1, DORY_ERROR_L1_TOO_SMALL);
    pattern = SCALE_GREY + 1;
    refuse(4, 4, 1, 1, DORY_ERROR_ARGUMENT);
}

static void test_errors(void)
{
    pattern = SCALE_GREY;
    refuse(6, 4, 1, 1, DORY_ERROR_ARGUMENT);
    refuse(0, 4, 1, 1, DORY_ERROR_ARGUMENT);
    refuse(4, 0, 1, 1, DORY_ERROR_ARGUMENT);
    refuse(4, 4, 0, 4, DORY_ERROR_ARGUMENT);
    refuse(4, 4, 4, 0, DORY_ERROR_ARGUMENT);
    refuse(4, 258, 1, 1, DORY_ERROR_ARGUMENT);
    scale.height = 4;
    scale.first_row = 1;
    hal_cluster_run(scale_area, &scale);
    EXPECT(scale.status == DORY_ERROR_ARGUMENT, "a row behind the last one: status %d", scale.status);
    refuse(324, 244, 1, 1, DORY_ERROR_L1_TOO_SMALL);
}

static int test(void)
{
    fill_picture(1);
    test_grey();
    test_colours();
    memset(picture, 255, sizeof picture); /* the largest sums of all */
    pattern = SCALE_GREY;
    check(0, 40, 257, 11, 2);
    pattern = SCALE_BGGR;
    check(0, 40, 256, 11, 2);
    test_errors();
    return expect_result("camera: scale") ? DORY_ERROR_MISMATCH : DORY_OK;
}

int main(void) { return app_main(test); }
