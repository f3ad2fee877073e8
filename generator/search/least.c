/* The least memory with which a network fits, whatever its speed: what a user is told whose memory is too small, and the
 * plan of last resort where the optimiser finds none.
 *
 * L1: the largest of what each layer's smallest tile needs. L2: a decision without any working ahead. It starts with all
 * tensors in RAM; then, as long as that takes bytes off the layer that needs most, levels change: a
 * tensor that fills whole windows anyway, or that keeps a layer from being cut into small blocks, is better off in L2. */
#include "search/search.h"

#include <inttypes.h>

#include "dory/hal.h"
#include "plan/views.h"
#include "price/price.h"
#include "search/optimiser.h"

/* ---- needs of layers ---- */

/* The cut with the fewest steps among those that need at most so many bytes; null: none. Its tile has been found, which may
 * make blocks of weights larger than they seemed. */
static struct cut *coarsest_cut(struct planned_layer *of, uint8_t ram, uint64_t most_bytes)
{
    struct cut **list, *best = NULL;
    int count = cut_list(of, ram, &list);
    for (int i = 0; i < count; i++) {
        bool better = !best || list[i]->step_count < best->step_count;
        if (better && cut_l2_bytes(list[i], false) <= most_bytes && cut_solve(list[i]) &&
            cut_l2_bytes(list[i], false) <= most_bytes)
            best = list[i];
    }
    return best;
}

/* The first layer that needs most. */
static int widest(const struct decision *d)
{
    int widest = 0;
    for (int l = 1; l < d->problem->network->layer_count; l++)
        widest = layer_need(d, l) > layer_need(d, widest) ? l : widest;
    return widest;
}

/* ---- levels ---- */

static void flip(struct decision *d, int tensor)
{
    if (d->problem->lives[tensor].is_viewed)
        return;
    decision_place(d, tensor, d->levels[tensor] == IN_L2 ? IN_RAM : IN_L2, DORY_HWC);
}

static uint64_t most_in(const struct decision *d, int tensor)
{
    const struct tensor_life *life = &d->problem->lives[tensor];
    uint64_t most = 0;
    for (int l = life->first; l <= life->last; l++)
        most = layer_need(d, l) > most ? layer_need(d, l) : most;
    return most;
}

static void flip_set(struct decision *d, const int *tensors, unsigned count, unsigned set)
{
    for (unsigned i = 0; i < count; i++)
        if (set >> i & 1)
            flip(d, tensors[i]);
}

/* Other levels for the operands of a layer, in all combinations; true where no layer in their lives needs `limit` any more.
 */
static bool flip_operands(struct decision *d, int layer, uint64_t limit)
{
    const struct layer *of = &d->problem->network->layers[layer];
    int operands[3] = {of->output, of->inputs[0], layer_has_two_inputs(of) ? of->inputs[1] : of->inputs[0]};
    unsigned count = operands[2] == operands[1] ? 2 : 3;
    for (unsigned set = 1; set < 1u << count; set++) {
        bool better = true;
        flip_set(d, operands, count, set);
        for (unsigned i = 0; i < count; i++)
            better = better && (!(set >> i & 1) || most_in(d, operands[i]) < limit);
        if (better)
            return true;
        flip_set(d, operands, count, set);
    }
    return false;
}

static bool relieve(struct decision *d, int layer)
{
    const struct tensor_life *lives = d->problem->lives;
    uint64_t limit = layer_need(d, layer);
    if (flip_operands(d, layer, limit))
        return true;
    for (int t = 0; t < d->problem->network->tensor_count; t++) { /* those that only pass by */
        if (d->levels[t] == IN_RAM || lives[t].first > layer || lives[t].last < layer)
            continue;
        flip(d, t);
        if (most_in(d, t) < limit)
            return true;
        flip(d, t);
    }
    return false;
}

/* Tensors that may as well stay in L2. */
static void bring_to_l2(struct decision *d, uint64_t limit)
{
    for (int t = 0; t < d->problem->network->tensor_count; t++) {
        if (d->levels[t] == IN_L2)
            continue;
        flip(d, t);
        if (most_in(d, t) > limit)
            flip(d, t);
    }
}

/* All in RAM, then others as long as that takes bytes off the layer that needs most: that layer. */
static int find_levels(struct decision *d)
{
    for (int t = 0; t < d->problem->network->tensor_count; t++)
        decision_place(d, t, d->problem->lives[t].is_viewed ? IN_L2 : IN_RAM, DORY_HWC);
    while (relieve(d, widest(d)))
        ;
    if (!d->problem->options->tensors_in_ram)
        bring_to_l2(d, layer_need(d, widest(d)));
    return widest(d); /* that layer may need less now, and another one as much as it did */
}

/* ---- the decision ---- */

bool least_l2(struct decision *d, uint32_t *bytes, int *layer)
{
    *layer = find_levels(d);
    uint64_t most = layer_need(d, *layer);
    for (int l = 0; l < d->problem->network->layer_count; l++) {
        struct cut *cut = most >= d->live[l] ? coarsest_cut(layer_of(d, l), layer_ram(d, l), most - d->live[l]) : NULL;
        if (!cut)
            return false;
        d->choices[l] = (struct choice){.cut = cut};
    }
    *bytes = decision_least_bytes(d);
    return true;
}

/* Of its smallest tile, with its tensors in HWC where they can be. */
static uint32_t layer_l1_bytes(const struct problem *p, int layer)
{
    const struct tensor *output = &p->network->tensors[p->network->layers[layer].output];
    return layer_variant(p, layer, DORY_HWC, view_layout(output))->least_l1_bytes;
}

uint32_t least_l1(const struct problem *p, int *layer)
{
    *layer = 0;
    for (int l = 1; l < p->network->layer_count; l++)
        if (layer_l1_bytes(p, l) > layer_l1_bytes(p, *layer))
            *layer = l;
    return aligned(layer_l1_bytes(p, *layer));
}

/* ---- what would do ---- */

/* The same network with another L1: a problem of its own. */
static bool least_l2_with(const struct problem *p, uint32_t l1_bytes, uint32_t *bytes, int *layer)
{
    struct arena scratch = {0};
    struct diagnostics unheard = {.arena = &scratch};
    struct plan_options options = *p->options;
    options.l1_bytes = l1_bytes + p->target->l1_stack_bytes;
    options.memory = NULL; /* of cuts for this L1 */
    struct problem other = {
        .network = p->network, .target = p->target, .options = &options, .resident = p->resident, .arena = &scratch};
    bool found = problem_make(&other, &scratch, &unheard);
    if (found) {
        struct decision least = decision_make(&other, &scratch);
        found = least_l2(&least, bytes, layer);
    }
    arena_free(&scratch);
    return found;
}

/* Sub-byte weights take more L2 where little L1 has their input channels tiled: then more than the least L1 can be needed
 * for the network to fit `l2_bytes`. */
static uint32_t least_l1_beside(const struct problem *p, uint32_t least, uint32_t l2_bytes)
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

static void report_layers(const struct problem *p, uint32_t l2_bytes, int l2_layer, struct diagnostics *diagnostics)
{
    const struct network *network = p->network;
    bool fits_l1 = true;
    for (int l = 0; l < network->layer_count; l++)
        if (layer_l1_bytes(p, l) > p->l1_bytes) {
            fits_l1 = false;
            diagnose(diagnostics, SEVERITY_ERROR, network->layers[l].name, NULL,
                     "does not fit L1: its smallest tile needs %" PRIu32 " bytes, there are %" PRIu32 "%s",
                     layer_l1_bytes(p, l), p->l1_bytes, p->target->l1_stack_bytes ? " beside the stacks" : "");
        }
    if (fits_l1 || l2_bytes > p->l2_bytes)
        diagnose(diagnostics, SEVERITY_ERROR, network->layers[l2_layer].name, NULL,
                 "does not fit L2: with as much as can be in RAM, and in the smallest stripes and blocks of weights, "
                 "%" PRIu32 " bytes live at once, there are %" PRIu32 "%s",
                 l2_bytes, p->l2_bytes,
                 p->options->tables_in_l2 ? " for these and the tables of steps, which are longer for smaller stripes" : "");
}

void least_report(const struct problem *p, struct diagnostics *diagnostics)
{
    const struct network *network = p->network;
    int l1_layer, l2_layer;
    uint32_t l1 = least_l1(p, &l1_layer), l2;
    if (!least_l2_with(p, l1 > p->l1_bytes ? l1 : p->l1_bytes, &l2, &l2_layer)) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "a fault of dory: no plan in any memory");
        return;
    }
    report_layers(p, l2, l2_layer, diagnostics);
    l1 = least_l1_beside(p, l1, l2 > p->l2_bytes ? l2 : p->l2_bytes);
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
             "the whole network fits with at least %" PRIu32 " bytes of L1%s, for layer '%s', and %" PRIu32
             " bytes of L2%s, for layer '%s'",
             l1 + p->target->l1_stack_bytes, p->target->l1_stack_bytes ? ", stacks included" : "",
             network->layers[l1_layer].name, l2, p->options->tables_in_l2 ? " beside its tables" : "",
             network->layers[l2_layer].name);
}
