/* What every command with a model starts with: its file becomes a network whose ranges are proven. */
#ifndef DORYGEN_LOAD_MODEL_H
#define DORYGEN_LOAD_MODEL_H

#include "command/options.h"
#include "network/network.h"

/* The two steps of it, for a command that shows what each of them gives. */
struct network *model_import(const struct options *options, struct arena *arena, struct diagnostics *diagnostics);
bool model_prove(struct network *network, const struct options *options, struct arena *arena,
                 struct diagnostics *diagnostics);

/* A network whose slices and gathers came early, or as it was imported, where the firmware could not compute that. Part of
 * model_import. */
struct network *model_choose(struct network *network, const struct options *options, struct arena *arena);

/* For commands that plan: the proven network without its dead channels, or as it is, where it has none, where the options
 * ask for that, or where the firmware could not compute what would be left. */
struct network *model_shrink(struct network *network, const struct options *options, struct arena *arena);

/* Import and proof. Null after errors were reported. */
struct network *model_load(const struct options *options, struct arena *arena, struct diagnostics *diagnostics);

#endif
