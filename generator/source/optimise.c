/* The decision: which tensors live in RAM, and one candidate a layer.
 *
 * A local search makes a first decision, of which all others have to be faster. Then the mixed integer program of model.c
 * picks; what the schedule of the pick shows goes back to it as cuts, until it proves that no pick is faster than the best
 * one, or until its nodes are used up: then the gap is known. All of it is deterministic and bounded by counts. */
#include <string.h>

#include "dory/hal.h"
#include "model.h"
#include "planner.h"

#define MOST_ROUNDS   4        /* of a local search */
#define MOST_EFFORT   250000   /* steps and transfers that one looks at */
#define WHOLE_EFFORT  1000000  /* that all of them look at */
#define MODEL_WORK    12000000 /* nodes of the model's search trees, times the square of its columns */
#define LEAST_NODES   60
#define NODES_A_ROUND 10      /* that solving it takes beside those in the tree, about */
#define FEW_TENSORS   8       /* so that all of them may go to RAM; of more, those that live where L2 is tight */
#define MILLIONTH     1000000 /* part of the cycles below which faster is not worth the search, nor what floats resolve */

struct optimiser {
    struct planner *planner;
    const struct network *network;
    struct tensor_life *lives;
    uint32_t *live; /* bytes of tensors in L2, by layer */
    enum spill *spill;
    bool in_comfort;      /* homes are chosen so that layers run well, not just at all */
    bool ports_may_spill; /* inputs and outputs of the network: only where one must, and tensors are few */
    uint64_t effort, most_effort;
    /* the best decision so far */
    struct choice *best_choices;
    enum plan_home *best_homes;
    uint64_t best_cycles; /* UINT64_MAX: none */
    /* the last one that settle has seen */
    struct choice *settled_choices;
    enum plan_home *settled_homes;
};

/* ---- lives ---- */

void tensor_lives(const struct network *network, struct tensor_life *lives)
{
    for (int t = 0; t < network->tensor_count; t++) {
        int producer = network->tensors[t].producer;
        struct tensor_life life = {producer == NO_LAYER ? 0 : producer, producer == NO_LAYER ? 0 : producer, 0};
        for (int l = 0; l < network->layer_count; l++)
            for (int i = 0; i < layer_input_count(&network->layers[l]); i++)
                if (network->layers[l].inputs[i] == t) {
                    life.last = l > life.last ? l : life.last;
                    life.readers++;
                }
        for (int i = 0; i < network->output_count; i++)
            life.last = network->outputs[i] == t ? network->layer_count - 1 : life.last;
        lives[t] = life;
    }
}

static void count_live(struct optimiser *o)
{
    memset(o->live, 0, (size_t)o->network->layer_count * sizeof *o->live);
    for (int t = 0; t < o->network->tensor_count; t++)
        if (o->planner->homes[t] == HOME_L2)
            for (int l = o->lives[t].first; l <= o->lives[t].last; l++)
                o->live[l] += aligned(tensor_bytes(&o->network->tensors[t]));
}

/* ---- homes ---- */

/* What a candidate takes if nothing is read before its layer starts (alone), or as much as is of use. */
static uint64_t guess(const struct candidate *candidate, bool alone)
{
    uint64_t traffic = candidate->read_cycles + candidate->write_cycles;
    uint64_t cycles = alone ? (uint64_t)candidate->cycles_from_reads : candidate->cycles;
    if (!candidate->choice.ahead)
        return cycles + traffic;
    return cycles > traffic ? cycles : traffic;
}

static uint32_t least_bytes(struct optimiser *o, int layer, uint8_t ram)
{
    uint32_t least = UINT32_MAX;
    struct cut **list;
    int count = cut_list(o->planner, layer, ram, &list);
    for (int i = 0; i < count; i++)
        least = dory_minimum(least, cut_l2_bytes(o->planner, layer, list[i], false));
    return least;
}

/* What a layer needs to run nearly as fast as it can with these operands in RAM. */
static uint32_t comfortable_bytes(struct optimiser *o, int layer, uint8_t ram)
{
    const struct candidate *front;
    int count = candidate_front(o->planner, layer, ram, &front);
    uint64_t fastest = UINT64_MAX;
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < count; i++)
        fastest = guess(&front[i], true) < fastest ? guess(&front[i], true) : fastest;
    for (int i = 0; i < count; i++)
        if (guess(&front[i], true) <= fastest + fastest / 8)
            least = dory_minimum(least, front[i].most_bytes);
    return least;
}

/* Bytes that a layer lacks, to run at all or in comfort. */
static uint64_t lacking(struct optimiser *o, int layer)
{
    uint8_t ram = layer_ram(o->planner, layer);
    uint64_t need =
        (uint64_t)o->live[layer] + (o->in_comfort ? comfortable_bytes(o, layer, ram) : least_bytes(o, layer, ram));
    return need > o->planner->l2_bytes ? need - o->planner->l2_bytes : 0;
}

static uint64_t lacking_in_life(struct optimiser *o, int tensor)
{
    uint64_t sum = 0;
    for (int l = o->lives[tensor].first; l <= o->lives[tensor].last; l++)
        sum += lacking(o, l);
    return sum;
}

static void set_home(struct optimiser *o, int tensor, enum plan_home home)
{
    o->planner->homes[tensor] = home;
    count_live(o);
}

/* Bytes of lack that RAM as a home takes away. */
static uint64_t relief(struct optimiser *o, int tensor)
{
    uint64_t before = lacking_in_life(o, tensor);
    if (before == 0)
        return 0;
    set_home(o, tensor, HOME_RAM);
    uint64_t after = lacking_in_life(o, tensor);
    set_home(o, tensor, HOME_L2);
    return before > after ? before - after : 0;
}

static uint64_t traffic(const struct optimiser *o, int tensor)
{
    uint64_t times = (uint64_t)o->lives[tensor].readers + (o->network->tensors[tensor].producer != NO_LAYER);
    return times * tensor_bytes(&o->network->tensors[tensor]) + 1;
}

/* The tensor in L2 whose move to RAM helps most for its traffic; -1: none helps. */
static int best_to_move(struct optimiser *o)
{
    int best = -1;
    uint64_t best_relief = 0, best_traffic = 1;
    for (int t = 0; t < o->network->tensor_count; t++) {
        if (o->planner->homes[t] != HOME_L2 || (o->planner->layouts && o->planner->layouts[t] == DORY_CHW))
            continue;
        uint64_t helps = relief(o, t), costs = traffic(o, t);
        if (helps * best_traffic > best_relief * costs) {
            best = t;
            best_relief = helps;
            best_traffic = costs;
        }
    }
    return best;
}

static int first_lacking(struct optimiser *o)
{
    for (int l = 0; l < o->network->layer_count; l++)
        if (lacking(o, l) > 0)
            return l;
    return -1;
}

/* An input or output of the network. */
static bool is_port(const struct optimiser *o, int tensor)
{
    bool found = o->network->tensors[tensor].producer == NO_LAYER;
    for (int i = 0; i < o->network->output_count; i++)
        found = found || o->network->outputs[i] == tensor;
    return found;
}

static bool may_spill(const struct optimiser *o, int tensor)
{
    bool is_fixed = o->planner->layouts && o->planner->layouts[tensor] == DORY_CHW;
    return !is_fixed && (o->ports_may_spill || !is_port(o, tensor));
}

static bool has_port_in_ram(const struct optimiser *o)
{
    for (int t = 0; t < o->network->tensor_count; t++)
        if (o->planner->homes[t] == HOME_RAM && is_port(o, t))
            return true;
    return false;
}

/* Tensors to RAM as long as some layer could not run otherwise, those first that free the most bytes for their traffic. */
static void choose_homes(struct optimiser *o)
{
    struct planner *p = o->planner;
    for (int t = 0; t < o->network->tensor_count; t++)
        p->homes[t] = p->options->tensors_in_ram && may_spill(o, t) ? HOME_RAM : HOME_L2;
    count_live(o);
    while (first_lacking(o) >= 0) {
        int tensor = best_to_move(o);
        if (tensor < 0)
            break;
        set_home(o, tensor, HOME_RAM);
    }
}

/* ---- homes for the model to decide ---- */

/* Bytes with which a layer can run, at least, with these operands in RAM; without tensors that must be in L2. */
static uint64_t layer_bytes(struct optimiser *o, const int *operands, int layer, uint8_t ram)
{
    uint64_t sum = least_bytes(o, layer, ram);
    for (int i = 0; i < 3; i++) {
        bool counted = i > 0 && operands[i] == operands[0]; /* a tensor added to itself */
        if (operands[i] >= 0 && may_spill(o, operands[i]) && !(ram & 1 << i) && !counted)
            sum += aligned(tensor_bytes(&o->network->tensors[operands[i]]));
    }
    return sum;
}

/* True where the layer cannot run with this operand in L2, wherever its others are: one in RAM takes less of L2 itself, but
 * allows fewer cuts. */
static bool needs_ram(struct optimiser *o, int layer, int tensor)
{
    const struct layer *of = &o->network->layers[layer];
    const int operands[] = {of->inputs[0], layer_has_two_inputs(of) ? of->inputs[1] : -1, of->output};
    uint8_t others = 0;
    for (int i = 0; i < 3; i++)
        if (operands[i] >= 0 && operands[i] != tensor && may_spill(o, operands[i]))
            others |= (uint8_t)(1 << i);
    for (uint8_t ram = 0; ram <= others; ram++)
        if ((ram & ~others) == 0 && layer_bytes(o, operands, layer, ram) <= o->planner->l2_bytes)
            return false;
    return true;
}

static bool has_few_tensors(const struct optimiser *o)
{
    int count = 0;
    for (int t = 0; t < o->network->tensor_count; t++)
        count += may_spill(o, t);
    return count <= FEW_TENSORS;
}

static void choose_spills(struct optimiser *o)
{
    const struct network *network = o->network;
    bool few = has_few_tensors(o);
    bool *tight = arena_array(o->planner->arena, bool, (size_t)network->layer_count);
    enum plan_home *homes = arena_array(o->planner->arena, enum plan_home, (size_t)network->tensor_count);
    memcpy(homes, o->planner->homes, (size_t)network->tensor_count * sizeof *homes);
    memset(o->planner->homes, 0, (size_t)network->tensor_count * sizeof *homes); /* HOME_L2 */
    count_live(o);
    for (int l = 0; l < network->layer_count; l++)
        tight[l] =
            few || o->live[l] > o->planner->l2_bytes || comfortable_bytes(o, l, 0) > o->planner->l2_bytes - o->live[l];
    for (int t = 0; t < network->tensor_count; t++) {
        bool always = homes[t] == HOME_RAM && (o->planner->options->tensors_in_ram || !may_spill(o, t));
        o->spill[t] = always ? SPILL_ALWAYS : SPILL_NEVER;
        for (int l = o->lives[t].first; l <= o->lives[t].last && may_spill(o, t) && !always; l++)
            if (tight[l])
                o->spill[t] = SPILL_FREE;
        if (o->spill[t] == SPILL_FREE && (needs_ram(o, o->lives[t].first, t) || needs_ram(o, o->lives[t].last, t)))
            o->spill[t] = SPILL_ALWAYS;
    }
    memcpy(o->planner->homes, homes, (size_t)network->tensor_count * sizeof *homes);
    count_live(o);
}

/* ---- local search ---- */

static uint32_t room(const struct optimiser *o, int layer)
{
    return o->planner->l2_bytes > o->live[layer] ? o->planner->l2_bytes - o->live[layer] : 0;
}

/* The candidate with the best guess that needs at most so many bytes beside the tensors in L2; null: none does. */
static const struct candidate *best_guess(struct optimiser *o, int layer, uint32_t bytes, bool alone)
{
    const struct candidate *front, *best = NULL;
    int count = candidate_front(o->planner, layer, layer_ram(o->planner, layer), &front);
    for (int i = 0; i < count; i++)
        if (front[i].most_bytes <= bytes && (!best || guess(&front[i], alone) < guess(best, alone)))
            best = &front[i];
    return best;
}

static bool guess_all(struct optimiser *o, bool alone)
{
    for (int l = 0; l < o->network->layer_count; l++) {
        const struct candidate *best = best_guess(o, l, room(o, l), alone);
        if (!best)
            return false;
        o->planner->choices[l] = best->choice;
    }
    return true;
}

static uint64_t make_schedule(struct optimiser *o, bool placed)
{
    struct arena scratch = {0};
    struct schedule schedule;
    bool made = true;
    if (placed)
        made = schedule_fit_by(o->planner, SHELF_HIGHEST, &schedule, &scratch);
    else
        schedule_make(o->planner, NULL, &schedule, &scratch);
    o->effort += (uint64_t)schedule.step_count + (uint64_t)schedule.transfer_count;
    uint64_t cycles = made ? schedule.cycles : UINT64_MAX;
    arena_free(&scratch);
    return cycles;
}

/* Predicted cycles of the network; UINT64_MAX where the decision does not fit, or takes `limit` or more: finding places only
 * makes it slower. */
static uint64_t evaluate(struct optimiser *o, uint64_t limit)
{
    return make_schedule(o, false) < limit ? make_schedule(o, true) : UINT64_MAX;
}

/* Tries all other candidates of a layer; true if the network got faster than `cycles`. */
static bool improve_layer(struct optimiser *o, int layer, uint64_t *cycles)
{
    const struct candidate *front;
    int count = candidate_front(o->planner, layer, layer_ram(o->planner, layer), &front);
    struct choice *choice = &o->planner->choices[layer], best = *choice;
    bool improved = false;
    for (int i = 0; i < count && o->effort < o->most_effort; i++) {
        if (front[i].choice.cut == best.cut && front[i].choice.ahead == best.ahead)
            continue;
        if (front[i].most_bytes > room(o, layer))
            continue;
        *choice = front[i].choice;
        uint64_t now = evaluate(o, *cycles);
        if (now < *cycles) {
            *cycles = now;
            best = *choice;
            improved = true;
        }
    }
    *choice = best;
    return improved;
}

static void improve(struct optimiser *o)
{
    o->most_effort = o->effort + MOST_EFFORT < WHOLE_EFFORT ? o->effort + MOST_EFFORT : WHOLE_EFFORT;
    uint64_t cycles = evaluate(o, UINT64_MAX);
    bool improved = true;
    for (int round = 0; round < MOST_ROUNDS && improved; round++) {
        improved = false;
        for (int l = 0; l < o->network->layer_count; l++)
            improved = improve_layer(o, l, &cycles) || improved;
    }
}

/* The best of the candidates that need fewer bytes than the one chosen; null: none does. */
static const struct candidate *next_smaller(struct optimiser *o, int layer, bool alone)
{
    const struct candidate *front;
    int count = candidate_front(o->planner, layer, layer_ram(o->planner, layer), &front);
    const struct choice *now = &o->planner->choices[layer];
    for (int i = 0; i < count; i++)
        if (front[i].choice.cut == now->cut && front[i].choice.ahead == now->ahead && front[i].most_bytes > 0)
            return best_guess(o, layer, front[i].most_bytes - 1, alone);
    return NULL;
}

/* The layer at which the decision does not fit, or finds no place for something; -1: none. */
static int misfit(const struct optimiser *o)
{
    struct arena scratch = {0};
    struct schedule schedule;
    int step = -1;
    if (!schedule_fit_by(o->planner, SHELF_HIGHEST, &schedule, &scratch))
        step = schedule.live_bytes > o->planner->l2_bytes ? schedule.live_step : schedule.unplaced_step;
    int layer = step < 0 ? -1 : schedule.steps[step].layer;
    arena_free(&scratch);
    return layer;
}

/* Where windows of neighbouring layers do not fit side by side, one of the two gets smaller ones. */
static bool repair(struct optimiser *o, bool alone)
{
    for (int layer; (layer = misfit(o)) >= 0;) {
        const struct candidate *smaller = next_smaller(o, layer, alone);
        if (!smaller && layer > 0)
            smaller = next_smaller(o, --layer, alone);
        if (!smaller)
            return false;
        o->planner->choices[layer] = smaller->choice;
    }
    return true;
}

/* True where the decision is the one that was settled last: often nothing has improved it. */
static bool is_settled(struct optimiser *o)
{
    size_t homes = (size_t)o->network->tensor_count * sizeof *o->settled_homes;
    bool same = memcmp(o->settled_homes, o->planner->homes, homes) == 0;
    for (int l = 0; l < o->network->layer_count; l++) {
        const struct choice *a = &o->settled_choices[l], *b = &o->planner->choices[l];
        same = same && a->cut == b->cut && a->ahead == b->ahead;
        o->settled_choices[l] = *b;
    }
    memcpy(o->settled_homes, o->planner->homes, homes);
    return same;
}

/* Keeps the decision if it is faster than all before, with offsets for all buffers. */
static void settle(struct optimiser *o)
{
    struct planner *p = o->planner;
    struct arena scratch = {0};
    if (is_settled(o))
        return;
    struct schedule schedule;
    uint32_t peak;
    schedule_make(p, NULL, &schedule, &scratch); /* finding places makes no schedule faster */
    if (schedule.cycles < o->best_cycles && schedule_fit(p, &schedule, &peak, &scratch) &&
        schedule.cycles < o->best_cycles) {
        o->best_cycles = schedule.cycles;
        memcpy(o->best_choices, p->choices, (size_t)o->network->layer_count * sizeof *p->choices);
        memcpy(o->best_homes, p->homes, (size_t)o->network->tensor_count * sizeof *p->homes);
    }
    arena_free(&scratch);
}

static bool has_homes_to_choose(const struct optimiser *o)
{
    for (int t = 0; t < o->network->tensor_count; t++)
        if (o->spill[t] == SPILL_FREE)
            return true;
    return false;
}

static void search_from(struct optimiser *o, bool alone)
{
    if (!guess_all(o, alone) || !repair(o, alone))
        return;
    settle(o);
    improve(o);
    settle(o);
}

static void search_locally(struct optimiser *o)
{
    o->in_comfort = false;
    choose_homes(o);
    o->ports_may_spill = has_port_in_ram(o) && has_few_tensors(o);
    choose_spills(o);
    search_from(o, true);
    search_from(o, false);
    if (!has_homes_to_choose(o))
        return;
    o->in_comfort = true;
    choose_homes(o);
    search_from(o, true);
}

/* ---- what schedules teach the model ---- */

struct lesson {
    const struct planner *planner;
    const struct schedule *schedule;
    const struct timeline *timeline;
    struct model *model;
    const struct candidate *const *pick;
    int first_layer; /* from which on no tensor can be in RAM: weights are all that is brought */
};

/* The first of the transfers that follow each other without a pause up to this one. */
static int chain_start(const struct lesson *lesson, int transfer)
{
    const struct timeline_transfer *times = lesson->timeline->transfers;
    while (transfer > 0 && times[transfer].start_cycle > times[transfer].queued_cycle)
        transfer--;
    return transfer;
}

static bool is_as_foreseen(const struct lesson *lesson, int layer)
{
    return lesson->schedule->costs[layer].cycles == lesson->planner->choices[layer].cut->cost.cycles;
}

/* From the start of layer `first` to the end of that of step `waiting`, at least: computing until the chain of transfers
 * starts, those transfers, and what is left to compute. */
static uint64_t chain_cycles(const struct lesson *lesson, int first, int start, int end, int waiting)
{
    const struct schedule *s = lesson->schedule;
    const struct plan_step *from = &s->steps[s->transfers[start].start_step], *to = &s->steps[waiting];
    const struct timeline_transfer *times = lesson->timeline->transfers;
    const struct timeline_step *from_times = &lesson->timeline->steps[s->transfers[start].start_step];
    bool late =
        times[start].queued_cycle == from_times->begin_cycle; /* queued when the step fetches, else when it computes */
    uint64_t cycles = late ? from->fetch_cycles : from->start_cycles;
    for (int l = first; l < from->layer; l++)
        cycles += s->costs[l].cycles;
    return cycles + times[end].end_cycle - times[start].queued_cycle + s->costs[to->layer].cycles - to->fetch_cycles;
}

/* A step waits for a chain of transfers that could not start earlier, whatever layers far away do: L2 was full. */
static void teach_wait(const struct lesson *lesson, int start, int end, int waiting)
{
    const struct schedule *s = lesson->schedule;
    int step = s->transfers[start].start_step, first = s->steps[step > 0 ? step - 1 : 0].layer;
    int last = s->steps[waiting].layer;
    for (int l = first; l <= last; l++)
        if (l < lesson->first_layer || !is_as_foreseen(lesson, l))
            return;
    for (int i = start; i <= end; i++)
        if (s->transfers[i].run.kind != HAL_FLASH_READ)
            return;
    model_raise(lesson->model, lesson->pick, first, last, chain_cycles(lesson, first, start, end, waiting));
}

static void teach_waits(const struct lesson *lesson)
{
    const struct schedule *s = lesson->schedule;
    int taught = -1;
    for (int i = s->step_count - 1; i >= 0; i--) {
        const struct timeline_step *times = &lesson->timeline->steps[i];
        int end = s->steps[i].run.transfers_awaited - 1;
        if (times->start_cycle == times->begin_cycle || end < 0)
            continue;
        int start = chain_start(lesson, end);
        if (start == taught)
            continue;
        teach_wait(lesson, start, end, i);
        taught = start;
    }
}

static int first_layer_without_spills(const struct optimiser *o)
{
    int first = 0;
    for (int t = 0; t < o->network->tensor_count; t++)
        if (o->spill[t] != SPILL_NEVER && o->lives[t].last >= first)
            first = o->lives[t].last + 1;
    return first;
}

/* A pick is not to come again; where weights are all that is brought, what makes it slow is not to come again either. */
static void teach(struct optimiser *o, struct model *model, const struct candidate *const *pick)
{
    struct arena scratch = {0};
    struct schedule schedule;
    struct timeline timeline;
    schedule_make(o->planner, NULL, &schedule, &scratch);
    schedule_timeline(o->planner, &schedule, &timeline, &scratch);
    teach_waits(&(struct lesson){o->planner, &schedule, &timeline, model, pick, first_layer_without_spills(o)});
    model_exclude(model, pick);
    arena_free(&scratch);
}

/* ---- the model ---- */

static void apply_pick(struct optimiser *o, const struct candidate *const *pick)
{
    for (int l = 0; l < o->network->layer_count; l++) {
        const struct layer *layer = &o->network->layers[l];
        uint8_t ram = pick[l]->choice.cut->ram;
        o->planner->choices[l] = pick[l]->choice;
        o->planner->homes[layer->inputs[0]] = ram & RAM_INPUT ? HOME_RAM : HOME_L2;
        if (layer_has_two_inputs(layer))
            o->planner->homes[layer->inputs[1]] = ram & RAM_SECOND_INPUT ? HOME_RAM : HOME_L2;
        o->planner->homes[layer->output] = ram & RAM_OUTPUT ? HOME_RAM : HOME_L2;
    }
    count_live(o);
}

static uint64_t not_worth_it(uint64_t cycles) { return cycles == UINT64_MAX ? 0 : cycles / MILLIONTH; }

static void search_model(struct optimiser *o, struct model *model, struct plan_proof *proof)
{
    const struct candidate **pick = arena_allocate(o->planner->arena, (size_t)o->network->layer_count * sizeof *pick);
    int columns = model_columns(model), nodes = MODEL_WORK / (columns * columns) + LEAST_NODES, left = nodes;
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
        teach(o, model, (const struct candidate *const *)pick);
        settle(o);
        if (!repair(o, false))
            continue;
        improve(o);
        settle(o);
    }
    proof->nodes = nodes - left - proof->rounds * NODES_A_ROUND;
    if (proof->is_optimal || proof->bound_cycles > o->best_cycles)
        proof->bound_cycles = o->best_cycles - not_worth_it(o->best_cycles);
}

/* ---- bounds that need no solver ---- */

static uint64_t weights_bytes(const struct dory_layer *run)
{
    if (!layer_has_weights(run))
        return 0;
    return (uint64_t)dory_divide_up(run->output_channels, 4) * tile_quad_bytes(run, run->input_channels);
}

/* The fastest candidate's cycles, whatever lives where. */
static uint64_t least_cycles(struct optimiser *o, int layer)
{
    uint64_t least = UINT64_MAX;
    for (uint8_t ram = 0; ram < 8; ram++) {
        const struct candidate *front = o->planner->layers[layer].fronts[ram];
        for (int i = 0; i < o->planner->layers[layer].front_counts[ram]; i++)
            least = front[i].cycles < least ? front[i].cycles : least;
    }
    return least;
}

/* When a layer starts, L2 holds no more weights than there is room for beside the tensors that must live there: the others
 * of this layer and those behind are still to come from L3. When the first one starts, all of them are. */
static void find_tail(struct optimiser *o, struct plan_proof *proof)
{
    const struct planner *p = o->planner;
    uint64_t before = 0, to_come = 0;
    for (int l = 0; l < o->network->layer_count; l++)
        to_come += weights_bytes(&p->layers[l].run);
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
        to_come -= weights_bytes(&p->layers[l].run);
    }
    proof->compute_cycles = before;
    uint64_t bound = proof->tail_cycles > before ? proof->tail_cycles : before;
    proof->bound_cycles = proof->bound_cycles > bound ? proof->bound_cycles : bound;
}

/* ---- all together ---- */

bool optimise(struct planner *planner, struct plan_proof *proof)
{
    const struct network *network = planner->network;
    struct arena *arena = planner->arena;
    size_t layers = (size_t)network->layer_count, tensors = (size_t)network->tensor_count;
    struct optimiser o = {
        .planner = planner,
        .network = network,
        .lives = arena_array(arena, struct tensor_life, tensors),
        .live = arena_array(arena, uint32_t, layers),
        .spill = arena_array(arena, enum spill, tensors),
        .best_choices = arena_array(arena, struct choice, layers),
        .best_homes = arena_array(arena, enum plan_home, tensors),
        .best_cycles = UINT64_MAX,
        .settled_choices = arena_array(arena, struct choice, layers),
        .settled_homes = arena_array(arena, enum plan_home, tensors),
    };
    struct arena scratch = {0};
    tensor_lives(network, o.lives);
    search_locally(&o);
    struct model *model = model_make(planner, o.spill, &scratch);
    if (model) {
        search_model(&o, model, proof);
        model_free(model);
        find_tail(&o, proof);
    }
    arena_free(&scratch);
    memcpy(planner->choices, o.best_choices, layers * sizeof *o.best_choices);
    memcpy(planner->homes, o.best_homes, tensors * sizeof *o.best_homes);
    return o.best_cycles != UINT64_MAX;
}
