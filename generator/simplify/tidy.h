/* Networks as front ends make them node by node, without what the layers beside can do as well. */
#ifndef DORYGEN_TIDY_H
#define DORYGEN_TIDY_H

#include "base/support.h"
#include "network/network.h"

/* A table that only bounds (a Relu behind its own QuantizeLinear) goes into the clip of the layer in front, a table behind a
 * table into one, a maximum pool behind a rising table in front of it, a copy that only adds a border into the padding of
 * the convolutions that read it; of two operands that which is repeated comes second. Layers and tensors that nothing reads
 * any more are dropped. Every other tensor has the elements that it had. */
void network_tidy(struct network *network, struct arena *arena);

/* The network with its slices and gathers as early as they can be, sibling convolutions joined (early.h) and taps
 * side by side, whose `imported` is the network given; that itself where it would take no less. Inputs and outputs are the
 * same. `computes_unread`: what the model computes and nobody reads is computed, too. */
struct network *network_take_early(struct network *network, bool computes_unread, struct arena *arena);

/* dilations.c: grouped and depth-wise convolutions of a dilation become such without one, between copies. True where there
 * are some. */
bool network_join_taps(struct network *network, struct arena *arena);

/* order.c: layers that do not depend on a map of scores come in front of the product that makes it, so that it and those
 * up to the product that reads the map follow each other. */
void network_order(struct network *network, struct arena *arena);

/* one_element.c: additions and products whose operands are both made of one tensor by tables become tables of that; those in
 * between are left without a reader. */
void network_join_functions(struct network *network, struct arena *arena);

/* concatenated.c: convolutions with the same input and window, whose results a concatenation joins, become one layer; those
 * that were are left without a reader, for network_tidy. */
void network_join_siblings(struct network *network, struct arena *arena);

#endif
