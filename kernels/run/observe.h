/* Who sees the layers of a run as they are completed. */
#ifndef DORY_OBSERVE_H
#define DORY_OBSERVE_H

#include "run_state.h"

static inline bool dory_run_is_observed(const struct dory_run *run)
{
    return run->buffers->observe || run->buffers->observe_turn;
}

/* Driver, all results in L2, all cores waiting. The steps of one layer that lie in front of `behind` in the network's table
 * have been computed; `behind` may be the end of the table. */
void dory_run_observe(struct dory_run *run, const struct dory_step *behind);

/* Driver, at the end of a run: what is on its way comes; of a run that has not failed, all transfers. */
void dory_run_close(struct dory_run *run);

#endif
