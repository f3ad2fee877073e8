/* Tensors of an ONNX file as constants of a graph. */
#ifndef DORYGEN_ONNX_CONSTANT_H
#define DORYGEN_ONNX_CONSTANT_H

#include "base/name_table.h"
#include "model/graph.h"
#include "model/onnx/external_data.h"
#include "onnx/onnx.pb-c.h"

/* A file that is being read. */
struct reader {
    struct arena *arena;
    struct diagnostics *diagnostics;
    const Onnx__GraphProto *source;
    struct graph *graph;
    struct name_table *names;
    struct external_files files; /* that constants may lie in */
};

#define report(reader, node, attribute, ...) diagnose((reader)->diagnostics, SEVERITY_ERROR, node, attribute, __VA_ARGS__)

/* An element type by its number in the file, known or not. */
void onnx_constant_set_type(struct constant *constant, int32_t type);

/* Null after a report. A constant of a type that nobody can compute with is no fault until somebody uses it. */
const struct constant *onnx_constant_read(struct reader *reader, const Onnx__TensorProto *source, const char *name,
                                          const char *owner);

#endif
