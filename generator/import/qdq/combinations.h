/* Values that are made of several inputs: sums, products with functions, quotients, the larger of two. Most wait for the
 * QuantizeLinear that rounds them. Shapes and quantisations as in qdq.h.
 */
#ifndef DORYGEN_QDQ_COMBINATIONS_H
#define DORYGEN_QDQ_COMBINATIONS_H

#include "import/qdq/operators/handlers.h"

/* factors.c: x times, or divided by, a function of another tensor's elements. */
enum qdq_outcome qdq_multiply_by_function(struct qdq *qdq, const struct node *node, const struct qdq_value *x,
                                          const struct qdq_value *function, bool divides, struct qdq_value *result);

/* The same of a sum of tensors that nobody has rounded, as (x - mean) / sqrt(variance); QDQ_FLOAT where it has bounds, or
 * terms that are no tensors. */
enum qdq_outcome qdq_multiply_sum(struct qdq *qdq, const struct node *node, const struct qdq_value *sum,
                                  const struct qdq_value *function, bool divides, struct qdq_value *result);

/* division.c: the quotient that a QuantizeLinear rounds, of elements and a function of elements; QDQ_FLOAT where no layer
 * rounds each as float32 does. */
enum qdq_outcome qdq_divide(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                            struct qdq_value *result);

/* sums.c: each term added (signs null) or with its sign; all of them are divided. QDQ_FLOAT where one is none. */
struct qdq_sum {
    const int *signs;
    int divisor;
};
enum qdq_outcome qdq_sum(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                         const struct qdq_sum *sum, struct qdq_value *result);
/* 256 real numbers as whole ones of three bytes, each of which becomes a tensor: *least and the sum of what these stand
 * for. QDQ_FLOAT where one is no number. */
#define QDQ_SPLIT_BYTES 3
enum qdq_outcome qdq_split_reals(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                 struct qdq_value *parts, double *least);
void qdq_finish_sum(struct qdq *qdq, const struct qdq_pending *pending, const struct quantisation *quantisation,
                    const char *name, struct middle_value *result);
/* The same of whole numbers, whose sum this stage rounds; false where it is too large. */
bool qdq_finish_whole_sum(struct qdq *qdq, const struct qdq_pending *pending, const struct quantisation *quantisation,
                          const char *name, const struct stage *stage, struct middle_value *result);
/* The shape that values are repeated to by ONNX's rules; false where they do not go together. */
bool qdq_broadcast_shape(const struct qdq_value *values, int count, int *rank, int64_t *dimensions);
/* Values that go together, in one order in memory. That which was `lead` is as large as the result and becomes the first,
 * the first takes its place; others may be one pixel or channel, which layers repeat. */
enum qdq_outcome qdq_align_parts(struct qdq *qdq, const struct node *node, struct qdq_value *parts, int count, int *lead);
/* choices.c: Max and Min of several tensors, PRelu with a slope a channel: pending until their quantisation is known. */
enum qdq_outcome qdq_choose(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                            bool is_maximum, struct qdq_value *result);
/* A slope below zero of sums that nobody has rounded: the larger of them and of them times the slope, which both are
 * rounded to the result's scale; the smaller, where slopes exceed 1. */
enum qdq_outcome qdq_slope_sums(struct qdq *qdq, const struct node *node, const struct qdq_value *input,
                                const struct qdq_array *slopes, struct qdq_value *result);
/* Abs of sums that nobody has rounded: the larger of them and of them times -1. */
enum qdq_outcome qdq_distance(struct qdq *qdq, const struct node *node, const struct qdq_value *input,
                              struct qdq_value *result);
enum qdq_outcome qdq_slope(struct qdq *qdq, const struct node *node, const struct qdq_value *input,
                           const struct qdq_array *slopes, struct qdq_value *result);
/* A pending value of tensors whose quantisation is still to be known, with the view of the first; or with another one. */
void qdq_set_view(struct qdq_value *value, struct view view);
void qdq_pending_parts(struct qdq *qdq, const struct node *node, enum qdq_whole whole, const struct qdq_value *parts,
                       int count, int dimension, struct qdq_value *result);
#define QDQ_MOST_PARTS 128 /* that operators go over one by one: what a hostile model can multiply */
/* concat.c: parts one behind the other, each to be rounded as the whole is. */
void qdq_join(struct qdq *qdq, const struct node *node, const struct qdq_value *parts, int count, int dimension,
              struct qdq_value *result);
/* Concat of sums that different QuantizeLinears round, or other sums take in. */
enum qdq_outcome qdq_join_unrounded(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                    struct qdq_value *result);
/* They are, and no node behind has turned them. */
bool qdq_is_joined(const struct qdq_value *value);
bool qdq_has_elements(const struct qdq_value *value); /* in memory, as integers or with a function of theirs */
/* elements.c: real numbers, or what will be rounded, between bounds. */
void qdq_bound(struct qdq *qdq, struct qdq_value *value, double minimum, double maximum);
enum qdq_outcome qdq_finish_choice(struct qdq *qdq, const struct node *node, const struct qdq_pending *pending,
                                   const struct quantisation *quantisation, struct qdq_value *parts,
                                   struct middle_value *result);
enum qdq_outcome qdq_finish_parts(struct qdq *qdq, const struct node *node, const struct qdq_pending *pending,
                                  const struct quantisation *quantisation, struct qdq_value *parts,
                                  struct middle_value *result);
/* A part of the whole, as this quantisation rounds its real numbers. */
enum qdq_outcome qdq_quantise_reals(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                    const struct quantisation *quantisation, const char *name, struct qdq_value *result);

#endif
