/* What NAME.h and NAME.c have in common. Internal to emit. */
#ifndef DORYGEN_EMIT_HEADER_H
#define DORYGEN_EMIT_HEADER_H

#include "base/text.h"
#include "emit/emit.h"

/* The comment at the top of a generated file. */
void emit_title(struct text *text, const struct emission *emission, const char *what);

/* True where a run has arrays of inputs and outputs. */
bool emit_has_several(const struct emission *emission);

/* The parameters of NAME_run behind its buffers. */
const char *emit_run_parameters(const struct emission *emission, struct arena *arena);

/* Adds all of NAME.h. */
void emit_header(struct text *text, const struct emission *emission, struct arena *arena);

#endif
