/* Windows that leave the image, of which the elements inside are averaged: sums with weights that are larger where there are
 * fewer elements, so that all are divided by the same number. */
#include "base/arithmetic.h"
#include "middle/quantised.h"

#define MAXIMUM_TAPS 64
#define MAXIMUM_UNIT (1 << 14) /* so that sums along both dimensions have 31 bits or fewer, in most cases */

static bool is_inside(const struct image_window *window, int output, int tap)
{
    int64_t position = (int64_t)output * window->stride - window->before + (int64_t)tap * window->dilation;
    return position >= 0 && position < window->size;
}

static int elements_inside(const struct image_window *window, int output)
{
    int count = 0;
    for (int tap = 0; tap < window->kernel; tap++)
        count += is_inside(window, output, tap);
    return count;
}

/* The least common multiple of all windows' counts; 0 where one is empty, or the multiple is too large. */
static int64_t common_unit(const struct image_window *window)
{
    int64_t unit = 1;
    for (int output = 0; output < window->outputs && unit != 0; output++) {
        int count = elements_inside(window, output);
        unit = count == 0 ? 0 : unit / (int64_t)greatest_common_divisor(unit, count) * count;
        unit = unit > MAXIMUM_UNIT ? 0 : unit;
    }
    return unit;
}

const struct layer_tap *quantised_window_taps(struct quantised_builder *builder, const struct image_window *window,
                                              int *pairs, int64_t *unit)
{
    *pairs = (window->kernel + 1) / 2;
    *unit = window->kernel <= MAXIMUM_TAPS ? common_unit(window) : 0;
    if (*unit == 0)
        return NULL;
    struct layer_tap *taps = arena_array(builder->arena, struct layer_tap, (size_t)window->outputs * (size_t)*pairs);
    for (int output = 0; output < window->outputs; output++) {
        int32_t weight = (int32_t)(*unit / elements_inside(window, output));
        for (int tap = 0; tap < window->kernel; tap++) {
            struct layer_tap *pair = &taps[(size_t)output * (size_t)*pairs + (size_t)(tap / 2)];
            if (!is_inside(window, output, tap))
                continue;
            pair->positions[tap % 2] = output * window->stride - window->before + tap * window->dilation;
            pair->weights[tap % 2] = weight;
        }
    }
    return taps;
}
