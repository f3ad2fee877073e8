/* Options of operators, each of which has a table of its own in the file. */
#ifndef DORYGEN_TFLITE_OPTIONS_H
#define DORYGEN_TFLITE_OPTIONS_H

#include "model/tflite/flatbuffer.h"
#include "model/tflite/tflite.h"

/* `kind` is that of the table, 0 where the file does not say. Returns 0, or the kind that the operator's options are of. */
int tflite_read_options(struct flat_file *file, struct flat_table table, int kind, struct tflite_operator *operation);

#endif
