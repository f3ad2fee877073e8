/* Siracusa's registers beside those of dory/pulp_registers.h: one struct a block, every offset checked at compile time.
 *
 * Source of the facts: the maintained gvsoc's models of the target "siracusa", and programs that tried them there.
 */
#ifndef DORY_SIRACUSA_REGISTERS_H
#define DORY_SIRACUSA_REGISTERS_H

#include "dory/pulp_registers.h"

#define SIRACUSA_L2_ADDRESS 0x1C010000u /* what all reach; below it are two private banks of 32 KiB */

/* ---- interrupt controller of the FC -------------------------------------------------------------------------- */

/* One mask is for interrupts and for what ends `wfi`. */
struct siracusa_interrupts {
    uint32_t mask;
    uint32_t mask_set;
    uint32_t mask_clear;
    uint32_t status;
    uint32_t status_set;
    uint32_t status_clear;
    uint32_t acknowledged;
    uint32_t acknowledged_set;
    uint32_t acknowledged_clear;
    uint32_t soc_event; /* read: the number of the next event of the SoC, 0 where there is none */
};
PULP_CHECK_OFFSET(siracusa_interrupts, soc_event, 0x24);
#define SIRACUSA_FC_INTERRUPTS ((volatile struct siracusa_interrupts *)0x1A109800u)

#define SIRACUSA_FC_LINE_TIMER_HIGH 11 /* the upper half of the FC's timer */
#define SIRACUSA_FC_LINE_SOC        26 /* there are events of the SoC */

/* Mask of the SoC's events to the FC, 32 a word; a bit that is 0 lets an event through. */
#define SIRACUSA_SOC_EVENT_MASK        ((volatile uint32_t *)0x1A106004u)
#define SIRACUSA_SOC_EVENT_HYPER_READ  18u /* no transfer is left, and the last was a read */
#define SIRACUSA_SOC_EVENT_HYPER_WRITE 19u

/* ---- HyperBus ------------------------------------------------------------------------------------------------- */

struct siracusa_hyperbus {
    struct {
        uint32_t address; /* in L2 */
        uint32_t bytes;
        uint32_t control; /* PULP_UDMA_ENABLE queues a transfer */
    } read, write;
    uint32_t command;
    uint32_t external_address;
    uint32_t configuration; /* reading it arms a command */
    uint32_t status;        /* bit 0: busy, bits 1-8: transfers that have not ended */
};
PULP_CHECK_OFFSET(siracusa_hyperbus, write, 0x0C);
PULP_CHECK_OFFSET(siracusa_hyperbus, status, 0x24);
#define SIRACUSA_HYPERBUS               ((volatile struct siracusa_hyperbus *)0x1A102280u)
#define SIRACUSA_HYPERBUS_MEMORY        ((volatile uint32_t *)0x1A1023A0u) /* 0: RAM, 1: flash; of what is queued next */
#define SIRACUSA_HYPERBUS_COMMAND_READ  (1u << 2)
#define SIRACUSA_HYPERBUS_COMMAND_WRITE 0u
#define SIRACUSA_HYPERBUS_CLOCK_BIT     4u
#define SIRACUSA_UDMA_CLOCK_GATE        ((volatile uint32_t *)0x1A102000u)

/* ---- further --------------------------------------------------------------------------------------------------- */

#define SIRACUSA_CORE_STATUS    ((volatile uint32_t *)0x1A1040A0u) /* bit 31: the program has ended, below it its status */
#define SIRACUSA_FC_TIMER       ((volatile struct pulp_timer *)0x1A10B000u)
#define SIRACUSA_FC_CACHE       ((volatile uint32_t *)0x1A108800u)
#define SIRACUSA_STDOUT_ADDRESS 0x1A10F000u

#endif
