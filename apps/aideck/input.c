#include "input.h"

#include "dory/hal.h"

/* Where the network reads its input, so that it is not copied once more; a place of our own where that is in RAM. */
#if MODEL_INPUT_IN_RAM
static uint8_t image[MODEL_INPUT_BYTES] DORY_L2;
#define IMAGE(network_l2) image
#else
#define IMAGE(network_l2) ((network_l2) + MODEL_INPUT_OFFSET)
#endif

/* Signed networks take a pixel less 128. */
#define SIGN (MODEL_INPUT_IS_SIGNED ? 0x80808080u : 0u)

static struct copy {
    const uint32_t *from;
    uint32_t *to;
} copy; /* in L2, where the cluster reaches it */

/* Words by turns; what is behind the last one. Every core its part: the controller alone would take ten times as long. */
static void copy_pixels(void *argument)
{
    const struct copy *pixels = argument;
    const uint32_t words = MODEL_INPUT_BYTES / 4;
    for (uint32_t i = hal_core_id(); i < words; i += hal_core_count())
        pixels->to[i] = pixels->from[i] ^ SIGN;
    for (uint32_t i = 4 * words; i < MODEL_INPUT_BYTES && hal_core_id() == 0; i++)
        ((uint8_t *)pixels->to)[i] = ((const uint8_t *)pixels->from)[i] ^ (uint8_t)SIGN;
}

static int copy_frame(const uint8_t *frame, uint8_t *to)
{
    copy = (struct copy){(const uint32_t *)(const void *)frame, (uint32_t *)(void *)to};
    return hal_cluster_run(copy_pixels, &copy);
}

static int scale_frame(const uint8_t *frame, uint32_t *l1, uint8_t *to)
{
    static struct scale scale; /* as above */
    scale = (struct scale){
        .picture = frame + (BOARD_HEIGHT - PART_HEIGHT) / 2 * BOARD_WIDTH + (BOARD_WIDTH - PART_WIDTH) / 2,
        .picture_stride = BOARD_WIDTH,
        .width = PART_WIDTH,
        .height = PART_HEIGHT,
        .result = to,
        .result_width = MODEL_INPUT_WIDTH,
        .result_height = MODEL_INPUT_HEIGHT,
        .l1 = l1,
        .l1_bytes = INPUT_L1_BYTES,
    };
    int status = hal_cluster_run(scale_area, &scale);
    return status ? status : scale.status;
}

int input_prepare(const uint8_t *frame, uint32_t *l1, uint8_t *network_l2, const uint8_t **input)
{
    uint8_t *place = IMAGE(network_l2);
    (void)network_l2;
    *input = place;
    if (INPUT_IS_FRAME)
        return copy_frame(frame, place);
    int status = scale_frame(frame, l1, place);
    return status == DORY_OK && MODEL_INPUT_IS_SIGNED ? copy_frame(place, place) : status;
}
