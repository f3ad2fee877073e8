/* The least memory with which a network fits, whatever its speed: what a user is told whose memory is too small, and the
 * plan of last resort where the optimiser finds none.
 *
 * L1: the largest of what each layer's smallest tile needs. L2: a decision without any working ahead. It starts with all
 * tensors in RAM; then, as long as that takes bytes off the layer that needs most, levels change: a
 * tensor that fills whole windows anyway, or that keeps a layer from being cut into small blocks, is better off in L2. */
#include "plan/planner.h"

#include <inttypes.h>
#include <string.h>

#include "dory/hal.h"

struct least {
    struct planner *planner;
    const struct network *network;
    const struct tensor_life *lives; /* by tensor */
    uint32_t (*cut_bytes)[8];        /* by layer and operands in RAM: of the smallest cut; 0: not looked for yet */
    uint64_t *need;                  /* by layer, by the levels as they are */
};

/* ---- needs of layers ---- */

static uint64_t steps_of(const struct dory_layer *record, const struct cut *cut)
{
    return (uint64_t)dory_divide_up(record->output_height, cut->rows) *
           dory_divide_up(record->output_channels, cut->channels);
}

/* The cut with the fewest steps among those that need at most so many bytes; null: none. Its tile has been found, which may
 * make blocks of weights larger than they seemed. */
static struct cut *coarsest_cut(struct least *least, int layer, uint8_t ram, uint64_t most_bytes)
{
    struct planner *p = least->planner;
    struct cut **list, *best = NULL;
    int count = cut_list(p, layer, ram, &list);
    for (int i = 0; i < count; i++) {
        const struct dory_layer *record = &layer_of(p, layer)->record;
        bool better = !best || steps_of(record, list[i]) < steps_of(record, best);
        if (better && cut_l2_bytes(p, layer, list[i], false) <= most_bytes && cut_solve(p, layer, list[i]) &&
            cut_l2_bytes(p, layer, list[i], false) <= most_bytes)
            best = list[i];
    }
    return best;
}

/* Bytes of the smallest cut. Cuts are solved in the order of the bytes that they seem to need, until one keeps to it. */
static uint32_t smallest_cut_bytes(struct least *least, int layer, uint8_t ram)
{
    struct planner *p = least->planner;
    struct cut **list;
    int count = cut_list(p, layer, ram, &list);
    for (;;) {
        int smallest = -1;
        uint32_t bytes = UINT32_MAX;
        for (int i = 0; i < count; i++) {
            uint32_t seems = cut_l2_bytes(p, layer, list[i], false);
            if ((!list[i]->solved || list[i]->legal) && seems < bytes) {
                bytes = seems;
                smallest = i;
            }
        }
        if (smallest < 0 || list[smallest]->solved)
            return bytes;
        cut_solve(p, layer, list[smallest]);
    }
}

static uint32_t cut_bytes(struct least *least, int layer)
{
    uint8_t ram = layer_ram(least->planner, layer);
    uint32_t *bytes = &least->cut_bytes[layer][ram];
    if (*bytes == 0) /* no layer needs nothing, but an input and an output that lie in L2 are not counted */
        *bytes = smallest_cut_bytes(least, layer, ram) + 1;
    return *bytes - 1;
}

static uint32_t live_bytes(const struct least *least, int layer)
{
    uint32_t sum = 0;
    for (int t = 0; t < least->network->tensor_count; t++)
        if (least->planner->levels[t] == IN_L2 && least->lives[t].first <= layer && layer <= least->lives[t].last)
            sum += aligned(tensor_bytes(&least->network->tensors[t]));
    return sum;
}

static void count_needs(struct least *least, int first, int last)
{
    for (int l = first; l <= last; l++)
        least->need[l] = (uint64_t)live_bytes(least, l) + cut_bytes(least, l);
}

/* The first layer that needs most. */
static int widest(const struct least *least)
{
    int widest = 0;
    for (int l = 1; l < least->network->layer_count; l++)
        widest = least->need[l] > least->need[widest] ? l : widest;
    return widest;
}

/* ---- levels ---- */

static void flip(struct least *least, int tensor)
{
    enum memory_level *level = &least->planner->levels[tensor];
    *level = *level == IN_L2 ? IN_RAM : IN_L2;
    count_needs(least, least->lives[tensor].first, least->lives[tensor].last);
}

static uint64_t most_in(const struct least *least, int tensor)
{
    uint64_t most = 0;
    for (int l = least->lives[tensor].first; l <= least->lives[tensor].last; l++)
        most = least->need[l] > most ? least->need[l] : most;
    return most;
}

static void flip_set(struct least *least, const int *tensors, unsigned count, unsigned set)
{
    for (unsigned i = 0; i < count; i++)
        if (set >> i & 1)
            flip(least, tensors[i]);
}

/* Other levels for the operands of a layer, in all combinations; true where no layer in their lives needs `limit` any more.
 */
static bool flip_operands(struct least *least, int layer, uint64_t limit)
{
    const struct layer *of = &least->network->layers[layer];
    int operands[3] = {of->output, of->inputs[0], layer_has_two_inputs(of) ? of->inputs[1] : of->inputs[0]};
    unsigned count = operands[2] == operands[1] ? 2 : 3;
    for (unsigned set = 1; set < 1u << count; set++) {
        bool better = true;
        flip_set(least, operands, count, set);
        for (unsigned i = 0; i < count; i++)
            better = better && (!(set >> i & 1) || most_in(least, operands[i]) < limit);
        if (better)
            return true;
        flip_set(least, operands, count, set);
    }
    return false;
}

static bool relieve(struct least *least, int layer)
{
    uint64_t limit = least->need[layer];
    if (flip_operands(least, layer, limit))
        return true;
    for (int t = 0; t < least->network->tensor_count; t++) { /* those that only pass by */
        if (least->planner->levels[t] == IN_RAM || least->lives[t].first > layer || least->lives[t].last < layer)
            continue;
        flip(least, t);
        if (most_in(least, t) < limit)
            return true;
        flip(least, t);
    }
    return false;
}

/* Tensors that may as well stay in L2. */
static void bring_to_l2(struct least *least, uint64_t limit)
{
    for (int t = 0; t < least->network->tensor_count; t++) {
        if (least->planner->levels[t] == IN_L2)
            continue;
        flip(least, t);
        if (most_in(least, t) > limit)
            flip(least, t);
    }
}

static void choose_levels(struct least *least)
{
    struct planner *p = least->planner;
    for (int t = 0; t < least->network->tensor_count; t++)
        p->levels[t] = IN_RAM;
    count_needs(least, 0, least->network->layer_count - 1);
    while (relieve(least, widest(least)))
        ;
    if (!p->options->tensors_in_ram)
        bring_to_l2(least, least->need[widest(least)]);
}

/* ---- the decision ---- */

static void place_without_prefetch(struct planner *p, struct schedule *schedule, uint32_t *peak)
{
    schedule_make_without_prefetch(p, schedule, p->kept);
    *peak = schedule_place(schedule, schedule->live_bytes, PLACE_CAREFULLY);
}

bool least_l2(struct planner *planner, struct schedule *schedule, uint32_t *bytes, int *layer)
{
    const struct network *network = planner->network;
    struct least least = {
        .planner = planner,
        .network = network,
        .lives = planner->lives,
        .cut_bytes = arena_allocate_array(planner->arena, (size_t)network->layer_count, sizeof *least.cut_bytes),
        .need = arena_array(planner->arena, uint64_t, (size_t)network->layer_count),
    };
    choose_levels(&least);
    *layer = widest(&least);
    uint64_t most = least.need[*layer];
    for (int l = 0; l < network->layer_count; l++) {
        uint64_t beside = live_bytes(&least, l);
        struct cut *cut = most >= beside ? coarsest_cut(&least, l, layer_ram(planner, l), most - beside) : NULL;
        if (!cut)
            return false;
        planner->choices[l] = (struct choice){.cut = cut};
    }
    place_without_prefetch(planner, schedule, bytes);
    return true;
}

uint32_t least_l1(const struct planner *planner, int *layer)
{
    *layer = 0;
    for (int l = 1; l < planner->network->layer_count; l++)
        if (layer_of(planner, l)->least_l1_bytes > layer_of(planner, *layer)->least_l1_bytes)
            *layer = l;
    return aligned(layer_of(planner, *layer)->least_l1_bytes);
}

/* ---- what would do ---- */

/* The same network with another L1: what its size has decided is forgotten. */
static bool least_l2_with(const struct planner *planner, uint32_t l1_bytes, uint32_t *bytes, int *layer)
{
    struct arena scratch = {0};
    struct planner other = *planner;
    struct schedule schedule;
    size_t layers = (size_t)planner->network->layer_count;
    other.arena = other.kept = &scratch;
    other.l1_bytes = l1_bytes;
    other.variants = arena_array(&scratch, struct planned_layer *, LAYER_VARIANTS * layers);
    other.choices = arena_array(&scratch, struct choice, layers);
    other.levels = arena_array(&scratch, enum memory_level, (size_t)planner->network->tensor_count);
    other.layouts = arena_array(&scratch, enum dory_layout, (size_t)planner->network->tensor_count);
    bool found = least_l2(&other, &schedule, bytes, layer);
    arena_free(&scratch);
    return found;
}

/* Sub-byte weights take more L2 where little L1 has their input channels tiled: then more than the least L1 can be needed
 * for the network to fit `l2_bytes`. */
static uint32_t least_l1_beside(const struct planner *p, uint32_t least, uint32_t l2_bytes)
{
    uint32_t fits = p->l1_bytes, bytes;
    int layer;
    if (fits <= least || (least_l2_with(p, least, &bytes, &layer) && bytes <= l2_bytes))
        return least;
    while (fits - least > DORY_ALIGNMENT) { /* the larger does, the smaller does not */
        uint32_t middle = (fits + least) / 2 / DORY_ALIGNMENT * DORY_ALIGNMENT;
        if (least_l2_with(p, middle, &bytes, &layer) && bytes <= l2_bytes)
            fits = middle;
        else
            least = middle;
    }
    return fits;
}

static void report_layers(const struct planner *p, uint32_t l2_bytes, int l2_layer)
{
    const struct network *network = p->network;
    bool fits_l1 = true;
    for (int l = 0; l < network->layer_count; l++)
        if (layer_of(p, l)->least_l1_bytes > p->l1_bytes) {
            fits_l1 = false;
            diagnose(p->diagnostics, SEVERITY_ERROR, network->layers[l].name, NULL,
                     "does not fit L1: its smallest tile needs %" PRIu32 " bytes, there are %" PRIu32 "%s",
                     layer_of(p, l)->least_l1_bytes, p->l1_bytes, p->target->l1_stack_bytes ? " beside the stacks" : "");
        }
    if (fits_l1 || l2_bytes > p->l2_bytes)
        diagnose(p->diagnostics, SEVERITY_ERROR, network->layers[l2_layer].name, NULL,
                 "does not fit L2: with as much as can be in RAM, and in the smallest stripes and blocks of weights, "
                 "%" PRIu32 " bytes live at once, there are %" PRIu32 "%s",
                 l2_bytes, p->l2_bytes,
                 p->options->tables_in_l2 ? " for these and the tables of steps, which are longer for smaller stripes" : "");
}

void least_report(const struct planner *p)
{
    const struct network *network = p->network;
    int l1_layer, l2_layer;
    uint32_t l1 = least_l1(p, &l1_layer), l2;
    if (!least_l2_with(p, l1 > p->l1_bytes ? l1 : p->l1_bytes, &l2, &l2_layer)) {
        diagnose(p->diagnostics, SEVERITY_ERROR, NULL, NULL, "a fault of dory: no plan in any memory");
        return;
    }
    report_layers(p, l2, l2_layer);
    l1 = least_l1_beside(p, l1, l2 > p->l2_bytes ? l2 : p->l2_bytes);
    diagnose(p->diagnostics, SEVERITY_ERROR, NULL, NULL,
             "the whole network fits with at least %" PRIu32 " bytes of L1%s, for layer '%s', and %" PRIu32
             " bytes of L2%s, for layer '%s'",
             l1 + p->target->l1_stack_bytes, p->target->l1_stack_bytes ? ", stacks included" : "",
             network->layers[l1_layer].name, l2, p->options->tables_in_l2 ? " beside its tables" : "",
             network->layers[l2_layer].name);
}
