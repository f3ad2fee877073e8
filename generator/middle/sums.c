#include "middle/sums.h"

#include <math.h>
#include <stdlib.h>

#define SUM_BITS      29 /* of all terms together, in units */
#define FACTOR_BITS   20 /* behind the point, of a factor in units */
#define PRODUCT_BITS  30 /* of a layer's factors, times as many of its accumulators */
#define LARGEST_SHIFT 30

int middle_sum_exponent(double largest)
{
    int exponent;
    frexp(largest > 0 && isfinite(largest) ? largest : 1, &exponent);
    return exponent - SUM_BITS;
}

/* ---- terms ---- */

static struct stage scalar(struct quantised_builder *builder, int64_t multiplier, int64_t addend, int shift)
{
    int64_t *numbers = arena_array(builder->arena, int64_t, 2);
    numbers[0] = multiplier;
    numbers[1] = addend;
    return (struct stage){.count = 1, .multiplier = &numbers[0], .addend = &numbers[1], .divisor = (int64_t)1 << shift};
}

static struct stage stage_of(struct quantised_builder *builder, const struct sum_term *term, int exponent)
{
    if (term->is_wide)
        return term->factor < 0 ? scalar(builder, -1, 0, 0) : (struct stage){0};
    int64_t zero_point = builder->network->tensors[term->tensor].zero_point;
    int64_t multiplier = llrint(ldexp(term->factor, FACTOR_BITS - exponent));
    return scalar(builder, multiplier, ((int64_t)1 << (FACTOR_BITS - 1)) - multiplier * zero_point, FACTOR_BITS);
}

/* As many places behind the point as leave all factors their bits. */
static int shift_of(const double *factors, int count, int exponent)
{
    double largest = 0;
    int bits;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs(factors[i]));
    frexp(ldexp(largest, -exponent), &bits);
    int shift = PRODUCT_BITS - bits;
    return shift < 0 ? 0 : shift > LARGEST_SHIFT ? LARGEST_SHIFT : shift;
}

struct stage middle_wide_stage(struct quantised_builder *builder, int count, const int64_t *addends, const double *factors,
                               const double *constants, int exponent)
{
    int64_t *multipliers = arena_array(builder->arena, int64_t, (size_t)count);
    int64_t *terms = arena_array(builder->arena, int64_t, (size_t)count);
    int shift = shift_of(factors, count, exponent);
    for (int i = 0; i < count; i++) {
        multipliers[i] = llrint(ldexp(factors[i], shift - exponent));
        terms[i] = addends[i] * multipliers[i] + (((int64_t)1 << shift) >> 1);
        terms[i] += constants ? llrint(ldexp(constants[i], shift - exponent)) : 0;
    }
    return (struct stage){.count = count, .multiplier = multipliers, .addend = terms, .divisor = (int64_t)1 << shift};
}

void middle_wide_clip(struct stage *stage, double minimum, double maximum, int exponent)
{
    if (minimum == -INFINITY && maximum == INFINITY)
        return;
    double most = ldexp(1, SUM_BITS + 1), least = ldexp(minimum, -exponent), greatest = ldexp(maximum, -exponent);
    stage->has_clip = true;
    stage->maximum = llrint(fmin(fmax(greatest, -most), most));
    stage->minimum = llrint(fmin(fmax(least, -most), (double)stage->maximum));
}

/* ---- sums ---- */

static struct layer *sum_two(struct quantised_builder *builder, const char *name, const struct sum_term *a,
                             const struct sum_term *b, int exponent, int output)
{
    struct layer *layer = quantised_layer(builder, LAYER_ADDITION, name, a->tensor, output);
    layer->inputs[1] = b->tensor;
    layer->input_stages[0] = stage_of(builder, a, exponent);
    layer->input_stages[1] = stage_of(builder, b, exponent);
    return layer;
}

static int sum_of(struct quantised_builder *builder, const char *name, const struct sum_term *a, const struct sum_term *b,
                  int exponent)
{
    const struct tensor like = builder->network->tensors[a->tensor];
    int output = quantised_tensor(builder, name, like.height, like.width, like.channels, &(struct quantisation){0});
    sum_two(builder, name, a, b, exponent, output)->is_intermediate = true;
    return output;
}

/* The sum of terms, all of one size, as whole numbers of the unit. */
static int wide_sum(struct quantised_builder *builder, const char *name, const struct sum_term *terms, int count,
                    int exponent)
{
    struct sum_term sum = terms[0];
    for (int i = 1; i < count; i++) {
        const char *own = arena_format(builder->arena, "%s, sum %d", name, i);
        sum = (struct sum_term){sum_of(builder, own, &sum, &terms[i], exponent), 1, true};
    }
    return sum.tensor;
}

struct layer *middle_last_sum(struct quantised_builder *builder, const char *name, const struct sum_term *terms, int count,
                              int exponent, int output)
{
    struct sum_term sum = terms[0];
    if (count > 2)
        sum = (struct sum_term){wide_sum(builder, name, terms, count - 1, exponent), 1, true};
    return sum_two(builder, name, &sum, &terms[count - 1], exponent, output);
}

/* ---- bytes ---- */

void middle_sum_bytes(struct quantised_builder *builder, int a, int sign, int b, int addend, int output)
{
    const char *name = builder->network->tensors[output].name;
    struct layer *layer = quantised_layer(builder, LAYER_ADDITION, name, a, output);
    layer->inputs[1] = b;
    layer->input_stages[0] = scalar(builder, 1, 0, 0);
    layer->input_stages[1] = scalar(builder, sign, 0, 0);
    layer->stages[0] = scalar(builder, 1, addend, 0);
    layer->stages[0].has_clip = true;
    layer->stages[0].maximum = UINT8_MAX;
    layer->stage_count = 1;
}

/* a + max(b - a, 0), or b - max(b - a, 0): what is above the other one, which is a byte and never negative. */
void middle_choose(struct quantised_builder *builder, int a, int b, bool is_maximum, int output)
{
    const struct tensor to = builder->network->tensors[output];
    const char *name = arena_format(builder->arena, "%s, difference", to.name);
    int more = quantised_tensor(builder, name, to.height, to.width, to.channels, &(struct quantisation){to.scale, 0, false});
    middle_sum_bytes(builder, b, -1, a, 0, more);
    if (is_maximum)
        middle_sum_bytes(builder, a, 1, more, 0, output);
    else
        middle_sum_bytes(builder, b, -1, more, 0, output);
}
