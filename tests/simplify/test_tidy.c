/* Tables behind a layer: one that clamps becomes the layer's own bounds, any other stays. Pools behind a table: in front of
 * it where the table rises. */
#include "expect.h"
#include "networks.h"
#include "simplify/tidy.h"

static uint8_t clamp_3_to_200(int x) { return (uint8_t)(x < 3 ? 3 : x > 200 ? 200 : x); }
static uint8_t negate(int x) { return x == 0; } /* bounds of 1 and 0, were it a clamp */
static uint8_t shift_up(int x) { return (uint8_t)(x < 255 ? x + 1 : 255); }

static uint8_t halve(int x) { return (uint8_t)(x / 2); }
static uint8_t fall(int x) { return (uint8_t)(255 - x); }

static uint8_t *table_of(struct arena *arena, uint8_t (*function)(int))
{
    uint8_t *bytes = arena_array(arena, uint8_t, 256);
    for (int i = 0; i < 256; i++)
        bytes[i] = function(i);
    return bytes;
}

static void set_output(struct network *network, struct arena *arena, int output)
{
    network->outputs = arena_array(arena, int, 1);
    network->outputs[0] = output;
    network->output_count = 1;
}

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
    table->kind = LAYER_TABLE;
    table->table = table_of(&arena, function);
    table->stage_count = 0;
    set_output(network, &arena, output);
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

/* Of a table of an input of 4x4x8, and a pool of it with windows of so many elements, so far apart: whether the pool is
 * first, and the shape between them and at the end is right. */
static bool is_pool_first(uint8_t (*function)(int), int size, int stride)
{
    struct arena arena = {0};
    struct network_builder builder;
    builder_start(&builder, &arena, 3);
    int input = builder_input(&builder, 4, 4, 8);
    int between = builder_pool(&builder, input, LAYER_MAXIMUM_POOL, 1, 1, 0);
    int output = builder_pool(&builder, between, LAYER_MAXIMUM_POOL, size, stride, 0);
    struct network *network = &builder.network;
    network->layers[0].kind = LAYER_TABLE;
    network->layers[0].table = table_of(&arena, function);
    network->layers[0].stage_count = network->layers[1].stage_count = 0;
    set_output(network, &arena, output);
    network_tidy(network, &arena);
    const struct layer *layers = network->layers;
    bool is_first = layers[0].kind == LAYER_MAXIMUM_POOL && layers[1].kind == LAYER_TABLE;
    REQUIRE(network->layer_count == 2 && layers[1].inputs[0] == layers[0].output);
    REQUIRE(network->tensors[layers[1].output].height == 1 + (4 - size) / stride);
    REQUIRE(network->tensors[layers[0].output].height == (is_first ? 1 + (4 - size) / stride : 4));
    REQUIRE(network->tensors[layers[0].output].producer == 0 && network->tensors[layers[1].output].producer == 1);
    arena_free(&arena);
    return is_first;
}

int main(void)
{
    int64_t bounds[2];
    EXPECT_EQUAL(tidied(clamp_3_to_200, bounds), 1);
    EXPECT(bounds[0] == 3 && bounds[1] == 200, "bounds %d, %d", (int)bounds[0], (int)bounds[1]);
    EXPECT_EQUAL(tidied(shift_up, bounds), 2);
    EXPECT_EQUAL(tidied(negate, bounds), 2);
    EXPECT(bounds[0] <= bounds[1], "bounds %d, %d", (int)bounds[0], (int)bounds[1]);
    EXPECT(is_pool_first(halve, 2, 2), "the pool is behind a rising table");
    EXPECT(!is_pool_first(fall, 2, 2), "the pool is in front of a falling table");
    EXPECT(!is_pool_first(halve, 1, 1), "a pool of as many elements comes first");
    return expect_result("tidy");
}
