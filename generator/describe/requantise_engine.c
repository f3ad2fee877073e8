#include "describe/requantise_engine.h"

static uint64_t cycles_of(const struct requantise_engine *engine, const struct dory_layer *layer)
{
    return engine->cycles(engine->context, layer);
}

bool engine_can_compute(const struct requantise_engine *engine, const struct requantisation *form)
{
    if (!engine)
        return true;
    struct dory_layer layer = *engine->layer;
    requantisation_describe(form, &layer);
    return cycles_of(engine, &layer) != UINT64_MAX;
}

bool engine_is_faster(const struct requantise_engine *engine, const struct requantisation *a, const struct requantisation *b)
{
    if (!engine)
        return false;
    struct dory_layer with_a = *engine->layer, with_b = *engine->layer;
    requantisation_describe(a, &with_a);
    requantisation_describe(b, &with_b);
    return cycles_of(engine, &with_a) < cycles_of(engine, &with_b);
}

static bool has_unsigned_bytes(const struct dory_layer *layer)
{
    return layer->output_bits == 8 && !layer->output_is_signed;
}

static bool has_one_pixel(const struct dory_layer *layer) { return layer->output_height == 1 && layer->output_width == 1; }

bool engine_prefers_split(const struct requantise_engine *engine, enum dory_rounding rounding)
{
    if (!engine || !has_unsigned_bytes(engine->layer) || has_one_pixel(engine->layer))
        return false;
    struct dory_layer split = *engine->layer, high;
    split.normalisation = DORY_NORMALISE_SPLIT;
    split.rounding = (uint8_t)rounding;
    split.left_shift = 1;
    split.minimum = 0;
    split.maximum = UINT8_MAX;
    high = split;
    high.normalisation = DORY_NORMALISE_HIGH;
    return cycles_of(engine, &split) < cycles_of(engine, &high);
}

bool engine_prefers_shared(const struct requantise_engine *engine)
{
    if (!engine || !has_unsigned_bytes(engine->layer) || !has_one_pixel(engine->layer))
        return false;
    struct dory_layer shared = *engine->layer;
    shared.normalisation = DORY_NORMALISE_SHARED;
    shared.minimum = 0;
    shared.maximum = UINT8_MAX;
    return cycles_of(engine, &shared) != UINT64_MAX;
}
