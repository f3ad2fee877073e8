/* The price of the decision at hand, places for it, and better cuts, layer by layer. */
#include "price/price.h"
#include "realise/schedule.h"
#include "search/optimiser.h"

/* ---- prices ---- */

uint64_t price_now(struct optimiser *o, uint64_t limit)
{
    struct price price = decision_price(&o->now, limit);
    o->effort += (uint64_t)price.parts;
    uint64_t needed = (uint64_t)price.live_bytes + o->left_to_gaps;
    return needed <= price.l2_bytes ? price.cycles : MISFIT + needed - price.l2_bytes;
}

/* True where the decision is the one that was realised last, with no less care: often nothing has improved it. */
static bool is_realised(struct optimiser *o, enum place_care care)
{
    bool same = care <= o->realised_care && decision_is_same(&o->now, &o->realised);
    o->realised_care = care;
    decision_set(&o->realised, &o->now);
    return same;
}

/* Keeps the decision at hand if it is faster than all before, with places that are found with so much care. */
void keep_placed(struct optimiser *o, enum place_care care)
{
    struct arena scratch = {0};
    struct schedule schedule;
    const struct fit_limits faster = {.cycles = o->best.cycles, .care = care};
    if (!is_realised(o, care) && schedule_fit(&o->now, &faster, &schedule, &scratch)) {
        o->best.cycles = schedule.cycles;
        decision_set(&o->best.decision, &o->now);
    }
    arena_free(&scratch);
}

void realise(struct optimiser *o)
{
    if (o->now.choices[0].cut)
        keep_placed(o, PLACE_QUICKLY);
}

/* ---- cuts ---- */

/* Takes a choice for a layer if that has a better price than the decision at hand, or the same with fewer steps: tables take
 * L2, too. */
static uint64_t try_choice(struct optimiser *o, int layer, struct choice other, uint64_t price)
{
    struct choice *choice = &o->now.choices[layer], before = *choice;
    if (choice_is_same(&other, choice))
        return price;
    *choice = other;
    uint64_t now = price_now(o, price);
    if (now < price || (now == price && other.cut->step_count < before.cut->step_count))
        return now;
    *choice = before;
    return price;
}

/* All cuts, which in a small layer are few: what others beat may still be best in its place. */
static uint64_t choose_any_cut(struct optimiser *o, int layer, uint64_t price, uint64_t most_effort)
{
    struct cut **list;
    int count = cut_list(layer_of(&o->now, layer), layer_ram(&o->now, layer), &list);
    for (int i = 0; i < 2 * count && o->effort < most_effort; i++)
        if (cut_solve(list[i / 2]) && (i % 2 == 0 || list[i / 2]->step_count > 1))
            price = try_choice(o, layer, (struct choice){list[i / 2], i % 2 == 0}, price);
    return price;
}

uint64_t choose_cut(struct optimiser *o, int layer, uint64_t price, uint64_t most_effort)
{
    const struct candidate *front;
    if (is_in_block(&o->now, layer))
        return price;
    int count = candidate_front(layer_of(&o->now, layer), layer_ram(&o->now, layer), &front);
    for (int i = 0; i < count && o->effort < most_effort; i++)
        price = try_choice(o, layer, front[i].choice, price);
    if (o->tries_all_cuts)
        price = choose_any_cut(o, layer, price, most_effort);
    return price;
}

uint64_t improve_all(struct optimiser *o, uint64_t price, uint64_t most_effort)
{
    for (uint64_t before = UINT64_MAX; price < before && o->effort < most_effort;) {
        before = price;
        for (int l = 0; l < o->network->layer_count; l++)
            price = choose_cut(o, l, price, most_effort);
    }
    return price;
}

void improve(struct optimiser *o) { improve_all(o, price_now(o, UINT64_MAX), o->effort + START_EFFORT); }
