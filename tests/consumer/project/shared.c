/* Three networks take turns in one L1 and one L2 arena; whoever ran before must not matter. The rest of an arena is the
 * application's: it is overwritten between the runs. */
#include <string.h>

#include "digits.h"
#include "residual.h"
#include "residual_small.h"
#include "run.h"

static union {
    uint8_t digits[DIGITS_L1_BYTES], residual[RESIDUAL_L1_BYTES], residual_small[RESIDUAL_SMALL_L1_BYTES];
} l1 DORY_L1;
static union {
    uint8_t digits[DIGITS_L2_BYTES], residual[RESIDUAL_L2_BYTES], residual_small[RESIDUAL_SMALL_L2_BYTES];
} l2 DORY_L2;

struct member {
    const char *name;
    const struct dory_network *network;
    const void *weights;
};

static int run_member(const struct member *member)
{
    struct dory_buffers buffers = {.l1 = &l1,
                                   .l1_bytes = sizeof l1,
                                   .l2 = &l2,
                                   .l2_bytes = sizeof l2,
                                   .flash_address = hal_flash_address(member->weights)};
    memset(&l2, 0xA5, sizeof l2); /* the application's, from here to the next run */
    return run_and_print(member->name, member->network, &buffers);
}

int main(void)
{
    const struct member members[] = {
        {"digits", &digits_network, digits_weights},
        {"residual", &residual_network, residual_weights},
        {"residual_small", &residual_small_network, residual_small_weights},
    };
    const unsigned order[] = {0, 1, 2, 2, 1, 0, 2, 0};
    int status = open_machine();
    for (unsigned i = 0; i < sizeof order / sizeof *order && status == DORY_OK; i++)
        status = run_member(&members[order[i]]);
    return close_machine(status);
}
