/* The sources that a network needs to run without anything of dory beside it. */
#ifndef DORYGEN_EXPORT_SOURCES_H
#define DORYGEN_EXPORT_SOURCES_H

#include "base/outputs.h"

/* Adds the network's own sources, `own`, as src/FILE, and as src/dory/FILE those of dory that they and one another use: of
 * kernels/, hal/include/, hal/common/ and hal/alone/ in the folder `share`, no other. All names of dory get `name` in front,
 * and all includes are relative to the including file, so that no compiler needs a path. False after an error was reported.
 */
bool export_sources(const char *share, const char *name, const struct outputs *own, struct outputs *outputs,
                    struct arena *arena, struct diagnostics *diagnostics);

#endif
