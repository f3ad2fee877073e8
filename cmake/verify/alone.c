/* A program that only runs the network: what the linker says of it is what dory takes of a firmware. scripts/measure. */
#include "network.h"

int main(void)
{
    static uint8_t l1[NETWORK_L1_BYTES] DORY_L1, l2[NETWORK_L2_BYTES] DORY_L2;
    struct dory_buffers buffers = {
        .l1 = l1,
        .l1_bytes = sizeof l1,
        .l2 = l2,
        .l2_bytes = sizeof l2,
        .flash_address = hal_flash_address(network_weights),
    };
    int status = hal_cluster_open(NETWORK_CORES);
    if (!status) {
        status = hal_l3_open(NULL, NULL);
    }
    if (!status) {
        status = network_load(&buffers);
    }
    if (!status) {
        status = network_run(&buffers, NULL, NULL);
    }
    hal_log(dory_strerror(status));
    hal_cluster_close();
    return hal_l3_close();
}
