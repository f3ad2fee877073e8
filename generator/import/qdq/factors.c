/* Products of a tensor and a function of another one's elements, as of a norm whose root is no tensor of its own. */
#include "import/qdq/qdq.h"

#include <math.h>

/* The function's numbers as whole ones of three bytes, each of which is a factor: their products are added. */
#define FACTOR_BYTES 3

/* False where the numbers are below zero, or none. What is divided by zero has a term of its own. */
static bool find_factors(const float *reals, bool divides, double factors[256])
{
    double most = 0;
    for (int i = 0; i < 256; i++) {
        factors[i] = divides ? 1 / (double)reals[i] : (double)reals[i];
        if (!(factors[i] >= 0))
            return false;
        most = isfinite(factors[i]) ? fmax(most, factors[i]) : most;
    }
    for (int i = 0; i < 256; i++)
        factors[i] = isfinite(factors[i]) ? factors[i] : -1;
    return most > 0;
}

/* The product of x and a function of bytes, table[element] * 2^exponent. */
static enum qdq_outcome multiply(struct qdq *qdq, const struct node *node, const struct qdq_value *x,
                                 const struct qdq_value *function, const uint8_t *table, int exponent,
                                 struct qdq_value *result)
{
    struct tensor from = *qdq_tensor(qdq, function->tensor);
    struct qdq_value pair[2] = {*x, *function};
    struct node product = *node;
    product.type = "Mul";
    pair[1].tensor = quantised_tensor(&qdq->builder, node->name, from.height, from.width, from.channels,
                                      &(struct quantisation){ldexp(1, exponent), 0, false});
    quantised_layer(&qdq->builder, LAYER_TABLE, node->name, function->tensor, pair[1].tensor)->table = table;
    pair[1].reals = qdq_plain_reals(qdq, pair[1].tensor);
    return qdq_binary(qdq, &product, pair, 2, result);
}

/* What is divided by zero is beyond all other results, whatever is divided, but for zero. */
static enum qdq_outcome divide_by_zero(struct qdq *qdq, const struct node *node, const struct qdq_value *x,
                                       const struct qdq_value *function, const double *factors, double most,
                                       struct qdq_value *result)
{
    uint8_t *table = arena_array(qdq->arena, uint8_t, 256);
    int exponent;
    for (int i = 0; i < 256; i++)
        table[i] = factors[i] < 0 ? 255 : 0;
    frexp(2 * most, &exponent); /* of one unit of x: as much as of 255 others, twice */
    enum qdq_outcome outcome = multiply(qdq, node, x, function, table, exponent, result);
    if (outcome != QDQ_DONE)
        return outcome;
    struct qdq_pending *bounded = arena_allocate(qdq->arena, sizeof *bounded);
    *bounded = *result->pending;
    bounded->maximum = 2 * 255 * most * qdq_tensor(qdq, x->tensor)->scale;
    bounded->minimum = -bounded->maximum;
    result->pending = bounded;
    return QDQ_DONE;
}

enum qdq_outcome qdq_multiply_by_function(struct qdq *qdq, const struct node *node, const struct qdq_value *x,
                                          const struct qdq_value *function, bool divides, struct qdq_value *result)
{
    double factors[256], most = 0;
    struct qdq_value terms[FACTOR_BYTES + 1];
    enum qdq_outcome outcome = QDQ_DONE;
    bool has_zero = false;
    int exponent;
    if (!find_factors(function->reals, divides, factors))
        return QDQ_FLOAT;
    for (int i = 0; i < 256; i++) {
        most = fmax(most, factors[i]);
        has_zero = has_zero || factors[i] < 0;
    }
    frexp(most, &exponent);
    exponent -= 8 * FACTOR_BYTES;
    for (int place = 0; place < FACTOR_BYTES && outcome == QDQ_DONE; place++) {
        uint8_t *table = arena_array(qdq->arena, uint8_t, 256);
        for (int i = 0; i < 256; i++) {
            double number = fmin(rint(ldexp(fmax(factors[i], 0), -exponent)), (1 << 8 * FACTOR_BYTES) - 1);
            table[i] = (uint8_t)((uint32_t)number >> (8 * place));
        }
        outcome = multiply(qdq, node, x, function, table, exponent + 8 * place, &terms[place]);
    }
    if (outcome == QDQ_DONE && has_zero)
        outcome = divide_by_zero(qdq, node, x, function, factors, most, &terms[FACTOR_BYTES]);
    return outcome != QDQ_DONE ? outcome
                               : qdq_sum(qdq, node, terms, FACTOR_BYTES + has_zero, &(struct qdq_sum){NULL, 1}, result);
}
