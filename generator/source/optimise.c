/* The decision: which tensors live in RAM, and one cut a layer.
 *
 * First homes: tensors go to RAM only where a layer could not run otherwise, those first that free the most bytes for the
 * traffic they cause. Then every layer gets the cut that an estimate likes best among those that fit beside the live
 * tensors. Then both are improved as long as the predicted time of the whole network falls. All of it is deterministic,
 * bounded by counts. A solver may replace this file: candidates in, one choice a layer out. */
#include "planner.h"

#include <inttypes.h>
#include <string.h>

#define MOST_ROUNDS   4       /* of improvement */
#define MOST_EFFORT   2000000 /* steps and transfers looked at */
#define SMALL_WEIGHTS 8192    /* bytes of weights that are not worth more than one block */

struct life {
    int first, last; /* layers */
    int readers;
};

struct optimiser {
    struct planner *planner;
    const struct network *network;
    struct life *lives; /* by tensor */
    uint32_t *live;     /* bytes of tensors in L2, by layer */
    struct cut **list;  /* MOST_CUTS */
    uint64_t best_cycles;
    uint64_t effort;
    uint64_t step_cycles; /* that one more step costs, roughly: for first guesses */
};

/* ---- lives ---- */

static void find_lives(struct optimiser *o)
{
    const struct network *network = o->network;
    for (int t = 0; t < network->tensor_count; t++) {
        int producer = network->tensors[t].producer;
        struct life life = {producer == NO_LAYER ? 0 : producer, producer == NO_LAYER ? 0 : producer + 1, 0};
        for (int l = 0; l < network->layer_count; l++)
            for (int i = 0; i < layer_input_count(&network->layers[l]); i++)
                if (network->layers[l].inputs[i] == t) {
                    life.last = l > life.last ? l : life.last;
                    life.readers++;
                }
        for (int i = 0; i < network->output_count; i++)
            life.last = network->outputs[i] == t ? network->layer_count - 1 : life.last;
        life.last = life.last < network->layer_count ? life.last : network->layer_count - 1;
        o->lives[t] = life;
    }
}

/* A tensor that no reader needs blocks only the first step behind its producer, but is counted for the whole layer. */
static void count_live(struct optimiser *o)
{
    memset(o->live, 0, (size_t)o->network->layer_count * sizeof *o->live);
    for (int t = 0; t < o->network->tensor_count; t++)
        if (o->planner->homes[t] == HOME_L2)
            for (int l = o->lives[t].first; l <= o->lives[t].last; l++)
                o->live[l] += aligned(tensor_bytes(&o->network->tensors[t]));
}

/* ---- homes ---- */

static uint32_t least_bytes(struct optimiser *o, int layer, uint8_t ram)
{
    uint32_t least = UINT32_MAX;
    struct cut **list;
    int count = cut_list(o->planner, layer, ram, &list);
    for (int i = 0; i < count; i++)
        least = dory_minimum(least, cut_l2_bytes(o->planner, layer, list[i], false));
    return least;
}

/* Bytes that a layer lacks. */
static uint64_t lacking(struct optimiser *o, int layer)
{
    uint64_t need = (uint64_t)o->live[layer] + least_bytes(o, layer, layer_ram(o->planner, layer));
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
        if (o->planner->homes[t] != HOME_L2)
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

static bool report_lack(struct optimiser *o)
{
    struct planner *p = o->planner;
    bool any = false;
    for (int l = 0; l < o->network->layer_count; l++) {
        uint64_t lack = lacking(o, l);
        if (lack == 0)
            continue;
        any = true;
        diagnose(p->diagnostics, SEVERITY_ERROR, o->network->layers[l].name, NULL,
                 "does not fit L2: its smallest stripes and blocks of weights need %" PRIu64 " bytes%s, there are %" PRIu32,
                 p->l2_bytes + lack, o->live[l] ? " with the tensors that must stay in L2" : "", p->l2_bytes);
    }
    return any;
}

/* True where the network fits with tensors moved to RAM as needed. */
static bool choose_homes(struct optimiser *o)
{
    struct planner *p = o->planner;
    for (int t = 0; t < o->network->tensor_count; t++)
        p->homes[t] = p->options->tensors_in_ram && o->network->tensors[t].producer != NO_LAYER ? HOME_RAM : HOME_L2;
    for (int i = 0; i < o->network->output_count; i++)
        p->homes[o->network->outputs[i]] = HOME_L2;
    count_live(o);
    while (first_lacking(o) >= 0) {
        int tensor = best_to_move(o);
        if (tensor < 0)
            break;
        set_home(o, tensor, HOME_RAM);
    }
    return !report_lack(o);
}

/* ---- choices ---- */

/* A guess at the time that a cut adds: L3 traffic, what of it nothing hides, and steps. No tile has been searched yet. */
static uint64_t guess(const struct optimiser *o, int layer, const struct cut *cut, bool ahead)
{
    const struct planner *p = o->planner;
    const struct dory_layer *run = &p->layers[layer].run;
    struct dory_transfer first = {.runs = 1, .run_bytes = cut_l2_bytes(p, layer, cut, false)};
    uint64_t steps =
        (uint64_t)dory_divide_up(run->output_height, cut->rows) * dory_divide_up(run->output_channels, cut->channels);
    return cut_l3_cycles(p, layer, cut) * (ahead ? 1 : 2) + l3_cycles(p->target, &first) + steps * o->step_cycles;
}

static uint32_t room(const struct optimiser *o, int layer)
{
    return o->planner->l2_bytes > o->live[layer] ? o->planner->l2_bytes - o->live[layer] : 0;
}

/* False where nothing fits. */
static bool guess_choice(struct optimiser *o, int layer)
{
    struct choice *choice = &o->planner->choices[layer];
    struct cut **list;
    int count = cut_list(o->planner, layer, layer_ram(o->planner, layer), &list);
    uint64_t best = UINT64_MAX;
    choice->cut = NULL;
    for (int ahead = 1; ahead >= 0; ahead--)
        for (int i = 0; i < count; i++) {
            uint64_t cost = guess(o, layer, list[i], ahead != 0);
            if (cost >= best || cut_l2_bytes(o->planner, layer, list[i], ahead != 0) > room(o, layer))
                continue;
            best = cost;
            *choice = (struct choice){list[i], ahead != 0};
        }
    return choice->cut && cut_solve(o->planner, layer, choice->cut);
}

/* Predicted cycles of the network; UINT64_MAX where the decision does not fit. */
static uint64_t evaluate(struct optimiser *o)
{
    struct arena scratch = {0};
    struct schedule schedule;
    schedule_make(o->planner, NULL, &schedule, &scratch);
    uint64_t cycles = schedule.live_bytes <= o->planner->l2_bytes ? schedule.cycles : UINT64_MAX;
    o->effort += (uint64_t)schedule.step_count + (uint64_t)schedule.transfer_count;
    arena_free(&scratch);
    return cycles;
}

/* Keeps `other` if the network gets faster. */
static bool try_choice(struct optimiser *o, int layer, struct choice other)
{
    struct choice before = o->planner->choices[layer];
    if (o->effort > MOST_EFFORT || !other.cut || (other.cut == before.cut && other.ahead == before.ahead) ||
        cut_l2_bytes(o->planner, layer, other.cut, other.ahead) > room(o, layer) || !cut_solve(o->planner, layer, other.cut))
        return false;
    o->planner->choices[layer] = other;
    uint64_t cycles = evaluate(o);
    if (cycles < o->best_cycles) {
        o->best_cycles = cycles;
        return true;
    }
    o->planner->choices[layer] = before;
    return false;
}

static bool is_worth_cutting(const struct optimiser *o, int layer)
{
    const struct dory_layer *run = &o->planner->layers[layer].run;
    uint32_t weights =
        layer_has_weights(run) ? dory_divide_up(run->output_channels, 4) * tile_quad_bytes(run, run->input_channels) : 0;
    return weights > SMALL_WEIGHTS || layer_ram(o->planner, layer) != 0;
}

/* The nearest cut in one dimension: next smaller (larger) stripes or blocks, all else equal. */
static struct cut *neighbour(struct optimiser *o, int layer, const struct cut *from, bool in_rows, bool smaller)
{
    struct cut **list;
    int count = cut_list(o->planner, layer, from->ram, &list);
    struct cut *best = NULL;
    for (int i = 0; i < count; i++) {
        struct cut *c = list[i];
        uint32_t fixed = in_rows ? c->channels : c->rows, from_fixed = in_rows ? from->channels : from->rows;
        uint32_t free = in_rows ? c->rows : c->channels, from_free = in_rows ? from->rows : from->channels;
        if (fixed != from_fixed || (smaller ? free >= from_free : free <= from_free))
            continue;
        bool same_order = c->channels_outer == from->channels_outer;
        uint32_t best_free = best ? (in_rows ? best->rows : best->channels) : 0;
        if (!best || (smaller ? free > best_free : free < best_free) || (free == best_free && same_order))
            best = c;
    }
    return best;
}

static bool improve_layer(struct optimiser *o, int layer)
{
    bool improved = false;
    for (int direction = 0; direction < 4; direction++) {
        struct choice now = o->planner->choices[layer];
        while (
            try_choice(o, layer, (struct choice){neighbour(o, layer, now.cut, direction / 2, direction % 2), now.ahead})) {
            improved = true;
            now = o->planner->choices[layer];
        }
    }
    struct choice now = o->planner->choices[layer];
    improved = try_choice(o, layer, (struct choice){now.cut, !now.ahead}) || improved;
    now = o->planner->choices[layer];
    struct cut *flipped =
        cut_get(o->planner, layer, now.cut->rows, now.cut->channels, !now.cut->channels_outer, now.cut->ram);
    bool both = now.cut->rows < o->planner->layers[layer].run.output_height &&
                now.cut->channels < o->planner->layers[layer].run.output_channels;
    return (both && try_choice(o, layer, (struct choice){flipped, now.ahead})) || improved;
}

static void improve_choices(struct optimiser *o)
{
    bool improved = true;
    for (int round = 0; round < MOST_ROUNDS && improved; round++) {
        improved = false;
        for (int l = 0; l < o->network->layer_count; l++)
            if (is_worth_cutting(o, l))
                improved = improve_layer(o, l) || improved;
    }
}

static bool guess_all(struct optimiser *o)
{
    bool all = true;
    for (int l = 0; l < o->network->layer_count; l++)
        all = guess_choice(o, l) && all;
    return all;
}

/* A tensor that went to RAM may be better off in L2 after all. */
static void improve_homes(struct optimiser *o)
{
    size_t bytes = (size_t)o->network->layer_count * sizeof *o->planner->choices;
    struct choice *before = arena_allocate(o->planner->arena, bytes);
    for (int t = 0; t < o->network->tensor_count; t++) {
        if (o->planner->homes[t] != HOME_RAM || o->planner->options->tensors_in_ram || o->effort > MOST_EFFORT)
            continue;
        memcpy(before, o->planner->choices, bytes);
        set_home(o, t, HOME_L2);
        uint64_t cycles = first_lacking(o) < 0 && guess_all(o) ? evaluate(o) : UINT64_MAX;
        if (cycles < o->best_cycles) {
            o->best_cycles = cycles;
            continue;
        }
        set_home(o, t, HOME_RAM);
        memcpy(o->planner->choices, before, bytes);
    }
}

/* Where stripes of neighbouring layers do not fit side by side, one of the two gives up working ahead. */
static bool repair(struct optimiser *o)
{
    struct planner *p = o->planner;
    for (;;) {
        struct arena scratch = {0};
        struct schedule schedule;
        schedule_make(p, NULL, &schedule, &scratch);
        int layer = schedule.live_bytes > p->l2_bytes ? schedule.steps[schedule.live_step].layer : -1;
        arena_free(&scratch);
        if (layer < 0)
            return true;
        if (!p->choices[layer].ahead && layer > 0)
            layer--;
        if (!p->choices[layer].ahead)
            return false;
        p->choices[layer].ahead = false;
    }
}

/* Start points of the search: from finer steps, which hide transfers, to coarser ones, which have fewer overheads. */
static const uint64_t step_guesses[OPTIMISE_STARTS] = {1000, 4000};

bool optimise(struct planner *planner, int start)
{
    const struct network *network = planner->network;
    struct optimiser o = {
        .planner = planner,
        .network = network,
        .lives = arena_array(planner->arena, struct life, (size_t)network->tensor_count),
        .live = arena_array(planner->arena, uint32_t, (size_t)network->layer_count),
        .step_cycles = step_guesses[start],
    };
    find_lives(&o);
    if (!choose_homes(&o) || !guess_all(&o) || !repair(&o))
        return false;
    o.best_cycles = evaluate(&o);
    improve_homes(&o);
    improve_choices(&o);
    return true;
}
