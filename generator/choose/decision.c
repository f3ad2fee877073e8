/* Decisions: made, copied, compared, and what they say of a layer. */
#include "choose/decision.h"

#include <string.h>

#include "choose/block.h"
#include "plan/views.h"

/* ---- as a whole ---- */

static struct decision make_lists(const struct problem *problem, struct arena *arena)
{
    size_t layers = (size_t)problem->network->layer_count, tensors = (size_t)problem->network->tensor_count;
    return (struct decision){.problem = problem,
                             .levels = arena_array(arena, enum memory_level, tensors),
                             .layouts = arena_array(arena, enum dory_layout, tensors),
                             .choices = arena_array(arena, struct choice, layers),
                             .live = arena_array(arena, uint32_t, layers)};
}

static void add_live(struct decision *d, int tensor, uint32_t bytes)
{
    for (int l = d->problem->lives[tensor].first; l <= d->problem->lives[tensor].last; l++)
        d->live[l] += bytes;
}

struct decision decision_make(const struct problem *problem, struct arena *arena)
{
    struct decision d = make_lists(problem, arena);
    for (int t = 0; t < problem->network->tensor_count; t++) {
        add_live(&d, t, problem->tensor_bytes[t]);
        d.layouts[t] = view_layout(&problem->network->tensors[t]);
    }
    return d;
}

void decision_set(struct decision *to, const struct decision *from)
{
    size_t layers = (size_t)to->problem->network->layer_count, tensors = (size_t)to->problem->network->tensor_count;
    memcpy(to->levels, from->levels, tensors * sizeof *to->levels);
    memcpy(to->layouts, from->layouts, tensors * sizeof *to->layouts);
    memcpy(to->choices, from->choices, layers * sizeof *to->choices);
    memcpy(to->live, from->live, layers * sizeof *to->live);
}

struct decision decision_copy(const struct decision *decision, struct arena *arena)
{
    struct decision copy = make_lists(decision->problem, arena);
    decision_set(&copy, decision);
    return copy;
}

bool choice_is_same(const struct choice *a, const struct choice *b) { return a->cut == b->cut && a->ahead == b->ahead; }

bool decision_is_same(const struct decision *a, const struct decision *b)
{
    bool same = true;
    for (int l = 0; l < a->problem->network->layer_count && same; l++)
        same = choice_is_same(&a->choices[l], &b->choices[l]);
    for (int t = 0; t < a->problem->network->tensor_count && same; t++)
        same = a->levels[t] == b->levels[t] && a->layouts[t] == b->layouts[t];
    return same;
}

void keep_better(struct priced *best, const struct decision *decision, uint64_t price)
{
    if (price >= best->price)
        return;
    best->price = price;
    decision_set(&best->decision, decision);
}

void decision_place(struct decision *d, int tensor, enum memory_level level, enum dory_layout layout)
{
    uint32_t bytes = d->problem->tensor_bytes[tensor];
    add_live(d, tensor, (level == IN_L2 ? bytes : 0) - (d->levels[tensor] == IN_L2 ? bytes : 0));
    d->levels[tensor] = level;
    d->layouts[tensor] = d->problem->network->tensors[tensor].view ? d->layouts[tensor] : layout; /* which is as it is */
}

/* ---- of a layer ---- */

struct planned_layer *layer_of(const struct decision *d, int index)
{
    const struct layer *layer = &d->problem->network->layers[index];
    return layer_variant(d->problem, index, d->layouts[layer->inputs[0]], d->layouts[layer->output]);
}

uint8_t layer_ram(const struct decision *d, int layer)
{
    uint8_t ram = 0;
    for (int i = 0; i < 3; i++) {
        int tensor = layer_operand(&d->problem->network->layers[layer], i);
        ram |= (uint8_t)(tensor >= 0 && d->levels[tensor] == IN_RAM ? 1 << i : 0);
    }
    return ram;
}

int block_start(const struct decision *d, int layer)
{
    while (d->choices[layer].cut == d->problem->within)
        layer--;
    return layer;
}

bool is_in_block(const struct decision *d, int layer) { return d->choices[block_start(d, layer)].cut->block != NULL; }

struct cut *cut_of(const struct decision *d, int layer)
{
    int first = block_start(d, layer);
    struct cut *cut = d->choices[first].cut;
    return cut->block ? cut->block->members[layer - first] : cut;
}
