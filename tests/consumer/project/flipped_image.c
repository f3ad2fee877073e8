/* Flash with the network's own image, in which one bit of one weight is wrong: the header is right, the whole is not. */
#include "digits.h"
#include "run.h"

extern const uint8_t flipped[];

static uint8_t l1[DIGITS_L1_BYTES] DORY_L1;
static uint8_t l2[DIGITS_L2_BYTES] DORY_L2;

int main(void)
{
    struct dory_buffers buffers = {.l1 = l1, .l1_bytes = sizeof l1, .l2 = l2, .l2_bytes = sizeof l2};
    int status = open_machine(), header = DORY_OK, flipped_status = DORY_OK;
    if (status == DORY_OK) {
        buffers.flash_address = hal_flash_address(flipped);
        header = dory_network_check_flash_header(&digits_network, &buffers);
        flipped_status = dory_network_check_flash(&digits_network, &buffers);
        buffers.flash_address = hal_flash_address(digits_weights);
        status = dory_network_check_flash(&digits_network, &buffers);
    }
    printf("header: %s; flipped: %s; own: %s\n", dory_strerror(header), dory_strerror(flipped_status),
           dory_strerror(status));
    return close_machine(
        status == DORY_OK && header == DORY_OK && flipped_status == DORY_ERROR_FLASH_IMAGE ? DORY_OK : DORY_ERROR_MISMATCH);
}
