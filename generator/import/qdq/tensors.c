/* Attributes, and tensors as layers want them. */
#include "import/qdq/operators/handlers.h"
#include "middle/constants.h"

#include <math.h>
#include <string.h>

/* ---- attributes ---- */

int64_t qdq_integer(struct qdq *qdq, const struct node *node, const char *name, int64_t otherwise)
{
    const struct attribute *attribute = node_attribute(node, name);
    if (attribute && attribute->kind != ATTRIBUTE_INTEGER)
        qdq_fault(qdq, node, name, "expected an integer");
    return attribute && attribute->kind == ATTRIBUTE_INTEGER ? attribute->integer : otherwise;
}

double qdq_number(struct qdq *qdq, const struct node *node, const char *name, double otherwise)
{
    const struct attribute *attribute = node_attribute(node, name);
    if (attribute && attribute->kind != ATTRIBUTE_FLOAT)
        qdq_fault(qdq, node, name, "expected a number");
    return attribute && attribute->kind == ATTRIBUTE_FLOAT ? attribute->number : otherwise;
}

static int list_of_array(struct qdq *qdq, const struct node *node, const char *name, const struct qdq_value *input,
                         int64_t numbers[16])
{
    const struct qdq_array *array = input->kind == QDQ_CONSTANT ? input->array : NULL;
    if (!array || !array->numbers || array->count > 16) {
        qdq_fault(qdq, node, name, "%s; supported: a constant list of up to 16 integers",
                  array ? "is a constant that is no such list" : "is computed by the network");
        return -2;
    }
    for (size_t i = 0; i < array->count; i++) {
        double number = array->numbers[i]; /* "to the end" is a large number */
        numbers[i] = number != number ? 0 : number > 1e18 ? INT64_MAX : number < -1e18 ? INT64_MIN : (int64_t)number;
    }
    return (int)array->count;
}

int qdq_list(struct qdq *qdq, const struct node *node, const char *name, const struct qdq_value *input, int64_t numbers[16])
{
    const struct attribute *attribute = node_attribute(node, name);
    if (!attribute && input && input->kind != QDQ_NONE)
        return list_of_array(qdq, node, name, input, numbers);
    if (!attribute)
        return -1;
    if (attribute->kind != ATTRIBUTE_INTEGERS || attribute->count > 16) {
        qdq_fault(qdq, node, name, "expected a list of up to 16 integers");
        return -2;
    }
    if (attribute->count)
        memcpy(numbers, attribute->integers, attribute->count * sizeof *numbers);
    return (int)attribute->count;
}

/* ---- tensors ---- */

struct tensor *qdq_tensor(const struct qdq *qdq, int index) { return &qdq->builder.network->tensors[index]; }

int qdq_tensor_like(struct qdq *qdq, const char *name, int like, int height, int width, int channels)
{
    struct tensor from = *qdq_tensor(qdq, like);
    int index = quantised_tensor(&qdq->builder, name, height, width, channels,
                                 &(struct quantisation){.scale = from.scale, .is_signed = from.model_offset != 0});
    qdq_tensor(qdq, index)->zero_point = from.zero_point;
    return index;
}

static float plain_real(const struct tensor *tensor, int element)
{
    return (float)(element - tensor->zero_point) * (float)tensor->scale;
}

const float *qdq_plain_reals(struct qdq *qdq, int tensor)
{
    float *reals = arena_array(qdq->arena, float, 256);
    for (int i = 0; i < 256; i++)
        reals[i] = plain_real(qdq_tensor(qdq, tensor), i);
    return reals;
}

bool qdq_is_plain(struct qdq *qdq, const struct qdq_value *value)
{
    for (int i = 0; i < 256; i++)
        if (value->reals[i] != plain_real(qdq_tensor(qdq, value->tensor), i))
            return false;
    return true;
}

/* ---- images ---- */

enum qdq_outcome qdq_make_image(struct qdq *qdq, const struct node *node, struct qdq_value *value)
{
    const struct view *view = &value->view;
    if (value->kind == QDQ_OUTSIDE || value->kind == QDQ_PENDING)
        return QDQ_FLOAT;
    if (view_is_image(view, qdq_tensor(qdq, value->tensor)))
        return QDQ_DONE;
    if (view->rank < 2 || view->rank > 4 || view->dimensions[0] != 1)
        return qdq_fault(qdq, node, NULL, "%s of a tensor of shape %s; supported: batch 1 x channels [x height] [x width]",
                         node->type, view_text(view, qdq->arena));
    struct layout layout = layout_of_image(view->rank);
    enum qdq_outcome outcome = qdq_lay(qdq, node, NULL, &layout, 0, value);
    if (outcome == QDQ_DONE)
        value->view = view_of_image(qdq_tensor(qdq, value->tensor), view->rank);
    return outcome;
}

/* The element that stands for a real number exactly, or -1. */
static int element_of(const struct tensor *tensor, float real)
{
    double element = rint((double)real / tensor->scale) + tensor->zero_point;
    if (!(element >= 0 && element <= 255))
        return -1;
    return plain_real(tensor, (int)element) == real ? (int)element : -1;
}

enum qdq_outcome qdq_make_elements(struct qdq *qdq, const struct node *node, struct qdq_value *value)
{
    if (value->kind != QDQ_REALS)
        return QDQ_FLOAT;
    if (!qdq_is_plain(qdq, value)) {
        struct tensor from = *qdq_tensor(qdq, value->tensor);
        uint8_t *table = arena_array(qdq->arena, uint8_t, 256);
        for (int i = 0; i < 256; i++) {
            int element = element_of(&from, value->reals[i]);
            if (element < 0)
                return QDQ_FLOAT;
            table[i] = (uint8_t)element;
        }
        int output = qdq_tensor_like(qdq, node->name, value->tensor, from.height, from.width, from.channels);
        quantised_layer(&qdq->builder, LAYER_TABLE, node->name, value->tensor, output)->table = table;
        value->tensor = output;
        value->reals = qdq_plain_reals(qdq, output);
    }
    return QDQ_DONE;
}

static enum qdq_outcome lay_constant(struct qdq *qdq, const struct node *node, const uint8_t *elements,
                                     const struct quantisation *quantisation, struct qdq_value *value)
{
    const struct qdq_array *array = value->array;
    if (qdq->builder.network->input_count == 0)
        return QDQ_FLOAT;
    const int tensor = middle_lay_elements(&qdq->builder, array->name, qdq->builder.network->inputs[0], elements,
                                           (int64_t)array->count, quantisation);
    if (tensor < 0)
        return qdq_fault(qdq, node, NULL,
                         "constant '%s' has %zu elements; supported: up to %d, or up to %d equal parts of those",
                         array->name, array->count, MAXIMUM_DIMENSION, MIDDLE_MAXIMUM_PARTS);
    *value = (struct qdq_value){.kind = QDQ_REALS,
                                .view = view_of_memory(array->rank, array->dimensions),
                                .tensor = tensor,
                                .reals = qdq_plain_reals(qdq, tensor)};
    return QDQ_DONE;
}

/* ---- constants ---- */

enum qdq_outcome qdq_make_tensor(struct qdq *qdq, const struct node *node, struct qdq_value *value)
{
    const struct qdq_array *array = value->array;
    if (value->kind != QDQ_CONSTANT || !array->numbers || array->scale_count != 1 || array->narrow_bits ||
        (array->type != ELEMENT_INT8 && array->type != ELEMENT_UINT8))
        return QDQ_FLOAT;
    bool is_signed = array->type == ELEMENT_INT8;
    struct quantisation quantisation = {array->scales[0], array->zero_points[0], is_signed};
    uint8_t *elements = arena_array(qdq->arena, uint8_t, array->count + 1);
    for (size_t i = 0; i < array->count; i++)
        elements[i] = (uint8_t)((int)array->numbers[i] + (is_signed ? 128 : 0));
    return lay_constant(qdq, node, elements, &quantisation, value);
}

enum qdq_outcome qdq_make_rounded(struct qdq *qdq, const struct node *node, const struct quantisation *quantisation,
                                  struct qdq_value *value)
{
    const struct qdq_array *array = value->array;
    if (value->kind != QDQ_CONSTANT || !array->numbers)
        return QDQ_FLOAT;
    const int64_t zero_point = quantisation->zero_point + (quantisation->is_signed ? 128 : 0);
    uint8_t *elements = arena_array(qdq->arena, uint8_t, array->count + 1);
    for (size_t i = 0; i < array->count; i++)
        elements[i] = (uint8_t)qdq_round(qdq_array_real(array, i), quantisation->scale, zero_point, 0, 255);
    return lay_constant(qdq, node, elements, quantisation, value);
}

enum qdq_outcome qdq_make_numbers(struct qdq *qdq, const struct node *node, struct qdq_value *value)
{
    const struct qdq_array *array = value->array;
    float *numbers = arena_array(qdq->arena, float, 256);
    int count = 0;
    if (value->kind != QDQ_CONSTANT || !array->numbers)
        return QDQ_FLOAT;
    uint8_t *elements = arena_array(qdq->arena, uint8_t, array->count + 1);
    for (size_t i = 0; i < array->count; i++) {
        const float number = (float)qdq_array_real(array, i);
        int found = 0;
        while (found < count && numbers[found] != number)
            found++;
        if (found == 256)
            return QDQ_FLOAT;
        if (found == count)
            numbers[count++] = number;
        elements[i] = (uint8_t)found;
    }
    enum qdq_outcome outcome = lay_constant(qdq, node, elements, &(struct quantisation){1, 0, false}, value);
    if (outcome == QDQ_DONE)
        value->reals = numbers;
    return outcome;
}

/* ---- whole images ---- */

enum qdq_outcome qdq_make_plain(struct qdq *qdq, const struct node *node, struct qdq_value *value)
{
    enum qdq_outcome outcome = qdq_make_elements(qdq, node, value);
    return outcome == QDQ_DONE ? qdq_make_image(qdq, node, value) : outcome;
}

enum qdq_outcome qdq_make_channels(struct qdq *qdq, const struct node *node, struct qdq_value *value, int dimension)
{
    const struct middle_value placed = qdq_placed(value);
    const struct view *view = &value->view;
    if (view_is_channels(view, dimension, qdq_tensor(qdq, value->tensor)) && middle_is_whole(&qdq->builder, &placed))
        return QDQ_DONE;
    bool is_image = view->rank >= 2 && view->rank <= 4 && view->dimensions[0] == 1 && dimension != 0;
    struct layout layout = layout_with_channels(view, dimension);
    if (is_image) { /* the other dimensions as they come in the model */
        layout = layout_of_model(view->rank);
        for (int i = dimension; i < view->rank - 1; i++)
            layout.order[i] = i + 1;
        layout.order[view->rank - 1] = dimension;
    }
    return qdq_lay(qdq, node, NULL, &layout, 0, value);
}
