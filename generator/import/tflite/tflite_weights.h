/* Weights of convolutions and fully connected layers. */
#ifndef DORYGEN_TFLITE_WEIGHTS_H
#define DORYGEN_TFLITE_WEIGHTS_H

#include "import/tflite/tflite_import.h"

struct filter {
    const struct tflite_tensor *tensor;
    int outputs, height, width, inputs; /* inputs: of a group */
};

/* A weight minus its zero point, by its place in the model. */
int tflite_weight(const struct filter *filter, size_t index);

/* As layers have them, of weights in the network's order: [output][input][row][column]. False after a report. */
bool tflite_narrow_weights(struct tflite_importer *importer, const struct wide_weights *wide, int input,
                           struct narrow_weights *result);

#endif
