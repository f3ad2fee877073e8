/* The sum of two tensors: residual connections. */
#include "import.h"

#include <string.h>

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

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Brings both terms to one denominator, which then divides the sum: nothing is rounded before the addition. */
static bool unite_divisors(struct affine terms[2], int64_t *divisor)
{
    int64_t common = common_divisor(terms[0].divisor, terms[1].divisor);
    int64_t factors[2] = {terms[1].divisor / common, terms[0].divisor / common};
    return scale(&terms[0], factors[0]) && scale(&terms[1], factors[1]) &&
           !__builtin_mul_overflow(terms[0].divisor, factors[0], divisor);
}

static bool check_terms(struct importer *importer, const struct node *node, const struct flow *first,
                        const struct flow *second)
{
    if (flow_has_padding(first) || flow_has_padding(second))
        return import_fault(importer, node, NULL, "Add behind Pad is not supported; Pad belongs in front of Conv or a pool");
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
