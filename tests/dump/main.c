/* Two networks that write their tensors to the log, one of them twice, with other text in between. With SPOIL a byte of L2
 * changes after the second layer of the first network, as by a stray pointer. */
#include <stddef.h>

#include "dumped_digits.h"
#include "dumped_residual.h"
#include "firmware_main.h"

static uint8_t image[DUMPED_DIGITS_INPUT_BYTES];
static uint8_t picture[DUMPED_RESIDUAL_INPUT_BYTES];

static void fill(uint8_t *bytes, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(i * 37 + 11 + seed);
}

static int between_layers(void *user, const struct dory_buffers *buffers, unsigned layer)
{
    (void)user;
    hal_log("application: a layer is done\n");
#ifdef SPOIL
    if (layer == 1)
        ((uint8_t *)buffers->l2)[dumped_digits_network.steps[1].output.offset + 5] ^= 0x55;
#else
    (void)buffers, (void)layer;
#endif
    return DORY_OK;
}

static int run_networks(struct dory_buffers *buffers)
{
    static int32_t logits[DUMPED_DIGITS_OUTPUT_BYTES / 4];
    static int32_t output[DUMPED_RESIDUAL_OUTPUT_BYTES / 4];
    fill(image, sizeof image, 0);
    fill(picture, sizeof picture, 1);
    buffers->observe = between_layers;
    buffers->flash_address = hal_flash_address(dumped_digits_weights);
    int status = dumped_digits_run(buffers, image, logits);
    hal_log("temperature 23.5, "); /* no line break: the next line begins behind this */
    buffers->observe = NULL;
    buffers->flash_address = hal_flash_address(dumped_residual_weights);
    if (status == DORY_OK)
        status = dumped_residual_run(buffers, picture, output);
    fill(picture, sizeof picture, 2);
    if (status == DORY_OK)
        status = dumped_residual_run(buffers, picture, output);
    return status;
}

#define LARGER(a, b) ((a) > (b) ? (a) : (b))

int main(void)
{
    struct dory_buffers buffers = {.l1_bytes = LARGER(DUMPED_DIGITS_L1_BYTES, DUMPED_RESIDUAL_L1_BYTES),
                                   .l2_bytes = LARGER(DUMPED_DIGITS_L2_BYTES, DUMPED_RESIDUAL_L2_BYTES)};
    return firmware_main(buffers, run_networks);
}
