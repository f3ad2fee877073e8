/* Cases of norms. */
#include <string.h>

#include "case_parts.h"
#include "dory/norm.h"
#include "random_layer.h"

/* As middle/norms.c makes them: factors of one byte, a left shift by which they fill up 31 bits, and terms of 30. */
void fill_norm(struct test_case *test, bool is_centred, uint32_t run, uint32_t count)
{
    struct dory_norm norm = {
        .epsilon_low = random_word(),
        .epsilon_high = random_up_to(3),
        .multiplier = random_between(1 << 30, INT32_MAX),
        .zero_point = (int32_t)random_up_to(255),
        .is_centred = is_centred,
        .fraction_bits = 2 * random_between(4, 9),
        .shift = random_between(10, 22),
        .run = run,
        .count = count,
    };
    uint32_t bits = 23;
    for (uint32_t n = test->layer.input_channels; is_centred && n > 1; n = (n + 3) / 4) {
        bits--;
    }
    norm.left_shift = random_between(bits - 4, bits);
    memcpy(test->lists, &norm, sizeof norm);
    for (uint32_t i = 0; i < count; i++) {
        test->lists[DORY_NORM_WORDS + 2 * i] = (int32_t)random_up_to(254) - 127;
        test->lists[DORY_NORM_WORDS + 2 * i + 1] = (int32_t)random_up_to(256 << norm.shift);
    }
    test->layer.constants.norm = (const struct dory_norm *)(const void *)test->lists;
    test->layer.norm.words = (uint16_t)(DORY_NORM_WORDS + 2 * count);
}

/* Of a norm that is there: its rows' roots, of a second input. What is shifted left has 22 bits before. */
static void add_roots(struct test_case *test)
{
    struct dory_norm *norm = (struct dory_norm *)(void *)test->lists;
    norm->has_roots = 1;
    norm->left_shift = random_between(2, 8);
    for (uint32_t i = 0; i < 256; i++) {
        test->lists[test->layer.norm.words++] = (int32_t)random_up_to(INT32_MAX);
    }
    test->layer.second_repeats = DORY_REPEATS_CHANNEL;
}

/* Of a norm that is there: divided or rounded twice, which has no bounds but those of a byte. */
static void take_other_arithmetic(struct test_case *test)
{
    struct dory_norm *norm = (struct dory_norm *)(void *)test->lists;
    norm->arithmetic = random_between(DORY_NORM_DIVIDED, DORY_NORM_TWICE);
    test->layer.minimum = 0;
    test->layer.maximum = 255;
}

/* Constants for each element, for runs of a row, for each row, or one for all. */
void random_norm(struct test_case *test)
{
    test->tile.first_row = (uint16_t)random_up_to(5);
    uint32_t run = one_in(2) ? 1 : random_between(1, 6), runs = random_between(1, 1 + 80 / run), channels = run * runs;
    test->tile.first_channel = one_in(2) ? 0 : (uint16_t)(random_up_to(channels - 1) & ~3u);
    test->shape.channels = (uint16_t)random_between(one_in(2) ? 1 : channels, channels);
    test->shape.channels = (uint16_t)dory_minimum(test->shape.channels, channels - test->tile.first_channel);
    test->channels_behind = channels - test->tile.first_channel - test->shape.channels;
    struct dory_layer *layer = plain_layer(test, DORY_NORM);
    layer->input_channels = layer->output_channels;
    layer->stages = NULL;
    layer->minimum = one_in(4) ? (int32_t)random_up_to(100) : 0;
    layer->maximum = one_in(4) ? 100 + (int32_t)random_up_to(155) : 255;
    test->shape.input_channels = layer->input_channels;
    fill_norm(test, !one_in(3), run, runs * random_between(1, 4));
    if (one_in(4)) {
        add_roots(test);
    } else if (one_in(3)) {
        take_other_arithmetic(test);
    }
    shape_tile(test);
}
