#include "middle/matrix.h"

#include <string.h>

/* ---- products ---- */

struct view middle_transposed(const struct view *view)
{
    int order[VIEW_MAXIMUM_RANK];
    struct view result;
    for (int i = 0; i < view->rank; i++)
        order[i] = i < view->rank - 2 ? i : 2 * view->rank - 3 - i;
    view_permute(view, order, &result);
    return result;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* From the end; those in front that a view has not are 1. */
static int64_t dimension_of(const struct view *view, int rank, int i)
{
    int own = i - (rank - view->rank);
    return own < 0 ? 1 : view->dimensions[own];
}

/* The last two dimensions of both are rows and terms, columns and terms. */
static bool repeat(struct middle_value factors[2], int rank)
{
    int64_t dimensions[VIEW_MAXIMUM_RANK];
    const struct view *a = &factors[0].view, *b = &factors[1].view;
    for (int i = 0; i < rank - 2; i++)
        dimensions[i] = larger(dimension_of(a, rank, i), dimension_of(b, rank, i));
    for (int k = 0; k < 2; k++) {
        for (int i = rank - 2; i < rank; i++)
            dimensions[i] = dimension_of(&factors[k].view, rank, i);
        if (!view_broadcast(&factors[k].view, rank, dimensions, &factors[k].view))
            return false;
    }
    return true;
}

bool middle_multiply(struct quantised_builder *builder, const char *name, const struct middle_value factors[2],
                     struct middle_product *product)
{
    int64_t sizes[3], dimensions[VIEW_MAXIMUM_RANK];
    struct middle_value *made = product->factors;
    memcpy(made, factors, sizeof product->factors);
    int rank = made[0].view.rank > made[1].view.rank ? made[0].view.rank : made[1].view.rank;
    if (made[0].view.rank < 2 || made[1].view.rank < 2)
        return false;
    made[1].view = middle_transposed(&made[1].view);
    if (made[0].view.dimensions[made[0].view.rank - 1] != made[1].view.dimensions[made[1].view.rank - 1] ||
        !repeat(made, rank))
        return false;
    memcpy(dimensions, made[0].view.dimensions, sizeof dimensions);
    dimensions[rank - 1] = made[1].view.dimensions[rank - 2];
    struct layout layout = layout_of_model(rank);
    for (int i = 0; i < 2; i++)
        if (!middle_lay_out(builder, arena_format(builder->arena, "%s, factor %d", name, i), &layout, &made[i]))
            return false;
    layout_sizes(&layout, dimensions, sizes);
    product->height = (int)sizes[0];
    product->width = (int)sizes[1];
    product->channels = (int)sizes[2];
    product->view = layout_view(&layout, dimensions);
    return sizes[0] * sizes[1] * sizes[2] <= MAXIMUM_ELEMENTS;
}

static struct stage without_zero(struct quantised_builder *builder, int tensor)
{
    int64_t *numbers = arena_array(builder->arena, int64_t, 2);
    numbers[0] = 1;
    numbers[1] = -builder->network->tensors[tensor].zero_point;
    return (struct stage){.count = 1, .multiplier = &numbers[0], .addend = &numbers[1], .divisor = 1};
}

void middle_set_product(struct quantised_builder *builder, const struct middle_product *product, struct layer *layer)
{
    for (int i = 0; i < 2; i++) {
        layer->inputs[i] = product->factors[i].tensor;
        layer->input_stages[i] = without_zero(builder, product->factors[i].tensor);
    }
}
