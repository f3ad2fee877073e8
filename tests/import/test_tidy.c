/* Tables behind a layer: one that clamps becomes the layer's own bounds, any other stays. */
#include "expect.h"
#include "import/tidy.h"
#include "networks.h"

static uint8_t clamp_3_to_200(int x) { return (uint8_t)(x < 3 ? 3 : x > 200 ? 200 : x); }
static uint8_t negate(int x) { return x == 0; } /* bounds of 1 and 0, were it a clamp */
static uint8_t shift_up(int x) { return (uint8_t)(x < 255 ? x + 1 : 255); }

/* The layers that are left of an addition with that table behind it; the addition's bounds. */
static int tidied(uint8_t (*function)(int), int64_t bounds[2])
{
    struct arena arena = {0};
    struct network_builder builder;
    builder_start(&builder, &arena, 3);
    int input = builder_input(&builder, 4, 4, 8);
    int sum = builder_addition(&builder, input, input);
    int output = builder_pool(&builder, sum, LAYER_MAXIMUM_POOL, 1, 1, 0);
    struct network *network = &builder.network;
    struct layer *table = &network->layers[network->tensors[output].producer];
    uint8_t *bytes = arena_array(&arena, uint8_t, 256);
    for (int i = 0; i < 256; i++)
        bytes[i] = function(i);
    table->kind = LAYER_TABLE;
    table->table = bytes;
    table->stage_count = 0;
    network->outputs = arena_array(&arena, int, 1);
    network->outputs[0] = output;
    network->output_count = 1;
    struct stage *last = &network->layers[0].stages[network->layers[0].stage_count - 1];
    REQUIRE(network->layers[0].kind == LAYER_ADDITION && last->has_clip);
    network_tidy(network, &arena);
    last = &network->layers[0].stages[network->layers[0].stage_count - 1];
    bounds[0] = last->minimum;
    bounds[1] = last->maximum;
    int layers = network->layer_count;
    arena_free(&arena);
    return layers;
}

int main(void)
{
    int64_t bounds[2];
    EXPECT_EQUAL(tidied(clamp_3_to_200, bounds), 1);
    EXPECT(bounds[0] == 3 && bounds[1] == 200, "bounds %d, %d", (int)bounds[0], (int)bounds[1]);
    EXPECT_EQUAL(tidied(shift_up, bounds), 2);
    EXPECT_EQUAL(tidied(negate, bounds), 2);
    EXPECT(bounds[0] <= bounds[1], "bounds %d, %d", (int)bounds[0], (int)bounds[1]);
    return expect_result("tidy");
}
