/* What hal/pulp does otherwise on each chip; here on GAP8. */
#ifndef DORY_GAP8_CHIP_H
#define DORY_GAP8_CHIP_H

#include "dory/gap8_interrupts.h"
#include "dory/gap8_registers.h"
#include "dory/hal.h"

#define CHIP_L2_ADDRESS     GAP8_L2_ADDRESS
#define CHIP_FC_TIMER       GAP8_FC_TIMER
#define CHIP_FC_CACHE       GAP8_FC_CACHE
#define CHIP_STDOUT_ADDRESS GAP8_STDOUT_ADDRESS /* gvsoc's; one register a core at cluster << 7 | core << 3 */

/* ---- events of the FC, which has an event unit of its own ---------------------------------------------------- */

#define CHIP_EVENT_TIMER_HIGH GAP8_FC_EVENT_TIMER_HIGH
#define CHIP_EVENTS_OF_L3     (1u << GAP8_FC_EVENT_HYPER_READ | 1u << GAP8_FC_EVENT_HYPER_WRITE)

/* What started this program may have been one with events and interrupts of its own, like the AI-deck's bootloader. */
static inline void chip_forget_events(void)
{
    GAP8_FC_EVENTS->interrupt_mask = 0;
    GAP8_FC_EVENTS->mask = 0;
    GAP8_FC_EVENTS->buffer_clear = UINT32_MAX;
}

/* A core wakes the FC by a software event. */
static inline void chip_tell_fc(unsigned event) { GAP8_FC_EVENT_UNIT->trigger[event] = 1; }

static inline void chip_clear_events(uint32_t events) { GAP8_FC_EVENTS->buffer_clear = events; }
static inline void chip_interrupt_on(uint32_t events) { GAP8_FC_EVENTS->interrupt_mask_or = events; }
static inline void chip_interrupt_off(uint32_t events) { GAP8_FC_EVENTS->interrupt_mask_and = events; }

/* The FC sleeps until one of the events, and takes those. An event that came before counts. */
static inline void chip_await_events(uint32_t events)
{
    GAP8_FC_EVENTS->mask = events;
    pulp_event_load(&GAP8_FC_EVENTS->wait_clear);
    GAP8_FC_EVENTS->mask = 0;
}

/* An interrupt that is not the HAL's run's: true if it was for a driver of the chip. */
static inline int chip_serves_interrupt(uint32_t line)
{
    if (line != GAP8_FC_EVENT_SOC || !gap8_soc_event_handler)
        return 0;
    for (uint32_t event = *GAP8_FC_SOC_EVENT; event & GAP8_SOC_EVENT_VALID; event = *GAP8_FC_SOC_EVENT)
        gap8_soc_event_handler(event & GAP8_SOC_EVENT_MASK);
    return 1;
}

/* ---- the program's start and end ------------------------------------------------------------------------------ */

/* clocks.c; 0, or a status after it named the clock in the log */
int gap8_set_configured_clocks(void);

static inline int chip_set_up(void) { return gap8_set_configured_clocks(); }

#define END_OF_COMPUTATION 0x80000000u
static inline void chip_end(int status) { GAP8_SOC_CONTROL->core_status = END_OF_COMPUTATION | (uint32_t)status; }

/* ---- the cluster's power --------------------------------------------------------------------------------------- */

#define CHIP_KEEPS_CORES 0 /* a cluster that is closed has no power, and its cores start anew */

/* The order matters: power before the reset ends, the clock last. */
static inline void chip_power_up(void)
{
    volatile uint32_t *power = &GAP8_SOC_CONTROL->cluster_power;
    uint32_t state = *power | GAP8_POWER_OWN;
    *power = state |= GAP8_POWER_CLOCK_GATED;
    *power = state |= GAP8_POWER_RESET;
    *power = state |= GAP8_POWER_ON;
    GAP8_SOC_CONTROL->cluster_isolate = 0;
    *power = state &= ~GAP8_POWER_RESET;
    *power = state & ~GAP8_POWER_CLOCK_GATED;
}

static inline void chip_power_down(void)
{
    volatile uint32_t *power = &GAP8_SOC_CONTROL->cluster_power;
    uint32_t state = *power;
    PULP_CLUSTER_CONTROL->fetch_enable = 0;
    GAP8_SOC_CONTROL->cluster_isolate = 1;
    *power = state |= GAP8_POWER_CLOCK_GATED;
    *power = state |= GAP8_POWER_RESET;
    *power = state & ~GAP8_POWER_ON;
}

/* `vectors`: the table, 0x80 bytes in front of where a core begins. Returns how many cores will say that they are ready. */
static inline unsigned chip_start_cores(unsigned cores, const uint8_t *vectors)
{
    for (unsigned core = 0; core < cores; core++)
        PULP_CLUSTER_CONTROL->boot_address[core] = (uint32_t)(uintptr_t)vectors;
    PULP_CLUSTER_CONTROL->fetch_enable = (1u << cores) - 1;
    return cores;
}

/* ---- HyperBus ------------------------------------------------------------------------------------------------- */

/* One register has the external address, read when a burst starts. With a read running, the next read of the same chip may
 * be queued as soon as the running one has started; of the same chip, because gvsoc's model takes the chip select from that
 * register up to 75 cycles later. Writes are never queued behind one another: the model ends a write when its last word has
 * been fetched from L2, and dies of a second one then. A queue depth of 1 (DORY_HYPER_QUEUE_DEPTH) makes no assumption. */

/* Timing and burst limits as GreenWaves' driver sets them (freeRTOS, hyperbus_internal.c); gvsoc knows neither. */
#define CHIP_MAX_LENGTH (0x1FFu | 0x1FFu << 16)
#define ACCESS_RAM      (1u << 2)
#define ACCESS_LIMITED  (1u << 4 | 1u << 5)
#define BASE_MASK       0xFFu

/* HyperBus is function 3 of pads 36, 37 and 40 to 50, which are numbers 28, 29 and 32 to 42 in the registers: GAP8's first
 * pad is pad 8, and there are none of 51 and 52. The boot ROM has set those that the flash needs. */
static inline void give_pads_to_hyperbus(void)
{
    GAP8_SOC_CONTROL->pad_function[1] |= 0x0F000000u;
    GAP8_SOC_CONTROL->pad_function[2] |= 0x003FFFFFu;
}

static inline void chip_set_up_hyperbus(void)
{
    give_pads_to_hyperbus();
    *GAP8_UDMA_CLOCK_GATE |= 1u << GAP8_HYPERBUS_CLOCK_BIT;
    for (int chip = 0; chip < 2; chip++) {
        GAP8_HYPERBUS->chip[chip].max_length = CHIP_MAX_LENGTH;
        uint32_t base = GAP8_HYPERBUS->chip[chip].base & ~BASE_MASK; /* the latency stays as the ROM left it */
        GAP8_HYPERBUS->chip[chip].base = chip == 0 ? base : base | GAP8_HYPER_FLASH_ADDRESS >> 24;
    }
    GAP8_HYPERBUS->chip[0].access = ACCESS_RAM | ACCESS_LIMITED;
    GAP8_HYPERBUS->chip[1].access = ACCESS_LIMITED;
}

/* Added to an address of the flash, tells it from one of the RAM. */
#define CHIP_FLASH_ADDRESS GAP8_HYPER_FLASH_ADDRESS

static inline volatile struct pulp_udma_channel *hyperbus_channel(enum hal_l3_kind kind)
{
    return kind == HAL_RAM_WRITE ? &GAP8_HYPERBUS->write : &GAP8_HYPERBUS->read;
}

/* Bursts of this kind that have not ended. The events say only that something has ended. */
static inline uint32_t chip_active_bursts(enum hal_l3_kind kind)
{
    uint32_t control = hyperbus_channel(kind)->control;
    return (control & PULP_UDMA_ENABLE ? 1u : 0u) + (control & PULP_UDMA_PENDING ? 1u : 0u);
}

/* Of a transfer's first run, `bytes` from `offset` on. */
static inline void chip_start_burst(const struct hal_l3_copy *copy, uint32_t offset, uint32_t bytes)
{
    volatile struct pulp_udma_channel *channel = hyperbus_channel(copy->kind);
    GAP8_HYPERBUS->external_address = copy->l3_address + offset;
    channel->address = (uint32_t)(uintptr_t)copy->l2 + offset;
    channel->bytes = bytes;
    channel->control = PULP_UDMA_ENABLE;
}

#endif
