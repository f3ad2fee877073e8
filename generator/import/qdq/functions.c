#include "import/qdq/functions.h"

#include <math.h>
#include <string.h>

static double hard_sigmoid_of(float x, float alpha, float beta)
{
    float y = alpha * x + beta;
    return y < 0 ? 0 : y > 1 ? 1 : (double)y;
}

static double relu(double x, struct qdq_parameters p) { return (void)p, x > 0 ? x : 0; }
static double leaky_relu(double x, struct qdq_parameters p) { return x >= 0 ? x : (double)((float)p.alpha * (float)x); }
static double sigmoid(double x, struct qdq_parameters p) { return (void)p, 1 / (1 + exp(-x)); }
static double hyperbolic_tangent(double x, struct qdq_parameters p) { return (void)p, tanh(x); }
static double hard_sigmoid(double x, struct qdq_parameters p)
{
    return hard_sigmoid_of((float)x, (float)p.alpha, (float)p.beta);
}
static double hard_swish(double x, struct qdq_parameters p)
{
    (void)p;
    return (double)((float)x * (float)hard_sigmoid_of((float)x, 1.0F / 6, 0.5F));
}
static double elu(double x, struct qdq_parameters p) { return x >= 0 ? x : p.alpha * expm1(x); }
static double selu(double x, struct qdq_parameters p) { return p.beta * (x > 0 ? x : p.alpha * expm1(x)); }
static double softplus(double x, struct qdq_parameters p) { return (void)p, x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }
static double softsign(double x, struct qdq_parameters p) { return (void)p, x / (1 + fabs(x)); }
static double mish(double x, struct qdq_parameters p) { return x * tanh(softplus(x, p)); }
static double swish(double x, struct qdq_parameters p) { return x / (1 + exp(-p.alpha * x)); }
static double gelu(double x, struct qdq_parameters p) { return (void)p, 0.5 * x * (1 + erf(x / sqrt(2.0))); }
static double gelu_by_tanh(double x, struct qdq_parameters p)
{
    (void)p;
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}
static double error_function(double x, struct qdq_parameters p) { return (void)p, erf(x); }
static double exponential(double x, struct qdq_parameters p) { return (void)p, exp(x); }
static double logarithm(double x, struct qdq_parameters p) { return (void)p, log(x); }
static double square_root(double x, struct qdq_parameters p) { return (void)p, sqrt(x); }
static double magnitude(double x, struct qdq_parameters p) { return (void)p, fabs(x); }
static double negated(double x, struct qdq_parameters p) { return (void)p, -x; }
static double reciprocal(double x, struct qdq_parameters p) { return (void)p, 1 / x; }
static double rounded_down(double x, struct qdq_parameters p) { return (void)p, floor(x); }
static double rounded_up(double x, struct qdq_parameters p) { return (void)p, ceil(x); }
static double rounded_evenly(double x, struct qdq_parameters p) { return (void)p, rint(x); }

static const struct {
    const char *type;
    qdq_function *function;
    struct qdq_parameters otherwise; /* alpha and beta where the node does not say */
} functions[] = {
    {"Abs", magnitude, {0, 0}},
    {"Ceil", rounded_up, {0, 0}},
    {"Elu", elu, {1, 0}},
    {"Erf", error_function, {0, 0}},
    {"Exp", exponential, {0, 0}},
    {"Floor", rounded_down, {0, 0}},
    {"Gelu", gelu, {0, 0}},
    {"HardSigmoid", hard_sigmoid, {(double)0.2F, 0.5}},
    {"HardSwish", hard_swish, {0, 0}},
    {"LeakyRelu", leaky_relu, {(double)0.01F, 0}},
    {"Log", logarithm, {0, 0}},
    {"Mish", mish, {0, 0}},
    {"Neg", negated, {0, 0}},
    {"QuickGelu", swish, {(double)1.702F, 0}},
    {"Reciprocal", reciprocal, {0, 0}},
    {"Relu", relu, {0, 0}},
    {"Round", rounded_evenly, {0, 0}},
    {"Selu", selu, {(double)1.67326319217681884765625F, (double)1.05070102214813232421875F}},
    {"Sigmoid", sigmoid, {0, 0}},
    {"Softplus", softplus, {0, 0}},
    {"Softsign", softsign, {0, 0}},
    {"Sqrt", square_root, {0, 0}},
    {"Swish", swish, {1, 0}},
    {"Tanh", hyperbolic_tangent, {0, 0}},
};

qdq_function *qdq_find_function(struct qdq *qdq, const struct node *node, struct qdq_parameters *parameters)
{
    const struct attribute *approximate = node_attribute(node, "approximate");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].type, node->type) != 0)
            continue;
        parameters->alpha = qdq_number(qdq, node, "alpha", functions[i].otherwise.alpha);
        parameters->beta = qdq_number(qdq, node, "beta", functions[i].otherwise.beta);
        if (functions[i].function == selu)
            parameters->beta = qdq_number(qdq, node, "gamma", functions[i].otherwise.beta);
        bool by_tanh = approximate && approximate->kind == ATTRIBUTE_TEXT && !strcmp(approximate->text, "tanh");
        return functions[i].function == gelu && by_tanh ? gelu_by_tanh : functions[i].function;
    }
    return NULL;
}

bool qdq_is_relu(qdq_function *function) { return function == relu; }
