/* What the files of this folder share. */
#ifndef DORY_PULP_INTERNAL_H
#define DORY_PULP_INTERNAL_H

#include "chip.h"

#include "dory/hal.h"
#include "dory/pulp_registers.h"

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
#define PULP_FC_MEMORY __attribute__((section(".fc_tcdm")))
#define PULP_L1_SHARED __attribute__((section(".pulp_team")))

/* Software events to the FC. */
enum { PULP_FC_EVENT_CLUSTER_DONE = 0, PULP_FC_EVENT_L3_POSTED = 1, PULP_FC_EVENT_MEETING = 2, PULP_FC_EVENT_NOTICE = 3 };

/* All that who leads a run may wait for. */
#define PULP_EVENTS_OF_A_RUN                                                                                                \
    (1u << PULP_FC_EVENT_CLUSTER_DONE | 1u << PULP_FC_EVENT_L3_POSTED | 1u << PULP_FC_EVENT_MEETING |                       \
     1u << PULP_FC_EVENT_NOTICE | 1u << CHIP_EVENT_TIMER_HIGH | CHIP_EVENTS_OF_L3)

/* At the end of each stack, and a part of its bytes. */
#define PULP_STACK_GUARD_BYTES 128u

/* Symbols of pulp.ld. */
extern uint8_t __l1_free_start[], __l1_free_end[], __l2_free_start[], __l2_free_end[];
extern uint8_t __core_stacks_end[], __core_stack_bytes[];
extern uint8_t __fc_stack_start[], __fc_stack_end[];
extern const uint8_t __flash_data_start[], __flash_data_end[];
extern uint8_t pulp_vectors[];

/* boot.c */
void pulp_exit(int status) __attribute__((noreturn));

/* cluster.c */
int pulp_check_run(void (*entry)(void *argument)); /* may it begin now? */
void pulp_begin_drive(void (*entry)(void *argument), void *argument);
int pulp_finish_run(void);
int pulp_cores_have_met(void); /* are they waiting for the driver, or through? */

/* beside.c: a driver that the application has started */
struct pulp_beside {
    uint32_t is_busy;   /* from the start until the end has been reported */
    uint32_t is_inside; /* the driver is at work, rather than the application */
    uint32_t is_waited; /* the application does nothing but wait for it */
    uint32_t awaited;   /* events that it waits for */
    uint32_t since;     /* it has been at work; cycles */
    uint32_t is_by_interrupt;
};
extern struct pulp_beside pulp_beside;
void pulp_beside_yield(uint32_t event_mask); /* driver: the application may go on until one of them */
void pulp_beside_pause(void);                /* driver: if it has been at work for long, the application, which has waited */

/* FC. Is the caller the application, and a driver beside it? Inline: a call costs lines of the FC's cache. */
static inline int pulp_beside_refuses(void) { return pulp_beside.is_busy && !pulp_beside.is_inside; }

/* stack.c */
void pulp_stack_watch(const void *start, const void *end); /* where sp is to be from now on */
void pulp_stack_prepare_own(void);                         /* paints all that is not in use */
int pulp_stack_core_is_sound(unsigned core);
int pulp_stacks_check(unsigned cores); /* FC; 0 or DORY_ERROR_STACK, after it named them in the log */

/* l3.c, all for the FC */
void pulp_l3_enter_cluster(void); /* the cluster's cores may start transfers from here ... */
void pulp_l3_leave_cluster(void); /* ... to here */
void pulp_l3_serve(void);         /* moves the queue on as far as it goes without waiting */

/* The FC sleeps until one of the events of the mask, and takes those; or, where that is a driver beside the application,
 * lets it go on until then. There may be other reasons to return, too. */
static inline void pulp_fc_sleep_until(uint32_t event_mask)
{
    if (pulp_beside.is_inside) {
        pulp_beside_yield(event_mask);
        return;
    }
    chip_await_events(event_mask);
}

#endif
