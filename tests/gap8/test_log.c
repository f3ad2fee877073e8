/* Prints a line and hangs: the line must be in a log all the same, when somebody has stopped the simulator. */
#include "dory/hal.h"

int main(void)
{
    hal_log("the last line before it hangs\n");
    for (;;)
        __asm__ volatile("wfi");
}
