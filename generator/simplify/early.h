/* Parts that are taken early: where a slice or a gather reads a part of a tensor, the layers in front compute only that.
 *
 * A copy that takes a part goes in front of the layer that computes what it reads: as it is, in front of a layer that
 * computes each element from the same element of its inputs; as rows and columns, in front of one that computes each pixel
 * from one pixel (1x1 convolutions, norms, softmax, the rows of a matrix product), or, with the lines that border on it, in
 * front of one with a window, if that is less work. So it goes on until it meets the network's input, or a layer that needs
 * all. Of a convolution whose channels are read by several copies, as those of
 * query, key and value are, one that reads few pixels gets its channels from a convolution of its own; so does one that
 * reads some channels of all pixels, if the convolution has one tap.
 */
#ifndef DORYGEN_EARLY_H
#define DORYGEN_EARLY_H

#include "base/support.h"
#include "network/network.h"

/* About what a network takes, in elements that a core moves: a layer as such is worth thousands. */
enum { EARLY_WORK_OF_LAYER = 4096, EARLY_MACS_OF_ELEMENT = 8 };

/* Whether anything moved. Layers and tensors that nobody reads any more are left without a reader. `computes_unread`: only
 * what computes as much as before, which is convolutions of their own for readers of all pixels. */
bool simplify_take_early(struct network *network, bool computes_unread, struct arena *arena);

/* Joins convolutions of one input and one window where kernels then compute fewer channels that nobody has. Whether any
 * were. siblings.c; concatenated.c has those whose results a concatenation joins. */
bool simplify_join_siblings(struct network *network, struct arena *arena);

/* A convolution with some of its output channels, in this order; its tensors are the caller's. early_parts.c. */
struct layer simplify_some_channels(const struct network *network, const struct layer *layer, const int *channels, int count,
                                    struct arena *arena);

/* Has a convolution or a pool more than one line in its window, or a border? */
bool simplify_has_window(const struct layer *layer, enum pixel_axis axis);

/* Lines of the input, of `extent`, that a window needs for the lines from `first` to `last` of the output, and its border
 * before and after these. No line is between first and end where the window has nothing but border. */
struct window_lines {
    int first, end, before, after;
};
struct window_lines simplify_window_lines(const struct layer *layer, enum pixel_axis axis, int extent, int first, int last);

#endif
