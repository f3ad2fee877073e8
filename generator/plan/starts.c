/* First decisions: guesses of the cuts, layer by layer, for levels that leave all layers enough of L2. */
#include "plan/optimiser.h"

#include <string.h>

#define STARTS 6 /* that are worth a closer look */

struct start {
    struct decision decision;
    uint64_t price; /* UINT64_MAX: there is none */
};

static uint32_t room(const struct optimiser *o, int layer)
{
    return o->bytes > o->live[layer] ? o->bytes - o->live[layer] : 0;
}

/* The candidate with the best guess that needs at most so many bytes beside the tensors in L2; null: none does. */
static const struct candidate *best_guess(struct optimiser *o, int layer, uint32_t bytes, bool alone)
{
    const struct candidate *front, *best = NULL;
    int count = candidate_first(o->planner, layer, layer_ram(o->planner, layer), &front);
    for (int i = 0; i < count; i++)
        if (front[i].most_bytes <= bytes && (!best || candidate_guess(&front[i], alone) < candidate_guess(best, alone)))
            best = &front[i];
    return best;
}

bool guess_cut(struct optimiser *o, int layer, bool alone)
{
    const struct candidate *best = best_guess(o, layer, room(o, layer), alone);
    if (best)
        o->planner->choices[layer] = best->choice;
    return best != NULL;
}

static bool guess_all(struct optimiser *o, bool alone)
{
    bool good = true;
    for (int l = 0; l < o->network->layer_count && good; l++)
        good = guess_cut(o, l, alone);
    return good;
}

/* The best of the candidates that need fewer bytes than the one chosen; null: none does. */
static const struct candidate *next_smaller(struct optimiser *o, int layer, bool alone)
{
    const struct candidate *front;
    int count = candidate_front(o->planner, layer, layer_ram(o->planner, layer), &front);
    for (int i = 0; i < count; i++)
        if (is_same_choice(&front[i].choice, &o->planner->choices[layer]) && front[i].most_bytes > 0)
            return best_guess(o, layer, front[i].most_bytes - 1, alone);
    return NULL;
}

/* The layer with the most in L2, where the decision does not fit; -1: it does. */
static int misfit(const struct optimiser *o)
{
    struct price price = schedule_price(o->planner, o->bytes, 0);
    return price.live_bytes <= price.l2_bytes ? -1 : price.live_layer;
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

static bool has_same_places(const struct optimiser *o, const struct decision *decision)
{
    size_t tensors = (size_t)o->network->tensor_count;
    return memcmp(decision->levels, o->planner->levels, tensors * sizeof *decision->levels) == 0 &&
           memcmp(decision->layouts, o->planner->layouts, tensors * sizeof *decision->layouts) == 0;
}

/* Of the starts with the same places the best one, of all others those with the best prices: cuts are easily made better,
 * places are not. */
static void add_start(struct optimiser *o, struct start *starts)
{
    uint64_t price = decision_price(o, UINT64_MAX);
    int worst = 0;
    for (int i = 0; i < STARTS; i++)
        worst = starts[i].price > starts[worst].price ? i : worst;
    for (int i = 0; i < STARTS; i++)
        worst = starts[i].price != UINT64_MAX && has_same_places(o, &starts[i].decision) ? i : worst;
    if (price >= starts[worst].price)
        return;
    starts[worst].price = price;
    decision_keep(o, &starts[worst].decision);
}

/* Guesses for less of L2 than there is leave the rest to prefetches. Parts in a hundred. */
static const uint32_t guessed_parts[] = {100, 95, 88, 80, 70, 60};

static void guess_starts(struct optimiser *o, struct start *starts)
{
    uint32_t bytes = o->bytes;
    for (size_t i = 0; i < sizeof guessed_parts / sizeof *guessed_parts; i++)
        for (int comfort = 0; comfort < (o->some_spill ? 2 : 1); comfort++) {
            o->bytes = (uint32_t)((uint64_t)bytes * guessed_parts[i] / 100);
            o->in_comfort = comfort != 0;
            choose_levels(o);
            for (int alone = 0; alone < 2; alone++) {
                o->bytes = (uint32_t)((uint64_t)bytes * guessed_parts[i] / 100);
                bool guessed = guess_all(o, alone != 0);
                o->bytes = bytes;
                if (guessed && repair(o, alone != 0))
                    add_start(o, starts);
            }
        }
    o->bytes = bytes;
}

bool find_start(struct optimiser *o, uint64_t *price)
{
    struct start starts[STARTS];
    for (int i = 0; i < STARTS; i++)
        starts[i] = (struct start){decision_make(o->network, o->planner->arena), UINT64_MAX};
    o->in_comfort = false;
    choose_levels(o);
    choose_spills(o);
    guess_starts(o, starts);
    int best = 0;
    for (int i = 0; i < STARTS; i++) {
        if (starts[i].price == UINT64_MAX)
            continue;
        decision_take(o, &starts[i].decision);
        starts[i].price = improve_all(o, starts[i].price, o->effort + START_EFFORT);
        decision_keep(o, &starts[i].decision);
        best = starts[i].price < starts[best].price ? i : best;
    }
    *price = starts[best].price;
    if (*price != UINT64_MAX)
        decision_take(o, &starts[best].decision);
    return *price != UINT64_MAX;
}
