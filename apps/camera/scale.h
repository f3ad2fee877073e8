/* Makes a part of a picture smaller: each pixel of the result is the mean of the area that it covers, pixels at the area's
 * edges with the part that lies in it, rounded to the nearest. In integers, exact: the same on every machine. */
#ifndef CAMERA_SCALE_H
#define CAMERA_SCALE_H

#include <stdint.h>

struct scale {
    const uint8_t *picture; /* in L2, the part's first pixel */
    uint8_t *result;        /* in L2 */
    uint32_t picture_stride;
    uint16_t width, height; /* of the part; width a multiple of 4, height at most SCALE_HEIGHT_LIMIT */
    uint16_t result_width, result_height;
    uint32_t *l1;      /* in L1 */
    uint32_t l1_bytes; /* SCALE_L1_BYTES, at least */
    int status; /* of it all, when scale_area has returned: DORY_ERROR_ARGUMENT, DORY_ERROR_L1_TOO_SMALL, one of the DMA */
};

#define SCALE_HEIGHT_LIMIT 257

/* Two bands of rows, as many as the area of a result's row touches; the sums of their columns; the result. */
#define SCALE_BAND_ROWS(height, result_height) (((height) + (result_height)-1) / (result_height) + 1)
#define SCALE_L1_BYTES(width, height, result_width, result_height)                                                          \
    (2 * SCALE_BAND_ROWS(height, result_height) * (width) + 2 * (width) + (result_width) * (result_height))

/* On the cluster, all cores; a function for hal_cluster_run. `argument` is a struct scale in L2. */
void scale_area(void *argument);

#endif
