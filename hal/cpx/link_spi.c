/* GAP8's link: SPI 1 to the ESP32, GAP8 being the master, and two lines.
 *
 * GPIO 3, ours: there is something to send. GPIO 18, the ESP32's: it has set a transfer up. It rises once for each; it may
 * do so without having been asked, because the ESP32 has something to send. Both send at once, a length of 0 standing for
 * nothing. First 4 bytes, in which both lengths are; then, chip select kept, as many as the longer one needs, at least 4 and
 * a multiple of 4.
 *
 * Two interrupts a transfer: uDMA's, when the first and when the second part has been received. What is received goes where
 * the application reads it, what is sent comes from where it wrote it. */
#include "dory/gap8_clocks.h"
#include "dory/gap8_interrupts.h"
#include "dory/gap8_registers.h"
#include "link.h"

enum { OURS = 3, THEIRS = 18 };          /* GPIO */
enum { OUR_PAD = 7, THEIR_PAD = 24 };    /* in the registers: pads 15 (B1) and 32 (A13), function 1 */
enum { SPI_PADS = 4, PADS_A_WORD = 16 }; /* pads 8 to 11, function 0 */
enum { FIRST_BYTES = 4, ROUND_TO = 4 };
#define INTERRUPTS_ON (1u << 3) /* in mstatus */

enum state { IDLE, FIRST_PART, SECOND_PART };

static struct {
    enum state state;
    uint32_t their_turns; /* 1: they have set a transfer up that has not begun */
    const uint8_t *frame; /* that is sent; null: nothing */
    uint32_t frame_bytes;
    uint8_t *place; /* where the other one is received */
    uint32_t received_bytes;
    uint32_t cycles, milliseconds, rest; /* of the clock, as far as it was read */
} spi_link;

/* Read by the uDMA. */
static uint32_t first_part[4];
static uint32_t duplex, deselect;
static uint8_t nothing[CPX_FRAME_BYTES] __attribute__((aligned(4)));

/* ---- the uDMA ------------------------------------------------------------------------------------------------ */

static void queue(volatile struct pulp_udma_channel *channel, const volatile void *l2, uint32_t bytes)
{
    __asm__ volatile("" : : : "memory");
    channel->address = (uint32_t)(uintptr_t)l2;
    channel->bytes = bytes;
    channel->control = PULP_UDMA_ENABLE | PULP_UDMA_WORDS;
}

static uint32_t word_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint32_t half_bit_cycles(void) { return (gap8_clocks.fc_hertz + 2 * CPX_SPI_HERTZ - 1) / (2 * CPX_SPI_HERTZ); }

static void start_first_part(void)
{
    spi_link.state = FIRST_PART;
    first_part[0] = GAP8_SPI_CLOCK(half_bit_cycles());
    first_part[1] = GAP8_SPI_SELECT(0);
    first_part[2] = GAP8_SPI_DUPLEX(FIRST_BYTES);
    first_part[3] = spi_link.frame ? word_at(spi_link.frame) : 0;
    queue(&GAP8_SPI1->receive, spi_link.place, FIRST_BYTES);
    queue(&GAP8_SPI1->send, first_part, sizeof first_part);
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* 0: nothing. A length that no frame has is no reason to clock more than a frame's bytes. */
static uint32_t bytes_received(void)
{
    uint32_t length = word_at(spi_link.place) & 0xFFFF;
    return length == 0 ? 0 : length + 2 < CPX_FRAME_BYTES ? length + 2 : CPX_FRAME_BYTES;
}

static void start_second_part(void)
{
    spi_link.state = SECOND_PART;
    spi_link.received_bytes = bytes_received();
    uint32_t bytes = larger(larger(spi_link.frame_bytes, spi_link.received_bytes), FIRST_BYTES + ROUND_TO) - FIRST_BYTES;
    bytes = (bytes + ROUND_TO - 1) / ROUND_TO * ROUND_TO;
    duplex = GAP8_SPI_DUPLEX(bytes);
    GAP8_GPIO->output &= ~(1u << OURS); /* before the transfer ends: it is no wish for another one */
    queue(&GAP8_SPI1->receive, spi_link.place + FIRST_BYTES, bytes);
    queue(&GAP8_SPI1->send, &duplex, sizeof duplex);
    queue(&GAP8_SPI1->send, (spi_link.frame ? spi_link.frame : nothing) + FIRST_BYTES, bytes);
}

/* ---- transfer by transfer ------------------------------------------------------------------------------------ */

static void end_transfer(void)
{
    spi_link.state = IDLE;
    queue(&GAP8_SPI1->send, &deselect, sizeof deselect);
    if (spi_link.frame)
        cpx_link_sent(0);
    if (spi_link.received_bytes > 0)
        cpx_link_received(spi_link.received_bytes);
}

/* Without a place for what they may send, nothing is begun. */
static void begin_transfer(void)
{
    spi_link.frame_bytes = 0;
    spi_link.frame = cpx_link_next(&spi_link.frame_bytes);
    spi_link.place = cpx_link_place();
    if (spi_link.frame && spi_link.place)
        GAP8_GPIO->output |= 1u << OURS;
    if (!spi_link.their_turns || !spi_link.place)
        return;
    spi_link.their_turns = 0;
    start_first_part();
}

/* An interrupt, or what is without interrupts. */
static void serve_event(uint32_t event)
{
    if (event == GAP8_SOC_EVENT_GPIO && GAP8_GPIO->event_status & 1u << THEIRS)
        spi_link.their_turns = 1;
    else if (event == GAP8_SOC_EVENT_SPI1_RX && spi_link.state == FIRST_PART)
        start_second_part();
    else if (event == GAP8_SOC_EVENT_SPI1_RX && spi_link.state == SECOND_PART)
        end_transfer();
    if (spi_link.state == IDLE)
        begin_transfer();
}

void cpx_link_poll(void)
{
    uint32_t locked = cpx_link_lock();
    if (spi_link.state == IDLE)
        begin_transfer();
    cpx_link_unlock(locked);
}

/* ---- opening ------------------------------------------------------------------------------------------------- */

static void set_pad(unsigned pad, uint32_t function)
{
    volatile uint32_t *word = &GAP8_SOC_CONTROL->pad_function[pad / PADS_A_WORD];
    unsigned shift = 2 * (pad % PADS_A_WORD);
    *word = (*word & ~(3u << shift)) | function << shift;
}

static void set_lines_up(void)
{
    for (unsigned pad = 0; pad < SPI_PADS; pad++)
        set_pad(pad, 0);
    GAP8_GPIO->output &= ~(1u << OURS);
    GAP8_GPIO->is_output = (GAP8_GPIO->is_output | 1u << OURS) & ~(1u << THEIRS);
    GAP8_GPIO->enable |= 1u << OURS | 1u << THEIRS;
    set_pad(OUR_PAD, 1);
    set_pad(THEIR_PAD, 1);
    GAP8_GPIO->event_edge[1] = (GAP8_GPIO->event_edge[1] & ~(3u << 2 * (THEIRS - 16))) | 1u << 2 * (THEIRS - 16);
    GAP8_GPIO->event_enable |= 1u << THEIRS;
}

/* GPIO 18 may have risen before anybody looked. */
static void start_listening(void)
{
    gap8_soc_event_handler = serve_event;
    GAP8_SOC_EVENTS->fc_mask_low &= ~(1u << GAP8_SOC_EVENT_SPI1_RX);
    GAP8_SOC_EVENTS->fc_mask_high &= ~(1u << (GAP8_SOC_EVENT_GPIO - 32));
    spi_link.their_turns = GAP8_GPIO->input >> THEIRS & 1;
    GAP8_FC_EVENTS->interrupt_mask_or = 1u << GAP8_FC_EVENT_SOC;
    __asm__ volatile("csrsi 0x300, 8" : : : "memory");
}

int cpx_link_open(void)
{
    if (half_bit_cycles() > 255)
        return DORY_ERROR_ARGUMENT;
    spi_link.state = IDLE;
    deselect = GAP8_SPI_DESELECT;
    *GAP8_UDMA_CLOCK_GATE |= 1u << GAP8_SPI1_CLOCK_BIT;
    GAP8_FC_TIMER->control_low |= PULP_TIMER_ENABLE;
    spi_link.cycles = GAP8_FC_TIMER->count_low;
    set_lines_up();
    start_listening();
    return DORY_OK;
}

/* What is under way ends by itself: the clock is ours. */
void cpx_link_close(void)
{
    GAP8_GPIO->output &= ~(1u << OURS);
    while (*(volatile enum state *)&spi_link.state != IDLE) {
    }
    GAP8_SOC_EVENTS->fc_mask_low |= 1u << GAP8_SOC_EVENT_SPI1_RX;
    GAP8_SOC_EVENTS->fc_mask_high |= 1u << (GAP8_SOC_EVENT_GPIO - 32);
    GAP8_GPIO->event_enable &= ~(1u << THEIRS);
    GAP8_FC_EVENTS->interrupt_mask_and = 1u << GAP8_FC_EVENT_SOC;
    gap8_soc_event_handler = NULL;
}

uint32_t cpx_link_milliseconds(void)
{
    uint32_t locked = cpx_link_lock(), now = GAP8_FC_TIMER->count_low, a_millisecond = gap8_clocks.fc_hertz / 1000;
    spi_link.rest += (now - spi_link.cycles) % a_millisecond;
    spi_link.milliseconds += (now - spi_link.cycles) / a_millisecond + spi_link.rest / a_millisecond;
    spi_link.rest %= a_millisecond;
    spi_link.cycles = now;
    cpx_link_unlock(locked);
    return spi_link.milliseconds;
}

uint32_t cpx_link_lock(void)
{
    uint32_t before;
    __asm__ volatile("csrrci %0, 0x300, 8" : "=r"(before) : : "memory");
    return before;
}

void cpx_link_unlock(uint32_t locked) { __asm__ volatile("csrs 0x300, %0" : : "r"(locked & INTERRUPTS_ON) : "memory"); }
