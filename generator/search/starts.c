/* A first decision: guesses of the cuts, layer by layer, for levels that leave all layers enough of L2. */
#include "search/optimiser.h"

#include "price/price.h"

/* With what the candidate's bytes of L2 cost others: none of them can hold what is prefetched, so that as many bytes come
 * later. With half that price of a byte, with twice of it, or with the best start of five prices, the plans of plans.csv are
 * 0.005 to 0.015 % slower in the mean, and with none at all those in tight L2 up to 7 %. */
static uint64_t guess_with_bytes(const struct candidate *candidate)
{
    const struct target *target = candidate->choice.cut->of->problem->target;
    return candidate_guess(candidate) + (uint64_t)candidate->most_bytes * 1000 / target->l3_bytes_per_1000_cycles;
}

static bool take(struct optimiser *o, int layer, const struct candidate *candidate)
{
    if (candidate)
        o->now.choices[layer] = candidate->choice;
    return candidate != NULL;
}

/* The best of the candidates that need fewer bytes than the one chosen; null: none does. */
static const struct candidate *next_smaller(const struct decision *d, int layer)
{
    const struct candidate *front;
    int count = candidate_front(layer_of(d, layer), layer_ram(d, layer), &front);
    for (int i = 0; i < count; i++)
        if (choice_is_same(&front[i].choice, &d->choices[layer]) && front[i].most_bytes > 0)
            return best_guess(d, layer, front[i].most_bytes - 1, guess_with_bytes);
    return NULL;
}

/* The layer with the most in L2, where the decision does not fit; -1: it does. */
static int misfit(const struct optimiser *o)
{
    struct price price = decision_price(&o->now, 0);
    return (uint64_t)price.live_bytes + o->left_to_gaps <= price.l2_bytes ? -1 : price.live_layer;
}

/* Where windows of neighbouring layers do not fit side by side, one of the two gets smaller ones, as long as there are any:
 * smaller ones make more steps, whose tables take L2, too, and what is missing then is for those to find who come next. */
static void repair(struct optimiser *o)
{
    for (int layer; (layer = misfit(o)) >= 0;) {
        const struct candidate *smaller = next_smaller(&o->now, layer);
        if (!smaller && layer > 0)
            smaller = next_smaller(&o->now, --layer);
        if (!take(o, layer, smaller))
            return;
    }
}

/* Levels, and cuts by guesses; false where some layer has none. */
static bool choose_by_guesses(struct optimiser *o)
{
    bool guessed = true;
    choose_levels(o);
    choose_spills(o);
    for (int l = 0; l < o->network->layer_count && guessed; l++)
        guessed = take(o, l, best_guess(&o->now, l, room_beside_tensors(o, l), guess_with_bytes));
    if (guessed)
        repair(o);
    return guessed;
}

uint64_t find_start(struct optimiser *o)
{
    if (!choose_by_guesses(o))
        return UINT64_MAX;
    return improve_all(o, price_now(o, UINT64_MAX), o->effort + START_EFFORT);
}
