/* A clock that cannot be: the program must not run on at another one. */
#include "dory/gap8_clocks.h"
#include "dory/hal.h"

const struct gap8_clocks gap8_clocks = {.fc_hertz = 250000000, .cluster_hertz = 300000000};

int main(void)
{
    hal_log("main was called\n");
    return 0;
}
