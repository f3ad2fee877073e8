/* Classifies the test images of the digits network and counts how many it gets right.
 *
 * Images and labels lie in flash behind the weights. What is printed for a wrong one lets a test compare the answer to
 * every image with the golden model's: no line means that the label is the answer. */
#include <stdio.h>

#include "common/app.h"
#include "digits.h"
#include "dory/hal.h"

#define CLASSES      (DIGITS_OUTPUT_BYTES / sizeof(int32_t))
#define LABELS_BYTES ((TEST_IMAGES + HAL_L3_ALIGNMENT - 1) / HAL_L3_ALIGNMENT * HAL_L3_ALIGNMENT)

extern const uint8_t test_images[], test_labels[]; /* in flash: addresses for hal_flash_address, not memory */

static uint8_t l1[DIGITS_L1_BYTES] DORY_L1;
static uint8_t l2[DIGITS_L2_BYTES] DORY_L2;
static uint8_t labels[LABELS_BYTES] DORY_L2;
static int32_t logits[CLASSES] DORY_L2;

/* The image goes to the place in the arena where the network expects its input, so that it is not copied again. */
static int classify(const struct dory_buffers *buffers, unsigned image, unsigned *answer)
{
    uint8_t *input = l2 + DIGITS_INPUT_OFFSET;
    int status = app_read_flash(test_images, image * DIGITS_INPUT_BYTES, input, DIGITS_INPUT_BYTES);
    if (status == DORY_OK) {
        status = digits_run(buffers, input, logits);
    }
    *answer = app_best_class(logits, CLASSES);
    return status;
}

static int classify_all(void)
{
    const struct dory_buffers buffers = {
        .l1 = l1,
        .l1_bytes = sizeof l1,
        .l2 = l2,
        .l2_bytes = sizeof l2,
        .flash_address = hal_flash_address(digits_weights),
    };
    unsigned right = 0, answer = 0;
    int status = dory_network_check_flash(&digits_network, &buffers);
    if (status == DORY_OK) {
        status = app_read_flash(test_labels, 0, labels, LABELS_BYTES);
    }
    for (unsigned image = 0; image < TEST_IMAGES && status == DORY_OK; image++) {
        status = classify(&buffers, image, &answer);
        right += answer == labels[image];
        if (answer != labels[image]) {
            printf("image %u: a %u taken for a %u\n", image, (unsigned)labels[image], answer);
        }
    }
    if (status == DORY_OK) {
        printf("%u images, %u right: %u.%u %%\n", (unsigned)TEST_IMAGES, right, right * 100 / TEST_IMAGES,
               right * 1000 / TEST_IMAGES % 10);
    }
    return status;
}

int main(void) { return app_main(classify_all); }
