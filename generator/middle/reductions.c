#include "middle/reductions.h"

#include <string.h>

struct reduced {
    bool rows, columns;
};

/* What a dimension of the view is in memory: rows, columns, both, or false. */
static bool reduce_dimension(const struct view *view, int dimension, const struct tensor *tensor, struct reduced *reduced)
{
    int first = 0;
    for (int i = 0; i < dimension; i++)
        first += view->factor_counts[i];
    for (int i = first; i < first + view->factor_counts[dimension]; i++) {
        struct view_factor factor = view->factors[i];
        int64_t row = (int64_t)tensor->width * tensor->channels;
        if (factor.step == tensor->channels && factor.size == tensor->width)
            reduced->columns = true;
        else if (factor.step == row && factor.size == tensor->height)
            reduced->rows = true;
        else if (factor.step == tensor->channels && factor.size == (int64_t)tensor->width * tensor->height)
            reduced->rows = reduced->columns = true;
        else
            return false;
    }
    return true;
}

struct view middle_reduced_view(const struct view *view, const bool *is_reduced, bool keep, struct shorter shorter)
{
    struct view made = {.rank = 0};
    int from = 0, to = 0;
    for (int i = 0; i < view->rank; i++) {
        if (is_reduced[i] && keep)
            made.dimensions[made.rank++] = 1;
        if (!is_reduced[i]) {
            made.dimensions[made.rank] = view->dimensions[i];
            made.factor_counts[made.rank++] = view->factor_counts[i];
        }
        for (int k = 0; k < view->factor_counts[i]; k++, from++) {
            if (is_reduced[i])
                continue;
            made.factors[to] = view->factors[from];
            if (made.factors[to].step >= shorter.above)
                made.factors[to].step /= shorter.by;
            to++;
        }
    }
    return made;
}

static const struct tensor *tensor_of(const struct quantised_builder *builder, const struct middle_value *value)
{
    return &builder->network->tensors[value->tensor];
}

/* The dimensions are rows and columns as they are. */
static bool are_pixels(const struct quantised_builder *builder, const struct middle_value *value, const bool *is_reduced,
                       struct reduced *reduced)
{
    bool fits = middle_is_whole(builder, value);
    *reduced = (struct reduced){false, false};
    for (int i = 0; i < value->view.rank; i++)
        fits = fits && (!is_reduced[i] || reduce_dimension(&value->view, i, tensor_of(builder, value), reduced));
    return fits;
}

static bool are_channels(const struct quantised_builder *builder, const struct middle_value *value, const bool *is_reduced)
{
    int found = -1;
    for (int i = 0; i < value->view.rank; i++) {
        if (!is_reduced[i] || value->view.dimensions[i] == 1)
            continue;
        if (found >= 0)
            return false;
        found = i;
    }
    return found >= 0 && middle_is_whole(builder, value) && view_is_channels(&value->view, found, tensor_of(builder, value));
}

static void reduce_pixels(const struct tensor *tensor, const bool *is_reduced, bool keep, struct reduced reduced,
                          struct middle_reduction *r)
{
    struct shorter rows = {(int64_t)tensor->width * tensor->channels, reduced.columns ? tensor->width : 1};
    r->kernel_height = reduced.rows ? tensor->height : 1;
    r->kernel_width = reduced.columns ? tensor->width : 1;
    r->height = reduced.rows ? 1 : tensor->height;
    r->width = reduced.columns ? 1 : tensor->width;
    r->channels = tensor->channels;
    r->count = (int64_t)r->kernel_height * r->kernel_width;
    r->view = middle_reduced_view(&r->input.view, is_reduced, keep, rows);
}

static void reduce_channels(const struct tensor *tensor, const bool *is_reduced, bool keep, struct middle_reduction *r)
{
    r->by_ones = true;
    r->kernel_height = r->kernel_width = 1;
    r->height = tensor->height;
    r->width = tensor->width;
    r->channels = 1;
    r->count = tensor->channels;
    r->view = middle_reduced_view(&r->input.view, is_reduced, keep, (struct shorter){tensor->channels, tensor->channels});
}

/* The reduced dimensions are rows; where that are more than the firmware can have, the last of them are columns. */
static struct layout lay_reduced(const struct view *view, const bool *is_reduced, struct reduced *reduced)
{
    struct layout layout = layout_with_rows(view, is_reduced);
    int64_t sizes[3];
    layout_sizes(&layout, view->dimensions, sizes);
    *reduced = (struct reduced){true, sizes[0] > MAXIMUM_DIMENSION};
    for (layout.columns = reduced->columns ? 0 : layout.columns; sizes[0] > MAXIMUM_DIMENSION && layout.rows > 1;
         layout_sizes(&layout, view->dimensions, sizes)) {
        layout.rows--;
        layout.columns++;
    }
    return layout;
}

bool middle_reduce(struct quantised_builder *builder, const char *name, const struct middle_value *value,
                   const bool *is_reduced, bool keep, bool is_sum, struct middle_reduction *reduction)
{
    struct reduced reduced;
    *reduction = (struct middle_reduction){.input = *value};
    if (!are_pixels(builder, value, is_reduced, &reduced)) {
        if (is_sum && are_channels(builder, value, is_reduced)) {
            reduce_channels(tensor_of(builder, value), is_reduced, keep, reduction);
            return true;
        }
        struct layout layout = lay_reduced(&value->view, is_reduced, &reduced);
        if (!middle_lay(builder, arena_format(builder->arena, "%s, moved", name), value, NULL, &layout, 0,
                        &reduction->input))
            return false;
    }
    reduce_pixels(tensor_of(builder, &reduction->input), is_reduced, keep, reduced, reduction);
    return true;
}

int middle_flip(struct quantised_builder *builder, const char *name, int tensor)
{
    const struct tensor from = builder->network->tensors[tensor];
    struct quantisation quantisation = {from.scale, UINT8_MAX - from.zero_point + from.model_offset, from.model_offset != 0};
    int output = quantised_tensor(builder, name, from.height, from.width, from.channels, &quantisation);
    uint8_t table[256];
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)(UINT8_MAX - i);
    quantised_table(builder, name, tensor, output, table);
    return output;
}

void middle_set_reduction(struct quantised_builder *builder, const struct middle_reduction *reduction, struct layer *layer)
{
    layer->inputs[0] = reduction->input.tensor;
    layer->kernel_height = reduction->kernel_height;
    layer->kernel_width = reduction->kernel_width;
    if (!reduction->by_ones)
        return;
    int8_t *weights = arena_array(builder->arena, int8_t, (size_t)reduction->count);
    memset(weights, 1, (size_t)reduction->count);
    layer->kind = LAYER_CONVOLUTION;
    layer->weights = weights;
    layer->padding_value = tensor_of(builder, &reduction->input)->zero_point;
}
