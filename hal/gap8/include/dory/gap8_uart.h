/* The UART, for sending: uDMA takes text from L2 while the program goes on. 8 bits, no parity, one stop bit. */
#ifndef DORY_GAP8_UART_H
#define DORY_GAP8_UART_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* FC. `baud`: bits a second, from gap8_clocks.fc_hertz / 65536 on. The FC's clock is the one of gap8_clocks and stays so. */
int gap8_uart_open(uint32_t baud) __attribute__((warn_unused_result));

/* FC. Starts to send `bytes` bytes (1 to 131071) from L2; `text` is at a multiple of 4 and stays as it is until the next
 * gap8_uart_wait has returned. Waits first for what is being sent already. */
int gap8_uart_send(const void *text, uint32_t bytes) __attribute__((warn_unused_result));

/* FC. Returns when the last stop bit is on the wire. */
void gap8_uart_wait(void);

#ifdef __cplusplus
}
#endif

#endif
