#include "sensor.h"

#include "app.h"
#include "dory/hal.h"

/* A digit of SIDE x SIDE pixels, each SCALE x SCALE on the sensor, in the middle of a bright frame. */
#define SIDE         8
#define SCALE        12
#define DIGIT_BYTES  64u
#define LABELS_BYTES 4u /* flash is read in words: labels of 4 digits at a time */
#define DIGIT_HEIGHT (SIDE * SCALE)
#define TOP          ((SENSOR_HEIGHT - DIGIT_HEIGHT) / 2)
#define LEFT         ((SENSOR_WIDTH - DIGIT_HEIGHT) / 2)

extern const uint8_t scenes[], scene_labels[]; /* in flash: 64 bytes and 1 byte a digit */

static uint8_t digit[DIGIT_BYTES] DORY_L2;
static uint8_t labels[LABELS_BYTES] DORY_L2;
static uint32_t next_scene;

/* Every second pixel is one brighter: noise that a mean over SCALE x SCALE pixels removes. */
static uint8_t pixel(int row, int column)
{
    int y = row - TOP, x = column - LEFT;
    if (y < 0 || y >= DIGIT_HEIGHT || x < 0 || x >= DIGIT_HEIGHT) {
        return (uint8_t)(200 + (row + column) % 50);
    }
    return (uint8_t)(digit[y / SCALE * SIDE + x / SCALE] + (row + column) % 2);
}

int sensor_capture(uint8_t frame[SENSOR_HEIGHT * SENSOR_WIDTH])
{
    uint32_t aligned = next_scene / LABELS_BYTES * LABELS_BYTES;
    int status = app_read_flash(scenes, next_scene * DIGIT_BYTES, digit, DIGIT_BYTES);
    if (status == DORY_OK) {
        status = app_read_flash(scene_labels, aligned, labels, LABELS_BYTES);
    }
    for (int row = 0; row < SENSOR_HEIGHT; row++) {
        for (int column = 0; column < SENSOR_WIDTH; column++) {
            frame[row * SENSOR_WIDTH + column] = pixel(row, column);
        }
    }
    next_scene++;
    return status;
}

unsigned sensor_truth(void) { return labels[(next_scene - 1) % LABELS_BYTES]; }
