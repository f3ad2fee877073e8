/* A first decision: guesses of the cuts, layer by layer, for levels that leave all layers enough of L2. */
#include "planner/optimiser.h"

#include "planner/price.h"

static uint32_t room(const struct optimiser *o, int layer)
{
    return o->bytes > o->now.live[layer] ? o->bytes - o->now.live[layer] : 0;
}

/* The candidate with the best guess that needs at most so many bytes beside the tensors in L2; null: none does. */
static const struct candidate *best_guess(const struct decision *d, int layer, uint32_t bytes)
{
    const struct candidate *front, *best = NULL;
    int count = candidate_first(layer_of(d, layer), layer_ram(d, layer), &front);
    for (int i = 0; i < count; i++)
        if (front[i].most_bytes <= bytes && (!best || candidate_guess(&front[i]) < candidate_guess(best)))
            best = &front[i];
    return best;
}

bool guess_cut(struct optimiser *o, int layer)
{
    const struct candidate *best = best_guess(&o->now, layer, room(o, layer));
    if (best)
        o->now.choices[layer] = best->choice;
    return best != NULL;
}

/* The best of the candidates that need fewer bytes than the one chosen; null: none does. */
static const struct candidate *next_smaller(const struct decision *d, int layer)
{
    const struct candidate *front;
    int count = candidate_front(layer_of(d, layer), layer_ram(d, layer), &front);
    for (int i = 0; i < count; i++)
        if (choice_is_same(&front[i].choice, &d->choices[layer]) && front[i].most_bytes > 0)
            return best_guess(d, layer, front[i].most_bytes - 1);
    return NULL;
}

/* The layer with the most in L2, where the decision does not fit; -1: it does. */
static int misfit(const struct optimiser *o)
{
    struct price price = decision_price(&o->now, o->bytes, 0);
    return price.live_bytes <= price.l2_bytes ? -1 : price.live_layer;
}

/* Where windows of neighbouring layers do not fit side by side, one of the two gets smaller ones. */
static bool repair(struct optimiser *o)
{
    for (int layer; (layer = misfit(o)) >= 0;) {
        const struct candidate *smaller = next_smaller(&o->now, layer);
        if (!smaller && layer > 0)
            smaller = next_smaller(&o->now, --layer);
        if (!smaller)
            return false;
        o->now.choices[layer] = smaller->choice;
    }
    return true;
}

/* Guesses for less of L2 than there is leave the rest to prefetches. Parts in a hundred. */
static const uint32_t guessed_parts[] = {100, 95, 88, 80, 70, 60};

/* Levels and cuts as if there was so much of L2; false where that leads to nothing. */
static bool guess_with(struct optimiser *o, uint32_t bytes)
{
    uint32_t all = o->bytes;
    bool guessed = true;
    o->bytes = bytes;
    choose_levels(o);
    for (int l = 0; l < o->network->layer_count && guessed; l++)
        guessed = guess_cut(o, l);
    o->bytes = all;
    return guessed && repair(o);
}

uint64_t find_start(struct optimiser *o)
{
    struct priced best = {decision_copy(&o->now, o->problem->arena), UINT64_MAX};
    choose_levels(o);
    choose_spills(o);
    for (size_t i = 0; i < sizeof guessed_parts / sizeof *guessed_parts; i++)
        if (guess_with(o, (uint32_t)((uint64_t)o->bytes * guessed_parts[i] / 100)))
            keep_better(&best, &o->now, price_now(o, best.price));
    if (best.price == UINT64_MAX)
        return UINT64_MAX;
    decision_set(&o->now, &best.decision);
    return improve_all(o, best.price, o->effort + START_EFFORT);
}
