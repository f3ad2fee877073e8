/* What the files of this folder share. */
#ifndef DORY_GAP8_INTERNAL_H
#define DORY_GAP8_INTERNAL_H

#include "dory/gap8_registers.h"
#include "dory/hal.h"

/* Parameters of the build. */
#ifndef DORY_FLASH_OFFSET
#define DORY_FLASH_OFFSET 0x100000u
#endif
#ifndef DORY_FLASH_BYTES
#define DORY_FLASH_BYTES 0x4000000u /* GAPuino: 512 Mbit */
#endif
#ifndef DORY_RAM_BYTES
#define DORY_RAM_BYTES 0x800000u /* GAPuino: 64 Mbit */
#endif
#ifndef DORY_HYPER_BURST_BYTES
#define DORY_HYPER_BURST_BYTES 16384u
#endif
#ifndef DORY_HYPER_QUEUE_DEPTH
#define DORY_HYPER_QUEUE_DEPTH 2u
#endif

static_assert(DORY_HYPER_BURST_BYTES % 4 == 0 && DORY_HYPER_BURST_BYTES >= 4 && DORY_HYPER_BURST_BYTES <= 0x10000,
              "a HyperBus burst has 4 to 65536 bytes, in words");
static_assert(DORY_HYPER_QUEUE_DEPTH == 1 || DORY_HYPER_QUEUE_DEPTH == 2, "the uDMA holds one or two transfers a channel");
static_assert(DORY_FLASH_OFFSET % 8 == 0 && DORY_FLASH_OFFSET < DORY_FLASH_BYTES, "the data area lies in the flash");

/* Memory of the FC: one cycle for it, no power needed of the cluster. */
#define GAP8_FC_MEMORY __attribute__((section(".fc_tcdm")))
#define GAP8_L1_SHARED __attribute__((section(".gap8_team")))

/* Software events to the FC, which has an event unit of its own. */
enum { GAP8_FC_EVENT_CLUSTER_DONE = 0, GAP8_FC_EVENT_L3_POSTED = 1, GAP8_FC_EVENT_MEETING = 2, GAP8_FC_EVENT_NOTICE = 3 };

/* All that who leads a run may wait for. */
#define GAP8_EVENTS_OF_A_RUN                                                                                                \
    (1u << GAP8_FC_EVENT_CLUSTER_DONE | 1u << GAP8_FC_EVENT_L3_POSTED | 1u << GAP8_FC_EVENT_MEETING |                       \
     1u << GAP8_FC_EVENT_NOTICE | 1u << GAP8_FC_EVENT_TIMER_HIGH | 1u << GAP8_FC_EVENT_HYPER_READ |                         \
     1u << GAP8_FC_EVENT_HYPER_WRITE)

/* At the end of each stack, and a part of its bytes. */
#define GAP8_STACK_GUARD_BYTES 128u

/* Symbols of gap8.ld. */
extern uint8_t __l1_free_start[], __l1_free_end[], __l2_free_start[], __l2_free_end[];
extern uint8_t __core_stacks_end[], __core_stack_bytes[];
extern uint8_t __fc_stack_start[], __fc_stack_end[];
extern const uint8_t __flash_data_start[], __flash_data_end[];
extern uint8_t gap8_vectors[];

/* boot.c */
void gap8_exit(int status) __attribute__((noreturn));

/* cluster.c */
int gap8_check_run(void (*entry)(void *argument)); /* may it begin now? */
void gap8_begin_drive(void (*entry)(void *argument), void *argument);
int gap8_finish_run(void);
int gap8_cores_have_met(void); /* are they waiting for the driver, or through? */

/* beside.c: a driver that the application has started */
struct gap8_beside {
    uint32_t is_busy;   /* from the start until the end has been reported */
    uint32_t is_inside; /* the driver is at work, rather than the application */
    uint32_t is_waited; /* the application does nothing but wait for it */
    uint32_t awaited;   /* events that it waits for */
    uint32_t since;     /* it has been at work; cycles */
    uint32_t is_by_interrupt;
};
extern struct gap8_beside gap8_beside;
void gap8_beside_yield(uint32_t event_mask); /* driver: the application may go on until one of them */
void gap8_beside_pause(void);                /* driver: if it has been at work for long, the application, which has waited */

/* FC. Is the caller the application, and a driver beside it? Inline: a call costs lines of the FC's cache. */
static inline int gap8_beside_refuses(void) { return gap8_beside.is_busy && !gap8_beside.is_inside; }

/* stack.c */
void gap8_stack_watch(const void *start, const void *end); /* where sp is to be from now on */
void gap8_stack_prepare_own(void);                         /* paints all that is not in use */
int gap8_stack_core_is_sound(unsigned core);
int gap8_stacks_check(unsigned cores); /* FC; 0 or DORY_ERROR_STACK, after it named them in the log */

/* clocks.c */
int gap8_set_configured_clocks(void); /* 0, or a status after it named the clock in the log */

/* l3.c, all for the FC */
void gap8_l3_enter_cluster(void); /* the cluster's cores may start transfers from here ... */
void gap8_l3_leave_cluster(void); /* ... to here */
void gap8_l3_serve(void);         /* moves the queue on as far as it goes without waiting */

/* The FC sleeps until one of the events of the mask, and takes those; or, where that is a driver beside the application,
 * lets it go on until then. There may be other reasons to return, too. */
static inline void gap8_fc_sleep_until(uint32_t event_mask)
{
    if (gap8_beside.is_inside) {
        gap8_beside_yield(event_mask);
        return;
    }
    GAP8_FC_EVENTS->mask = event_mask;
    gap8_event_load(&GAP8_FC_EVENTS->wait_clear);
    GAP8_FC_EVENTS->mask = 0;
}

#endif
