/* Solved cuts of plans before. */
#ifndef DORYGEN_CUT_MEMORY_H
#define DORYGEN_CUT_MEMORY_H

#include "choose/cut.h"

/* What is known of cuts on such a target: one of `all`, which it is added to if need be. */
struct cut_memory *cut_memory_for(struct cut_memory **all, const struct target *target, struct arena *arena);

/* A solution of a plan before, or null. */
const struct cut *cut_memory_find(struct cut_memory *memory, const struct cut *cut);
void cut_memory_keep(struct cut_memory *memory, const struct cut *cut);

/* True where both cuts, of one layer, are tiled alike, whatever of them lies in RAM. */
bool cut_has_same_tiles(const struct cut *a, const struct cut *b);

#endif
