/* The folder of a check: what is misspelt or absent in it must not end in a comparison with something else. */
#ifndef DORYGEN_EXPECTED_FOLDER_H
#define DORYGEN_EXPECTED_FOLDER_H

#include "values/expected.h"

/* False after an error. A null folder is none that was asked for. */
bool expected_folder_is_there(const char *folder, struct diagnostics *diagnostics);

/* After the check was made: false after an error where none of the folder's files was used; a warning names files that look
 * as if they were a check's, and were not. */
bool expected_folder_was_read(const struct network *network, const struct expected_options *options,
                              const struct expected *expected, struct arena *arena, struct diagnostics *diagnostics);

#endif
