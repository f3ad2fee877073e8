#include "digits.h"
#include "residual.h"
#include "run.h"

static uint8_t l1[DIGITS_L1_BYTES] DORY_L1;
static uint8_t l2[DIGITS_L2_BYTES] DORY_L2;

int main(void)
{
    struct dory_buffers buffers = {.l1 = l1,
                                   .l1_bytes = sizeof l1,
                                   .l2 = l2,
                                   .l2_bytes = sizeof l2,
                                   .flash_address = hal_flash_address(residual_weights)};
    int status = open_machine();
    if (status == DORY_OK)
        status = dory_network_check_flash(&digits_network, &buffers);
    printf("%s\n", dory_strerror(status));
    return close_machine(status == DORY_ERROR_FLASH_IMAGE ? DORY_OK : DORY_ERROR_MISMATCH);
}
