/* What the parts of the fake PMSIS have in common. */
#ifndef DORY_FAKE_PMSIS_H
#define DORY_FAKE_PMSIS_H

#include <stdbool.h>

#include "pmsis.h"

/* Stops the program where the condition does not hold: the real thing would not survive `what`. */
void require(bool condition, const char *what);

/* Hands an event to the fabric controller, behind those that it has. */
void push_event(pi_task_t *task);

#endif
