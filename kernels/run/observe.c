#include "observe.h"

static void observe_turn(struct dory_run *run, const struct dory_step *behind)
{
    const struct dory_step *first = behind - 1;
    while (first > run->network->steps && first[-1].layer_number == first->layer_number) {
        first--;
    }
    dory_run_fail(run, run->buffers->observe_turn(run->buffers->user, run->buffers, first, (unsigned)(behind - first)));
}

/* A tensor that goes to RAM leaves L2 with the transfers of the step behind it: an observer needs it now. */
static void observe_layer(struct dory_run *run, const struct dory_step *behind)
{
    bool more = behind != run->network->steps + run->network->step_count;
    unsigned due = more ? behind->transfers_started : run->network->transfer_count;
    dory_start_transfers(run, due);
    dory_await_transfers(run, due);
    dory_run_fail(run, run->buffers->observe(run->buffers->user, run->buffers, behind[-1].layer_number));
}

void dory_run_observe(struct dory_run *run, const struct dory_step *behind)
{
    if (run->buffers->observe_turn) {
        observe_turn(run, behind);
    }
    if (run->buffers->observe && behind[-1].last_of_layer && run->status == DORY_OK) {
        observe_layer(run, behind);
    }
}

void dory_run_close(struct dory_run *run)
{
    dory_start_transfers(run, run->status == DORY_OK ? run->network->transfer_count : run->transfers_started);
    dory_await_transfers(run, run->transfers_started);
}
