#include "common/app.h"

#include <stdio.h>

#include "dory/hal.h"

int app_main(int (*run)(void))
{
    int status = hal_l3_open(NULL, NULL);
    if (status == DORY_OK) {
        status = hal_cluster_open(hal_cluster_maximum_cores());
    }
    if (status == DORY_OK) {
        status = run();
    }
    if (status != DORY_OK) {
        printf("dory: %s\n", dory_strerror(status));
        return 1;
    }
    hal_cluster_close();
    return hal_l3_close() != DORY_OK;
}

int app_read_flash(const uint8_t *symbol, uint32_t offset, void *l2, uint32_t bytes)
{
    struct hal_l3_copy copy = {
        .kind = HAL_FLASH_READ,
        .l3_address = hal_flash_address(symbol) + offset,
        .l2 = l2,
        .run_bytes = bytes,
        .runs = 1,
    };
    hal_l3_ticket ticket;
    int status = hal_l3_start(&copy, &ticket);
    return status ? status : hal_l3_wait(ticket);
}

unsigned app_best_class(const int32_t *logits, unsigned count)
{
    unsigned best = 0;
    for (unsigned i = 1; i < count; i++) {
        if (logits[i] > logits[best]) {
            best = i;
        }
    }
    return best;
}
