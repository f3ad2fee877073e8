/* Where tensors live: those that must go to RAM do, and which others may is for the model to decide; and how they may lie.
 */
#include "search/optimiser.h"

#define FEW_TENSORS 8 /* so that all of them may go to RAM; of more, those that live where L2 is tight */

/* ---- levels ---- */

uint32_t usable_bytes(const struct optimiser *o) { return o->problem->l2_bytes - o->left_to_gaps; }

uint64_t candidate_guess(const struct candidate *candidate)
{
    uint64_t traffic = candidate->read_cycles + candidate->write_cycles;
    uint64_t beside = candidate->cycles > traffic ? candidate->cycles : traffic;
    return candidate->choice.ahead ? beside : candidate->cycles + traffic;
}

/* Cuts are solved in the order of the bytes that they seem to need, until one keeps to it; 8-bit weights do without. */
static uint32_t smallest_cut_bytes(struct planned_layer *of, uint8_t ram)
{
    struct cut **list;
    int count = cut_list(of, ram, &list);
    bool is_exact = of->record.weight_bits == 8 || !of->brings_weights;
    for (;;) {
        int smallest = 0;
        uint32_t least = UINT32_MAX - 1;
        for (int i = 0; i < count; i++) {
            bool has_no_tile = list[i]->solved && !list[i]->legal;
            uint32_t bytes = has_no_tile ? UINT32_MAX : cut_l2_bytes(list[i], false);
            smallest = bytes < least ? i : smallest;
            least = dory_minimum(least, bytes);
        }
        if (count == 0 || is_exact || list[smallest]->solved)
            return least;
        cut_solve(list[smallest]);
    }
}

static uint32_t least_cut_bytes(struct planned_layer *of, uint8_t ram)
{
    if (of->least_l2_bytes[ram] == 0)
        of->least_l2_bytes[ram] = smallest_cut_bytes(of, ram) + 1;
    return of->least_l2_bytes[ram] - 1;
}

/* What a layer needs to run nearly as fast as it can with no operand in RAM. */
static uint32_t comfortable_bytes(struct planned_layer *of)
{
    const struct candidate *front;
    int count = candidate_first(of, 0, &front);
    uint64_t fastest = UINT64_MAX;
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < count; i++)
        fastest = candidate_guess(&front[i]) < fastest ? candidate_guess(&front[i]) : fastest;
    for (int i = 0; i < count; i++)
        if (candidate_guess(&front[i]) <= fastest + fastest / 8)
            least = dory_minimum(least, front[i].most_bytes);
    return least;
}

uint64_t layer_need(const struct decision *d, int layer)
{
    return (uint64_t)d->live[layer] + least_cut_bytes(layer_of(d, layer), layer_ram(d, layer));
}

/* Bytes that a layer lacks to run at all. */
static uint64_t lacking(const struct optimiser *o, int layer)
{
    uint64_t need = layer_need(&o->now, layer);
    return need > usable_bytes(o) ? need - usable_bytes(o) : 0;
}

static uint64_t lacking_in_life(const struct optimiser *o, int tensor)
{
    const struct tensor_life *life = &o->problem->lives[tensor];
    uint64_t sum = 0;
    for (int l = life->first; l <= life->last; l++)
        sum += lacking(o, l);
    return sum;
}

enum dory_layout first_layout(const struct optimiser *o, int tensor, enum memory_level level)
{
    return level != IN_RAM && o->may_be_chw[tensor] ? DORY_CHW : DORY_HWC;
}

void set_level(struct optimiser *o, int tensor, enum memory_level level)
{
    decision_place(&o->now, tensor, level, first_layout(o, tensor, level));
}

/* Bytes of lack that RAM as a level takes away. */
static uint64_t relief(struct optimiser *o, int tensor)
{
    uint64_t before = lacking_in_life(o, tensor);
    if (before == 0)
        return 0;
    set_level(o, tensor, IN_RAM);
    uint64_t after = lacking_in_life(o, tensor);
    set_level(o, tensor, IN_L2);
    return before > after ? before - after : 0;
}

static uint64_t traffic(const struct optimiser *o, int tensor)
{
    uint64_t times = (uint64_t)o->problem->lives[tensor].readers + (o->network->tensors[tensor].producer != NO_LAYER);
    return times * tensor_bytes(&o->network->tensors[tensor]) + 1;
}

/* The tensor in L2 whose move to RAM helps most for its traffic; -1: none helps. */
static int best_to_move(struct optimiser *o)
{
    int best = -1;
    uint64_t best_relief = 0, best_traffic = 1;
    for (int t = 0; t < o->network->tensor_count; t++) {
        if (o->now.levels[t] != IN_L2 || o->problem->lives[t].is_viewed)
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

static int first_lacking(const struct optimiser *o)
{
    for (int l = 0; l < o->network->layer_count; l++)
        if (lacking(o, l) > 0)
            return l;
    return -1;
}

bool may_spill(const struct optimiser *o, int tensor)
{
    bool has_ram = o->problem->target->ram_bytes > 0;
    return has_ram && !o->problem->lives[tensor].is_viewed && (o->ports_may_spill || !tensor_is_port(o->network, tensor));
}

static bool has_port_in_ram(const struct optimiser *o)
{
    for (int t = 0; t < o->network->tensor_count; t++)
        if (o->now.levels[t] == IN_RAM && tensor_is_port(o->network, t))
            return true;
    return false;
}

void choose_levels(struct optimiser *o)
{
    for (int t = 0; t < o->network->tensor_count; t++)
        set_level(o, t, o->problem->options->tensors_in_ram && may_spill(o, t) ? IN_RAM : IN_L2);
    while (first_lacking(o) >= 0) {
        int tensor = best_to_move(o);
        if (tensor < 0)
            break;
        set_level(o, tensor, IN_RAM);
    }
}

/* ---- levels for the model to decide ---- */

/* Bytes with which a layer can run, at least, with these operands in RAM; without tensors that must be in L2. */
static uint64_t layer_bytes(const struct optimiser *o, struct planned_layer *of, const int *operands, uint8_t ram)
{
    uint64_t sum = least_cut_bytes(of, ram);
    for (int i = 0; i < 3; i++) {
        bool counted = i > 0 && operands[i] == operands[0]; /* a tensor added to itself */
        if (operands[i] >= 0 && may_spill(o, operands[i]) && !(ram & 1 << i) && !counted)
            sum += o->problem->tensor_bytes[operands[i]];
    }
    return sum;
}

/* True where the layer cannot run with this operand in L2, wherever its others are: one in RAM takes less of L2 itself, but
 * allows fewer cuts. */
static bool needs_ram(const struct optimiser *o, const struct decision *all_in_l2, int layer, int tensor)
{
    int operands[3];
    uint8_t others = 0;
    for (int i = 0; i < 3; i++) {
        operands[i] = layer_operand(&o->network->layers[layer], i);
        if (operands[i] >= 0 && operands[i] != tensor && may_spill(o, operands[i]))
            others |= (uint8_t)(1 << i);
    }
    for (uint8_t ram = 0; ram <= others; ram++)
        if ((ram & ~others) == 0 && layer_bytes(o, layer_of(all_in_l2, layer), operands, ram) <= usable_bytes(o))
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

static enum spill spill_of(const struct optimiser *o, const struct decision *all_in_l2, const bool *tight, int tensor)
{
    const struct tensor_life *life = &o->problem->lives[tensor];
    bool may_help = false;
    if (o->now.levels[tensor] == IN_RAM && (o->problem->options->tensors_in_ram || !may_spill(o, tensor)))
        return SPILL_ALWAYS;
    for (int l = life->first; l <= life->last; l++)
        may_help = may_help || tight[l];
    if (!may_help || !may_spill(o, tensor))
        return SPILL_NEVER;
    bool must = needs_ram(o, all_in_l2, life->first, tensor) || needs_ram(o, all_in_l2, life->last, tensor);
    return must ? SPILL_ALWAYS : SPILL_FREE;
}

void choose_spills(struct optimiser *o)
{
    struct decision all_in_l2 = decision_make(o->problem, o->problem->arena);
    bool *tight = arena_array(o->problem->arena, bool, (size_t)o->network->layer_count);
    o->ports_may_spill = has_port_in_ram(o) && has_few_tensors(o);
    bool few = has_few_tensors(o);
    for (int t = 0; t < o->network->tensor_count; t++)
        decision_place(&all_in_l2, t, IN_L2, first_layout(o, t, IN_L2));
    for (int l = 0; l < o->network->layer_count; l++) {
        uint32_t live = all_in_l2.live[l];
        tight[l] = few || live > usable_bytes(o) || comfortable_bytes(layer_of(&all_in_l2, l)) > usable_bytes(o) - live;
    }
    o->some_spill = false;
    for (int t = 0; t < o->network->tensor_count; t++) {
        o->spill[t] = spill_of(o, &all_in_l2, tight, t);
        o->some_spill = o->some_spill || o->spill[t] != SPILL_NEVER;
    }
}

/* ---- layouts: tensors in CHW. Whether one can be depends on the two layers at its ends and on nothing else: a producer
 * that may write planes, a depth-wise consumer that may read them ---- */

/* The only layer that reads a tensor, as its first input; -1 where there are more, or it is an output of the network. */
static int only_reader(const struct problem *p, int tensor)
{
    const struct tensor_life *life = &p->lives[tensor];
    bool is_second = layer_operand(&p->network->layers[life->last], 1) == tensor;
    return life->readers != 1 || life->is_viewed || is_second || tensor_is_port(p->network, tensor) ? -1 : life->last;
}

/* The two layers see the same tensor, and not one that was reshaped between them. */
static bool fit_together(const struct dory_layer *producer, const struct dory_layer *consumer)
{
    return producer->operation == DORY_CONVOLUTION && consumer->operation == DORY_DEPTHWISE &&
           producer->output_height == consumer->input_height && producer->output_width == consumer->input_width &&
           producer->output_channels == consumer->input_channels;
}

static bool has_tile(const struct problem *p, int layer, enum dory_layout input, enum dory_layout output)
{
    const struct planned_layer *of = layer_variant(p, layer, input, output);
    return of->kernels[0] && of->least_l1_bytes <= p->l1_bytes;
}

void layouts_find(const struct problem *p, bool *may_be_chw)
{
    const struct network *network = p->network;
    for (int t = 0; t < network->tensor_count; t++) {
        int producer = network->tensors[t].producer, reader = only_reader(p, t);
        may_be_chw[t] = producer != NO_LAYER && reader >= 0 && p->options->layouts != LAYOUTS_HWC &&
                        fit_together(&p->layers[producer].record, &p->layers[reader].record) &&
                        has_tile(p, producer, DORY_HWC, DORY_CHW) && has_tile(p, reader, DORY_CHW, DORY_HWC);
    }
}
