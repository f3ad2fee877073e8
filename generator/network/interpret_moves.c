#include "network/interpret_moves.h"

#include "network/fixed_point.h"

bool interpret_copy(const struct layer *layer, const struct tensor *output, const int64_t *x, int64_t *y)
{
    const struct layer_map *map = &layer->map;
    for (int row = 0; row < output->height; row++)
        for (int column = 0; column < output->width; column++)
            for (int channel = 0; channel < output->channels; channel++) {
                int32_t from[] = {map->rows[row], map->columns[column], map->channels[channel]};
                bool outside = from[0] < 0 || from[1] < 0 || from[2] < 0;
                *y++ = outside ? layer->padding_value : x[(int64_t)from[0] + from[1] + from[2]];
            }
    return true;
}

/* `row` and `column` are the first pairs of the element's. */
static bool interpolate(const struct layer *layer, const struct tensor *input, const struct layer_tap *row,
                        const struct layer_tap *column, int channel, const int64_t *x, int64_t *sum)
{
    *sum = 0;
    for (int i = 0; i < 2 * layer->taps.row_pairs; i++)
        for (int k = 0; k < 2 * layer->taps.column_pairs; k++) {
            const struct layer_tap *vertical = &row[i / 2], *horizontal = &column[k / 2];
            int64_t weight = (int64_t)vertical->weights[i % 2] * horizontal->weights[k % 2], term;
            int64_t pixel = (int64_t)vertical->positions[i % 2] * input->width + horizontal->positions[k % 2];
            if (__builtin_mul_overflow(weight, x[pixel * input->channels + channel], &term) ||
                __builtin_add_overflow(*sum, term, sum))
                return false;
        }
    return true;
}

bool interpret_interpolation(const struct layer *layer, const struct tensor *input, const struct tensor *output,
                             const int64_t *x, int64_t *y)
{
    const struct layer_taps *taps = &layer->taps;
    for (int row = 0; row < output->height; row++)
        for (int column = 0; column < output->width; column++)
            for (int channel = 0; channel < output->channels; channel++)
                if (!interpolate(layer, input, &taps->rows[row * taps->row_pairs],
                                 &taps->columns[column * taps->column_pairs], channel, x, y++))
                    return false;
    return true;
}

static int64_t largest_of(const int64_t *x, int count)
{
    int64_t largest = x[0];
    for (int i = 1; i < count; i++)
        largest = x[i] > largest ? x[i] : largest;
    return largest;
}

static uint64_t sum_exponentials(const struct layer *layer, int64_t largest, const int64_t *x, int count)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += layer->exponentials[(uint8_t)(largest - x[i])];
    return sum;
}

/* Of groups, one after the other. */
static uint64_t sum_groups(const struct layer *layer, const int64_t *x, int count)
{
    const int group = layer->group_channels ? layer->group_channels : count;
    int64_t largest = x[0];
    uint64_t sum = 0;
    for (int first = 0; first < count; first += group) {
        const int end = first + group < count ? first + group : count;
        const int64_t before = largest;
        largest = largest_of(x, end);
        sum = sum * layer->exponentials[(uint8_t)(largest - before)] / layer->exponentials[0];
        sum -= group < count ? sum % layer->exponentials[255] : 0;
        sum += sum_exponentials(layer, largest, x + first, end - first);
    }
    return sum;
}

static void softmax_pixel(const struct layer *layer, int channels, const int64_t *x, int64_t *y)
{
    const int64_t largest = largest_of(x, channels);
    const uint64_t sum = sum_groups(layer, x, channels);
    for (int channel = 0; channel < channels; channel++)
        y[channel] = (int64_t)(((uint64_t)layer->exponentials[(uint8_t)(largest - x[channel])] << SOFTMAX_BITS) / sum);
}

/* The sum has 12 integer bits; 1 / sum is 1 / (1 + x) times a power of two. */
static void fixed_point_pixel(const struct layer *layer, int channels, const int64_t *x, int64_t *y)
{
    const int64_t largest = largest_of(x, channels);
    uint32_t sum = 0;
    for (int channel = 0; channel < channels; channel++)
        sum += (uint32_t)fixed_divide((int32_t)layer->exponentials[(uint8_t)(largest - x[channel])], 12);
    int leading_zeros = __builtin_clz(sum), places = 12 - leading_zeros + 31 - 8;
    int32_t reciprocal = fixed_reciprocal((int32_t)((sum << leading_zeros) - (UINT32_C(1) << 31)));
    for (int channel = 0; channel < channels; channel++) {
        int32_t exponential = (int32_t)layer->exponentials[(uint8_t)(largest - x[channel])];
        int32_t quotient = fixed_divide(fixed_multiply(reciprocal, exponential), places);
        y[channel] = quotient > UINT8_MAX ? UINT8_MAX : quotient;
    }
}

bool interpret_softmax(const struct layer *layer, const struct tensor *output, const int64_t *x, int64_t *y)
{
    int64_t pixels = (int64_t)output->height * output->width;
    for (int64_t pixel = 0; pixel < pixels; pixel++)
        (layer->is_fixed_point ? fixed_point_pixel : softmax_pixel)(layer, output->channels, x + pixel * output->channels,
                                                                    y + pixel * output->channels);
    return true;
}

bool interpret_largest(const struct tensor *input, const int64_t *x, int64_t *y)
{
    int64_t pixels = (int64_t)input->height * input->width;
    for (int64_t pixel = 0; pixel < pixels; pixel++, x += input->channels) {
        y[pixel] = 0;
        for (int channel = 1; channel < input->channels; channel++)
            if (x[channel] > x[y[pixel]])
                y[pixel] = channel;
    }
    return true;
}
