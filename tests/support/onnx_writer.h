/* What all have in common who write a network as an ONNX file, in whatever manner: tensors by their names, windows, weights.
 */
#ifndef DORY_TEST_ONNX_WRITER_H
#define DORY_TEST_ONNX_WRITER_H

#include "base/support.h"
#include "network/network.h"
#include "onnx_builder.h"

struct onnx_writer {
    struct onnx_builder *builder;
    const struct network *network;
    struct arena *arena;
    int names; /* that have been made up so far */
};

#define NAME(writer, ...) arena_format((writer)->arena, __VA_ARGS__)

const struct tensor *tensor_at(const struct onnx_writer *writer, int tensor);
const char *tensor_name(const struct onnx_writer *writer, int tensor);

/* An input of the network. */
void write_input(const struct onnx_writer *writer, int tensor);

/* Kernel, strides and padding of a layer's window; 1-D layers have them along the width alone. */
void set_window(const struct onnx_writer *writer, onnx_node *node, const struct layer *layer, bool is_1d);

/* Weights as an initialiser of so many dimensions: 4; 3, along the width alone; 2, of a matrix product. */
void write_weights(const struct onnx_writer *writer, const struct layer *layer, const char *name, int dimensions);

/* Conv with its weights, from a value to a value. */
onnx_node *write_convolution_node(const struct onnx_writer *writer, const struct layer *layer, const char *value,
                                  const char *sum, bool is_1d);

#endif
