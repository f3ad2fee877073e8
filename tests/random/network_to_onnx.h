/* Writes a random network as the ONNX file that NEMO would have made of it. */
#ifndef DORY_TEST_NETWORK_TO_ONNX_H
#define DORY_TEST_NETWORK_TO_ONNX_H

#include "base/support.h"
#include "network/network.h"
#include "onnx_builder.h"

/* First changes what NEMO has no form for: clips other than 0..255, constants that no float holds, signed multipliers of
 * sums; then network and file are the same. */
struct onnx_builder *network_to_onnx(struct network *network, struct arena *arena);

#endif
