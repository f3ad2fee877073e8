/* An order of a tensor's elements as loops over them, for copies that turn a tensor (LAYER_COPY). */
#ifndef DORYGEN_NEST_H
#define DORYGEN_NEST_H

#include "network/network.h"

#define NEST_MAXIMUM_LOOPS 8
#define NEST_PLAIN_LOOPS   3 /* an order of so many is one that the firmware makes in tiles of any size */

struct nest_loop {
    int64_t size, step; /* in elements of the input */
};

/* The innermost loop first. One that goes on where the loop inside it ends is one with it, as long as the firmware's 16-bit
 * dimensions hold their size. */
struct nest {
    struct nest_loop loops[NEST_MAXIMUM_LOOPS];
    int count;
};

/* Adds the loops of a list of positions of a LAYER_COPY, around those that are there. False where the positions are no
 * loops that begin at 0 (borders, repeated or chosen elements), or too many. */
bool nest_add_list(struct nest *nest, const int32_t *positions, int count);

/* The loops of a map whose output is that tensor; false as above. */
bool nest_of_map(const struct layer_map *map, const struct tensor *output, struct nest *nest);

/* Sorts the loops by the input's order: `places[i]` is the loop that the input's dimension i is, counted from the innermost
 * one. False where they are not all of so many elements, each of them once. */
bool nest_places(const struct nest *nest, size_t elements, int places[NEST_MAXIMUM_LOOPS]);

#endif
