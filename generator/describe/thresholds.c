#include "describe/thresholds.h"

#include "dory/layer.h"
#include "network/stage.h"

static int64_t value_of(const struct layer *layer, int64_t accumulator)
{
    wide value = accumulator;
    for (int i = 0; i < layer->stage_count; i++) {
        if (value < INT64_MIN / 2 || value > INT64_MAX / 2) /* beyond the bytes that the last stage may give, in any case */
            value = value < 0 ? INT64_MIN / 2 : INT64_MAX / 2;
        value = stage_apply(&layer->stages[i], 0, (int64_t)value);
    }
    return value < -1 ? -1 : value > UINT8_MAX + 1 ? UINT8_MAX + 1 : (int64_t)value;
}

/* The least accumulator above `low`, up to `high`, that gives more than `value`; `low` does not, `high` does. */
static int64_t first_above(const struct layer *layer, int64_t low, int64_t high, int64_t value)
{
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (value_of(layer, middle) > value)
            high = middle;
        else
            low = middle;
    }
    return high;
}

bool thresholds_of_stages(const struct layer *layer, int64_t minimum, int64_t maximum, int32_t *thresholds)
{
    bool is_scalar = true;
    for (int i = 0; i < layer->stage_count; i++)
        is_scalar = is_scalar && layer->stages[i].count == 1;
    /* the largest number stands for none */
    if (!is_scalar || minimum > maximum || minimum < INT32_MIN || maximum >= INT32_MAX)
        return false;
    int64_t least = value_of(layer, minimum), most = value_of(layer, maximum);
    if (least < 0 || most > UINT8_MAX || most < least)
        return false;
    for (int i = 0; i < DORY_THRESHOLDS; i++)
        thresholds[i] = i < least ? INT32_MIN : i >= most ? INT32_MAX : (int32_t)first_above(layer, minimum, maximum, i);
    return true;
}
