/* Products of a tensor and a function of another one's elements, as of a norm whose root is no tensor of its own. */
#include "import/qdq/combinations.h"

#include <math.h>

/* The function's numbers as whole ones of three bytes, each of which is a factor: their products are added. */
#define FACTOR_BYTES 3

struct factors {
    double numbers[256]; /* infinite: what is divided by zero, which has a term of its own */
    double most;         /* of the others' magnitudes */
    bool has_zero, is_signed;
};

/* False where the numbers are none. */
static bool find_factors(const float *reals, bool divides, struct factors *factors)
{
    *factors = (struct factors){.most = 0};
    for (int i = 0; i < 256; i++) {
        double number = divides ? 1 / fabs((double)reals[i]) : fabs((double)reals[i]);
        if (number != number)
            return false;
        if (isfinite(number))
            factors->most = fmax(factors->most, number);
        factors->has_zero |= !isfinite(number);
        factors->is_signed |= reals[i] < 0;
        factors->numbers[i] = reals[i] < 0 ? -number : number;
    }
    factors->most = factors->most > 0 ? factors->most : 1;
    return true;
}

/* The product of x and a function of bytes, (table[element] - zero_point) * 2^exponent. */
static enum qdq_outcome multiply(struct qdq *qdq, const struct node *node, const struct qdq_value *x,
                                 const struct qdq_value *function, const uint8_t *table, int exponent, int zero_point,
                                 struct qdq_value *result)
{
    struct tensor from = *qdq_tensor(qdq, function->tensor);
    struct qdq_value pair[2] = {*x, *function};
    struct node product = *node;
    product.type = "Mul";
    pair[1].tensor = quantised_tensor(&qdq->builder, node->name, from.height, from.width, from.channels,
                                      &(struct quantisation){ldexp(1, exponent), zero_point, false});
    quantised_layer(&qdq->builder, LAYER_TABLE, node->name, function->tensor, pair[1].tensor)->table = table;
    pair[1].reals = qdq_plain_reals(qdq, pair[1].tensor);
    return qdq_binary(qdq, &product, pair, 2, result);
}

/* More than any other result, and than what a quantisation behind it holds. */
static double beyond(struct qdq *qdq, const struct node *node, double largest)
{
    struct quantisation reader;
    return qdq_reader_quantisation(qdq, node, &reader) ? fmax(2 * largest, 512 * reader.scale) : 2 * largest;
}

/* What is divided by zero is beyond all other results, whatever is divided, but for zero. */
static enum qdq_outcome divide_by_zero(struct qdq *qdq, const struct node *node, const struct qdq_value *x,
                                       const struct qdq_value *function, const struct factors *factors,
                                       struct qdq_value *result)
{
    uint8_t *table = arena_array(qdq->arena, uint8_t, 256);
    int exponent;
    for (int i = 0; i < 256; i++)
        table[i] = isfinite(factors->numbers[i]) ? 0 : 255;
    const double unit = qdq_tensor(qdq, x->tensor)->scale, bound = beyond(qdq, node, 255 * factors->most * unit);
    frexp(bound / (255 * unit), &exponent); /* of one unit of x */
    enum qdq_outcome outcome = multiply(qdq, node, x, function, table, exponent, 0, result);
    if (outcome != QDQ_DONE)
        return outcome;
    struct qdq_pending *bounded = arena_allocate(qdq->arena, sizeof *bounded);
    *bounded = *result->pending;
    bounded->maximum = bound;
    bounded->minimum = -bounded->maximum;
    result->pending = bounded;
    return QDQ_DONE;
}

/* A byte of each number; the highest one has the sign, if there are any below zero, as a zero point of 128. */
static const uint8_t *table_of(struct qdq *qdq, const struct factors *factors, int exponent, int place)
{
    uint8_t *table = arena_array(qdq->arena, uint8_t, 256);
    const double middle = factors->is_signed ? 1 << (8 * FACTOR_BYTES - 1) : 0;
    for (int i = 0; i < 256; i++) {
        double number = isfinite(factors->numbers[i]) ? rint(ldexp(factors->numbers[i], -exponent)) : 0;
        table[i] = (uint8_t)((uint32_t)fmin(number + middle, (1 << 8 * FACTOR_BYTES) - 1) >> (8 * place));
    }
    return table;
}

static bool is_needed(const uint8_t *table)
{
    for (int i = 0; i < 256; i++)
        if (table[i])
            return true;
    return false;
}

enum qdq_outcome qdq_multiply_by_function(struct qdq *qdq, const struct node *node, const struct qdq_value *x,
                                          const struct qdq_value *function, bool divides, struct qdq_value *result)
{
    struct factors factors;
    struct qdq_value terms[FACTOR_BYTES + 1];
    enum qdq_outcome outcome = QDQ_DONE;
    int exponent;
    if (!find_factors(function->reals, divides, &factors))
        return QDQ_FLOAT;
    frexp(factors.most, &exponent);
    exponent += (factors.is_signed ? 1 : 0) - 8 * FACTOR_BYTES;
    int count = 0;
    for (int place = 0; place < FACTOR_BYTES && outcome == QDQ_DONE; place++) {
        const bool has_sign = factors.is_signed && place == FACTOR_BYTES - 1;
        const uint8_t *table = table_of(qdq, &factors, exponent, place);
        const bool is_last = place == FACTOR_BYTES - 1 && count == 0;
        if (has_sign || is_last || is_needed(table))
            outcome = multiply(qdq, node, x, function, table, exponent + 8 * place, has_sign ? 128 : 0, &terms[count++]);
    }
    if (outcome == QDQ_DONE && factors.has_zero)
        outcome = divide_by_zero(qdq, node, x, function, &factors, &terms[count++]);
    if (outcome == QDQ_DONE && count == 1)
        *result = terms[0];
    return outcome != QDQ_DONE || count == 1 ? outcome
                                             : qdq_sum(qdq, node, terms, count, &(struct qdq_sum){NULL, 1}, result);
}
