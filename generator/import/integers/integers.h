/* Operators of networks of whole numbers, as Deeploy writes them, on values of the front end for QDQ. */
#ifndef DORYGEN_INTEGERS_H
#define DORYGEN_INTEGERS_H

#include "import/qdq/operators/handlers.h"

/* Bytes that stand for themselves. */
struct quantisation qdq_integer_bytes(bool is_signed);
/* The value that a tensor of them is. */
void qdq_give_integers(struct qdq *qdq, int tensor, const struct view *view, struct qdq_value *result);

/* An attribute, which may be a number of any type; false after a fault where there is none, or not from least to most. */
bool qdq_read_whole(struct qdq *qdq, const struct node *node, const char *name, int64_t least, int64_t most,
                    int64_t *number);
/* How many a result can have, 2 to 256; some files call it n_levels whatever its name is. */
bool qdq_read_levels(struct qdq *qdq, const struct node *node, const char *name, int64_t *levels);

/* What each element of a tensor of bytes, or a function of it, is. */
enum qdq_outcome qdq_whole_numbers(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                   int64_t numbers[256]);

#endif
