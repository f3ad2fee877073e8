/* Constant weights of sums of products, and their biases. */
#ifndef DORYGEN_QDQ_WEIGHTS_H
#define DORYGEN_QDQ_WEIGHTS_H

#include "import/qdq/operators/handlers.h"

/* Where the weights of dory's layer, [output][rest], stand in the model's array. */
struct weight_order {
    const struct qdq_array *array;
    size_t outputs, each;
    size_t *from;
};

/* `from` is to be filled. */
struct weight_order qdq_weight_order(struct qdq *qdq, const struct qdq_array *array, size_t outputs, size_t each);

/* They are constant integers of 8 bits or less, behind a DequantizeLinear. */
enum qdq_outcome qdq_check_weights(struct qdq *qdq, const struct node *node, const struct qdq_value *value);

/* Products times alpha and a bias times beta: the constants of such a sum need not be whole numbers of its units. */
enum qdq_outcome qdq_scale_sums(struct qdq *qdq, const struct node *node, struct qdq_pending *pending, double alpha,
                                double beta, const struct qdq_value *bias);

/* Weights, the input's zero point and the bias, for a pending layer of which window and groups are set. */
enum qdq_outcome qdq_finish_products(struct qdq *qdq, const struct node *node, struct qdq_pending *pending,
                                     const struct weight_order *order, const struct qdq_value *bias);

/* products.c: steps of the pixels where each has another number of channels. */
struct view qdq_with_channels(const struct view *view, int old, int channels);

/* stacks.c: a tensor times several matrices of 8 bits with scales of their own, which are factor number `matrices`: the
 * first one or the second. Dimensions in front go together by the rules of MatMul. */
enum qdq_outcome qdq_multiply_stack(struct qdq *qdq, const struct node *node, const struct qdq_value *factors, int matrices,
                                    struct qdq_value *result);

#endif
