/* The check pass's model of memory. Internal to check. */
#ifndef DORYGEN_CHECK_MEMORY_H
#define DORYGEN_CHECK_MEMORY_H

#include "plan/plan.h"

struct checker {
    const struct plan *plan;
    struct diagnostics *diagnostics;
    int faults;
};

/* Reports a fault of dory; only the first few are worth reading. */
void check_fault(struct checker *checker, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Plays steps and transfers against a model that knows of every byte of L2 and RAM what it holds, who is still to write it
 * and who is still reading it. Needs a plan whose addresses are within bounds. */
void check_memory(struct checker *checker);

/* finish/check_tiles.c: the same for tiles that have been placed. */
void check_tiles(struct checker *checker);

#endif
