/* The decision: which tensors live in RAM, and one candidate a layer.
 *
 * A local search makes a first decision, of which all others have to be faster. Then the mixed integer program of model.c
 * picks, and each pick is played as a schedule and not picked again, until it proves that no pick is faster than the best
 * one, or until its nodes are used up: then the gap is known. All of it is deterministic and bounded by counts. */
#include <string.h>

#include "planner/optimiser.h"

#define MODEL_WORK    12000000 /* nodes of the model's search trees, times the square of its columns */
#define LEAST_NODES   4
#define NODES_A_ROUND 10      /* that solving it takes beside those in the tree, about */
#define MILLIONTH     1000000 /* part of the cycles below which faster is not worth the search, nor what floats resolve */

/* ---- the model ---- */

static void apply_pick(struct optimiser *o, const struct candidate *const *pick)
{
    for (int l = 0; l < o->network->layer_count; l++) {
        o->planner->choices[l] = pick[l]->choice;
        for (int i = 0; i < 3; i++) {
            int tensor = layer_operand(&o->network->layers[l], i);
            if (tensor >= 0)
                o->planner->levels[tensor] = pick[l]->choice.cut->ram >> i & 1 ? IN_RAM : IN_L2;
        }
    }
    count_live(o);
}

static uint64_t not_worth_it(uint64_t cycles) { return cycles == UINT64_MAX ? 0 : cycles / MILLIONTH; }

static void search_model(struct optimiser *o, struct model *model, struct plan_proof *proof)
{
    const struct candidate **pick = arena_allocate(o->planner->arena, (size_t)o->network->layer_count * sizeof *pick);
    int64_t columns = model_columns(model);
    int nodes = (int)(MODEL_WORK / (columns * columns)) + LEAST_NODES, left = nodes;
    uint64_t bound = 0;
    while (left > 0 && !proof->is_optimal) {
        uint64_t below = o->best_cycles == UINT64_MAX ? UINT64_MAX : o->best_cycles - not_worth_it(o->best_cycles);
        enum model_answer answer = model_solve(model, below, pick, &bound, &left);
        proof->rounds++;
        left -= NODES_A_ROUND;
        proof->is_optimal = answer == MODEL_NONE && o->best_cycles != UINT64_MAX;
        proof->bound_cycles = bound > proof->bound_cycles ? bound : proof->bound_cycles;
        if (answer != MODEL_PICKED)
            break;
        apply_pick(o, pick);
        model_exclude(model, (const struct candidate *const *)pick);
        settle(o);
    }
    proof->nodes = nodes - left - proof->rounds * NODES_A_ROUND;
}

/* ---- bounds that need no solver ---- */

static uint64_t brought_bytes(const struct planner *planner, int layer)
{
    return layer_brings_weights(planner, layer) ? layer_weights_bytes(&planner->records[layer]) : 0;
}

/* The fastest candidate's cycles, whatever lives where. */
static uint64_t least_cycles(struct optimiser *o, int layer)
{
    const struct candidate *front;
    uint64_t least = UINT64_MAX;
    candidate_front(o->planner, layer, 0, &front);
    for (uint8_t ram = 0; ram < 8; ram++) {
        const struct planned_layer *of = layer_of(o->planner, layer);
        for (int i = 0; i < of->front_counts[ram]; i++)
            least = of->fronts[ram][i].cycles < least ? of->fronts[ram][i].cycles : least;
    }
    return least;
}

uint64_t computing_cycles(struct optimiser *o)
{
    uint64_t sum = 0;
    for (int l = 0; l < o->network->layer_count; l++)
        sum += least_cycles(o, l);
    return sum;
}

/* When a layer starts, L2 holds no more weights than there is room for beside the tensors that must live there: the others
 * of this layer and those behind are still to come from L3. When the first one starts, all of them are. */
static void find_tail(struct optimiser *o, struct plan_proof *proof)
{
    const struct planner *p = o->planner;
    uint64_t before = 0, to_come = 0;
    for (int l = 0; l < o->network->layer_count; l++)
        to_come += brought_bytes(p, l);
    for (int l = 0; l < o->network->layer_count; l++) {
        uint64_t live = 0, held = 0;
        for (int t = 0; t < o->network->tensor_count; t++)
            if (o->spill[t] == SPILL_NEVER && o->lives[t].first <= l && l <= o->lives[t].last)
                live += aligned(tensor_bytes(&o->network->tensors[t]));
        if (l > 0 && live < p->l2_bytes)
            held = p->l2_bytes - live;
        uint64_t tail = to_come > held ? to_come - held : 0;
        uint64_t cycles = before + tail * 1000 / p->target->l3_bytes_per_1000_cycles;
        if (cycles > proof->tail_cycles) {
            proof->tail_cycles = cycles;
            proof->tail_bytes = tail;
            proof->tail_layer = l;
        }
        before += least_cycles(o, l);
        to_come -= brought_bytes(p, l);
    }
    proof->compute_cycles = before;
    uint64_t bound = proof->tail_cycles > before ? proof->tail_cycles : before;
    proof->bound_cycles = proof->bound_cycles > bound ? proof->bound_cycles : bound;
}

/* ---- all together ---- */

struct decision decision_make(const struct network *network, struct arena *arena)
{
    size_t layers = (size_t)network->layer_count, tensors = (size_t)network->tensor_count;
    return (struct decision){arena_array(arena, enum memory_level, tensors), arena_array(arena, enum dory_layout, tensors),
                             arena_array(arena, struct choice, layers)};
}

static void copy(const struct network *network, struct decision from, struct decision to)
{
    size_t layers = (size_t)network->layer_count, tensors = (size_t)network->tensor_count;
    memcpy(to.levels, from.levels, tensors * sizeof *to.levels);
    memcpy(to.layouts, from.layouts, tensors * sizeof *to.layouts);
    memcpy(to.choices, from.choices, layers * sizeof *to.choices);
}

static struct decision at_hand(const struct optimiser *o)
{
    return (struct decision){o->planner->levels, o->planner->layouts, o->planner->choices};
}

void decision_keep(const struct optimiser *o, struct decision *decision) { copy(o->network, at_hand(o), *decision); }

void decision_take(struct optimiser *o, const struct decision *decision)
{
    copy(o->network, *decision, at_hand(o));
    count_live(o);
}

/* What a way to search has come to: it is set aside while another one is gone. */
struct outcome {
    struct decision best;
    uint64_t cycles;
    struct plan_traffic without_blocks;
    struct plan_proof proof;
};

static struct outcome outcome_keep(const struct optimiser *o, const struct plan_proof *proof)
{
    struct outcome outcome = {.best = decision_make(o->network, o->planner->arena),
                              .cycles = o->best_cycles,
                              .without_blocks = o->planner->without_blocks,
                              .proof = *proof};
    copy(o->network, o->best, outcome.best);
    return outcome;
}

static void outcome_take(struct optimiser *o, const struct outcome *outcome, struct plan_proof *proof)
{
    copy(o->network, outcome->best, o->best);
    o->best_cycles = outcome->cycles;
    o->planner->without_blocks = outcome->without_blocks;
    *proof = outcome->proof;
}

/* The model covers the layouts of the best decision: what is in CHW stays in L2. */
static void prove(struct optimiser *o, struct plan_proof *proof)
{
    struct arena scratch = {0};
    if (o->best_cycles != UINT64_MAX)
        decision_take(o, &o->best);
    for (int t = 0; t < o->network->tensor_count; t++)
        if (o->planner->layouts[t] == DORY_CHW)
            o->spill[t] = SPILL_NEVER;
        else if (o->planner->levels[t] == IN_RAM && o->spill[t] == SPILL_NEVER)
            o->spill[t] = SPILL_FREE;
    struct model *model = model_make(o->planner, o->spill, &scratch);
    if (model) {
        search_model(o, model, proof);
        model_free(model);
        find_tail(o, proof);
    }
    arena_free(&scratch);
    polish(o);
    if (proof->is_optimal || proof->bound_cycles > o->best_cycles)
        proof->bound_cycles = o->best_cycles - not_worth_it(o->best_cycles);
}

/* Of the best decision so far, which is at hand then. */
static struct plan_traffic best_traffic(struct optimiser *o)
{
    decision_take(o, &o->best);
    struct plan_traffic traffic = traffic_of(o->planner);
    traffic.cycles = o->best_cycles;
    return traffic;
}

/* From a decision without blocks, which has this price, to a faster one with some, which is at hand then: its price. Blocks
 * that are formed in another order are other ones, and of two like prices one may lead much further. */
static uint64_t search_blocks(struct optimiser *o, const struct decision *plain, uint64_t price)
{
    struct decision fastest = decision_make(o->network, o->planner->arena);
    uint64_t least = UINT64_MAX, before = o->best_cycles;
    for (int last_first = 0; last_first < 2; last_first++) {
        decision_take(o, plain);
        fuse(o, false, last_first != 0);
        uint64_t fused = decision_price(o, UINT64_MAX);
        if (fused < price)
            search_prices(o, fused, before);
        fused = decision_price(o, UINT64_MAX);
        if (fused < least) {
            least = fused;
            decision_keep(o, &fastest);
        }
    }
    decision_take(o, &fastest);
    return least;
}

/* True where blocks make the network faster. Else the decision at hand, which has this price, stays. */
static bool use_blocks(struct optimiser *o, uint64_t price)
{
    struct decision plain = decision_make(o->network, o->planner->arena);
    uint64_t before = o->best_cycles;
    if (o->planner->options->blocks != BLOCKS_AUTO || before == UINT64_MAX)
        return false;
    decision_keep(o, &plain);
    struct plan_traffic without = best_traffic(o);
    if (search_blocks(o, &plain, price) < price)
        search_places(o);
    if (o->best_cycles >= before) {
        decision_take(o, &plain);
        return false;
    }
    polish(o);
    o->planner->without_blocks = without;
    return true;
}

/* Blocks in the best decision, whatever they cost: those that spare most RAM that have places. */
static void force_blocks(struct optimiser *o, struct plan_proof *proof)
{
    uint64_t before = o->best_cycles;
    struct plan_traffic without = best_traffic(o);
    o->best_cycles = UINT64_MAX;
    for (int sparing = 1; sparing >= 0 && o->best_cycles == UINT64_MAX; sparing--) {
        decision_take(o, &o->best);
        fuse(o, sparing != 0, false);
        settle(o);
    }
    if (o->best_cycles == UINT64_MAX) {
        o->best_cycles = before;
        return;
    }
    *proof = (struct plan_proof){0};
    if (!o->planner->without_blocks.cycles) /* else the best had blocks already */
        o->planner->without_blocks = without;
}

static bool some_result_in_ram(const struct planner *p)
{
    for (int t = 0; t < p->network->tensor_count; t++)
        if (p->levels[t] == IN_RAM && p->network->tensors[t].producer != NO_LAYER)
            return true;
    return false;
}

/* How L3 and computing are in each other's way is known of a finished plan only: one that moves less may be faster, though
 * by the price it is not. */
static void compare_sparing(struct optimiser *o, struct plan_proof *proof)
{
    decision_take(o, &o->best);
    if (!some_result_in_ram(o->planner))
        return;
    const struct outcome before = outcome_keep(o, proof);
    uint64_t finished = plan_finished_cycles(o->planner);
    force_blocks(o, proof);
    decision_take(o, &o->best);
    if (plan_finished_cycles(o->planner) >= finished)
        outcome_take(o, &before, proof);
}

struct optimiser optimiser_make(struct planner *planner)
{
    const struct network *network = planner->network;
    struct arena *arena = planner->arena;
    size_t tensors = (size_t)network->tensor_count;
    struct optimiser o = {
        .planner = planner,
        .network = network,
        .bytes = planner->l2_bytes,
        .lives = planner->lives,
        .live = arena_array(arena, uint32_t, (size_t)network->layer_count),
        .spill = arena_array(arena, enum spill, tensors),
        .may_be_chw = arena_array(arena, bool, tensors),
        .best = decision_make(network, arena),
        .best_cycles = UINT64_MAX,
        .settled = decision_make(network, arena),
    };
    count_live(&o);
    return o;
}

/* To the end of the way without blocks, from what the search had come to on it: `searched`, with `plain` at hand. Blocks may
 * have been faster than that; they need not be faster than the end. */
static void search_plain(struct optimiser *o, const struct outcome *searched, const struct decision *plain,
                         struct plan_proof *proof)
{
    const struct outcome blocked = outcome_keep(o, proof);
    outcome_take(o, searched, proof);
    decision_take(o, plain);
    search_places(o);
    prove(o, proof);
    if (blocked.cycles < o->best_cycles)
        outcome_take(o, &blocked, proof);
}

/* With blocks, where they make it faster, and without: where moves are cheap, to the end of both ways. */
static void search_both(struct optimiser *o, struct plan_proof *proof)
{
    struct decision plain = decision_make(o->network, o->planner->arena);
    uint64_t price = search(o);
    const struct outcome searched = outcome_keep(o, proof);
    decision_keep(o, &plain);
    if (!use_blocks(o, price) || has_few_layers(o))
        search_plain(o, &searched, &plain, proof);
}

bool optimise(struct planner *planner, struct plan_proof *proof)
{
    struct optimiser o = optimiser_make(planner);
    layouts_find(planner, o.may_be_chw);
    search_both(&o, proof);
    bool found = o.best_cycles != UINT64_MAX;
    if (found && (planner->options->blocks == BLOCKS_SPARING || planner->options->blocks == BLOCKS_ALWAYS))
        force_blocks(&o, proof);
    if (found && planner->options->blocks == BLOCKS_AUTO)
        compare_sparing(&o, proof);
    if (found)
        decision_take(&o, &o.best);
    return found;
}
