/* Gemm and MatMul: sums of products, of constant weights or of two tensors. */
#include "import/qdq/combinations.h"
#include "import/qdq/weights.h"
#include "middle/matrix.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A product of rows of K elements with a matrix [K][N], or [N][K] where it is transposed. One row: a fully connected layer
 * over the whole tensor, whatever the order of its elements. Several: a 1x1 convolution. */
struct matrix {
    size_t inner, outputs;
    bool is_transposed;
};

static size_t matrix_index(const struct matrix *matrix, size_t inner, size_t output)
{
    return matrix->is_transposed ? output * matrix->inner + inner : inner * matrix->outputs + output;
}

/* In the tensor's memory, position p is row, column, channel; the layer's weights are [output][channel][row][column]. */
static struct weight_order whole_order(struct qdq *qdq, const struct qdq_array *array, const struct matrix *matrix,
                                       const struct tensor *tensor, const struct view *view)
{
    struct weight_order order = qdq_weight_order(qdq, array, matrix->outputs, matrix->inner);
    int64_t *positions = arena_array(qdq->arena, int64_t, matrix->inner);
    size_t pixels = (size_t)tensor->height * (size_t)tensor->width, channels = (size_t)tensor->channels;
    view_positions(view, positions);
    for (size_t i = 0; i < matrix->inner; i++) {
        size_t at = (size_t)positions[i], place = at % channels * pixels + at / channels;
        for (size_t output = 0; output < matrix->outputs; output++)
            order.from[output * matrix->inner + place] = matrix_index(matrix, i, output);
    }
    return order;
}

static struct weight_order row_order(struct qdq *qdq, const struct qdq_array *array, const struct matrix *matrix)
{
    struct weight_order order = qdq_weight_order(qdq, array, matrix->outputs, matrix->inner);
    for (size_t output = 0; output < matrix->outputs; output++)
        for (size_t i = 0; i < matrix->inner; i++)
            order.from[output * matrix->inner + i] = matrix_index(matrix, i, output);
    return order;
}

struct view qdq_with_channels(const struct view *view, int old, int channels)
{
    struct view made = *view;
    int factor = 0;
    for (int i = 0; i < view->rank; i++)
        for (int k = 0; k < view->factor_counts[i]; k++, factor++)
            made.factors[factor].step =
                i == view->rank - 1 ? made.factors[factor].step : view->factors[factor].step / old * channels;
    int last = view->rank - 1, kept = factor - view->factor_counts[last];
    made.dimensions[last] = channels;
    made.factor_counts[last] = channels > 1;
    if (channels > 1)
        made.factors[kept] = (struct view_factor){channels, 1};
    return made;
}

static enum qdq_outcome check_matrix(struct qdq *qdq, const struct node *node, const struct qdq_value *input,
                                     const struct qdq_array *array, bool is_transposed, struct matrix *matrix)
{
    if (array->rank != 2 || array->count == 0)
        return qdq_fault(qdq, node, "weights", "have %d dimensions; supported: 2", array->rank);
    *matrix = (struct matrix){(size_t)array->dimensions[is_transposed ? 1 : 0],
                              (size_t)array->dimensions[is_transposed ? 0 : 1], is_transposed};
    const struct view *view = &input->view;
    if (view->rank < 2 || view->dimensions[view->rank - 1] != (int64_t)matrix->inner || matrix->outputs > MAXIMUM_DIMENSION)
        return qdq_fault(qdq, node, "weights", "are for %zu inputs and %zu outputs, the tensor in front has shape %s",
                         matrix->inner, matrix->outputs, view_text(view, qdq->arena));
    return QDQ_DONE;
}

static enum qdq_outcome multiply(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                 bool is_transposed, const struct qdq_value *bias, struct qdq_value *result)
{
    struct qdq_value input = inputs[0];
    struct matrix matrix = {0};
    enum qdq_outcome outcome = qdq_make_elements(qdq, node, &input);
    if (outcome != QDQ_DONE || (outcome = qdq_check_weights(qdq, node, &inputs[1])) != QDQ_DONE ||
        (outcome = check_matrix(qdq, node, &input, inputs[1].array, is_transposed, &matrix)) != QDQ_DONE)
        return outcome;
    struct tensor tensor = *qdq_tensor(qdq, input.tensor);
    bool is_whole = view_elements(&input.view) == (int64_t)matrix.inner && tensor_elements(&tensor) == matrix.inner;
    if (!is_whole && (outcome = qdq_make_channels(qdq, node, &input, input.view.rank - 1)) != QDQ_DONE)
        return outcome;
    tensor = *qdq_tensor(qdq, input.tensor);
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_CONVOLUTION, node, input.tensor, (int)matrix.outputs);
    pending->channels = (int)matrix.outputs;
    struct weight_order order;
    *result = (struct qdq_value){.kind = QDQ_PENDING, .pending = pending};
    if (is_whole) {
        pending->layer.kernel_height = tensor.height;
        pending->layer.kernel_width = tensor.width;
        pending->height = pending->width = 1;
        order = whole_order(qdq, inputs[1].array, &matrix, &tensor, &input.view);
        struct tensor output = tensor_plain("", 1, 1, pending->channels);
        struct view row = view_of_image(&output, 2);
        int64_t dimensions[GRAPH_MAXIMUM_RANK];
        memcpy(dimensions, input.view.dimensions, sizeof dimensions);
        dimensions[input.view.rank - 1] = pending->channels;
        view_reshape(&row, input.view.rank, dimensions, &result->view);
    } else {
        order = row_order(qdq, inputs[1].array, &matrix);
        result->view = qdq_with_channels(&input.view, tensor.channels, pending->channels);
    }
    return qdq_finish_products(qdq, node, pending, &order, bias);
}

/* ---- two activations ---- */

static enum qdq_outcome multiply_tensors(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                         const bool is_transposed[2], struct qdq_value *result)
{
    struct middle_value factors[2];
    struct middle_product product;
    for (int i = 0; i < 2; i++) {
        struct qdq_value value = inputs[i];
        enum qdq_outcome outcome =
            value.kind == QDQ_CONSTANT ? qdq_make_tensor(qdq, node, &value) : qdq_make_elements(qdq, node, &value);
        if (outcome != QDQ_DONE)
            return outcome;
        factors[i] = qdq_placed(&value);
        if (is_transposed[i] && value.view.rank >= 2)
            factors[i].view = middle_transposed(&value.view);
    }
    if (!middle_multiply(&qdq->builder, node->name, factors, &product))
        return qdq_fault(qdq, node, NULL, "multiplies matrices of %s and %s; supported: dimensions that go together",
                         view_text(&factors[0].view, qdq->arena), view_text(&factors[1].view, qdq->arena));
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_MATRIX_PRODUCT, node, product.factors[0].tensor, 1);
    middle_set_product(&qdq->builder, &product, &pending->layer);
    pending->height = product.height;
    pending->width = product.width;
    pending->channels = product.channels;
    pending->factors[0] = qdq_tensor(qdq, product.factors[1].tensor)->scale;
    *result = (struct qdq_value){.kind = QDQ_PENDING, .view = product.view, .pending = pending};
    return QDQ_DONE;
}

/* The weights of the opposite sign. */
static const struct qdq_array *negated(struct qdq *qdq, const struct qdq_array *array)
{
    if (!array->numbers || !array->scale_count)
        return array;
    struct qdq_array *made = qdq_array_make(qdq, array, array->rank, array->dimensions);
    double *numbers = (double *)(uintptr_t)made->numbers;
    for (size_t i = 0; numbers && i < array->count; i++)
        numbers[i] = 2 * (double)array->zero_points[qdq_array_channel(array, i)] - array->numbers[i];
    return made;
}

/* A constant times the rows of a tensor: the tensor's columns times the constant's rows, and both turned. */
static enum qdq_outcome multiply_from_left(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                           struct qdq_value *result)
{
    static const struct qdq_value none;
    struct qdq_value turned[2] = {inputs[1], inputs[0]};
    turned[0].view = middle_transposed(&inputs[1].view);
    enum qdq_outcome outcome = multiply(qdq, node, turned, true, &none, result);
    if (outcome == QDQ_DONE)
        result->view = middle_transposed(&result->view);
    return outcome;
}

/* A constant whose dimensions in front are 1, as the matrix that it is; else, or where it has more dimensions than the
 * tensor, as it is. */
static void take_as_matrix(struct qdq *qdq, const struct qdq_value *tensor, struct qdq_value *constant)
{
    const struct qdq_array *array = constant->array;
    const int more = constant->kind == QDQ_CONSTANT ? array->rank - 2 : 0;
    for (int i = 0; i < more; i++)
        if (array->dimensions[i] != 1 || array->rank > tensor->view.rank)
            return;
    if (more <= 0 || (array->scale_count > 1 && array->axis < more))
        return;
    struct qdq_array *made = arena_allocate(qdq->arena, sizeof *made);
    *made = *array;
    made->rank = 2;
    made->axis -= more;
    memmove(made->dimensions, made->dimensions + more, 2 * sizeof *made->dimensions);
    constant->array = made;
}

/* Neither factor is a constant, or the first one: then it has no weights. */
static bool is_of_tensors(const struct qdq_value *inputs) { return inputs[1].kind != QDQ_CONSTANT; }

/* The third operand is computed, as onnxruntime joins a MatMul and an Add: a sum that is rounded once. */
static enum qdq_outcome add_operand(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                    struct qdq_value *result)
{
    const struct qdq_value factors[3] = {inputs[0], inputs[1]};
    struct qdq_value terms[2] = {{.kind = QDQ_NONE}, inputs[2]};
    enum qdq_outcome outcome = qdq_gemm(qdq, node, factors, 3, &terms[0]);
    return outcome == QDQ_DONE ? qdq_sum(qdq, node, terms, 2, &(struct qdq_sum){NULL, 1}, result) : outcome;
}

enum qdq_outcome qdq_gemm(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                          struct qdq_value *result)
{
    (void)count;
    static const struct qdq_value none;
    double alpha = qdq_number(qdq, node, "alpha", 1), beta = qdq_number(qdq, node, "beta", 1);
    const bool transposed[2] = {qdq_integer(qdq, node, "transA", 0) != 0, qdq_integer(qdq, node, "transB", 0) != 0};
    struct qdq_value operands[2] = {inputs[0], inputs[1]};
    if (alpha == 1 && beta == 1 && (inputs[2].kind == QDQ_REALS || inputs[2].kind == QDQ_PENDING))
        return add_operand(qdq, node, inputs, result);
    if (is_of_tensors(inputs) && alpha == 1 && inputs[2].kind == QDQ_NONE)
        return multiply_tensors(qdq, node, inputs, transposed, result);
    if (!(fabs(alpha) > 1e-6 && fabs(alpha) < 1e6) || !(fabs(beta) < 1e6))
        return qdq_fault(qdq, node, NULL, "has alpha %g, beta %g; supported: alpha not 0, both below 1e6", alpha, beta);
    if (transposed[0] && inputs[0].kind == QDQ_REALS && inputs[0].view.rank == 2)
        operands[0].view = middle_transposed(&inputs[0].view);
    if (alpha == 1 && (beta == 1 || inputs[2].kind == QDQ_NONE))
        return multiply(qdq, node, operands, transposed[1], &inputs[2], result);
    if (alpha < 0 && inputs[1].kind == QDQ_CONSTANT)
        operands[1].array = negated(qdq, inputs[1].array);
    enum qdq_outcome outcome = multiply(qdq, node, operands, transposed[1], &none, result);
    return outcome == QDQ_DONE
               ? qdq_scale_sums(qdq, node, (struct qdq_pending *)(uintptr_t)result->pending, fabs(alpha), beta, &inputs[2])
               : outcome;
}

enum qdq_outcome qdq_matrix_product(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                    struct qdq_value *result)
{
    static const struct qdq_value none;
    static const bool transposed[2];
    (void)count;
    struct qdq_value factors[2] = {inputs[0], inputs[1]};
    for (int i = 0; i < 2; i++)
        take_as_matrix(qdq, &inputs[1 - i], &factors[i]);
    if (factors[0].kind == QDQ_CONSTANT && factors[0].array->rank == 2 && factors[0].array->scale_count &&
        factors[1].kind == QDQ_REALS && factors[1].view.rank >= 2)
        return multiply_from_left(qdq, node, factors, result);
    for (int i = 0; i < 2; i++)
        if (factors[i].kind == QDQ_CONSTANT && factors[i].array->rank > 2 && factors[i].array->scale_count > 1)
            return qdq_multiply_stack(qdq, node, factors, i, result);
    const bool has_matrices = factors[1].kind == QDQ_CONSTANT && factors[1].array->rank > 2;
    return is_of_tensors(factors) || has_matrices ? multiply_tensors(qdq, node, factors, transposed, result)
                                                  : multiply(qdq, node, factors, false, &none, result);
}
