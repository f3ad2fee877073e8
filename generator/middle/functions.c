#include "middle/functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double hard_sigmoid_of(float x, float alpha, float beta)
{
    float y = alpha * x + beta;
    return y < 0 ? 0 : y > 1 ? 1 : (double)y;
}

static double relu(double x, struct function_parameters p) { return (void)p, x > 0 ? x : 0; }
static double leaky_relu(double x, struct function_parameters p) { return x >= 0 ? x : (double)((float)p.alpha * (float)x); }
static double sigmoid(double x, struct function_parameters p) { return (void)p, 1 / (1 + exp(-x)); }
static double hyperbolic_tangent(double x, struct function_parameters p) { return (void)p, tanh(x); }
static double hard_sigmoid(double x, struct function_parameters p)
{
    return hard_sigmoid_of((float)x, (float)p.alpha, (float)p.beta);
}
static double hard_swish(double x, struct function_parameters p)
{
    (void)p;
    return (double)((float)x * (float)hard_sigmoid_of((float)x, 1.0F / 6, 0.5F));
}
static double celu(double x, struct function_parameters p) { return fmax(x, 0) + fmin(0, p.alpha * expm1(x / p.alpha)); }
static double thresholded(double x, struct function_parameters p) { return x > p.alpha ? x : 0; }
static double elu(double x, struct function_parameters p) { return x >= 0 ? x : p.alpha * expm1(x); }
static double selu(double x, struct function_parameters p) { return p.beta * (x > 0 ? x : p.alpha * expm1(x)); }
static double softplus(double x, struct function_parameters p)
{
    return (void)p, x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}
static double softsign(double x, struct function_parameters p) { return (void)p, x / (1 + fabs(x)); }
static double mish(double x, struct function_parameters p) { return x * tanh(softplus(x, p)); }
static double swish(double x, struct function_parameters p) { return x / (1 + exp(-p.alpha * x)); }
static double gelu(double x, struct function_parameters p) { return (void)p, 0.5 * x * (1 + erf(x / sqrt(2.0))); }
static double gelu_by_tanh(double x, struct function_parameters p)
{
    (void)p;
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}
static double error_function(double x, struct function_parameters p) { return (void)p, erf(x); }
static double exponential(double x, struct function_parameters p) { return (void)p, exp(x); }
static double logarithm(double x, struct function_parameters p) { return (void)p, log(x); }
static double square_root(double x, struct function_parameters p) { return (void)p, sqrt(x); }
static double inverse_root(double x, struct function_parameters p) { return (void)p, 1 / sqrt(x); }
static double square(double x, struct function_parameters p) { return (void)p, x * x; }
static double sine(double x, struct function_parameters p) { return (void)p, sin(x); }
static double cosine(double x, struct function_parameters p) { return (void)p, cos(x); }
static double sign(double x, struct function_parameters p) { return (void)p, (double)((x > 0) - (x < 0)); }
static double magnitude(double x, struct function_parameters p) { return (void)p, fabs(x); }
static double negated(double x, struct function_parameters p) { return (void)p, -x; }
static double reciprocal(double x, struct function_parameters p) { return (void)p, 1 / x; }
static double tangent(double x, struct function_parameters p) { return (void)p, tan(x); }
static double arc_cosine(double x, struct function_parameters p) { return (void)p, acos(x); }
static double arc_sine(double x, struct function_parameters p) { return (void)p, asin(x); }
static double arc_tangent(double x, struct function_parameters p) { return (void)p, atan(x); }
static double hyperbolic_cosine(double x, struct function_parameters p) { return (void)p, cosh(x); }
static double hyperbolic_sine(double x, struct function_parameters p) { return (void)p, sinh(x); }
static double area_cosine(double x, struct function_parameters p) { return (void)p, acosh(x); }
static double area_sine(double x, struct function_parameters p) { return (void)p, asinh(x); }
static double area_tangent(double x, struct function_parameters p) { return (void)p, atanh(x); }
static double inverse_truth(double x, struct function_parameters p) { return (void)p, (double)(x == 0); }
static double is_no_number(double x, struct function_parameters p) { return (void)p, (double)(x != x); }
static double rounded_down(double x, struct function_parameters p) { return (void)p, floor(x); }
static double rounded_up(double x, struct function_parameters p) { return (void)p, ceil(x); }
static double rounded_evenly(double x, struct function_parameters p) { return (void)p, rint(x); }

static const struct {
    const char *name;
    real_function *function;
    struct function_parameters otherwise; /* alpha and beta where the node does not say */
} functions[] = {
    {"Abs", magnitude, {0, 0}},
    {"Acos", arc_cosine, {0, 0}},
    {"Acosh", area_cosine, {0, 0}},
    {"Asin", arc_sine, {0, 0}},
    {"Asinh", area_sine, {0, 0}},
    {"Atan", arc_tangent, {0, 0}},
    {"Atanh", area_tangent, {0, 0}},
    {"Ceil", rounded_up, {0, 0}},
    {"Celu", celu, {1, 0}},
    {"Cos", cosine, {0, 0}},
    {"Cosh", hyperbolic_cosine, {0, 0}},
    {"Elu", elu, {1, 0}},
    {"Erf", error_function, {0, 0}},
    {"Exp", exponential, {0, 0}},
    {"Floor", rounded_down, {0, 0}},
    {"Gelu", gelu, {0, 0}},
    {"GeluTanh", gelu_by_tanh, {0, 0}},
    {"HardSigmoid", hard_sigmoid, {(double)0.2F, 0.5}},
    {"HardSwish", hard_swish, {0, 0}},
    {"IsNaN", is_no_number, {0, 0}},
    {"LeakyRelu", leaky_relu, {(double)0.01F, 0}},
    {"Log", logarithm, {0, 0}},
    {"Mish", mish, {0, 0}},
    {"Neg", negated, {0, 0}},
    {"Not", inverse_truth, {0, 0}},
    {"QuickGelu", swish, {(double)1.702F, 0}},
    {"Reciprocal", reciprocal, {0, 0}},
    {"Relu", relu, {0, 0}},
    {"Round", rounded_evenly, {0, 0}},
    {"Rsqrt", inverse_root, {0, 0}},
    {"Selu", selu, {(double)1.67326319217681884765625F, (double)1.05070102214813232421875F}},
    {"Sigmoid", sigmoid, {0, 0}},
    {"Sign", sign, {0, 0}},
    {"Sin", sine, {0, 0}},
    {"Sinh", hyperbolic_sine, {0, 0}},
    {"Softplus", softplus, {0, 0}},
    {"Softsign", softsign, {0, 0}},
    {"Sqrt", square_root, {0, 0}},
    {"Square", square, {0, 0}},
    {"Swish", swish, {1, 0}},
    {"Tan", tangent, {0, 0}},
    {"Tanh", hyperbolic_tangent, {0, 0}},
    {"ThresholdedRelu", thresholded, {1, 0}},
};

real_function *function_find(const char *name, struct function_parameters *parameters)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) != 0)
            continue;
        *parameters = functions[i].otherwise;
        return functions[i].function;
    }
    return NULL;
}

bool function_is_relu(real_function *function) { return function == relu; }

bool function_is_of_numbers(const float *reals)
{
    for (int i = 0; i < 256; i++)
        if (isnan(reals[i]))
            return false;
    return true;
}

/* ---- ranks ---- */

struct ranked {
    float number;
    int element;
    bool is_upper; /* of the operand that is asked to be the larger one */
};

/* By numbers; of equal ones the upper operand's first, which are above none of those. */
static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *first = a, *second = b;
    if (first->number != second->number)
        return first->number < second->number ? -1 : 1;
    return (int)second->is_upper - (int)first->is_upper;
}

/* Where an upper number follows lower ones the rank rises: 256 times at most, and so often only where the first number is a
 * lower one; then no upper rank is 0, and all are one less. */
int function_order(const float *upper, const float *lower, uint8_t *upper_bytes, uint8_t *lower_bytes)
{
    struct ranked all[512];
    for (int i = 0; i < 256; i++) {
        all[2 * i] = (struct ranked){upper[i], i, true};
        all[2 * i + 1] = (struct ranked){lower[i], i, false};
    }
    qsort(all, 512, sizeof *all, compare_ranked);
    const int less = all[0].is_upper ? 0 : 1;
    bool is_behind_lower = false;
    for (int i = 0, rank = 0; i < 512; i++) {
        rank += all[i].is_upper && is_behind_lower;
        is_behind_lower = !all[i].is_upper;
        (all[i].is_upper ? upper_bytes : lower_bytes)[all[i].element] =
            (uint8_t)(all[i].is_upper ? rank - less : 255 - rank);
    }
    return less - 255;
}
