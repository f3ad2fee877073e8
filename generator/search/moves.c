/* Moves of one tensor, of two that change places, or of one layer, each with the best cuts there are around it, as long as
 * one of them gains something. */
#include "search/optimiser.h"

#define MAXIMUM_ROUNDS 3  /* over the layers at a tensor */
#define HOPELESS_PART  50 /* of the cycles: a move that costs more at first is not looked at any longer */

struct descent {
    struct optimiser *o;
    uint64_t price; /* of the decision at hand */
    uint64_t most_effort;
    struct decision before;
};

static int add_layer(int *layers, int count, int layer)
{
    for (int i = 0; i < count; i++)
        if (layers[i] == layer)
            return count;
    layers[count] = layer;
    return count + 1;
}

int layers_around(const struct network *network, int tensor, int *layers, int count)
{
    int found = network->tensors[tensor].producer != NO_LAYER;
    if (found)
        count = add_layer(layers, count, network->tensors[tensor].producer);
    for (int l = 0; l < network->layer_count && found < MAXIMUM_AROUND; l++)
        if (layer_reads(&network->layers[l], tensor)) {
            count = add_layer(layers, count, l);
            found++;
        }
    return count;
}

bool is_possible(const struct optimiser *o, int tensor, enum memory_level level, enum dory_layout layout)
{
    bool all_chw = o->problem->options->layouts == LAYOUTS_CHW && o->may_be_chw[tensor];
    if (level == IN_RAM)
        return may_spill(o, tensor) && layout == DORY_HWC && o->some_spill;
    return o->spill[tensor] != SPILL_ALWAYS && (layout == DORY_CHW ? o->may_be_chw[tensor] : !all_chw);
}

/* The cuts around tensors that live elsewhere now: a guess, then all others one by one. */
static uint64_t cut_around(struct descent *d, const int *layers, int count)
{
    for (int i = 0; i < count; i++)
        if (!cut_anew(d->o, layers[i], 0))
            return UINT64_MAX;
    uint64_t price = price_now(d->o, UINT64_MAX), before = UINT64_MAX;
    for (int round = 0; round < MAXIMUM_ROUNDS && price < before; round++) {
        before = price;
        for (int i = 0; i < count; i++)
            price = choose_cut(d->o, layers[i], price, d->most_effort);
        if (price < MISFIT && price > d->price + d->price / HOPELESS_PART)
            break;
    }
    return price;
}

/* Of tensors that live elsewhere now. Where that gains nothing, all is as before. */
static bool keep_move(struct descent *d, const int *layers, int count)
{
    uint64_t price = cut_around(d, layers, count);
    if (price >= d->price) {
        decision_set(&d->o->now, &d->before);
        return false;
    }
    d->price = price;
    return true;
}

static bool move_tensor(struct descent *d, int tensor, enum memory_level level, enum dory_layout layout)
{
    struct decision *now = &d->o->now;
    bool is_there = (level == now->levels[tensor] && layout == now->layouts[tensor]) || now->levels[tensor] == IN_RING;
    if (is_there || !is_possible(d->o, tensor, level, layout) || d->o->effort >= d->most_effort)
        return false;
    decision_set(&d->before, &d->o->now);
    decision_place(now, tensor, level, layout);
    int layers[MAXIMUM_AROUND];
    return keep_move(d, layers, layers_around(d->o->network, tensor, layers, 0));
}

/* True where the layers at one are those at the other, or next to them. */
static bool are_near(const struct optimiser *o, int tensor, int other)
{
    const struct tensor_life *a = &o->problem->lives[tensor], *b = &o->problem->lives[other];
    return a->first <= b->last + 1 && b->first <= a->last + 1;
}

/* One comes to L2 in the place of another: each of the two moves alone may take more than both. */
static bool exchange(struct descent *d, int tensor, int other)
{
    const struct decision *now = &d->o->now;
    if (now->levels[tensor] != IN_RAM || now->levels[other] != IN_L2 || !are_near(d->o, tensor, other) ||
        !is_possible(d->o, tensor, IN_L2, first_layout(d->o, tensor, IN_L2)) ||
        !is_possible(d->o, other, IN_RAM, DORY_HWC) || d->o->effort >= d->most_effort)
        return false;
    decision_set(&d->before, &d->o->now);
    set_level(d->o, tensor, IN_L2);
    set_level(d->o, other, IN_RAM);
    int layers[2 * MAXIMUM_AROUND], count = layers_around(d->o->network, tensor, layers, 0);
    return keep_move(d, layers, layers_around(d->o->network, other, layers, count));
}

static bool exchange_any(struct descent *d)
{
    bool moved = false;
    for (int t = 0; t < d->o->network->tensor_count; t++)
        for (int other = 0; other < d->o->network->tensor_count; other++)
            moved = exchange(d, t, other) || moved;
    return moved;
}

static bool move_layer(struct descent *d, int layer)
{
    uint64_t before = d->price;
    d->price = choose_cut(d->o, layer, d->price, d->most_effort);
    return d->price < before;
}

uint64_t descend(struct optimiser *o, uint64_t price, uint64_t effort)
{
    struct descent d = {.o = o, .price = price, .most_effort = o->effort + effort};
    d.before = decision_copy(&o->now, o->problem->arena);
    for (bool moved = true; moved && o->effort < d.most_effort;) {
        moved = false;
        for (int t = 0; t < o->network->tensor_count; t++) {
            moved = move_tensor(&d, t, IN_L2, DORY_HWC) || moved;
            moved = move_tensor(&d, t, IN_L2, DORY_CHW) || moved;
            moved = move_tensor(&d, t, IN_RAM, DORY_HWC) || moved;
        }
        for (int l = 0; l < o->network->layer_count; l++)
            moved = move_layer(&d, l) || moved;
        moved = moved || exchange_any(&d);
    }
    return d.price;
}
