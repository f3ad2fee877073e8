/* Which steps a draft has, and at which of them a tensor lives. */
#include "choose/block.h"
#include "price/draft.h"

int draft_steps(const struct draft *d) { return d->first_step[d->problem->network->layer_count]; }

static int first_step_of(const struct draft *d, int layer)
{
    int start = block_start(d->decision, layer);
    const struct block *block = d->decision->choices[start].cut->block;
    return d->first_step[start] + (block ? block->first_steps[layer - start] : 0);
}

static int last_step_of(const struct draft *d, int layer)
{
    int start = block_start(d->decision, layer);
    const struct block *block = d->decision->choices[start].cut->block;
    return block ? d->first_step[start] + block->last_steps[layer - start] : d->first_step[layer + 1] - 1;
}

void draft_tensor_steps(const struct draft *d, int tensor, int *first, int *last)
{
    int producer = d->problem->network->tensors[tensor].producer;
    *first = producer == NO_LAYER ? 0 : first_step_of(d, producer);
    *last = last_step_of(d, d->problem->lives[tensor].last);
}
