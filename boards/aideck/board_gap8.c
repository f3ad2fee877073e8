/* AI-deck: HM01B0 at I2C 0 and the CPI, result over the UART. */
#include <assert.h>
#include <string.h>

#include "aideck/board.h"
#include "dory/gap8_camera.h"
#include "dory/gap8_clocks.h"
#include "dory/gap8_uart.h"
#include "dory/status.h"

#define BAUD 115200

static_assert(BOARD_WIDTH == GAP8_CAMERA_WIDTH && BOARD_HEIGHT == GAP8_CAMERA_HEIGHT, "one camera");

static char line[160] __attribute__((aligned(4))); /* in L2: the uDMA reads it */

int board_open(const struct board_camera *camera)
{
    int status = gap8_uart_open(BAUD);
    status = status ? status : gap8_camera_open(GAP8_CAMERA_AI_DECK);
    if (status == DORY_OK && (camera->mirrors || camera->flips))
        status = gap8_camera_orient(camera->mirrors, camera->flips);
    if (status == DORY_OK && camera->exposure_lines)
        status = gap8_camera_expose(camera->exposure_lines, camera->gain);
    return status;
}

int board_close(void)
{
    gap8_uart_wait();
    return gap8_camera_close();
}

static unsigned awaited; /* captures that were started and not waited for */

int board_start_capture(uint8_t frame[BOARD_BYTES])
{
    int status = gap8_camera_start(frame);
    awaited += status == DORY_OK;
    return status;
}

int board_capture_is_complete(void) { return gap8_camera_captures() < awaited; }

int board_await_capture(void)
{
    int status = gap8_camera_wait();
    awaited -= status == DORY_OK;
    return status;
}

int board_print(const char *text)
{
    gap8_uart_wait();
    size_t bytes = strlen(text);
    if (bytes > sizeof line)
        return DORY_ERROR_ARGUMENT;
    memcpy(line, text, bytes);
    return gap8_uart_send(line, (uint32_t)bytes);
}

void board_await_print(void) { gap8_uart_wait(); }

uint32_t board_hertz(void) { return gap8_clocks.cluster_hertz; }
