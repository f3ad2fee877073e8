#include "stage.h"

#include "dory/normalise.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* log2 of a power of two, else DORY_DIVIDES. */
static int32_t logarithm(uint32_t divisor)
{
    int32_t shift = 0;
    for (; (divisor & 1) == 0; divisor >>= 1) {
        shift++;
    }
    return divisor == 1 ? shift : DORY_DIVIDES;
}

/* Of the smallest and the largest result before the clip. */
static int32_t floor_divide(int32_t numerator, int32_t divisor, int32_t shift)
{
    return shift != DORY_DIVIDES ? numerator >> shift : (int32_t)dory_floor_divide(numerator, divisor);
}

bool dory_narrow_stage_of(struct dory_narrow_stage *narrow, const struct dory_stage *stage, struct dory_range *range)
{
    int64_t multiplier = stage->multiplier, addend = stage->addend, divisor = stage->divisor;
    if (!dory_fits_32(divisor) || !dory_fits_32(multiplier) || !dory_fits_32(addend)) {
        return false;
    }
    int64_t a = multiplier * range->least, b = multiplier * range->most;
    int64_t least = smaller(a, b), most = larger(a, b);
    if (!dory_fits_32(least) || !dory_fits_32(most) || !dory_fits_32(least + addend) || !dory_fits_32(most + addend)) {
        return false;
    }
    int32_t shift = logarithm((uint32_t)divisor), minimum = stage->minimum, maximum = stage->maximum;
    *narrow = (struct dory_narrow_stage){(int32_t)multiplier, (int32_t)addend, shift, minimum, maximum, (int32_t)divisor};
    least = floor_divide((int32_t)(least + addend), narrow->divisor, shift);
    most = floor_divide((int32_t)(most + addend), narrow->divisor, shift);
    range->least = smaller(larger(least, minimum), maximum);
    range->most = smaller(larger(most, minimum), maximum);
    if (range->least == least && range->most == most) { /* no result is clipped */
        narrow->minimum = INT32_MIN;
        narrow->maximum = INT32_MAX;
    }
    return true;
}

bool dory_narrow_stages_of(struct dory_narrow_stage narrow[2], const struct dory_layer *layer, struct dory_range range)
{
    static const struct dory_stage none = {.multiplier = 1, .divisor = 1, .minimum = INT32_MIN, .maximum = INT32_MAX};
    if (!dory_narrow_stage_of(&narrow[0], &layer->stages->first, &range) ||
        !dory_narrow_stage_of(&narrow[1], layer->stages->has_second ? &layer->stages->second : &none, &range)) {
        return false;
    }
    narrow[1].minimum = p_min(p_max(narrow[1].minimum, layer->minimum), layer->maximum); /* two clips are one */
    narrow[1].maximum = p_min(p_max(narrow[1].maximum, layer->minimum), layer->maximum);
    return true;
}

int32_t dory_stages_apply(const struct dory_layer *layer, int64_t accumulator)
{
    if (layer->normalisation == DORY_NORMALISE_THRESHOLDS) {
        return (int32_t)dory_count_thresholds(layer->thresholds, (int32_t)accumulator);
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
    high->is_byte = layer->rounding != DORY_ROUND_EVEN && layer->minimum >= 0 && layer->maximum <= 255;
}

static bool changes_nothing(const struct dory_narrow_stage *stage, struct dory_range range)
{
    return stage->multiplier == 1 && stage->addend == 0 && stage->shift == 0 && stage->minimum <= range.least &&
           stage->maximum >= range.most;
}

/* Two clips are one where the second stage does nothing else. */
static void find_linear(struct dory_scalar_finish *finish)
{
    const struct dory_narrow_stage *first = &finish->stage[0], *last = &finish->stage[1];
    finish->is_linear =
        finish->is_narrow && first->shift != DORY_DIVIDES && last->multiplier == 1 && last->addend == 0 && last->shift == 0;
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
