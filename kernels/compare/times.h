/* What a check program says of a run's time, its transfers and its stacks: see dory/check.h. */
#ifndef DORY_CHECK_TIMES_H
#define DORY_CHECK_TIMES_H

#include "dory/check.h"

/* Of each layer, where there is a profile, and of a run of so many cycles as a whole. */
void check_log_times(const struct dory_check *check, uint32_t cycles);

/* What each stack held at most, of what it may. Nothing on a PC, whose frames are not a chip's. */
void check_log_stacks(void);

#endif
