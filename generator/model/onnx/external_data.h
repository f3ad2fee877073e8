/* Constants that a model keeps in another file beside it, as PyTorch's exports do. */
#ifndef DORYGEN_EXTERNAL_DATA_H
#define DORYGEN_EXTERNAL_DATA_H

#include "base/support.h"
#include "onnx/onnx.pb-c.h"

struct external_files {
    const char *folder; /* of the model; null: there is none */
    size_t left;        /* bytes that may still be read for this model */
};

/* The bytes of the tensor, `wanted` of them, from a file in the folder; null after an error was reported. The file's name
 * comes from the model: it cannot leave the folder. */
const unsigned char *external_data_read(struct external_files *files, const Onnx__TensorProto *source, const char *name,
                                        size_t wanted, struct arena *arena, struct diagnostics *diagnostics);

#endif
