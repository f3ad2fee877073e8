/* Interrupts of an application on the FC. */
#ifndef DORY_GAP8_INTERRUPTS_H
#define DORY_GAP8_INTERRUPTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* FC, in an interrupt, on the stack of what was interrupted. An application that enables interrupts of its own (in the FC's
 * event unit; lines are its events) defines this; they are off while it runs. The lines of GAP8_FC_EVENT_... in the HAL's
 * internal.h (0 to 3, 29, 30) are the HAL's while a run goes on by interrupts. The default ends the program as a trap does.
 */
void gap8_application_interrupt(unsigned line);

/* A driver of a device may have the events of the SoC, line 27, for itself: it is called for each, without interrupts, with
 * the event's number. Null, as it is at first: they are the application's. */
extern void (*gap8_soc_event_handler)(uint32_t event);

/* FC. The longest time, in cycles of the cluster, that the driver which was started last kept the FC at once: in a handler,
 * or in a poll. The application's interrupts wait for so long. */
uint32_t gap8_driver_longest_cycles(void);

#ifdef __cplusplus
}
#endif

#endif
