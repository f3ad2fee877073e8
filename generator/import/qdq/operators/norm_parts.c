/* Parts of a norm that a QuantizeLinear rounds by themselves: means of squares, variances, lengths, differences. */
#include "import/qdq/operators/norm_rows.h"

#include <math.h>
#include <string.h>

#include "middle/matrix.h"

/* The view of one element a row; that of a squeezed statistic is without the rows' own dimensions. */
static bool restore_rows(const struct qdq_norm *norm, const struct view *rows, const struct qdq_statistic *statistic,
                         struct view *view)
{
    int64_t dimensions[VIEW_MAXIMUM_RANK];
    int rank = 0;
    if (!qdq_norm_restore(norm, rows, statistic->is_row, view))
        return false;
    for (int i = 0; i < norm->view.rank; i++)
        if (!statistic->is_row[i])
            dimensions[rank++] = norm->view.dimensions[i];
    return !statistic->is_squeezed || view_reshape(view, rank, dimensions, view);
}

/* The squares of x less a byte, of 16 bits. */
static int lay_squares(struct qdq *qdq, const struct node *node, int input, int64_t origin)
{
    const struct tensor from = *qdq_tensor(qdq, input);
    int64_t *numbers = arena_array(qdq->arena, int64_t, 2);
    int output = quantised_tensor(&qdq->builder, node->name, from.height, from.width, from.channels,
                                  &(struct quantisation){.scale = from.scale * from.scale});
    struct layer *layer = quantised_layer(&qdq->builder, LAYER_MULTIPLICATION, node->name, input, output);
    numbers[0] = 1;
    numbers[1] = -origin;
    layer->inputs[1] = input;
    layer->is_intermediate = true;
    for (int i = 0; i < 2; i++)
        layer->input_stages[i] = (struct stage){.count = 1, .multiplier = &numbers[0], .addend = &numbers[1], .divisor = 1};
    return output;
}

/* A bound in front of the QuantizeLinear, which rounds its halves to even, too. */
static void keep_above(struct qdq *qdq, struct layer *layer, double least)
{
    const struct tensor *output = qdq_tensor(qdq, layer->output);
    quantised_clip(&layer->stages[0], output, nearbyint(least / output->scale) * output->scale, INFINITY);
}

/* The sum of a pixel's channels, rounded. */
static int lay_sum(struct qdq *qdq, const struct node *node, int squares, double scale, int64_t count, double least,
                   const struct quantisation *quantisation, const char *name)
{
    const struct tensor from = *qdq_tensor(qdq, squares);
    int output = quantised_tensor(&qdq->builder, name, from.height, from.width, 1, quantisation);
    struct layer *layer = quantised_layer(&qdq->builder, LAYER_CONVOLUTION, node->name, squares, output);
    int8_t *weights = arena_array(qdq->arena, int8_t, (size_t)from.channels);
    memset(weights, 1, (size_t)from.channels);
    layer->weights = weights;
    layer->stages[0] = quantised_stage(&qdq->builder, 1, qdq_tensor(qdq, output));
    layer->stage_count = 1;
    quantised_set_channel(&qdq->builder, &layer->stages[0], 0, 0,
                          (struct real_factor){{scale, scale}, quantisation->scale, count});
    keep_above(qdq, layer, least);
    return output;
}

/* A layer of one input, of whole numbers as they come. */
static struct layer *lay_whole(struct qdq *qdq, const struct node *node, enum layer_kind kind, int input, int *output)
{
    const struct tensor from = *qdq_tensor(qdq, input);
    *output =
        quantised_tensor(&qdq->builder, node->name, from.height, from.width, 1, &(struct quantisation){.scale = from.scale});
    struct layer *layer = quantised_layer(&qdq->builder, kind, node->name, input, *output);
    layer->is_intermediate = true;
    return layer;
}

static int lay_whole_sum(struct qdq *qdq, const struct node *node, int input)
{
    int output, channels = qdq_tensor(qdq, input)->channels;
    struct layer *layer = lay_whole(qdq, node, LAYER_CONVOLUTION, input, &output);
    int8_t *weights = arena_array(qdq->arena, int8_t, (size_t)channels);
    memset(weights, 1, (size_t)channels);
    layer->weights = weights;
    return output;
}

static struct stage whole_stage(struct qdq *qdq, int64_t multiplier, int64_t addend)
{
    int64_t *numbers = arena_array(qdq->arena, int64_t, 2);
    numbers[0] = multiplier;
    numbers[1] = addend;
    return (struct stage){.count = 1, .multiplier = &numbers[0], .addend = &numbers[1], .divisor = 1};
}

#define LONGEST_LENGTH 16384 /* whose squares have a sum of 31 bits */

/* A row of the norm each, and the same as a column. */
static enum qdq_outcome lay_square(struct qdq *qdq, const struct node *node, const struct qdq_norm *norm,
                                   const struct qdq_value *x, struct middle_product *product)
{
    const int64_t shape[3] = {norm->rows, 1, norm->length};
    const struct layout layout = layout_of_model(3);
    struct qdq_value value = *x;
    view_permute(&value.view, norm->order, &value.view);
    enum qdq_outcome outcome = qdq_take_shape(qdq, node, 3, shape, &value);
    if (outcome != QDQ_DONE)
        return outcome;
    struct middle_value factors[2] = {qdq_placed(&value)};
    bool is_good = middle_lay_out(&qdq->builder, node->name, &layout, &factors[0]);
    factors[1] = factors[0];
    factors[1].view = middle_transposed(&factors[0].view);
    return is_good && middle_multiply(&qdq->builder, node->name, factors, product)
               ? QDQ_DONE
               : qdq_fault(qdq, node, NULL, "is the length of %lld rows of %lld elements; supported: up to %d",
                           (long long)norm->rows, (long long)norm->length, MAXIMUM_DIMENSION);
}

#define ORIGIN      128 /* of the bytes whose variance is computed: none is farther from it than 128 */
#define LONGEST_ROW 362 /* whose sum of squares, times its length, has 31 bits */

/* n * (sum of squares) - (sum)^2, of n elements less the origin: their variance in units of its own, rounded. */
static int lay_variance(struct qdq *qdq, const struct node *node, int input, double scale,
                        const struct quantisation *quantisation, const char *name)
{
    const struct tensor from = *qdq_tensor(qdq, input);
    int64_t n = from.channels;
    int sum = lay_whole_sum(qdq, node, input), square;
    int squares = lay_whole_sum(qdq, node, lay_squares(qdq, node, input, ORIGIN));
    struct layer *layer = lay_whole(qdq, node, LAYER_MULTIPLICATION, sum, &square);
    layer->inputs[1] = sum;
    layer->input_stages[0] = layer->input_stages[1] = whole_stage(qdq, 1, -n * ORIGIN);
    int output = quantised_tensor(&qdq->builder, name, from.height, from.width, 1, quantisation);
    layer = quantised_layer(&qdq->builder, LAYER_ADDITION, node->name, squares, output);
    layer->inputs[1] = square;
    layer->input_stages[0] = whole_stage(qdq, n, 0);
    layer->input_stages[1] = whole_stage(qdq, -1, 0);
    layer->stages[0] = quantised_stage(&qdq->builder, 1, qdq_tensor(qdq, output));
    layer->stage_count = 1;
    quantised_set_channel(&qdq->builder, &layer->stages[0], 0, 0,
                          (struct real_factor){{scale, scale}, quantisation->scale, n * n});
    return output;
}

/* n * x - sum, of n elements: what each is more than their mean, rounded. */
static int lay_centred(struct qdq *qdq, const struct node *node, int input, double scale,
                       const struct quantisation *quantisation, const char *name)
{
    const struct tensor from = *qdq_tensor(qdq, input);
    const int64_t n = from.channels;
    const int sum = lay_whole_sum(qdq, node, input);
    const int output = quantised_tensor(&qdq->builder, name, from.height, from.width, from.channels, quantisation);
    struct layer *layer = quantised_layer(&qdq->builder, LAYER_ADDITION, node->name, input, output);
    layer->inputs[1] = sum;
    layer->input_stages[0] = whole_stage(qdq, n, 0);
    layer->input_stages[1] = whole_stage(qdq, -1, 0);
    layer->stages[0] = quantised_stage(&qdq->builder, 1, qdq_tensor(qdq, output));
    layer->stage_count = 1;
    quantised_set_channel(&qdq->builder, &layer->stages[0], 0, 0, (struct real_factor){{scale, 1}, quantisation->scale, n});
    return output;
}

static enum qdq_outcome quantise_centred(struct qdq *qdq, const struct node *node, const struct qdq_statistic *statistic,
                                         const struct quantisation *quantisation, const char *name, struct qdq_value *result)
{
    struct qdq_value x = statistic->x;
    struct qdq_norm norm = {.kind = statistic->norm, .view = x.view};
    qdq_norm_sort(&x.view, statistic->is_row, &norm);
    enum qdq_outcome outcome = qdq_norm_lay_rows(qdq, node, &norm, false, &x);
    if (outcome != QDQ_DONE)
        return outcome;
    const double scale = qdq_tensor(qdq, x.tensor)->scale;
    *result =
        (struct qdq_value){.kind = QDQ_ELEMENTS, .tensor = lay_centred(qdq, node, x.tensor, scale, quantisation, name)};
    return qdq_norm_restore(&norm, &x.view, NULL, &result->view) ? QDQ_DONE : QDQ_FLOAT;
}

/* The square root of sums of squares of `count` elements that are averaged, in steps of a scale: their own layer, so that
 * the product has a kernel that is made for bytes. */
static struct layer *lay_root(struct qdq *qdq, const struct node *node, int sums, double scale, int64_t count,
                              const struct quantisation *quantisation, const char *name)
{
    int output = quantised_tensor(&qdq->builder, name, qdq_tensor(qdq, sums)->height, 1, 1, quantisation);
    struct layer *layer = quantised_layer(&qdq->builder, LAYER_AVERAGE_POOL, node->name, sums, output);
    layer->stages[0] = quantised_stage(&qdq->builder, 1, qdq_tensor(qdq, output));
    layer->stages[0].rounding = ROUND_ROOT;
    layer->stage_count = 1;
    quantised_set_channel(&qdq->builder, &layer->stages[0], 0, 0,
                          (struct real_factor){{scale, scale}, quantisation->scale * quantisation->scale, count});
    return layer;
}

/* The square root of the sum of squares, or of their mean: a product of each row with itself. */
static enum qdq_outcome quantise_length(struct qdq *qdq, const struct node *node, const struct qdq_statistic *statistic,
                                        const struct quantisation *quantisation, const char *name, struct qdq_value *result)
{
    struct qdq_norm norm = {.view = statistic->x.view};
    qdq_norm_sort(&norm.view, statistic->is_row, &norm);
    if (norm.length > LONGEST_LENGTH)
        return qdq_fault(qdq, node, NULL, "is the length of %lld elements; supported: up to %d", (long long)norm.length,
                         LONGEST_LENGTH);
    struct middle_product product;
    enum qdq_outcome outcome = lay_square(qdq, node, &norm, &statistic->x, &product);
    if (outcome != QDQ_DONE)
        return outcome;
    const double scale = qdq_tensor(qdq, product.factors[0].tensor)->scale;
    int sums = quantised_tensor(&qdq->builder, arena_format(qdq->arena, "%s, squared", name), product.height, 1, 1,
                                &(struct quantisation){.scale = scale * scale});
    struct layer *layer = quantised_layer(&qdq->builder, LAYER_MATRIX_PRODUCT, node->name, product.factors[0].tensor, sums);
    middle_set_product(&qdq->builder, &product, layer);
    layer->is_intermediate = true;
    layer = lay_root(qdq, node, sums, scale, statistic->norm == NORM_OF_MEAN ? norm.length : 1, quantisation, name);
    keep_above(qdq, layer, statistic->least);
    *result = (struct qdq_value){.kind = QDQ_ELEMENTS, .tensor = layer->output};
    return restore_rows(&norm, &product.view, statistic, &result->view) ? QDQ_DONE : QDQ_FLOAT;
}

static enum qdq_outcome refuse_part(struct qdq *qdq, const struct node *node)
{
    return qdq_fault(
        qdq, node, NULL,
        "quantises a part of a norm; supported: all of it between DequantizeLinear and QuantizeLinear (with opset 17 or "
        "newer LayerNormalization is one node), the mean of the squares or its root alone, or each operator by itself: "
        "quantize_static(..., op_types_to_quantize=[..., 'ReduceMean', 'Sub', 'Sqrt'])");
}

/* One element for each row, of a value whose rows are channels. */
static struct view view_of_rows(const struct view *view, const struct qdq_norm *norm)
{
    struct view rows = {.rank = 2, .dimensions = {norm->rows, 1}, .factor_counts = {view->factor_counts[0], 0}};
    for (int i = 0; i < view->factor_counts[0]; i++)
        rows.factors[i] = (struct view_factor){view->factors[i].size, view->factors[i].step / norm->length};
    return rows;
}

/* The variance, or the mean or sum of the squares, of rows. */
static enum qdq_outcome quantise_variance(struct qdq *qdq, const struct node *node, const struct qdq_statistic *statistic,
                                          const struct quantisation *quantisation, const char *name,
                                          struct qdq_value *result)
{
    struct qdq_value x = statistic->x;
    struct qdq_norm norm = {.kind = statistic->norm, .view = x.view};
    const bool is_centred = statistic->norm == NORM_OF_DEVIATION;
    qdq_norm_sort(&x.view, statistic->is_row, &norm);
    enum qdq_outcome outcome = qdq_norm_lay_rows(qdq, node, &norm, false, &x);
    if (outcome != QDQ_DONE)
        return outcome;
    if (is_centred && norm.length > LONGEST_ROW)
        return qdq_fault(qdq, node, NULL,
                         "rounds a variance of %lld elements by itself; supported: up to %d, or all of the "
                         "norm between DequantizeLinear and QuantizeLinear (with opset 17 or newer LayerNormalization is "
                         "one node)",
                         (long long)norm.length, LONGEST_ROW);
    const struct tensor from = *qdq_tensor(qdq, x.tensor);
    const int64_t count = statistic->norm == NORM_OF_MEAN ? norm.length : 1;
    const int output = is_centred ? lay_variance(qdq, node, x.tensor, from.scale, quantisation, name)
                                  : lay_sum(qdq, node, lay_squares(qdq, node, x.tensor, from.zero_point), from.scale, count,
                                            statistic->least * statistic->least, quantisation, name);
    const struct view rows = view_of_rows(&x.view, &norm);
    *result = (struct qdq_value){.kind = QDQ_ELEMENTS, .tensor = output};
    return restore_rows(&norm, &rows, statistic, &result->view) ? QDQ_DONE : QDQ_FLOAT;
}

enum qdq_outcome qdq_quantise_statistic(struct qdq *qdq, const struct node *node, const struct qdq_statistic *statistic,
                                        const struct quantisation *quantisation, const char *name, struct qdq_value *result)
{
    const bool is_plain = statistic->epsilon == 0;
    if (statistic->kind == QDQ_CENTRED)
        return quantise_centred(qdq, node, statistic, quantisation, name, result);
    if (statistic->kind == QDQ_DEVIATION && statistic->norm != NORM_OF_DEVIATION && is_plain)
        return quantise_length(qdq, node, statistic, quantisation, name, result);
    if (statistic->kind == QDQ_VARIANCE && is_plain)
        return quantise_variance(qdq, node, statistic, quantisation, name, result);
    return refuse_part(qdq, node);
}
