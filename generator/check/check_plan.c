/* Pass `check`: proves a plan anew, by plain arithmetic and without asking the planner.
 *
 * First everything that can be looked at on its own: shapes, tiles, L1 maps, blobs, addresses within bounds, buffers that
 * live together apart. Then, if all addresses are sound, the plan is played. Each check may rely on those before it. */
#include "check/check.h"

#include "check/checker.h"

static void check_record(struct checker *c, int layer)
{
    check_shape(c, layer);
    check_layout(c, layer);
    check_l1(c, layer);
    check_blob(c, layer);
}

static void check_places_in_l1(struct checker *c, int layer)
{
    check_early(c, layer);
    check_added(c, layer);
    check_in_place(c, layer);
}

/* Up to the first that is at fault. */
static void check_each(struct checker *c, int count, void (*check)(struct checker *checker, int index))
{
    for (int i = 0; c->faults == 0 && i < count; i++)
        check(c, i);
}

static void play(struct checker *c)
{
    void (*const plays[])(struct checker * checker) = {check_tiles, check_contents, check_memory};
    for (size_t i = 0; c->faults == 0 && i < sizeof plays / sizeof *plays; i++)
        plays[i](c);
}

bool plan_check(const struct plan *plan, struct diagnostics *diagnostics)
{
    struct checker checker = {plan, diagnostics, 0};
    const int layers = plan->network->layer_count;
    check_sizes(&checker);
    check_views(&checker);
    for (int i = 0; i < layers; i++) {
        check_tile(&checker, i);
        check_gap(&checker, i);
    }
    check_each(&checker, layers, check_record);
    check_each(&checker, plan->step_count, check_step);
    check_each(&checker, layers, check_steps_of_layer);
    check_each(&checker, layers, check_places_in_l1);
    check_each(&checker, plan->buffer_count, check_buffer);
    check_each(&checker, plan->transfer_count, check_transfer);
    check_each(&checker, plan->network->tensor_count, check_tensor);
    play(&checker);
    if (checker.faults > CHECK_MAXIMUM_FAULTS)
        diagnose(diagnostics, SEVERITY_NOTE, NULL, NULL, "%d faults of the plan in all", checker.faults);
    return checker.faults == 0;
}
