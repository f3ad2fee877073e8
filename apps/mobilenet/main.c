/* Classifies one image with MobileNetV1 and prints the five best classes.
 *
 * The image lies in flash behind the weights; an application with a camera has it in L2 instead. The L2 buffer is the
 * application's again between two runs. */
#include <stdio.h>

#include "dory/hal.h"
#include "mobilenet.h"

#define BEST 5

extern const uint8_t demo_image[]; /* in flash: an address for hal_flash_address, not memory */

static uint8_t l1[MOBILENET_L1_BYTES] DORY_L1;
static uint8_t l2[MOBILENET_L2_BYTES] DORY_L2;
static int32_t logits[MOBILENET_OUTPUT_BYTES / sizeof(int32_t)] DORY_L2;

/* To the place in the arena where the network expects its input, so that it is not copied again. */
static int load_image(void)
{
    struct hal_l3_copy copy = {
        .kind = HAL_FLASH_READ,
        .l3_address = hal_flash_address(demo_image),
        .l2 = l2 + MOBILENET_INPUT_OFFSET,
        .run_bytes = MOBILENET_INPUT_BYTES,
        .runs = 1,
    };
    hal_l3_ticket ticket;
    int status = hal_l3_start(&copy, &ticket);
    return status ? status : hal_l3_wait(ticket);
}

static int classify(const struct dory_buffers *buffers)
{
    int status = dory_network_check_flash(&mobilenet_network, buffers);
    if (status == DORY_OK) {
        status = load_image();
    }
    return status ? status : mobilenet_run(buffers, l2 + MOBILENET_INPUT_OFFSET, logits);
}

static void print_best(void)
{
    for (int rank = 1; rank <= BEST; rank++) {
        int best = 0;
        for (int i = 1; i < (int)(sizeof logits / sizeof *logits); i++) {
            if (logits[i] > logits[best]) {
                best = i;
            }
        }
        printf("class %4d  logit %d\n", best, (int)logits[best]);
        logits[best] = INT32_MIN;
    }
}

int main(void)
{
    struct dory_buffers buffers = {
        .l1 = l1,
        .l1_bytes = sizeof l1,
        .l2 = l2,
        .l2_bytes = sizeof l2,
        .flash_address = hal_flash_address(mobilenet_weights),
    };
    int status = hal_l3_open(NULL, NULL);
    if (status == DORY_OK) {
        status = hal_cluster_open(hal_cluster_maximum_cores());
    }
    if (status == DORY_OK) {
        status = classify(&buffers);
    }
    if (status != DORY_OK) {
        printf("dory: %s\n", dory_strerror(status));
        return 1;
    }
    print_best();
    hal_cluster_close();
    return hal_l3_close() != DORY_OK;
}
