#include "simplify/cancel.h"

#include <string.h>

#include "base/nest.h"

/* One copy, or two in a row: of an element of the output, where it comes from; negative: it is the border's. */
struct source {
    const struct layer *layer;
    const struct source *before; /* null: what `layer` reads is the input */
    int height, width, channels; /* of the output of `before` */
};

static int64_t find(const struct source *source, int row, int column, int channel)
{
    const struct layer_map *map = &source->layer->map;
    if (map->rows[row] < 0 || map->columns[column] < 0 || map->channels[channel] < 0)
        return -1;
    int64_t at = (int64_t)map->rows[row] + map->columns[column] + map->channels[channel];
    if (!source->before)
        return at;
    int64_t pixel = at / source->channels;
    return find(source->before, (int)(pixel / source->width), (int)(pixel % source->width), (int)(at % source->channels));
}

/* ---- positions as sums ---- */

struct lists {
    int sizes[3]; /* rows, columns, channels */
    int32_t *of[3];
};

static struct lists make_lists(const struct tensor *output, struct arena *arena)
{
    struct lists lists = {.sizes = {output->height, output->width, output->channels}};
    for (int i = 0; i < 3; i++)
        lists.of[i] = arena_array(arena, int32_t, (size_t)lists.sizes[i]);
    return lists;
}

/* An element that is not the border's; false: there is none. */
static bool find_inside(const struct source *source, const struct lists *lists, int at[3])
{
    for (at[0] = 0; at[0] < lists->sizes[0]; at[0]++)
        for (at[1] = 0; at[1] < lists->sizes[1]; at[1]++)
            for (at[2] = 0; at[2] < lists->sizes[2]; at[2]++)
                if (find(source, at[0], at[1], at[2]) >= 0)
                    return true;
    return false;
}

/* Along the three lines through one element inside: of columns and channels how much further than the nearest one. */
static void fill_lists(const struct source *source, struct lists *lists, const int inside[3])
{
    int64_t base = find(source, inside[0], inside[1], inside[2]), nearest[3] = {0};
    for (int i = 2; i >= 0; i--) {
        int at[3] = {inside[0], inside[1], inside[2]};
        nearest[i] = base;
        for (at[i] = 0; at[i] < lists->sizes[i]; at[i]++) {
            int64_t position = find(source, at[0], at[1], at[2]);
            lists->of[i][at[i]] = (int32_t)position;
            nearest[i] = position >= 0 && position < nearest[i] ? position : nearest[i];
        }
    }
    int64_t offset[3] = {nearest[1] + nearest[2] - 2 * base, -nearest[1], -nearest[2]};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < lists->sizes[i]; k++)
            if (lists->of[i][k] >= 0)
                lists->of[i][k] += (int32_t)offset[i];
}

static bool are_sums(const struct source *source, const struct lists *lists)
{
    for (int row = 0; row < lists->sizes[0]; row++)
        for (int column = 0; column < lists->sizes[1]; column++)
            for (int channel = 0; channel < lists->sizes[2]; channel++) {
                int64_t parts[3] = {lists->of[0][row], lists->of[1][column], lists->of[2][channel]};
                bool outside = parts[0] < 0 || parts[1] < 0 || parts[2] < 0;
                if (find(source, row, column, channel) != (outside ? -1 : parts[0] + parts[1] + parts[2]))
                    return false;
            }
    return true;
}

bool simplify_copy_has_border(const struct network *network, const struct layer *copy)
{
    const struct tensor *output = &network->tensors[copy->output];
    const int sizes[3] = {output->height, output->width, output->channels};
    const int32_t *lists[3] = {copy->map.rows, copy->map.columns, copy->map.channels};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < sizes[i]; k++)
            if (lists[i][k] < 0)
                return true;
    return false;
}

bool simplify_join_copies(const struct network *network, const struct layer *first, const struct layer *second,
                          struct layer *joined, struct arena *arena)
{
    const struct tensor *between = &network->tensors[first->output], *output = &network->tensors[second->output];
    struct source before = {.layer = first};
    struct source source = {second, &before, between->height, between->width, between->channels};
    struct lists lists = make_lists(output, arena);
    int inside[3];
    bool has_first = simplify_copy_has_border(network, first);
    if (has_first && simplify_copy_has_border(network, second) && first->padding_value != second->padding_value)
        return false;
    if (!find_inside(&source, &lists, inside))
        return false;
    fill_lists(&source, &lists, inside);
    if (!are_sums(&source, &lists))
        return false;
    *joined = *second;
    joined->inputs[0] = first->inputs[0];
    joined->padding_value = has_first ? first->padding_value : second->padding_value;
    joined->map = (struct layer_map){lists.of[0], lists.of[1], lists.of[2]};
    return true;
}

/* ---- what a copy does ---- */

static bool is_run(const int32_t *list, int count, int64_t step)
{
    for (int i = 0; i < count; i++)
        if (list[i] != i * step)
            return false;
    return true;
}

bool simplify_copy_only_reshapes(const struct network *network, const struct layer *copy)
{
    const struct tensor *from = &network->tensors[copy->inputs[0]], *to = &network->tensors[copy->output];
    return tensor_elements(from) == tensor_elements(to) &&
           is_run(copy->map.rows, to->height, (int64_t)to->width * to->channels) &&
           is_run(copy->map.columns, to->width, to->channels) && is_run(copy->map.channels, to->channels, 1);
}

bool simplify_copy_is_nothing(const struct network *network, const struct layer *copy)
{
    const struct tensor *from = &network->tensors[copy->inputs[0]], *to = &network->tensors[copy->output];
    return from->height == to->height && from->width == to->width && from->channels == to->channels &&
           simplify_copy_only_reshapes(network, copy);
}

const int32_t *simplify_copy_order(const struct network *network, const struct layer *copy, struct arena *arena)
{
    const struct tensor *to = &network->tensors[copy->output];
    struct source source = {.layer = copy};
    size_t count = tensor_elements(to), next = 0;
    int32_t *order = arena_array(arena, int32_t, count);
    bool *is_there = arena_array(arena, bool, count);
    if (count != tensor_elements(&network->tensors[copy->inputs[0]]))
        return NULL;
    for (int row = 0; row < to->height; row++)
        for (int column = 0; column < to->width; column++)
            for (int channel = 0; channel < to->channels; channel++) {
                int64_t at = find(&source, row, column, channel);
                if (at < 0 || is_there[at])
                    return NULL;
                is_there[at] = true;
                order[next++] = (int32_t)at;
            }
    return order;
}

struct part {
    int first, count; /* of a list, without the border */
};

/* False where border is inside, too, or nothing else. */
static bool find_part(const int32_t *list, int count, struct part *part)
{
    part->first = part->count = 0;
    while (part->first < count && list[part->first] < 0)
        part->first++;
    while (part->first + part->count < count && list[part->first + part->count] >= 0)
        part->count++;
    for (int i = part->first + part->count; i < count; i++)
        if (list[i] >= 0)
            return false;
    return part->count > 0;
}

/* ---- what the firmware does in small parts ---- */

#define SMALL_WINDOW 12288 /* elements that it has at hand at once, beside others */

static bool is_evenly_apart(const int32_t *list, struct part part)
{
    int32_t step = part.count > 1 ? list[part.first + 1] - list[part.first] : 1;
    for (int i = 1; i < part.count; i++)
        if (list[part.first + i] - list[part.first + i - 1] != step)
            return false;
    return step > 0;
}

/* All elements in another order of dimensions, apart from the border. */
static bool is_order(const struct layer_map *map, const struct part parts[3], size_t elements)
{
    size_t inside = (size_t)parts[0].count * (size_t)parts[1].count * (size_t)parts[2].count;
    const int32_t *const lists[] = {map->rows + parts[0].first, map->columns + parts[1].first,
                                    map->channels + parts[2].first};
    const int counts[] = {parts[0].count, parts[1].count, parts[2].count};
    struct nest nest;
    int places[NEST_MAXIMUM_LOOPS];
    return inside == elements && nest_of_lists(&nest, lists, counts, 3) && nest.count <= NEST_PLAIN_LOOPS &&
           nest_places(&nest, elements, places);
}

/* Rows and columns with a border and a stride. */
static bool is_window(const struct layer_map *map, const struct part parts[3], const struct tensor *from,
                      const struct tensor *to)
{
    return from->channels == to->channels && parts[2].count == to->channels && is_run(map->channels, to->channels, 1) &&
           is_evenly_apart(map->rows, parts[0]) && is_evenly_apart(map->columns, parts[1]);
}

static void widen(int64_t span[2], int64_t least, int64_t most)
{
    span[0] = least < span[0] ? least : span[0];
    span[1] = most > span[1] ? most : span[1];
}

static void find_span(const int32_t *list, int count, int64_t span[2])
{
    span[0] = INT32_MAX;
    span[1] = -1;
    for (int i = 0; i < count; i++)
        if (list[i] >= 0)
            widen(span, list[i], list[i]);
}

/* Elements that rows read in turn, if these go on evenly. */
static int64_t window_of(const struct layer_map *map, const struct tensor *from, const struct tensor *to)
{
    int64_t columns[2], channels[2], around[2] = {0, 0};
    find_span(map->columns, to->width, columns);
    find_span(map->channels, to->channels, channels);
    for (int64_t i = 0; i < to->height; i++) {
        int64_t even = i * from->height / to->height * from->width * from->channels;
        if (map->rows[i] >= 0)
            widen(around, map->rows[i] + columns[0] + channels[0] - even, map->rows[i] + columns[1] + channels[1] - even);
    }
    return around[1] - around[0] + 1;
}

bool simplify_copy_is_plain(const struct network *network, const struct layer *copy)
{
    const struct tensor *from = &network->tensors[copy->inputs[0]], *to = &network->tensors[copy->output];
    const struct layer_map *map = &copy->map;
    struct part parts[3] = {{0, 0}};
    bool is_around = find_part(map->rows, to->height, &parts[0]) && find_part(map->columns, to->width, &parts[1]) &&
                     find_part(map->channels, to->channels, &parts[2]);
    return tensor_elements(from) <= SMALL_WINDOW || window_of(map, from, to) <= SMALL_WINDOW ||
           (is_around && (is_order(map, parts, tensor_elements(from)) || is_window(map, parts, from, to)));
}

/* Positions in the part: 0 times `step`, once it, ... */
static const int32_t *list_of_part(struct part part, int count, int step, struct arena *arena)
{
    int32_t *list = arena_array(arena, int32_t, (size_t)count);
    for (int i = 0; i < count; i++)
        list[i] = i < part.first || i >= part.first + part.count ? -1 : (i - part.first) * step;
    return list;
}

bool simplify_split_border(const struct network *network, const struct layer *copy, struct layer *inner,
                           struct layer *border, struct tensor *inside, struct arena *arena)
{
    const struct tensor *to = &network->tensors[copy->output];
    struct part rows, columns, channels;
    if (!simplify_copy_has_border(network, copy) || !find_part(copy->map.rows, to->height, &rows) ||
        !find_part(copy->map.columns, to->width, &columns) || !find_part(copy->map.channels, to->channels, &channels))
        return false;
    *inside = *to;
    inside->height = rows.count;
    inside->width = columns.count;
    inside->channels = channels.count;
    *inner = *border = *copy;
    inner->map = (struct layer_map){copy->map.rows + rows.first, copy->map.columns + columns.first,
                                    copy->map.channels + channels.first};
    border->map = (struct layer_map){list_of_part(rows, to->height, columns.count * channels.count, arena),
                                     list_of_part(columns, to->width, channels.count, arena),
                                     list_of_part(channels, to->channels, 1, arena)};
    return true;
}

bool simplify_copy_turns_image(const struct network *network, const struct layer *copy)
{
    const struct tensor *from = &network->tensors[copy->inputs[0]], *to = &network->tensors[copy->output];
    return from->height == to->channels && from->width == to->height && from->channels == to->width &&
           is_run(copy->map.rows, to->height, to->width) && is_run(copy->map.columns, to->width, 1) &&
           is_run(copy->map.channels, to->channels, (int64_t)to->height * to->width);
}
