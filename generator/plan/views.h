/* Copies that only rearrange, as views of what they copy. */
#ifndef DORYGEN_VIEWS_H
#define DORYGEN_VIEWS_H

#include "base/support.h"
#include "dory/layer.h"
#include "network/network.h"

/* The network without the copies that move elements to where their readers can find them as well in the tensor that is
 * copied: their outputs are views (struct tensor_view); and without those that move what their producer can write there:
 * then their inputs are. Tensors keep their numbers; `copied` of the result is the network given. Null where there is no
 * such copy. Behind the pass `shrink`. */
enum view_kinds {
    VIEWS_IN_A_ROW,   /* of elements that follow each other */
    VIEWS_OF_HEADS,   /* and factors of matrix products whose rows are behind one another in each pixel of the home */
    VIEWS_OF_RESULTS, /* and results of matrix products that are written so */
    VIEWS_OF_PLANES,  /* and results of convolutions that are written in CHW */
    VIEW_KINDS
};
struct network *network_view(const struct network *network, enum view_kinds kinds, struct arena *arena);

/* Of a copy whose input, of the same kind of elements, its producer can write where the copy would move it: that input's
 * view of the output. */
bool view_of_result(const struct network *network, const struct layer *copy, enum view_kinds kinds,
                    struct tensor_view *view);

/* Of a view, how the layer writes it that computes it. */
enum dory_layout view_layout(const struct tensor *tensor);

/* Is the tensor a view, or another one a view of it? Then both are in L2. */
bool tensor_is_viewed(const struct network *network, int tensor);

/* Of a view, where it begins in its home, in bytes; 0 of other tensors. */
uint32_t view_first_byte(const struct tensor *tensor);

#endif
