/* Executes a plan in this process: the very structs that the firmware would have, by kernels/run on the host HAL, each layer
 * compared with the golden interpreter. */
#ifndef DORY_TEST_RUN_PLAN_H
#define DORY_TEST_RUN_PLAN_H

#include "dory/hal_host.h"
#include "solve/plan_make.h"

struct run_plan_options {
    unsigned cores;
    uint64_t seed; /* of the HAL: which transfers are late */
    enum hal_host_timing timing;
    bool unobserved; /* nobody looks at the layers, only at the output: L3 transfers overlap as in an application */
};

struct run_plan_result {
    bool exact;
    int layers_compared;
    uint64_t values_compared;
    char message[400]; /* what differs or failed; empty where all is exact */
};

/* Each input of the network in HWC order. The plan is complete, its weights laid out. */
struct run_plan_result run_plan(const struct plan *plan, const int64_t *const *inputs,
                                const struct run_plan_options *options);

#endif
