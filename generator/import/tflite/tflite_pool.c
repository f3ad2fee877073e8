#include "import/tflite/tflite_import.h"
#include "network/fixed_point.h"

#define MAXIMUM_UNIT (1 << 20) /* by which sums of averages are multiplied: they have 28 bits */

/* y = x, narrowed by the fused activation; none where there is no activation. */
static bool clip_only(struct tflite_importer *importer, struct layer *layer)
{
    int64_t *multiplier = arena_array(importer->arena, int64_t, 1);
    *multiplier = 1;
    layer->stages[0] = (struct stage){.count = 1,
                                      .multiplier = multiplier,
                                      .addend = arena_array(importer->arena, int64_t, 1),
                                      .divisor = 1,
                                      .has_clip = true,
                                      .maximum = 255};
    layer->stage_count = importer->current->options.activation != TFLITE_NO_ACTIVATION;
    return tflite_clip(importer, &layer->stages[0], layer->output);
}

/* What only picks or averages elements keeps scale and zero point; TensorFlow Lite Micro refuses the rest. */
static bool check_same_scale(struct tflite_importer *importer, int input, int output)
{
    const struct tensor *from = tflite_network_tensor(importer, input), *to = tflite_network_tensor(importer, output);
    double difference = from->scale - to->scale;
    if (difference <= 1e-6 && difference >= -1e-6 && from->zero_point == to->zero_point)
        return true;
    return tflite_fault(importer, "input and output have scales %g and %g and zero points %d and %d; supported: the same",
                        from->scale, to->scale, from->zero_point + from->model_offset, to->zero_point + to->model_offset);
}

/* ---- pools with windows ---- */

static struct layer *make_pool(struct tflite_importer *importer, enum layer_kind kind, const struct padding *padding,
                               int input)
{
    const struct tflite_options *options = &importer->current->options;
    int output = tflite_makes(importer, -1);
    if (output < 0 || !check_same_scale(importer, input, output))
        return NULL;
    if (tflite_network_tensor(importer, input)->channels != tflite_network_tensor(importer, output)->channels) {
        tflite_fault(importer, "input and output have different numbers of channels");
        return NULL;
    }
    struct layer *layer = quantised_layer(&importer->builder, kind, tflite_output(importer)->name, input, output);
    layer->kernel_height = options->kernel_height;
    layer->kernel_width = options->kernel_width;
    if (!tflite_set_window(importer, layer, tflite_input(importer, 0), tflite_output(importer), padding))
        return NULL;
    return layer;
}

static bool is_padded(const struct layer *layer)
{
    return layer->padding_top || layer->padding_left || layer->padding_bottom || layer->padding_right;
}

bool tflite_maximum_pool(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    int input = tflite_reads(importer, 0, NULL);
    struct layer *layer = input < 0 ? NULL : make_pool(importer, LAYER_MAXIMUM_POOL, &(struct padding){0}, input);
    if (!layer)
        return false;
    *result = tflite_value_of(layer->output);
    return clip_only(importer, layer);
}

/* The average of the model's integers, halves away from zero. */
static void set_average(struct tflite_importer *importer, struct layer *layer, int64_t count)
{
    const struct tensor *input = tflite_network_tensor(importer, layer->inputs[0]);
    int64_t *numbers = arena_array(importer->arena, int64_t, 2);
    numbers[0] = 1;
    numbers[1] = count * input->model_offset;
    layer->stages[0] = (struct stage){.count = 1,
                                      .rounding = ROUND_HALF_AWAY,
                                      .multiplier = &numbers[0],
                                      .addend = &numbers[1],
                                      .divisor = count,
                                      .zero_point = -input->model_offset,
                                      .has_clip = true,
                                      .maximum = 255};
    layer->stage_count = 1;
}

/* Windows at the border average the elements that they have: weighted sums, with the same divisor everywhere. */
static bool average_inside(struct tflite_importer *importer, struct layer *layer)
{
    const struct tensor *input = tflite_network_tensor(importer, layer->inputs[0]);
    const struct tensor *output = tflite_network_tensor(importer, layer->output);
    struct image_window vertical = {input->height,      layer->kernel_height, layer->stride_height, 1,
                                    layer->padding_top, output->height};
    struct image_window horizontal = {input->width,        layer->kernel_width, layer->stride_width, 1,
                                      layer->padding_left, output->width};
    const struct layer pool = *layer;
    int64_t units[2];
    *layer = layer_plain(pool.name, LAYER_INTERPOLATION, pool.inputs[0]);
    layer->output = pool.output;
    layer->taps.rows = quantised_window_taps(&importer->builder, &vertical, &layer->taps.row_pairs, &units[0]);
    layer->taps.columns = quantised_window_taps(&importer->builder, &horizontal, &layer->taps.column_pairs, &units[1]);
    if (!layer->taps.rows || !layer->taps.columns || units[0] * units[1] > MAXIMUM_UNIT)
        return tflite_fault(importer,
                            "windows of %d x %d with padding SAME, of which those at the border have fewer elements, in too "
                            "many ways for one divisor; supported: smaller ones, or VALID",
                            pool.kernel_height, pool.kernel_width);
    set_average(importer, layer, units[0] * units[1]);
    return true;
}

bool tflite_average_pool(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    int input = tflite_reads(importer, 0, NULL);
    struct layer *layer = input < 0 ? NULL : make_pool(importer, LAYER_AVERAGE_POOL, &(struct padding){0}, input);
    if (!layer)
        return false;
    *result = tflite_value_of(layer->output);
    if (!is_padded(layer))
        set_average(importer, layer, (int64_t)layer->kernel_height * layer->kernel_width);
    else if (!average_inside(importer, layer))
        return false;
    return tflite_clip(importer, &layer->stages[0], layer->output);
}

/* ---- reductions ---- */

/* Of the image's height and width, which are reduced; false after a report. */
static bool read_axes(struct tflite_importer *importer, bool *reduces_height, bool *reduces_width)
{
    const struct tflite_tensor *input = tflite_input(importer, 0), *axes = tflite_constant(importer, 1, TFLITE_INT32, 0);
    struct image_shape shape;
    if (!axes || !tflite_image_shape(importer, input, &shape))
        return false;
    *reduces_height = *reduces_width = false;
    for (size_t i = 0; i < tflite_elements(axes); i++) {
        int axis = tflite_integer(axes, i), from_end = axis < 0 ? -axis : input->rank - axis;
        bool is_one = from_end > 0 && from_end <= input->rank && input->dimensions[input->rank - from_end] == 1;
        if (!is_one && from_end != 2 && from_end != 3)
            return tflite_fault(importer, "reduces axis %d of %s; supported: height and width", axis,
                                tflite_shape_text(importer, input));
        *reduces_height |= from_end == 3;
        *reduces_width |= from_end == 2;
    }
    return true;
}

static struct layer *make_reduction(struct tflite_importer *importer, enum layer_kind kind)
{
    bool reduces_height, reduces_width;
    int input = tflite_reads(importer, 0, NULL);
    if (input < 0 || !read_axes(importer, &reduces_height, &reduces_width))
        return NULL;
    const struct tensor from = *tflite_network_tensor(importer, input);
    int output = tflite_makes(importer, -1);
    if (output < 0)
        return NULL;
    struct tensor *to = tflite_network_tensor(importer, output);
    int height = reduces_height ? 1 : from.height, width = reduces_width ? 1 : from.width;
    if (tensor_elements(to) != (size_t)height * (size_t)width * (size_t)from.channels) {
        tflite_fault(importer, "an output of %s does not fit axes and input",
                     tflite_shape_text(importer, tflite_output(importer)));
        return NULL;
    }
    to->height = height; /* the model may drop what is reduced */
    to->width = width;
    to->channels = from.channels;
    struct layer *layer = quantised_layer(&importer->builder, kind, to->name, input, output);
    layer->kernel_height = layer->stride_height = reduces_height ? from.height : 1;
    layer->kernel_width = layer->stride_width = reduces_width ? from.width : 1;
    return layer;
}

bool tflite_reduce_maximum(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    struct layer *layer = make_reduction(importer, LAYER_MAXIMUM_POOL);
    if (!layer || !check_same_scale(importer, layer->inputs[0], layer->output))
        return false;
    *result = tflite_value_of(layer->output);
    return true;
}

/* The factor's 31 bits are divided by the number of elements, truncated, after a shift that keeps most of them. */
static void set_mean(struct tflite_importer *importer, struct layer *layer)
{
    const struct tensor *input = tflite_network_tensor(importer, layer->inputs[0]);
    const struct tensor *output = tflite_network_tensor(importer, layer->output);
    int64_t count = (int64_t)layer->kernel_height * layer->kernel_width;
    int64_t *numbers = arena_array(importer->arena, int64_t, 2);
    int *exponent = arena_array(importer->arena, int, 1), shift = 63 - __builtin_clzll((unsigned long long)count);
    int32_t multiplier;
    fixed_quantise_multiplier(input->scale / output->scale, &multiplier, exponent);
    shift = shift < 31 + *exponent ? shift : 31 + *exponent;
    numbers[0] = ((int64_t)multiplier << shift) / count;
    numbers[1] = -count * input->zero_point;
    *exponent -= shift;
    layer->stages[0] = (struct stage){.count = 1,
                                      .rounding = ROUND_TWICE,
                                      .multiplier = &numbers[0],
                                      .addend = &numbers[1],
                                      .exponent = exponent,
                                      .divisor = 1,
                                      .zero_point = output->zero_point,
                                      .has_clip = true,
                                      .maximum = 255};
    layer->stage_count = 1;
}

bool tflite_mean(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    struct layer *layer = make_reduction(importer, LAYER_AVERAGE_POOL);
    if (!layer)
        return false;
    set_mean(importer, layer);
    *result = tflite_value_of(layer->output);
    return true;
}

/* ---- the channel of the largest element ---- */

/* An index: INT32 or INT64 in the model, in the firmware as many bytes as it needs. Its tensor has no scale, so no operator
 * reads it. */
bool tflite_arg_max(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    const struct tflite_tensor *from = tflite_input(importer, 0), *axis = tflite_constant(importer, 1, TFLITE_INT32, 1);
    (void)operation;
    int input = from && axis ? tflite_reads(importer, 0, NULL) : -1;
    if (input < 0)
        return false;
    int along = tflite_integer(axis, 0);
    if (along != -1 && along != from->rank - 1)
        return tflite_fault(importer, "along axis %d of %s; supported: the last one, channels", along,
                            tflite_shape_text(importer, from));
    const struct tensor image = *tflite_network_tensor(importer, input);
    if (tflite_elements(tflite_output(importer)) != (size_t)image.height * (size_t)image.width)
        return tflite_fault(importer, "an output of %s does not fit an input of %s",
                            tflite_shape_text(importer, tflite_output(importer)), tflite_shape_text(importer, from));
    const char *name = tflite_output(importer)->name;
    int output = quantised_tensor(&importer->builder, name, image.height, image.width, 1, &(struct quantisation){0});
    quantised_layer(&importer->builder, LAYER_LARGEST, name, input, output);
    *result = tflite_value_of(output);
    return true;
}
