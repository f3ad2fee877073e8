/* GAP8's registers beside those of dory/pulp_registers.h.
 *
 * Sources of the facts: GreenWaves' gap_sdk, rtos/pulp/gap_archi (archi/chips/gap8/{memory_map,properties,apb_soc}.h,
 * archi/fll/fll_v1.h), its HyperBus, UART, I2C and CPI drivers, and programs that tried them on gvsoc.
 */
#ifndef DORY_GAP8_REGISTERS_H
#define DORY_GAP8_REGISTERS_H

#include "dory/pulp_registers.h"

#define GAP8_L2_ADDRESS 0x1C000000u

/* The FC has an event unit like the cluster's. */
#define GAP8_FC_EVENTS     ((volatile struct pulp_event_port *)0x1B204000u)
#define GAP8_FC_EVENT_UNIT ((volatile struct pulp_event_unit *)0x1B200800u)

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
PULP_CHECK_OFFSET(gap8_soc_events, fc_mask_low, 0x08);
#define GAP8_SOC_EVENTS        ((volatile struct gap8_soc_events *)0x1A106000u)
#define GAP8_FC_SOC_EVENT      ((volatile uint32_t *)0x1B200F00u)
#define GAP8_SOC_EVENT_VALID   (1u << 31)
#define GAP8_SOC_EVENT_MASK    0xFFu
#define GAP8_SOC_EVENT_SPI1_RX 4u /* two for each device of the uDMA: end of a transfer to L2, and from L2 */
#define GAP8_SOC_EVENT_GPIO    42u

/* ---- uDMA and HyperBus ------------------------------------------------------------------------------------- */

/* Chip select 0 is the HyperRAM, 1 the HyperFlash. */
struct gap8_hyperbus {
    struct pulp_udma_channel read;
    struct pulp_udma_channel write;
    uint32_t external_address;
    uint32_t external_control;
    struct {
        uint32_t base;       /* bits 0-7: base address in units of 16 MiB; 8-11: latency */
        uint32_t timing;     /* chip select set-up, hold and high times */
        uint32_t max_length; /* bits 0-8 read, 16-24 write: the controller cuts bursts there where `access` says so */
        uint32_t access;     /* bit 2: device is a RAM, 3: register space, 4 and 5: max_length for reads, writes */
    } chip[2];
};
PULP_CHECK_OFFSET(gap8_hyperbus, write, 0x10);
PULP_CHECK_OFFSET(gap8_hyperbus, external_address, 0x20);
PULP_CHECK_OFFSET(gap8_hyperbus, chip[0].access, 0x34);
PULP_CHECK_OFFSET(gap8_hyperbus, chip[1].base, 0x38);
PULP_CHECK_OFFSET(gap8_hyperbus, chip[1].access, 0x44);

#define GAP8_HYPERBUS            ((volatile struct gap8_hyperbus *)0x1A102180u)
#define GAP8_HYPERBUS_CLOCK_BIT  3u /* number of the peripheral in the clock gate register */
#define GAP8_UDMA_CLOCK_GATE     ((volatile uint32_t *)0x1A102780u)
#define GAP8_HYPER_FLASH_ADDRESS 0x01000000u /* external addresses from here on are the flash (its base is 1) */

/* ---- further devices of the uDMA ---------------------------------------------------------------------------- */

struct gap8_uart {
    struct pulp_udma_channel receive;
    struct pulp_udma_channel send;
    uint32_t status; /* bit 0: bits are being sent */
    uint32_t setup;  /* bits 1-2: 3 for 8 data bits; 8: send, 9: receive; 16-31: cycles of a bit, less one */
};
PULP_CHECK_OFFSET(gap8_uart, setup, 0x24);
#define GAP8_UART            ((volatile struct gap8_uart *)0x1A102200u)
#define GAP8_UART_CLOCK_BIT  4u
#define GAP8_UART_IS_SENDING (1u << 0)
#define GAP8_UART_8_BITS     (3u << 1)
#define GAP8_UART_SEND       (1u << 8)

/* What is sent is a program: bytes of commands, some with operands behind them. What a read command reads is received. */
struct gap8_i2c {
    struct pulp_udma_channel receive;
    struct pulp_udma_channel send;
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
    struct pulp_udma_channel receive;
    struct pulp_udma_channel send;
};
#define GAP8_SPI1              ((volatile struct gap8_spi *)0x1A102100u)
#define GAP8_SPI1_CLOCK_BIT    2u
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
PULP_CHECK_OFFSET(gap8_gpio, event_status, 0x18);
#define GAP8_GPIO ((volatile struct gap8_gpio *)0x1A101000u)

/* The camera parallel interface. */
struct gap8_cpi {
    struct pulp_udma_channel receive;
    struct pulp_udma_channel unused;
    uint32_t control; /* taken over where a frame starts */
    uint32_t slice_start;
    uint32_t slice_end;
    uint32_t row; /* bits 16-31: pairs of bytes in a row, less one; for slices */
    uint32_t filter;
};
PULP_CHECK_OFFSET(gap8_cpi, control, 0x20);
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
PULP_CHECK_OFFSET(gap8_soc_control, cluster_isolate, 0x0C);
PULP_CHECK_OFFSET(gap8_soc_control, cluster_power, 0x70);
PULP_CHECK_OFFSET(gap8_soc_control, core_status, 0xA0);
PULP_CHECK_OFFSET(gap8_soc_control, pad_function, 0x140);
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
PULP_CHECK_OFFSET(gap8_fll, integrator, 0x0C);
#define GAP8_FLL ((volatile struct gap8_fll *)0x1A100000u) /* [0] FC and peripherals, [1] cluster */

#define GAP8_FC_TIMER ((volatile struct pulp_timer *)0x1B200400u)
#define GAP8_FC_CACHE ((volatile uint32_t *)0x1B201400u)

#define GAP8_STDOUT_ADDRESS 0x1A110000u /* gvsoc's; one register a core at cluster << 7 | core << 3 */

#endif
