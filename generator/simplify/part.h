/* The part of a tensor that copies read. Internal to the room. */
#ifndef DORYGEN_PART_H
#define DORYGEN_PART_H

#include "base/support.h"
#include "network/network.h"

enum { PART_ROWS, PART_COLUMNS, PART_CHANNELS, PART_DIMENSIONS };

struct part {
    int sizes[PART_DIMENSIONS];    /* of the tensor */
    int counts[PART_DIMENSIONS];   /* of the part */
    bool *needed[PART_DIMENSIONS]; /* by row, column and channel */
};

struct part part_of_nothing(const struct tensor *tensor, struct arena *arena);
void part_need(struct part *part, int dimension, int index);
void part_need_all(struct part *part, int dimension);
/* What a copy reads of the tensor. */
void part_need_copy(struct part *part, const struct network *network, const struct layer *copy);

/* The numbers of those needed, in their order. */
const int *part_list(const struct part *part, int dimension, struct arena *arena);

/* Copies without stages are all that reads the tensor. */
bool part_has_copies_only(const struct network *network, int tensor);

/* Copies of `readers`, by layer, that read a tensor read `made` instead, which is the part. False, and nothing is changed,
 * where one cannot. */
bool part_redirect(struct network *network, int tensor, const bool *readers, const struct part *part, int made,
                   struct arena *arena);

#endif
