/* Where nothing can go on beside the application: what it starts is complete at once. */
#include <stdbool.h>

#include "dory/hal.h"

static bool is_busy; /* until its end has been reported */
static int result;

int hal_cluster_start(void (*entry)(void *argument), void *argument, enum hal_progress progress, void *stack)
{
    (void)progress;
    if (!stack)
        return DORY_ERROR_ARGUMENT;
    if (is_busy)
        return DORY_ERROR_BUSY;
    result = hal_cluster_drive(entry, argument);
    is_busy = result == DORY_OK;
    return result;
}

int hal_cluster_poll(void)
{
    int status = is_busy ? result : DORY_ERROR_ARGUMENT;
    is_busy = false;
    return status;
}

int hal_cluster_wait(void) { return hal_cluster_poll(); }
int hal_cluster_is_busy(void) { return is_busy; }
