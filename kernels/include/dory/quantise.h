/* Real numbers to elements of a quantised tensor and back: real = scale * (element - zero_point). For an application's own
 * code, on either side of a network; no network needs it. */
#ifndef DORY_QUANTISE_H
#define DORY_QUANTISE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The nearest element, of two equally near ones the even one, between minimum and maximum. Not a number: minimum. */
static inline int32_t dory_quantise(float real, float scale, int32_t zero_point, int32_t minimum, int32_t maximum)
{
    float steps = real / scale;
    if (!(steps > (float)(minimum - zero_point))) {
        return minimum;
    }
    if (steps >= (float)(maximum - zero_point)) {
        return maximum;
    }
    int32_t below = (int32_t)steps;
    below -= (float)below > steps;
    float rest = steps - (float)below;
    return below + zero_point + (rest > 0.5f || (rest == 0.5f && (below & 1) != 0));
}

static inline float dory_dequantise(int32_t element, float scale, int32_t zero_point)
{
    return scale * (float)(element - zero_point);
}

#ifdef __cplusplus
}
#endif

#endif
