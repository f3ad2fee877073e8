/* What chip.h says of Siracusa and PULP-open, whose SoC round the cluster is the same. A chip.h that includes this says
 * before it
 *
 *   CHIP_HYPERBUS           the number of HyperBus among the uDMA's peripherals
 *   CHIP_HYPERBUS_CHANNELS  and how many channels it has
 */
#ifndef DORY_PULP_SOC_H
#define DORY_PULP_SOC_H

#include "dory/hal.h"
#include "dory/pulp_soc_registers.h"

#define CHIP_L2_ADDRESS     PULP_SOC_L2_ADDRESS
#define CHIP_FC_TIMER       PULP_SOC_FC_TIMER
#define CHIP_FC_CACHE       PULP_SOC_FC_CACHE
#define CHIP_STDOUT_ADDRESS PULP_SOC_STDOUT_ADDRESS /* gvsoc's; one register a core at cluster << 7 | core << 3 */

/* ---- events of the FC: lines of its interrupt controller -------------------------------------------------------- */

#define CHIP_EVENT_TIMER_HIGH PULP_SOC_LINE_TIMER_HIGH
#define CHIP_EVENTS_OF_L3     (1u << PULP_SOC_LINE_EVENTS)

static inline void chip_forget_events(void)
{
    PULP_SOC_INTERRUPTS->mask = 0;
    PULP_SOC_INTERRUPTS->status_clear = UINT32_MAX;
}

/* A core wakes the FC. */
static inline void chip_tell_fc(unsigned event) { PULP_SOC_INTERRUPTS->status_set = 1u << event; }

static inline void chip_clear_events(uint32_t events) { PULP_SOC_INTERRUPTS->status_clear = events; }
static inline void chip_interrupt_on(uint32_t events) { PULP_SOC_INTERRUPTS->mask_set = events; }
static inline void chip_interrupt_off(uint32_t events) { PULP_SOC_INTERRUPTS->mask_clear = events; }

/* The FC sleeps until one of the events, and takes those. An event that came before counts. While it looks, interrupts are
 * off, because the mask that lets an event end `wfi` would let it interrupt; the application's own have their turn in
 * between. */
static inline void chip_await_events(uint32_t events)
{
    uint32_t before = pulp_interrupts_off(), pending;
    for (;;) {
        uint32_t mask = PULP_SOC_INTERRUPTS->mask;
        uint32_t wakes = before & PULP_INTERRUPTS_ON ? mask | events : events;
        PULP_SOC_INTERRUPTS->mask = wakes;
        while (!((pending = PULP_SOC_INTERRUPTS->status) & wakes))
            __asm__ volatile("wfi" : : : "memory");
        PULP_SOC_INTERRUPTS->mask = mask;
        if (pending & events)
            break;
        pulp_interrupts_back(before);
        pulp_interrupts_off();
    }
    PULP_SOC_INTERRUPTS->status_clear = pending & events;
    pulp_interrupts_back(before);
}

/* No driver of the chip has interrupts. */
static inline int chip_serves_interrupt(uint32_t line)
{
    (void)line;
    return 0;
}

/* ---- the program's start and end -------------------------------------------------------------------------------- */

static inline int chip_set_up(void) { return DORY_OK; }

#define END_OF_COMPUTATION 0x80000000u
static inline void chip_end(int status) { *PULP_SOC_CORE_STATUS = END_OF_COMPUTATION | (uint32_t)status; }

/* ---- the cluster, which has no power switch ---------------------------------------------------------------------- */

#define CHIP_KEEPS_CORES                                                                                                    \
    1 /* cores of a cluster that is closed sleep, and are dispatched without an entry when it is opened */

static inline void chip_power_up(void) {}
static inline void chip_power_down(void) {}

/* `vectors`: the table, 0x80 bytes in front of where a core begins. The first time all begin, for good. Returns how many
 * will say that they are ready. */
static inline unsigned chip_start_cores(unsigned cores, const uint8_t *vectors)
{
    static uint32_t have_begun;
    if (have_begun) {
        PULP_CLUSTER_EVENT_UNIT->trigger[PULP_EVENT_DISPATCH] = (1u << cores) - 1;
        return cores;
    }
    have_begun = 1;
    for (unsigned core = 0; core < PULP_CORES; core++)
        PULP_CLUSTER_CONTROL->boot_address[core] = (uint32_t)(uintptr_t)(vectors + 0x80);
    PULP_CLUSTER_CONTROL->fetch_enable = (1u << PULP_CORES) - 1;
    return PULP_CORES;
}

/* ---- HyperBus ---------------------------------------------------------------------------------------------------- */

static inline void chip_set_up_hyperbus(void)
{
    *PULP_SOC_UDMA_CLOCK_GATE |= 1u << CHIP_HYPERBUS;
    uint32_t read_ends = PULP_SOC_HYPERBUS_READ_ENDS(CHIP_HYPERBUS);
    PULP_SOC_EVENT_MASKS[read_ends / 32] &= ~(3u << read_ends % 32); /* and the write's, which is the next */
}

/* Added to an address of the flash, tells it from one of the RAM. */
#define CHIP_FLASH_ADDRESS 0x10000000u

/* A full queue of events drops what comes: its line would stay silent. */
static inline void forget_soc_events(void)
{
    while (PULP_SOC_INTERRUPTS->soc_event)
        ;
}

/* Bursts that have not ended; all that are queued are of one kind. */
static inline uint32_t chip_active_bursts(enum hal_l3_kind kind)
{
    (void)kind;
    forget_soc_events();
    return PULP_SOC_HYPERBUS(CHIP_HYPERBUS)->status >> 1 & 0xFF;
}

/* Of a transfer's first run, `bytes` from `offset` on. */
static inline void chip_start_burst(const struct hal_l3_copy *copy, uint32_t offset, uint32_t bytes)
{
    volatile struct pulp_soc_hyperbus *hyperbus = PULP_SOC_HYPERBUS(CHIP_HYPERBUS);
    uint32_t l2 = (uint32_t)(uintptr_t)copy->l2 + offset, is_flash = copy->kind == HAL_FLASH_READ;
    *PULP_SOC_HYPERBUS_MEMORY(CHIP_HYPERBUS, CHIP_HYPERBUS_CHANNELS) = is_flash;
    hyperbus->external_address = copy->l3_address + offset - (is_flash ? CHIP_FLASH_ADDRESS : 0);
    if (copy->kind == HAL_RAM_WRITE) {
        hyperbus->command = PULP_SOC_HYPERBUS_COMMAND_WRITE;
        hyperbus->write.address = l2;
        hyperbus->write.bytes = bytes;
        hyperbus->write.control = PULP_UDMA_ENABLE;
    } else {
        hyperbus->command = PULP_SOC_HYPERBUS_COMMAND_READ;
        hyperbus->read.address = l2;
        hyperbus->read.bytes = bytes;
        hyperbus->read.control = PULP_UDMA_ENABLE;
    }
}

#endif
