#include "stage.h"

#include "dory/normalise.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* log2 of a power of two up to 2^31, else -1. */
static int32_t logarithm(int64_t divisor)
{
    for (int32_t shift = 0; shift < 32; shift++) {
        if (divisor == (int64_t)1 << shift) {
            return shift;
        }
    }
    return -1;
}

bool dory_narrow_stage_of(struct dory_narrow_stage *narrow, const struct dory_stage *stage, struct dory_range *range)
{
    int32_t shift = logarithm(stage->divisor);
    if (shift < 0 || !dory_fits_32(stage->multiplier) || !dory_fits_32(stage->addend)) {
        return false;
    }
    int64_t a = stage->multiplier * range->least, b = stage->multiplier * range->most;
    int64_t least = smaller(a, b), most = larger(a, b);
    if (!dory_fits_32(least) || !dory_fits_32(most) || !dory_fits_32(least + stage->addend) || !dory_fits_32(most + stage->addend)) {
        return false;
    }
    *narrow = (struct dory_narrow_stage){(int32_t)stage->multiplier, (int32_t)stage->addend, shift, stage->minimum, stage->maximum};
    range->least = smaller(larger((least + stage->addend) >> shift, stage->minimum), stage->maximum);
    range->most = smaller(larger((most + stage->addend) >> shift, stage->minimum), stage->maximum);
    return true;
}

bool dory_narrow_stages_of(struct dory_narrow_stage narrow[2], const struct dory_layer *layer, struct dory_range range)
{
    static const struct dory_stage none = {.multiplier = 1, .divisor = 1, .minimum = INT32_MIN, .maximum = INT32_MAX};
    if (!dory_narrow_stage_of(&narrow[0], &layer->stage, &range) ||
        !dory_narrow_stage_of(&narrow[1], layer->has_second_stage ? &layer->second_stage : &none, &range)) {
        return false;
    }
    narrow[1].minimum = p_min(p_max(narrow[1].minimum, layer->minimum), layer->maximum); /* two clips are one */
    narrow[1].maximum = p_min(p_max(narrow[1].maximum, layer->minimum), layer->maximum);
    return true;
}

int32_t dory_stages_apply(const struct dory_layer *layer, int64_t accumulator)
{
    int64_t value = dory_stage_apply(&layer->stage, accumulator);
    if (layer->has_second_stage) {
        value = dory_stage_apply(&layer->second_stage, value);
    }
    return dory_clip(value, layer->minimum, layer->maximum);
}
