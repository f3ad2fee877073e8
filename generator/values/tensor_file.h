/* Files of the values of one tensor, by their ending:
 *
 *     .bin   raw bytes, little endian, in the model's own order (ONNX: NCHW, TFLite: NHWC) and type (int8: model_offset)
 *     .npy   integers likewise; or float32, float64: real values, which are quantised as the model does at its edge, and
 *            whole numbers where the model says no scale
 *     .npz   one such array, or those of all inputs
 *     else   text of integers in HWC order (values/text_tensor.h)
 *
 * In memory values are the network's elements in HWC order. */
#ifndef DORYGEN_TENSOR_FILE_H
#define DORYGEN_TENSOR_FILE_H

#include "base/array_file.h"
#include "base/support.h"
#include "network/network.h"

/* The values, each within the tensor's bounds; null after an error was reported. Fractions without a scale are one. */
int64_t *tensor_file_read(const char *path, const struct network *network, int tensor, struct arena *arena,
                          struct diagnostics *diagnostics);

/* Numbers `first`, first + 1 ... of an array. */
struct array_part {
    const struct array_file *array;
    size_t first;
    const char *path; /* of its file, for messages */
};

/* The part as the tensor's elements, likewise. */
int64_t *tensor_from_array(const struct array_part *part, const struct network *network, int tensor, struct arena *arena,
                           struct diagnostics *diagnostics);

/* How many numbers an array has for the tensor: one an element, or one a row that is looked up. */
size_t tensor_file_numbers(const struct tensor *tensor);

/* Writes to a temporary file first; `path` is whole or untouched. .npy has the model's integers. */
bool tensor_file_write(const char *path, const struct network *network, int tensor, const int64_t *values,
                       struct diagnostics *diagnostics);

#endif
