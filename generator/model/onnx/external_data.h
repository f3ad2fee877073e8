/* Constants that a model keeps in another file beside it, as PyTorch's exports do. */
#ifndef DORYGEN_EXTERNAL_DATA_H
#define DORYGEN_EXTERNAL_DATA_H

#include "base/support.h"
#include "onnx/onnx.pb-c.h"

/* The bytes of the tensor, `wanted` of them, from a file in `folder`; null after an error was reported. The file's name
 * comes from the model: it cannot leave the folder. `left` is what may still be read for this model. */
const unsigned char *external_data_read(const Onnx__TensorProto *source, const char *name, const char *folder, size_t wanted,
                                        size_t *left, struct arena *arena, struct diagnostics *diagnostics);

#endif
