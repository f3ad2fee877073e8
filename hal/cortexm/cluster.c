/* The cluster of a machine with one core: the application's. A run is a call, on the application's stack. */
#include "internal.h"

static bool is_open, is_running;

unsigned hal_cluster_maximum_cores(void) { return 1; }
unsigned hal_core_id(void) { return 0; }
unsigned hal_core_count(void) { return is_open; }
bool cortexm_is_running(void) { return is_running; }
void hal_barrier(void) {}

int hal_cluster_open(unsigned cores)
{
    if (cores != 1)
        return DORY_ERROR_ARGUMENT;
    if (is_open)
        return DORY_ERROR_CLUSTER;
    is_open = true;
    cortexm_cycles_open();
    return DORY_OK;
}

int hal_cluster_run(void (*entry)(void *argument), void *argument)
{
    if (!entry)
        return DORY_ERROR_ARGUMENT;
    if (!is_open || is_running)
        return DORY_ERROR_CLUSTER;
    is_running = true;
    entry(argument);
    is_running = false;
    return cortexm_dma_end_of_run();
}

int hal_cluster_close(void)
{
    is_open = false;
    return DORY_OK;
}

/* The stack is the application's, whose bounds the HAL does not know. */
int hal_stack_peak(unsigned core, struct hal_stack *stack)
{
    (void)core;
    (void)stack;
    return DORY_ERROR_UNSUPPORTED;
}
