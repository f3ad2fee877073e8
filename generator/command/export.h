/* dory export: a network with all that it needs to run, as C and as packages of other build systems. */
#ifndef DORYGEN_COMMAND_EXPORT_H
#define DORYGEN_COMMAND_EXPORT_H

#include "command/options.h"
#include "emit/emit.h"

/* Can a network be exported so: name, folder, target. The target is changed to what an export has of it: one core, and no
 * memory but the arena and the program's constants. False after an error was reported. */
bool export_check(const struct options *options, struct target *target, struct arena *arena,
                  struct diagnostics *diagnostics);

/* Adds all files. False after an error was reported. */
bool export_add(const struct options *options, const struct emission *emission, struct outputs *outputs, struct arena *arena,
                struct diagnostics *diagnostics);

/* Says what has been written, what it takes of the memories, and how to go on. */
void export_print(const struct options *options, const struct emission *emission, const struct outputs *outputs);

#endif
