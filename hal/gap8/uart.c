#include "dory/gap8_uart.h"

#include "chip.h"
#include "dory/gap8_clocks.h"

int gap8_uart_open(uint32_t baud)
{
    if (baud == 0)
        return DORY_ERROR_ARGUMENT;
    uint32_t cycles = (gap8_clocks.fc_hertz + baud / 2) / baud;
    if (cycles < 2 || cycles > 0x10000)
        return DORY_ERROR_ARGUMENT;
    *GAP8_UDMA_CLOCK_GATE |= 1u << GAP8_UART_CLOCK_BIT;
    GAP8_UART->setup = GAP8_UART_8_BITS | GAP8_UART_SEND | (cycles - 1) << 16;
    return DORY_OK;
}

static int is_sending(void)
{
    return (GAP8_UART->send.control & PULP_UDMA_ENABLE) || (GAP8_UART->status & GAP8_UART_IS_SENDING);
}

void gap8_uart_wait(void)
{
    while (is_sending()) {
    }
}

int gap8_uart_send(const void *text, uint32_t bytes)
{
    if (!text || bytes == 0 || bytes > PULP_UDMA_LIMIT)
        return DORY_ERROR_ARGUMENT;
    if ((uintptr_t)text % 4)
        return DORY_ERROR_ALIGNMENT;
    gap8_uart_wait();
    __asm__ volatile("" : : : "memory");
    GAP8_UART->send.address = (uint32_t)(uintptr_t)text;
    GAP8_UART->send.bytes = bytes;
    GAP8_UART->send.control = PULP_UDMA_ENABLE;
    return DORY_OK;
}
