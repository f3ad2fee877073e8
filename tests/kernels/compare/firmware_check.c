/* The check firmware itself, on every target: it must find what differs, and where. The network is the hand-made one of
 * tests/emit; two of its tables here expect something that it does not compute. */
#include <string.h>

#include "compare.h"
#include "dory/check.h"
#include "dory/flash_section.h"
#include "expect.h"
#include "line.h"
#include "tiny.h"

/* ---- images in flash ---- */

#define INPUT  0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240
#define ROWS_0 15, 25, 26, 43, 33, 55, 23, 37 /* worked out from the weights in tests/emit/tiny_plan.c, not by dory */
#define ROWS_2 62, 103, 90, 150, 99, 164, 62, 104, 34, 56, 47, 79, 51, 85, 30, 50

static const uint8_t right[48] DORY_FLASH = {INPUT, ROWS_0, 37, 61, 57, 94, 65, 108, 42, 70, ROWS_2};
static const uint8_t wrong[48] DORY_FLASH = {INPUT, ROWS_0, 37,  61, 57,  94, 65, 108, 42, 70, 62, 103, 90,
                                             150,   99,     163, 62, 104, 34, 56, 47,  79, 51, 85, 30,  51};

static const struct dory_check_layer layers[] = {
    {.name = "picture", .offset = 16, .expected_offset = 16, .height = 4, .width = 4, .channels = 2, .bits = 8, .macs = 288},
};
static struct dory_layer_profile profile[1];
static const uint32_t input_offsets[1] = {0};
static const uint16_t output_layers[1] = {0};

const struct dory_check dory_check = {.network = &tiny_network,
                                      .layers = layers,
                                      .profile = profile,
                                      .weights = tiny_weights,
                                      .expected = right,
                                      .samples = 1,
                                      .sample_bytes = sizeof right,
                                      .input_offsets = input_offsets,
                                      .output_layers = output_layers};

static void test_runs(void)
{
    struct dory_check check = dory_check;
    EXPECT(dory_check_run(&check) == DORY_OK, "the network computes what is expected");
    check.expected = wrong;
    EXPECT(dory_check_run(&check) == DORY_ERROR_MISMATCH, "two values differ");
    check.weights = right;
    EXPECT(dory_check_run(&check) == DORY_ERROR_FLASH_IMAGE, "these are no weights");
}

/* ---- comparing ---- */

static struct dory_comparison compare(const struct dory_check_layer *layer, const void *expected, const void *actual)
{
    struct dory_comparison comparison = {0};
    comparison_take(&comparison, layer, 0, expected, actual, comparison_bytes(layer));
    return comparison;
}

static void test_whole_bytes(void)
{
    const struct dory_check_layer logits = {.height = 1, .width = 1, .channels = 3, .bits = 32, .is_signed = 1};
    const int32_t a[3] = {5, -70000, 7}, b[3] = {5, -70001, 8};
    struct dory_comparison found = compare(&logits, a, b);
    EXPECT(found.differing == 2 && found.bytes == 12 && found.channel == 1, "%u differ", (unsigned)found.differing);
    EXPECT(found.expected == -70000 && found.actual == -70001, "%d, %d", (int)found.expected, (int)found.actual);
    const struct dory_check_layer sums = {.height = 2, .width = 2, .channels = 1, .bits = 16};
    const uint16_t c[4] = {1, 2, 65535, 4}, d[4] = {1, 2, 510, 4};
    found = compare(&sums, c, d);
    EXPECT(found.differing == 1 && found.row == 1 && found.column == 0, "row %u, column %u", (unsigned)found.row,
           (unsigned)found.column);
    EXPECT(found.expected == 65535 && found.actual == 510, "%d, %d", (int)found.expected, (int)found.actual);
}

/* Three elements of 4 bits take two bytes; what is in the rest of the second does not count. */
static void test_packed(void)
{
    const struct dory_check_layer nibbles = {.height = 1, .width = 2, .channels = 3, .bits = 4, .is_signed = 1};
    const uint8_t a[4] = {0x21, 0xF3, 0x21, 0x03}, b[4] = {0x21, 0x03, 0x21, 0x0D};
    struct dory_comparison found = compare(&nibbles, a, b);
    EXPECT(found.differing == 1 && found.column == 1 && found.channel == 2, "%u differ", (unsigned)found.differing);
    EXPECT(found.expected == 3 && found.actual == -3, "%d, %d", (int)found.expected, (int)found.actual);
    const struct dory_check_layer pairs = {.height = 1, .width = 1, .channels = 4, .bits = 2};
    const uint8_t c[1] = {0xE4}, d[1] = {0xD4};
    found = compare(&pairs, c, d);
    EXPECT(found.differing == 1 && found.channel == 2 && found.expected == 2 && found.actual == 1, "channel %u",
           (unsigned)found.channel);
}

/* Pieces of a tensor add up, and places count from its start. */
static void test_pieces(void)
{
    const struct dory_check_layer layer = {.height = 2, .width = 3, .channels = 2, .bits = 8};
    const uint8_t a[12] = {0}, b[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9, 0};
    struct dory_comparison found = {0};
    for (uint32_t first = 0; first < 12; first += 4) {
        comparison_take(&found, &layer, first, a + first, b + first, 4);
    }
    EXPECT(found.bytes == comparison_bytes(&layer) && found.differing == 2, "%u differ", (unsigned)found.differing);
    EXPECT(found.row == 1 && found.column == 1 && found.channel == 1, "column %u", (unsigned)found.column);
}

/* ---- lines ---- */

static void test_lines(void)
{
    struct line line = {.length = 0};
    line_add_unsigned(&line, 18446744073709551615u);
    line_add(&line, " ");
    line_add_signed(&line, INT32_MIN);
    line_add(&line, " ");
    line_add_ratio(&line, 807, 100);
    line_add(&line, " ");
    line_add_ratio(&line, 1, 0);
    line.text[line.length] = 0;
    EXPECT(strcmp(line.text, "18446744073709551615 -2147483648 8.07 -") == 0, "'%s'", line.text);
    for (int i = 0; i < 100; i++) {
        line_add(&line, "much too long ");
    }
    EXPECT(line.length < sizeof line.text, "%u characters", (unsigned)line.length);
}

int main(void)
{
    test_whole_bytes();
    test_packed();
    test_pieces();
    test_lines();
    test_runs();
    return expect_result("test_check");
}
