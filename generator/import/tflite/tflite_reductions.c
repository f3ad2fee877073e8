/* Reductions along any dimensions: means, sums, maxima, and the channel of the largest element. */
#include "import/tflite/tflite_import.h"
#include "middle/reductions.h"
#include "network/fixed_point.h"

/* ---- what they have in common ---- */

/* Which dimensions are reduced; false after a report. */
static bool read_axes(struct tflite_importer *importer, const struct view *view, bool *is_reduced)
{
    const struct tflite_numbers *axes = tflite_numbers(importer, 1, -1);
    for (int i = 0; i < view->rank; i++)
        is_reduced[i] = false;
    for (int i = 0; axes && i < axes->count; i++) {
        int64_t axis = axes->list[i] < 0 ? axes->list[i] + view->rank : axes->list[i];
        if (axis < 0 || axis >= view->rank)
            return tflite_fault(importer, "reduces axis %d of %s", (int)axes->list[i], view_text(view, importer->arena));
        is_reduced[axis] = true;
    }
    return axes != NULL;
}

/* False after a report. */
static bool read_reduction(struct tflite_importer *importer, bool is_sum, struct middle_reduction *reduction)
{
    struct middle_value value;
    bool is_reduced[VIEW_MAXIMUM_RANK], keep = importer->current->options.keeps_dimensions;
    const char *name = tflite_output(importer)->name;
    if (!tflite_takes(importer, 0, &value) || !read_axes(importer, &value.view, is_reduced))
        return false;
    return middle_reduce(&importer->builder, name, &value, is_reduced, keep, is_sum, reduction) ||
           tflite_fault(importer, "reduces or leaves more elements of %s than the firmware can have",
                        view_text(&value.view, importer->arena));
}

static struct layer *lay_reduction(struct tflite_importer *importer, enum layer_kind kind,
                                   const struct middle_reduction *reduction, const struct quantisation *quantisation)
{
    const char *name = tflite_output(importer)->name;
    int tensor =
        quantised_tensor(&importer->builder, name, reduction->height, reduction->width, reduction->channels, quantisation);
    struct layer *layer = quantised_layer(&importer->builder, kind, name, reduction->input.tensor, tensor);
    middle_set_reduction(&importer->builder, reduction, layer);
    layer->stride_height = layer->kernel_height;
    layer->stride_width = layer->kernel_width;
    return layer;
}

/* The layer without its stages, and the operator's value; null after a report. */
static struct layer *make_reduction(struct tflite_importer *importer, bool is_sum, struct middle_reduction *reduction,
                                    struct value *result)
{
    struct quantisation quantisation;
    if (!read_reduction(importer, is_sum, reduction) ||
        !tflite_quantisation(importer, tflite_output(importer), &quantisation))
        return NULL;
    enum layer_kind kind = is_sum ? LAYER_AVERAGE_POOL : LAYER_MAXIMUM_POOL;
    struct layer *layer = lay_reduction(importer, kind, reduction, &quantisation);
    struct middle_value made = {layer->output, reduction->view};
    return tflite_gives(importer, 0, &made, result) ? layer : NULL;
}

/* ---- maxima ---- */

bool tflite_reduce_maximum(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct middle_reduction reduction;
    (void)operation;
    struct layer *layer = make_reduction(importer, false, &reduction, result);
    return layer && tflite_has_same_scale(importer, layer->inputs[0], layer->output);
}

/* A maximum of what is turned upside down. */
bool tflite_reduce_minimum(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    const char *name = tflite_output(importer)->name;
    struct middle_reduction reduction;
    struct middle_value smallest;
    struct quantisation output;
    (void)operation;
    if (!read_reduction(importer, false, &reduction) || !tflite_quantisation(importer, tflite_output(importer), &output))
        return false;
    int input = reduction.input.tensor;
    reduction.input.tensor = middle_flip(&importer->builder, name, input);
    output.zero_point = (output.is_signed ? -1 : UINT8_MAX) - output.zero_point;
    int largest = lay_reduction(importer, LAYER_MAXIMUM_POOL, &reduction, &output)->output;
    smallest = (struct middle_value){middle_flip(&importer->builder, name, largest), reduction.view};
    return tflite_has_same_scale(importer, input, smallest.tensor) && tflite_gives(importer, 0, &smallest, result);
}

/* ---- means and sums ---- */

/* The factor's 31 bits are divided by the number of elements, truncated, after a shift that keeps most of them; those of a
 * sum are not. */
static void set_stage(struct tflite_importer *importer, struct layer *layer, int64_t count, bool is_mean)
{
    const struct tensor *input = tflite_network_tensor(importer, layer->inputs[0]);
    const struct tensor *output = tflite_network_tensor(importer, layer->output);
    int64_t *numbers = arena_array(importer->arena, int64_t, 2);
    int *exponent = arena_array(importer->arena, int, 1), shift = 63 - __builtin_clzll((unsigned long long)count);
    int32_t multiplier;
    fixed_quantise_multiplier(input->scale / output->scale, &multiplier, exponent);
    shift = shift < 31 + *exponent ? shift : 31 + *exponent;
    numbers[0] = is_mean ? ((int64_t)multiplier << shift) / count : multiplier;
    numbers[1] = -count * input->zero_point;
    *exponent -= is_mean ? shift : 0;
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

static bool add_up(struct tflite_importer *importer, bool is_mean, struct value *result)
{
    struct middle_reduction reduction;
    struct layer *layer = make_reduction(importer, true, &reduction, result);
    if (layer)
        set_stage(importer, layer, reduction.count, is_mean);
    return layer != NULL;
}

bool tflite_mean(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    return add_up(importer, true, result);
}

bool tflite_sum(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    return add_up(importer, false, result);
}

/* ---- the channel of the largest element ---- */

/* Dimensions as they come in the model, but this one, which is last. */
static struct layout layout_of_indices(int rank, int dimension)
{
    struct layout layout = layout_of_model(rank);
    for (int i = dimension; i < rank - 1; i++)
        layout.order[i] = i + 1;
    layout.order[rank - 1] = dimension;
    return layout;
}

/* Pixels come as in the model, for no copy could bring them into that order later. */
static bool is_ordered(struct tflite_importer *importer, const struct middle_value *value, int dimension)
{
    struct layout layout = layout_of_indices(value->view.rank, dimension);
    struct view wanted = layout_view(&layout, value->view.dimensions);
    return view_equal(&wanted, &value->view) &&
           view_is_channels(&value->view, dimension, tflite_network_tensor(importer, value->tensor)) &&
           middle_is_whole(&importer->builder, value);
}

/* An index: INT32 or INT64 in the model, in the firmware as many bytes as it needs. Its tensor has no scale, so no operator
 * reads it. */
bool tflite_arg_max(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    const struct tflite_tensor *axis = tflite_constant(importer, 1, TFLITE_INT32, 1), *to = tflite_output(importer);
    struct middle_value value;
    (void)operation;
    if (!axis || !tflite_takes(importer, 0, &value))
        return false;
    int along = tflite_integer(axis, 0), rank = value.view.rank, dimension = along < 0 ? along + rank : along;
    const char *shape = view_text(&value.view, importer->arena);
    if (dimension < 0 || dimension >= rank)
        return tflite_fault(importer, "along axis %d of %s", along, shape);
    struct layout layout = layout_of_indices(rank, dimension);
    if (!is_ordered(importer, &value, dimension) &&
        !middle_lay(&importer->builder, arena_format(importer->arena, "%s, moved", to->name), &value, NULL, &layout, 0,
                    &value))
        return tflite_fault(importer, "%s has more elements than the firmware can have", shape);
    if (importer->current->code == TFLITE_ARG_MIN)
        value.tensor = middle_flip(&importer->builder, to->name, value.tensor);
    const struct tensor image = *tflite_network_tensor(importer, value.tensor);
    if (tflite_elements(to) != (size_t)image.height * (size_t)image.width)
        return tflite_fault(importer, "an output of %s does not fit an input of %s", tflite_shape_text(importer, to), shape);
    int output = quantised_tensor(&importer->builder, to->name, image.height, image.width, 1, &(struct quantisation){0});
    quantised_layer(&importer->builder, LAYER_LARGEST, to->name, value.tensor, output);
    *result = tflite_value_of(output);
    return true;
}
