/* A tensor times several constant matrices, as a head or a graph each has its own, with scales of their own: a 1x1
 * convolution. Its pixels are the tensor's rows, a dimension in front that both have is one of groups, one that only the
 * matrices have is one of outputs. */
#include "import/qdq/weights.h"
#include "middle/matrix.h"

/* Dimensions of the tensor and of the matrices, of the same number, those that are missing in front as 1; and how each is
 * ordered: [rows][groups, terms] and [groups, outputs, columns][terms]. The last two of `matrix` are columns and terms. */
struct stack {
    int rank;
    int64_t tensor[GRAPH_MAXIMUM_RANK], matrix[GRAPH_MAXIMUM_RANK];
    int tensor_order[GRAPH_MAXIMUM_RANK], matrix_order[GRAPH_MAXIMUM_RANK], result_order[GRAPH_MAXIMUM_RANK];
    int64_t rows, groups, outputs, terms; /* outputs of all groups */
};

static void widen(const int64_t *from, int count, int rank, int64_t *to)
{
    for (int i = 0; i < rank; i++)
        to[i] = i < rank - count ? 1 : from[i - (rank - count)];
}

static bool is_group(const struct stack *stack, int i)
{
    return stack->tensor[i] == stack->matrix[i] && stack->matrix[i] > 1;
}

/* Dimensions in front: those of rows first, then groups, then outputs. False where they do not go together. */
static bool sort_dimensions(struct stack *stack)
{
    int front = stack->rank - 2, tensor = 0, matrix = 0, result = 0;
    stack->rows = stack->tensor[front];
    stack->terms = stack->matrix[front + 1];
    stack->groups = 1;
    stack->outputs = stack->matrix[front];
    for (int i = 0; i < front; i++)
        if (stack->matrix[i] == 1) {
            stack->rows *= stack->tensor[i];
            stack->tensor_order[tensor++] = stack->result_order[result++] = i;
        }
    stack->tensor_order[tensor++] = stack->result_order[result++] = front;
    for (int i = 0; i < front; i++)
        if (is_group(stack, i)) {
            stack->groups *= stack->matrix[i];
            stack->tensor_order[tensor++] = stack->matrix_order[matrix++] = stack->result_order[result++] = i;
        }
    stack->outputs *= stack->groups;
    for (int i = 0; i < front; i++)
        if (stack->matrix[i] > 1 && !is_group(stack, i)) {
            stack->outputs *= stack->matrix[i];
            stack->tensor_order[tensor++] = stack->matrix_order[matrix++] = stack->result_order[result++] = i;
            if (stack->tensor[i] != 1)
                return false;
        }
    for (int i = 0; i < front; i++)
        if (stack->matrix[i] == 1)
            stack->matrix_order[matrix++] = i;
    stack->tensor_order[tensor] = stack->matrix_order[matrix + 1] = stack->result_order[result] = front + 1;
    stack->matrix_order[matrix] = front;
    return stack->tensor[front + 1] == stack->terms && stack->outputs <= MAXIMUM_DIMENSION &&
           stack->groups * stack->terms <= MAXIMUM_DIMENSION;
}

static bool read_stack(const struct view *view, const struct qdq_array *array, bool is_transposed, struct stack *stack)
{
    stack->rank = view->rank > array->rank ? view->rank : array->rank;
    if (view->rank < 2 || array->count == 0)
        return false;
    widen(view->dimensions, view->rank, stack->rank, stack->tensor);
    widen(array->dimensions, array->rank, stack->rank, stack->matrix);
    int64_t *last = &stack->matrix[stack->rank - 2], first = last[0];
    if (!is_transposed) {
        last[0] = last[1];
        last[1] = first;
    }
    return sort_dimensions(stack);
}

static struct weight_order order_of(struct qdq *qdq, const struct qdq_array *array, const struct stack *stack,
                                    bool is_transposed)
{
    struct weight_order order = qdq_weight_order(qdq, array, (size_t)stack->outputs, (size_t)stack->terms);
    int64_t dimensions[GRAPH_MAXIMUM_RANK], *positions = arena_array(qdq->arena, int64_t, array->count);
    widen(array->dimensions, array->rank, stack->rank, dimensions);
    struct view view = view_of_memory(stack->rank, dimensions), sorted;
    if (!is_transposed)
        view = middle_transposed(&view);
    view_permute(&view, stack->matrix_order, &sorted);
    view_positions(&sorted, positions);
    for (size_t i = 0; i < array->count; i++)
        order.from[i] = (size_t)positions[i];
    return order;
}

/* The tensor's rows as pixels, all that belongs to one of them as channels. */
static enum qdq_outcome lay_rows(struct qdq *qdq, const struct node *node, const struct stack *stack,
                                 struct qdq_value *value)
{
    const int64_t dimensions[3] = {1, stack->rows, stack->groups * stack->terms};
    struct view wide;
    enum qdq_outcome outcome = qdq_make_elements(qdq, node, value);
    if (outcome != QDQ_DONE)
        return outcome;
    view_reshape(&value->view, stack->rank, stack->tensor, &wide);
    view_permute(&wide, stack->tensor_order, &value->view);
    outcome = qdq_take_shape(qdq, node, 3, dimensions, value);
    return outcome == QDQ_DONE ? qdq_make_channels(qdq, node, value, 2) : outcome;
}

/* The convolution's result as the product has it: pixels are rows, channels groups, outputs and columns. */
static bool view_result(const struct stack *stack, const struct view *rows, struct view *result)
{
    int64_t dimensions[GRAPH_MAXIMUM_RANK];
    int back[GRAPH_MAXIMUM_RANK], last = stack->rank - 1;
    struct view split;
    for (int i = 0; i <= last; i++) {
        int from = stack->result_order[i];
        dimensions[i] = from == last                                   ? stack->matrix[last - 1]
                        : from == last - 1 || stack->matrix[from] == 1 ? stack->tensor[from]
                                                                       : stack->matrix[from];
        back[from] = i;
    }
    if (!view_reshape(rows, stack->rank, dimensions, &split))
        return false;
    view_permute(&split, back, result);
    return true;
}

static enum qdq_outcome multiply(struct qdq *qdq, const struct node *node, const struct qdq_value *tensor,
                                 const struct qdq_value *matrices, bool is_transposed, struct qdq_value *result)
{
    static const struct qdq_value none;
    struct stack stack;
    struct qdq_value input = *tensor;
    enum qdq_outcome outcome = qdq_check_weights(qdq, node, matrices);
    if (outcome != QDQ_DONE)
        return outcome;
    const struct qdq_array *array = matrices->array;
    if (!read_stack(&input.view, array, is_transposed, &stack))
        return qdq_fault(qdq, node, "weights", "'%s' do not go together with a tensor of shape %s, or have too many outputs",
                         array->name, view_text(&input.view, qdq->arena));
    if ((outcome = lay_rows(qdq, node, &stack, &input)) != QDQ_DONE)
        return outcome;
    struct tensor from = *qdq_tensor(qdq, input.tensor);
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_CONVOLUTION, node, input.tensor, (int)stack.outputs);
    pending->channels = (int)stack.outputs;
    pending->layer.groups = (int)stack.groups;
    *result = (struct qdq_value){.kind = QDQ_PENDING, .pending = pending};
    struct view rows = qdq_with_channels(&input.view, from.channels, pending->channels);
    if (!view_result(&stack, &rows, &result->view))
        return qdq_fault(qdq, node, NULL, "of these operands gives rows that have no fixed steps");
    struct weight_order order = order_of(qdq, array, &stack, is_transposed);
    return qdq_finish_products(qdq, node, pending, &order, &none);
}

enum qdq_outcome qdq_multiply_stack(struct qdq *qdq, const struct node *node, const struct qdq_value *factors, int matrices,
                                    struct qdq_value *result)
{
    struct qdq_value tensor = factors[1 - matrices];
    const bool is_first = matrices == 0;
    if (is_first && tensor.kind == QDQ_REALS && tensor.view.rank >= 2)
        tensor.view = middle_transposed(&tensor.view);
    enum qdq_outcome outcome = multiply(qdq, node, &tensor, &factors[matrices], is_first, result);
    if (outcome == QDQ_DONE && is_first)
        result->view = middle_transposed(&result->view);
    return outcome;
}
