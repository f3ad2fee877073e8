/* What two tensors become one by: residual additions, and concatenations along channels. */
#include "import/import.h"

#include <string.h>

#include "base/arithmetic.h"

static bool same_shape(const struct shape *a, const struct shape *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dimensions[i] != b->dimensions[i])
            return false;
    return true;
}

static struct stage stage_of(const struct affine *affine)
{
    return (struct stage){.count = affine->count, .multiplier = affine->multiplier, .addend = affine->addend, .divisor = 1};
}

static bool scale(struct affine *affine, int64_t factor)
{
    for (int i = 0; i < affine->count; i++)
        if (__builtin_mul_overflow(affine->multiplier[i], factor, &affine->multiplier[i]) ||
            __builtin_mul_overflow(affine->addend[i], factor, &affine->addend[i]))
            return false;
    return true;
}

/* Brings both terms to one denominator, which then divides the sum: nothing is rounded before the addition. */
static bool unite_divisors(struct affine terms[2], int64_t *divisor)
{
    int64_t common = (int64_t)greatest_common_divisor(terms[0].divisor, terms[1].divisor);
    int64_t factors[2] = {terms[1].divisor / common, terms[0].divisor / common};
    return scale(&terms[0], factors[0]) && scale(&terms[1], factors[1]) &&
           !__builtin_mul_overflow(terms[0].divisor, factors[0], divisor);
}

static bool check_terms(struct importer *importer, const struct node *node, const struct flow *first,
                        const struct flow *second)
{
    const struct tensor *a = flow_tensor_view(importer, first), *b = flow_tensor_view(importer, second);
    bool same_tensor = a->height == b->height && a->width == b->width && a->channels == b->channels;
    if (!same_tensor || !same_shape(&first->shape, &second->shape))
        return import_fault(importer, node, NULL, "adds tensors of different shapes, %s and %s; supported: equal shapes",
                            shape_text(importer, &first->shape), shape_text(importer, &second->shape));
    return true;
}

/* Quantlab: finished tensors, and requantisation as attributes say. */
static bool annotated_addition(struct importer *importer, const struct node *node, struct flow terms[2], struct flow *result)
{
    int inputs[2] = {flow_finish(importer, node, &terms[0]), flow_finish(importer, node, &terms[1])};
    bool is_signed[2] = {!flow_is_never_negative(importer, inputs[0]), !flow_is_never_negative(importer, inputs[1])};
    struct tensor shape = importer->network->tensors[inputs[0]];
    int index = import_new_layer(importer, LAYER_ADDITION, node->name, inputs[0], shape.height, shape.width, shape.channels);
    importer->network->layers[index].inputs[1] = inputs[1];
    *result = flow_of_layer(importer, index, &terms[0].shape);
    return import_annotate_addition(importer, node, &importer->network->layers[index], is_signed);
}

bool import_residual_addition(struct importer *importer, const struct node *node, const struct flow *first,
                              const struct flow *second, struct flow *result)
{
    struct affine terms[2];
    int64_t divisor = 1;
    if (!check_terms(importer, node, first, second))
        return false;
    if (importer->options->front_end == FRONT_END_QUANTLAB && import_is_annotated_addition(node))
        return annotated_addition(importer, node, (struct flow[]){*first, *second}, result);
    int inputs[2] = {flow_split(importer, first, &terms[0]), flow_split(importer, second, &terms[1])};
    if (!unite_divisors(terms, &divisor))
        return import_fault(importer, node, NULL, "the multipliers of the two inputs exceed 64 bits");
    struct tensor shape = importer->network->tensors[inputs[0]];
    int index = import_new_layer(importer, LAYER_ADDITION, node->name, inputs[0], shape.height, shape.width, shape.channels);
    struct layer *layer = &importer->network->layers[index];
    layer->inputs[1] = inputs[1];
    layer->input_stages[0] = stage_of(&terms[0]);
    layer->input_stages[1] = stage_of(&terms[1]);
    *result = flow_of_layer(importer, index, &first->shape);
    result->is_integer_type = first->is_integer_type && second->is_integer_type;
    return divisor == 1 || flow_divide(importer, node, result, divisor);
}

/* ---- concatenation ---- */

static bool check_axis(struct importer *importer, const struct node *node, const struct flow *flow)
{
    int rank = flow->shape.rank;
    int64_t axis = import_integer(importer, node, "axis", 1); /* needed since opset 4 */
    const struct tensor *tensor = flow_tensor_view(importer, flow);
    if (axis != 1 && axis != 1 - rank)
        return import_fault(importer, node, "axis", "is %lld for a tensor of shape %s; supported: 1, the channels",
                            (long long)axis, shape_text(importer, &flow->shape));
    if (rank == 2 && tensor->height * tensor->width != 1)
        return import_fault(importer, node, NULL,
                            "joins flattened images; supported: to join them along channels, and flatten then");
    return true;
}

static bool fits_behind(struct importer *importer, const struct node *node, const struct flow *first,
                        const struct flow *second)
{
    bool fits = first->shape.rank == second->shape.rank;
    for (int i = 2; fits && i < first->shape.rank; i++)
        fits = first->shape.dimensions[i] == second->shape.dimensions[i];
    int64_t channels = first->shape.dimensions[1] + second->shape.dimensions[1];
    if (!fits)
        return import_fault(importer, node, NULL, "joins tensors of shapes %s and %s; supported: equal height and width",
                            shape_text(importer, &first->shape), shape_text(importer, &second->shape));
    return channels <= MAXIMUM_DIMENSION || import_fault(importer, node, NULL, "makes %lld channels; supported: up to %d",
                                                         (long long)channels, MAXIMUM_DIMENSION);
}

/* `second` behind `first`, which becomes the result. */
static bool join(struct importer *importer, const struct node *node, struct flow *first, const struct flow *second)
{
    struct flow other = *second;
    if (!check_axis(importer, node, &other) || !fits_behind(importer, node, first, &other))
        return false;
    int inputs[2] = {flow_finish(importer, node, first), flow_finish(importer, node, &other)};
    struct tensor shape = importer->network->tensors[inputs[0]];
    bool is_negative = !flow_is_never_negative(importer, inputs[0]) || !flow_is_never_negative(importer, inputs[1]);
    bool is_integer_type = first->is_integer_type && other.is_integer_type;
    int index = import_new_layer(importer, LAYER_CONCATENATION, node->name, inputs[0], shape.height, shape.width,
                                 shape.channels + importer->network->tensors[inputs[1]].channels);
    struct layer *layer = &importer->network->layers[index];
    layer->inputs[1] = inputs[1];
    importer->network->tensors[layer->output].minimum = is_negative ? -1 : 0; /* until the range pass knows better */
    struct shape joined = first->shape;
    joined.dimensions[1] += other.shape.dimensions[1];
    *first = flow_of_layer(importer, index, &joined);
    first->is_integer_type = is_integer_type;
    return true;
}

/* Two at a time: networks join two or three tensors. */
#define MAXIMUM_JOINED 64

bool import_concatenation(struct importer *importer, const struct node *node, struct flow *result)
{
    if (node->input_count > MAXIMUM_JOINED)
        return import_fault(importer, node, NULL, "joins %d tensors; supported: up to %d", node->input_count,
                            MAXIMUM_JOINED);
    for (int i = 0; i < node->input_count; i++) {
        const struct flow *input = import_input(importer, node, i);
        if (!flow_is_data(input) || input->shape.rank < 2)
            return import_fault(importer, node, NULL,
                                "Concat of these inputs is not supported; supported: of tensors along channels, of shapes, "
                                "and of what Gather took from one output");
    }
    *result = *import_input(importer, node, 0);
    if (!check_axis(importer, node, result))
        return false;
    for (int i = 1; i < node->input_count; i++)
        if (!join(importer, node, result, import_input(importer, node, i)))
            return false;
    return true;
}
