/* Bytes of weights: of a layer, of those that a run brings from the flash, and of those that are in L2 before it. */
#include "choose/problem.h"

#include <inttypes.h>

bool layer_brings_weights(const struct problem *p, int layer)
{
    return dory_has_weights(&p->layers[layer].record) && !(p->resident && p->resident[layer]) &&
           !layer_shares_weights(p, layer);
}

/* As if of 8 bits: of fewer, at least. */
static uint64_t layer_weights_bytes(const struct formed_layer *layer)
{
    const struct dory_layer *record = &layer->record;
    return (uint64_t)dory_blocks(record, record->output_channels) *
           dory_block_bytes(layer->engine->weights, record, record->input_channels);
}

uint64_t layer_brought_bytes(const struct problem *p, int layer)
{
    return layer_brings_weights(p, layer) ? layer_weights_bytes(&p->layers[layer]) : 0;
}

bool resident_reserve(struct problem *p, struct diagnostics *diagnostics)
{
    uint64_t bytes = 0;
    for (int l = 0; l < p->network->layer_count; l++)
        if ((p->resident && p->resident[l]) || (layer_shares_weights(p, l) && p->owners[l] == l))
            bytes += aligned((uint32_t)layer_weights_bytes(&p->layers[l]));
    bool are_elsewhere = p->target->weight_memory_bytes > 0 || !p->options->tables_in_l2;
    if (bytes == 0 || (p->options->weights == WEIGHTS_LINKED && are_elsewhere))
        return true; /* beside an arena whose size was given, what is linked takes nothing from it, nor in its own memory */
    bytes += p->options->weights == WEIGHTS_LINKED ? FLASH_HEADER_BYTES : DORY_LOADED_BYTES;
    if (bytes >= p->l2_bytes) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, "weights",
                 "does not fit L2: weights that are to stay there take %" PRIu64 " bytes of %" PRIu32
                 "; with 'auto' as many stay as are worth it, with 'flash' none",
                 bytes, p->l2_bytes);
        return false;
    }
    p->resident_bytes = (uint32_t)bytes;
    p->l2_bytes -= p->resident_bytes;
    return true;
}
