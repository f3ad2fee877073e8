/* Blocks of pixels as channels and back: dimensions are split, put in another order and joined, which a view can say. */
#include "middle/moves.h"

/* A shape of dimensions in parts, and the order in which these parts are joined again. */
struct parts {
    int count;
    int64_t sizes[VIEW_MAXIMUM_RANK];
    int order[VIEW_MAXIMUM_RANK];
};

static bool rearrange(const struct view *view, const struct parts *parts, const int64_t *dimensions, struct view *result)
{
    struct view split, turned;
    if (!view_reshape(view, parts->count, parts->sizes, &split))
        return false;
    view_permute(&split, parts->order, &turned);
    return view_reshape(&turned, view->rank, dimensions, result);
}

static bool is_possible(const struct view *view, int64_t block)
{
    return view->rank + 2 <= VIEW_MAXIMUM_RANK && block >= 1 && block <= MAXIMUM_DIMENSION;
}

/* Where the parts of each dimension begin: `extra` of them have one or two parts more. */
static void number_parts(const struct view *view, const int *extra, int *first, struct parts *parts)
{
    parts->count = 0;
    for (int i = 0; i < view->rank; i++) {
        first[i] = parts->count;
        parts->sizes[parts->count] = view->dimensions[i];
        parts->count += 1 + extra[i];
    }
}

bool middle_depth_to_space(const struct view *view, struct middle_image image, int64_t block, bool is_inner,
                           struct view *result)
{
    int extra[VIEW_MAXIMUM_RANK] = {0}, first[VIEW_MAXIMUM_RANK] = {0}, next = 0;
    int64_t dimensions[VIEW_MAXIMUM_RANK] = {0}, channels = view->dimensions[image.channels];
    struct parts parts;
    if (!is_possible(view, block) || channels % (block * block))
        return false;
    extra[image.channels] = 2;
    number_parts(view, extra, first, &parts);
    int at = first[image.channels], rows = at + is_inner, columns = rows + 1, kept = is_inner ? at : at + 2;
    parts.sizes[rows] = parts.sizes[columns] = block;
    parts.sizes[kept] = channels / (block * block);
    for (int i = 0; i < view->rank; i++) {
        parts.order[next++] = i == image.channels ? kept : first[i];
        if (i == image.height || i == image.width)
            parts.order[next++] = i == image.height ? rows : columns;
        dimensions[i] = i == image.channels                     ? channels / (block * block)
                        : i == image.height || i == image.width ? view->dimensions[i] * block
                                                                : view->dimensions[i];
    }
    return rearrange(view, &parts, dimensions, result);
}

bool middle_space_to_depth(const struct view *view, struct middle_image image, int64_t block, struct view *result)
{
    int extra[VIEW_MAXIMUM_RANK] = {0}, first[VIEW_MAXIMUM_RANK] = {0}, next = 0;
    int64_t dimensions[VIEW_MAXIMUM_RANK] = {0};
    struct parts parts;
    if (!is_possible(view, block) || view->dimensions[image.height] % block || view->dimensions[image.width] % block)
        return false;
    extra[image.height] = extra[image.width] = 1;
    number_parts(view, extra, first, &parts);
    for (int i = 0; i < view->rank; i++) {
        bool is_split = i == image.height || i == image.width;
        dimensions[i] = is_split ? view->dimensions[i] / block : view->dimensions[i];
        parts.sizes[first[i]] = dimensions[i];
        if (is_split)
            parts.sizes[first[i] + 1] = block;
    }
    dimensions[image.channels] *= block * block;
    for (int i = 0; i < view->rank; i++) {
        if (i == image.channels) {
            parts.order[next++] = first[image.height] + 1;
            parts.order[next++] = first[image.width] + 1;
        }
        parts.order[next++] = first[i];
    }
    return rearrange(view, &parts, dimensions, result);
}

/* ---- dimensions of one index ---- */

struct view middle_drop(const struct view *view, int dimension)
{
    struct view result = *view;
    result.rank--;
    for (int i = dimension; i < result.rank; i++) {
        result.dimensions[i] = view->dimensions[i + 1];
        result.factor_counts[i] = view->factor_counts[i + 1];
    }
    return result;
}

struct view middle_insert(const struct view *view, int dimension)
{
    struct view result = *view;
    result.rank++;
    for (int i = view->rank; i > dimension; i--) {
        result.dimensions[i] = view->dimensions[i - 1];
        result.factor_counts[i] = view->factor_counts[i - 1];
    }
    result.dimensions[dimension] = 1;
    result.factor_counts[dimension] = 0;
    return result;
}

bool middle_repeat(const struct view *view, int dimension, int64_t times, struct view *result)
{
    if (times < 1 || times > MAXIMUM_DIMENSION || view_elements(view) * times > MAXIMUM_ELEMENTS ||
        view->rank == VIEW_MAXIMUM_RANK)
        return false;
    struct view longer = middle_insert(view, dimension), repeated;
    int64_t dimensions[VIEW_MAXIMUM_RANK];
    for (int i = 0; i < longer.rank; i++)
        dimensions[i] = longer.dimensions[i];
    dimensions[dimension] = times;
    if (!view_broadcast(&longer, longer.rank, dimensions, &repeated))
        return false;
    for (int i = 0; i < view->rank; i++)
        dimensions[i] = view->dimensions[i] * (i == dimension ? times : 1);
    return view_reshape(&repeated, view->rank, dimensions, result);
}
