/* Registers round the cluster of Siracusa and PULP-open, beside those of dory/pulp_registers.h: one struct a block, every
 * offset checked at compile time. Addresses are the same on both; of HyperBus, what differs is an argument.
 *
 * Source of the facts: the maintained gvsoc's models of the targets "siracusa" and "pulp-open", and programs that tried them
 * there.
 */
#ifndef DORY_PULP_SOC_REGISTERS_H
#define DORY_PULP_SOC_REGISTERS_H

#include "dory/pulp_registers.h"

#define PULP_SOC_L2_ADDRESS 0x1C010000u /* what all reach; below it are two private banks of 32 KiB */

/* ---- interrupt controller of the FC -------------------------------------------------------------------------- */

/* One mask is for interrupts and for what ends `wfi`. */
struct pulp_soc_interrupts {
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
PULP_CHECK_OFFSET(pulp_soc_interrupts, soc_event, 0x24);
#define PULP_SOC_INTERRUPTS ((volatile struct pulp_soc_interrupts *)0x1A109800u)

#define PULP_SOC_LINE_TIMER_HIGH 11 /* the upper half of the FC's timer */
#define PULP_SOC_LINE_EVENTS     26 /* there are events of the SoC */

/* Masks of the SoC's events to the FC, 32 a word; a bit that is 0 lets an event through. */
#define PULP_SOC_EVENT_MASKS ((volatile uint32_t *)0x1A106004u)

/* ---- HyperBus ------------------------------------------------------------------------------------------------- */

struct pulp_soc_hyperbus {
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
PULP_CHECK_OFFSET(pulp_soc_hyperbus, write, 0x0C);
PULP_CHECK_OFFSET(pulp_soc_hyperbus, status, 0x24);
#define PULP_SOC_HYPERBUS_COMMAND_READ  (1u << 2)
#define PULP_SOC_HYPERBUS_COMMAND_WRITE 0u

#define PULP_SOC_UDMA_ADDRESS    0x1A102000u
#define PULP_SOC_UDMA_CLOCK_GATE ((volatile uint32_t *)PULP_SOC_UDMA_ADDRESS) /* bits are peripherals' numbers */

/* HyperBus is the peripheral of the uDMA of that number: its channels lie one behind the other, and what they share behind
 * the last. It has four events; when no transfer is left, the third is for a read, the fourth for a write. */
#define PULP_SOC_UDMA_AT(number, offset)           (PULP_SOC_UDMA_ADDRESS + 0x80u * ((number) + 1) + (offset))
#define PULP_SOC_HYPERBUS(number)                  ((volatile struct pulp_soc_hyperbus *)PULP_SOC_UDMA_AT(number, 0u))
#define PULP_SOC_HYPERBUS_MEMORY(number, channels) /* 0: RAM, 1: flash; of what is queued next */                           \
    ((volatile uint32_t *)PULP_SOC_UDMA_AT(number, 0x80u * (channels) + 0x20u))
#define PULP_SOC_HYPERBUS_READ_ENDS(number) (4u * (number) + 2u)

/* ---- further --------------------------------------------------------------------------------------------------- */

#define PULP_SOC_CORE_STATUS    ((volatile uint32_t *)0x1A1040A0u) /* bit 31: the program has ended, below it its status */
#define PULP_SOC_FC_TIMER       ((volatile struct pulp_timer *)0x1A10B000u)
#define PULP_SOC_FC_CACHE       ((volatile uint32_t *)0x1A108800u)
#define PULP_SOC_STDOUT_ADDRESS 0x1A10F000u

#endif
