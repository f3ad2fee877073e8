#include "describe/clamp.h"

#include "network/stage.h"

#define UINT32_VALUES ((wide)1 << 32)

static bool constant_channel(wide value, struct clamped_channel *channel)
{
    *channel = (struct clamped_channel){.addend = (uint32_t)value};
    return true;
}

/* The accumulators for which 0 <= multiplier * x + addend < bound. */
static void inner_range(wide multiplier, wide addend, wide bound, wide *low, wide *high)
{
    if (multiplier > 0) {
        *low = wide_floor_divide(-addend - 1, multiplier) + 1; /* ceil(-addend / multiplier) */
        *high = wide_floor_divide(bound - 1 - addend, multiplier);
    } else {
        *low = -wide_floor_divide(bound - 1 - addend, -multiplier); /* ceil((bound - 1 - addend) / multiplier) */
        *high = wide_floor_divide(addend, -multiplier);
    }
}

bool clamp_channel(int64_t multiplier, int64_t addend, int64_t divisor, int64_t maximum, int64_t x_minimum,
                   int64_t x_maximum, struct clamped_channel *channel)
{
    wide bound = ((wide)maximum + 1) * divisor;
    if (maximum < 0 || bound > UINT32_VALUES || x_minimum < INT32_MIN || x_maximum > INT32_MAX)
        return false;
    if (multiplier == 0)
        return constant_channel(greater(0, lesser(addend, bound - 1)), channel);

    wide low, high;
    inner_range(multiplier, addend, bound, &low, &high);
    bool below = low > x_minimum, above = high < x_maximum; /* accumulators that saturate on either side */
    low = greater(low, x_minimum);
    high = lesser(high, x_maximum);
    if (low > high) { /* no accumulator inside: all on one side, or a step that jumps over everything */
        bool all_above = low > x_maximum, all_below = high < x_minimum;
        bool saturates_high = multiplier > 0 ? all_below : all_above;
        return all_above != all_below && constant_channel(saturates_high ? bound - 1 : 0, channel);
    }
    wide at_low = (wide)multiplier * low + addend, at_high = (wide)multiplier * high + addend;
    wide least = lesser(at_low, at_high), most = greater(at_low, at_high);
    bool reaches_zero = multiplier > 0 ? below : above, reaches_maximum = multiplier > 0 ? above : below;
    if ((reaches_zero && least >= divisor) || (reaches_maximum && most < (wide)maximum * divisor))
        return false; /* the clamped accumulator would not give the saturated output */
    *channel = (struct clamped_channel){
        .low = (int32_t)low, .high = (int32_t)high, .multiplier = (uint32_t)multiplier, .addend = (uint32_t)addend};
    return true;
}

bool clamp_reciprocal(int64_t divisor, uint64_t bound, uint32_t *reciprocal, uint8_t *shift)
{
    unsigned log2 = 63u - (unsigned)__builtin_clzll((unsigned long long)divisor);
    if (divisor < 1 || log2 > 31 || bound > (uint64_t)UINT32_VALUES)
        return false;
    *shift = (uint8_t)log2;
    *reciprocal = 0;
    if ((divisor & (divisor - 1)) == 0)
        return true;
    wide power = (wide)1 << (32 + log2);
    wide rounded_up = power / divisor + 1; /* below 2^32, the divisor being more than 2^log2 */
    wide error = rounded_up * divisor - power;
    *reciprocal = (uint32_t)rounded_up;
    return error * (wide)(bound == 0 ? 0 : bound - 1) < power;
}

int64_t clamp_scale(int64_t divisor, int64_t maximum)
{
    for (int64_t factor = 1; ((wide)maximum + 1) * divisor * factor <= UINT32_VALUES; factor++) {
        int64_t scaled = divisor * factor;
        bool is_power = (scaled & (scaled - 1)) == 0, is_one_less = (scaled & (scaled + 1)) == 0;
        uint32_t reciprocal;
        uint8_t shift;
        uint64_t bound = ((uint64_t)maximum + 1) * (uint64_t)scaled;
        if ((is_power || is_one_less) && clamp_reciprocal(scaled, bound, &reciprocal, &shift))
            return factor;
    }
    return 1;
}
