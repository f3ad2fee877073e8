/* A board with a file for a camera: its pictures, which lie in the flash one behind the other, are played in a circle. */
#include <stdio.h>

#include "aideck/board.h"
#include "common/app.h"
#include "dory/hal.h"

extern const uint8_t pictures[]; /* in flash */

static unsigned started, awaited;
static uint8_t *frames[2]; /* of the captures under way, by number */

int board_open(const struct board_camera *camera)
{
    (void)camera;
    return DORY_OK;
}

int board_close(void) { return DORY_OK; }

int board_start_capture(uint8_t frame[BOARD_BYTES])
{
    if (started - awaited == 2)
        return DORY_ERROR_ARGUMENT;
    frames[started++ % 2] = frame;
    return DORY_OK;
}

int board_capture_is_complete(void) { return 1; }

int board_await_capture(void)
{
    if (started == awaited)
        return DORY_ERROR_ARGUMENT;
    uint32_t picture = awaited % PICTURES;
    return app_read_flash(pictures, picture * BOARD_BYTES, frames[awaited++ % 2], BOARD_BYTES);
}

int board_print(const char *text)
{
    fputs(text, stdout);
    return DORY_OK;
}

void board_await_print(void) {}

uint32_t board_hertz(void) { return 0; }
