/* A first look at the bytes of an ONNX file, before protobuf-c sees them. */
#ifndef DORYGEN_ONNX_SCAN_H
#define DORYGEN_ONNX_SCAN_H

#include "base/support.h"

/* True if the bytes are well-formed protobuf of a model. protobuf-c alone would not do for files of unknown origin: it
 * recurses as deep as the file says, merges a message that is given twice (quadratic time), and tells nothing of
 * what is wrong. */
bool onnx_scan(const unsigned char *bytes, size_t length, struct diagnostics *diagnostics);

#endif
