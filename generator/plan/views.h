/* Copies that only rearrange, as views of what they copy. */
#ifndef DORYGEN_VIEWS_H
#define DORYGEN_VIEWS_H

#include "base/support.h"
#include "network/network.h"

/* The network without the copies that move elements to where their readers can find them as well in the tensor that is
 * copied: their outputs are views (struct tensor_view). Tensors keep their numbers; `copied` of the result is the network
 * given. Null where there is no such copy. Behind the pass `shrink`. */
enum view_kinds {
    VIEWS_IN_A_ROW, /* of elements that follow each other */
    VIEWS_OF_HEADS, /* and factors of matrix products whose rows are behind one another in each pixel of the home */
    VIEW_KINDS
};
struct network *network_view(const struct network *network, enum view_kinds kinds, struct arena *arena);

/* Is the tensor a view, or another one a view of it? Then both are in L2. */
bool tensor_is_viewed(const struct network *network, int tensor);

/* Of a view, where it begins in its home, in bytes; 0 of other tensors. */
uint32_t view_first_byte(const struct tensor *tensor);

#endif
