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

bool tflite_has_same_scale(struct tflite_importer *importer, int input, int output)
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
    if (output < 0 || !tflite_has_same_scale(importer, input, output))
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
    if (!layer_is_padded(layer))
        set_average(importer, layer, (int64_t)layer->kernel_height * layer->kernel_width);
    else if (!average_inside(importer, layer))
        return false;
    return tflite_clip(importer, &layer->stages[0], layer->output);
}
