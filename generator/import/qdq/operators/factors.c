/* Products of a tensor and a function of another one's elements, as of a norm whose root is no tensor of its own. */
#include "import/qdq/combinations.h"

#include <math.h>

/* Of two, in units of which a byte has a float32. */
#define LEAST_EXPONENT (-140)
#define MOST_EXPONENT  119

/* The function's numbers as whole ones of three bytes, each of which is a factor: their products are added. */
#define FACTOR_BYTES 3
#define SIGN_BITS    12 /* of a step that tells a sum from zero, below the least scale of its terms */

struct factors {
    double numbers[256]; /* infinite: what is divided by zero, which has a term of its own */
    double most;         /* of the others' magnitudes */
    bool has_zero, is_signed;
};

/* A function that is no number, as the root of bytes below zero, is 0: no model counts on what becomes of it. */
static void find_factors(const float *reals, bool divides, struct factors *factors)
{
    *factors = (struct factors){.most = 0};
    for (int i = 0; i < 256; i++) {
        double number = divides ? 1 / fabs((double)reals[i]) : fabs((double)reals[i]);
        if (number != number)
            number = 0;
        if (isfinite(number))
            factors->most = fmax(factors->most, number);
        factors->has_zero |= !isfinite(number);
        factors->is_signed |= reals[i] < 0;
        factors->numbers[i] = signbit(reals[i]) ? -number : number;
    }
    factors->most = factors->most > 0 ? factors->most : 1;
}

/* A function of bytes as a tensor: (table[element] - zero_point) * 2^exponent. */
static struct qdq_value make_piece(struct qdq *qdq, const struct node *node, const struct qdq_value *function,
                                   const uint8_t *table, int exponent, int zero_point)
{
    struct tensor from = *qdq_tensor(qdq, function->tensor);
    struct qdq_value piece = *function;
    piece.tensor = quantised_tensor(&qdq->builder, node->name, from.height, from.width, from.channels,
                                    &(struct quantisation){ldexp(1, exponent), zero_point, false});
    quantised_layer(&qdq->builder, LAYER_TABLE, node->name, function->tensor, piece.tensor)->table = table;
    piece.reals = qdq_plain_reals(qdq, piece.tensor);
    return piece;
}

static enum qdq_outcome multiply(struct qdq *qdq, const struct node *node, const struct qdq_value *x,
                                 const struct qdq_value *piece, struct qdq_value *result)
{
    struct node product = *node;
    product.type = "Mul";
    return qdq_binary(qdq, &product, (struct qdq_value[]){*x, *piece}, 2, result);
}

/* More than any other result, and than what a quantisation behind it holds. */
static double beyond(struct qdq *qdq, const struct node *node, double largest)
{
    struct quantisation reader;
    return qdq_reader_quantisation(qdq, node, &reader) ? fmax(2 * largest, 512 * reader.scale) : 2 * largest;
}

/* What is divided by zero is beyond all other results, the largest of which is given, whatever is divided, but for zero. */
static enum qdq_outcome divide_by_zero(struct qdq *qdq, const struct node *node, const struct qdq_value *x,
                                       const struct qdq_value *function, const struct factors *factors, double largest,
                                       struct qdq_value *result)
{
    uint8_t *table = arena_array(qdq->arena, uint8_t, 256);
    int exponent, middle = 0;
    for (int i = 0; i < 256; i++)
        middle = factors->numbers[i] == -INFINITY ? 128 : middle;
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)(isfinite(factors->numbers[i]) ? middle : factors->numbers[i] > 0 ? 255 : 1);
    const double bound = beyond(qdq, node, largest);
    frexp(bound / ((255 - middle) * qdq_tensor(qdq, x->tensor)->scale), &exponent); /* of one unit of x */
    if (!isfinite(bound) || exponent < LEAST_EXPONENT || exponent > MOST_EXPONENT)
        return QDQ_FLOAT;
    const struct qdq_value piece = make_piece(qdq, node, function, table, exponent, middle);
    enum qdq_outcome outcome = multiply(qdq, node, x, &piece, result);
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

/* The bytes of the finite numbers that are needed; 0: their units are beyond those of a float32. */
static int make_pieces(struct qdq *qdq, const struct node *node, const struct qdq_value *function,
                       const struct factors *factors, struct qdq_value pieces[FACTOR_BYTES])
{
    int exponent, count = 0;
    frexp(factors->most, &exponent);
    exponent += (factors->is_signed ? 1 : 0) - 8 * FACTOR_BYTES;
    if (exponent < LEAST_EXPONENT || exponent + 8 * (FACTOR_BYTES - 1) > MOST_EXPONENT)
        return 0;
    for (int place = 0; place < FACTOR_BYTES; place++) {
        const bool has_sign = factors->is_signed && place == FACTOR_BYTES - 1;
        const uint8_t *table = table_of(qdq, factors, exponent, place);
        const bool is_last = place == FACTOR_BYTES - 1 && count == 0;
        if (has_sign || is_last || is_needed(table))
            pieces[count++] = make_piece(qdq, node, function, table, exponent + 8 * place, has_sign ? 128 : 0);
    }
    return count;
}

enum qdq_outcome qdq_multiply_by_function(struct qdq *qdq, const struct node *node, const struct qdq_value *x,
                                          const struct qdq_value *function, bool divides, struct qdq_value *result)
{
    struct factors factors;
    struct qdq_value terms[FACTOR_BYTES + 1], pieces[FACTOR_BYTES];
    enum qdq_outcome outcome = QDQ_DONE;
    find_factors(function->reals, divides, &factors);
    int count = make_pieces(qdq, node, function, &factors, pieces);
    if (count == 0)
        return QDQ_FLOAT;
    for (int i = 0; i < count && outcome == QDQ_DONE; i++)
        outcome = multiply(qdq, node, x, &pieces[i], &terms[i]);
    if (outcome == QDQ_DONE && factors.has_zero)
        outcome = divide_by_zero(qdq, node, x, function, &factors, 255 * factors.most * qdq_tensor(qdq, x->tensor)->scale,
                                 &terms[count++]);
    if (outcome == QDQ_DONE && count == 1)
        *result = terms[0];
    return outcome != QDQ_DONE || count == 1 ? outcome
                                             : qdq_sum(qdq, node, terms, count, &(struct qdq_sum){NULL, 1}, result);
}

/* ---- sums ---- */

/* A sum of tensors without bounds and constants. */
static bool is_plain_sum(const struct qdq_value *value)
{
    const struct qdq_pending *sum = value->kind == QDQ_PENDING ? value->pending : NULL;
    bool is_plain = sum && sum->term_count > 0 && sum->divisor == 1 && sum->minimum == -INFINITY &&
                    sum->maximum == INFINITY && (!sum->constants || sum->constants[0] == 0) &&
                    view_equal(&value->view, &sum->view);
    for (int i = 0; is_plain && i < sum->term_count; i++)
        is_plain = sum->terms[i].kind == QDQ_REALS;
    return is_plain;
}

/* The term as large as the sum, whose first term is so. */
static bool repeat_term(struct qdq *qdq, const struct node *node, const struct qdq_value *sum, struct qdq_value *term)
{
    struct middle_value value = {term->tensor, term->view};
    struct layout layout;
    if (view_equal(&term->view, &sum->view))
        return true;
    if (!layout_of_tensor(&sum->view, qdq_tensor(qdq, sum->pending->terms[0].tensor), &layout) ||
        !view_broadcast(&term->view, sum->view.rank, sum->view.dimensions, &value.view) ||
        !middle_lay_out(&qdq->builder, arena_format(qdq->arena, "%s, repeated", node->name), &layout, &value))
        return false;
    term->tensor = value.tensor;
    term->view = value.view;
    return true;
}

/* Of what is divided by zero the sign is enough: in steps so small that few sums but zero are none of them. */
static enum qdq_outcome divide_sum_by_zero(struct qdq *qdq, const struct node *node, const struct qdq_value *sum,
                                           const struct qdq_value *function, const struct factors *factors,
                                           struct qdq_value *result)
{
    double least = INFINITY, largest = 0;
    struct qdq_value sign;
    for (int i = 0; i < sum->pending->term_count; i++) {
        const double scale = qdq_tensor(qdq, sum->pending->terms[i].tensor)->scale;
        least = fmin(least, scale);
        largest += 255 * factors->most * scale;
    }
    const struct quantisation quantisation = {ldexp(least, -SIGN_BITS), 128, false};
    enum qdq_outcome outcome =
        qdq_quantise(qdq, node, sum, &quantisation, arena_format(qdq->arena, "%s, sign", node->name), &sign);
    if (outcome != QDQ_DONE)
        return outcome;
    sign.kind = QDQ_REALS;
    sign.reals = qdq_plain_reals(qdq, sign.tensor);
    return divide_by_zero(qdq, node, &sign, function, factors, largest, result);
}

enum qdq_outcome qdq_multiply_sum(struct qdq *qdq, const struct node *node, const struct qdq_value *sum,
                                  const struct qdq_value *function, bool divides, struct qdq_value *result)
{
    struct factors factors;
    struct qdq_value pieces[FACTOR_BYTES];
    if (!is_plain_sum(sum))
        return QDQ_FLOAT;
    find_factors(function->reals, divides, &factors);
    const size_t room = (size_t)sum->pending->term_count * FACTOR_BYTES + 1;
    struct qdq_value *products = arena_array(qdq->arena, struct qdq_value, room);
    int *signs = arena_array(qdq->arena, int, room);
    const bool is_piece = !divides && qdq_is_plain(qdq, function);
    const int piece_count = is_piece ? 1 : make_pieces(qdq, node, function, &factors, pieces);
    int count = 0;
    if (is_piece)
        pieces[0] = *function;
    enum qdq_outcome outcome = piece_count > 0 ? QDQ_DONE : QDQ_FLOAT;
    for (int i = 0; i < sum->pending->term_count && outcome == QDQ_DONE; i++) {
        struct qdq_value term = sum->pending->terms[i];
        outcome = repeat_term(qdq, node, sum, &term) ? QDQ_DONE : QDQ_FLOAT;
        for (int place = 0; place < piece_count && outcome == QDQ_DONE; place++) {
            signs[count] = sum->pending->signs[i];
            outcome = multiply(qdq, node, &term, &pieces[place], &products[count++]);
        }
    }
    if (outcome == QDQ_DONE && factors.has_zero) {
        signs[count] = 1;
        outcome = divide_sum_by_zero(qdq, node, sum, function, &factors, &products[count++]);
    }
    return outcome == QDQ_DONE ? qdq_sum(qdq, node, products, count, &(struct qdq_sum){signs, 1}, result) : outcome;
}
