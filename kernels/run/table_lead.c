#define DORY_HAL_ON_DRIVER
#include "table_lead.h"

#include "dory/hal.h"

static bool starts_layer(const struct dory_lead *lead, const struct dory_step *step)
{
    return step > lead->run->network->steps && step->layer_number != step[-1].layer_number;
}

/* To the next step for which the cores come, from this one on: behind the last transfer there is none. To read of the table
 * takes the FC longer than to remember. */
static void find_step(struct dory_lead *lead)
{
    bool is_observed = dory_run_is_observed(lead->run);
    bool is_last = !is_observed && lead->before.awaited == lead->run->network->transfer_count;
    const struct dory_step *end = lead->end, *step = is_last ? end : lead->step;
    struct dory_step_counts before = lead->before;
    enum dory_meets meets = DORY_MEETS_NOBODY;
    for (; step != end; step++) {
        struct dory_step_counts counts = dory_step_counts(step);
        meets = is_observed && starts_layer(lead, step) ? DORY_MEETS_TWICE : dory_counts_meet(counts, before);
        if (meets != DORY_MEETS_NOBODY) {
            break;
        }
        before = counts;
    }
    lead->step = step;
    lead->before = before;
    lead->meets = meets;
}

void dory_lead_open(struct dory_lead *lead, struct dory_run *run)
{
    const struct dory_step *steps = run->network->steps;
    lead->run = run;
    lead->shared = run->buffers->l1;
    lead->step = steps;
    lead->end = steps + run->network->step_count;
    lead->before = dory_counts_at_start(steps);
    lead->meetings = 0;
    lead->again = false;
    dory_start_transfers(run, lead->before.started); /* they come while the cores get ready */
    find_step(lead);
}

/* All results of the steps before are in L2. */
static void look(struct dory_lead *lead)
{
    if (dory_run_is_observed(lead->run) && (lead->step == lead->end || starts_layer(lead, lead->step))) {
        dory_run_observe(lead->run, lead->step);
    }
}

void dory_lead_prepare(struct dory_lead *lead)
{
    struct dory_run *run = lead->run;
    struct dory_meeting *meeting = &lead->shared->meeting[lead->meetings++ & 1];
    if (lead->again) {
        look(lead);
    }
    if (lead->step != lead->end && (lead->again || lead->meets == DORY_MEETS)) {
        dory_await_transfers(run, lead->step->transfers_awaited);
    }
    meeting->driver_status = run->status;
    meeting->l3_wait_cycles = run->l3_wait_cycles;
    run->l3_wait_cycles = 0;
}

bool dory_lead_go_on(struct dory_lead *lead)
{
    struct dory_run *run = lead->run;
    dory_run_fail(run, lead->shared->meeting[(lead->meetings - 1) & 1].core_status);
    if (run->status != DORY_OK || lead->step == lead->end) {
        if (run->status == DORY_OK) {
            look(lead);
        }
        dory_run_close(run);
        return false;
    }
    lead->again = !lead->again && lead->meets == DORY_MEETS_TWICE;
    if (!lead->again) {
        lead->before = dory_step_counts(lead->step++);
        dory_start_transfers(run, lead->before.started);
        find_step(lead);
    }
    return true;
}

void dory_lead_alone(struct dory_lead *lead)
{
    do {
        dory_lead_prepare(lead);
        hal_meet();
    } while (dory_lead_go_on(lead));
}
