/* Any network as an ONNX model of integers in Quantlab's manner: Conv and pools, Mul-Add-Div-Clip, Pad, Add, Concat. Read
 * back it may have other layers, but computes the same. */
#ifndef DORY_TEST_GRAPH_TO_ONNX_H
#define DORY_TEST_GRAPH_TO_ONNX_H

#include "base/support.h"
#include "network/network.h"
#include "onnx_builder.h"

struct onnx_builder *graph_to_onnx(const struct network *network, struct arena *arena);

#endif
