/* How much memory the network gets, as the command line says it. */
#ifndef DORYGEN_MEMORY_OPTIONS_H
#define DORYGEN_MEMORY_OPTIONS_H

#include "command/options.h"
#include "solve/budget.h"

/* The target that the options name, at the clocks that they name. False after an error was reported. */
bool options_target(const struct options *options, struct target *target, struct arena *arena,
                    struct diagnostics *diagnostics);

/* The options of the command line, and what they say of memory. The L2 arena: --l2-bytes; else the target's L2 without what
 * the original's configuration reserves; else without the program --firmware (or what the target's description says of it)
 * and --application-bytes. False after an error was reported. */
bool budget_read(const struct options *options, const struct network *network, const struct target *target,
                 struct plan_options *plan, struct arena *arena, struct diagnostics *diagnostics);

/* To be called when there was no plan: says what the application's own buffers take of L2, where they were counted. */
void budget_explain(const struct options *options, const struct network *network, struct diagnostics *diagnostics);

#endif
