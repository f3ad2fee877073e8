/* A network without its dead channels that writes all of its tensors to the log. */
#include "dory/hal.h"
#include "dumped_vww.h"

static uint8_t image[DUMPED_VWW_INPUT_BYTES], output[DUMPED_VWW_OUTPUT_BYTES];

int main(void)
{
    struct dory_buffers buffers = {.l1_bytes = DUMPED_VWW_L1_BYTES, .l2_bytes = DUMPED_VWW_L2_BYTES};
    int status = hal_l3_open(NULL, NULL);
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (uint8_t)(i * 37 + i / 288 * 5);
    if (status == DORY_OK)
        status = hal_cluster_open(hal_cluster_maximum_cores());
    if (status == DORY_OK)
        status = hal_memory_reserve(HAL_L1, buffers.l1_bytes, &buffers.l1);
    if (status == DORY_OK)
        status = hal_memory_reserve(HAL_L2, buffers.l2_bytes, &buffers.l2);
    buffers.flash_address = hal_flash_address(dumped_vww_weights);
    if (status == DORY_OK)
        status = dumped_vww_run(&buffers, image, output);
    hal_log(dory_strerror(status));
    hal_log("\n");
    hal_cluster_close();
    hal_l3_close();
    return status != DORY_OK;
}
