/* A camera that is not there: shows enlarged digits, one after the other. A real one has the same interface. */
#ifndef CAMERA_SENSOR_H
#define CAMERA_SENSOR_H

#include <stdint.h>

enum {
    SENSOR_HEIGHT = 120, /* 160 x 120 grey pixels, QQVGA */
    SENSOR_WIDTH = 160,
};

/* Fills `frame` with the next picture, row by row. 0 or a status. */
int sensor_capture(uint8_t frame[SENSOR_HEIGHT * SENSOR_WIDTH]);

/* What the last picture shows. Only a simulated camera knows. */
unsigned sensor_truth(void);

#endif
