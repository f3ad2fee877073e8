/* From a TFLite model to a network. */
#ifndef DORYGEN_TFLITE_NETWORK_H
#define DORYGEN_TFLITE_NETWORK_H

#include "import/load.h"
#include "model/tflite/tflite.h"

/* Null after errors were reported. */
struct network *tflite_import(const struct tflite_model *model, const char *name, const struct load_options *options,
                              struct arena *arena, struct diagnostics *diagnostics);

/* The operators, by the alphabet: what becomes of them, for people. */
struct tflite_description {
    const char *type, *becomes, *limits;
};
extern const int tflite_operator_count;
struct tflite_description tflite_describe_operator(int index, struct arena *arena);

#endif
