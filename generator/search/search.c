/* The search: from a first decision to faster ones, by moves of one tensor or a layer or two.
 *
 * It accepts what is not much slower than the best, and less of that as it goes on (threshold accepting: Dueck and Scheuer,
 * Journal of Computational Physics 90, 1990). First by the price of a decision, which is quickly told, with a look for
 * places now and then; what is gained there may be lost in gaps, so then by its price with places. The second is never less
 * than the first, which most moves fail. Bounded by a count of what is looked at, never by a clock. */
#include "choose/profile.h"
#include "search/optimiser.h"

#include "price/price.h"
#include "realise/schedule.h"

#define DESCENT_EFFORT  4000000
#define MAXIMUM_STARTS  10       /* of 200 plans of MobileNetV1-1.0-224 and V2 in little memory, none needed more than 7 */
#define PRICE_EFFORT    8000000  /* steps and transfers that are looked at */
#define PLACES_EFFORT   24000000 /* of the first walk with places; others take a third of it */
#define LOOK_EFFORT     200000   /* of these, between decisions for which places are sought */
#define PLACES_WEIGHT   8        /* of those, where places are found for them, too */
#define MAXIMUM_TURNS   48       /* of a block */
#define MOVES_OF_LAYER  400      /* at most */
#define LEAST_MOVES     4000
#define THRESHOLD_PARTS 20   /* of a layer's cycles in the mean: what the first moves may cost */
#define PLACED_PARTS    40   /* the same with places */
#define FAR_PARTS       5    /* the same of walks that shall lead away from where the first one ended */
#define FAR_WALKS       2    /* so many, in networks of few layers, and in tight memory without blocks */
#define FEW_LAYERS      16   /* in networks of no more, moves are cheap */
#define NEAR_PARTS      5000 /* of the cycles: nearer than this to the bound is as good */

struct walk {
    bool with_places;
    uint64_t parts, effort, random; /* threshold, bound, seed */
};

struct search {
    struct optimiser *o;
    struct decision *now; /* its */
    bool with_places;
    uint64_t price;
    struct decision before;
    struct priced best;
    uint64_t random;
    uint64_t next_look; /* for places, of the effort */
};

bool has_few_layers(const struct optimiser *o) { return o->network->layer_count <= FEW_LAYERS; }

bool memory_is_tight(const struct optimiser *o) { return decision_ram_cycles(&o->best.decision) > o->best.cycles / 2; }

/* ---- moves ---- */

static int random_below(struct search *s, int below)
{
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (int)((uint32_t)(s->random >> 33) % (uint32_t)below);
}

/* Of a small layer any cut at all: what others beat may still be best in its place. */
static bool any_small_cut(struct search *s, int layer)
{
    struct cut **list;
    int count = cut_list(layer_of(s->now, layer), layer_ram(s->now, layer), &list);
    struct cut *cut = count > 0 ? list[random_below(s, count)] : NULL;
    if (!cut || !cut_solve(cut))
        return false;
    s->now->choices[layer] = (struct choice){cut, cut->step_count == 1 || random_below(s, 3) > 0};
    return true;
}

static bool any_cut(struct search *s, int layer)
{
    if (is_in_block(s->now, layer))
        return cut_anew(s->o, layer, 2 + (uint32_t)random_below(s, MAXIMUM_TURNS - 1));
    if (layer_is_small(&s->o->problem->layers[layer].record) && random_below(s, 3) == 0)
        return any_small_cut(s, layer);
    const struct candidate *front;
    int count = candidate_front(layer_of(s->now, layer), layer_ram(s->now, layer), &front);
    if (count > 0)
        s->now->choices[layer] = front[random_below(s, count)].choice;
    return count > 0;
}

static bool move_layer(struct search *s)
{
    int layer = random_below(s, s->o->network->layer_count), next = layer + 1;
    bool both = next < s->o->network->layer_count && random_below(s, 4) == 0;
    return any_cut(s, layer) && (!both || any_cut(s, next));
}

/* Another place or layout, and other cuts for the layers at the tensor. */
static bool move_tensor(struct search *s)
{
    int tensor = random_below(s, s->o->network->tensor_count), layers[MAXIMUM_AROUND];
    enum memory_level level = s->now->levels[tensor];
    enum dory_layout layout = DORY_HWC;
    if (random_below(s, 2))
        level = level == IN_L2 ? IN_RAM : IN_L2;
    else
        layout = s->now->layouts[tensor] == DORY_HWC ? DORY_CHW : DORY_HWC;
    if (s->now->levels[tensor] == IN_RING || !is_possible(s->o, tensor, level, layout))
        return false;
    decision_place(s->now, tensor, level, layout);
    bool good = true;
    int count = layers_around(s->o->network, tensor, layers, 0);
    for (int i = 0; i < count && good; i++)
        good = (random_below(s, 2) && cut_anew(s->o, layers[i], 0)) || any_cut(s, layers[i]);
    return good;
}

/* ---- threshold accepting ---- */

static uint64_t price_with_places(const struct optimiser *o, uint64_t limit)
{
    return decision_price_in_gaps(&o->now, &(struct gaps_variant){.care = o->care}, limit);
}

/* Of the decision at hand, if it is not more than `most`. Where the move has changed nothing, it is as before. */
static uint64_t price_up_to(struct search *s, uint64_t most)
{
    bool same = decision_is_same(s->now, &s->before);
    uint64_t before = s->o->effort, price = same ? s->price : price_now(s->o, most);
    if (same)
        s->o->effort += (uint64_t)decision_parts(s->now);
    if (!s->with_places || price > most)
        return price;
    s->o->effort += (s->o->effort - before) * (s->o->care == PLACE_HASTILY ? PLACES_WEIGHT : 2 * PLACES_WEIGHT);
    return same ? price : price_with_places(s->o, most);
}

/* Of the decision at hand, if it would be faster than all that have places: what is near to one that has may have them, too,
 * where the fastest one has none. */
static void look_for_places(struct search *s)
{
    if (s->o->effort < s->next_look || s->price >= s->o->best.cycles - s->o->best.cycles / NEAR_PARTS)
        return;
    keep_placed(s->o, PLACE_CHEAPLY);
    s->next_look = s->o->effort + LOOK_EFFORT;
}

static void move(struct search *s, uint64_t most)
{
    decision_set(&s->before, s->now);
    bool moved = random_below(s, 3) ? move_layer(s) : move_tensor(s);
    uint64_t price = moved ? price_up_to(s, most) : UINT64_MAX;
    if (price > most) {
        decision_set(s->now, &s->before);
        return;
    }
    s->price = price;
    if (!s->with_places)
        look_for_places(s);
    keep_better(&s->best, s->now, price);
}

/* From the decision at hand, which has this price, to the best one that is found. */
static uint64_t search_from(struct optimiser *o, uint64_t price, const struct walk *walk)
{
    struct search s = {.o = o,
                       .now = &o->now,
                       .best = {decision_copy(&o->now, o->problem->arena), price},
                       .before = decision_copy(&o->now, o->problem->arena),
                       .with_places = walk->with_places,
                       .price = price,
                       .random = walk->random};
    uint64_t start = o->effort, effort = walk->effort, layers = (uint64_t)o->network->layer_count,
             threshold = o->best.cycles / layers / walk->parts;
    for (uint64_t i = 0, most = MOVES_OF_LAYER * layers + LEAST_MOVES; i < most && o->effort < start + effort; i++) {
        uint64_t done = (o->effort - start) * most / effort;
        uint64_t left = most - (done > i ? done : i);
        uint64_t more = s.price < MISFIT ? threshold * left / most * (uint64_t)random_below(&s, 1000) / 1000 : 0;
        move(&s, s.price + more);
    }
    decision_set(&o->now, &s.best.decision);
    return s.best.price;
}

static bool is_near(uint64_t cycles, uint64_t bound) { return cycles != UINT64_MAX && cycles - bound / NEAR_PARTS <= bound; }

/* Bytes of L2 that the decision at hand lacks: for what lives, or for places for it. */
static uint32_t lacking_bytes(const struct optimiser *o)
{
    struct price price = decision_price(&o->now, 0);
    uint32_t least = price.live_bytes <= price.l2_bytes ? decision_least_bytes(&o->now) : price.live_bytes;
    return least > price.l2_bytes ? least - price.l2_bytes : 0;
}

/* To the fastest decision with places that single moves lead to; where it has none, another one leaves to gaps what it
 * lacks, and from then on twice as much: with as much as it lacked each time, three of 200 plans had none behind 9 to
 * 20 starts. With prices of a byte up to 64 times L3's instead, two networks found none at all. */
static void search_start(struct optimiser *o)
{
    uint32_t lacking = 0;
    int starts = 0;
    do {
        uint64_t price = find_start(o);
        if (price == UINT64_MAX)
            break;
        realise(o);
        descend(o, price, DESCENT_EFFORT);
        realise(o);
        if (o->best.cycles == UINT64_MAX)
            keep_placed(o, PLACE_CAREFULLY);
        lacking = o->best.cycles == UINT64_MAX ? lacking_bytes(o) : 0;
        uint32_t more = lacking > o->left_to_gaps ? lacking : o->left_to_gaps;
        o->left_to_gaps += dory_minimum(more, o->problem->l2_bytes - o->left_to_gaps);
    } while (lacking > 0 && ++starts < MAXIMUM_STARTS);
    o->left_to_gaps = 0;
}

static uint64_t search_prices_from(struct optimiser *o, uint64_t price, uint64_t parts, uint64_t effort, uint64_t seed)
{
    price = search_from(o, price, &(struct walk){false, parts, effort, seed});
    realise(o);
    return price;
}

uint64_t search(struct optimiser *o)
{
    search_start(o);
    if (o->best.cycles == UINT64_MAX)
        return UINT64_MAX;
    decision_set(&o->now, &o->best.decision);
    uint64_t price = price_now(o, UINT64_MAX);
    if (is_near(o->best.cycles, computing_cycles(&o->now)))
        return price;
    price = search_prices_from(o, price, THRESHOLD_PARTS, PRICE_EFFORT, 1);
    /* Where memory is tight, single moves lead nowhere, but blocks do. */
    bool walks_far = has_few_layers(o) || (memory_is_tight(o) && o->problem->options->blocks == BLOCKS_NONE);
    for (uint64_t i = 0, far = walks_far ? FAR_WALKS : 0; i < far + o->problem->options->more_walks; i++)
        price = search_prices_from(o, price, FAR_PARTS, PRICE_EFFORT, i + 1);
    return price;
}

uint64_t search_prices(struct optimiser *o, uint64_t price)
{
    realise(o);
    return search_prices_from(o, price, THRESHOLD_PARTS, PRICE_EFFORT / 2, 1);
}

/* The decision at hand, or the best one so far: from which to look for places. Their price, UINT64_MAX: neither has any. */
static uint64_t choose_placed_start(struct optimiser *o)
{
    const struct decision searched = decision_copy(&o->now, o->problem->arena);
    uint64_t price = price_with_places(o, UINT64_MAX);
    decision_set(&o->now, &o->best.decision);
    uint64_t best = price_with_places(o, UINT64_MAX);
    if (price < best)
        decision_set(&o->now, &searched);
    return price < best ? price : best;
}

/* From the decision at hand to the best one of two ends or more, which is at hand then: where a walk ends is luck, so that
 * with more memory one may end at a slower plan. */
static uint64_t walk_often(struct optimiser *o, uint64_t start)
{
    const struct decision from = decision_copy(&o->now, o->problem->arena);
    struct priced best = {decision_copy(&from, o->problem->arena), UINT64_MAX};
    for (uint64_t i = 0; i < 2 + (uint64_t)o->problem->options->more_walks; i++) {
        struct walk walk = {true, PLACED_PARTS, PLACES_EFFORT / (i ? 3U : 1U), i ? i + 2 : 1}; /* 2 is the last one's */
        decision_set(&o->now, &from);
        uint64_t price = search_from(o, start, &walk);
        keep_better(&best, &o->now, price);
    }
    decision_set(&o->now, &best.decision);
    return best.price;
}

/* The last walk goes on from where those before have ended: a decision that nothing near is faster than is often left when
 * the threshold is high again. */
void search_places(struct optimiser *o)
{
    uint64_t start = UINT64_MAX;
    if (o->best.cycles == UINT64_MAX || is_near(o->best.cycles, price_now(o, UINT64_MAX)))
        return;
    for (o->care = PLACE_HASTILY; start == UINT64_MAX && o->care <= PLACE_CHEAPLY; o->care++)
        start = choose_placed_start(o);
    o->care--;
    if (start != UINT64_MAX)
        search_from(o, walk_often(o, start), &(struct walk){true, PLACED_PARTS, PLACES_EFFORT / 3, 2});
    realise(o);
}

void descend_among_all_cuts(struct optimiser *o)
{
    for (int l = 0; l < o->network->layer_count; l++)
        if (o->best.cycles == UINT64_MAX || !layer_is_small(&o->problem->layers[l].record))
            return;
    decision_set(&o->now, &o->best.decision);
    o->tries_all_cuts = true;
    descend(o, price_now(o, UINT64_MAX), DESCENT_EFFORT);
    o->tries_all_cuts = false;
    realise(o);
}
