/* Which layers form blocks (block.c). A block saves a tensor's way to RAM and back, or room in L2 for others: so around
 * tensors, wherever they are, blocks are tried, with other levels for what goes in and out, and the best is kept if it is
 * better than what is there; blocks that it cuts are split. That ends where no such step gains anything, and where that is
 * depends on the order: tensors in RAM come first, and of these, as of all, the first ones or the last; the others, once
 * blocks around those have gained something. Were only tensors in RAM tried, a block that makes room for one beside it would
 * be found in little memory, where its own tensor is in RAM, too, and not in more. What counts is time; where RAM is to
 * be spared also the traffic to it, as if nothing hid it: it costs energy where it costs no time. In the end a decision with
 * blocks must be faster than that without, or it is not taken, unless RAM is to be spared at any price. */
#include "search/optimiser.h"

#include "choose/block.h"
#include "choose/profile.h"

#define LAYERS_AROUND  3 /* that a block reaches at most beyond the tensor, to either side */
#define ENOUGH_ROWS    4 /* heights of stripes: of those that L2 has room for, the tallest */
#define LAYERS_BEYOND  3 /* fewer are added to either end of a block that is there */
#define MAXIMUM_PASSES 4

/* A block to try. */
struct idea {
    int first, last;
    struct stripe stripe;
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

/* A layer that a block may reach to: where it is another block's, that one is a part of the larger one. */
static int reach_back(const struct decision *d, int layer) { return layer < 0 ? layer : block_start(d, layer); }

static int reach_on(const struct decision *d, int layer)
{
    while (layer + 1 < d->problem->network->layer_count && block_start(d, layer + 1) <= layer)
        layer++;
    return layer;
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

/* A block of such a stripe a turn, where there is room for it. */
static bool set_stripe(struct optimiser *o, int first, int last, struct stripe stripe)
{
    uint32_t live = live_bytes(o, first, last), all = o->problem->l2_bytes;
    struct cut *cut = live < all ? block_get(&o->now, first, last, stripe, all - live) : NULL;
    if (cut)
        set_block(&o->now, first, last, cut);
    return cut != NULL;
}

/* ---- blocks split ---- */

/* A ring's tensor whole again: in L2, or where a layer could not run beside it, in RAM. */
static void unroll(struct optimiser *o, int tensor)
{
    const struct tensor_life *life = &o->problem->lives[tensor];
    if (o->now.levels[tensor] != IN_RING)
        return;
    set_level(o, tensor, IN_L2);
    for (int l = life->first; l <= life->last; l++)
        if (layer_need(&o->now, l) > o->problem->l2_bytes && is_possible(o, tensor, IN_RAM, DORY_HWC))
            set_level(o, tensor, IN_RAM);
}

/* What is left of a block: one in as many turns, or where these layers can be none, each by itself. */
static bool make_part(struct optimiser *o, int first, int last, uint32_t turns, bool by_pixels)
{
    const struct problem *p = o->problem;
    bool good = true;
    if (block_is_possible(p, first, last, by_pixels))
        return set_stripe(o, first, last,
                          (struct stripe){dory_divide_up(block_height(p, first, last, by_pixels), turns), by_pixels});
    for (int l = first; l < last; l++)
        unroll(o, o->network->layers[l].output);
    for (int l = first; l <= last && good; l++)
        good = guess_cut(o, l);
    return good;
}

/* The block that a layer is in, split in front of it: what was a ring there is in L2 then, or in RAM. */
static bool split(struct optimiser *o, int layer)
{
    int first = layer < o->network->layer_count ? block_start(&o->now, layer) : layer, last = reach_on(&o->now, layer);
    if (first == layer)
        return true;
    int tensor = o->network->layers[layer - 1].output;
    const struct cut *cut = o->now.choices[first].cut;
    bool by_pixels = cut->block->by_pixels;
    uint32_t turns = dory_divide_up(block_height(o->problem, first, last, by_pixels), cut->rows);
    for (int ram = 0; ram < 2; ram++) {
        enum memory_level level = ram ? IN_RAM : IN_L2;
        if (!is_possible(o, tensor, level, DORY_HWC))
            continue;
        set_level(o, tensor, level);
        if (make_part(o, first, layer - 1, turns, by_pixels) && make_part(o, layer, last, turns, by_pixels))
            return true;
    }
    return false;
}

/* ---- ideas ---- */

/* Carries out an idea: its block is there then. */
static bool form(struct optimiser *o, const struct idea *idea)
{
    if (!split(o, idea->first) || !split(o, idea->last + 1))
        return false;
    for (int l = idea->first; l < idea->last; l++)
        set_level(o, o->network->layers[l].output, IN_RING);
    return bring_ports(o, idea) && set_stripe(o, idea->first, idea->last, idea->stripe);
}

/* At least, where it is above the limit. */
static uint64_t fusion_price(const struct fusion *f, uint64_t limit)
{
    return price_now(f->o, limit) + (f->spares_ram ? decision_ram_cycles(f->now) : 0);
}

/* Of the decision at hand, which is taken back. True where it fits. */
static bool compare(struct fusion *f, bool is_possible)
{
    uint64_t price = is_possible ? fusion_price(f, f->best.price) : UINT64_MAX;
    keep_better(&f->best, f->now, price);
    decision_set(f->now, &f->before.decision);
    return price < MISFIT;
}

/* The tallest stripes that there is room for, and some that leave more of it to others. */
static void try_rows(struct fusion *f, struct idea idea)
{
    uint32_t height = block_height(f->o->problem, idea.first, idea.last, idea.stripe.by_pixels), before = height;
    int fitting = 0;
    for (uint32_t turns = 2; fitting < ENOUGH_ROWS && turns <= height; turns++) {
        idea.stripe.rows = dory_divide_up(height, turns);
        if (idea.stripe.rows < before)
            fitting += compare(f, form(f->o, &idea));
        before = idea.stripe.rows;
    }
}

static bool reads_from_ram(const struct decision *d, int first, int last)
{
    bool reads = false;
    for (int l = first; l <= last; l++) {
        const struct layer *layer = &d->problem->network->layers[l];
        for (int i = 0; i < layer_input_count(layer); i++)
            reads = reads || (d->levels[layer->inputs[i]] == IN_RAM &&
                              d->problem->network->tensors[layer->inputs[i]].producer < first);
    }
    return reads;
}

/* With what goes in and out where it is, and of it what is in RAM brought to L2. */
static void try_stripes(struct fusion *f, int first, int last, bool by_pixels)
{
    if (!block_is_possible(f->o->problem, first, last, by_pixels))
        return;
    bool inputs = reads_from_ram(f->now, first, last);
    bool output = f->now->levels[f->o->network->layers[last].output] == IN_RAM;
    for (int bring_output = output; bring_output >= 0; bring_output--)
        for (int bring_inputs = inputs; bring_inputs >= 0; bring_inputs--)
            try_rows(f, (struct idea){first, last, {0, by_pixels}, bring_inputs != 0, bring_output != 0});
}

static void try_block(struct fusion *f, int first, int last)
{
    for (int by_pixels = 0; first >= 0 && last < f->o->network->layer_count && by_pixels < 2; by_pixels++)
        try_stripes(f, first, last, by_pixels != 0);
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

/* The best block around a tensor, or room for it in L2, or none around it. */
static bool save_tensor(struct fusion *f, int tensor)
{
    int producer = f->o->network->tensors[tensor].producer;
    start_round(f);
    compare(f, f->now->levels[tensor] == IN_RING ? split(f->o, producer + 1)
                                                 : bring(f->o, &(struct idea){.first = 0, .last = -1}, tensor));
    for (int first = producer; first > producer - LAYERS_AROUND; first--)
        for (int last = producer + 1; last <= producer + LAYERS_AROUND; last++)
            try_block(f, first, last);
    return end_round(f);
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

/* Around tensors in RAM, or around all of them. */
static bool save_each(struct fusion *f, bool in_ram)
{
    bool saved = false;
    int tensors = f->o->network->tensor_count;
    for (int i = 0; i < tensors; i++) {
        int t = f->last_first ? tensors - 1 - i : i;
        if ((!in_ram || f->now->levels[t] == IN_RAM) && f->o->network->tensors[t].producer != NO_LAYER)
            saved = save_tensor(f, t) || saved;
    }
    return saved;
}

/* All of them in the second pass, where blocks have gained something in the first: that one takes as long as the others
 * together, and to repeat it gains nothing. */
static bool save_tensors(struct fusion *f, bool tries_all)
{
    bool saved = save_each(f, true);
    saved = (tries_all && save_each(f, false)) || saved;
    for (int l = 0; l < f->o->network->layer_count; l++)
        if (f->now->choices[l].cut->block)
            saved = tune_block(f, l, l + f->now->choices[l].cut->block->layers - 1) || saved;
    return saved;
}

/* By pixels in turns where they can be so, with a stripe of some height. */
static struct stripe any_stripe(const struct problem *p, int first, int last)
{
    bool by_pixels = block_is_possible(p, first, last, true) && (first % 3 || !block_is_possible(p, first, last, false));
    uint32_t height = block_height(p, first, last, by_pixels);
    return (struct stripe){1 + (uint32_t)(first * 7 + last * 3) % height, by_pixels};
}

/* For tests: blocks of all lengths and heights, wherever they are possible and there is room. */
static void fuse_always(struct fusion *f)
{
    int layers = f->o->network->layer_count;
    for (int first = 0; first < layers - 1; first++) {
        int last = first + 1 + (first * 5 + layers) % 3;
        for (; last > first; last--) {
            const struct problem *p = f->o->problem;
            if (last >= layers || !(block_is_possible(p, first, last, false) || block_is_possible(p, first, last, true)))
                continue;
            struct idea idea = {first, last, any_stripe(p, first, last), true, false};
            decision_set(&f->before.decision, f->now);
            if (form(f->o, &idea) && price_now(f->o, UINT64_MAX) < MISFIT)
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
    f.before.price = fusion_price(&f, UINT64_MAX);
    for (int pass = 0; pass < MAXIMUM_PASSES && save_tensors(&f, pass == 1); pass++) {
        improve(o);
        f.before.price = fusion_price(&f, UINT64_MAX);
    }
}

/* ---- where nothing else fits ---- */

static bool are_free(const struct decision *d, int first, int last)
{
    bool free = first >= 0 && last < d->problem->network->layer_count;
    for (int l = first; l <= last && free; l++)
        free = d->choices[l].cut == NULL;
    return free;
}

/* The tallest stripes of these layers by pixels that there is room for. */
static bool form_by_pixels(struct optimiser *o, int first, int last)
{
    const struct problem *p = o->problem;
    if (!are_free(&o->now, first, last) || !block_is_possible(p, first, last, true))
        return false;
    struct decision before = decision_copy(&o->now, p->arena);
    uint32_t height = block_height(p, first, last, true);
    for (uint32_t turns = 2; turns <= height; turns++) {
        struct idea idea = {first, last, {dory_divide_up(height, turns), true}, false, false};
        if (form(o, &idea))
            return true;
        decision_set(&o->now, &before);
    }
    return false;
}

/* The longest block around a layer. */
static bool form_around(struct optimiser *o, int layer)
{
    for (int first = layer - LAYERS_AROUND; first <= layer; first++)
        for (int last = layer + LAYERS_AROUND; last >= layer; last--)
            if (form_by_pixels(o, first, last))
                return true;
    return false;
}

void fuse_lacking(struct optimiser *o)
{
    int layers = o->network->layer_count;
    o->ports_may_spill = true;
    for (int t = 0; t < o->network->tensor_count; t++)
        set_level(o, t, may_spill(o, t) ? IN_RAM : IN_L2);
    for (int l = 0; l < layers; l++)
        o->now.choices[l] = (struct choice){NULL, false};
    for (int l = 0; l < layers; l++)
        if (!o->now.choices[l].cut && layer_need(&o->now, l) > o->problem->l2_bytes && !form_around(o, l))
            return;
    for (int l = 0; l < layers; l++)
        if (!o->now.choices[l].cut && !guess_cut(o, l))
            return;
    fuse(o, false, false);
    search_prices(o, price_now(o, UINT64_MAX));
    realise(o);
}
