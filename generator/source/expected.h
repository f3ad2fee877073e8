/* What a check compares with: the network's input and the output of every layer, from files where there are some, else from
 * the golden interpreter, as bytes in the order in which the firmware has them in memory. */
#ifndef DORYGEN_EXPECTED_H
#define DORYGEN_EXPECTED_H

#include "network.h"
#include "support.h"

struct expected_options {
    const char *folder;   /* with input.txt and out_layer<n>.txt; null: golden interpreter only */
    const char *input;    /* file of the input; null: the folder's, else numbers from a seed */
    unsigned input_count; /* above 1, files are those of the first input: input_0.txt and out_0_layer<n>.txt */
};

struct expected {
    uint8_t *image; /* each tensor starts at a multiple of 8 */
    uint32_t bytes;
    uint32_t input_offset;
    const char *input_source; /* for people; file names without folders */
    uint32_t *layer_offsets;  /* network->layer_count */
    const char **layer_sources;
    const char **files; /* that were read */
    int file_count;
    int layers_from_files;
};

/* After range_prove. False after an error was reported. A file that differs from the golden interpreter is a warning, and
 * what the file says is expected. */
bool expected_make(const struct network *network, const struct expected_options *options, struct expected *expected,
                   struct arena *arena, struct diagnostics *diagnostics);

/* Bytes of a tensor in memory: pixels start on whole bytes. */
size_t expected_tensor_bytes(const struct tensor *tensor);

/* Values in HWC order as the firmware has them in memory; false where one does not fit its element. */
bool expected_pack(const struct tensor *tensor, const int64_t *values, uint8_t *bytes);

#endif
