/* What a check compares with: the network's inputs and the output of every layer, from files where there are some, else from
 * the golden interpreter, as bytes in the order in which the firmware has them in memory. Several samples of the input make
 * as many images, one behind the other.
 *
 * Files of a folder: input.txt and out_layer<n>.txt; of several samples input_<i>.txt and out_<i>_layer<n>.txt. A network
 * with several inputs reads input_<name>.txt, by the name of each in the model. Of one sample the input may also be in
 * input.npy (and then outputs in output.npy or expected.npy), inputs.npz (outputs.npz), or PLiNIO's input_quantizer.txt
 * (output.txt, which lies beside input.txt, too). Or raw bytes in the model's own order and
 * type: input_<i>.bin and output_<i>.bin, the inputs and outputs of run i; of several, input_<i>_<k>.bin for the model's
 * k-th. */
#ifndef DORYGEN_EXPECTED_H
#define DORYGEN_EXPECTED_H

#include "base/support.h"
#include "network/network.h"

struct expected_options {
    const char *folder;    /* with input.txt and out_layer<n>.txt; null: golden interpreter only */
    const char *input;     /* file of the input; null: the folder's, else numbers from a seed */
    unsigned sample_count; /* 0: as many as the folder has files input_<i>.txt, else 1 */
};

struct expected {
    uint8_t *image;        /* each tensor starts at a multiple of 8 */
    uint32_t bytes;        /* sample_count * sample_bytes */
    uint32_t sample_bytes; /* of one sample: the offsets count from its start */
    unsigned sample_count;
    uint32_t *input_offsets;  /* network->input_count */
    const char *input_source; /* for people; file names without folders. Of several samples, the first one's */
    uint32_t *layer_offsets;  /* network->layer_count */
    const char **layer_sources;
    const char **files; /* that were read */
    int file_count;
    int layers_from_files;
};

/* After range_prove. Of a network with dead channels removed, files and the golden interpreter give the values of its
 * `whole`, of which the images have the channels that the network has. False after an error was reported. A file that
 * differs from the golden interpreter is a warning, and what the file says is expected. */
bool expected_make(const struct network *network, const struct expected_options *options, struct expected *expected,
                   struct arena *arena, struct diagnostics *diagnostics);

/* What an input that is a state has before the first run; null: it is none. */
int64_t *expected_first_state(const struct network *network, int input, struct arena *arena);

/* Bytes of a tensor in memory: pixels start on whole bytes. */
size_t expected_tensor_bytes(const struct tensor *tensor);

/* Values in HWC order as the firmware has them in memory; false where one does not fit its element. */
bool expected_pack(const struct tensor *tensor, const int64_t *values, uint8_t *bytes);

/* The other way round. */
void expected_unpack(const struct tensor *tensor, const uint8_t *bytes, int64_t *values);

/* Are all bytes there that an element lies in? `has` tells it by byte, elements count in HWC order. */
bool expected_has_element(const struct tensor *tensor, const bool *has, size_t element);

#endif
