#include "digits.h"
#include "run.h"

static uint8_t l1[DIGITS_L1_BYTES] DORY_L1;
static uint8_t l2[DIGITS_L2_BYTES] DORY_L2;

int main(void)
{
    struct dory_buffers buffers = {.l1 = l1,
                                   .l1_bytes = sizeof l1,
                                   .l2 = l2,
                                   .l2_bytes = sizeof l2,
                                   .flash_address = hal_flash_address(digits_weights)};
    int status = open_machine();
    if (status == DORY_OK)
        status = run_and_print("digits", &digits_network, &buffers);
    return close_machine(status);
}
