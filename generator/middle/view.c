#include "middle/view.h"

#include <inttypes.h>
#include <string.h>

/* ---- making views ---- */

static void append(struct view *view, int dimension, int64_t size, int64_t step)
{
    int count = 0;
    for (int i = 0; i < dimension; i++)
        count += view->factor_counts[i];
    if (size > 1)
        view->factors[count + view->factor_counts[dimension]++] = (struct view_factor){size, step};
}

struct view view_of_memory(int rank, const int64_t *dimensions)
{
    struct view view = {.rank = rank};
    int64_t steps[VIEW_MAXIMUM_RANK], step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        steps[i] = step;
        step *= dimensions[i];
    }
    for (int i = 0; i < rank; i++) {
        view.dimensions[i] = dimensions[i];
        append(&view, i, dimensions[i], steps[i]);
    }
    return view;
}

struct view view_of_image(const struct tensor *tensor, int rank)
{
    struct view view = {.rank = rank, .dimensions = {1, tensor->channels}};
    append(&view, 1, tensor->channels, 1);
    if (rank == 4) {
        view.dimensions[2] = tensor->height;
        append(&view, 2, tensor->height, (int64_t)tensor->width * tensor->channels);
    }
    if (rank >= 3) {
        view.dimensions[rank - 1] = tensor->width;
        append(&view, rank - 1, tensor->width, tensor->channels);
    }
    return view;
}

int64_t view_elements(const struct view *view)
{
    int64_t count = 1;
    for (int i = 0; i < view->rank; i++)
        count *= view->dimensions[i];
    return count;
}

static int factor_count(const struct view *view)
{
    int count = 0;
    for (int i = 0; i < view->rank; i++)
        count += view->factor_counts[i];
    return count;
}

/* Factors that follow each other in memory become one. */
static int merge(const struct view *view, struct view_factor *merged)
{
    int count = 0;
    for (int i = 0; i < factor_count(view); i++) {
        struct view_factor factor = view->factors[i], *last = count ? &merged[count - 1] : NULL;
        if (last && last->step == factor.size * factor.step)
            *last = (struct view_factor){last->size * factor.size, factor.step};
        else
            merged[count++] = factor;
    }
    return count;
}

/* Takes factors for a dimension of the given size from the front of the list. */
static bool take(struct view_factor *factors, int count, int *next, int64_t size, struct view *result, int dimension)
{
    while (size > 1) {
        if (*next == count || factor_count(result) == VIEW_MAXIMUM_FACTORS)
            return false;
        struct view_factor *factor = &factors[*next];
        if (size % factor->size == 0) {
            append(result, dimension, factor->size, factor->step);
            size /= factor->size;
            ++*next;
        } else if (factor->size % size == 0) {
            append(result, dimension, size, factor->step * (factor->size / size));
            factor->size /= size;
            size = 1;
        } else
            return false;
    }
    return true;
}

bool view_reshape(const struct view *view, int rank, const int64_t *dimensions, struct view *result)
{
    struct view_factor factors[VIEW_MAXIMUM_FACTORS];
    int count = merge(view, factors), next = 0;
    struct view made = {.rank = rank};
    for (int i = 0; i < rank; i++) {
        made.dimensions[i] = dimensions[i];
        if (!take(factors, count, &next, dimensions[i], &made, i))
            return false;
    }
    *result = made;
    return next == count;
}

static const struct view_factor *factors_of(const struct view *view, int dimension)
{
    const struct view_factor *factors = view->factors;
    for (int i = 0; i < dimension; i++)
        factors += view->factor_counts[i];
    return factors;
}

void view_permute(const struct view *view, const int *order, struct view *result)
{
    struct view made = {.rank = view->rank};
    for (int i = 0; i < view->rank; i++) {
        const struct view_factor *factors = factors_of(view, order[i]);
        made.dimensions[i] = view->dimensions[order[i]];
        for (int k = 0; k < view->factor_counts[order[i]]; k++)
            append(&made, i, factors[k].size, factors[k].step);
    }
    *result = made;
}

bool view_broadcast(const struct view *view, int rank, const int64_t *dimensions, struct view *result)
{
    struct view made = {.rank = rank};
    int extra = rank - view->rank, repeated = 0;
    if (extra < 0)
        return false;
    for (int i = 0; i < rank; i++) {
        made.dimensions[i] = dimensions[i];
        int64_t own = i < extra ? 1 : view->dimensions[i - extra];
        if (own != dimensions[i] && own != 1)
            return false;
        repeated += own != dimensions[i];
        if (factor_count(view) + repeated > VIEW_MAXIMUM_FACTORS)
            return false;
        if (own != dimensions[i])
            append(&made, i, dimensions[i], 0);
        for (int k = 0; own != 1 && k < view->factor_counts[i - extra]; k++)
            append(&made, i, factors_of(view, i - extra)[k].size, factors_of(view, i - extra)[k].step);
    }
    *result = made;
    return true;
}

/* ---- reading views ---- */

bool view_equal(const struct view *a, const struct view *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dimensions[i] != b->dimensions[i] || a->factor_counts[i] != b->factor_counts[i])
            return false;
    for (int i = 0; i < factor_count(a); i++)
        if (a->factors[i].size != b->factors[i].size || a->factors[i].step != b->factors[i].step)
            return false;
    return true;
}

bool view_is_image(const struct view *view, const struct tensor *tensor)
{
    if (view->rank < 2 || view->rank > 4)
        return false;
    struct view image = view_of_image(tensor, view->rank);
    return view_equal(view, &image) && view_elements(view) == (int64_t)tensor_elements(tensor);
}

bool view_is_memory(const struct view *view)
{
    struct view_factor factors[VIEW_MAXIMUM_FACTORS];
    int count = merge(view, factors);
    return count == 0 || (count == 1 && factors[0].step == 1);
}

bool view_is_channels(const struct view *view, int dimension, const struct tensor *tensor)
{
    return view->dimensions[dimension] == tensor->channels &&
           (tensor->channels == 1 || (view_position(view, dimension, 1) == 1 &&
                                      view_position(view, dimension, tensor->channels - 1) == tensor->channels - 1));
}

int64_t view_position(const struct view *view, int dimension, int64_t index)
{
    const struct view_factor *factors = factors_of(view, dimension);
    int64_t position = 0;
    for (int i = view->factor_counts[dimension] - 1; i >= 0; i--) {
        position += index % factors[i].size * factors[i].step;
        index /= factors[i].size;
    }
    return position;
}

void view_positions(const struct view *view, int64_t *positions)
{
    int64_t count = 1;
    positions[0] = 0;
    for (int f = factor_count(view) - 1; f >= 0; f--) { /* the innermost first: each outer one repeats what is there */
        const struct view_factor *factor = &view->factors[f];
        for (int64_t i = 1; i < factor->size; i++)
            for (int64_t k = 0; k < count; k++)
                positions[i * count + k] = positions[k] + i * factor->step;
        count *= factor->size;
    }
}

const char *view_text(const struct view *view, struct arena *arena)
{
    const char *text = "";
    for (int i = 0; i < view->rank; i++)
        text = arena_format(arena, "%s%s%" PRId64, text, i ? "x" : "", view->dimensions[i]);
    return view->rank ? text : "a scalar";
}
