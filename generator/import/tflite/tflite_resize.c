/* RESIZE_NEAREST_NEIGHBOR is a copy, RESIZE_BILINEAR weighted sums. */
#include <math.h>

#include "import/tflite/tflite_import.h"

#define FRACTION_BITS 10 /* of positions between pixels */

/* Input and output of an operator, which keep scale and zero point; false after a report. */
static bool make_output(struct tflite_importer *importer, int *input, int *output)
{
    *input = tflite_reads(importer, 0, NULL);
    *output = *input < 0 ? -1 : tflite_makes(importer, -1);
    if (*output < 0)
        return false;
    const struct tensor *from = tflite_network_tensor(importer, *input), *to = tflite_network_tensor(importer, *output);
    if (from->scale == to->scale && from->zero_point == to->zero_point)
        return true;
    return tflite_fault(importer, "scale or zero point differ from the input's; supported: the same");
}

/* ---- nearest ---- */

/* Nearest neighbours along one dimension, in float32 as TensorFlow Lite Micro has it. */
static bool move_to_nearest(struct tflite_importer *importer, struct middle_move *move, int dimension, int outputs)
{
    const struct tflite_options *options = &importer->current->options;
    int inputs = (int)move->counts[dimension];
    bool corners = options->align_corners && outputs > 1;
    float scale = corners ? (float)(inputs - 1) / (float)(outputs - 1) : (float)inputs / (float)outputs;
    float offset = options->half_pixel_centers ? 0.5F : 0.0F;
    int64_t *indices = arena_array(importer->arena, int64_t, (size_t)outputs);
    for (int i = 0; i < outputs; i++) {
        float at = ((float)i + offset) * scale;
        int nearest = (int)(options->align_corners ? roundf(at) : floorf(at));
        indices[i] = nearest < inputs ? nearest : inputs - 1;
    }
    return middle_move_gather(&importer->builder, move, dimension, indices, outputs);
}

bool tflite_resize_nearest(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    struct image_shape shape;
    const struct tflite_tensor *output = tflite_output(importer);
    int input = tflite_reads(importer, 0, NULL);
    if (input < 0 || !tflite_image_shape(importer, output, &shape))
        return false;
    const struct tensor *from = tflite_network_tensor(importer, input);
    const int64_t dimensions[4] = {1, from->height, from->width, from->channels};
    struct middle_value image = {input, view_of_memory(4, dimensions)}, resized;
    struct middle_move move = middle_move_none(&image.view);
    struct layout layout = layout_of_model(4);
    if (from->channels != shape.channels)
        return tflite_fault(importer, "input and output have different numbers of channels");
    if (!move_to_nearest(importer, &move, 1, shape.height) || !move_to_nearest(importer, &move, 2, shape.width) ||
        !middle_move_apply(&importer->builder, output->name, &image, &move, &layout, 0, &resized))
        return tflite_fault(importer, "an output of %s is too large", tflite_shape_text(importer, output));
    return tflite_gives(importer, 0, &resized, result);
}

/* ---- linear ---- */

/* Two neighbours of each position along one dimension. */
static const struct layer_tap *make_taps(struct tflite_importer *importer, int outputs, int inputs)
{
    const struct tflite_options *options = &importer->current->options;
    struct layer_tap *taps = arena_array(importer->arena, struct layer_tap, (size_t)outputs);
    const int64_t one = 1 << FRACTION_BITS;
    int64_t scale = (one * inputs + outputs / 2) / outputs;
    if (options->align_corners && outputs > 1)
        scale = (one * (inputs - 1) + (outputs - 1) / 2) / (outputs - 1);
    for (int i = 0; i < outputs; i++) {
        int64_t at = i * scale + (options->half_pixel_centers ? scale / 2 - one / 2 : 0);
        int64_t low = at / one > 0 ? at / one : 0, high = (at + one - 1) / one;
        low = low < inputs ? low : inputs - 1;
        high = high < inputs ? high : inputs - 1;
        int32_t weight = low == high ? 0 : (int32_t)(at - low * one); /* both are the same element at a border */
        taps[i] = (struct layer_tap){{(int32_t)low, (int32_t)high}, {(int32_t)one - weight, weight}};
    }
    return taps;
}

bool tflite_resize_bilinear(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    int input, output;
    if (!make_output(importer, &input, &output))
        return false;
    const struct tensor from = *tflite_network_tensor(importer, input), to = *tflite_network_tensor(importer, output);
    if (from.channels != to.channels)
        return tflite_fault(importer, "input and output have different numbers of channels");
    int64_t *numbers = arena_array(importer->arena, int64_t, 2), unit = (int64_t)1 << 2 * FRACTION_BITS;
    struct layer *layer = quantised_layer(&importer->builder, LAYER_INTERPOLATION, to.name, input, output);
    layer->taps =
        (struct layer_taps){make_taps(importer, to.height, from.height), make_taps(importer, to.width, from.width), 1, 1};
    numbers[0] = 1;
    numbers[1] = from.model_offset * unit;
    layer->stages[0] = (struct stage){.count = 1,
                                      .rounding = ROUND_HALF_AWAY,
                                      .multiplier = &numbers[0],
                                      .addend = &numbers[1],
                                      .divisor = unit,
                                      .zero_point = -from.model_offset,
                                      .has_clip = true,
                                      .maximum = 255};
    layer->stage_count = 1;
    *result = tflite_value_of(output);
    return true;
}
