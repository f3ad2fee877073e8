/* Camera, pre-processing, network, in a loop: the shape of a real application.
 *
 * Memory is the application's. It lends its L1 and L2 buffers to the network for the time of digits_run, and has them
 * back after it: here the frame from the camera lies in the very bytes that the network works in afterwards, in L2,
 * and the crop of it likewise in L1. Only what must live across a run, image and logits, has a place of its own. */
#include <stdio.h>

#include "app.h"
#include "digits.h"
#include "dory/hal.h"
#include "sensor.h"

#define FRAMES  20
#define SIDE    8  /* of the network's input */
#define SCALE   12 /* sensor pixels a pixel of it, in both directions */
#define CROP    (SIDE * SCALE)
#define TOP     ((SENSOR_HEIGHT - CROP) / 2)
#define LEFT    ((SENSOR_WIDTH - CROP) / 2)
#define CLASSES (DIGITS_OUTPUT_BYTES / sizeof(int32_t))

/* What the application does between two runs of the network, beside what the network needs. */
static union {
    uint8_t network[DIGITS_L1_BYTES];
    struct {
        uint8_t crop[CROP * CROP];
        uint8_t scaled[SIDE * SIDE];
    } scaling;
} l1 DORY_L1;

static union {
    uint8_t network[DIGITS_L2_BYTES];
    uint8_t frame[SENSOR_HEIGHT * SENSOR_WIDTH];
} l2 DORY_L2;

static uint8_t image[DIGITS_INPUT_BYTES] DORY_L2;
static int32_t logits[CLASSES] DORY_L2;

/* ---- on the cluster: crop and scale --------------------------------------------------------------------------- */

static int copy_and_wait(const struct hal_dma_copy *copy)
{
    hal_dma_ticket ticket;
    int status = hal_dma_open(&ticket);
    if (status == DORY_OK) {
        int copied = hal_dma_copy(ticket, copy);
        status = hal_dma_wait(ticket);
        status = copied ? copied : status;
    }
    return status;
}

/* The middle of the frame: CROP runs of CROP bytes, a frame's row apart in L2, without gaps in L1. */
static int fetch_crop(void)
{
    struct hal_dma_copy copy = {
        .local = l1.scaling.crop,
        .external = l2.frame + TOP * SENSOR_WIDTH + LEFT,
        .run_bytes = CROP,
        .runs = CROP,
        .planes = 1,
        .external_run_stride = SENSOR_WIDTH,
        .local_run_stride = CROP,
        .direction = HAL_TO_LOCAL,
    };
    return copy_and_wait(&copy);
}

static int store_scaled(void)
{
    struct hal_dma_copy copy = {
        .local = l1.scaling.scaled,
        .external = image,
        .run_bytes = sizeof l1.scaling.scaled,
        .runs = 1,
        .planes = 1,
        .direction = HAL_FROM_LOCAL,
    };
    return copy_and_wait(&copy);
}

/* The mean of SCALE x SCALE pixels. */
static uint8_t scaled_pixel(unsigned row, unsigned column)
{
    const uint8_t *corner = l1.scaling.crop + row * SCALE * CROP + column * SCALE;
    unsigned sum = 0;
    for (unsigned y = 0; y < SCALE; y++) {
        for (unsigned x = 0; x < SCALE; x++) {
            sum += corner[y * CROP + x];
        }
    }
    return (uint8_t)(sum / (SCALE * SCALE));
}

/* All cores run this. Core 0 moves data, each core scales its share of the rows. */
static void crop_and_scale(void *argument)
{
    int *status = argument;
    if (hal_core_id() == 0) {
        *status = fetch_crop();
    }
    hal_barrier();
    for (unsigned row = hal_core_id(); row < SIDE; row += hal_core_count()) {
        for (unsigned column = 0; column < SIDE; column++) {
            l1.scaling.scaled[row * SIDE + column] = scaled_pixel(row, column);
        }
    }
    hal_barrier();
    if (hal_core_id() == 0 && *status == DORY_OK) {
        *status = store_scaled();
    }
}

/* ---- on the fabric controller: the loop ------------------------------------------------------------------------ */

static int process_frame(const struct dory_buffers *buffers)
{
    static int scaling_status; /* static: in L2, where the cluster reaches it */
    int status = sensor_capture(l2.frame);
    if (status == DORY_OK) {
        status = hal_cluster_run(crop_and_scale, &scaling_status);
    }
    if (status == DORY_OK) {
        status = scaling_status;
    }
    /* From here to the return of digits_run, l1 and l2 are the network's: frame and crop are gone. */
    return status ? status : digits_run(buffers, image, logits);
}

static int process_frames(void)
{
    const struct dory_buffers buffers = {
        .l1 = &l1,
        .l1_bytes = sizeof l1,
        .l2 = &l2,
        .l2_bytes = sizeof l2,
        .flash_address = hal_flash_address(digits_weights),
    };
    unsigned right = 0;
    int status = dory_network_check_flash(&digits_network, &buffers);
    for (int frame = 0; frame < FRAMES && status == DORY_OK; frame++) {
        status = process_frame(&buffers);
        unsigned answer = app_best_class(logits, CLASSES);
        right += answer == sensor_truth();
        printf("frame %2d shows a %u: %u, logit %d\n", frame, sensor_truth(), answer, (int)logits[answer]);
    }
    printf("%d frames, %u right\n", FRAMES, right);
    return status;
}

int main(void) { return app_main(process_frames); }
