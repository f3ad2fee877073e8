/* Events of GAP8's peripherals for drivers. An application's own interrupts: dory/pulp_interrupts.h. */
#ifndef DORY_GAP8_INTERRUPTS_H
#define DORY_GAP8_INTERRUPTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A driver of a device may have the events of the SoC, line 27, for itself: it is called for each, without interrupts, with
 * the event's number. Null, as it is at first: they are the application's. */
extern void (*gap8_soc_event_handler)(uint32_t event);

#ifdef __cplusplus
}
#endif

#endif
