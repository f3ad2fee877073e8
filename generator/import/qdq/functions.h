/* Functions of one number, in float32 as onnxruntime computes them; transcendental ones are rounded from double. */
#ifndef DORYGEN_QDQ_FUNCTIONS_H
#define DORYGEN_QDQ_FUNCTIONS_H

#include "import/qdq/qdq.h"

struct qdq_parameters {
    double alpha, beta;
};

typedef double qdq_function(double x, struct qdq_parameters parameters);

/* Of an operator, with its attributes; null where it is none. */
qdq_function *qdq_find_function(struct qdq *qdq, const struct node *node, struct qdq_parameters *parameters);
bool qdq_is_relu(qdq_function *function);

#endif
