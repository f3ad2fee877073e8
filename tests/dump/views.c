/* A network with views instead of copies that writes all of its tensors to the log. */
#include "dumped_vit.h"
#include "firmware_main.h"

static uint8_t image[DUMPED_VIT_INPUT_BYTES], output[DUMPED_VIT_OUTPUT_BYTES];

static int run(struct dory_buffers *buffers)
{
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (uint8_t)(i * 37);
    buffers->flash_address = hal_flash_address(dumped_vit_weights);
    return dumped_vit_run(buffers, image, output);
}

int main(void)
{
    return firmware_main((struct dory_buffers){.l1_bytes = DUMPED_VIT_L1_BYTES, .l2_bytes = DUMPED_VIT_L2_BYTES}, run);
}
