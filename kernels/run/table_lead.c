#include "table_lead.h"

#include "dory/hal.h"

static const struct dory_step *end_of(const struct dory_run *run) { return run->network->steps + run->network->step_count; }

static bool starts_layer(const struct dory_lead *lead)
{
    return lead->step > lead->run->network->steps && lead->step->layer_number != lead->step[-1].layer_number;
}

static enum dory_meets meets(const struct dory_lead *lead)
{
    const struct dory_step *before = lead->step > lead->run->network->steps ? lead->step - 1 : 0;
    bool looks = dory_run_is_observed(lead->run) && starts_layer(lead);
    return looks ? DORY_MEETS_TWICE : dory_step_meets(lead->step, before);
}

/* To the next step for which the cores come, from this one on. */
static void find_step(struct dory_lead *lead)
{
    const struct dory_step *end = end_of(lead->run);
    while (lead->step != end && meets(lead) == DORY_MEETS_NOBODY) {
        lead->step++;
    }
}

void dory_lead_open(struct dory_lead *lead, struct dory_run *run)
{
    const struct dory_step *steps = run->network->steps;
    *lead = (struct dory_lead){.run = run, .shared = run->buffers->l1, .step = steps};
    dory_start_transfers(run, steps->transfers_awaited); /* they come while the cores get ready */
    find_step(lead);
}

/* All results of the steps before are in L2. */
static void look(struct dory_lead *lead)
{
    if (dory_run_is_observed(lead->run) && (lead->step == end_of(lead->run) || starts_layer(lead))) {
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
    if (lead->step != end_of(run) && (lead->again || meets(lead) == DORY_MEETS)) {
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
    if (run->status != DORY_OK || lead->step == end_of(run)) {
        if (run->status == DORY_OK) {
            look(lead);
        }
        dory_run_close(run);
        return false;
    }
    lead->again = !lead->again && meets(lead) == DORY_MEETS_TWICE;
    if (!lead->again) {
        dory_start_transfers(run, lead->step->transfers_started);
        lead->step++;
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
