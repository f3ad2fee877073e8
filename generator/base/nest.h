/* An order of a tensor's elements as loops over them, found in lists of their positions. */
#ifndef DORYGEN_NEST_H
#define DORYGEN_NEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* The loops of positions that are sums of one of each list, of which the first is the outermost. False where they are no
 * loops that begin at 0, or too many. Steps are any: nest_places tells whether each element is there, once. */
bool nest_of_lists(struct nest *nest, const int32_t *const lists[], const int counts[], int count);

/* Sorts the loops by the input's order: `places[i]` is the loop that the input's dimension i is, counted from the innermost
 * one. False where they are not all of so many elements, each of them once. */
bool nest_places(const struct nest *nest, size_t elements, int places[NEST_MAXIMUM_LOOPS]);

#endif
