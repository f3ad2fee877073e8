/* A norm that awaits its rounding: its rows, and the constants of their elements. */
#include "import/qdq/operators/norm_rows.h"

#include <math.h>
#include <string.h>

#include "base/arithmetic.h"

#define MAXIMUM_CONSTANTS ((int64_t)1 << 22)

/* ---- rows ---- */

void qdq_norm_sort(const struct view *view, const bool *is_row, struct qdq_norm *norm)
{
    int next = 0;
    norm->rows = norm->length = 1;
    for (int rows = 0; rows < 2; rows++)
        for (int i = 0; i < view->rank; i++)
            if (is_row[i] == rows) {
                *(rows ? &norm->length : &norm->rows) *= view->dimensions[i];
                norm->order[next++] = i;
            }
}

enum qdq_outcome qdq_norm_lay_rows(struct qdq *qdq, const struct node *node, struct qdq_norm *norm, bool must_order,
                                   struct qdq_value *value)
{
    const int64_t shape[2] = {norm->rows, norm->length};
    struct layout layout = layout_of_model(2);
    struct view wanted = layout_view(&layout, shape);
    if (norm->rows > MAXIMUM_DIMENSION || norm->length > MAXIMUM_DIMENSION)
        return qdq_fault(qdq, node, NULL, "normalises %lld rows of %lld elements; supported: up to %d",
                         (long long)norm->rows, (long long)norm->length, MAXIMUM_DIMENSION);
    view_permute(&value->view, norm->order, &value->view);
    enum qdq_outcome outcome = qdq_take_shape(qdq, node, 2, shape, value);
    if (outcome != QDQ_DONE)
        return outcome;
    const struct middle_value placed = qdq_placed(value);
    bool is_laid = qdq_tensor(qdq, value->tensor)->channels == norm->length && middle_is_whole(&qdq->builder, &placed) &&
                   view_is_channels(&value->view, 1, qdq_tensor(qdq, value->tensor));
    if (is_laid && (!must_order || view_equal(&value->view, &wanted)))
        return QDQ_DONE;
    return qdq_lay(qdq, node, NULL, &layout, 0, value);
}

bool qdq_norm_restore(const struct qdq_norm *norm, const struct view *rows, const bool *is_one, struct view *view)
{
    int64_t dimensions[VIEW_MAXIMUM_RANK];
    int back[VIEW_MAXIMUM_RANK];
    for (int i = 0; i < norm->view.rank; i++) {
        dimensions[i] = is_one && is_one[norm->order[i]] ? 1 : norm->view.dimensions[norm->order[i]];
        back[norm->order[i]] = i;
    }
    if (!view_reshape(rows, norm->view.rank, dimensions, view))
        return false;
    view_permute(view, back, view);
    return true;
}

enum qdq_outcome qdq_lay_norm(struct qdq *qdq, const struct node *node, const struct qdq_statistic *statistic,
                              bool must_order, struct qdq_value *result)
{
    struct qdq_value x = statistic->x;
    struct qdq_norm *norm = arena_allocate(qdq->arena, sizeof *norm);
    *norm = (struct qdq_norm){.kind = statistic->norm, .epsilon = statistic->epsilon, .view = x.view, .constant_rows = 1};
    qdq_norm_sort(&x.view, statistic->is_row, norm);
    enum qdq_outcome outcome = qdq_norm_lay_rows(qdq, node, norm, must_order, &x);
    if (outcome != QDQ_DONE)
        return outcome;
    norm->factors = arena_array(qdq->arena, double, (size_t)norm->length);
    norm->terms = arena_array(qdq->arena, double, (size_t)norm->length);
    for (int64_t i = 0; i < norm->length; i++)
        norm->factors[i] = 1;
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_NORM, node, x.tensor, 1);
    pending->norm = norm;
    *result = (struct qdq_value){.kind = QDQ_PENDING, .pending = pending};
    return qdq_norm_restore(norm, &x.view, NULL, &result->view)
               ? QDQ_DONE
               : qdq_fault(qdq, node, NULL, "of a tensor of shape %s, whose rows do not lie so that they can be normalised",
                           view_text(&norm->view, qdq->arena));
}

/* ---- a norm of another's deviation ---- */

static struct qdq_pending *copy_norm(struct qdq *qdq, struct qdq_value *value);

/* One element of the value for each row, whose pixels are those of the tensor `x`; false after a report. */
static enum qdq_outcome lay_row_values(struct qdq *qdq, const struct node *node, const struct qdq_norm *norm, int x,
                                       struct qdq_value *value)
{
    const int64_t shape[3] = {qdq_tensor(qdq, x)->height, qdq_tensor(qdq, x)->width, 1};
    struct layout layout = layout_of_model(3);
    view_permute(&value->view, norm->order, &value->view);
    enum qdq_outcome outcome = qdq_take_shape(qdq, node, 3, shape, value);
    if (outcome != QDQ_DONE)
        return outcome;
    const struct tensor *tensor = qdq_tensor(qdq, value->tensor);
    struct view wanted = layout_view(&layout, shape);
    bool is_laid = tensor->height == shape[0] && tensor->width == shape[1] && tensor->channels == 1;
    return is_laid && view_equal(&value->view, &wanted) ? QDQ_DONE : qdq_lay(qdq, node, NULL, &layout, 0, value);
}

enum qdq_outcome qdq_lay_norm_by(struct qdq *qdq, const struct node *node, const struct qdq_statistic *statistic,
                                 const struct qdq_value *deviation, struct qdq_value *result)
{
    struct qdq_value by = *deviation;
    double *roots = arena_array(qdq->arena, double, 256);
    enum qdq_outcome outcome = qdq_lay_norm(qdq, node, statistic, true, result);
    if (outcome != QDQ_DONE)
        return outcome;
    struct qdq_pending *pending = copy_norm(qdq, result);
    outcome = lay_row_values(qdq, node, pending->norm, pending->layer.inputs[0], &by);
    for (int i = 0; i < 256; i++)
        roots[i] = by.reals[i] > 0 ? 1 / (double)by.reals[i] : INFINITY;
    pending->norm->roots = roots;
    pending->layer.inputs[1] = by.tensor;
    return outcome;
}

/* ---- constants ---- */

/* An array as it is broadcast to the value: its dimensions stand for the last ones, or for one alone. */
struct broadcast {
    const struct qdq_array *array;
    const struct view *view;
    int alone; /* -1: none */
};

static bool goes_together(const struct broadcast *b)
{
    const struct qdq_array *array = b->array;
    if (b->alone >= 0)
        return array->count == 1 || (int64_t)array->count == b->view->dimensions[b->alone];
    for (int i = 0; i < array->rank; i++) {
        int dimension = i + b->view->rank - array->rank;
        if (array->dimensions[i] != 1 && (dimension < 0 || array->dimensions[i] != b->view->dimensions[dimension]))
            return false;
    }
    return array->rank <= b->view->rank;
}

static double at(const struct broadcast *b, const int64_t *index)
{
    const struct qdq_array *array = b->array;
    size_t position = 0;
    if (b->alone >= 0)
        return qdq_array_real(array, array->count == 1 ? 0 : (size_t)index[b->alone]);
    for (int i = 0; i < array->rank; i++) {
        int64_t own = array->dimensions[i] == 1 ? 0 : index[i + b->view->rank - array->rank];
        position = position * (size_t)array->dimensions[i] + (size_t)own;
    }
    return qdq_array_real(array, position);
}

/* As many constants as there are elements, in their order in memory. */
static void repeat(struct qdq *qdq, struct qdq_norm *norm)
{
    if (norm->constant_rows == norm->rows)
        return;
    size_t length = (size_t)norm->length, count = (size_t)norm->rows * length;
    double *factors = arena_array(qdq->arena, double, count), *terms = arena_array(qdq->arena, double, count);
    for (size_t i = 0; i < count; i++) {
        factors[i] = norm->factors[i % length];
        terms[i] = norm->terms[i % length];
    }
    norm->factors = factors;
    norm->terms = terms;
    norm->constant_rows = norm->rows;
}

static void apply(double *factor, double *term, enum norm_arithmetic arithmetic, double number)
{
    switch (arithmetic) {
    case NORM_ADD: *term += number; break;
    case NORM_SUBTRACT: *term -= number; break;
    case NORM_MULTIPLY:
        *factor *= number;
        *term *= number;
        break;
    case NORM_DIVIDE:
        *factor /= number;
        *term /= number;
        break;
    }
}

/* A norm of its own, for others may read the one that there is. */
static struct qdq_pending *copy_norm(struct qdq *qdq, struct qdq_value *value)
{
    struct qdq_pending *pending = arena_allocate(qdq->arena, sizeof *pending);
    struct qdq_norm *norm = arena_allocate(qdq->arena, sizeof *norm);
    *pending = *value->pending;
    *norm = *pending->norm;
    size_t count = (size_t)(norm->constant_rows * norm->length);
    norm->factors = arena_array(qdq->arena, double, count);
    norm->terms = arena_array(qdq->arena, double, count);
    memcpy(norm->factors, pending->norm->factors, count * sizeof *norm->factors);
    memcpy(norm->terms, pending->norm->terms, count * sizeof *norm->terms);
    pending->norm = norm;
    value->pending = pending;
    return pending;
}

/* The array's number for each element as it lies in memory, rows one behind the other; null where these are too many. */
static double *spread(struct qdq *qdq, const struct qdq_norm *norm, const struct broadcast *b)
{
    const int64_t count = norm->rows * norm->length;
    int64_t index[VIEW_MAXIMUM_RANK];
    if (count > MAXIMUM_CONSTANTS || view_elements(b->view) != count)
        return NULL;
    int64_t *positions = arena_array(qdq->arena, int64_t, (size_t)count);
    double *numbers = arena_array(qdq->arena, double, (size_t)count);
    view_positions(b->view, positions);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i;
        for (int k = b->view->rank - 1; k >= 0; k--) {
            index[k] = rest % b->view->dimensions[k];
            rest /= b->view->dimensions[k];
        }
        if (positions[i] < 0 || positions[i] >= count)
            return NULL;
        numbers[positions[i]] = at(b, index);
    }
    return numbers;
}

bool qdq_norm_apply(struct qdq *qdq, struct qdq_value *value, enum norm_arithmetic arithmetic, const struct qdq_array *array,
                    int alone)
{
    const struct qdq_pending *from = value->pending;
    struct broadcast b = {array, &value->view, alone};
    if (from->minimum > -INFINITY || from->maximum < INFINITY || array->count == 0 || !goes_together(&b))
        return false;
    const double *numbers = spread(qdq, from->norm, &b);
    if (!numbers)
        return false;
    struct qdq_norm *norm = copy_norm(qdq, value)->norm;
    bool differs = false;
    for (int64_t i = norm->length; i < norm->rows * norm->length; i++)
        differs = differs || numbers[i] != numbers[i % norm->length];
    if (differs)
        repeat(qdq, norm);
    for (int64_t i = 0; i < norm->constant_rows * norm->length; i++)
        apply(&norm->factors[i], &norm->terms[i], arithmetic, numbers[i]);
    return true;
}

enum qdq_outcome qdq_norm_constant(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                   struct qdq_value *result)
{
    static const char *const types[] = {"Add", "Sub", "Mul", "Div"};
    bool is_swapped = inputs[0].kind == QDQ_CONSTANT;
    const struct qdq_value *constant = &inputs[!is_swapped];
    *result = inputs[is_swapped];
    if (constant->kind != QDQ_CONSTANT || !constant->array->numbers)
        return QDQ_FLOAT;
    for (int i = 0; i < 4; i++)
        if (!strcmp(types[i], node->type) && (!is_swapped || i % 2 == 0))
            return qdq_norm_apply(qdq, result, (enum norm_arithmetic)i, constant->array, -1) ? QDQ_DONE : QDQ_FLOAT;
    return QDQ_FLOAT;
}

/* ---- the layer ---- */

static bool is_equal(const struct qdq_norm *norm, int64_t a, int64_t b)
{
    return norm->factors[a] == norm->factors[b] && norm->terms[a] == norm->terms[b];
}

/* Rows are alike, and elements that follow each other. */
static struct real_norm compress(struct qdq *qdq, const struct qdq_pending *pending)
{
    const struct qdq_norm *norm = pending->norm;
    int64_t rows = 1, run = norm->length, next = 0;
    for (int64_t i = norm->length; i < norm->constant_rows * norm->length && rows == 1; i++)
        rows = is_equal(norm, i, i % norm->length) ? 1 : norm->constant_rows;
    for (int64_t i = 1; i < rows * norm->length; i++)
        if (i % norm->length != 0 && !is_equal(norm, i, i - 1))
            run = (int64_t)greatest_common_divisor(run, i % norm->length);
    size_t count = (size_t)(rows * norm->length / run);
    double *factors = arena_array(qdq->arena, double, count), *terms = arena_array(qdq->arena, double, count);
    for (size_t i = 0; i < count; i++, next += run) {
        factors[i] = norm->factors[next];
        terms[i] = norm->terms[next];
    }
    return (struct real_norm){.kind = norm->kind,
                              .epsilon = norm->epsilon,
                              .run = (int)run,
                              .count = (int)count,
                              .factors = factors,
                              .terms = terms,
                              .roots = norm->roots,
                              .roots_of = pending->layer.inputs[1]};
}

enum qdq_outcome qdq_finish_norm(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                 const struct quantisation *quantisation, const char *name, struct qdq_value *result)
{
    const struct qdq_pending *pending = value->pending;
    struct real_norm real = compress(qdq, pending);
    real.minimum = pending->minimum;
    real.maximum = pending->maximum;
    int output = quantised_tensor(&qdq->builder, name, pending->height, pending->width, pending->channels, quantisation);
    *result = (struct qdq_value){.kind = QDQ_ELEMENTS, .view = value->view, .tensor = output};
    return middle_norm(&qdq->builder, pending->layer.name, pending->layer.inputs[0], output, &real)
               ? QDQ_DONE
               : qdq_fault(qdq, node, NULL,
                           "rounds a norm whose scale, bias or epsilon is no number or far from the scale %.9g; supported: "
                           "results of up to some hundred thousand steps of it",
                           quantisation->scale);
}
