#include "middle/norms.h"

#include <math.h>

#define PRODUCT_BITS       31 /* of d * factor << left_shift, with its sign */
#define MULTIPLIER_BITS    31
#define MOST_FRACTION_BITS 30 /* of the variance; one of them is some 10^-9 of the least variance that is not 0 */
#define VARIANCE_BITS      62 /* with them */
#define MOST_SHIFT         22 /* of the result: finer is of no use */
#define LEAST_SHIFT        10 /* coarser would be seen */

/* ---- factors: whole numbers times a scale ---- */

/* The largest |d|. */
static double largest_distance(const struct real_norm *real, int channels)
{
    return real->kind == NORM_OF_DEVIATION ? 255.0 * channels : 255.0;
}

static double largest_factor(const struct real_norm *real)
{
    double largest = 0;
    for (int i = 0; i < real->count; i++)
        largest = fmax(largest, fabs(real->factors[i]));
    return largest;
}

/* All factors are whole multiples of the scale: those that a model has as integers, by the scale of these. */
static bool are_multiples(const struct real_norm *real, double scale)
{
    for (int i = 0; i < real->count; i++)
        if (fabs(real->factors[i] / scale - rint(real->factors[i] / scale)) > 1e-6)
            return false;
    return true;
}

/* The scale of which the factors have the fewest bits without a rounding, else that which uses all bits that there are. */
static double scale_of(const struct real_norm *real, double largest, double most)
{
    for (int i = 1; i <= 255 && i <= most; i++)
        if (are_multiples(real, largest / i))
            return largest / i;
    return largest / fmin(most, 1 << 23);
}

/* ---- constants of the layer ---- */

/* W = V + epsilon, in units of the input's own. */
static bool set_variance(struct norm *norm, const struct real_norm *real, double input_scale, int channels)
{
    double n = channels, most = real->kind == NORM_OF_DEVIATION ? n * n * 255 * 255 / 4 : n * 255 * 255;
    double units = real->kind == NORM_OF_DEVIATION ? n * n : real->kind == NORM_OF_MEAN ? n : 1;
    double epsilon = real->epsilon * units / (input_scale * input_scale);
    if (!(epsilon >= 0 && most + epsilon < ldexp(1, VARIANCE_BITS)))
        return false;
    int bits;
    frexp(most + epsilon, &bits);
    norm->fraction_bits = VARIANCE_BITS - bits < MOST_FRACTION_BITS ? (VARIANCE_BITS - bits) & ~1 : MOST_FRACTION_BITS;
    norm->epsilon = llrint(ldexp(epsilon, norm->fraction_bits));
    return true;
}

/* |d| is at most root * sqrt(V); so d * factor << (left_shift - e) has its bits, and the high half of its product with M one
 * bit less. Terms have as many, or the left shift is less. */
static bool set_scale(struct norm *norm, double scale, double root, double largest_factor, double largest_term)
{
    int product_bits, scale_bits, term_bits;
    frexp(largest_factor * root, &product_bits);
    frexp(largest_term + 1, &term_bits);
    double multiplier = rint(ldexp(frexp(scale, &scale_bits), MULTIPLIER_BITS));
    if (multiplier == ldexp(1, MULTIPLIER_BITS)) {
        multiplier /= 2;
        scale_bits++;
    }
    norm->multiplier = (int32_t)multiplier;
    norm->left_shift = PRODUCT_BITS - 1 - product_bits;
    norm->shift = norm->left_shift - scale_bits - 1;
    int most = PRODUCT_BITS - 1 - term_bits < MOST_SHIFT ? PRODUCT_BITS - 1 - term_bits : MOST_SHIFT;
    if (norm->shift > most) {
        norm->left_shift -= norm->shift - most;
        norm->shift = most;
    }
    return norm->shift >= LEAST_SHIFT;
}

/* Factors and distances as they are, for nothing is known of them together. */
static bool set_roots(struct quantised_builder *builder, struct norm *norm, const struct real_norm *real, double unit,
                      double largest_product, double largest_term)
{
    int32_t *roots = arena_array(builder->arena, int32_t, 256);
    int product_bits, term_bits, root_bits;
    double largest = 0;
    for (int i = 0; i < 256; i++)
        largest = fmax(largest, isfinite(real->roots[i]) ? real->roots[i] * unit : 0);
    frexp(largest_product, &product_bits);
    frexp(largest_term + 1, &term_bits);
    frexp(largest, &root_bits);
    int most = PRODUCT_BITS - 1 - term_bits < MOST_SHIFT ? PRODUCT_BITS - 1 - term_bits : MOST_SHIFT;
    norm->left_shift = PRODUCT_BITS - product_bits;
    norm->shift = norm->left_shift - 1 - root_bits < most ? norm->left_shift - 1 - root_bits : most;
    for (int i = 0; i < 256; i++) /* what is divided by nothing is as large as can be */
        roots[i] = isfinite(real->roots[i])
                       ? (int32_t)fmin(rint(ldexp(real->roots[i] * unit, 32 + norm->shift - norm->left_shift)), INT32_MAX)
                       : INT32_MAX;
    norm->roots = roots;
    return largest > 0 && norm->left_shift >= 0 && norm->shift >= LEAST_SHIFT;
}

static double largest_term(const struct real_norm *real, const struct tensor *output)
{
    double largest = 0;
    for (int i = 0; i < real->count; i++)
        largest = fmax(largest, fabs(real->terms[i] / output->scale + output->zero_point));
    return largest;
}

static void set_constants(struct norm *norm, const struct real_norm *real, double factor_scale, const struct tensor *output,
                          struct norm_constants *constants)
{
    for (int i = 0; i < real->count; i++) {
        double term = real->terms[i] / output->scale + output->zero_point + 0.5;
        constants[i] = (struct norm_constants){(int32_t)llrint(real->factors[i] / factor_scale),
                                               (int32_t)llrint(ldexp(term, norm->shift))};
    }
    norm->constants = constants;
}

static bool are_numbers(const struct real_norm *real)
{
    for (int i = 0; i < real->count; i++)
        if (!isfinite(real->factors[i]) || !isfinite(real->terms[i]))
            return false;
    return true;
}

static bool set_norm(struct quantised_builder *builder, struct norm *norm, const struct real_norm *real,
                     const struct tensor *input, const struct tensor *output, struct norm_constants *constants)
{
    double n = input->channels, root = real->kind == NORM_OF_DEVIATION ? sqrt(n) : 1;
    double most = floor((ldexp(1, PRODUCT_BITS) - 1) / largest_distance(real, input->channels));
    double largest = largest_factor(real), factor_scale = largest > 0 ? scale_of(real, largest, most) : 1;
    double scale = factor_scale / output->scale * (real->kind == NORM_OF_MEAN ? sqrt(n) : 1);
    *norm = (struct norm){.is_centred = real->kind == NORM_OF_DEVIATION,
                          .zero_point = input->zero_point,
                          .run = real->run,
                          .count = real->count};
    double whole = fmax(rint(largest / factor_scale), 1);
    if (!are_numbers(real) || most < 127 ||
        !(real->roots
              ? set_roots(builder, norm, real, factor_scale * input->scale / (output->scale * (norm->is_centred ? n : 1)),
                          whole * largest_distance(real, input->channels), largest_term(real, output))
              : set_variance(norm, real, input->scale, input->channels) &&
                    set_scale(norm, scale, root, whole, largest_term(real, output))))
        return false;
    set_constants(norm, real, factor_scale, output, constants);
    return true;
}

/* ---- the layer ---- */

static struct stage clip_of(struct quantised_builder *builder, const struct tensor *output, const struct real_norm *real)
{
    struct stage stage = quantised_stage(builder, 1, output);
    int64_t *multiplier = arena_array(builder->arena, int64_t, 1);
    *multiplier = 1;
    quantised_clip(&stage, output, real->minimum, real->maximum);
    stage.multiplier = multiplier;
    stage.rounding = ROUND_FLOOR;
    stage.exponent = NULL;
    stage.zero_point = 0;
    return stage;
}

bool middle_norm(struct quantised_builder *builder, const char *name, int input, int output, const struct real_norm *real)
{
    struct tensor *tensors = builder->network->tensors;
    struct norm *norm = arena_allocate(builder->arena, sizeof *norm);
    struct norm_constants *constants = arena_array(builder->arena, struct norm_constants, (size_t)real->count);
    if (!set_norm(builder, norm, real, &tensors[input], &tensors[output], constants))
        return false;
    struct layer *layer = quantised_layer(builder, LAYER_NORM, name, input, output);
    layer->norm = norm;
    layer->inputs[1] = real->roots ? real->roots_of : -1;
    layer->stages[0] = clip_of(builder, &builder->network->tensors[output], real);
    layer->stage_count = 1;
    return true;
}
