/* Changes to a network's lists of layers and tensors, for passes over whole networks. */
#ifndef DORYGEN_EDIT_H
#define DORYGEN_EDIT_H

#include "base/support.h"
#include "network/network.h"

/* The copy that computes a tensor; null: it is none, or one with stages. */
struct layer *edit_copy_of(const struct network *network, int tensor);

/* Layers that read `old` read the other one. */
void edit_replace(const struct network *network, int old, int tensor);

/* The number of a new tensor like this one, without what inputs and outputs of the model alone have. */
int edit_add_tensor(struct network *network, const struct tensor *tensor, struct arena *arena);

/* In place of layer `at`, in front of it, or without it. Tensors know their producers behind each of these. */
void edit_set_layer(struct network *network, int at, const struct layer *layer);
void edit_insert_layer(struct network *network, int at, const struct layer *layer, struct arena *arena);

void edit_remove_layer(struct network *network, int at);

/* Layers whose output nobody reads are gone. */
void edit_drop_unread(struct network *network);

#endif
