/* What norms are made of in TFLite beside squared differences: inverse square roots, in TensorFlow Lite Micro's arithmetic.
 */
#include <math.h>
#include <string.h>

#include "import/tflite/tflite_import.h"
#include "network/fixed_point.h"
#include "network/stage.h"

/* ---- RSQRT ---- */

struct root {
    int32_t multiplier;
    int exponent, zero_point;
};

#define ROOT_BITS 20

static int root_of(const void *context, int element)
{
    const struct root *root = context;
    int32_t multiplier;
    int exponent;
    if (element <= 0)
        return INT8_MAX;
    fixed_inverse_root(element, &multiplier, &exponent);
    int32_t fine = fixed_scale(1, multiplier, exponent + ROOT_BITS);
    int64_t y = (int64_t)fixed_scale(fine, root->multiplier, root->exponent - ROOT_BITS) + root->zero_point;
    return y < INT8_MIN ? INT8_MIN : y > INT8_MAX ? INT8_MAX : (int)y;
}

bool tflite_inverse_root(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct quantisation from, to;
    struct root root;
    const struct tflite_tensor *input = tflite_input(importer, 0), *output = tflite_output(importer);
    (void)operation;
    if (!input || !tflite_quantisation(importer, input, &from) || !tflite_quantisation(importer, output, &to))
        return false;
    if (!from.is_signed || !to.is_signed)
        return tflite_fault(importer, "of UINT8; supported: INT8");
    double scale = 1 / (double)(sqrtf((float)from.scale) * (float)to.scale);
    fixed_quantise_multiplier(scale, &root.multiplier, &root.exponent);
    root.zero_point = (int)to.zero_point;
    return tflite_lay_function(importer, root_of, &root, result);
}

/* ---- L2_NORMALIZATION ---- */

#define MOST_L2_CHANNELS 8192 /* whose squares have 29 bits */

/* TensorFlow Lite Micro takes the last dimension, and an output of the scale 1/128, whose zero point is 0. */
static bool set_l2_norm(struct tflite_importer *importer, int input, int output)
{
    const struct tensor from = *tflite_network_tensor(importer, input), to = *tflite_network_tensor(importer, output);
    struct norm_constants *constants = arena_allocate(importer->arena, sizeof *constants);
    struct norm *norm = arena_allocate(importer->arena, sizeof *norm);
    if (to.scale != 1.0 / 128 || to.zero_point != 128 || from.channels > MOST_L2_CHANNELS)
        return tflite_fault(importer,
                            "%d elements into an output of scale %g and zero point %d; supported: up to %d, 1/128, 0",
                            from.channels, to.scale, to.zero_point + to.model_offset, MOST_L2_CHANNELS);
    *constants = (struct norm_constants){1, 0};
    *norm = (struct norm){
        .arithmetic = NORM_TWICE, .zero_point = from.zero_point, .run = from.channels, .count = 1, .constants = constants};
    struct layer *layer = quantised_layer(&importer->builder, LAYER_NORM, to.name, input, output);
    int64_t *numbers = arena_array(importer->arena, int64_t, 2);
    numbers[0] = 1;
    layer->norm = norm;
    layer->stages[0] = (struct stage){
        .count = 1, .multiplier = &numbers[0], .addend = &numbers[1], .divisor = 1, .has_clip = true, .maximum = UINT8_MAX};
    layer->stage_count = 1;
    return true;
}

bool tflite_l2_norm(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct middle_value value;
    if (operation->options.activation != TFLITE_NO_ACTIVATION)
        return tflite_fault(importer, "fused activation %d; supported: none", operation->options.activation);
    if (!tflite_takes_channels(importer, -1, &value))
        return false;
    int output = tflite_makes(importer, value.tensor);
    if (output < 0 || !set_l2_norm(importer, value.tensor, output))
        return false;
    value.tensor = output;
    return tflite_gives(importer, 0, &value, result);
}
