/* Registers that chips of the PULP family share, as far as this HAL uses them: one struct a block, every offset checked at
 * compile time. What differs from chip to chip is in dory/pulp_chip.h, which each chip's folder has.
 *
 * Sources of the facts: GreenWaves' gap_sdk, rtos/pulp/gap_archi (archi/eu/eu_v3.h, archi/dma/mchan_v6.h, archi/udma,
 * archi/timer/timer_v2.h, archi/cluster_ctrl/cluster_ctrl_v2.h), and programs that tried them on gvsoc.
 */
#ifndef DORY_PULP_REGISTERS_H
#define DORY_PULP_REGISTERS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "dory/pulp_chip.h"

#define PULP_CHECK_OFFSET(type, member, offset)                                                                             \
    static_assert(offsetof(struct type, member) == (offset), #type "." #member " is not at " #offset)

/* ---- event units: one for the FC, one for the cluster ------------------------------------------------------ */

/* One core's view of its event unit, through its private port ("demux"). A core sleeps with p.elw from a `wait`
 * register until an event of its mask is pending; pending events stay in `buffer` until they are cleared. */
struct pulp_barrier {
    uint32_t trigger_mask; /* cores that have to come */
    uint32_t status;
    uint32_t status_summary;
    uint32_t target_mask; /* cores that get PULP_EVENT_BARRIER then */
    uint32_t trigger;
    uint32_t trigger_self;
    uint32_t trigger_wait;
    uint32_t trigger_wait_clear;
};

struct pulp_event_port {
    uint32_t mask;
    uint32_t mask_and; /* clears the bits that are written as 1 */
    uint32_t mask_or;
    uint32_t interrupt_mask;
    uint32_t interrupt_mask_and;
    uint32_t interrupt_mask_or;
    uint32_t status;
    uint32_t buffer;
    uint32_t buffer_masked;
    uint32_t buffer_interrupt_masked;
    uint32_t buffer_clear;
    uint32_t software_event_mask[3];
    uint32_t wait;
    uint32_t wait_clear;
    uint32_t reserved[48];
    uint32_t trigger[16]; /* software event n to the cores of the written mask */
    uint32_t reserved_wait[48];
    struct pulp_barrier barrier[16];
};
PULP_CHECK_OFFSET(pulp_event_port, buffer, 0x1C);
PULP_CHECK_OFFSET(pulp_event_port, buffer_clear, 0x28);
PULP_CHECK_OFFSET(pulp_event_port, wait, 0x38);
PULP_CHECK_OFFSET(pulp_event_port, wait_clear, 0x3C);
PULP_CHECK_OFFSET(pulp_event_port, trigger, 0x100);
PULP_CHECK_OFFSET(pulp_event_port, barrier, 0x200);
PULP_CHECK_OFFSET(pulp_barrier, target_mask, 0x0C);
PULP_CHECK_OFFSET(pulp_barrier, trigger_wait_clear, 0x1C);

/* The same unit as other masters see it: they can trigger software events. */
struct pulp_event_unit {
    uint32_t reserved[0x600 / 4];
    uint32_t trigger[16];
};
PULP_CHECK_OFFSET(pulp_event_unit, trigger, 0x600);

#define PULP_CLUSTER_EVENTS     ((volatile struct pulp_event_port *)0x10204000u)
#define PULP_CLUSTER_EVENT_UNIT ((volatile struct pulp_event_unit *)0x10200800u)

/* Event numbers of the cluster; 0 to 7 are free for software, on the FC too. */
#define PULP_EVENT_DMA     8
#define PULP_EVENT_BARRIER 16

/* ---- MCHAN, the cluster's DMA ------------------------------------------------------------------------------ */

struct pulp_mchan {
    uint32_t
        queue; /* read: allocates a counter; written: a command: PULP_MCHAN_ bits and size, L1 address, external address */
    uint32_t status; /* read: bit n = counter n busy, bit 16 + n = allocated; written: frees the counters of the mask */
};
PULP_CHECK_OFFSET(pulp_mchan, status, 0x04);
#define PULP_MCHAN    ((volatile struct pulp_mchan *)0x10204400u) /* a core's own port */
#define PULP_FC_MCHAN ((volatile struct pulp_mchan *)0x10201800u) /* the FC's */

/* ---- uDMA ---------------------------------------------------------------------------------------------------- */

struct pulp_udma_channel {
    uint32_t address; /* in L2 */
    uint32_t bytes;
    uint32_t control;
    uint32_t reserved;
};
#define PULP_UDMA_ENABLE  (1u << 4) /* written: queue a transfer; read: one is active */
#define PULP_UDMA_PENDING (1u << 5) /* read: a second one is queued */
#define PULP_UDMA_PAIRS   (1u << 1) /* written: the device delivers 16 bits at a time */
#define PULP_UDMA_CLEAR   (1u << 5) /* written: gives up what is queued */
#define PULP_UDMA_LIMIT   0x1FFFFu  /* bytes of a transfer */
#define PULP_UDMA_WORDS   (2u << 1) /* written: the device delivers 32 bits at a time */

/* ---- cluster, timers ----------------------------------------------------------------------------------------- */

struct pulp_cluster_control {
    uint32_t end_of_computation;
    uint32_t reserved_1;
    uint32_t fetch_enable; /* a bit per core */
    uint32_t reserved_2[13];
    uint32_t boot_address[16]; /* a core starts there, on GAP8 0x80 bytes behind it */
};
PULP_CHECK_OFFSET(pulp_cluster_control, fetch_enable, 0x08);
PULP_CHECK_OFFSET(pulp_cluster_control, boot_address, 0x40);
#define PULP_CLUSTER_CONTROL ((volatile struct pulp_cluster_control *)0x10200000u)

struct pulp_timer {
    uint32_t control_low;
    uint32_t control_high;
    uint32_t count_low;
    uint32_t count_high;
    uint32_t compare_low;
    uint32_t compare_high;
};
PULP_CHECK_OFFSET(pulp_timer, count_low, 0x08);
#define PULP_CLUSTER_TIMER ((volatile struct pulp_timer *)0x10200400u)
#define PULP_TIMER_ENABLE  1u
#define PULP_TIMER_RESET   2u
#define PULP_TIMER_EVENT   (1u << 2) /* when it has counted to `compare` */
#define PULP_TIMER_ONCE    (1u << 5) /* and then it stands */

#define PULP_CLUSTER_CACHE ((volatile uint32_t *)0x10201400u) /* instruction caches; all ones: enabled */

/* ---- instructions ------------------------------------------------------------------------------------------ */

static inline __attribute__((always_inline)) uint32_t pulp_hart(void)
{
    uint32_t hart;
    __asm__("csrr %0, 0xF14" : "=r"(hart));
    return hart;
}

static inline int pulp_is_fc(void) { return pulp_hart() >> 5 == PULP_FC_CLUSTER_NUMBER; }

#define PULP_INTERRUPTS_ON (1u << 3) /* in mstatus */

static inline uint32_t pulp_interrupts_off(void)
{
    uint32_t before;
    __asm__ volatile("csrrci %0, 0x300, 8" : "=r"(before) : : "memory");
    return before;
}

/* To what pulp_interrupts_off returned. */
static inline void pulp_interrupts_back(uint32_t before)
{
    __asm__ volatile("csrs 0x300, %0" : : "r"(before & PULP_INTERRUPTS_ON) : "memory");
}

/* p.elw, "event load word": a load whose answer the event unit holds back, the core's clock off, until it is due. */
static inline __attribute__((always_inline)) uint32_t pulp_event_load(volatile const uint32_t *address)
{
    uint32_t value;
#ifdef DORY_PULP_TOOLCHAIN
    __asm__ volatile("p.elw %0, 0(%1)" : "=r"(value) : "r"(address) : "memory");
#else
    __asm__ volatile(".insn i 0x03, 6, %0, %1, 0" : "=r"(value) : "r"(address) : "memory");
#endif
    return value;
}

#endif
