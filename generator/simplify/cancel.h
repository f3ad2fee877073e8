/* Copies that cancel each other: a transposition in front of a layer and one behind it, a border between the two. Whatever
 * the front end, they are layers of the network here, each of them a list of positions, so that two in a row are one.
 */
#ifndef DORYGEN_CANCEL_H
#define DORYGEN_CANCEL_H

#include "base/support.h"
#include "network/network.h"

/* Of a network before its ranges are proven. Copies are joined with those behind them, go past tables towards others, are
 * left out where they change nothing, as tables are, or are another copy, and become an order of weights in front of a layer
 * that reads all of its input. An input of channels, rows, columns that is only read the other way around is given as images
 * are (is_turned). What nobody reads any more is gone. Outputs of the network have the elements that they had. */
void simplify_cancel_copies(struct network *network, struct arena *arena);

/* Of that only what is between layers: borders and inputs stay as they are. */
void simplify_join_copies_between(struct network *network, struct arena *arena);

/* ---- position_lists.c ---- */

/* Positions in the first copy's input for `second`, which reads its output. False where they are no sum of a row's, a
 * column's and a channel's, or where both have borders, of different elements. */
bool simplify_join_copies(const struct network *network, const struct layer *first, const struct layer *second,
                          struct layer *joined, struct arena *arena);

/* Some of its elements are of the border. */
bool simplify_copy_has_border(const struct network *network, const struct layer *copy);

/* The firmware has a way for it that needs few elements at once: a window of the image, another order of dimensions, or
 * rows that are read about as they come. */
bool simplify_copy_is_plain(const struct network *network, const struct layer *copy);

/* Rows, columns and channels in front of those of the input, and behind them, and the copy without that border, which is of
 * `inside`. False where it has none, or not only around it. */
bool simplify_split_border(const struct network *network, const struct layer *copy, struct layer *inner,
                           struct layer *border, struct tensor *inside, struct arena *arena);

/* Channels, rows, columns of the input become rows, columns, channels, in a network of images. */
bool simplify_copy_turns_image(const struct network *network, const struct layer *copy);

/* The output has the input's elements in their places; in the same rows, columns and channels. */
bool simplify_copy_is_nothing(const struct network *network, const struct layer *copy);
/* All elements as they lie in memory; rows, columns and channels may be others. */
bool simplify_copy_only_reshapes(const struct network *network, const struct layer *copy);

/* Where in the input each element of the output comes from; null unless every element of the input is there once. */
const int32_t *simplify_copy_order(const struct network *network, const struct layer *copy, struct arena *arena);

/* Orders of more dimensions than the firmware turns in tiles become several copies, each of fewer; those that none between
 * them makes simpler stay. */
void simplify_split_orders(struct network *network, struct arena *arena);

#endif
