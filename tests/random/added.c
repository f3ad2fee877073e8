/* Additions that the kernel of the layer before makes, and plans of them that are wrong. */
#include "random_case.h"

#include "check/check.h"
#include "expect.h"
#include "plan/plan.h"

enum { WAYS = 7 };

/* `layer` is the addition; its stages are of the plan's own. */
static void spoil(struct plan_layer *layer, int way, struct dory_stages *stages)
{
    struct dory_layer *before = &layer[-1].record;
    *stages = *before->stages;
    before->stages = stages;
    switch (way) {
    case 0: stages->input[0].multiplier += stages->input[0].multiplier / 2 + 1; break;
    case 1: stages->first.addend += 1ll << stages->first.divisor; break;
    case 2: before->stages = NULL; break;
    case 3: layer->is_added = false; break;
    case 4: layer->inputs_are_early = false; break;
    case 5: before->rows.sum_gap++; break;
    default: layer->record.l1.output[0] = layer->record.l1.output[1] = before->l1.scratch; break;
    }
}

static void try_wrong(const struct plan *plan, int index, struct random_totals *totals)
{
    for (int way = 0; way < WAYS; way++) {
        struct arena arena = {0};
        struct diagnostics unheard = {.arena = &arena};
        struct dory_stages stages;
        struct plan wrong = *plan;
        plan_own_lists(&wrong, &arena);
        spoil(&wrong.layers[index], way, &stages);
        bool is_refused = !plan_check(&wrong, &unheard);
        EXPECT(is_refused, "an addition of layer %d, made wrong in way %d, is not found", index, way);
        totals->refused_additions += is_refused;
        arena_free(&arena);
    }
}

void count_added(const struct plan *plan, struct random_totals *totals)
{
    for (int i = 0; i < plan->network->layer_count; i++) {
        totals->added += plan->layers[i].is_added;
        if (plan->layers[i].is_added)
            try_wrong(plan, i, totals);
    }
}
