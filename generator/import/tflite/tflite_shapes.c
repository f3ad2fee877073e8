/* Operators that only say how a tensor is to be seen: no layer for any of them. */

#include <string.h>

#include "import/tflite/tflite_import.h"

/* The first input's value and tensor; false where there is none, or nothing is known of it. */
static bool read_first(struct tflite_importer *importer, const struct tflite_tensor **tensor, struct value *value)
{
    *tensor = tflite_input(importer, 0);
    if (!*tensor)
        return false;
    *value = importer->values[*tensor - importer->model->tensors];
    if (value->kind == VALUE_CONSTANT)
        return tflite_fault(importer, "its input '%s' is a constant; supported: what the network computes", (*tensor)->name);
    return value->kind == VALUE_TENSOR;
}

/* ---- reshape ---- */

static struct view view_of(const struct tflite_tensor *tensor)
{
    int64_t dimensions[TFLITE_MAXIMUM_RANK];
    for (int i = 0; i < tensor->rank; i++)
        dimensions[i] = tensor->dimensions[i];
    return view_of_memory(tensor->rank, dimensions);
}

static void set_view(struct value *value, const struct view *view)
{
    value->is_moved = !view_is_memory(view);
    value->view = *view;
}

/* Of a moved value. Where the new dimensions cut through the old ones, it is moved first. */
static bool reshape_moved(struct tflite_importer *importer, const struct tflite_tensor *to, struct value *result)
{
    struct view wanted = view_of(to), view;
    if (view_reshape(&result->view, wanted.rank, wanted.dimensions, &view)) {
        set_view(result, &view);
        return true;
    }
    struct middle_value value;
    if (!tflite_takes(importer, 0, &value))
        return false;
    struct layout layout = layout_of_model(value.view.rank);
    const char *name = arena_format(importer->arena, "%s, transposed", tflite_network_tensor(importer, value.tensor)->name);
    if (!middle_lay(&importer->builder, name, &value, NULL, &layout, 0, &value))
        return tflite_fault(importer, "'%s' is too large to be copied", name);
    *result = tflite_value_of(value.tensor);
    return true;
}

/* Where the model's two shapes are seen alike there is nothing to do; where not, the layer that reads the value decides. */
bool tflite_reshape(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    const struct tflite_tensor *from, *to = tflite_output(importer);
    struct quantisation before, after;
    if (!read_first(importer, &from, result))
        return false;
    if (tflite_elements(from) != tflite_elements(to))
        return tflite_fault(importer, "%s and %s have different numbers of elements", tflite_shape_text(importer, from),
                            tflite_shape_text(importer, to));
    if (!tflite_quantisation(importer, from, &before) || !tflite_quantisation(importer, to, &after))
        return false;
    if (before.scale != after.scale || before.zero_point != after.zero_point)
        return tflite_fault(importer, "scale or zero point differ from the input's; supported: the same");
    return !result->is_moved || reshape_moved(importer, to, result);
}

/* ---- transpose ---- */

static bool read_order(struct tflite_importer *importer, int rank, int *order)
{
    const struct tflite_tensor *constant = tflite_constant(importer, 1, TFLITE_INT32, (size_t)rank);
    bool is_used[TFLITE_MAXIMUM_RANK] = {0};
    if (!constant)
        return false;
    for (int i = 0; i < rank; i++) {
        order[i] = tflite_integer(constant, (size_t)i);
        if (order[i] < -rank || order[i] >= rank || is_used[(order[i] + rank) % rank])
            return tflite_fault(importer, "'%s' is no order of %d dimensions", constant->name, rank);
        order[i] = (order[i] + rank) % rank;
        is_used[order[i]] = true;
    }
    return true;
}

bool tflite_transpose(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    const struct tflite_tensor *from, *to = tflite_output(importer);
    int order[TFLITE_MAXIMUM_RANK];
    if (!read_first(importer, &from, result) || !read_order(importer, from->rank, order))
        return false;
    if (tflite_elements(to) != tflite_elements(from) || tflite_elements(from) == 0)
        return tflite_fault(importer, "%s and %s have different numbers of elements, or none",
                            tflite_shape_text(importer, from), tflite_shape_text(importer, to));
    if (!result->is_moved && tflite_reads_elements(importer, 0, result) < 0)
        return false;
    if (!result->is_moved && tensor_elements(tflite_network_tensor(importer, result->tensor)) != tflite_elements(from))
        return tflite_fault(importer, "%s is not the shape of what the network computes", tflite_shape_text(importer, from));
    struct view view = result->is_moved ? result->view : view_of(from);
    view_permute(&view, order, &view);
    set_view(result, &view);
    return true;
}

/* ---- padding ---- */

/* Of a moved value, whose border is laid as it lies in memory. */
static bool pad_moved(struct tflite_importer *importer, int element, struct value *result)
{
    struct middle_value value, padded;
    const struct tflite_numbers *borders = tflite_numbers(importer, 1, 2 * tflite_input(importer, 0)->rank);
    if (!borders || !tflite_takes(importer, 0, &value))
        return false;
    struct middle_move move = middle_move_none(&value.view);
    struct layout layout = layout_of_memory(&value.view);
    for (int i = 0; i < value.view.rank; i++) {
        int64_t before = borders->list[2 * i], behind = borders->list[2 * i + 1];
        if (before < 0 || behind < 0 || !middle_move_pad(&importer->builder, &move, i, BORDER_CONSTANT, before, behind))
            return tflite_fault(importer, "a border of dimension %d of %s that is negative or too large", i,
                                view_text(&value.view, importer->arena));
    }
    if (!middle_move_apply(&importer->builder, tflite_output(importer)->name, &value, &move, &layout, element, &padded))
        return tflite_fault(importer, "the output of %s has more elements than the firmware can have",
                            tflite_shape_text(importer, tflite_output(importer)));
    return tflite_gives(importer, 0, &padded, result);
}

/* The element of the border in the firmware's bytes; false after a report. */
static bool read_element(struct tflite_importer *importer, int tensor, int *element)
{
    const struct tensor *input = tflite_network_tensor(importer, tensor);
    *element = input->zero_point;
    if (importer->current->code == TFLITE_PAD)
        return true;
    const struct tflite_tensor *constant = tflite_constant(importer, 2, TFLITE_INT8, 1);
    if (!constant)
        return false;
    *element = (int8_t)constant->data[0] + 128;
    return true;
}

static bool read_borders(struct tflite_importer *importer, const struct tflite_tensor *input, struct padding *padding)
{
    const struct tflite_tensor *borders = tflite_constant(importer, 1, TFLITE_INT32, 2 * (size_t)input->rank);
    if (!borders)
        return false;
    int numbers[TFLITE_MAXIMUM_RANK][2] = {{0}};
    for (int i = 0; i < input->rank; i++)
        for (int side = 0; side < 2; side++) {
            int from_end = input->rank - 1 - i, number = tflite_integer(borders, 2 * (size_t)i + (size_t)side);
            if (number < 0 || number > MAXIMUM_DIMENSION || (number != 0 && from_end > 2))
                return tflite_fault(
                    importer, "a border of %d elements in dimension %d of %s; supported: of height, width and channels",
                    number, i, tflite_shape_text(importer, input));
            numbers[from_end][side] = number;
        }
    *padding = (struct padding){numbers[2][0], numbers[1][0], numbers[2][1], numbers[1][1], numbers[0][0], numbers[0][1]};
    return true;
}

bool tflite_pad(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    const struct tflite_tensor *from = tflite_input(importer, 0), *to = tflite_output(importer);
    struct padding padding;
    struct image_shape inside, outside;
    struct middle_value images;
    struct value value;
    int element;
    if (from && from->rank == 4 && from->dimensions[0] > 1)
        return tflite_takes(importer, 0, &images) && read_element(importer, images.tensor, &element) &&
               pad_moved(importer, element, result);
    int tensor = tflite_reads_elements(importer, 0, &value);
    if (tensor >= 0 && value.is_moved)
        return read_element(importer, tensor, &element) && pad_moved(importer, element, result);
    tensor = tensor < 0 ? -1 : tflite_reads(importer, 0, NULL);
    if (tensor < 0 || !read_borders(importer, from, &padding) || !read_element(importer, tensor, &element) ||
        !tflite_image_shape(importer, from, &inside) || !tflite_image_shape(importer, to, &outside))
        return false;
    if (outside.height != inside.height + padding.top + padding.bottom ||
        outside.width != inside.width + padding.left + padding.right ||
        outside.channels != inside.channels + padding.front + padding.back)
        return tflite_fault(importer, "the output's shape %s does not fit %s and its border",
                            tflite_shape_text(importer, to), tflite_shape_text(importer, from));
    *result = tflite_value_of(tensor);
    result->padding = padding;
    result->padding_element = element;
    return true;
}

/* ---- edges ---- */

/* A tensor of the network that stands for the model's input, whose own type is not INT8. */
static bool quantise_input(struct tflite_importer *importer, int input, struct value *result)
{
    if (importer->inputs[input] >= 0)
        return tflite_fault(importer, "the input '%s' is quantised twice; supported: once",
                            importer->model->tensors[importer->model->inputs[input]].name);
    int tensor = tflite_makes(importer, -1);
    if (tensor < 0)
        return false;
    tflite_network_tensor(importer, tensor)->name = importer->model->tensors[importer->model->inputs[input]].name;
    importer->inputs[input] = tensor;
    *result = tflite_value_of(tensor);
    return true;
}

/* What computes a tensor, for people. */
static const char *maker_of(const struct tflite_model *model, const struct tflite_tensor *tensor)
{
    for (int i = 0; i < model->operator_count; i++)
        for (int k = 0; k < model->operators[i].output_count; k++)
            if (&model->tensors[model->operators[i].outputs[k]] == tensor)
                return model->operators[i].name;
    return "what is in front";
}

/* litert-torch calls the arguments of a module so; Keras and TensorFlow use the names of tensors. */
static bool is_of_torch(const struct tflite_model *model)
{
    return model->input_count > 0 && strstr(model->tensors[model->inputs[0]].name, "args_") != NULL;
}

/* Some operator reads it: it is more than an output of the model. */
static bool is_read(const struct tflite_model *model, const struct tflite_tensor *tensor)
{
    for (int i = 0; i < model->operator_count; i++)
        for (int k = 0; k < model->operators[i].input_count; k++)
            if (model->operators[i].inputs[k] == tensor - model->tensors)
                return true;
    return false;
}

/* What makes such an operator one that is quantised. */
static const char *advice_on(const struct tflite_importer *importer, const char *maker)
{
    static const struct {
        const char *operator, * advice;
    } advices[] = {
        {"ADD_N", "tf.add_n has no 8-bit form: add two tensors at a time, as a + b + c"},
        {"CONV_3D",
         "It has no 8-bit form. Write a kernel of 1 x k x k as a 2-D convolution of frames, which are the batch, and "
         "one of k x 1 x 1 as a 2-D convolution with a kernel of k x 1 over frames x pixels"},
    };
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
        if (!strncmp(maker, advices[i].operator, strlen(advices[i].operator)))
            return advices[i].advice;
    return is_of_torch(importer->model)
               ? "PT2E leaves norms, softmax and products in float: quantise with ai-edge-quantizer (static_wi8_ai8) instead"
               : "The converter leaves in float what has no 8-bit form for it, also with TFLITE_BUILTINS_INT8: say it by "
                 "other operators, or end the model in front of it (" TFLITE_RECIPE ")";
}

static bool refuse_island(struct tflite_importer *importer, const struct tflite_tensor *from)
{
    const char *maker = maker_of(importer->model, from);
    return tflite_fault(
        importer,
        "'%s' is computed in float, by %s, and quantised again: a float island in the middle of the network; "
        "supported there: functions of single elements, and moves. %s",
        from->name, maker, advice_on(importer, maker));
}

bool tflite_quantise(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    const struct tflite_tensor *from = tflite_input(importer, 0), *to = tflite_output(importer);
    struct quantisation before, after;
    if (!from)
        return false;
    const struct value *value = &importer->values[from - importer->model->tensors];
    if (value->kind == VALUE_BEFORE)
        return quantise_input(importer, value->input, result);
    if (value->kind == VALUE_REALS)
        return tflite_quantise_reals(importer, value, result);
    if (value->kind == VALUE_BEHIND) {
        *result = *value; /* a last operator in float is the application's, and its rounding, too */
        return !is_read(importer->model, to) || refuse_island(importer, from);
    }
    if (!tflite_quantisation(importer, from, &before) || !tflite_quantisation(importer, to, &after))
        return false;
    int offset = (before.is_signed ? 128 : 0) - (after.is_signed ? 128 : 0);
    bool is_same = before.scale == after.scale && before.zero_point + offset == after.zero_point;
    if (!is_same)
        return tflite_requantise(importer, operation, result);
    if (!read_first(importer, &from, result))
        return false;
    if (after.is_signed) /* what reads it computes with these integers; the network's edges have their own again */
        tflite_network_tensor(importer, result->tensor)->model_offset = -128;
    return true;
}
