/* What is said of nodes that no layer computes. */
#ifndef DORYGEN_QDQ_ISLANDS_H
#define DORYGEN_QDQ_ISLANDS_H

#include "import/qdq/qdq.h"

#define QDQ_OF_INFINITE_MASK                                                                                                \
    " (as of a mask of minus infinity: write -20 in its place, e.g. masked_fill(mask, -20), and in place of "               \
    "is_causal=True attn_mask=torch.full((n, n), -20.0).triu(1))"
#define QDQ_OF_OUTSIDE_TRUTH                                                                                                \
    "selects by an input that is not quantised; supported: a mask of 0 and 1, which is multiplied, or added as "            \
    "-20 * (1 - mask) to the scores of attention"

/* Why no layer computes the node. Floating point between quantised tensors is only noted here: */
void qdq_report_island(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count);
/* All of it in one error, with what to do; nothing where there is none. */
void qdq_report_islands(const struct qdq *qdq, struct diagnostics *diagnostics);
/* A list of names for a message, one longer; null: none so far. It ends in "..." where it becomes too long. */
const char *qdq_add_to_list(struct qdq *qdq, const char *list, const char *name);

#endif
