/* Networks of integers, as QuantLib writes them for Deeploy: no node quantises, RequantShift rounds what layers compute, and
 * transformers have operators of their own. Every tensor is one of bytes that stand for themselves, of scale 1, so that all
 * other operators are those that files with QuantizeLinear have. */
#include "import/integers/integers.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arithmetic.h"
#include "import/operators.h"
#include "import/qdq/combinations.h"

/* ---- which networks ---- */

#define BYTES "of bytes, a RequantShift behind"

const struct qdq_operator qdq_integer_operators[] = {
    {"ITAMax", qdq_whole_softmax, "softmax", "over the last dimension"},
    {"ITAPartialMax", qdq_whole_softmax, "softmax", "over the last dimension, in groups of group_width"},
    {"IntegerMean", qdq_whole_mean, "average pool", "of bytes"},
    {"ReduceMean", qdq_whole_mean, "as IntegerMean", "of bytes"},
    {"RequantShift", qdq_requantise, "the rounding of the layer in front, or a table", "to 256 levels or fewer"},
    {"TrueIntegerDiv", qdq_whole_function, "a table", BYTES},
    {"iGELU", qdq_whole_function, "a table", BYTES},
    {"iHardswish", qdq_whole_function, "a table", BYTES},
    {"iLayerNorm", qdq_whole_norm, "a norm", "over the last dimension"},
    {"iRMSNorm", qdq_whole_norm, "a norm", "over the last dimension"},
    {"iSoftmax", qdq_whole_softmax, "softmax", "over the last dimension; exponentials whose sum is below 2^30 / n_levels"},
};
const int qdq_integer_operator_count = sizeof qdq_integer_operators / sizeof *qdq_integer_operators;

/* ONNX's own, or under a name that QuantLib's exporter was registered with. */
static const struct qdq_operator *find(const struct node *node)
{
    for (int i = 0; i < qdq_integer_operator_count; i++)
        if (!strcmp(qdq_integer_operators[i].type, node->type) && (!*node->domain || operator_is_quantlib(node)))
            return &qdq_integer_operators[i];
    return NULL;
}

/* That networks of convolutions have, too. */
static bool is_common(const struct qdq_operator *operator)
{
    return operator->handle == qdq_requantise || !strcmp(operator->type, "ReduceMean");
}

static bool is_constant(const struct graph *graph, int value)
{
    const int producer = value == NO_VALUE ? NO_NODE : graph->values[value].producer;
    return value == NO_VALUE || graph->values[value].constant ||
           (producer != NO_NODE && !strcmp(graph->nodes[producer].type, "Constant"));
}

/* What networks of convolutions do not have, of which import_graph knows more: the bits of their elements. */
static bool is_of_transformer(const struct graph *graph, const struct node *node)
{
    static const char *const products[] = {"MatMul", "Gemm", "Mul"};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (!strcmp(products[i], node->type) && node->input_count >= 2)
            return !is_constant(graph, node->inputs[0]) && !is_constant(graph, node->inputs[1]);
    return !strcmp(node->type, "ReduceMean") || (!operator_find(node->type) && !operator_find_advice(node->type));
}

bool qdq_detect_integers(const struct graph *graph)
{
    bool requantises = false, has_other = false;
    for (int i = 0; i < graph->node_count; i++) {
        const struct node *node = &graph->nodes[i];
        const struct qdq_operator *own = find(node);
        if (own && !is_common(own))
            return true;
        requantises |= own && own->handle == qdq_requantise;
        has_other |= node->is_needed && is_of_transformer(graph, node);
    }
    return requantises && has_other;
}

/* ---- values ---- */

/* Whole numbers in floating point are integers of scale 1, as a DequantizeLinear behind would say. */
void qdq_take_integers(struct qdq *qdq, struct qdq_value *value)
{
    static const double one = 1;
    static const int64_t zero = 0;
    double least = 0, most = 0;
    if (!value->array->numbers || value->array->scale_count || value->array->type == ELEMENT_INT64)
        return;
    for (size_t i = 0; i < value->array->count; i++) {
        double number = value->array->numbers[i];
        if (number != rint(number) || fabs(number) > INT32_MAX)
            return;
        least = fmin(least, number);
        most = fmax(most, number);
    }
    struct qdq_array *taken = arena_allocate(qdq->arena, sizeof *taken);
    *taken = *value->array;
    taken->type = least < INT8_MIN || most > INT8_MAX ? ELEMENT_INT32 : ELEMENT_INT8;
    taken->scale_count = 1;
    taken->axis = 0;
    taken->scales = &one;
    taken->zero_points = &zero;
    value->array = taken;
}

struct quantisation qdq_integer_bytes(bool is_signed) { return (struct quantisation){.scale = 1, .is_signed = is_signed}; }

void qdq_give_integers(struct qdq *qdq, int tensor, const struct view *view, struct qdq_value *result)
{
    *result = (struct qdq_value){.kind = QDQ_REALS, .view = *view, .tensor = tensor, .reals = qdq_plain_reals(qdq, tensor)};
}

void qdq_open_integers(struct qdq *qdq, bool is_signed, struct qdq_value *value)
{
    struct tensor *tensor = qdq_tensor(qdq, value->tensor);
    tensor->scale = 1;
    tensor->model_offset = is_signed ? -128 : 0;
    tensor->zero_point = -tensor->model_offset;
    qdq_give_integers(qdq, value->tensor, &value->view, value);
}

bool qdq_read_whole(struct qdq *qdq, const struct node *node, const char *name, int64_t least, int64_t most, int64_t *number)
{
    const struct attribute *attribute = node_attribute(node, name);
    double real = NAN;
    *number = 0;
    if (attribute && attribute->kind == ATTRIBUTE_INTEGER)
        real = (double)attribute->integer;
    else if (attribute && attribute->kind == ATTRIBUTE_FLOAT)
        real = attribute->number;
    else if (attribute && attribute->kind == ATTRIBUTE_CONSTANT && constant_same_integer(attribute->constant, number))
        real = (double)*number;
    if (real != rint(real) || !(real >= (double)least && real <= (double)most)) {
        qdq_fault(qdq, node, name, "is %s; supported: a whole number from %" PRId64 " to %" PRId64,
                  attribute ? arena_format(qdq->arena, "%.17g", real) : "missing", least, most);
        return false;
    }
    *number = (int64_t)real;
    return true;
}

bool qdq_read_levels(struct qdq *qdq, const struct node *node, const char *name, int64_t *levels)
{
    return qdq_read_whole(qdq, node, node_attribute(node, name) ? name : "n_levels", 2, 256, levels);
}

enum qdq_outcome qdq_whole_numbers(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                   int64_t numbers[256])
{
    if (value->kind != QDQ_REALS)
        return qdq_fault(qdq, node, NULL, "reads what no RequantShift has rounded; supported: bytes");
    for (int i = 0; i < 256; i++) {
        if (!(fabsf(value->reals[i]) < (float)(1 << 24)))
            return qdq_fault(qdq, node, NULL, "reads numbers of 24 bits and more; supported: fewer");
        numbers[i] = (int64_t)value->reals[i];
    }
    return QDQ_DONE;
}

/* ---- RequantShift: clip(floor((x * multiplier + addend + divisor / 2) / divisor)) ---- */

struct requantisation_read {
    const struct qdq_array *numbers[2]; /* multiplier, addend: one, or one an index of dimension 1 */
    int64_t divisor, minimum, maximum;
    struct quantisation quantisation;
};

static bool read_requantisation(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                struct requantisation_read *read_here)
{
    static const char *const roles[] = {"mul", "add"};
    int64_t levels, is_signed = 0;
    for (int i = 0; i < 2; i++) {
        const struct qdq_array *array = count > i + 1 && inputs[i + 1].kind == QDQ_CONSTANT ? inputs[i + 1].array : NULL;
        if (!array || !array->numbers || !array->scale_count || array->count == 0) {
            qdq_fault(qdq, node, roles[i], "is no constant of whole numbers of 32 bits; supported: that");
            return false;
        }
        read_here->numbers[i] = array;
    }
    if (!qdq_read_whole(qdq, node, "div", 1, INT32_MAX, &read_here->divisor) ||
        !qdq_read_levels(qdq, node, "n_levels_out", &levels) ||
        (node_attribute(node, "signed") && !qdq_read_whole(qdq, node, "signed", 0, 1, &is_signed)))
        return false;
    read_here->quantisation = qdq_integer_bytes(is_signed != 0);
    read_here->minimum = is_signed ? -(levels / 2) : 0;
    read_here->maximum = read_here->minimum + levels - 1;
    return true;
}

static int64_t number_of(const struct requantisation_read *r, int which, int channel)
{
    const struct qdq_array *array = r->numbers[which];
    return (int64_t)array->numbers[array->count == 1 ? 0 : channel];
}

static bool is_of_all(const struct requantisation_read *r) { return r->numbers[0]->count == 1 && r->numbers[1]->count == 1; }

static int64_t requantised(const struct requantisation_read *r, int64_t x)
{
    int64_t sum = x * number_of(r, 0, 0) + number_of(r, 1, 0) + r->divisor / 2, y = floor_divide(sum, r->divisor);
    return y < r->minimum ? r->minimum : y > r->maximum ? r->maximum : y;
}

/* Of a function of bytes: a table. */
static enum qdq_outcome requantise_bytes(struct qdq *qdq, const struct node *node, const struct requantisation_read *r,
                                         const struct qdq_value *value, struct qdq_value *result)
{
    int64_t numbers[256];
    struct qdq_value rounded = *value;
    float *reals = arena_array(qdq->arena, float, 256);
    enum qdq_outcome outcome = qdq_whole_numbers(qdq, node, value, numbers);
    if (outcome != QDQ_DONE || !is_of_all(r))
        return outcome != QDQ_DONE ? outcome
                                   : qdq_fault(qdq, node, "mul",
                                               "is one a channel behind what no layer of products "
                                               "computes; supported there: one number");
    for (int i = 0; i < 256; i++)
        reals[i] = (float)requantised(r, numbers[i]);
    rounded.reals = reals;
    outcome = qdq_quantise_reals(qdq, node, &rounded, &r->quantisation, node->name, result);
    if (outcome == QDQ_DONE)
        qdq_give_integers(qdq, result->tensor, &result->view, result);
    return outcome;
}

/* Constants of a channel lie along dimension 1, or as ONNX broadcasts them; either is to be that of the layer's channels. */
static bool are_of_channels(const struct requantisation_read *r, const struct qdq_value *value)
{
    const struct qdq_pending *pending = value->pending;
    const struct tensor image = tensor_plain("", pending->height, pending->width, pending->channels);
    for (int i = 0; i < 2; i++) {
        const struct qdq_array *array = r->numbers[i];
        if (array->count == 1)
            continue;
        int dimension = qdq_constant_dimension(&value->view, array);
        if (dimension < 0 && value->view.rank > 1 && (int64_t)array->count == value->view.dimensions[1])
            dimension = 1;
        if (dimension < 0 || array->count != (size_t)pending->channels || !view_is_channels(&value->view, dimension, &image))
            return false;
    }
    return true;
}

#define MOST_OF_SUMS ((wide)1 << 61)

/* Sums of channel i: (accumulator + addend) * unit / divisor + constant, all whole numbers. */
static bool set_channel(const struct qdq_pending *pending, const struct requantisation_read *r, int channel,
                        struct stage *stage, int64_t *multiplier, int64_t *addend)
{
    const int own = pending->count == 1 ? 0 : channel;
    const double unit = pending->scale * pending->factors[own], constant = pending->constants ? pending->constants[own] : 0;
    const int64_t m = number_of(r, 0, channel), offset = r->quantisation.is_signed ? 128 : 0;
    if (unit != rint(unit) || fabs(unit) > 1 << 24 || constant != rint(constant) || fabs(constant) > INT32_MAX)
        return false;
    const wide rest = (wide)m * (int64_t)constant + number_of(r, 1, channel) + r->divisor / 2 + (wide)offset * r->divisor;
    const wide sum = (wide)pending->addends[own] * (int64_t)unit * m + rest * pending->divisor;
    const wide scaled = (wide)m * (int64_t)unit;
    multiplier[channel] = (int64_t)scaled;
    addend[channel] = (int64_t)sum;
    stage->divisor = r->divisor * pending->divisor;
    return sum < MOST_OF_SUMS && sum > -MOST_OF_SUMS && scaled < MOST_OF_SUMS && scaled > -MOST_OF_SUMS;
}

static bool has_bounds(const struct qdq_pending *pending)
{
    return pending->minimum > -INFINITY || pending->maximum < INFINITY;
}

/* False after a fault: the stage that rounds what the layer, or a sum, computes. */
static bool make_stage(struct qdq *qdq, const struct node *node, const struct requantisation_read *r,
                       const struct qdq_pending *pending, int count, struct stage *stage)
{
    int64_t *multipliers = arena_array(qdq->arena, int64_t, (size_t)count);
    int64_t *addends = arena_array(qdq->arena, int64_t, (size_t)count);
    const int offset = r->quantisation.is_signed ? 128 : 0;
    *stage = (struct stage){.count = count,
                            .rounding = ROUND_FLOOR,
                            .multiplier = multipliers,
                            .addend = addends,
                            .has_clip = true,
                            .minimum = r->minimum + offset,
                            .maximum = r->maximum + offset};
    for (int i = 0; i < count; i++) {
        if (set_channel(pending, r, i, stage, multipliers, addends))
            continue;
        qdq_fault(qdq, node, NULL, "rounds sums that are no whole numbers, or that exceed 61 bits");
        return false;
    }
    return true;
}

/* Of a layer that awaits its rounding. */
static enum qdq_outcome requantise_layer(struct qdq *qdq, const struct node *node, const struct requantisation_read *r,
                                         const struct qdq_value *value, struct qdq_value *result)
{
    struct stage stage;
    struct qdq_pending pending = *value->pending;
    if (!is_of_all(r) && !are_of_channels(r, value))
        return qdq_fault(qdq, node, "mul", "is neither one number nor one for each of the %d channels of shape %s",
                         pending.channels, view_text(&value->view, qdq->arena));
    if (!make_stage(qdq, node, r, &pending, is_of_all(r) ? pending.count : pending.channels, &stage))
        return QDQ_FAULT;
    qdq_give_integers(qdq, qdq_pending_append(qdq, &pending, &r->quantisation, node->name, &stage), &value->view, result);
    return QDQ_DONE;
}

static enum qdq_outcome requantise_sum(struct qdq *qdq, const struct node *node, const struct requantisation_read *r,
                                       const struct qdq_value *value, struct qdq_value *result)
{
    static const double one = 1;
    static const int64_t zero = 0;
    struct stage stage;
    struct middle_value sum;
    struct qdq_pending whole = *value->pending;
    whole.scale = 1;
    whole.factors = (double *)(uintptr_t)&one;
    whole.addends = (int64_t *)(uintptr_t)&zero;
    whole.count = 1;
    if (!is_of_all(r))
        return qdq_fault(qdq, node, "mul", "is one a channel of a sum of tensors; supported there: one number");
    if (!make_stage(qdq, node, r, &whole, 1, &stage))
        return QDQ_FAULT;
    if (!qdq_finish_whole_sum(qdq, value->pending, &r->quantisation, node->name, &stage, &sum))
        return qdq_fault(qdq, node, NULL, "rounds a sum that is too large for 32 bits");
    qdq_give_integers(qdq, sum.tensor, &sum.view, result);
    return QDQ_DONE;
}

enum qdq_outcome qdq_requantise(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                struct qdq_value *result)
{
    struct requantisation_read r;
    if (!read_requantisation(qdq, node, inputs, count, &r))
        return QDQ_FAULT;
    if (inputs[0].kind != QDQ_PENDING)
        return requantise_bytes(qdq, node, &r, &inputs[0], result);
    const struct qdq_pending *pending = inputs[0].pending;
    const bool is_sum = pending->part_count && pending->whole == QDQ_SUMMED;
    if ((pending->part_count && !is_sum) || pending->norm || has_bounds(pending))
        return qdq_fault(qdq, node, NULL,
                         "rounds what is clipped, or joined of tensors with and without a sign; supported: layers and sums");
    return (is_sum ? requantise_sum : requantise_layer)(qdq, node, &r, &inputs[0], result);
}

/* ---- the walk ---- */

qdq_handler *qdq_find_integer_handler(const struct qdq *qdq, const struct node *node)
{
    const struct qdq_operator *own = qdq->is_of_integers ? find(node) : NULL;
    return own ? own->handle : NULL;
}
