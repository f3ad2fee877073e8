/* Guesses of cuts: for a first decision, and for layers around tensors that have moved. */
#include "choose/block.h"
#include "search/optimiser.h"

uint32_t room_beside_tensors(const struct optimiser *o, int layer)
{
    uint32_t all = usable_bytes(o), live = o->now.live[layer];
    return all > live ? all - live : 0;
}

const struct candidate *best_guess(const struct decision *d, int layer, uint32_t bytes,
                                   uint64_t (*guess)(const struct candidate *))
{
    const struct candidate *front, *best = NULL;
    int count = candidate_first(layer_of(d, layer), layer_ram(d, layer), &front);
    for (int i = 0; i < count; i++)
        if (front[i].most_bytes <= bytes && (!best || guess(&front[i]) < guess(best)))
            best = &front[i];
    return best;
}

/* Where tensors move, the layers around them shall be fast at once: a move that costs much at first is soon given up. */
bool guess_cut(struct optimiser *o, int layer)
{
    const struct candidate *guess = best_guess(&o->now, layer, room_beside_tensors(o, layer), candidate_guess);
    if (guess)
        o->now.choices[layer] = guess->choice;
    return guess != NULL;
}

bool cut_anew(struct optimiser *o, int layer, uint32_t turns)
{
    if (!is_in_block(&o->now, layer))
        return guess_cut(o, layer);
    int first = block_start(&o->now, layer);
    struct choice *choice = &o->now.choices[first];
    const struct block *block = choice->cut->block;
    int last = first + block->layers - 1;
    uint32_t height = block_height(o->problem, first, last, block->by_pixels);
    struct stripe stripe = {turns ? dory_divide_up(height, turns) : choice->cut->rows, block->by_pixels};
    struct cut *cut = block_get(&o->now, first, last, stripe, o->problem->l2_bytes);
    if (cut)
        choice->cut = cut;
    return cut != NULL;
}
