/* The engines that a target's description can name. */
#ifndef DORYGEN_ENGINES_H
#define DORYGEN_ENGINES_H

#include "base/support.h"
#include "dory/engine.h"

/* Null where no engine has that name. */
const struct dory_engine *engine_find(const char *name);

/* "xpulpv2, portable": all of them, for people. */
const char *engine_names(struct arena *arena);

#endif
