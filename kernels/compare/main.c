/* The whole of a check program, but its table: see dory/check.h. */
#include <stddef.h>

#include "dory/check.h"

/* DORY_CHECK_WITHOUT_PROFILE: of many networks under a simulator the profile is half of the time, and nobody reads it. */
int main(void)
{
    struct dory_check check = dory_check;
#ifdef DORY_CHECK_WITHOUT_PROFILE
    check.profile = NULL;
#endif
    return dory_check_run(&check) != DORY_OK;
}
