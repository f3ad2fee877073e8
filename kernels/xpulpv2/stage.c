/* The ends of additions, pools and products whose stages are the same for all channels, four elements at a time; see
 * stage.h. */
#include "stage.h"

#include "dory/normalise.h"

int32_t dory_stages_apply(const struct dory_layer *layer, int64_t accumulator)
{
    if (layer->normalisation == DORY_NORMALISE_THRESHOLDS) {
        return (int32_t)dory_count_thresholds(layer->constants.thresholds, (int32_t)accumulator);
    }
    int64_t value = dory_stage_apply(&layer->stages->first, accumulator);
    if (layer->stages->has_second) {
        value = dory_stage_apply(&layer->stages->second, value);
    }
    return dory_clip(value, layer->minimum, layer->maximum);
}

void dory_high_start(struct dory_high *high, const struct dory_layer *layer, uint32_t left_shift)
{
    const struct dory_stage *first = &layer->stages->first;
    dory_start_normaliser(&high->normaliser, layer);
    high->normaliser.direct_shift = (int32_t)left_shift;
    high->multiplier = (int32_t)first->multiplier;
    high->addend = (int32_t)first->addend;
    high->shift = (int32_t)dory_log2((uint64_t)first->divisor);
    high->least = (uint32_t)layer->minimum * 0x01010101u;
    high->is_unrounded = layer->rounding == DORY_ROUND_FLOOR;
    high->is_even = layer->rounding == DORY_ROUND_EVEN;
    high->is_byte = layer->minimum >= 0 && layer->maximum <= 255;
}

static bool changes_nothing(const struct dory_narrow_stage *stage, struct dory_range range)
{
    return dory_only_clips(stage) && stage->minimum <= range.least && stage->maximum >= range.most;
}

/* Two clips are one where the second stage does nothing else. */
static void find_linear(struct dory_scalar_finish *finish)
{
    const struct dory_narrow_stage *first = &finish->stage[0], *last = &finish->stage[1];
    finish->is_linear = finish->is_narrow && first->shift != DORY_DIVIDES && dory_only_clips(last);
    finish->minimum = p_min(p_max(first->minimum, last->minimum), last->maximum);
    finish->maximum = p_min(p_max(first->maximum, last->minimum), last->maximum);
}

void dory_scalar_finish_start(struct dory_scalar_finish *finish, const struct dory_layer *layer, struct dory_range range)
{
    finish->layer = layer;
    finish->is_narrow = finish->is_plain = finish->is_linear = false;
    finish->is_high = layer->normalisation == DORY_NORMALISE_HIGH;
    if (finish->is_high) {
        dory_high_start(&finish->high, layer, layer->left_shift);
        finish->bias = (int32_t)layer->stages->input[0].addend;
        return;
    }
    if (layer->normalisation == DORY_NORMALISE_THRESHOLDS) {
        return;
    }
    finish->is_narrow = dory_narrow_stages_of(finish->stage, layer, range);
    finish->is_plain =
        finish->is_narrow && changes_nothing(&finish->stage[0], range) && changes_nothing(&finish->stage[1], range);
    find_linear(finish);
}

void dory_scalar_finish_all(const struct dory_scalar_finish *finish, int32_t *accumulator, uint32_t count)
{
    const int32_t *end = accumulator + count;
    int32_t factor = finish->stage[0].multiplier, addend = finish->stage[0].addend, shift = finish->stage[0].shift;
    int32_t minimum = finish->minimum, maximum = finish->maximum;
    if (!finish->is_linear) {
        for (; accumulator < end; accumulator++) {
            *accumulator = dory_scalar_finish_apply(finish, *accumulator);
        }
        return;
    }
    for (; accumulator < end; accumulator += 4) {
        for (unsigned i = 0; i < 4; i++) {
            int32_t product = (int32_t)((uint32_t)accumulator[i] * (uint32_t)factor);
            accumulator[i] = p_min(p_max(p_addnr(product, addend, shift), minimum), maximum);
        }
    }
}
