#include "prepared_tile.h"

/* Numbers, for null has no offset. */
static inline void *moved(const void *offset, const void *base) { return (void *)((uintptr_t)offset + (uintptr_t)base); }

void dory_take_tile(struct dory_placed_tile *placed, const struct dory_prepared_tile *prepared, uint8_t *l1)
{
    struct dory_tile *tile = &placed->tile;
    *tile = prepared->tile;
    tile->input = moved(tile->input, l1);
    tile->second_input = moved(tile->second_input, l1);
    tile->weights = moved(tile->weights, l1);
    tile->output = moved(tile->output, l1);
    tile->accumulators = tile->accumulators ? moved(tile->accumulators, l1) : 0;
    tile->scratch = moved(tile->scratch, l1);
    placed->valid = prepared->valid;
    placed->prepared = prepared;
    placed->starts_step = prepared->starts_step;
    placed->overlaps = prepared->overlaps;
    placed->load_weights = prepared->load_weights;
    placed->output_buffer = prepared->output_buffer;
}

static void take_copy(struct hal_dma_copy *copy, const struct hal_dma_copy *prepared, const uint8_t *l1,
                      const uint8_t *external)
{
    *copy = *prepared;
    copy->local = moved(copy->local, l1);
    copy->external = moved(copy->external, external);
}

void dory_take_weights(struct hal_dma_copy *copy, const struct dory_prepared_tile *prepared, const struct dory_bases *bases)
{
    take_copy(copy, &prepared->loads[0], bases->l1, bases->weights);
}

void dory_take_loads(struct dory_copies *copies, const struct dory_placed_tile *placed, const struct dory_bases *bases)
{
    const struct dory_prepared_tile *prepared = placed->prepared;
    unsigned count = 0, load = prepared->load_weights;
    if (placed->load_weights) {
        dory_take_weights(&copies->loads[count++], prepared, bases);
    }
    for (; load < prepared->load_count; load++) {
        take_copy(&copies->loads[count++], &prepared->loads[load], bases->l1, bases->l2);
    }
    copies->load_count = count;
}

bool dory_take_store(struct dory_copies *copies, const struct dory_prepared_tile *prepared, const struct dory_bases *bases)
{
    copies->store_count = prepared->store_count;
    if (prepared->store_count == 0) {
        return false;
    }
    copies->store_buffer = prepared->output_buffer;
    take_copy(&copies->store, &prepared->store, bases->l1, bases->l2);
    return true;
}
