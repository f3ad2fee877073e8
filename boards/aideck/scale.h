/* Makes a part of a picture as large as a network wants it: each pixel of the result is the mean of the area that it covers,
 * pixels at the area's edges with the part that lies in it, rounded to the nearest. In integers, exact: the same on every
 * machine. A larger result repeats pixels, with the mean where two meet.
 *
 * Of a colour sensor each 2 x 2 pixels (a cell of the Bayer pattern) are red, twice green, and blue. The mean of a colour is
 * over its pixels in the area, in units of cells. */
#ifndef AIDECK_SCALE_H
#define AIDECK_SCALE_H

#include <stdint.h>

/* What the picture's pixels are: grey, or colours by a cell's rows. The part then begins with a cell. */
enum scale_pattern { SCALE_RGGB = 0, SCALE_GRBG = 1, SCALE_GBRG = 2, SCALE_BGGR = 3, SCALE_GREY = 4 };

struct scale {
    const uint8_t *picture; /* in L2, the part's first pixel */
    uint8_t *result;        /* in L2; of colours red, green, blue of a pixel together */
    uint32_t picture_stride;
    uint16_t width, height; /* of the part; width a multiple of 4, height at most SCALE_HEIGHT_LIMIT, of cells even */
    uint16_t result_width, result_height;
    uint16_t first_row, rows; /* of the result those that are made, and lie at `result` */
    enum scale_pattern pattern;
    uint8_t flips;     /* bits of each value of the result: 0x80 for a network that takes a pixel less 128 */
    uint32_t *l1;      /* in L1 */
    uint32_t l1_bytes; /* SCALE_L1_BYTES, at least */
    int status; /* of it all, when scale_area has returned: DORY_ERROR_ARGUMENT, DORY_ERROR_L1_TOO_SMALL, one of the DMA */
};

#define SCALE_HEIGHT_LIMIT 257

/* Two bands of rows, as many as the area of a result's row touches; the sums of their columns; two rows of the result.
 * `cell`: 1 for grey, 2 for colours; `height` in cells. */
#define SCALE_BAND_ROWS(height, result_height) (((height) + (result_height)-1) / (result_height) + 1)
#define SCALE_CHANNELS(cell)                   ((cell) + (cell) / 2) /* 1, or 3 */
#define SCALE_ROW_BYTES(result_width, cell)    (((result_width)*SCALE_CHANNELS(cell) + 3) / 4 * 4)
#define SCALE_L1_OF(width, height, result_width, result_height, cell)                                                       \
    (2 * (cell)*SCALE_BAND_ROWS((height) / (cell), result_height) * (width) + 2 * (cell) * (width) +                        \
     2 * SCALE_ROW_BYTES(result_width, cell))
#define SCALE_L1_BYTES(width, height, result_width, result_height) SCALE_L1_OF(width, height, result_width, result_height, 1)

/* On the cluster, all cores; a function for hal_cluster_run. `argument` is a struct scale in L2. */
void scale_area(void *argument);

#endif
