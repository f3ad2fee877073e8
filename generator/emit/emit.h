/* Pass `emit`: the sources of a network. They hold data only, the very structs that tests execute: see assemble.h. */
#ifndef DORYGEN_EMIT_H
#define DORYGEN_EMIT_H

#include "base/outputs.h"
#include "base/text.h"
#include "emit/assemble.h"
#include "values/expected.h"

struct emission {
    const char *name; /* of the network: an identifier of C */
    const struct plan *plan;
    const struct assembled *assembled;
    const bool *dumped; /* plan->network->layer_count: the firmware writes it to its log; null: nothing at all */
    bool is_exported;   /* it runs without a HAL of the application's, on one arena */
};

/* A C identifier that is no reserved word and is not reserved for the compiler. */
bool emit_is_identifier(const char *name);

/* Adds NAME.h, NAME.c, NAME_weights.bin and NAME_weights.S. */
void emit_network(const struct emission *emission, struct outputs *outputs, struct arena *arena);

/* The same of an exported network: NAME.h, which includes nothing of dory's but dory/quantise.h, and NAME.c. Weights are
 * linked, and NAME_weights.c is apart: it has no names of dory's. */
void emit_exported(const struct emission *emission, struct outputs *outputs, struct arena *arena);
const char *emit_exported_weights(const struct emission *emission, struct arena *arena);
uint32_t emit_exported_arena_bytes(const struct emission *emission); /* that the application gives it */

/* Adds NAME_check.c, NAME_check.bin and NAME_check.S. */
void emit_check(const struct emission *emission, const struct expected *expected, struct outputs *outputs,
                struct arena *arena);

/* The layers of a list such as "0,4-6", or "all". Null after an error was reported. */
const bool *emit_choose_dumped(const char *list, int layer_count, struct arena *arena, struct diagnostics *diagnostics);

/* The table for dory/dump.h, as NAME_dump. */
void emit_dump_table(struct text *text, const struct emission *emission);

/* Adds SYMBOL.bin with `count` bytes, and SYMBOL.S, which puts them into a section under that name; for weights and expected
 * values alike. `section`: DORY_FLASH_SECTION or DORY_LINKED_SECTION, of dory/flash_section.h. */
void emit_image(const char *section, const char *symbol, const void *bytes, size_t count, struct outputs *outputs,
                struct arena *arena);

/* `name` in capital letters, for macros. */
const char *emit_upper_case(const char *name, struct arena *arena);

#endif
