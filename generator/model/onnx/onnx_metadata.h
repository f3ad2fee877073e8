/* What a file says of its tensors beside the graph: PLiNIO writes the precision of each into metadata_props. */
#ifndef DORYGEN_ONNX_METADATA_H
#define DORYGEN_ONNX_METADATA_H

#include "model/onnx/onnx_constant.h"

/* Sets precision and sign of the values that metadata name; entries of other tools are passed over. */
void onnx_metadata_read(struct reader *reader, const Onnx__ModelProto *model);

#endif
