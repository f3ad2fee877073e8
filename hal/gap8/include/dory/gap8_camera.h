/* The camera HIMAX HM01B0, that of the AI-deck and the GAPuino: whole frames of 324 x 244 grey pixels, a byte each.
 *
 *     static uint8_t frames[2][GAP8_CAMERA_BYTES] DORY_L2;
 *     status = gap8_camera_open(GAP8_CAMERA_AI_DECK);
 *     status = gap8_camera_start(frames[0]);
 *     for (unsigned turn = 0;; turn ^= 1) {
 *         status = gap8_camera_start(frames[turn ^ 1]);   comes while frames[turn] is worked on
 *         status = gap8_camera_wait();                    frames[turn] is there
 *         ...
 *     }
 *
 * The sensor is set up by I2C and sends frame after frame. Where a capture has been started, the uDMA writes the next frame
 * that begins to L2; no core has to do with it.
 *
 * Tried on gvsoc, never on a sensor. Registers of the sensor that tune its analogue side keep the values of its reset;
 * gap8_camera_write sets them. */
#ifndef DORY_GAP8_CAMERA_H
#define DORY_GAP8_CAMERA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GAP8_CAMERA_WIDTH  324u
#define GAP8_CAMERA_HEIGHT 244u
#define GAP8_CAMERA_BYTES  (GAP8_CAMERA_WIDTH * GAP8_CAMERA_HEIGHT)

/* The I2C controller that the sensor is connected to. */
enum gap8_camera_board { GAP8_CAMERA_AI_DECK = 0, GAP8_CAMERA_GAPUINO = 1 };

/* FC, all calls. Resets the sensor, sets it up and lets it send. The FC's clock is the one of gap8_clocks and stays so.
 * DORY_ERROR_DEVICE, and a line in the log: no HM01B0 answers. */
int gap8_camera_open(enum gap8_camera_board board) __attribute__((warn_unused_result));

/* Captures the next frame that begins. `frame`: GAP8_CAMERA_BYTES bytes in L2, at a multiple of 4. A second capture may be
 * started while one is under way, and gets the frame behind it. DORY_ERROR_ARGUMENT: two have not been waited for. */
int gap8_camera_start(uint8_t *frame) __attribute__((warn_unused_result));

/* Captures that were started and are not complete: 0, 1 or 2. */
unsigned gap8_camera_captures(void);

/* Waits until the older capture under way is complete. DORY_ERROR_ARGUMENT: none has been started that was not waited for.
 * DORY_ERROR_DEVICE: the sensor has not sent a frame in a second. */
int gap8_camera_wait(void) __attribute__((warn_unused_result));

/* The sensor rests, captures under way are given up. */
int gap8_camera_close(void) __attribute__((warn_unused_result));

/* Between open and close; counts from the next frame on. Mirrored: left and right change places; flipped: above and below.
 */
int gap8_camera_orient(int is_mirrored, int is_flipped) __attribute__((warn_unused_result));

/* Exposure by hand: each row takes in light for `lines` (2 to 530) of a frame's 532 lines, 63 us each; `gain`: 1, 2, 4 or 8.
 * 0 lines: automatic again. DORY_ERROR_ARGUMENT: other numbers. */
int gap8_camera_expose(uint32_t lines, uint32_t gain) __attribute__((warn_unused_result));

/* A register of the sensor. DORY_ERROR_DEVICE: the I2C controller does not come to an end. */
int gap8_camera_read(uint16_t sensor_register, uint8_t *value) __attribute__((warn_unused_result));
int gap8_camera_write(uint16_t sensor_register, uint8_t value) __attribute__((warn_unused_result));

#ifdef __cplusplus
}
#endif

#endif
