/* Bounds of a run that need no solver. */
#include "search/optimiser.h"

/* The fastest candidate's cycles, whatever lives where. */
static uint64_t least_cycles(struct planned_layer *of)
{
    const struct candidate *front;
    uint64_t least = UINT64_MAX;
    candidate_front(of, 0, &front);
    for (uint8_t ram = 0; ram < 8; ram++)
        for (int i = 0; i < of->front_counts[ram]; i++)
            least = of->fronts[ram][i].cycles < least ? of->fronts[ram][i].cycles : least;
    return least;
}

uint64_t computing_cycles(const struct decision *d)
{
    uint64_t sum = 0;
    for (int l = 0; l < d->problem->network->layer_count; l++)
        sum += least_cycles(layer_of(d, l));
    return sum;
}

/* When a layer starts, L2 holds no more weights than there is room for beside the tensors that must live there: the others
 * of this layer and those behind are still to come from L3. When the first one starts, all of them are. */
void find_tail(struct optimiser *o)
{
    const struct problem *p = o->problem;
    struct plan_proof *proof = &o->best.proof;
    uint64_t before = 0, to_come = 0;
    for (int l = 0; l < o->network->layer_count; l++)
        to_come += layer_brought_bytes(p, l);
    for (int l = 0; l < o->network->layer_count; l++) {
        uint64_t live = 0, held = 0;
        for (int t = 0; t < o->network->tensor_count; t++)
            if (o->spill[t] == SPILL_NEVER && p->lives[t].first <= l && l <= p->lives[t].last)
                live += p->tensor_bytes[t];
        if (l > 0 && live < p->l2_bytes)
            held = p->l2_bytes - live;
        uint64_t tail = to_come > held ? to_come - held : 0;
        uint64_t cycles = before + tail * 1000 / p->target->l3_bytes_per_1000_cycles;
        if (cycles > proof->tail_cycles) {
            proof->tail_cycles = cycles;
            proof->tail_bytes = tail;
            proof->tail_layer = l;
        }
        before += least_cycles(layer_of(&o->now, l));
        to_come -= layer_brought_bytes(p, l);
    }
    proof->compute_cycles = before;
    uint64_t bound = proof->tail_cycles > before ? proof->tail_cycles : before;
    proof->bound_cycles = proof->bound_cycles > bound ? proof->bound_cycles : bound;
}
