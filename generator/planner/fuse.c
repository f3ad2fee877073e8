/* Which layers form blocks (block.c). A tensor that goes to RAM and comes back is what a block saves: for each such tensor
 * the blocks around it are tried, with other levels for what goes in and out, and the best is kept if it is better than
 * none. A block stands in the way of others, so that it matters whether one begins with the first tensors or with the last.
 * What counts is time, and beside it the traffic to RAM, as if nothing hid it: it costs energy where it costs no time. In
 * the end a decision with blocks must be faster than that without, or it is not taken, unless RAM is to be spared at any
 * price. */
#include "planner/optimiser.h"

#include "planner/block.h"
#include "planner/profile.h"

#define LAYERS_AROUND  3 /* that a block reaches at most beyond the tensor, to either side */
#define ENOUGH_ROWS    3 /* heights of stripes: of those that L2 has room for, the tallest */
#define LAYERS_BEYOND  3 /* fewer are added to either end of a block that is there */
#define MAXIMUM_PASSES 4

/* A block to try. */
struct idea {
    int first, last;
    uint32_t rows;
    bool inputs_in_l2, output_in_l2; /* brought there; else they stay where they are */
};

struct fusion {
    struct optimiser *o;
    struct decision *now; /* its */
    bool spares_ram;
    bool last_first;            /* order of the tensors */
    struct priced before, best; /* before the round; its best idea */
};

/* ---- a block at hand ---- */

static void set_block(struct decision *d, int first, int last, struct cut *cut)
{
    for (int l = first; l <= last; l++)
        d->choices[l] = (struct choice){l == first ? cut : d->problem->within, true};
}

/* Blocks that overlap with these layers, but are not within them. */
static bool cuts_a_block(const struct decision *d, int first, int last)
{
    return block_start(d, first) < first ||
           (last + 1 < d->problem->network->layer_count && block_start(d, last + 1) <= last);
}

bool cut_anew(struct optimiser *o, int layer, uint32_t turns)
{
    if (!is_in_block(&o->now, layer))
        return guess_cut(o, layer);
    int first = block_start(&o->now, layer);
    struct choice *choice = &o->now.choices[first];
    int last = first + choice->cut->block->layers - 1;
    uint32_t rows = turns ? dory_divide_up(o->problem->records[last].output_height, turns) : choice->cut->rows;
    struct cut *cut = block_get(&o->now, first, last, rows, o->problem->l2_bytes);
    if (cut)
        choice->cut = cut;
    return cut != NULL;
}

/* Brings a tensor to L2; the layers outside of `idea` that write or read it are cut anew. */
static bool bring(struct optimiser *o, const struct idea *idea, int tensor)
{
    int layers[MAXIMUM_AROUND], count;
    if (o->now.levels[tensor] != IN_RAM)
        return true;
    set_level(o, tensor, IN_L2);
    count = layers_around(o->network, tensor, layers, 0);
    for (int i = 0; i < count; i++)
        if ((layers[i] < idea->first || layers[i] > idea->last) && !cut_anew(o, layers[i], 0))
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
        most = o->now.live[l] > most ? o->now.live[l] : most;
    return most;
}

/* ---- ideas ---- */

/* Carries out an idea: its block is there then. */
static bool form(struct optimiser *o, const struct idea *idea)
{
    for (int l = idea->first; l < idea->last; l++)
        set_level(o, o->network->layers[l].output, IN_RING);
    if (!bring_ports(o, idea))
        return false;
    uint32_t live = live_bytes(o, idea->first, idea->last);
    if (live >= o->problem->l2_bytes)
        return false;
    struct cut *cut = block_get(&o->now, idea->first, idea->last, idea->rows, o->problem->l2_bytes - live);
    if (cut)
        set_block(&o->now, idea->first, idea->last, cut);
    return cut != NULL;
}

uint64_t decision_ram_cycles(const struct decision *d)
{
    uint64_t cycles = 0;
    for (int l = 0; l < d->problem->network->layer_count; l++)
        cycles += profile_get(&d->choices[l])->ram_cycles;
    return cycles;
}

static uint64_t fusion_price(const struct fusion *f)
{
    return price_now(f->o, UINT64_MAX) + (f->spares_ram ? decision_ram_cycles(f->now) : 0);
}

/* Of the decision at hand, which is taken back. */
static void compare(struct fusion *f, bool is_possible)
{
    if (is_possible)
        keep_better(&f->best, f->now, fusion_price(f));
    decision_set(f->now, &f->before.decision);
}

/* True where there was room for it. */
static bool try(struct fusion *f, const struct idea *idea)
{
    bool formed = form(f->o, idea);
    compare(f, formed);
    return formed;
}

/* The tallest stripes that there is room for, and some that leave more of it to others. */
static void try_rows(struct fusion *f, struct idea idea)
{
    uint32_t height = f->o->problem->records[idea.last].output_height, before = height;
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
    if (first < 0 || last >= f->o->network->layer_count || cuts_a_block(f->now, first, last) ||
        !block_is_possible(f->o->problem, first, last))
        return;
    for (int ports = 0; ports < 4; ports++)
        try_rows(f, (struct idea){first, last, 0, (ports & 1) == 0, (ports & 2) == 0});
}

static void start_round(struct fusion *f)
{
    f->best.price = f->before.price;
    decision_set(&f->before.decision, f->now);
}

/* Takes the best idea of the round: true where it is better than none. */
static bool end_round(struct fusion *f)
{
    if (f->best.price >= f->before.price)
        return false;
    f->before.price = f->best.price;
    decision_set(f->now, &f->best.decision);
    return true;
}

/* The best block around a tensor, or room for it in L2. */
static bool save_tensor(struct fusion *f, int tensor)
{
    int producer = f->o->network->tensors[tensor].producer;
    start_round(f);
    compare(f, bring(f->o, &(struct idea){.first = 0, .last = -1}, tensor));
    for (int first = producer; first > producer - LAYERS_AROUND; first--)
        for (int last = producer + 1; last <= producer + LAYERS_AROUND; last++)
            try_block(f, first, last);
    return end_round(f);
}

/* A layer that a block may reach to: where it is another block's, that one is a part of the larger one. */
static int reach_back(const struct decision *d, int layer) { return layer < 0 ? layer : block_start(d, layer); }

static int reach_on(const struct decision *d, int layer)
{
    while (layer + 1 < d->problem->network->layer_count && block_start(d, layer + 1) <= layer)
        layer++;
    return layer;
}

/* Other heights of stripes for a block that is there, as others have changed around it, and more layers at its ends. */
static bool tune_block(struct fusion *f, int first, int last)
{
    start_round(f);
    for (int before = 0; before < LAYERS_BEYOND; before++)
        for (int behind = 0; behind < LAYERS_BEYOND; behind++)
            try_block(f, reach_back(f->now, first - before), reach_on(f->now, last + behind));
    return end_round(f);
}

/* ---- all of them ---- */

static bool save_tensors(struct fusion *f)
{
    bool saved = false;
    int tensors = f->o->network->tensor_count;
    for (int i = 0; i < tensors; i++) {
        int t = f->last_first ? tensors - 1 - i : i;
        if (f->now->levels[t] == IN_RAM && f->o->network->tensors[t].producer != NO_LAYER)
            saved = save_tensor(f, t) || saved;
    }
    for (int l = 0; l < f->o->network->layer_count; l++)
        if (f->now->choices[l].cut->block)
            saved = tune_block(f, l, l + f->now->choices[l].cut->block->layers - 1) || saved;
    return saved;
}

/* For tests: blocks of all lengths and heights, wherever they are possible and there is room. */
static void fuse_always(struct fusion *f)
{
    int layers = f->o->network->layer_count;
    for (int first = 0; first < layers - 1; first++) {
        int last = first + 1 + (first * 5 + layers) % 3;
        for (; last > first; last--) {
            uint32_t height = last < layers ? f->o->problem->records[last].output_height : 0;
            struct idea idea = {first, last, 1 + (uint32_t)(first * 7 + last * 3) % (height ? height : 1), true, false};
            decision_set(&f->before.decision, f->now);
            if (last < layers && block_is_possible(f->o->problem, first, last) && form(f->o, &idea) &&
                price_now(f->o, UINT64_MAX) < MISFIT)
                break;
            decision_set(f->now, &f->before.decision);
        }
        first = last > first ? last : first;
    }
}

void fuse(struct optimiser *o, bool spares_ram, bool last_first)
{
    struct fusion f = {.o = o,
                       .now = &o->now,
                       .spares_ram = spares_ram,
                       .last_first = last_first,
                       .before.decision = decision_copy(&o->now, o->problem->arena),
                       .best.decision = decision_copy(&o->now, o->problem->arena)};
    if (o->problem->options->blocks == BLOCKS_ALWAYS) {
        fuse_always(&f);
        return;
    }
    f.before.price = fusion_price(&f);
    for (int pass = 0; pass < MAXIMUM_PASSES && save_tensors(&f); pass++) {
        improve(o);
        f.before.price = fusion_price(&f);
    }
}
