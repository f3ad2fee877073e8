/* What the firmwares of this project share: a known input, and text that a script compares with `dory run`. */
#ifndef CONSUMER_RUN_H
#define CONSUMER_RUN_H

#include <stdint.h>
#include <stdio.h>

#include "dory/run.h"

#define MAXIMUM_INPUT_BYTES 4096
#define MAXIMUM_LOGITS      16

static inline int run_and_print(const char *name, const struct dory_network *network, const struct dory_buffers *buffers)
{
    static uint8_t input[MAXIMUM_INPUT_BYTES] DORY_L2;
    static int32_t logits[MAXIMUM_LOGITS] DORY_L2;
    if (network->inputs[0].bytes > sizeof input || network->outputs[0].bytes > sizeof logits)
        return DORY_ERROR_MEMORY;
    for (uint32_t i = 0; i < network->inputs[0].bytes; i++)
        input[i] = (uint8_t)(i * 37 + 11);
    int status = dory_network_check_flash(network, buffers);
    if (status == DORY_OK)
        status = dory_network_run(network, buffers, input, logits);
    if (status == DORY_OK) {
        printf("%s:", name);
        for (uint32_t i = 0; i < network->outputs[0].bytes / sizeof *logits; i++)
            printf(" %ld", (long)logits[i]);
        printf("\n");
    }
    return status;
}

static inline int open_machine(void)
{
    int status = hal_l3_open(NULL, NULL);
    return status ? status : hal_cluster_open(hal_cluster_maximum_cores());
}

/* The program's exit status. */
static inline int close_machine(int status)
{
    if (status != DORY_OK)
        printf("dory: %s\n", dory_strerror(status));
    hal_cluster_close();
    return hal_l3_close() != DORY_OK || status != DORY_OK;
}

#endif
