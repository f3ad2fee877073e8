/* The files that a run writes: collected first, written when the whole run has succeeded.
 *
 * All of them are written to temporaries beside their places and renamed only when the last one is whole, so that a run
 * that fails, or is killed, leaves the files of the run before. A file that would not change is left alone, time stamp
 * included, so that nothing is built anew for it. */
#ifndef DORYGEN_OUTPUTS_H
#define DORYGEN_OUTPUTS_H

#include "base/support.h"

#define MAXIMUM_OUTPUTS 256

struct output {
    const char *name; /* of the file, in the folder of all or in one below it */
    const void *bytes;
    size_t count;
};

struct outputs {
    struct output list[MAXIMUM_OUTPUTS];
    int count;
};

void outputs_add(struct outputs *outputs, const char *name, const void *bytes, size_t count);

/* Makes the folder where there is none. False after an error was reported; no file has changed then, unless the
 * renaming itself failed half-way. */
bool outputs_commit(const struct outputs *outputs, const char *folder, struct arena *arena, struct diagnostics *diagnostics);

/* The same for one file at any path. */
bool output_write_file(const char *path, const void *bytes, size_t count, struct arena *arena,
                       struct diagnostics *diagnostics);

#endif
