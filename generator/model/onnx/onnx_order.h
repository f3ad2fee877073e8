/* Nodes in an order in which each comes behind those that compute its inputs. ONNX asks for it; some tools do not keep to
 * it. */
#ifndef DORYGEN_ONNX_ORDER_H
#define DORYGEN_ONNX_ORDER_H

#include "model/graph.h"

/* That of the file as far as it goes. Nodes that compute each other's inputs stay out of order. */
void onnx_sort_nodes(struct graph *graph, struct arena *arena);

#endif
