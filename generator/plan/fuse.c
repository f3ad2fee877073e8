/* Which layers form blocks (block.c). A tensor that goes to RAM and comes back is what a block saves: for each such tensor
 * the blocks around it are tried, with other homes for what goes in and out, and the fastest is kept if it is faster than
 * none. */
#include "plan/optimiser.h"

#define LAYERS_AROUND 3 /* that a block reaches at most beyond the tensor, to either side */
#define ENOUGH_ROWS   3 /* heights of stripes: of those that L2 has room for, the tallest */
#define MOST_PASSES   4

/* A block to try. */
struct idea {
    int first, last;
    uint32_t rows;
    bool inputs_in_l2, output_in_l2; /* brought there; else they stay where they are */
};

struct fusion {
    struct optimiser *o;
    struct planner *p;
    uint64_t price, best_price; /* of `before`, and of the best idea */
    struct decision before, best;
};

/* ---- a block at hand ---- */

static void set_block(struct planner *p, int first, int last, struct cut *cut)
{
    for (int l = first; l <= last; l++)
        p->choices[l] = (struct choice){l == first ? cut : p->within, true};
}

/* Blocks that overlap with these layers, but are not within them. */
static bool cuts_a_block(const struct planner *p, int first, int last)
{
    bool starts_inside = p->choices[first].cut == p->within;
    return starts_inside || (last + 1 < p->network->layer_count && p->choices[last + 1].cut == p->within);
}

/* Another cut, for homes that have changed. */
static bool refit(struct optimiser *o, int layer)
{
    struct planner *p = o->planner;
    if (!is_in_block(p, layer))
        return guess_cut(o, layer, false);
    int first = block_start(p, layer);
    const struct cut *now = p->choices[first].cut;
    struct cut *cut = block_get(p, first, first + now->block->layers - 1, now->rows, o->bytes);
    if (cut)
        p->choices[first].cut = cut;
    return cut != NULL;
}

/* Brings a tensor to L2; the layers outside of `idea` that write or read it are cut anew. */
static bool bring(struct optimiser *o, const struct idea *idea, int tensor)
{
    int layers[MOST_AROUND], count;
    if (o->planner->homes[tensor] != HOME_RAM)
        return true;
    set_home(o, tensor, HOME_L2);
    count = layers_around(o->network, tensor, layers);
    for (int i = 0; i < count; i++)
        if ((layers[i] < idea->first || layers[i] > idea->last) && !refit(o, layers[i]))
            return false;
    return true;
}

static bool bring_ports(struct optimiser *o, const struct idea *idea)
{
    bool good = !idea->output_in_l2 || bring(o, idea, o->network->layers[idea->last].output);
    for (int l = idea->first; good && idea->inputs_in_l2 && l <= idea->last; l++)
        for (int i = 0; good && i < layer_input_count(&o->network->layers[l]); i++)
            good = bring(o, idea, o->network->layers[l].inputs[i]);
    return good;
}

/* ---- room ---- */

/* The most that tensors in L2 take while these layers run. */
static uint32_t live_bytes(const struct optimiser *o, int first, int last)
{
    uint32_t most = 0;
    for (int l = first; l <= last; l++)
        most = o->live[l] > most ? o->live[l] : most;
    return most;
}

/* ---- ideas ---- */

/* Carries out an idea: its block is there then. */
static bool form(struct optimiser *o, const struct idea *idea)
{
    struct planner *p = o->planner;
    for (int l = idea->first; l < idea->last; l++)
        set_home(o, o->network->layers[l].output, HOME_RING);
    if (!bring_ports(o, idea))
        return false;
    uint32_t live = live_bytes(o, idea->first, idea->last);
    if (live >= o->bytes)
        return false;
    struct cut *cut = block_get(p, idea->first, idea->last, idea->rows, o->bytes - live);
    if (cut)
        set_block(p, idea->first, idea->last, cut);
    return cut != NULL;
}

/* True where there was room for it. */
static bool try(struct fusion *f, const struct idea *idea)
{
    bool formed = form(f->o, idea);
    uint64_t price = formed ? decision_price(f->o) : UINT64_MAX;
    if (price < f->best_price) {
        f->best_price = price;
        decision_keep(f->o, &f->best);
    }
    decision_take(f->o, &f->before);
    return formed;
}

/* The tallest stripes that there is room for, and some that leave more of it to others. */
static void try_rows(struct fusion *f, struct idea idea)
{
    uint32_t height = f->p->runs[idea.last].output_height, before = height;
    int formed = 0;
    for (uint32_t turns = 2; formed < ENOUGH_ROWS && turns <= height; turns = turns % 3 ? turns / 2 * 3 : turns / 3 * 4) {
        idea.rows = dory_divide_up(height, turns);
        if (idea.rows < before)
            formed += try(f, &idea);
        before = idea.rows;
    }
}

static void try_block(struct fusion *f, int first, int last)
{
    if (first < 0 || last >= f->o->network->layer_count || cuts_a_block(f->p, first, last) ||
        !block_is_possible(f->p, first, last))
        return;
    for (int ports = 0; ports < 4; ports++)
        try_rows(f, (struct idea){first, last, 0, (ports & 1) == 0, (ports & 2) == 0});
}

/* The best block around a tensor: true where it is faster. */
static bool save_tensor(struct fusion *f, int tensor)
{
    int producer = f->o->network->tensors[tensor].producer;
    f->best_price = f->price;
    decision_keep(f->o, &f->before);
    for (int first = producer; first > producer - LAYERS_AROUND; first--)
        for (int last = producer + 1; last <= producer + LAYERS_AROUND; last++)
            try_block(f, first, last);
    if (f->best_price >= f->price)
        return false;
    f->price = f->best_price;
    decision_take(f->o, &f->best);
    return true;
}

/* ---- all of them ---- */

static bool save_tensors(struct fusion *f)
{
    bool saved = false;
    for (int t = 0; t < f->o->network->tensor_count; t++)
        if (f->p->homes[t] == HOME_RAM && f->o->network->tensors[t].producer != NO_LAYER)
            saved = save_tensor(f, t) || saved;
    return saved;
}

/* For tests: blocks of all lengths and heights, wherever they are possible and there is room. */
static void fuse_always(struct fusion *f)
{
    int layers = f->o->network->layer_count;
    for (int first = 0; first < layers - 1; first++) {
        int last = first + 1 + (first * 5 + layers) % 3;
        for (; last > first; last--) {
            uint32_t height = last < layers ? f->p->runs[last].output_height : 0;
            struct idea idea = {first, last, 1 + (uint32_t)(first * 7 + last * 3) % (height ? height : 1), true, false};
            decision_keep(f->o, &f->before);
            if (last < layers && block_is_possible(f->p, first, last) && form(f->o, &idea) && decision_price(f->o) < MISFIT)
                break;
            decision_take(f->o, &f->before);
        }
        first = last > first ? last : first;
    }
    f->o->best_cycles = UINT64_MAX;
}

void fuse(struct optimiser *o)
{
    struct fusion f = {.o = o, .p = o->planner, .before = decision_make(o->network, o->planner->arena)};
    f.best = decision_make(o->network, o->planner->arena);
    if (o->planner->options->blocks == BLOCKS_NONE)
        return;
    if (o->planner->options->blocks == BLOCKS_ALWAYS) {
        fuse_always(&f);
        return;
    }
    f.price = decision_price(o);
    for (int pass = 0; pass < MOST_PASSES && save_tensors(&f); pass++)
        f.price = improve_all(o, f.price, o->effort + START_EFFORT);
}
