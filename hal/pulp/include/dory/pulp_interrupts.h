/* Interrupts of an application on the FC. */
#ifndef DORY_PULP_INTERRUPTS_H
#define DORY_PULP_INTERRUPTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* FC, in an interrupt, on the stack of what was interrupted. An application that enables interrupts of its own (in the FC's
 * event controller; lines are its events) defines this; they are off while it runs. The lines of PULP_EVENTS_OF_A_RUN in the
 * HAL's internal.h (on GAP8 0 to 3, 11, 29, 30) are the HAL's while a run goes on by interrupts. The default ends the
 * program as a trap does. */
void pulp_application_interrupt(unsigned line);

/* FC. The longest time, in cycles of the cluster, that the driver which was started last kept the FC at once: in a handler,
 * or in a poll. The application's interrupts wait for so long. */
uint32_t pulp_driver_longest_cycles(void);

#ifdef __cplusplus
}
#endif

#endif
