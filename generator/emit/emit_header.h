/* What the files of a network, and of one that is exported, have in common. Internal to emit. */
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

/* Is this tensor of the interface int8, as in the model, and 128 more, in uint8, where the network runs? */
bool emit_is_shifted(const struct emission *emission, const struct tensor *tensor);

/* What a header says of inputs, outputs and states: macros, and functions between real numbers and elements. */
void emit_interface(struct text *text, const struct emission *emission, const char *upper);

/* The includes that those functions need, or "". */
const char *emit_interface_include(const struct emission *emission, struct arena *arena);

/* Data of the network, as constants; the last one is NAME_network. */
void emit_data(struct text *text, const struct emission *emission);

/* Adds all of NAME.h. */
void emit_header(struct text *text, const struct emission *emission, struct arena *arena);

#endif
