/* Div of two tensors whose quotients a QuantizeLinear rounds, each to the byte that float32 makes of it. A layer multiplies
 * by reciprocals, which miss a half by a little and on either side: where halves occur one layer rounds them up and another
 * down, and the mean of both, rounded to even, is the quotient.
 */
#include <math.h>

#include "import/qdq/combinations.h"
#include "middle/quotients.h"

#define LEAST_SHIFT 10 /* of accumulators, below which halves are not told from their neighbours */

enum halves { HALVES_TO_EVEN, HALVES_UP, HALVES_DOWN };

struct division {
    double numerator_scale, scale;
    const float *denominators; /* by the element */
    int zero_points[2];        /* of numerators, and of the result */
    int shift;
    enum halves halves;
    int32_t *factors[2];
};

/* As onnxruntime computes it, but for halves. */
static int model_quotient(const void *context, int numerator, int denominator)
{
    const struct division *division = context;
    float x = (float)numerator * (float)division->numerator_scale;
    float exact = x / division->denominators[denominator] / (float)division->scale, y = rintf(exact);
    if (fabsf(exact) < UINT16_MAX && fabsf(exact - y) == 0.5f && division->halves != HALVES_TO_EVEN)
        y = floorf(exact) + (division->halves == HALVES_UP);
    return (int)fminf(fmaxf(y + (float)division->zero_points[1], 0), UINT8_MAX);
}

/* With what a half is missed by added, or taken off. */
static int64_t addend_of(const struct division *division)
{
    int missed = division->halves == HALVES_UP ? 2 : division->halves == HALVES_DOWN ? -2 : 0;
    return ((2 * (int64_t)division->zero_points[1] + 1) << (division->shift - 1)) + missed;
}

static int64_t layer_rounds(const void *context, int64_t accumulator)
{
    const struct division *division = context;
    return (accumulator + addend_of(division)) >> division->shift;
}

/* False where no reciprocals of so many places are right. Quotients that are no number, of which the model is not asked, are
 * zero: 0 / 0, and all of a denominator that is none, as the root of a negative byte. onnxruntime's are what its processor
 * makes of them: on x86 the least byte, which no factor makes of all numerators. */
static bool find_reciprocals(struct division *division)
{
    const struct quotient_rule rule = {division, model_quotient, layer_rounds, division->zero_points[0]};
    double factor = division->numerator_scale / division->scale;
    for (int i = 0; i < 256; i++) {
        double wanted = quotient_wanted(factor, (double)division->denominators[i], division->shift);
        if (isnan(division->denominators[i]))
            division->factors[1][i] = 0;
        else if (!quotient_reciprocal(&rule, i, wanted, &division->factors[1][i]))
            return false;
    }
    return true;
}

/* With as many places as reciprocals can have, or fewer, so that there is one that is beyond all for a denominator of 0. */
static bool find_factors(struct qdq *qdq, enum halves halves, struct division *division)
{
    double least = INFINITY;
    for (int i = 0; i < 256; i++)
        if (division->denominators[i] != 0)
            least = fmin(least, fabs((double)division->denominators[i]));
    for (int i = 0; i < 2; i++)
        division->factors[i] = arena_array(qdq->arena, int32_t, 256);
    division->halves = halves;
    division->shift = quotient_shift(division->numerator_scale / division->scale / least);
    quotient_numerators(division->zero_points[0], division->factors[0]);
    for (; division->shift >= LEAST_SHIFT; division->shift--)
        if (find_reciprocals(division))
            return true;
    return false;
}

/* `lead`: which operand is the first of the parts. */
static struct qdq_value lay_quotient(struct qdq *qdq, const struct node *node, const struct division *division,
                                     const struct qdq_value parts[2], int lead, const struct quantisation *quantisation)
{
    static const char *const suffixes[] = {"", ", halves up", ", halves down"};
    const char *name = arena_format(qdq->arena, "%s%s", node->name, suffixes[division->halves]);
    const struct tensor like = *qdq_tensor(qdq, parts[0].tensor);
    int output = quantised_tensor(&qdq->builder, name, like.height, like.width, like.channels, quantisation);
    struct layer *layer = quantised_layer(&qdq->builder, LAYER_MULTIPLICATION, name, parts[0].tensor, output);
    int64_t *numbers = arena_array(qdq->arena, int64_t, 2);
    numbers[0] = 1;
    numbers[1] = addend_of(division);
    layer->inputs[1] = parts[1].tensor;
    layer->factors[0] = division->factors[lead];
    layer->factors[1] = division->factors[1 - lead];
    layer->stages[0] = (struct stage){.count = 1,
                                      .multiplier = &numbers[0],
                                      .addend = &numbers[1],
                                      .divisor = (int64_t)1 << division->shift,
                                      .has_clip = true,
                                      .maximum = UINT8_MAX};
    layer->stage_count = 1;
    return (struct qdq_value){
        .kind = QDQ_REALS, .view = parts[0].view, .tensor = output, .reals = qdq_plain_reals(qdq, output)};
}

enum qdq_outcome qdq_divide(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                            struct qdq_value *result)
{
    struct quantisation reader;
    struct qdq_value parts[2] = {inputs[0], inputs[1]}, rounded[2];
    int lead, count = 1;
    if (!qdq_reader_quantisation(qdq, node, &reader))
        return QDQ_FLOAT;
    const struct tensor *numerator = qdq_tensor(qdq, inputs[0].tensor);
    struct division ways[2];
    ways[0] = ways[1] =
        (struct division){.numerator_scale = numerator->scale,
                          .scale = reader.scale,
                          .denominators = inputs[1].reals,
                          .zero_points = {numerator->zero_point, (int)reader.zero_point + (reader.is_signed ? 128 : 0)}};
    if (!find_factors(qdq, HALVES_TO_EVEN, &ways[0])) {
        count = 2;
        if (!find_factors(qdq, HALVES_UP, &ways[0]) || !find_factors(qdq, HALVES_DOWN, &ways[1]))
            return QDQ_FLOAT;
    }
    enum qdq_outcome outcome = qdq_align_parts(qdq, node, parts, 2, &lead);
    for (int i = 0; i < count && outcome == QDQ_DONE; i++)
        rounded[i] = lay_quotient(qdq, node, &ways[i], parts, lead, &reader);
    if (outcome == QDQ_DONE && count == 2)
        return qdq_sum(qdq, node, rounded, 2, &(struct qdq_sum){NULL, 2}, result);
    *result = rounded[0];
    return outcome;
}
