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
#define FLIPS (MODEL_INPUT_IS_SIGNED ? 0x80 : 0)

static struct copy {
    const uint32_t *from;
    uint32_t *to;
} copy; /* in L2, where the cluster reaches it */

/* Words by turns. Every core its part: the controller alone would take ten times as long. */
static void copy_pixels(void *argument)
{
    static_assert(BOARD_BYTES % 4 == 0, "nothing is left behind the last word");
    const struct copy *pixels = argument;
    for (uint32_t i = hal_core_id(); i < BOARD_BYTES / 4; i += hal_core_count())
        pixels->to[i] = pixels->from[i] ^ FLIPS * 0x01010101u;
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
        .picture = frame + (size_t)PART_TOP * BOARD_WIDTH + PART_LEFT,
        .picture_stride = BOARD_WIDTH,
        .width = PART_WIDTH,
        .height = PART_HEIGHT,
        .result = to,
        .result_width = MODEL_INPUT_WIDTH,
        .result_height = MODEL_INPUT_HEIGHT,
        .pattern = INPUT_PATTERN,
        .flips = FLIPS,
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
    return INPUT_IS_FRAME ? copy_frame(frame, place) : scale_frame(frame, l1, place);
}
