/* Options from a file: JSON with the keys of the table, dory's own or the original's. */
#ifndef DORYGEN_CONFIGURATION_H
#define DORYGEN_CONFIGURATION_H

#include "command/options.h"

/* Sets what is not set yet from the file that --config names, or from MODEL.json beside the model, if that says that
 * it is meant: by the key "dory", or by an onnx_file that is the model. It may hold options of
 * other commands, so that one file does for all. False after an error was printed to stderr. */
bool configuration_read(struct options *options, struct arena *arena);

#endif
