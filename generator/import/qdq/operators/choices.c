/* Max and Min of several tensors, and PRelu with a slope a channel. Rounding keeps the order of numbers, so that each tensor
 * may take on the quantisation of the result before elements are compared. */
#include "import/qdq/combinations.h"

#include <math.h>
#include <string.h>

#include "middle/join.h"
#include "middle/sums.h"

void qdq_pending_parts(struct qdq *qdq, const struct node *node, enum qdq_whole whole, const struct qdq_value *parts,
                       int count, int dimension, struct qdq_value *result)
{
    int first = parts[0].kind == QDQ_PENDING ? parts[0].pending->layer.inputs[0] : parts[0].tensor;
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_CONCATENATION, node, first, 1);
    pending->whole = whole;
    pending->parts = parts;
    pending->part_count = count;
    pending->dimension = dimension;
    pending->view = parts[0].view;
    *result = (struct qdq_value){.kind = QDQ_PENDING, .view = parts[0].view, .pending = pending};
}

void qdq_set_view(struct qdq_value *value, struct view view)
{
    ((struct qdq_pending *)(uintptr_t)value->pending)->view = view;
    value->view = view;
}

/* ---- Max and Min ---- */

bool qdq_broadcast_shape(const struct qdq_value *values, int count, int *rank, int64_t *dimensions)
{
    *rank = 0;
    for (int i = 0; i < count; i++)
        *rank = values[i].view.rank > *rank ? values[i].view.rank : *rank;
    for (int k = 0; k < *rank; k++) {
        dimensions[k] = 1;
        for (int i = 0; i < count; i++) {
            int own = k - (*rank - values[i].view.rank);
            int64_t size = own < 0 ? 1 : values[i].view.dimensions[own];
            if (size != 1 && dimensions[k] != 1 && size != dimensions[k])
                return false;
            dimensions[k] = size != 1 ? size : dimensions[k];
        }
    }
    return true;
}

static int leading_part(const struct qdq *qdq, const struct qdq_value *values, int count, int rank,
                        const int64_t *dimensions)
{
    struct middle_value *placed = arena_array(qdq->arena, struct middle_value, (size_t)count);
    struct layout layout;
    for (int i = 0; i < count; i++)
        placed[i] = qdq_placed(&values[i]);
    return middle_find_lead(&qdq->builder, placed, count, rank, dimensions, &layout);
}

enum qdq_outcome qdq_align_parts(struct qdq *qdq, const struct node *node, struct qdq_value *parts, int count, int *lead)
{
    int64_t dimensions[GRAPH_MAXIMUM_RANK];
    int rank;
    if (!qdq_broadcast_shape(parts, count, &rank, dimensions))
        return qdq_fault(qdq, node, NULL, "shapes %s and %s do not go together", view_text(&parts[0].view, qdq->arena),
                         view_text(&parts[1].view, qdq->arena));
    *lead = leading_part(qdq, parts, count, rank, dimensions);
    const struct qdq_value first = parts[*lead];
    parts[*lead] = parts[0];
    parts[0] = first;
    for (int i = 1; i < count; i++) {
        struct middle_value pair[2] = {qdq_placed(&parts[0]), qdq_placed(&parts[i])};
        if (middle_align(&qdq->builder, node->name, pair, rank, dimensions) != 0)
            return qdq_fault(qdq, node, NULL, "%s makes more elements than the firmware can have",
                             view_text(&parts[i].view, qdq->arena));
        for (int k = 0; k < 2; k++) {
            parts[k ? i : 0].tensor = pair[k].tensor;
            parts[k ? i : 0].view = pair[k].view;
        }
    }
    return QDQ_DONE;
}

enum qdq_outcome qdq_choose(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                            bool is_maximum, struct qdq_value *result)
{
    struct qdq_value *parts = arena_array(qdq->arena, struct qdq_value, (size_t)count);
    for (int i = 0; i < count; i++) {
        if (inputs[i].kind != QDQ_REALS)
            return QDQ_FLOAT;
        parts[i] = inputs[i];
    }
    int lead;
    enum qdq_outcome outcome = qdq_align_parts(qdq, node, parts, count, &lead);
    if (outcome != QDQ_DONE)
        return outcome;
    qdq_pending_parts(qdq, node, is_maximum ? QDQ_LARGEST : QDQ_SMALLEST, parts, count, 0, result);
    return QDQ_DONE;
}

static int like(struct qdq *qdq, int tensor, const struct quantisation *quantisation, const char *name)
{
    const struct tensor from = *qdq_tensor(qdq, tensor);
    return quantised_tensor(&qdq->builder, name, from.height, from.width, from.channels, quantisation);
}

static enum qdq_outcome choose_parts(struct qdq *qdq, const struct qdq_pending *pending,
                                     const struct quantisation *quantisation, const struct qdq_value *parts,
                                     struct middle_value *result)
{
    int chosen = parts[0].tensor;
    for (int i = 1; i < pending->part_count; i++) {
        int output = like(qdq, chosen, quantisation, arena_format(qdq->arena, "%s, %d", pending->layer.name, i));
        middle_choose(&qdq->builder, chosen, parts[i].tensor, pending->whole == QDQ_LARGEST, output);
        chosen = output;
    }
    *result = (struct middle_value){chosen, parts[0].view};
    return QDQ_DONE;
}

/* ---- Where ---- */

/* Bytes a + b + addend; the larger tensor comes first, the other one is repeated. */
static int sum_of(struct qdq *qdq, int a, int b, int addend, const struct quantisation *quantisation, const char *name)
{
    bool swaps = tensor_elements(qdq_tensor(qdq, a)) < tensor_elements(qdq_tensor(qdq, b));
    int output = like(qdq, swaps ? b : a, quantisation, name);
    middle_sum_bytes(&qdq->builder, swaps ? b : a, 1, swaps ? a : b, addend, output);
    return output;
}

/* The elements of a part where the condition selects it, elsewhere 0: with 255 or 0 added they exceed 255, or not. */
static int lay_selected(struct qdq *qdq, const struct qdq_pending *pending, const struct quantisation *quantisation,
                        const struct qdq_value *parts, int index)
{
    const struct qdq_value *condition = &parts[2];
    const char *name = arena_format(qdq->arena, "%s, part %d", pending->layer.name, index);
    uint8_t *selects = arena_array(qdq->arena, uint8_t, 256);
    for (int i = 0; i < 256; i++)
        selects[i] = (condition->reals[i] != 0) == (index == 0) ? 255 : 0;
    int table =
        like(qdq, condition->tensor, &(struct quantisation){1, 0, false}, arena_format(qdq->arena, "%s, where", name));
    quantised_table(&qdq->builder, qdq_tensor(qdq, table)->name, condition->tensor, table, selects);
    return sum_of(qdq, parts[index].tensor, table, -255, quantisation, name);
}

static enum qdq_outcome select_parts(struct qdq *qdq, const struct qdq_pending *pending,
                                     const struct quantisation *quantisation, const struct qdq_value *parts,
                                     struct middle_value *result)
{
    int selected[2];
    for (int i = 0; i < 2; i++)
        selected[i] = lay_selected(qdq, pending, quantisation, parts, i);
    int output = sum_of(qdq, selected[0], selected[1], 0, quantisation, pending->layer.name), whole = 0;
    while (whole < 2 && tensor_elements(qdq_tensor(qdq, parts[whole].tensor)) < tensor_elements(qdq_tensor(qdq, output)))
        whole++;
    *result = (struct middle_value){output, parts[whole].view};
    return QDQ_DONE;
}

/* ---- PRelu ---- */

enum qdq_outcome qdq_slope(struct qdq *qdq, const struct node *node, const struct qdq_value *input,
                           const struct qdq_array *slopes, struct qdq_value *result)
{
    struct qdq_value *part = arena_allocate(qdq->arena, sizeof *part);
    int dimension = qdq_constant_dimension(&input->view, slopes);
    *part = *input;
    if (input->kind != QDQ_REALS || !slopes->numbers)
        return QDQ_FLOAT;
    for (size_t i = 0; i < slopes->count; i++)
        if (!isfinite(qdq_array_real(slopes, i)))
            return qdq_fault(qdq, node, NULL, "slope %zu is %g", i, qdq_array_real(slopes, i));
    enum qdq_outcome outcome = qdq_make_elements(qdq, node, part);
    if (outcome == QDQ_DONE)
        outcome =
            dimension < 0 ? qdq_lay_flat(qdq, node, slopes, part, &slopes) : qdq_make_channels(qdq, node, part, dimension);
    if (outcome != QDQ_DONE)
        return outcome;
    qdq_pending_parts(qdq, node, QDQ_SLOPED, part, 1, dimension, result);
    ((struct qdq_pending *)(uintptr_t)result->pending)->slopes = slopes;
    return QDQ_DONE;
}

/* The same sums, times a slope. */
static const struct qdq_pending *times_slopes(struct qdq *qdq, const struct qdq_pending *from,
                                              const struct qdq_array *slopes)
{
    struct qdq_pending *sloped = arena_allocate(qdq->arena, sizeof *sloped);
    size_t count = (size_t)from->channels;
    *sloped = *from;
    sloped->count = from->channels;
    sloped->scale = 1;
    sloped->addends = arena_array(qdq->arena, int64_t, count);
    sloped->factors = arena_array(qdq->arena, double, count);
    sloped->constants = from->constants ? arena_array(qdq->arena, double, count) : NULL;
    for (size_t i = 0; i < count; i++) {
        size_t own = from->count == 1 ? 0 : i;
        double slope = (double)(float)qdq_array_real(slopes, slopes->count == 1 ? 0 : i);
        sloped->addends[i] = from->addends[own];
        sloped->factors[i] = from->scale * from->factors[own] * slope;
        if (from->constants)
            sloped->constants[i] = from->constants[own] * slope;
    }
    return sloped;
}

enum qdq_outcome qdq_slope_sums(struct qdq *qdq, const struct node *node, const struct qdq_value *input,
                                const struct qdq_array *slopes, struct qdq_value *result)
{
    const struct qdq_pending *from = input->pending;
    struct tensor image = tensor_plain("", from->height, from->width, from->channels);
    struct qdq_value *parts = arena_array(qdq->arena, struct qdq_value, 2);
    bool is_largest = true, is_smallest = true;
    if (from->part_count || from->norm || from->minimum > -INFINITY || from->maximum < INFINITY || !slopes->numbers ||
        (slopes->count != 1 && (slopes->count != (size_t)from->channels || !view_is_image(&input->view, &image) ||
                                qdq_constant_dimension(&input->view, slopes) != 1)))
        return QDQ_FLOAT;
    for (size_t i = 0; i < slopes->count; i++) {
        double slope = qdq_array_real(slopes, i);
        is_largest = is_largest && slope <= 1 && slope != 0 && slope >= -1e30;
        is_smallest = is_smallest && slope >= 1 && slope <= 1e30;
    }
    if (!is_largest && !is_smallest)
        return QDQ_FLOAT;
    parts[0] = parts[1] = *input;
    parts[1].pending = times_slopes(qdq, from, slopes);
    qdq_pending_parts(qdq, node, is_largest ? QDQ_LARGEST : QDQ_SMALLEST, parts, 2, 0, result);
    return QDQ_DONE;
}

/* ---- Abs ---- */

static struct stage negated_stage(struct qdq *qdq, const struct stage *stage)
{
    int64_t *numbers = arena_array(qdq->arena, int64_t, 2);
    struct stage negated = *stage;
    numbers[0] = -stage->multiplier[0];
    numbers[1] = -stage->addend[0];
    negated.multiplier = &numbers[0];
    negated.addend = &numbers[1];
    return negated;
}

/* The same sum, below zero where that is above; null: of a layer that has no signs. */
static const struct qdq_pending *negate(struct qdq *qdq, const struct qdq_pending *from)
{
    struct qdq_pending *negated = arena_allocate(qdq->arena, sizeof *negated);
    int *signs = arena_array(qdq->arena, int, (size_t)from->term_count + 1);
    *negated = *from;
    if (!from->part_count && from->layer.kind == LAYER_CONVOLUTION) {
        double slope = -1;
        return times_slopes(qdq, from, &(struct qdq_array){.count = 1, .numbers = &slope});
    }
    if (from->part_count ? from->whole != QDQ_SUMMED : from->layer.kind != LAYER_ADDITION)
        return NULL;
    for (int i = 0; i < from->term_count; i++)
        signs[i] = -from->signs[i];
    negated->signs = signs;
    for (int i = 0; i < 2 && !from->part_count; i++)
        negated->layer.input_stages[i] = negated_stage(qdq, &from->layer.input_stages[i]);
    negated->constants = from->constants ? arena_array(qdq->arena, double, (size_t)from->count) : NULL;
    for (int i = 0; i < from->count; i++) {
        if (from->constants)
            negated->constants[i] = -from->constants[i];
        if (from->addends[i])
            return NULL;
    }
    return negated;
}

enum qdq_outcome qdq_distance(struct qdq *qdq, const struct node *node, const struct qdq_value *input,
                              struct qdq_value *result)
{
    struct qdq_value *parts = arena_array(qdq->arena, struct qdq_value, 2);
    const bool is_bounded = input->pending->minimum > -INFINITY || input->pending->maximum < INFINITY;
    parts[0] = parts[1] = *input;
    parts[1].pending = is_bounded || input->pending->norm ? NULL : negate(qdq, input->pending);
    if (!parts[1].pending)
        return QDQ_FLOAT;
    qdq_pending_parts(qdq, node, QDQ_LARGEST, parts, 2, 0, result);
    return QDQ_DONE;
}

/* ---- PRelu of elements ---- */

/* What is above zero as it is rounded, or what is below it as it is: of the rest zero. */
static int lay_half(struct qdq *qdq, const struct node *node, const struct qdq_value *part, bool is_upper,
                    const struct quantisation *quantisation)
{
    struct qdq_value half = *part, laid;
    float *reals = arena_array(qdq->arena, float, 256);
    const struct tensor *from = qdq_tensor(qdq, part->tensor);
    struct quantisation own = {from->scale, from->zero_point + from->model_offset, from->model_offset != 0};
    for (int i = 0; i < 256; i++)
        reals[i] = is_upper ? fmaxf(part->reals[i], 0) : fminf(part->reals[i], 0);
    half.reals = reals;
    qdq_quantise_reals(qdq, node, &half, is_upper ? quantisation : &own,
                       arena_format(qdq->arena, "%s, %s zero", node->name, is_upper ? "above" : "below"), &laid);
    return laid.tensor;
}

static int lay_slopes(struct qdq *qdq, const struct node *node, int lower, const struct qdq_pending *pending,
                      const struct quantisation *quantisation)
{
    int channels = qdq_tensor(qdq, lower)->channels, zero_point = qdq_tensor(qdq, lower)->zero_point;
    struct qdq_pending *sloped = qdq_pending_make(qdq, LAYER_CONVOLUTION, node, lower, channels);
    int8_t *weights = arena_array(qdq->arena, int8_t, (size_t)channels);
    sloped->layer.groups = channels;
    sloped->layer.weights = weights;
    sloped->layer.padding_value = zero_point;
    for (int c = 0; c < channels; c++) {
        double slope = (double)(float)qdq_array_real(pending->slopes, (size_t)c);
        weights[c] = fabs(slope) < 1e-30 ? 0 : slope < 0 ? -1 : 1;
        sloped->factors[c] = weights[c] ? fabs(slope) : 1;
        sloped->addends[c] = -(int64_t)weights[c] * zero_point;
    }
    return qdq_pending_finish(qdq, sloped, quantisation, NULL, arena_format(qdq->arena, "%s, sloped", node->name));
}

static enum qdq_outcome slope_part(struct qdq *qdq, const struct node *node, const struct qdq_pending *pending,
                                   const struct quantisation *quantisation, const struct qdq_value *part,
                                   struct middle_value *result)
{
    int upper = lay_half(qdq, node, part, true, quantisation);
    int lower = lay_slopes(qdq, node, lay_half(qdq, node, part, false, quantisation), pending, quantisation);
    int output = like(qdq, upper, quantisation, node->name);
    middle_sum_bytes(&qdq->builder, upper, 1, lower, -qdq_tensor(qdq, output)->zero_point, output);
    *result = (struct middle_value){output, part->view};
    return QDQ_DONE;
}

enum qdq_outcome qdq_finish_choice(struct qdq *qdq, const struct node *node, const struct qdq_pending *pending,
                                   const struct quantisation *quantisation, struct qdq_value *parts,
                                   struct middle_value *result)
{
    if (pending->whole == QDQ_SELECTED)
        return select_parts(qdq, pending, quantisation, parts, result);
    if (pending->whole != QDQ_SLOPED)
        return choose_parts(qdq, pending, quantisation, parts, result);
    if (pending->minimum > -INFINITY || pending->maximum < INFINITY)
        return qdq_fault(qdq, node, NULL, "rounds a PRelu with bounds behind; quantise the PRelu's own result, too");
    return slope_part(qdq, node, pending, quantisation, parts, result);
}
