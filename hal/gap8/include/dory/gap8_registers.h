/* GAP8's registers, as far as this HAL uses them: one struct a block, every offset checked at compile time.
 *
 * Sources of the facts: GreenWaves' gap_sdk, rtos/pulp/gap_archi (archi/chips/gap8/{memory_map,properties,apb_soc}.h,
 * archi/eu/eu_v3.h, archi/dma/mchan_v6.h, archi/udma, archi/timer/timer_v2.h, archi/fll/fll_v1.h,
 * archi/cluster_ctrl/cluster_ctrl_v2.h), its HyperBus, UART, I2C and CPI drivers, and programs that tried them on gvsoc.
 */
#ifndef DORY_GAP8_REGISTERS_H
#define DORY_GAP8_REGISTERS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define GAP8_CORES             8u
#define GAP8_FC_CLUSTER_NUMBER 32u /* mhartid is cluster number << 5 | core number; the cluster's cores are cluster 0 */

#define GAP8_L1_ADDRESS      0x10000000u
#define GAP8_FC_TCDM_ADDRESS 0x1B000000u
#define GAP8_L2_ADDRESS      0x1C000000u

#define GAP8_CHECK_OFFSET(type, member, offset)                                                                             \
    static_assert(offsetof(struct type, member) == (offset), #type "." #member " is not at " #offset)

/* ---- event units: one for the FC, one for the cluster ------------------------------------------------------ */

/* One core's view of its event unit, through its private port ("demux"). A core sleeps with p.elw from a `wait`
 * register until an event of its mask is pending; pending events stay in `buffer` until they are cleared. */
struct gap8_barrier {
    uint32_t trigger_mask; /* cores that have to come */
    uint32_t status;
    uint32_t status_summary;
    uint32_t target_mask; /* cores that get GAP8_EVENT_BARRIER then */
    uint32_t trigger;
    uint32_t trigger_self;
    uint32_t trigger_wait;
    uint32_t trigger_wait_clear;
};

struct gap8_event_port {
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
    struct gap8_barrier barrier[16];
};
GAP8_CHECK_OFFSET(gap8_event_port, buffer, 0x1C);
GAP8_CHECK_OFFSET(gap8_event_port, buffer_clear, 0x28);
GAP8_CHECK_OFFSET(gap8_event_port, wait, 0x38);
GAP8_CHECK_OFFSET(gap8_event_port, wait_clear, 0x3C);
GAP8_CHECK_OFFSET(gap8_event_port, trigger, 0x100);
GAP8_CHECK_OFFSET(gap8_event_port, barrier, 0x200);
GAP8_CHECK_OFFSET(gap8_barrier, target_mask, 0x0C);
GAP8_CHECK_OFFSET(gap8_barrier, trigger_wait_clear, 0x1C);

/* The same unit as other masters see it: they can trigger software events. */
struct gap8_event_unit {
    uint32_t reserved[0x600 / 4];
    uint32_t trigger[16];
};
GAP8_CHECK_OFFSET(gap8_event_unit, trigger, 0x600);

#define GAP8_CLUSTER_EVENTS     ((volatile struct gap8_event_port *)0x10204000u)
#define GAP8_CLUSTER_EVENT_UNIT ((volatile struct gap8_event_unit *)0x10200800u)
#define GAP8_FC_EVENTS          ((volatile struct gap8_event_port *)0x1B204000u)
#define GAP8_FC_EVENT_UNIT      ((volatile struct gap8_event_unit *)0x1B200800u)

/* Event numbers; 0 to 7 are free for software. */
#define GAP8_EVENT_DMA            8
#define GAP8_EVENT_BARRIER        16
#define GAP8_FC_EVENT_TIMER_HIGH  11 /* the upper half of the FC's timer */
#define GAP8_FC_EVENT_SOC         27 /* of peripherals, those that the SoC's event unit lets through */
#define GAP8_FC_EVENT_HYPER_WRITE 29 /* end of a transfer of the HyperBus TX channel */
#define GAP8_FC_EVENT_HYPER_READ  30

/* The SoC's event unit. Mask bits that are 0 let an event through to the FC, which reads its number, once for each, from
 * GAP8_FC_SOC_EVENT; bit 31: there was one. */
struct gap8_soc_events {
    uint32_t trigger;
    uint32_t fc_mask_high; /* events 32 to 63 */
    uint32_t fc_mask_low;
};
GAP8_CHECK_OFFSET(gap8_soc_events, fc_mask_low, 0x08);
#define GAP8_SOC_EVENTS        ((volatile struct gap8_soc_events *)0x1A106000u)
#define GAP8_FC_SOC_EVENT      ((volatile uint32_t *)0x1B200F00u)
#define GAP8_SOC_EVENT_VALID   (1u << 31)
#define GAP8_SOC_EVENT_MASK    0xFFu
#define GAP8_SOC_EVENT_SPI1_RX 4u /* two for each device of the uDMA: end of a transfer to L2, and from L2 */
#define GAP8_SOC_EVENT_GPIO    42u

/* ---- MCHAN, the cluster's DMA ------------------------------------------------------------------------------ */

struct gap8_mchan {
    uint32_t queue;  /* read: allocates a counter; written: the words of a command */
    uint32_t status; /* read: bit n = counter n busy, bit 16 + n = allocated; written: frees the counters of the mask */
};
GAP8_CHECK_OFFSET(gap8_mchan, status, 0x04);
#define GAP8_MCHAN    ((volatile struct gap8_mchan *)0x10204400u) /* a core's own port */
#define GAP8_FC_MCHAN ((volatile struct gap8_mchan *)0x10201800u) /* the FC's */

/* First word of a command: bits 0-15 are the size in bytes; then follow the L1 address, the external address and, for
 * a 2-D command, stride << 16 | run length, which apply to the external side. */
#define GAP8_MCHAN_TO_LOCAL  (1u << 16)
#define GAP8_MCHAN_INCREMENT (1u << 17)
#define GAP8_MCHAN_2D        (1u << 18)
#define GAP8_MCHAN_EVENT     (1u << 19) /* GAP8_EVENT_DMA to this core when the counter has reached zero */
#define GAP8_MCHAN_LIMIT     0xFFFFu    /* of the size */
#define GAP8_MCHAN_2D_LIMIT  0x7FFFu    /* of stride and run length: 15 bits; a longer run never ends (tried on gvsoc) */

/* ---- uDMA and HyperBus ------------------------------------------------------------------------------------- */

struct gap8_udma_channel {
    uint32_t address; /* in L2 */
    uint32_t bytes;
    uint32_t control;
    uint32_t reserved;
};
#define GAP8_UDMA_ENABLE  (1u << 4) /* written: queue a transfer; read: one is active */
#define GAP8_UDMA_PENDING (1u << 5) /* read: a second one is queued */
#define GAP8_UDMA_PAIRS   (1u << 1) /* written: the device delivers 16 bits at a time */
#define GAP8_UDMA_CLEAR   (1u << 5) /* written: gives up what is queued */
#define GAP8_UDMA_LIMIT   0x1FFFFu  /* bytes of a transfer */

/* Chip select 0 is the HyperRAM, 1 the HyperFlash. */
struct gap8_hyperbus {
    struct gap8_udma_channel read;
    struct gap8_udma_channel write;
    uint32_t external_address;
    uint32_t external_control;
    struct {
        uint32_t base;       /* bits 0-7: base address in units of 16 MiB; 8-11: latency */
        uint32_t timing;     /* chip select set-up, hold and high times */
        uint32_t max_length; /* bits 0-8 read, 16-24 write: the controller cuts bursts there where `access` says so */
        uint32_t access;     /* bit 2: device is a RAM, 3: register space, 4 and 5: max_length for reads, writes */
    } chip[2];
};
GAP8_CHECK_OFFSET(gap8_hyperbus, write, 0x10);
GAP8_CHECK_OFFSET(gap8_hyperbus, external_address, 0x20);
GAP8_CHECK_OFFSET(gap8_hyperbus, chip[0].access, 0x34);
GAP8_CHECK_OFFSET(gap8_hyperbus, chip[1].base, 0x38);
GAP8_CHECK_OFFSET(gap8_hyperbus, chip[1].access, 0x44);

#define GAP8_HYPERBUS            ((volatile struct gap8_hyperbus *)0x1A102180u)
#define GAP8_HYPERBUS_CLOCK_BIT  3u /* number of the peripheral in the clock gate register */
#define GAP8_UDMA_CLOCK_GATE     ((volatile uint32_t *)0x1A102780u)
#define GAP8_HYPER_FLASH_ADDRESS 0x01000000u /* external addresses from here on are the flash (its base is 1) */

/* ---- further devices of the uDMA ---------------------------------------------------------------------------- */

struct gap8_uart {
    struct gap8_udma_channel receive;
    struct gap8_udma_channel send;
    uint32_t status; /* bit 0: bits are being sent */
    uint32_t setup;  /* bits 1-2: 3 for 8 data bits; 8: send, 9: receive; 16-31: cycles of a bit, less one */
};
GAP8_CHECK_OFFSET(gap8_uart, setup, 0x24);
#define GAP8_UART            ((volatile struct gap8_uart *)0x1A102200u)
#define GAP8_UART_CLOCK_BIT  4u
#define GAP8_UART_IS_SENDING (1u << 0)
#define GAP8_UART_8_BITS     (3u << 1)
#define GAP8_UART_SEND       (1u << 8)

/* What is sent is a program: bytes of commands, some with operands behind them. What a read command reads is received. */
struct gap8_i2c {
    struct gap8_udma_channel receive;
    struct gap8_udma_channel send;
    uint32_t reserved[24];
};
#define GAP8_I2C           ((volatile struct gap8_i2c *)0x1A102280u) /* [0] and [1] */
#define GAP8_I2C_CLOCK_BIT 5u                                        /* of [0] */
static_assert(sizeof(struct gap8_i2c) == 0x80, "two I2C controllers, one behind the other");
enum {
    GAP8_I2C_START = 0x00,
    GAP8_I2C_STOP = 0x20,
    GAP8_I2C_READ_LAST = 0x60, /* one byte, not acknowledged */
    GAP8_I2C_WRITE = 0x80,     /* the byte behind it */
    GAP8_I2C_CLOCK = 0xE0      /* two bytes behind it, the higher first: cycles of a quarter of a bit, less one */
};

/* SPI, master. The TX channel carries commands, in 32-bit words, and the data behind them. */
struct gap8_spi {
    struct gap8_udma_channel receive;
    struct gap8_udma_channel send;
};
#define GAP8_SPI1              ((volatile struct gap8_spi *)0x1A102100u)
#define GAP8_SPI1_CLOCK_BIT    2u
#define GAP8_UDMA_WORDS        (2u << 1)                       /* written: the device delivers 32 bits at a time */
#define GAP8_SPI_CLOCK(half)   (half)                          /* cycles of half a bit, to 255; mode 0 */
#define GAP8_SPI_SELECT(cs)    (1u << 28 | (cs))               /* chip select goes low */
#define GAP8_SPI_DUPLEX(bytes) (12u << 28 | ((bytes)*8u - 1u)) /* both ways; as many bytes of data follow */
#define GAP8_SPI_DESELECT      (9u << 28)

/* GPIO. */
struct gap8_gpio {
    uint32_t is_output;
    uint32_t input;
    uint32_t output;
    uint32_t event_enable;
    uint32_t event_edge[2]; /* two bits a pin: 0 falling, 1 rising */
    uint32_t event_status;  /* reading clears it */
    uint32_t enable;
};
GAP8_CHECK_OFFSET(gap8_gpio, event_status, 0x18);
#define GAP8_GPIO ((volatile struct gap8_gpio *)0x1A101000u)

/* The camera parallel interface. */
struct gap8_cpi {
    struct gap8_udma_channel receive;
    struct gap8_udma_channel unused;
    uint32_t control; /* taken over where a frame starts */
    uint32_t slice_start;
    uint32_t slice_end;
    uint32_t row; /* bits 16-31: pairs of bytes in a row, less one; for slices */
    uint32_t filter;
};
GAP8_CHECK_OFFSET(gap8_cpi, control, 0x20);
#define GAP8_CPI             ((volatile struct gap8_cpi *)0x1A102480u)
#define GAP8_CPI_CLOCK_BIT   9u
#define GAP8_CPI_ENABLE      (1u << 31)
#define GAP8_CPI_BYTES_AS_IS (5u << 8) /* format: the first of two bytes goes to the lower address */

/* ---- power, clocks, cluster -------------------------------------------------------------------------------- */

struct gap8_soc_control {
    uint32_t information;
    uint32_t reserved_1[2];
    uint32_t cluster_isolate;
    uint32_t reserved_2[23];
    uint32_t cluster_busy;
    uint32_t cluster_power;
    uint32_t reserved_3[11];
    uint32_t core_status; /* bit 31: the program has ended, below it its status */
    uint32_t reserved_4[39];
    uint32_t pad_function[4]; /* two bits a pad, 16 pads a register */
};
GAP8_CHECK_OFFSET(gap8_soc_control, cluster_isolate, 0x0C);
GAP8_CHECK_OFFSET(gap8_soc_control, cluster_power, 0x70);
GAP8_CHECK_OFFSET(gap8_soc_control, core_status, 0xA0);
GAP8_CHECK_OFFSET(gap8_soc_control, pad_function, 0x140);
#define GAP8_SOC_CONTROL ((volatile struct gap8_soc_control *)0x1A104000u)

/* Bits of cluster_power. The three OWN bits take control from the power management unit. */
#define GAP8_POWER_OWN         (1u << 0 | 1u << 1 | 1u << 9)
#define GAP8_POWER_ON          (1u << 3)
#define GAP8_POWER_CLOCK_GATED (1u << 10)
#define GAP8_POWER_RESET       (1u << 13)

struct gap8_fll {
    uint32_t status; /* bits 0-15: measured multiplication factor */
    uint32_t control_1;
    uint32_t control_2;
    uint32_t integrator;
};
GAP8_CHECK_OFFSET(gap8_fll, integrator, 0x0C);
#define GAP8_FLL ((volatile struct gap8_fll *)0x1A100000u) /* [0] FC and peripherals, [1] cluster */

struct gap8_cluster_control {
    uint32_t end_of_computation;
    uint32_t reserved_1;
    uint32_t fetch_enable; /* a bit per core */
    uint32_t reserved_2[13];
    uint32_t boot_address[16]; /* a core starts 0x80 bytes behind it */
};
GAP8_CHECK_OFFSET(gap8_cluster_control, fetch_enable, 0x08);
GAP8_CHECK_OFFSET(gap8_cluster_control, boot_address, 0x40);
#define GAP8_CLUSTER_CONTROL ((volatile struct gap8_cluster_control *)0x10200000u)

struct gap8_timer {
    uint32_t control_low;
    uint32_t control_high;
    uint32_t count_low;
    uint32_t count_high;
    uint32_t compare_low;
    uint32_t compare_high;
};
GAP8_CHECK_OFFSET(gap8_timer, count_low, 0x08);
#define GAP8_CLUSTER_TIMER ((volatile struct gap8_timer *)0x10200400u)
#define GAP8_FC_TIMER      ((volatile struct gap8_timer *)0x1B200400u)
#define GAP8_TIMER_ENABLE  1u
#define GAP8_TIMER_RESET   2u
#define GAP8_TIMER_EVENT   (1u << 2) /* when it has counted to `compare` */
#define GAP8_TIMER_ONCE    (1u << 5) /* and then it stands */

#define GAP8_CLUSTER_CACHE ((volatile uint32_t *)0x10201400u) /* instruction caches; all ones: enabled */
#define GAP8_FC_CACHE      ((volatile uint32_t *)0x1B201400u)

#define GAP8_STDOUT_ADDRESS 0x1A110000u /* gvsoc's; one register a core at cluster << 7 | core << 3 */

/* ---- instructions ------------------------------------------------------------------------------------------ */

static inline __attribute__((always_inline)) uint32_t gap8_hart(void)
{
    uint32_t hart;
    __asm__("csrr %0, 0xF14" : "=r"(hart));
    return hart;
}

static inline int gap8_is_fc(void) { return gap8_hart() >> 5 == GAP8_FC_CLUSTER_NUMBER; }

/* p.elw, "event load word": a load whose answer the event unit holds back, the core's clock off, until it is due. */
static inline __attribute__((always_inline)) uint32_t gap8_event_load(volatile const uint32_t *address)
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
