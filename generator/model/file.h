/* The bytes of a model's file, whatever its format. */
#ifndef DORYGEN_FILE_H
#define DORYGEN_FILE_H

#include "base/support.h"

/* To be freed; null after an error was reported. */
void *model_file_read(const char *path, size_t *length, struct diagnostics *diagnostics);

#endif
