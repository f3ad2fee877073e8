/* The weights of a layer as its engine's format writes them (dory/engine.h), and those that layers share. */
#include "describe/requantise.h"
#include "plan/plan.h"

#include <string.h>

static struct dory_model_weights weights_of(const struct plan *plan, int index)
{
    const struct layer *layer = &plan->network->layers[index];
    const struct dory_layer *record = &plan->layers[index].record;
    if (record->operation == DORY_CONSTANT)
        return (struct dory_model_weights){.weights = (const int8_t *)record->constants.table};
    return (struct dory_model_weights){
        .weights = layer->weights,
        .inputs = (uint32_t)(plan->network->tensors[layer->inputs[0]].channels / layer->groups),
        .taps = (uint32_t)layer->kernel_height * (uint32_t)layer->kernel_width,
        .constants = plan->layers[index].requantisation->channels,
    };
}

bool plan_write_blob(const struct plan *plan, int layer, uint8_t *blob)
{
    const struct plan_layer *planned = &plan->layers[layer];
    struct dory_model_weights weights = weights_of(plan, layer);
    return planned->engine->weights->write(&planned->record, &weights, blob, planned->weights_bytes);
}

bool plan_has_own_blob(const struct plan *plan, int layer)
{
    const struct plan_layer *planned = &plan->layers[layer];
    return planned->weights_bytes > 0 && (!planned->shares_weights || planned->owner == layer);
}

uint32_t plan_constants_bytes(const struct plan_layer *layer)
{
    return layer->engine->weights->constants_bytes(&layer->record);
}

uint32_t plan_all_constants_bytes(const struct plan_layer *layer)
{
    return layer->shares_weights ? layer->weights_bytes / layer->record.block_bytes * plan_constants_bytes(layer) : 0;
}

/* Takes a blob's constants out of it. */
static void pick_constants(const struct plan_layer *layer, uint8_t *blob, uint8_t *constants)
{
    uint32_t bytes = plan_constants_bytes(layer), block = layer->record.block_bytes;
    for (uint32_t end = block; end <= layer->weights_bytes; end += block, constants += bytes) {
        memcpy(constants, blob + end - bytes, bytes);
        memset(blob + end - bytes, 0, bytes);
    }
}

bool plan_write_constants(const struct plan *plan, int layer, uint8_t *constants)
{
    const struct plan_layer *own = &plan->layers[layer], *owner = &plan->layers[own->owner];
    struct arena scratch = {0};
    bool same = own->weights_bytes == owner->weights_bytes && own->record.block_bytes == owner->record.block_bytes &&
                own->record.chunk_bytes == owner->record.chunk_bytes &&
                plan_constants_bytes(own) == plan_constants_bytes(owner);
    if (same) {
        uint8_t *ours = arena_allocate(&scratch, own->weights_bytes), *theirs = arena_allocate(&scratch, own->weights_bytes);
        same = plan_write_blob(plan, layer, ours) && plan_write_blob(plan, own->owner, theirs);
        pick_constants(owner, theirs, constants);
        pick_constants(own, ours, constants);
        same = same && memcmp(ours, theirs, own->weights_bytes) == 0;
    }
    arena_free(&scratch);
    return same;
}

bool plan_has_bound(const struct plan *plan)
{
    bool shares = false;
    for (int i = 0; i < plan->network->layer_count; i++)
        shares = shares || plan->layers[i].shares_weights;
    return !shares && plan->moved_without_blocks.cycles == 0;
}

bool plan_shares_equal_weights(const struct plan *plan)
{
    struct arena scratch = {0};
    bool good = true;
    for (int i = 0; good && i < plan->network->layer_count; i++) {
        const struct plan_layer *layer = &plan->layers[i];
        if (layer->shares_weights && !plan_has_own_blob(plan, i))
            good = plan_write_constants(plan, i, arena_allocate(&scratch, plan_all_constants_bytes(layer)));
    }
    arena_free(&scratch);
    return good;
}
