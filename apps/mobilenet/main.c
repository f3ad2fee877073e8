/* Classifies one image with MobileNetV1 and prints the five best classes.
 *
 * The image lies in flash behind the weights; an application with a camera has it in L2 instead. The L2 buffer is the
 * application's again between two runs. */
#include <stdio.h>

#include "common/app.h"
#include "dory/hal.h"
#include "mobilenet.h"

#define BEST 5

extern const uint8_t demo_image[]; /* in flash: an address for hal_flash_address, not memory */

static uint8_t l1[MOBILENET_L1_BYTES] DORY_L1;
static uint8_t l2[MOBILENET_L2_BYTES] DORY_L2;
static int32_t logits[MOBILENET_OUTPUT_BYTES / sizeof(int32_t)] DORY_L2;

static void print_best(void)
{
    for (int rank = 1; rank <= BEST; rank++) {
        unsigned best = app_best_class(logits, sizeof logits / sizeof *logits);
        printf("class %4u  logit %d\n", best, (int)logits[best]);
        logits[best] = INT32_MIN;
    }
}

/* The image goes to the place in the arena where the network expects its input, so that it is not copied again. */
static int classify(void)
{
    const struct dory_buffers buffers = {
        .l1 = l1,
        .l1_bytes = sizeof l1,
        .l2 = l2,
        .l2_bytes = sizeof l2,
        .flash_address = hal_flash_address(mobilenet_weights),
    };
    uint8_t *input = l2 + MOBILENET_INPUT_OFFSET;
    int status = dory_network_check_flash(&mobilenet_network, &buffers);
    if (status == DORY_OK) {
        status = app_read_flash(demo_image, 0, input, MOBILENET_INPUT_BYTES);
    }
    if (status == DORY_OK) {
        status = mobilenet_run(&buffers, input, logits);
    }
    if (status == DORY_OK) {
        print_best();
    }
    return status;
}

int main(void) { return app_main(classify); }
