/* Depth-wise and grouped convolutions whose taps lie apart become such with taps side by side, and the network stays the
 * same. */
#include "check/check_values.h"
#include "expect.h"
#include "network/interpret.h"
#include "networks.h"
#include "simplify/tidy.h"

struct window {
    int height, width, kernel, padding;
    int dilation_height, dilation_width, groups;
};

/* A network of one layer, and what network_take_early makes of it. */
static struct network *made_of(struct network_builder *builder, struct arena *arena, struct window window)
{
    struct network *network = &builder->network;
    builder_start(builder, arena, 5);
    int input = builder_input(builder, window.height, window.width, 4);
    int output = builder_convolution(builder, input, window.kernel, 1, window.padding, 4);
    struct layer *layer = &network->layers[0];
    layer->groups = window.groups; /* whose weights are the first of those for one group */
    layer->dilation_height = window.dilation_height;
    layer->dilation_width = window.dilation_width;
    layer->padding_value = 7;
    network->tensors[output].height = window.height + 2 * window.padding - (window.kernel - 1) * window.dilation_height;
    network->tensors[output].width = window.width + 2 * window.padding - (window.kernel - 1) * window.dilation_width;
    network->tensors[input].scale = network->tensors[output].scale = 0.5;
    network->outputs = arena_array(arena, int, 1);
    network->outputs[network->output_count++] = output;
    return network_take_early(network, false, arena);
}

static int64_t **compute(const struct network *network, const int64_t *input, struct arena *arena,
                         struct diagnostics *diagnostics)
{
    const int64_t *inputs[] = {input};
    int64_t **tensors = interpret_network(network, inputs, arena, diagnostics);
    REQUIRE(tensors);
    return tensors;
}

/* The same output by the golden model, and by the check. */
static void expect_same(struct window window)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct network_builder builder;
    struct network *moved = made_of(&builder, &arena, window), *network = &builder.network;
    size_t inputs = (size_t)(window.height * window.width * 4);
    int64_t *input = arena_array(&arena, int64_t, inputs);
    for (size_t i = 0; i < inputs; i++)
        input[i] = builder_random(&builder, 256);
    REQUIRE(moved != network && moved->imported == network && moved->layer_count == 3);
    const struct layer *layer = &moved->layers[1];
    EXPECT(layer->kind == LAYER_CONVOLUTION && layer->dilation_height == 1 && layer->dilation_width == 1, "a dilation");
    int output = network->outputs[0];
    int64_t **expected = compute(network, input, &arena, &diagnostics),
            **actual = compute(moved, input, &arena, &diagnostics);
    EXPECT_BYTES(actual[moved->outputs[0]], expected[output], tensor_elements(&network->tensors[output]) * sizeof **actual);
    EXPECT_THAT(values_check(moved, &diagnostics));
    arena_free(&arena);
}

static bool is_left(struct window window)
{
    struct arena arena = {0};
    struct network_builder builder;
    bool is_same = made_of(&builder, &arena, window) == &builder.network;
    arena_free(&arena);
    return is_same;
}

int main(void)
{
    expect_same((struct window){12, 12, 3, 2, 2, 2, 4});
    expect_same((struct window){9, 11, 3, 0, 2, 3, 4});
    expect_same((struct window){1, 30, 1, 0, 1, 4, 2});
    expect_same((struct window){7, 13, 2, 1, 1, 5, 2});
    expect_same((struct window){13, 6, 3, 1, 4, 1, 4});
    EXPECT(is_left((struct window){9, 9, 3, 1, 1, 1, 4}), "a layer without a dilation is changed");
    EXPECT(is_left((struct window){9, 9, 3, 1, 2, 2, 1}), "a convolution of all channels is changed");
    EXPECT(is_left((struct window){8, 8, 3, 8, 8, 8, 4}), "phases that are nearly all border are copied");
    EXPECT(is_left((struct window){100, 4, 1, 0, 1, 65535, 4}), "one column becomes as many as a tensor can have");
    return expect_result("dilations");
}
