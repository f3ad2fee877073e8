/* Arithmetic of tensors, and of what layers compute, with constants of several numbers. */
#include "import/qdq/operators/handlers.h"
#include "import/qdq/outside.h"

#include <math.h>
#include <string.h>

int qdq_constant_dimension(const struct view *view, const struct qdq_array *array)
{
    int found = -1;
    for (int i = 0; i < array->rank; i++) {
        if (array->dimensions[i] == 1)
            continue;
        int dimension = i + view->rank - array->rank;
        if (found >= 0 || dimension < 0 || view->dimensions[dimension] != array->dimensions[i])
            return -1;
        found = dimension;
    }
    return found;
}

/* Of one channel: weight 1, -1, or 0, which leaves the constant alone, times a positive scale. */
static void set_factor(struct qdq_pending *pending, int8_t *weights, int channel, double factor, int zero_point)
{
    weights[channel] = fabs(factor) < 1e-30 ? 0 : factor < 0 ? -1 : 1;
    pending->factors[channel] = weights[channel] ? fabs(factor) : 1;
    pending->addends[channel] = -(int64_t)weights[channel] * zero_point;
}

/* ---- a number for each element ---- */

/* The array's index of each element of the view, in the model's order; false where it would make more elements. */
static bool spread_indices(const struct view *view, const struct qdq_array *array, size_t *indices)
{
    if (array->rank > view->rank)
        return false;
    for (int i = 0; i < array->rank; i++)
        if (array->dimensions[i] != 1 && array->dimensions[i] != view->dimensions[view->rank - array->rank + i])
            return false;
    for (size_t element = 0; element < (size_t)view_elements(view); element++) {
        size_t rest = element, step = 1;
        indices[element] = 0;
        for (int i = 1; i <= view->rank; i++) {
            size_t size = (size_t)view->dimensions[view->rank - i];
            size_t own = i <= array->rank ? (size_t)array->dimensions[array->rank - i] : 1;
            indices[element] += own == 1 ? 0 : rest % size * step;
            step *= own;
            rest /= size;
        }
    }
    return true;
}

enum qdq_outcome qdq_lay_flat(struct qdq *qdq, const struct node *node, const struct qdq_array *array,
                              struct qdq_value *value, const struct qdq_array **spread)
{
    struct layout layout = layout_of_model(value->view.rank);
    const int64_t count = view_elements(&value->view);
    if (!array->numbers || count > MAXIMUM_DIMENSION)
        return QDQ_FLOAT;
    size_t *indices = arena_array(qdq->arena, size_t, (size_t)count);
    struct qdq_array *numbers = qdq_array_make(qdq, NULL, 1, &count);
    double *to = (double *)(uintptr_t)numbers->numbers;
    if (!to || !spread_indices(&value->view, array, indices))
        return QDQ_FLOAT;
    for (int64_t i = 0; i < count; i++)
        to[i] = qdq_array_real(array, indices[i]);
    numbers->name = array->name;
    *spread = numbers;
    layout.rows = layout.columns = 0; /* one pixel of all elements */
    return qdq_lay(qdq, node, NULL, &layout, 0, value);
}

/* ---- a tensor and a constant ---- */

/* The value with a channel for each number, in their order. */
static enum qdq_outcome lay_channels(struct qdq *qdq, const struct node *node, struct qdq_value *value,
                                     const struct qdq_array **array)
{
    int dimension = qdq_constant_dimension(&value->view, *array);
    enum qdq_outcome outcome = qdq_make_elements(qdq, node, value);
    if (outcome != QDQ_DONE)
        return outcome;
    return dimension < 0 ? qdq_lay_flat(qdq, node, *array, value, array) : qdq_make_channels(qdq, node, value, dimension);
}

static double factor_of(enum qdq_operation operation, double number, bool is_swapped)
{
    switch (operation) {
    case QDQ_MULTIPLY: return (double)(float)number;
    case QDQ_DIVIDE: return (double)(1 / (float)number);
    default: return operation == QDQ_SUBTRACT && is_swapped ? -1 : 1;
    }
}

/* A depth-wise convolution of weight 1 or -1. */
enum qdq_outcome qdq_scale_channels(struct qdq *qdq, const struct node *node, enum qdq_operation operation,
                                    const struct qdq_value *value, const struct qdq_array *array, bool is_swapped,
                                    struct qdq_value *result)
{
    struct qdq_value input = *value;
    bool is_factor = operation == QDQ_MULTIPLY || operation == QDQ_DIVIDE;
    if (operation > QDQ_DIVIDE || (operation == QDQ_DIVIDE && is_swapped))
        return QDQ_FLOAT;
    enum qdq_outcome outcome = lay_channels(qdq, node, &input, &array);
    if (outcome != QDQ_DONE)
        return outcome;
    int channels = qdq_tensor(qdq, input.tensor)->channels, zero_point = qdq_tensor(qdq, input.tensor)->zero_point;
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_CONVOLUTION, node, input.tensor, channels);
    int8_t *weights = arena_array(qdq->arena, int8_t, (size_t)channels);
    pending->layer.groups = channels;
    pending->layer.weights = weights;
    pending->layer.padding_value = zero_point;
    pending->constants = is_factor ? NULL : arena_array(qdq->arena, double, (size_t)channels);
    for (int c = 0; c < channels; c++) {
        double number = qdq_array_real(array, (size_t)c), factor = factor_of(operation, number, is_swapped);
        if (!isfinite(number) || !isfinite(factor))
            return qdq_fault(qdq, node, NULL, "constant '%s' holds %g", array->name, number);
        set_factor(pending, weights, c, factor, zero_point);
        if (!is_factor)
            pending->constants[c] = operation == QDQ_SUBTRACT && !is_swapped ? -number : number;
    }
    *result = (struct qdq_value){.kind = QDQ_PENDING, .view = input.view, .pending = pending};
    return QDQ_DONE;
}

/* ---- what a layer computes, and a constant ---- */

/* One for all, or one a channel. */
static bool is_of_channels(const struct qdq_value *value, const struct qdq_array *array, bool is_scalar)
{
    const struct qdq_pending *from = value->pending;
    struct tensor output = tensor_plain("", from->height, from->width, from->channels);
    int dimension = qdq_constant_dimension(&value->view, array);
    return is_scalar || (dimension >= 0 && view_is_channels(&value->view, dimension, &output) && !from->part_count &&
                         from->count == from->channels);
}

static bool is_bounded(const struct qdq_pending *pending)
{
    return pending->minimum > -INFINITY || pending->maximum < INFINITY;
}

/* A term is a bias. */
static enum qdq_outcome add_term(struct qdq *qdq, struct qdq_pending *pending, const struct qdq_array *array, int sign,
                                 bool is_scalar)
{
    const double *before = pending->constants;
    if (is_bounded(pending) || (pending->part_count && pending->whole != QDQ_SUMMED))
        return QDQ_FLOAT;
    pending->constants = arena_array(qdq->arena, double, (size_t)pending->count);
    for (int i = 0; i < pending->count; i++)
        pending->constants[i] = (before ? before[i] : 0) + sign * qdq_array_real(array, is_scalar ? 0 : (size_t)i);
    return QDQ_DONE;
}

/* A positive factor scales the sums, and with them what was added to them. */
static enum qdq_outcome scale_sums(struct qdq *qdq, struct qdq_pending *pending, const struct qdq_array *array,
                                   bool is_divisor, bool is_scalar)
{
    double *factors = arena_array(qdq->arena, double, (size_t)pending->count);
    double *constants = pending->constants ? arena_array(qdq->arena, double, (size_t)pending->count) : NULL;
    double factor = 1;
    if (pending->part_count || (is_bounded(pending) && !is_scalar))
        return QDQ_FLOAT;
    for (int i = 0; i < pending->count; i++) {
        double number = qdq_array_real(array, is_scalar ? 0 : (size_t)i);
        factor = is_divisor ? 1 / number : number;
        factors[i] = (double)(float)(pending->factors[i] * factor);
        if (!(number > 0) || !isfinite(factors[i]) || !(factors[i] > 0))
            return QDQ_FLOAT;
        if (constants)
            constants[i] = pending->constants[i] * factor;
    }
    pending->factors = factors;
    pending->constants = constants;
    pending->minimum *= factor;
    pending->maximum *= factor;
    pending->term_count = 0; /* a sum's own terms are none of what is scaled */
    return QDQ_DONE;
}

enum qdq_outcome qdq_change_sums(struct qdq *qdq, enum qdq_operation operation, const struct qdq_value *value,
                                 const struct qdq_array *array, bool is_swapped, struct qdq_value *result)
{
    double number;
    bool is_scalar = qdq_array_scalar(array, &number), commutes = operation == QDQ_ADD || operation == QDQ_MULTIPLY;
    struct qdq_pending *pending = arena_allocate(qdq->arena, sizeof *pending);
    enum qdq_outcome outcome = QDQ_FLOAT;
    *pending = *value->pending;
    if (array->rank > value->view.rank || !is_of_channels(value, array, is_scalar) || (is_swapped && !commutes))
        return QDQ_FLOAT;
    if (operation == QDQ_ADD || operation == QDQ_SUBTRACT)
        outcome = add_term(qdq, pending, array, operation == QDQ_ADD ? 1 : -1, is_scalar);
    else if (operation == QDQ_MULTIPLY || operation == QDQ_DIVIDE)
        outcome = scale_sums(qdq, pending, array, operation == QDQ_DIVIDE, is_scalar);
    *result = *value;
    result->pending = pending;
    return outcome;
}

/* ---- batch normalisation ---- */

/* x * factors[c] + terms[c]. False after a report. */
static bool read_normalisation(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                               int channels, double *factors, double *terms)
{
    double epsilon = qdq_number(qdq, node, "epsilon", 1e-5), part[4];
    for (int i = 1; i < 5; i++)
        if (i >= count || inputs[i].kind != QDQ_CONSTANT || !inputs[i].array->numbers ||
            inputs[i].array->count != (size_t)channels) {
            qdq_fault(qdq, node, NULL, "input %d is no constant of %d numbers", i, channels);
            return false;
        }
    for (int c = 0; c < channels; c++) {
        for (int i = 0; i < 4; i++)
            part[i] = qdq_array_real(inputs[i + 1].array, (size_t)c);
        factors[c] = (double)(float)(part[0] / sqrt(part[3] + epsilon));
        terms[c] = part[1] - part[2] * factors[c];
        if (!isfinite(factors[c]) || !isfinite(terms[c])) {
            qdq_fault(qdq, node, NULL, "channel %d is multiplied by %g", c, factors[c]);
            return false;
        }
    }
    return true;
}

static void normalise_outside(struct qdq *qdq, const struct qdq_value *input, const double *factors, const double *terms,
                              int channels, struct qdq_value *result)
{
    float *numbers = arena_array(qdq->arena, float, 2 * (size_t)channels);
    for (int c = 0; c < channels; c++) {
        numbers[c] = (float)factors[c];
        numbers[channels + c] = (float)terms[c];
    }
    *result = *input;
    qdq_outside_step(qdq, result, REAL_MULTIPLY, numbers, channels);
    qdq_outside_step(qdq, result, REAL_ADD, numbers + channels, channels);
    result->outside.is_unknown |= !view_is_image(&input->view, qdq_tensor(qdq, input->tensor));
}

/* Sums that nobody has rounded, as of a Linear in front of a BatchNorm1d that no exporter folds: a scale and a bias a
 * channel. */
static enum qdq_outcome normalise_sums(struct qdq *qdq, const struct qdq_value *input, const double *factors,
                                       const double *terms, struct qdq_value *result)
{
    const int64_t channels = input->view.dimensions[1];
    int64_t dimensions[GRAPH_MAXIMUM_RANK] = {channels};
    struct qdq_value scaled;
    for (int i = 1; i < input->view.rank - 1; i++)
        dimensions[i] = 1;
    struct qdq_array *scale = qdq_array_make(qdq, NULL, input->view.rank - 1, dimensions);
    struct qdq_array *term = qdq_array_make(qdq, NULL, input->view.rank - 1, dimensions);
    if (!scale->numbers || !term->numbers)
        return QDQ_FLOAT;
    memcpy((double *)(uintptr_t)scale->numbers, factors, (size_t)channels * sizeof *factors);
    memcpy((double *)(uintptr_t)term->numbers, terms, (size_t)channels * sizeof *terms);
    enum qdq_outcome outcome = qdq_change_sums(qdq, QDQ_MULTIPLY, input, scale, false, &scaled);
    return outcome == QDQ_DONE ? qdq_change_sums(qdq, QDQ_ADD, &scaled, term, false, result) : outcome;
}

/* A tensor: a depth-wise convolution. */
static enum qdq_outcome normalise_tensor(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                         const double *factors, const double *terms, struct qdq_value *result)
{
    struct qdq_value input = *value;
    enum qdq_outcome outcome = qdq_make_elements(qdq, node, &input);
    if (outcome == QDQ_DONE)
        outcome = qdq_make_channels(qdq, node, &input, 1);
    if (outcome != QDQ_DONE)
        return outcome;
    int channels = qdq_tensor(qdq, input.tensor)->channels, zero_point = qdq_tensor(qdq, input.tensor)->zero_point;
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_CONVOLUTION, node, input.tensor, channels);
    int8_t *weights = arena_array(qdq->arena, int8_t, (size_t)channels);
    double *constants = arena_array(qdq->arena, double, (size_t)channels);
    pending->layer.groups = channels;
    pending->layer.weights = weights;
    pending->layer.padding_value = zero_point;
    pending->constants = constants;
    for (int c = 0; c < channels; c++) {
        set_factor(pending, weights, c, factors[c], zero_point);
        constants[c] = terms[c];
    }
    *result = (struct qdq_value){.kind = QDQ_PENDING, .view = input.view, .pending = pending};
    return QDQ_DONE;
}

/* (x - mean) / sqrt(variance + epsilon) * scale + bias: quantisers fold it into a convolution, where there is one. */
enum qdq_outcome qdq_batch_normalization(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                         struct qdq_value *result)
{
    const struct view *view = &inputs[0].view;
    if (view->rank < 2 || view->dimensions[1] > MAXIMUM_DIMENSION)
        return qdq_fault(qdq, node, NULL, "of a tensor of shape %s; supported: a dimension of channels behind the batch",
                         view_text(view, qdq->arena));
    int channels = (int)view->dimensions[1];
    double *factors = arena_array(qdq->arena, double, 2 * (size_t)channels), *terms = factors + channels;
    if (!read_normalisation(qdq, node, inputs, count, channels, factors, terms))
        return QDQ_FAULT;
    if (inputs[0].kind == QDQ_OUTSIDE) {
        normalise_outside(qdq, &inputs[0], factors, terms, channels, result);
        return QDQ_DONE;
    }
    return inputs[0].kind == QDQ_PENDING ? normalise_sums(qdq, &inputs[0], factors, terms, result)
                                         : normalise_tensor(qdq, node, &inputs[0], factors, terms, result);
}
