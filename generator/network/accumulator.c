#include "network/accumulator.h"

#define BLOCK 64 /* weights whose sum 16 bits hold */

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

static int64_t clamp_64(wide value)
{
    return (int64_t)(value < INT64_MIN ? INT64_MIN : value > INT64_MAX ? INT64_MAX : value);
}

/* The sum of one channel of the output, by the range of each channel that it reads: `first` is the first of them. */
static struct sum_range sum_by_channel(const struct tensor *input, const struct layer *layer, const int8_t *weights,
                                       int first)
{
    size_t kernel = (size_t)layer->kernel_height * (size_t)layer->kernel_width;
    bool padded = layer->padding_top || layer->padding_left || layer->padding_bottom || layer->padding_right;
    wide least = 0, most = 0;
    int64_t positive, negative;
    for (int c = 0; c < input->channels / layer->groups; c++) {
        struct sum_range x = input->channel_ranges[first + c];
        x.minimum = padded && layer->padding_value < x.minimum ? layer->padding_value : x.minimum;
        x.maximum = padded && layer->padding_value > x.maximum ? layer->padding_value : x.maximum;
        sum_by_sign(weights + (size_t)c * kernel, kernel, &positive, &negative);
        least += (wide)positive * x.minimum + (wide)negative * x.maximum;
        most += (wide)positive * x.maximum + (wide)negative * x.minimum;
    }
    return (struct sum_range){clamp_64(least), clamp_64(most)};
}

static void prove_by_channel(const struct network *network, const struct layer *layer, struct sum_range *sums)
{
    const struct tensor *input = &network->tensors[layer->inputs[0]];
    int channels = network->tensors[layer->output].channels, inputs = input->channels / layer->groups;
    size_t count = (size_t)layer->kernel_height * (size_t)layer->kernel_width * (size_t)inputs;
    for (int channel = 0; channel < channels; channel++)
        sums[channel] = sum_by_channel(input, layer, layer->weights + (size_t)channel * count,
                                       channel / (channels / layer->groups) * inputs);
}

void accumulator_prove(const struct network *network, struct layer *layer, struct arena *arena)
{
    int inputs = network->tensors[layer->inputs[0]].channels, channels = network->tensors[layer->output].channels;
    size_t count = (size_t)layer->kernel_height * (size_t)layer->kernel_width * (size_t)(inputs / layer->groups);
    struct sum_range *sums = arena_array(arena, struct sum_range, (size_t)channels);
    int64_t positive, negative, minimum, maximum;
    accumulator_input(network, layer, 0, &minimum, &maximum);
    wide low = lesser(minimum, 0), high = greater(maximum, 0); /* 0: a term that is still to come */
    layer->sums = sums;
    layer->sums_fit_32_bits = true;
    for (int channel = 0; channel < channels; channel++) {
        sum_by_sign(layer->weights + (size_t)channel * count, count, &positive, &negative);
        sums[channel].minimum = clamp_64((wide)positive * minimum + (wide)negative * maximum);
        sums[channel].maximum = clamp_64((wide)positive * maximum + (wide)negative * minimum);
        layer->sums_fit_32_bits = layer->sums_fit_32_bits && positive * low + negative * high >= INT32_MIN &&
                                  positive * high + negative * low <= INT32_MAX;
    }
    if (network->tensors[layer->inputs[0]].channel_ranges)
        prove_by_channel(network, layer, sums);
}
