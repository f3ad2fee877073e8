#include "subjects.h"

#include <stdlib.h>
#include <string.h>

#include "faults_digits.h"
#include "faults_graph.h"
#include "faults_random_12.h"
#include "faults_random_7.h"
#include "faults_resident.h"
#include "faults_residual.h"

#define SUBJECT(NAME)                                                                                                       \
    {                                                                                                                       \
#NAME, &faults_##NAME##_network, faults_##NAME##_weights                                                            \
    }

const struct subject subjects[SUBJECTS] = {
    SUBJECT(digits), SUBJECT(residual), SUBJECT(graph), SUBJECT(resident), SUBJECT(random_7), SUBJECT(random_12),
};

#define INPUT_BYTES 8192
static uint8_t input_bytes[INPUT_BYTES];

static void keep_first(int *status, int next) { *status = *status ? *status : next; }

/* In one call, or beside the application, by turns. */
static int run_somehow(const struct dory_network *network, const struct dory_buffers *buffers, const void *const *inputs,
                       void *const *outputs)
{
    static struct dory_job job;
    static unsigned turn;
    struct dory_buffers same = *buffers;
    turn++;
    if (turn % 3 == 0)
        return dory_network_run_all(network, buffers, inputs, outputs);
    same.progress = turn % 3 == 1 ? HAL_BY_POLL : HAL_BY_INTERRUPT;
    int status = dory_network_start_all(&job, network, &same, inputs, outputs);
    if (status != DORY_OK)
        return status;
    while (same.progress == HAL_BY_POLL && (status = dory_job_poll(&job)) == DORY_RUNNING)
        ;
    return dory_job_wait(&job);
}

/* Inputs and outputs lie in ordinary memory, one behind the other. */
static int run(const struct subject *subject, const struct dory_buffers *buffers, struct outcome *outcome)
{
    const struct dory_network *network = subject->network;
    const void *inputs[MAXIMUM_PORTS];
    void *outputs[MAXIMUM_PORTS];
    size_t used = 0;
    for (unsigned i = 0; i < network->input_count; used += network->inputs[i++].bytes)
        inputs[i] = input_bytes + used;
    for (unsigned i = 0; i < network->output_count; outcome->output_bytes += network->outputs[i++].bytes)
        outputs[i] = outcome->outputs + outcome->output_bytes;
    if (used > INPUT_BYTES || outcome->output_bytes > OUTPUT_BYTES)
        abort();
    return run_somehow(network, buffers, inputs, outputs);
}

static int prepare(const struct subject *subject, struct dory_buffers *buffers)
{
    int status;
    buffers->l1_bytes = subject->network->l1_bytes;
    buffers->l2_bytes = subject->network->l2_bytes;
    status = hal_memory_reserve(HAL_L1, buffers->l1_bytes, &buffers->l1);
    return status ? status : hal_memory_reserve(HAL_L2, buffers->l2_bytes, &buffers->l2);
}

static void use_opened(const struct subject *subject, const struct mistakes *mistakes, struct outcome *outcome)
{
    struct dory_buffers buffers = {.observe = mistakes->observe};
    if (!mistakes->flash)
        buffers.flash_address = hal_flash_address(subject->weights);
    keep_first(&outcome->status, prepare(subject, &buffers));
    if (mistakes->spoil)
        mistakes->spoil(&buffers);
    if (outcome->status == DORY_OK && !mistakes->without_check)
        outcome->status = dory_network_check_flash(subject->network, &buffers);
    if (outcome->status == DORY_OK && !mistakes->without_load)
        outcome->status = dory_network_load(subject->network, &buffers);
    if (outcome->status == DORY_OK && mistakes->overwrite)
        mistakes->overwrite(subject, &buffers);
    if (outcome->status == DORY_OK)
        outcome->status = run(subject, &buffers, outcome);
}

static void fill_inputs(void)
{
    for (size_t i = 0; i < INPUT_BYTES; i++)
        input_bytes[i] = (uint8_t)(i * 37 + 11);
}

void use_subject(const struct subject *subject, const struct mistakes *mistakes, struct outcome *outcome)
{
    struct hal_host_options machine = mistakes->machine;
    if (machine.ram_bytes == 0)
        machine.ram_bytes = RAM_BYTES;
    *outcome = (struct outcome){.status = hal_host_configure(&machine)};
    fill_inputs();
    hal_host_set_flash(mistakes->flash, mistakes->flash_bytes);
    if (mistakes->nth)
        hal_host_fail(mistakes->failing, mistakes->nth);
    if (!mistakes->without_l3)
        keep_first(&outcome->status, hal_l3_open(NULL, NULL));
    if (outcome->status == DORY_OK && !mistakes->without_cluster)
        outcome->status = hal_cluster_open(subject->network->cores);
    if (outcome->status == DORY_OK)
        use_opened(subject, mistakes, outcome);
    keep_first(&outcome->status, hal_cluster_close());
    keep_first(&outcome->status, hal_l3_close());
    keep_first(&outcome->status, hal_memory_reset());
    hal_host_get_counters(&outcome->counters);
}
