/* A network without its dead channels that writes all of its tensors to the log. */
#include "dumped_vww.h"
#include "firmware_main.h"

static uint8_t image[DUMPED_VWW_INPUT_BYTES], output[DUMPED_VWW_OUTPUT_BYTES];

static int run(struct dory_buffers *buffers)
{
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (uint8_t)(i * 37 + i / 288 * 5);
    buffers->flash_address = hal_flash_address(dumped_vww_weights);
    return dumped_vww_run(buffers, image, output);
}

int main(void)
{
    return firmware_main((struct dory_buffers){.l1_bytes = DUMPED_VWW_L1_BYTES, .l2_bytes = DUMPED_VWW_L2_BYTES}, run);
}
