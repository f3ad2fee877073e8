/* Text files of tensors: input.txt and out_layerN.txt, as NEMO's and Quantlab's users have them.
 *
 * A header line, `# name (shape [H, W, C]),`, then one value a line, `v,`, in HWC order. Files in the wild have no '#' or
 * two, decimals (`12.000`), a backslash at the end of lines, no newline at the end of the file, and headers whose shape is
 * wrong: only the number of values is trusted.
 */
#ifndef DORYGEN_TEXT_TENSOR_H
#define DORYGEN_TEXT_TENSOR_H

#include "base/support.h"
#include "network/network.h"

struct text_tensor {
    const char *name; /* of the header; null: there is none */
    int rank;         /* of the header's shape, of two dimensions at most; 0: it says none, or more of them */
    int64_t dimensions[2];
    int64_t *values;
    size_t count;
};

/* False after an error was reported: no such file, or a line that is no whole number. */
bool text_tensor_read(const char *path, struct text_tensor *tensor, struct arena *arena, struct diagnostics *diagnostics);

/* Writes to a temporary file first; `path` is whole or untouched. */
bool text_tensor_write(const char *path, const char *name, const struct tensor *shape, const int64_t *values,
                       struct diagnostics *diagnostics);

struct text_comparison {
    bool same_count;     /* else nothing else is set */
    bool channels_first; /* equal if the file is in CHW order (dscnn_test) */
    bool joined_bytes;   /* the file had the four bytes of each 32-bit value (MV1-128) */
    size_t compared, different;
    int row, column, channel; /* of the first that differs */
    int64_t expected, actual;
};

/* Compares values in HWC order with those of a file, whichever of the known forms it has. */
struct text_comparison text_tensor_compare(const struct text_tensor *expected, const struct tensor *shape,
                                           const int64_t *actual);

#endif
