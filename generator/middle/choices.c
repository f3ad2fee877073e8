#include "middle/choices.h"

static struct stage whole(struct quantised_builder *builder, int multiplier, int addend)
{
    int64_t *numbers = arena_array(builder->arena, int64_t, 2);
    numbers[0] = multiplier;
    numbers[1] = addend;
    return (struct stage){.count = 1, .multiplier = &numbers[0], .addend = &numbers[1], .divisor = 1};
}

void middle_sum_bytes(struct quantised_builder *builder, int a, int sign, int b, int addend, int output)
{
    const char *name = builder->network->tensors[output].name;
    struct layer *layer = quantised_layer(builder, LAYER_ADDITION, name, a, output);
    layer->inputs[1] = b;
    layer->input_stages[0] = whole(builder, 1, 0);
    layer->input_stages[1] = whole(builder, sign, 0);
    layer->stages[0] = whole(builder, 1, addend);
    layer->stages[0].has_clip = true;
    layer->stages[0].maximum = UINT8_MAX;
    layer->stage_count = 1;
}

/* a + max(b - a, 0), or b - max(b - a, 0): what is above the other one, which is a byte and never negative. */
void middle_choose(struct quantised_builder *builder, int a, int b, bool is_maximum, int output)
{
    const struct tensor to = builder->network->tensors[output];
    const char *name = arena_format(builder->arena, "%s, difference", to.name);
    int more = quantised_tensor(builder, name, to.height, to.width, to.channels, &(struct quantisation){to.scale, 0, false});
    middle_sum_bytes(builder, b, -1, a, 0, more);
    if (is_maximum)
        middle_sum_bytes(builder, a, 1, more, 0, output);
    else
        middle_sum_bytes(builder, b, -1, more, 0, output);
}
