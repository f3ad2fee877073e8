/* An illegal instruction on a cluster core, in a run: the handler says so and ends the program with status 126. */
#include "dory/hal.h"
#include "expect.h"

static void fail_on_core_6(void *argument)
{
    (void)argument;
    if (hal_core_id() == 6)
        __asm__ volatile(".4byte 0xFFFFFFFF");
    hal_barrier();
}

int main(void)
{
    EXPECT_EQUAL(hal_cluster_open(8), DORY_OK);
    hal_cluster_run(fail_on_core_6, NULL);
    return 1; /* not reached */
}
