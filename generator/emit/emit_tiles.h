#ifndef DORYGEN_EMIT_TILES_H
#define DORYGEN_EMIT_TILES_H

#include "base/text.h"
#include "plan/plan.h"

/* Appends `static const struct dory_prepared_tile tiles[]`, or nothing. */
void emit_tiles(struct text *text, const struct plan *plan);

#endif
