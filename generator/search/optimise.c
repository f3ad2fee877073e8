/* The decision: which tensors live in RAM, and one candidate a layer.
 *
 * A local search makes a first decision, of which all others have to be faster. Then the mixed integer program of model.c
 * picks, and each pick is played as a schedule and not picked again, until it proves that no pick is faster than the best
 * one, or until its nodes are used up: then the gap is known. All of it is deterministic and bounded by counts. */
#include "search/optimiser.h"

#include "choose/profile.h"

#define MODEL_WORK    12000000 /* nodes of the model's search trees, times the square of its columns */
#define LEAST_NODES   4
#define NODES_A_ROUND 10      /* that solving it takes beside those in the tree, about */
#define LEFT_PARTS    64      /* of L2, of which some are left to gaps */
#define MAXIMUM_LEFT  8       /* of these, by more walks */
#define MILLIONTH     1000000 /* part of the cycles below which faster is not worth the search, nor what floats resolve */

/* ---- the model ---- */

static void apply_pick(struct optimiser *o, const struct candidate *const *pick)
{
    for (int l = 0; l < o->network->layer_count; l++) {
        o->now.choices[l] = pick[l]->choice;
        for (int i = 0; i < 3; i++) {
            int tensor = layer_operand(&o->network->layers[l], i);
            enum memory_level level = pick[l]->choice.cut->ram >> i & 1 ? IN_RAM : IN_L2;
            if (tensor >= 0)
                decision_place(&o->now, tensor, level, o->now.layouts[tensor]);
        }
    }
}

static uint64_t not_worth_it(uint64_t cycles) { return cycles == UINT64_MAX ? 0 : cycles / MILLIONTH; }

static void search_model(struct optimiser *o, struct model *model)
{
    struct plan_proof *proof = &o->best.proof;
    const struct candidate **pick = arena_allocate(o->problem->arena, (size_t)o->network->layer_count * sizeof *pick);
    int64_t columns = model_columns(model);
    int nodes = (int)(MODEL_WORK / (columns * columns)) + LEAST_NODES, left = nodes;
    while (left > 0 && !proof->is_optimal) {
        uint64_t below = o->best.cycles == UINT64_MAX ? UINT64_MAX : o->best.cycles - not_worth_it(o->best.cycles);
        enum model_answer answer = model_solve(model, below, pick, &proof->bound_cycles, &left);
        proof->rounds++;
        left -= NODES_A_ROUND;
        proof->is_optimal = answer == MODEL_NONE && o->best.cycles != UINT64_MAX;
        if (answer != MODEL_PICKED)
            break;
        apply_pick(o, pick);
        model_exclude(model, (const struct candidate *const *)pick);
        realise(o);
    }
    proof->nodes = nodes - left - proof->rounds * NODES_A_ROUND;
}

/* ---- all together ---- */

/* The best so far, to be set aside while another way to search is gone. */
static struct outcome outcome_copy(const struct optimiser *o)
{
    struct outcome copy = o->best;
    copy.decision = decision_copy(&o->best.decision, o->problem->arena);
    return copy;
}

/* The model covers the layouts of the best decision: what is in CHW stays in L2. */
static void prove(struct optimiser *o)
{
    struct arena scratch = {0};
    struct plan_proof *proof = &o->best.proof;
    if (o->best.cycles != UINT64_MAX)
        decision_set(&o->now, &o->best.decision);
    for (int t = 0; t < o->network->tensor_count; t++)
        if (o->now.layouts[t] == DORY_CHW)
            o->spill[t] = SPILL_NEVER;
        else if (o->now.levels[t] == IN_RAM && o->spill[t] == SPILL_NEVER)
            o->spill[t] = SPILL_FREE;
    struct model *model = model_make(&o->now, o->spill, &scratch);
    if (model) {
        search_model(o, model);
        model_free(model);
        find_tail(o);
    }
    arena_free(&scratch);
    descend_among_all_cuts(o);
    if (proof->is_optimal || proof->bound_cycles > o->best.cycles)
        proof->bound_cycles = o->best.cycles - not_worth_it(o->best.cycles);
}

/* Of the best decision so far. */
static struct plan_traffic best_traffic(const struct optimiser *o)
{
    struct plan_traffic traffic = decision_traffic(&o->best.decision);
    traffic.cycles = o->best.cycles;
    return traffic;
}

/* Blocks into a decision without any, which has this price, and from there on: the price then. */
static uint64_t search_fused(struct optimiser *o, const struct decision *plain, uint64_t price, bool spares_ram,
                             bool last_first)
{
    decision_set(&o->now, plain);
    fuse(o, spares_ram, last_first);
    uint64_t fused = price_now(o, UINT64_MAX);
    return fused < price ? search_prices(o, fused) : fused;
}

/* From a decision without blocks, which has this price, to a faster one with some, which is at hand then: its price. Blocks
 * that are formed in another order are other ones, and of two like prices one may lead much further; so do some that spare
 * RAM, where moves are cheap, and where memory is tight, those that leave a little of it to gaps. */
static uint64_t search_blocks(struct optimiser *o, const struct decision *plain, uint64_t price)
{
    struct priced best = {decision_copy(plain, o->problem->arena), UINT64_MAX};
    uint32_t most_left = memory_is_tight(o) + dory_minimum(o->problem->options->more_walks, MAXIMUM_LEFT);
    for (uint32_t left = 0; left <= most_left; left++)
        for (int way = 0; way < (has_few_layers(o) ? 4 : 2); way++) {
            o->left_to_gaps = left * (o->problem->l2_bytes / LEFT_PARTS);
            uint64_t fused = search_fused(o, plain, price, way >= 2, way % 2 != 0);
            keep_better(&best, &o->now, fused);
        }
    o->left_to_gaps = 0;
    decision_set(&o->now, &best.decision);
    return best.price;
}

/* True where blocks make the network faster. Else the decision at hand, which has this price, stays. */
static bool use_blocks(struct optimiser *o, uint64_t price)
{
    const struct decision plain = decision_copy(&o->now, o->problem->arena);
    uint64_t before = o->best.cycles;
    if (o->problem->options->blocks != BLOCKS_AUTO || before == UINT64_MAX)
        return false;
    struct plan_traffic without = best_traffic(o);
    if (search_blocks(o, &plain, price) < price)
        search_places(o);
    if (o->best.cycles >= before) {
        decision_set(&o->now, &plain);
        return false;
    }
    descend_among_all_cuts(o);
    o->best.without_blocks = without;
    return true;
}

/* Blocks in the best decision, whatever they cost: of those that are formed in either order, the ones that take less, where
 * RAM is to be spared with the traffic to it; if none have places, those that spare less. False where none have: then all
 * is as before. */
static bool force_blocks(struct optimiser *o)
{
    const struct outcome before = outcome_copy(o);
    uint64_t weight = o->problem->options->blocks == BLOCKS_SPARING;
    struct priced least = {decision_copy(&o->now, o->problem->arena), UINT64_MAX};
    for (int way = 0; way < 4 && (way < 2 || least.price == UINT64_MAX); way++) {
        o->best.cycles = UINT64_MAX;
        decision_set(&o->now, &before.decision);
        fuse(o, way < 2, way % 2 != 0);
        realise(o);
        if (o->best.cycles != UINT64_MAX)
            keep_better(&least, &o->best.decision, o->best.cycles + weight * decision_ram_cycles(&o->best.decision));
    }
    o->best = before;
    if (least.price == UINT64_MAX)
        return false;
    if (!o->best.without_blocks.cycles) /* else the best had blocks already */
        o->best.without_blocks = best_traffic(o);
    o->best.decision = least.decision;
    o->best.cycles = least.price - weight * decision_ram_cycles(&least.decision);
    o->best.proof = (struct plan_proof){0};
    return true;
}

struct optimiser optimiser_make(const struct problem *problem)
{
    struct arena *arena = problem->arena;
    size_t tensors = (size_t)problem->network->tensor_count;
    return (struct optimiser){
        .problem = problem,
        .network = problem->network,
        .now = decision_make(problem, arena),
        .spill = arena_array(arena, enum spill, tensors),
        .may_be_chw = arena_array(arena, bool, tensors),
        .best = {.decision = decision_make(problem, arena), .cycles = UINT64_MAX},
        .realised = decision_make(problem, arena),
    };
}

/* To the end of the way without blocks, from what the search had come to on it: `searched`, with `plain` at hand. Blocks may
 * have been faster than that; they need not be faster than the end. */
static void search_plain(struct optimiser *o, const struct outcome *searched, const struct decision *plain)
{
    const struct outcome blocked = outcome_copy(o);
    o->best = *searched;
    decision_set(&o->now, plain);
    search_places(o);
    prove(o);
    if (blocked.cycles < o->best.cycles)
        o->best = blocked;
}

/* With blocks, where they make it faster, and without: where moves are cheap, to the end of both ways. */
static void search_both(struct optimiser *o)
{
    uint64_t price = search(o);
    const struct outcome searched = outcome_copy(o);
    const struct decision plain = decision_copy(&o->now, o->problem->arena);
    if (!use_blocks(o, price) || has_few_layers(o))
        search_plain(o, &searched, &plain);
}

bool optimise(const struct problem *problem, struct outcome *outcome)
{
    struct optimiser o = optimiser_make(problem);
    enum plan_blocks blocks = problem->options->blocks;
    layouts_find(problem, o.may_be_chw);
    search_both(&o);
    if (o.best.cycles == UINT64_MAX && blocks != BLOCKS_NONE)
        fuse_lacking(&o);
    bool found = o.best.cycles != UINT64_MAX;
    if (found && (blocks == BLOCKS_SPARING || blocks == BLOCKS_ALWAYS))
        force_blocks(&o);
    *outcome = o.best;
    return found;
}
