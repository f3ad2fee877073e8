/* Norms: as one node, or as the nodes that exporters write for one. Between a mean and the product that ends the norm,
 * values are statistics of the tensor that is normalised. */
#include "import/qdq/operators/handlers.h"

#include <math.h>
#include <string.h>

static bool is_type(const struct node *node, const char *type) { return !strcmp(node->type, type); }

/* ---- statistics ---- */

static enum qdq_outcome give(struct qdq *qdq, struct qdq_statistic statistic, const struct view *view,
                             struct qdq_value *result)
{
    struct qdq_statistic *copy = arena_allocate(qdq->arena, sizeof *copy);
    *copy = statistic;
    *result = (struct qdq_value){.kind = QDQ_STATISTIC, .view = *view, .tensor = statistic.x.tensor, .statistic = copy};
    return QDQ_DONE;
}

static const struct qdq_statistic *statistic_of(const struct qdq_value *value, enum qdq_statistic_kind kind)
{
    return value->kind == QDQ_STATISTIC && value->statistic->kind == kind ? value->statistic : NULL;
}

static bool is_same(const struct qdq_value *a, const struct qdq_value *b)
{
    return a->tensor == b->tensor && view_equal(&a->view, &b->view);
}

static bool is_plain(struct qdq *qdq, const struct qdq_value *value)
{
    return value->kind == QDQ_REALS && qdq_is_plain(qdq, value);
}

/* A real number that a constant is, everywhere. */
static bool is_number(const struct qdq_value *value, double *number)
{
    return value->kind == QDQ_CONSTANT && value->array->numbers && qdq_array_scalar(value->array, number);
}

static bool is_constant(const struct qdq_value *value, double wanted)
{
    double number;
    return is_number(value, &number) && number == wanted;
}

/* Squares of the tensor's own numbers. */
static bool are_squares(struct qdq *qdq, const struct qdq_value *value)
{
    const float *plain = value->kind == QDQ_REALS ? qdq_plain_reals(qdq, value->tensor) : NULL;
    for (int i = 0; plain && i < 256; i++)
        if (fabsf(value->reals[i] - plain[i] * plain[i]) > 1e-6F * plain[i] * plain[i])
            return false;
    return plain != NULL;
}

static enum norm_kind reduced_kind(const struct node *node)
{
    return is_type(node, "ReduceMean") ? NORM_OF_MEAN : NORM_OF_SUM;
}

/* Means and sums of squares. */
static bool reduce(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                   enum qdq_outcome *outcome, struct qdq_value *result)
{
    bool of_plain = is_type(node, "ReduceL2") || is_type(node, "ReduceSumSquare");
    const struct qdq_statistic *squares = statistic_of(&inputs[0], QDQ_SQUARES);
    bool is_mean = is_type(node, "ReduceMean");
    if (!of_plain && (squares ? !is_mean : !is_mean && !is_type(node, "ReduceSum")))
        return false;
    if (of_plain ? !is_plain(qdq, &inputs[0]) : !squares && !are_squares(qdq, &inputs[0]))
        return false;
    struct qdq_statistic made = squares ? *squares : (struct qdq_statistic){.norm = reduced_kind(node), .x = inputs[0]};
    struct view view = inputs[0].view;
    bool is_row[GRAPH_MAXIMUM_RANK] = {false}, agrees = true;
    if (!qdq_read_axes(qdq, node, inputs, count, is_row)) {
        *outcome = QDQ_FAULT;
        return true;
    }
    for (int i = 0; i < view.rank; i++) {
        agrees = agrees && (!squares || squares->is_row[i] == is_row[i]);
        made.is_row[i] = is_row[i];
    }
    made.kind = is_type(node, "ReduceL2") ? QDQ_DEVIATION : QDQ_VARIANCE;
    made.is_squeezed = qdq_integer(qdq, node, "keepdims", 1) == 0;
    *outcome = agrees ? give(qdq, made, &view, result) : QDQ_FLOAT;
    return true;
}

/* x less a mean of x. */
static bool centre(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, enum qdq_outcome *outcome,
                   struct qdq_value *result)
{
    if (!is_type(node, "Sub") || inputs[1].kind != QDQ_PENDING || !is_plain(qdq, &inputs[0]))
        return false;
    const struct value *value = &qdq->graph->values[node->inputs[1]];
    const struct node *mean = value->producer == NO_NODE ? NULL : &qdq->graph->nodes[value->producer];
    if (!mean || !is_type(mean, "ReduceMean") || qdq_integer(qdq, mean, "keepdims", 1) == 0)
        return false;
    struct qdq_value of[2] = {qdq->values[mean->inputs[0]], {.kind = QDQ_NONE}};
    bool has_list = mean->input_count > 1 && mean->inputs[1] != NO_VALUE;
    if (has_list)
        of[1] = qdq->values[mean->inputs[1]];
    struct qdq_statistic made = {.kind = QDQ_CENTRED, .norm = NORM_OF_DEVIATION, .x = inputs[0]};
    if (!is_plain(qdq, &of[0]) || !is_same(&of[0], &inputs[0]) || !qdq_read_axes(qdq, mean, of, 1 + has_list, made.is_row))
        return false;
    *outcome = give(qdq, made, &inputs[0].view, result);
    return true;
}

/* ---- arithmetic of statistics ---- */

static enum qdq_outcome change(struct qdq *qdq, const struct qdq_value *value, enum qdq_statistic_kind kind, double epsilon,
                               struct qdq_value *result)
{
    struct qdq_statistic made = *value->statistic;
    made.kind = kind;
    made.epsilon += epsilon;
    return give(qdq, made, &value->view, result);
}

/* A bound that only keeps zero from being a divisor. */
static bool is_harmless(struct qdq *qdq, const struct qdq_value *value, double bound)
{
    double unit = qdq_tensor(qdq, value->tensor)->scale;
    return value->statistic->norm == NORM_OF_SUM && bound <= (value->statistic->kind == QDQ_VARIANCE ? unit * unit : unit);
}

static enum qdq_outcome keep_above(struct qdq *qdq, const struct qdq_value *value, double bound, struct qdq_value *result)
{
    struct qdq_statistic made = *value->statistic;
    made.least = fmax(made.least, made.kind == QDQ_VARIANCE ? sqrt(fmax(bound, 0)) : bound);
    return give(qdq, made, &value->view, result);
}

/* onnxruntime moves a Transpose in between, as behind the convolution of a ConvNeXt. */
static enum qdq_outcome turn(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                             struct qdq_value *result)
{
    const struct qdq_statistic *from = value->statistic;
    struct qdq_statistic made = *from;
    int64_t order[16];
    const int listed = qdq_list(qdq, node, "perm", NULL, order), rank = from->x.view.rank;
    enum qdq_outcome outcome = qdq_transpose(qdq, node, &from->x, 1, &made.x);
    for (int i = 0; i < rank && outcome == QDQ_DONE; i++)
        made.is_row[i] = from->is_row[listed < 0 ? rank - 1 - i : (int)order[i]];
    return outcome == QDQ_DONE ? give(qdq, made, &made.x.view, result) : outcome;
}

static enum qdq_outcome of_one(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                               struct qdq_value *result)
{
    const struct qdq_value *a = &inputs[0];
    double bound = node_attribute(node, "min") ? qdq_number(qdq, node, "min", 0) : INFINITY;
    if (is_type(node, "Transpose") && !a->statistic->is_squeezed)
        return turn(qdq, node, a, result);
    if (is_type(node, "Sqrt") && statistic_of(a, QDQ_VARIANCE))
        return change(qdq, a, QDQ_DEVIATION, 0, result);
    if (is_type(node, "Reciprocal") && statistic_of(a, QDQ_DEVIATION))
        return change(qdq, a, QDQ_INVERSE, 0, result);
    if (is_type(node, "Clip") && (count < 3 || inputs[2].kind == QDQ_NONE) && !node_attribute(node, "max") &&
        (bound < INFINITY || (count > 1 && is_number(&inputs[1], &bound))) && is_harmless(qdq, a, bound))
        return keep_above(qdq, a, bound, result);
    if (is_type(node, "Identity") || is_type(node, "Cast") ||
        (is_type(node, "Expand") && !statistic_of(a, QDQ_CENTRED) && !a->statistic->is_squeezed))
        return change(qdq, a, a->statistic->kind, 0, result);
    return QDQ_FLOAT;
}

/* The numerator of a norm belongs to what it is divided by. */
static bool belongs(struct qdq *qdq, const struct qdq_value *value, const struct qdq_statistic *divisor)
{
    const struct qdq_statistic *centred = statistic_of(value, QDQ_CENTRED);
    if (divisor->is_squeezed)
        return false;
    if (divisor->norm != NORM_OF_DEVIATION)
        return is_plain(qdq, value) && is_same(value, &divisor->x);
    return centred && is_same(&centred->x, &divisor->x) && !memcmp(centred->is_row, divisor->is_row, sizeof centred->is_row);
}

/* A real function of an element for each row: a deviation that was rounded by itself. */
static bool is_of_rows(const struct qdq_value *value, const struct qdq_statistic *centred, const struct view *view)
{
    bool is_one = value->kind == QDQ_REALS && value->view.rank == view->rank;
    for (int i = 0; is_one && i < view->rank; i++)
        is_one = value->view.dimensions[i] == (centred->is_row[i] ? 1 : view->dimensions[i]);
    return is_one;
}

/* `a` and `b` in their order; multiplications and additions come with both. */
static enum qdq_outcome of_two(struct qdq *qdq, const struct node *node, const struct qdq_value *a,
                               const struct qdq_value *b, struct qdq_value *result)
{
    const struct qdq_statistic *divisor = statistic_of(b, is_type(node, "Div") ? QDQ_DEVIATION : QDQ_INVERSE);
    double number;
    bool has_number = is_number(b, &number);
    if (statistic_of(a, QDQ_CENTRED) && ((is_type(node, "Pow") && is_constant(b, 2)) ||
                                         (is_type(node, "Mul") && b->kind == QDQ_STATISTIC &&
                                          belongs(qdq, a, b->statistic) && b->statistic->kind == QDQ_CENTRED)))
        return change(qdq, a, QDQ_SQUARES, 0, result);
    if (statistic_of(a, QDQ_VARIANCE) && is_type(node, "Add") && has_number && number >= 0)
        return change(qdq, a, QDQ_VARIANCE, number, result);
    if (statistic_of(a, QDQ_VARIANCE) && is_type(node, "Pow") && has_number && fabs(number) == 0.5)
        return change(qdq, a, number > 0 ? QDQ_DEVIATION : QDQ_INVERSE, 0, result);
    if (a->kind == QDQ_STATISTIC && is_type(node, "Max") && has_number && is_harmless(qdq, a, number))
        return keep_above(qdq, a, number, result);
    if (is_type(node, "Div") && is_constant(a, 1) && divisor)
        return change(qdq, b, QDQ_INVERSE, 0, result);
    if ((is_type(node, "Div") || is_type(node, "Mul")) && divisor && belongs(qdq, a, divisor))
        return qdq_lay_norm(qdq, node, divisor, false, result);
    if (statistic_of(a, QDQ_CENTRED) && is_type(node, "Div") && is_of_rows(b, a->statistic, &a->view))
        return qdq_lay_norm_by(qdq, node, a->statistic, b, result);
    return QDQ_FLOAT;
}

static enum qdq_outcome of_statistics(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                      struct qdq_value *result)
{
    enum qdq_outcome outcome = QDQ_FLOAT;
    if (inputs[0].kind == QDQ_STATISTIC)
        outcome = of_one(qdq, node, inputs, count, result);
    if (outcome == QDQ_FLOAT && count == 2)
        outcome = of_two(qdq, node, &inputs[0], &inputs[1], result);
    if (outcome == QDQ_FLOAT && count == 2 && (is_type(node, "Mul") || is_type(node, "Add") || is_type(node, "Max")))
        outcome = of_two(qdq, node, &inputs[1], &inputs[0], result);
    return outcome;
}

/* ---- the walk's hook ---- */

static bool is_norm(const struct qdq_value *value) { return value->kind == QDQ_PENDING && value->pending->norm; }

static bool is_arithmetic(const struct node *node)
{
    return is_type(node, "Add") || is_type(node, "Sub") || is_type(node, "Mul") || is_type(node, "Div");
}

bool qdq_norm_arithmetic(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, struct qdq_value *result,
                         enum qdq_outcome *outcome)
{
    int count = node->input_count;
    bool of_some = false;
    for (int i = 0; i < count; i++)
        of_some = of_some || inputs[i].kind == QDQ_STATISTIC;
    if (*node->domain || count < 1)
        return false;
    if (!strncmp(node->type, "Reduce", 6) && reduce(qdq, node, inputs, count, outcome, result))
        return true;
    if (of_some && !is_type(node, "QuantizeLinear")) {
        *outcome = of_statistics(qdq, node, inputs, count, result);
        return true;
    }
    if (count == 2 && centre(qdq, node, inputs, outcome, result))
        return true;
    if (count != 2 || !is_arithmetic(node) || !(is_norm(&inputs[0]) || is_norm(&inputs[1])))
        return false;
    *outcome = qdq_norm_constant(qdq, node, inputs, result);
    return true;
}

/* ---- one node ---- */

static void mark_rows(const struct view *view, int first, bool *is_row)
{
    for (int i = first; i < view->rank; i++)
        is_row[i] = true;
}

static enum qdq_outcome with_constants(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                       int first, struct qdq_value *result)
{
    for (int i = 1; i < count && i < 3; i++) {
        if (inputs[i].kind == QDQ_NONE)
            continue;
        if (inputs[i].kind != QDQ_CONSTANT || !inputs[i].array->numbers)
            return qdq_fault(qdq, node, NULL, "input %d is no constant; supported: constant scales and biases", i);
        if (!qdq_norm_apply(qdq, result, i == 1 ? NORM_MULTIPLY : NORM_ADD, inputs[i].array, first))
            return qdq_fault(qdq, node, NULL, "constant '%s' does not go with a tensor of shape %s", inputs[i].array->name,
                             view_text(&result->view, qdq->arena));
    }
    return QDQ_DONE;
}

/* LayerNormalization, RMSNormalization: from an axis on; one of several outputs is computed. */
enum qdq_outcome qdq_layer_norm(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                struct qdq_value *result)
{
    bool is_centred = is_type(node, "LayerNormalization");
    int rank = inputs[0].view.rank;
    int64_t axis = qdq_integer(qdq, node, "axis", -1);
    axis += axis < 0 ? rank : 0;
    if (!is_plain(qdq, &inputs[0]))
        return QDQ_FLOAT;
    if (axis < 0 || axis >= rank)
        return qdq_fault(qdq, node, "axis", "is out of range, of a tensor of shape %s",
                         view_text(&inputs[0].view, qdq->arena));
    struct qdq_statistic norm = {.norm = is_centred ? NORM_OF_DEVIATION : NORM_OF_MEAN,
                                 .epsilon = qdq_number(qdq, node, "epsilon", 1e-5),
                                 .x = inputs[0]};
    mark_rows(&inputs[0].view, (int)axis, norm.is_row);
    enum qdq_outcome outcome = qdq_lay_norm(qdq, node, &norm, false, result);
    return outcome == QDQ_DONE ? with_constants(qdq, node, inputs, count, -1, result) : outcome;
}

/* InstanceNormalization: each channel of an image. */
enum qdq_outcome qdq_instance_norm(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                   struct qdq_value *result)
{
    if (!is_plain(qdq, &inputs[0]))
        return QDQ_FLOAT;
    if (inputs[0].view.rank < 3)
        return qdq_fault(qdq, node, NULL, "of a tensor of shape %s; supported: batch x channels x height [x width]",
                         view_text(&inputs[0].view, qdq->arena));
    struct qdq_statistic norm = {
        .norm = NORM_OF_DEVIATION, .epsilon = qdq_number(qdq, node, "epsilon", 1e-5), .x = inputs[0]};
    mark_rows(&inputs[0].view, 2, norm.is_row);
    enum qdq_outcome outcome = qdq_lay_norm(qdq, node, &norm, true, result);
    return outcome == QDQ_DONE ? with_constants(qdq, node, inputs, count, 1, result) : outcome;
}

/* GroupNormalization: groups of channels, as images of more rows. Opset 18 has constants for groups, 21 for channels. */
enum qdq_outcome qdq_group_norm(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                struct qdq_value *result)
{
    struct view image = inputs[0].view;
    int64_t groups = qdq_integer(qdq, node, "num_groups", 1);
    if (!is_plain(qdq, &inputs[0]))
        return QDQ_FLOAT;
    if (image.rank < 3 || image.dimensions[0] != 1 || groups < 1 || image.dimensions[1] % groups != 0)
        return qdq_fault(qdq, node, "num_groups", "does not divide the channels of a tensor of shape %s",
                         view_text(&image, qdq->arena));
    int64_t split[4] = {1, groups, image.dimensions[1] / groups, view_elements(&image) / image.dimensions[1]};
    struct qdq_statistic norm = {
        .norm = NORM_OF_DEVIATION, .epsilon = qdq_number(qdq, node, "epsilon", 1e-5), .x = inputs[0]};
    enum qdq_outcome outcome = qdq_take_shape(qdq, node, 4, split, &norm.x);
    mark_rows(&norm.x.view, 2, norm.is_row);
    if (outcome != QDQ_DONE || (outcome = qdq_lay_norm(qdq, node, &norm, true, result)) != QDQ_DONE)
        return outcome;
    bool by_group = qdq->graph->opset < 21;
    if (!by_group && !view_reshape(&result->view, 4, (int64_t[4]){1, image.dimensions[1], split[3], 1}, &result->view))
        return QDQ_FLOAT;
    outcome = with_constants(qdq, node, inputs, count, 1, result);
    if (outcome == QDQ_DONE && !view_reshape(&result->view, image.rank, image.dimensions, &result->view))
        return QDQ_FLOAT;
    return outcome;
}

/* LpNormalization: the L2 norm along an axis. */
enum qdq_outcome qdq_lp_norm(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                             struct qdq_value *result)
{
    int rank = inputs[0].view.rank;
    int64_t axis = qdq_integer(qdq, node, "axis", -1);
    (void)count;
    axis += axis < 0 ? rank : 0;
    if (!is_plain(qdq, &inputs[0]))
        return QDQ_FLOAT;
    if (qdq_integer(qdq, node, "p", 2) != 2 || axis < 0 || axis >= rank)
        return qdq_fault(qdq, node, "p", "is not 2, or the axis is out of range; supported: the L2 norm along an axis");
    struct qdq_statistic norm = {.norm = NORM_OF_SUM, .x = inputs[0]};
    norm.is_row[axis] = true;
    return qdq_lay_norm(qdq, node, &norm, false, result);
}
