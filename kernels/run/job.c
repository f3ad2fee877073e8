/* Runs beside the application. */
#include "phases.h"

_Static_assert(sizeof(struct dory_driver) <= DORY_DRIVER_BYTES, "a driver fits in its job");

static struct dory_driver *driver_of(struct dory_job *job) { return (struct dory_driver *)(void *)job->driver; }

int dory_network_start_all(struct dory_job *job, const struct dory_network *network, const struct dory_buffers *buffers,
                           const void *const *inputs, void *const *outputs)
{
    int status = job ? dory_run_check(network, buffers) : DORY_ERROR_ARGUMENT;
    if (status != DORY_OK) {
        return status;
    }
    job->buffers = *buffers;
    job->outputs = outputs;
    status = dory_run_begin(driver_of(job), network, &job->buffers, inputs);
    if (status == DORY_OK) {
        status = hal_cluster_start(dory_run_entry, driver_of(job), buffers->progress, job->stack);
    }
    job->is_started = 1;
    job->status = status == DORY_OK ? DORY_RUNNING : status;
    return status;
}

int dory_network_start(struct dory_job *job, const struct dory_network *network, const struct dory_buffers *buffers,
                       const void *input, void *output)
{
    bool one = network && network->input_count == 1 && network->output_count == 1;
    if (!one || !job) {
        return DORY_ERROR_ARGUMENT;
    }
    int status = dory_network_start_all(job, network, buffers, &input, &job->output);
    if (status == DORY_OK) {
        job->output = output;
    }
    return status;
}

/* What the cluster says of it. */
static int take_status(struct dory_job *job, int status)
{
    if (status != DORY_RUNNING) {
        job->status = dory_run_end(driver_of(job), status, job->outputs);
    }
    return job->status;
}

int dory_job_poll(struct dory_job *job)
{
    if (!job || !job->is_started) {
        return DORY_ERROR_ARGUMENT;
    }
    return job->status == DORY_RUNNING ? take_status(job, hal_cluster_poll()) : job->status;
}

int dory_job_wait(struct dory_job *job)
{
    if (!job || !job->is_started) {
        return DORY_ERROR_ARGUMENT;
    }
    return job->status == DORY_RUNNING ? take_status(job, hal_cluster_wait()) : job->status;
}

void dory_job_cancel(struct dory_job *job)
{
    if (job && job->status == DORY_RUNNING) {
        __atomic_store_n(&driver_of(job)->run.is_cancelled, 1, __ATOMIC_RELAXED);
    }
}
