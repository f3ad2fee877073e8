#include "network/accumulator.h"

#define BLOCK 64 /* weights whose sum 16 bits hold */

static wide lesser(wide a, wide b) { return a < b ? a : b; }
static wide greater(wide a, wide b) { return a > b ? a : b; }

static void type_bounds(const struct tensor *tensor, int64_t *minimum, int64_t *maximum)
{
    int64_t levels = (int64_t)1 << tensor->bits;
    *minimum = tensor->is_signed ? -levels / 2 : 0;
    *maximum = tensor->is_signed ? levels / 2 - 1 : levels - 1;
}

void accumulator_input(const struct network *network, const struct layer *layer, int input, int64_t *minimum,
                       int64_t *maximum)
{
    const struct tensor *tensor = &network->tensors[layer->inputs[input]];
    bool padded = layer->padding_top || layer->padding_left || layer->padding_bottom || layer->padding_right;
    type_bounds(tensor, minimum, maximum);
    if (tensor->minimum <= tensor->maximum && tensor->minimum >= *minimum && tensor->maximum <= *maximum) {
        *minimum = tensor->minimum;
        *maximum = tensor->maximum;
    }
    if (padded && layer->padding_value < *minimum)
        *minimum = layer->padding_value;
    if (padded && layer->padding_value > *maximum)
        *maximum = layer->padding_value;
}

/* The sums of the positive weights, and of the negative ones. In blocks, whose sums are narrow: compilers take many weights
 * at once then, and there may be many millions. */
static void sum_by_sign(const int8_t *weights, size_t count, int64_t *positive, int64_t *negative)
{
    *positive = *negative = 0;
    for (; count >= BLOCK; weights += BLOCK, count -= BLOCK) {
        int16_t above = 0, below = 0;
        for (int i = 0; i < BLOCK; i++) {
            above = (int16_t)(above + (weights[i] > 0 ? weights[i] : 0));
            below = (int16_t)(below + (weights[i] < 0 ? weights[i] : 0));
        }
        *positive += above;
        *negative += below;
    }
    for (; count > 0; weights++, count--)
        *(*weights > 0 ? positive : negative) += *weights;
}

struct accumulator_range accumulator_range(const struct network *network, const struct layer *layer, int channel)
{
    int channels = network->tensors[layer->inputs[0]].channels;
    size_t count = (size_t)layer->kernel_height * (size_t)layer->kernel_width * (size_t)(channels / layer->groups);
    const int8_t *weights = layer->weights + (size_t)channel * count;
    int64_t positive, negative, minimum, maximum;
    sum_by_sign(weights, count, &positive, &negative);
    accumulator_input(network, layer, 0, &minimum, &maximum);
    wide low = lesser(minimum, 0), high = greater(maximum, 0); /* 0: a term that is still to come */
    return (struct accumulator_range){
        .minimum = (wide)positive * minimum + (wide)negative * maximum,
        .maximum = (wide)positive * maximum + (wide)negative * minimum,
        .partial_minimum = positive * low + negative * high,
        .partial_maximum = positive * high + negative * low,
    };
}
