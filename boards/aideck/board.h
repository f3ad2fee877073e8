/* What the application asks of its board: a camera that works on its own, and a line to somewhere. board_gap8.c has the
 * AI-deck's; board_files.c plays pictures of a file. */
#ifndef AIDECK_BOARD_H
#define AIDECK_BOARD_H

#include <stdint.h>

enum { BOARD_WIDTH = 324, BOARD_HEIGHT = 244, BOARD_BYTES = BOARD_WIDTH * BOARD_HEIGHT };

/* How the camera is to look; zeros: as it comes, with automatic exposure. Pictures of a file are taken as they are. */
struct board_camera {
    uint8_t mirrors, flips;  /* left and right, above and below */
    uint16_t exposure_lines; /* of a picture's 532, during which a row takes in light; 0: automatic */
    uint8_t gain;            /* 1, 2, 4 or 8; counts with exposure_lines */
};

/* All on the fabric controller, all return 0 or a status. */
int board_open(const struct board_camera *camera);
int board_close(void);

/* Captures the next frame; a second capture may be started while one is under way. */
int board_start_capture(uint8_t frame[BOARD_BYTES]);

/* Is the older of those captures complete? Then board_await_capture returns at once. */
int board_capture_is_complete(void);

/* Returns when the older of those captures is complete. */
int board_await_capture(void);

/* Starts to send the text, which is copied; the line is free again when board_await_print has returned. */
int board_print(const char *text);
void board_await_print(void);

/* Cycles a second of hal_cycles; 0 where they are no time. */
uint32_t board_hertz(void);

#endif
