/* Variables of a TFLite model: what is read before it is assigned is a state, an input and an output of the model. */
#ifndef DORYGEN_TFLITE_VARIABLES_H
#define DORYGEN_TFLITE_VARIABLES_H

#include "model/tflite/tflite.h"

/* Takes the operators of variables out of the model. `first` are the subgraphs that give variables their first values.
 * False after an error was reported. */
bool tflite_resolve_variables(struct tflite_model *model, const struct tflite_model *first, int first_count,
                              struct arena *arena, struct diagnostics *diagnostics);

#endif
