/* Weights of sums of products: INT8, or UINT8 with a zero point, as TensorFlow 1 made them. The firmware's have 8 bits and
 * no zero point; where weight minus zero point has more, the rest is the weight of the same input channel once more. */
#include "import/tflite/tflite_weights.h"

#include "middle/layout.h"
#include "middle/moves.h"

int tflite_weight(const struct filter *filter, size_t index)
{
    const struct tflite_tensor *tensor = filter->tensor;
    if (tensor->type == TFLITE_INT8)
        return (int8_t)tensor->data[index];
    return tensor->data[index] - (int)tensor->zero_points[0];
}

static int within_a_byte(int weight) { return weight < INT8_MIN ? INT8_MIN : weight > INT8_MAX ? INT8_MAX : weight; }

static size_t count_wide(const int16_t *weights, size_t count, int times)
{
    size_t wide = 0;
    for (size_t i = 0; i < count; i++) {
        int rest = weights[i];
        for (int k = 0; k < times; k++)
            rest -= within_a_byte(rest);
        wide += rest != 0;
    }
    return wide;
}

/* Of a group's channels, those of which some weight has a rest: their number. */
static int find_wide(const struct filter_weights *from, size_t area, int *channels)
{
    int count = 0;
    for (int i = 0; i < from->inputs; i++) {
        size_t wide = 0;
        for (int o = 0; o < from->outputs; o++)
            wide += count_wide(from->weights + ((size_t)o * (size_t)from->inputs + (size_t)i) * area, area, 1);
        if (wide)
            channels[count++] = i;
    }
    return count;
}

static const int8_t *split(struct tflite_importer *importer, const struct filter_weights *from, const int *wide, int count)
{
    size_t area = from->area, inputs = (size_t)from->inputs, all = inputs + (size_t)count;
    int8_t *to = arena_array(importer->arena, int8_t, (size_t)from->outputs * all * area);
    for (size_t o = 0; o < (size_t)from->outputs; o++)
        for (size_t i = 0; i < all; i++)
            for (size_t k = 0; k < area; k++) {
                size_t own = i < inputs ? i : (size_t)wide[i - inputs];
                int weight = from->weights[(o * inputs + own) * area + k], first = within_a_byte(weight);
                to[(o * all + i) * area + k] = (int8_t)(i < inputs ? first : weight - first);
            }
    return to;
}

/* Each group's channels, and behind them once more those that are wide. -1 after a report. */
static int repeat_channels(struct tflite_importer *importer, int input, int groups, const int *wide, int count)
{
    const struct tensor from = *tflite_network_tensor(importer, input);
    const int64_t dimensions[3] = {from.height, from.width, from.channels};
    struct middle_value value = {input, view_of_memory(3, dimensions)}, repeated;
    struct middle_move move = middle_move_none(&value.view);
    struct layout layout = layout_of_model(3);
    int of_group = from.channels / groups, all = of_group + count;
    int64_t *channels = arena_array(importer->arena, int64_t, (size_t)groups * (size_t)all);
    for (int i = 0; i < groups * all; i++)
        channels[i] = i / all * of_group + (i % all < of_group ? i % all : wide[i % all - of_group]);
    const char *name = arena_format(importer->arena, "%s, channels of wide weights", tflite_output(importer)->name);
    if (middle_move_gather(&importer->builder, &move, 2, channels, (int64_t)groups * all) &&
        middle_lay(&importer->builder, name, &value, &move, &layout, 0, &repeated))
        return repeated.tensor;
    tflite_fault(importer,
                 "%d of %d input channels of a group have weights that minus their zero point are no INT8, and would "
                 "be there twice: too many",
                 count, of_group);
    return -1;
}

const int8_t *tflite_narrow_weights(struct tflite_importer *importer, const struct filter *filter,
                                    const struct filter_weights *from, int groups, int *input)
{
    size_t all = (size_t)from->outputs * (size_t)from->inputs * from->area, too_wide = count_wide(from->weights, all, 2);
    int *wide = arena_array(importer->arena, int, (size_t)from->inputs + 1);
    if (too_wide) {
        tflite_fault(importer, "%zu of the %zu weights '%s' minus their zero point are more than two INT8 hold", too_wide,
                     all, filter->tensor->name);
        return NULL;
    }
    int count = find_wide(from, from->area, wide);
    if (count && (*input = repeat_channels(importer, *input, groups, wide, count)) < 0)
        return NULL;
    return split(importer, from, wide, count);
}
