/* Average pools that become convolutions compute what they did; those that need not, stay. */
#include <stdbool.h>
#include <stddef.h>

#include "expect.h"
#include "network/interpret.h"
#include "network/range.h"

enum { ROWS = 4, COLUMNS = 6, CHANNELS = 3, INPUTS = ROWS * COLUMNS * CHANNELS, OUTPUTS = 2 * 3 * CHANNELS };

static struct arena arena;

static void release(void) { arena_free(&arena); }

/* A mean over 2x2 elements, with a factor of multiplier / divisor. */
static struct network *mean(enum rounding rounding, int64_t multiplier, int64_t divisor)
{
    struct network *network = arena_array(&arena, struct network, 1);
    int64_t *numbers = arena_array(&arena, int64_t, 2);
    numbers[0] = multiplier;
    numbers[1] = -4 * 100;
    network->tensors = arena_array(&arena, struct tensor, 2);
    network->layers = arena_array(&arena, struct layer, 1);
    network->inputs = arena_array(&arena, int, 1);
    network->outputs = arena_array(&arena, int, 1);
    network->outputs[0] = network->layers[0].output = 1;
    network->tensor_count = 2;
    network->layer_count = network->input_count = network->output_count = 1;
    network->tensors[0] = tensor_plain("x", ROWS, COLUMNS, CHANNELS);
    network->tensors[1] = tensor_plain("y", 2, 3, CHANNELS);
    network->tensors[1].producer = 0;
    struct layer *layer = &network->layers[0];
    *layer = layer_plain("mean", LAYER_AVERAGE_POOL, 0);
    layer->output = 1;
    layer->kernel_height = layer->kernel_width = layer->stride_height = layer->stride_width = 2;
    layer->stage_count = 1;
    layer->stages[0] = (struct stage){.count = 1,
                                      .rounding = rounding,
                                      .multiplier = &numbers[0],
                                      .addend = &numbers[1],
                                      .divisor = divisor,
                                      .zero_point = 100,
                                      .has_clip = true,
                                      .maximum = 255};
    return network;
}

static const int64_t *outputs_of(const struct network *network)
{
    struct diagnostics diagnostics = {.arena = &arena};
    int64_t *input = arena_array(&arena, int64_t, INPUTS);
    for (int i = 0; i < INPUTS; i++)
        input[i] = i * 89 % 256;
    int64_t **values = interpret_network(network, (const int64_t *const[]){input}, &arena, &diagnostics);
    REQUIRE(values);
    return values[1];
}

static void expect_lowered(enum rounding rounding, int64_t multiplier, int64_t divisor, bool lowered)
{
    struct diagnostics diagnostics = {.arena = &arena};
    struct network *network = mean(rounding, multiplier, divisor);
    const int64_t *before = outputs_of(network);
    EXPECT_THAT(range_prove(network, NULL, &arena, &diagnostics));
    EXPECT_EQUAL(network->layers[0].kind == LAYER_CONVOLUTION, lowered);
    EXPECT_EQUAL(layer_is_depthwise(network, &network->layers[0]), lowered);
    const int64_t *after = outputs_of(network);
    for (int i = 0; i < OUTPUTS; i++)
        EXPECT_EQUAL(after[i], before[i]);
}

static void halves_to_even_want_a_convolution(void)
{
    expect_lowered(ROUND_HALF_EVEN, 1, 4, true);
    expect_lowered(ROUND_HALF_EVEN, 3, 10, true);
}

static void without_halves_a_pool_stays(void)
{
    expect_lowered(ROUND_HALF_EVEN, 1, 5, false);
    expect_lowered(ROUND_HALF_EVEN, 4194304, 16777213, false);
    expect_lowered(ROUND_HALF_AWAY, 1, 4, false);
    expect_lowered(ROUND_FLOOR, 1, 4, false);
}

static void rounding_twice_wants_a_convolution(void) { expect_lowered(ROUND_TWICE, 1 << 29, 1, true); }

int main(void)
{
    static const struct test tests[] = {
        TEST(halves_to_even_want_a_convolution),
        TEST(without_halves_a_pool_stays),
        TEST(rounding_twice_wants_a_convolution),
    };
    return RUN_TESTS("lower", tests, release);
}
