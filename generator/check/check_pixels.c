#include "check/check_pixels.h"

#include <string.h>

/* A tensor along one of three axes: how many of what the whole network's tensor has, and which. */
struct part {
    int count, all;
    const int *kept; /* null: all */
};

static struct part part_of(const struct network *network, int tensor, int axis)
{
    const struct tensor *a = &network->tensors[tensor], *b = &network->whole->tensors[tensor];
    const struct part parts[] = {
        {a->height, b->height, a->kept_rows}, {a->width, b->width, a->kept_columns}, {a->channels, b->channels, a->kept}};
    return parts[axis];
}

static bool is_whole(const struct network *network, int tensor, int axis) { return !part_of(network, tensor, axis).kept; }

bool pixels_are_part(const struct network *network, int tensor)
{
    bool good = true;
    for (int axis = 0; axis < 2; axis++) {
        struct part part = part_of(network, tensor, axis);
        good = good && part.count > 0 && (part.kept || part.count == part.all) &&
               (!part.kept || !tensor_is_port(network->whole, tensor));
        for (int i = 0; good && part.kept && i < part.count; i++)
            good = part.kept[i] < part.all && part.kept[i] > (i ? part.kept[i - 1] : -1);
    }
    return good;
}

/* ---- layers whose pixels come from the same pixel of their inputs ---- */

static bool are_same(struct part a, struct part b)
{
    if (!a.kept || !b.kept)
        return !a.kept && !b.kept && a.count == b.count;
    return a.count == b.count && !memcmp(a.kept, b.kept, (size_t)a.count * sizeof *a.kept);
}

static bool is_one_pixel(const struct network *network, int tensor)
{
    return part_of(network, tensor, 0).all == 1 && part_of(network, tensor, 1).all == 1;
}

static bool is_by_pixel(const struct network *network, int index)
{
    const struct layer *layer = &network->whole->layers[index];
    const int output = layer->output;
    for (int axis = 0; axis < 2; axis++)
        for (int i = 0; i < layer_input_count(layer); i++) {
            bool repeats = is_one_pixel(network, layer->inputs[i]) && !is_one_pixel(network, output);
            struct part in = part_of(network, layer->inputs[i], axis), out = part_of(network, output, axis);
            if (repeats ? in.kept != NULL : in.all != out.all || !are_same(in, out))
                return false;
        }
    return true;
}

/* ---- windows ---- */

/* Along an axis: does each element come from the one of the same number? Else none may be missing. */
static bool windows_suffice(const struct network *network, int index)
{
    const struct layer *layer = &network->whole->layers[index];
    const int sizes[] = {layer->kernel_height, layer->kernel_width}, strides[] = {layer->stride_height, layer->stride_width};
    const int before[] = {layer->padding_top, layer->padding_left}, behind[] = {layer->padding_bottom, layer->padding_right};
    for (int axis = 0; axis < 2; axis++) {
        bool is_single = sizes[axis] == 1 && strides[axis] == 1 && before[axis] == 0 && behind[axis] == 0;
        struct part in = part_of(network, layer->inputs[0], axis), out = part_of(network, layer->output, axis);
        if (is_single ? !are_same(in, out) : in.kept || out.kept)
            return false;
    }
    return true;
}

static bool has_all_pixels(const struct network *network, int index)
{
    const struct layer *layer = &network->whole->layers[index];
    bool has = true;
    for (int axis = 0; axis < 2; axis++) {
        has = has && is_whole(network, layer->output, axis);
        for (int i = 0; i < layer_input_count(layer); i++)
            has = has && is_whole(network, layer->inputs[i], axis);
    }
    return has;
}

bool pixels_suffice(const struct network *network, int index)
{
    const struct layer *layer = &network->whole->layers[index];
    switch (layer->kind) {
    case LAYER_COPY: return true;
    case LAYER_MATRIX_PRODUCT:
    case LAYER_LSTM:
    case LAYER_INTERPOLATION: return has_all_pixels(network, index);
    case LAYER_CONVOLUTION:
    case LAYER_MAXIMUM_POOL:
    case LAYER_AVERAGE_POOL: return windows_suffice(network, index);
    case LAYER_NORM: /* constants that repeat within a pixel */
        return has_all_pixels(network, index) ||
               (layer->norm->count * layer->norm->run <= network->whole->tensors[layer->output].channels &&
                is_by_pixel(network, index));
    case LAYER_ADDITION:
    case LAYER_CONCATENATION:
    case LAYER_MULTIPLICATION:
    case LAYER_SQUARED_DIFFERENCE:
    case LAYER_TABLE:
    case LAYER_SOFTMAX:
    case LAYER_LARGEST: return is_by_pixel(network, index);
    }
    return false;
}

/* ---- copies ---- */

/* Where each of the whole network's rows, columns or channels lies; negative: nowhere. */
static const int *places_of(struct part part, struct arena *arena)
{
    int *places = arena_array(arena, int, (size_t)part.all);
    memset(places, 0xFF, (size_t)part.all * sizeof *places);
    for (int i = 0; i < part.count; i++)
        places[part.kept ? part.kept[i] : i] = i;
    return places;
}

struct copying {
    const struct layer *layer, *whole;
    struct part from[3];
    const int *places[3]; /* of the input */
};

/* The place that an element of the whole network's input has; negative: none, a fault. */
static int32_t place_of(const struct copying *copying, int32_t position)
{
    int channels = copying->from[2].all, width = copying->from[1].all;
    int y = copying->places[0][position / channels / width], x = copying->places[1][position / channels % width];
    int c = copying->places[2][position % channels];
    return y < 0 || x < 0 || c < 0 ? -1 : (y * copying->from[1].count + x) * copying->from[2].count + c;
}

static bool element_agrees(const struct copying *copying, const int at[3], const int in_whole[3])
{
    const struct layer_map *a = &copying->layer->map, *b = &copying->whole->map;
    int32_t of_a[] = {a->rows[at[0]], a->columns[at[1]], a->channels[at[2]]};
    int32_t of_b[] = {b->rows[in_whole[0]], b->columns[in_whole[1]], b->channels[in_whole[2]]};
    bool border_a = of_a[0] < 0 || of_a[1] < 0 || of_a[2] < 0, border_b = of_b[0] < 0 || of_b[1] < 0 || of_b[2] < 0;
    if (border_a || border_b)
        return border_a && border_b;
    return of_a[0] + of_a[1] + of_a[2] == place_of(copying, of_b[0] + of_b[1] + of_b[2]);
}

static int number_of(struct part part, int i) { return part.kept ? part.kept[i] : i; }

bool copy_is_same(const struct network *network, int index, struct arena *arena)
{
    struct copying copying = {.layer = &network->layers[index], .whole = &network->whole->layers[index]};
    struct part to[3];
    bool good = true;
    for (int axis = 0; axis < 3; axis++) {
        to[axis] = part_of(network, copying.whole->output, axis);
        copying.from[axis] = part_of(network, copying.whole->inputs[0], axis);
        copying.places[axis] = places_of(copying.from[axis], arena);
    }
    for (int y = 0; y < to[0].count; y++)
        for (int x = 0; x < to[1].count; x++)
            for (int c = 0; good && c < to[2].count; c++)
                good = element_agrees(&copying, (const int[]){y, x, c},
                                      (const int[]){number_of(to[0], y), number_of(to[1], x), number_of(to[2], c)});
    return good;
}
