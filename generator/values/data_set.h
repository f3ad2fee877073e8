/* Images with labels, to measure a network's accuracy on: a .npy file whose first dimension counts the images, or a folder
 * whose files, in the order of their names, hold one each (forms: values/tensor_file.h). Only for networks with one input.
 */
#ifndef DORYGEN_DATA_SET_H
#define DORYGEN_DATA_SET_H

#include "base/array_file.h"
#include "base/support.h"
#include "network/network.h"

struct data_set {
    const char *path;
    const struct network *network;
    size_t count;
    struct array_file array; /* of a .npy file */
    const char **files;      /* of a folder, else null */
    const int64_t *labels;   /* count of them */
};

/* False after an error was reported: no such file, images of another size, as many labels as images are not there, or a
 * label that is no class. Labels: a .npy file of integers, or text with one a line. */
bool data_set_open(struct data_set *set, const char *images, const char *labels, const struct network *network,
                   struct arena *arena, struct diagnostics *diagnostics);

/* The elements of an image, as the network's input has them; null after an error was reported. Threads may call it side by
 * side, each with its own arena and diagnostics. */
int64_t *data_set_image(const struct data_set *set, size_t index, struct arena *arena, struct diagnostics *diagnostics);

#endif
