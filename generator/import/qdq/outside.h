/* What the model does with its inputs in front of their QuantizeLinear, and how that rounds them. */
#ifndef DORYGEN_QDQ_OUTSIDE_H
#define DORYGEN_QDQ_OUTSIDE_H

#include "import/qdq/qdq.h"

/* ---- outside.c ---- */

/* False where the input was quantised behind other arithmetic already. */
bool qdq_outside_agrees(struct qdq *qdq, const struct qdq_outside *outside, int tensor);
/* Another step in front of the first QuantizeLinear, with numbers for all elements or one a channel. */
void qdq_outside_step(struct qdq *qdq, struct qdq_value *value, enum real_operation operation, const float *numbers,
                      int count);
/* Arithmetic of a value in front with a constant. */
void qdq_outside_constant(struct qdq *qdq, struct qdq_value *value, enum real_operation operation,
                          const struct qdq_array *array);
/* Arithmetic of the model in front of its first QuantizeLinear becomes part of the input's scale and zero point where that
 * is exact; else a note leaves it to the application. */
enum qdq_outcome qdq_fold_outside(struct qdq *qdq, const struct node *node, const struct qdq_outside *outside, int tensor);
void qdq_apply_folds(struct qdq *qdq);

/* ---- input_parts.c: inputs whose parts the model quantises by themselves, as time steps of an unrolled network ---- */

/* The node quantises elements of an input that are copied to this tensor, or all of an input. Fails where one of them is
 * quantised in another way, or in another type than others. */
enum qdq_outcome qdq_claim_input(struct qdq *qdq, const struct node *node, int tensor,
                                 const struct quantisation *quantisation);
void qdq_set_parts(struct qdq *qdq); /* of all inputs, once all are claimed; reports inputs of too many parts */
/* What the tensor is, or was copied from. */
int qdq_origin(const struct qdq *qdq, int tensor);

#endif
