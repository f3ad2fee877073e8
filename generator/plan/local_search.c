/* A local search: a guess for each layer, made to fit, then other candidates one layer at a time. */
#include <string.h>

#include "plan/optimiser.h"

#define MOST_ROUNDS  4       /* over all layers */
#define MOST_EFFORT  250000  /* steps and transfers that one search looks at */
#define WHOLE_EFFORT 1000000 /* that all of them look at */

static uint32_t room(const struct optimiser *o, int layer)
{
    return o->planner->l2_bytes > o->live[layer] ? o->planner->l2_bytes - o->live[layer] : 0;
}

/* The candidate with the best guess that needs at most so many bytes beside the tensors in L2; null: none does. */
static const struct candidate *best_guess(struct optimiser *o, int layer, uint32_t bytes, bool alone)
{
    const struct candidate *front, *best = NULL;
    int count = candidate_front(o->planner, layer, layer_ram(o->planner, layer), &front);
    for (int i = 0; i < count; i++)
        if (front[i].most_bytes <= bytes && (!best || candidate_guess(&front[i], alone) < candidate_guess(best, alone)))
            best = &front[i];
    return best;
}

static bool guess_all(struct optimiser *o, bool alone)
{
    for (int l = 0; l < o->network->layer_count; l++) {
        const struct candidate *best = best_guess(o, l, room(o, l), alone);
        if (!best)
            return false;
        o->planner->choices[l] = best->choice;
    }
    return true;
}

/* Predicted cycles of the network; UINT64_MAX where the decision does not fit. Whether there are places is not looked at:
 * there nearly always are. */
static uint64_t evaluate(struct optimiser *o)
{
    struct arena scratch = {0};
    struct schedule schedule;
    schedule_make(o->planner, NULL, &schedule, &scratch);
    o->effort += (uint64_t)schedule.step_count + (uint64_t)schedule.transfer_count;
    uint64_t cycles = schedule.live_bytes <= o->planner->l2_bytes ? schedule.cycles : UINT64_MAX;
    arena_free(&scratch);
    return cycles;
}

/* Tries all other candidates of a layer; true if the network got faster than `cycles`. */
static bool improve_layer(struct optimiser *o, int layer, uint64_t *cycles)
{
    const struct candidate *front;
    int count = candidate_front(o->planner, layer, layer_ram(o->planner, layer), &front);
    struct choice *choice = &o->planner->choices[layer], best = *choice;
    bool improved = false;
    for (int i = 0; i < count && o->effort < o->most_effort; i++) {
        if (front[i].choice.cut == best.cut && front[i].choice.ahead == best.ahead)
            continue;
        if (front[i].most_bytes > room(o, layer))
            continue;
        *choice = front[i].choice;
        uint64_t now = evaluate(o);
        bool is_coarser = now == *cycles && choice->cut->step_count < best.cut->step_count; /* tables take L2, too */
        if (now < *cycles || is_coarser) {
            improved = improved || now < *cycles;
            *cycles = now;
            best = *choice;
        }
    }
    *choice = best;
    return improved;
}

void improve(struct optimiser *o)
{
    o->most_effort = o->effort + MOST_EFFORT < WHOLE_EFFORT ? o->effort + MOST_EFFORT : WHOLE_EFFORT;
    uint64_t cycles = evaluate(o);
    bool improved = true;
    for (int round = 0; round < MOST_ROUNDS && improved; round++) {
        improved = false;
        for (int l = 0; l < o->network->layer_count; l++)
            improved = improve_layer(o, l, &cycles) || improved;
    }
}

/* The best of the candidates that need fewer bytes than the one chosen; null: none does. */
static const struct candidate *next_smaller(struct optimiser *o, int layer, bool alone)
{
    const struct candidate *front;
    int count = candidate_front(o->planner, layer, layer_ram(o->planner, layer), &front);
    const struct choice *now = &o->planner->choices[layer];
    for (int i = 0; i < count; i++)
        if (front[i].choice.cut == now->cut && front[i].choice.ahead == now->ahead && front[i].most_bytes > 0)
            return best_guess(o, layer, front[i].most_bytes - 1, alone);
    return NULL;
}

/* The layer with the most in L2, where the decision does not fit; -1: it does. */
static int misfit(const struct optimiser *o)
{
    struct arena scratch = {0};
    struct schedule schedule;
    schedule_make(o->planner, NULL, &schedule, &scratch);
    bool fits = schedule.live_bytes <= o->planner->l2_bytes;
    int layer = fits ? -1 : schedule.steps[schedule.live_step].layer;
    arena_free(&scratch);
    return layer;
}

bool repair(struct optimiser *o, bool alone)
{
    for (int layer; (layer = misfit(o)) >= 0;) {
        const struct candidate *smaller = next_smaller(o, layer, alone);
        if (!smaller && layer > 0)
            smaller = next_smaller(o, --layer, alone);
        if (!smaller)
            return false;
        o->planner->choices[layer] = smaller->choice;
    }
    return true;
}

/* True where the decision is the one that was settled last: often nothing has improved it. */
static bool is_settled(struct optimiser *o)
{
    size_t homes = (size_t)o->network->tensor_count * sizeof *o->settled_homes;
    bool same = memcmp(o->settled_homes, o->planner->homes, homes) == 0;
    for (int l = 0; l < o->network->layer_count; l++) {
        const struct choice *a = &o->settled_choices[l], *b = &o->planner->choices[l];
        same = same && a->cut == b->cut && a->ahead == b->ahead;
        o->settled_choices[l] = *b;
    }
    memcpy(o->settled_homes, o->planner->homes, homes);
    return same;
}

void settle(struct optimiser *o)
{
    struct planner *p = o->planner;
    struct arena scratch = {0};
    if (is_settled(o))
        return;
    struct schedule schedule;
    uint32_t peak;
    const struct fit_limits faster = {.cycles = o->best_cycles, .care = PLACE_QUICKLY};
    if (schedule_fit(p, &faster, &schedule, &peak, &scratch)) {
        o->best_tries = schedule.tries;
        o->best_cycles = schedule.cycles;
        memcpy(o->best_choices, p->choices, (size_t)o->network->layer_count * sizeof *p->choices);
        memcpy(o->best_homes, p->homes, (size_t)o->network->tensor_count * sizeof *p->homes);
    }
    arena_free(&scratch);
}

static bool has_homes_to_choose(const struct optimiser *o)
{
    for (int t = 0; t < o->network->tensor_count; t++)
        if (o->spill[t] == SPILL_FREE)
            return true;
    return false;
}

static void search_from(struct optimiser *o, bool alone)
{
    if (!guess_all(o, alone) || !repair(o, alone))
        return;
    improve(o);
    settle(o);
}

void search_locally(struct optimiser *o)
{
    o->in_comfort = false;
    choose_homes(o);
    choose_spills(o);
    search_from(o, true);
    search_from(o, false);
    if (!has_homes_to_choose(o))
        return;
    o->in_comfort = true;
    choose_homes(o);
    search_from(o, true);
}
