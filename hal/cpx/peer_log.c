#include "peer_log.h"

#include <string.h>

#include "dory/hal.h"

enum { BYTES_A_LINE = CPX_STM32_BYTES };

static void log_console(const struct cpx_packet *packet)
{
    char text[CPX_STM32_BYTES + 1];
    memcpy(text, packet->data, packet->bytes);
    text[packet->bytes] = '\0';
    hal_log(text);
}

static void log_bytes(const struct cpx_packet *packet)
{
    static const char digits[] = "0123456789abcdef";
    char text[3 * BYTES_A_LINE + 2];
    uint32_t length = 0;
    for (uint32_t i = 0; i < packet->bytes; i++) {
        text[length++] = ' ';
        text[length++] = digits[packet->data[i] >> 4];
        text[length++] = digits[packet->data[i] & 15];
    }
    text[length++] = '\n';
    text[length] = '\0';
    hal_log("to the Crazyflie:");
    hal_log(text);
}

void cpx_log_stm32(const struct cpx_packet *packet)
{
    if (packet->function == CPX_CONSOLE)
        log_console(packet);
    else
        log_bytes(packet);
}
