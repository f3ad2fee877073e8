/* The handlers of ONNX's operators, and the moves of elements that several of them make. What a handler gets and returns:
 * qdq_handler in import/qdq/qdq.h.
 */
#ifndef DORY_IMPORT_QDQ_OPERATORS_HANDLERS_H
#define DORY_IMPORT_QDQ_OPERATORS_HANDLERS_H

#include "import/qdq/qdq.h"

qdq_handler qdq_layer_norm, qdq_instance_norm, qdq_group_norm, qdq_lp_norm; /* norms.c */

qdq_handler qdq_convolution, qdq_transposed_convolution;                                                 /* convolutions.c */
qdq_handler qdq_gemm, qdq_matrix_product;                                                                /* products.c */
qdq_handler qdq_einsum;                                                                                  /* einsum.c */
qdq_handler qdq_average_pool, qdq_maximum_pool, qdq_softmax;                                             /* pools.c */
qdq_handler qdq_reduce, qdq_global_average, qdq_global_maximum, qdq_arg_maximum;                         /* reductions.c */
qdq_handler qdq_unary, qdq_clip, qdq_binary;                                                             /* elements.c */
qdq_handler qdq_where;                                                                                   /* truths.c */
qdq_handler qdq_batch_normalization;                                                                     /* scales.c */
qdq_handler qdq_cast, qdq_identity, qdq_flatten, qdq_reshape, qdq_squeeze, qdq_unsqueeze, qdq_transpose; /* views.c */
qdq_handler qdq_sum_all;                                                                                 /* sums.c */
/* A copy with a border; the elements of it are `fill`. */
int qdq_lay_border(struct qdq *qdq, const char *name, int input, const int64_t before[2], const int64_t after[2], int fill);
struct middle_value qdq_placed(const struct qdq_value *value);
/* Moves in front of the first QuantizeLinear are those of what this makes of the input: each element by itself. */
bool qdq_can_move(const struct qdq_value *value);
enum qdq_outcome qdq_apply_move(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                const struct middle_move *move, int border, struct qdq_value *result);
/* The value becomes a copy of itself in this layout; see middle_lay. */
enum qdq_outcome qdq_lay(struct qdq *qdq, const struct node *node, const struct middle_move *move,
                         const struct layout *layout, int border, struct qdq_value *value);
qdq_handler qdq_concatenation;                                               /* concat.c */
qdq_handler qdq_pad, qdq_slice, qdq_split, qdq_tile, qdq_expand, qdq_blocks; /* moves.c */
qdq_handler qdq_gather, qdq_gather_nd, qdq_gather_elements;                  /* gathers.c */
qdq_handler qdq_resize;                                                      /* resize.c */

#endif
