#include "input.h"

#include "dory/hal.h"

#define IS_COPY (!INPUT_IS_FRAME || CLASSIFIER_INPUT_IS_SIGNED)

static uint8_t image[IS_COPY ? CLASSIFIER_INPUT_BYTES : 8] DORY_L2;

/* Signed networks take a pixel less 128. */
static void make_signed(const uint8_t *from, uint8_t *to)
{
    for (uint32_t i = 0; i < CLASSIFIER_INPUT_BYTES; i++)
        to[i] = from[i] ^ 0x80;
}

static int scale_frame(const uint8_t *frame, uint32_t *l1)
{
    static struct scale scale; /* static: in L2, where the cluster reaches it */
    scale = (struct scale){
        .picture = frame + (BOARD_HEIGHT - PART_HEIGHT) / 2 * BOARD_WIDTH + (BOARD_WIDTH - PART_WIDTH) / 2,
        .picture_stride = BOARD_WIDTH,
        .width = PART_WIDTH,
        .height = PART_HEIGHT,
        .result = image,
        .result_width = CLASSIFIER_INPUT_WIDTH,
        .result_height = CLASSIFIER_INPUT_HEIGHT,
        .l1 = l1,
        .l1_bytes = INPUT_L1_BYTES,
    };
    int status = hal_cluster_run(scale_area, &scale);
    return status ? status : scale.status;
}

int input_prepare(const uint8_t *frame, uint32_t *l1, const uint8_t **input)
{
    int status = INPUT_IS_FRAME ? DORY_OK : scale_frame(frame, l1);
    if (CLASSIFIER_INPUT_IS_SIGNED)
        make_signed(INPUT_IS_FRAME ? frame : image, image);
    *input = IS_COPY ? image : frame;
    return status;
}
