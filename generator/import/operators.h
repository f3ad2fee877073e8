/* The operators of ONNX that there are, and advice about some that there are not. */
#ifndef DORYGEN_OPERATORS_H
#define DORYGEN_OPERATORS_H

#include "import/import.h"

struct operator
{
    const char *type;
    node_handler *import;
    const char *becomes, *limits; /* for people */
};

extern const struct operator operators[]; /* by the alphabet */
extern const int operator_count;

/* ONNX's own operators; of others those that quantisers export under a name of their own. */
bool operator_is_in_domain(const struct node *node);
/* The node is in a domain of QuantLib. */
bool operator_is_quantlib(const struct node *node);

/* Null: there is none. */
const struct operator* operator_find(const char *type);

struct operator_advice {
    const char *type;
    bool keeps_shape; /* the walk can go on behind it */
    const char *text;
};

extern const struct operator_advice operator_advices[];
extern const int operator_advice_count;

const struct operator_advice *operator_find_advice(const char *type);

#endif
