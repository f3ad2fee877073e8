/* Sums of several tensors, and of what layers compute that no node has quantised: Sum, Mean, and the Add behind a
 * convolution whose result is rounded only with the other operand. */
#include "import/qdq/combinations.h"

#include <math.h>
#include <stdlib.h>

#include "middle/sums.h"

/* ---- what can be a term ---- */

static bool is_sum(const struct qdq_pending *pending) { return pending->term_count > 0; }

static bool is_bounded(const struct qdq_pending *pending)
{
    return pending->minimum > -INFINITY || pending->maximum < INFINITY;
}

static bool is_term(const struct qdq_value *value)
{
    if (value->kind == QDQ_REALS)
        return true;
    if (value->kind != QDQ_PENDING)
        return false;
    const struct qdq_pending *pending = value->pending;
    bool is_layer =
        !pending->part_count && (pending->layer.kind == LAYER_CONVOLUTION || pending->layer.kind == LAYER_MULTIPLICATION ||
                                 pending->layer.kind == LAYER_AVERAGE_POOL);
    return is_sum(pending) || is_layer;
}

/* A sum of sums is one sum. */
static int count_terms(const struct qdq_value *value)
{
    bool is_open = value->kind == QDQ_PENDING && is_sum(value->pending) && !is_bounded(value->pending) &&
                   value->pending->divisor == 1 && view_equal(&value->view, &value->pending->view);
    return is_open ? value->pending->term_count : 1;
}

static double added(const struct qdq_pending *sum) { return sum->constants ? sum->constants[0] : 0; }

static double constant_of(const struct qdq_value *value) { return count_terms(value) > 1 ? added(value->pending) : 0; }

/* 256 real numbers as whole ones of three bytes: least + number * 2^exponent. */
struct split {
    double least;
    int exponent;
    uint32_t numbers[256];
};

static bool split_reals(const float *reals, struct split *split)
{
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < 256; i++) {
        if (!isfinite(reals[i]))
            return false;
        least = fmin(least, (double)reals[i]);
        most = fmax(most, (double)reals[i]);
    }
    frexp(fmax(most - least, 1e-30), &split->exponent);
    split->exponent += 1 - 8 * QDQ_SPLIT_BYTES; /* one bit is for the least, which is rounded down */
    double unit = ldexp(1, split->exponent);
    split->least = floor(least / unit) * unit;
    for (int i = 0; i < 256; i++)
        split->numbers[i] = (uint32_t)rint(((double)reals[i] - split->least) / unit);
    return true;
}

/* The terms so far, with room for all. */
struct terms {
    struct qdq_value *list;
    int *signs;
    int count;
    double constant;
};

static void add_term(struct terms *terms, const struct qdq_value *value, int sign)
{
    terms->list[terms->count] = *value;
    terms->signs[terms->count++] = sign;
}

/* The numbers' bytes of this place. */
static void take_bytes(struct qdq *qdq, const struct node *node, const struct qdq_value *value, const struct split *split,
                       int place, struct qdq_value *part)
{
    struct tensor from = *qdq_tensor(qdq, value->tensor);
    uint8_t *table = arena_array(qdq->arena, uint8_t, 256);
    const char *name = arena_format(qdq->arena, "%s, byte %d", node->name, place);
    *part = *value;
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)(split->numbers[i] >> (8 * place));
    part->tensor = quantised_tensor(&qdq->builder, name, from.height, from.width, from.channels,
                                    &(struct quantisation){ldexp(1, split->exponent + 8 * place), 0, false});
    quantised_layer(&qdq->builder, LAYER_TABLE, name, value->tensor, part->tensor)->table = table;
    part->reals = qdq_plain_reals(qdq, part->tensor);
}

enum qdq_outcome qdq_split_reals(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                 struct qdq_value *parts, double *least)
{
    struct split split;
    if (!split_reals(value->reals, &split))
        return QDQ_FLOAT;
    for (int place = 0; place < QDQ_SPLIT_BYTES; place++)
        take_bytes(qdq, node, value, &split, place, &parts[place]);
    *least = split.least;
    return QDQ_DONE;
}

/* Real numbers that are no multiples of one scale: as many tables as their numbers have bytes. */
static enum qdq_outcome add_reals(struct qdq *qdq, const struct node *node, struct terms *terms,
                                  const struct qdq_value *value, int sign)
{
    struct qdq_value plain = *value;
    struct qdq_value parts[QDQ_SPLIT_BYTES];
    double least;
    if (qdq_make_elements(qdq, node, &plain) == QDQ_DONE) {
        add_term(terms, &plain, sign);
        return QDQ_DONE;
    }
    if (qdq_split_reals(qdq, node, value, parts, &least) != QDQ_DONE)
        return QDQ_FLOAT;
    terms->constant += sign * least;
    for (int place = 0; place < QDQ_SPLIT_BYTES; place++)
        add_term(terms, &parts[place], sign);
    return QDQ_DONE;
}

static enum qdq_outcome add_terms(struct qdq *qdq, const struct node *node, struct terms *terms,
                                  const struct qdq_value *value, int sign)
{
    int count = count_terms(value);
    if (count == 1 && value->kind == QDQ_REALS)
        return add_reals(qdq, node, terms, value, sign);
    terms->constant += sign * constant_of(value);
    for (int i = 0; i < count; i++)
        add_term(terms, count == 1 ? value : &value->pending->terms[i], count == 1 ? sign : sign * value->pending->signs[i]);
    return QDQ_DONE;
}

/* ---- shapes ---- */

static bool has_shape(const struct view *view, int rank, const int64_t *dimensions)
{
    bool is_same = view->rank == rank;
    for (int i = 0; is_same && i < rank; i++)
        is_same = view->dimensions[i] == dimensions[i];
    return is_same;
}

/* The order of what the first layer among the terms computes; false where there is none in which others could be laid. */
static bool layout_of_layers(const struct qdq_value *terms, int count, const struct qdq_value **layer, struct layout *layout)
{
    *layer = NULL;
    for (int i = 0; i < count && !*layer; i++)
        *layer = terms[i].kind == QDQ_PENDING ? &terms[i] : NULL;
    if (!*layer)
        return false;
    struct tensor output =
        tensor_plain("", (*layer)->pending->height, (*layer)->pending->width, (*layer)->pending->channels);
    return layout_of_tensor(&(*layer)->view, &output, layout);
}

/* What a layer computes lies as its output does: all others are laid as that is. */
static enum qdq_outcome align_with_layers(struct qdq *qdq, const struct node *node, struct qdq_value *terms, int count,
                                          int rank, const int64_t *dimensions)
{
    const struct qdq_value *layer;
    struct layout layout;
    bool has_layout = layout_of_layers(terms, count, &layer, &layout);
    if (!has_shape(&layer->view, rank, dimensions))
        return QDQ_FLOAT;
    for (int i = 0; i < count; i++) {
        struct qdq_value *term = &terms[i];
        if (term->kind == QDQ_PENDING && !view_equal(&term->view, &layer->view))
            return QDQ_FLOAT;
        if (term->kind == QDQ_PENDING)
            continue;
        struct middle_value value = {term->tensor, term->view};
        if (!has_layout || !view_broadcast(&term->view, rank, dimensions, &value.view) ||
            !middle_lay_out(&qdq->builder, arena_format(qdq->arena, "%s, term %d", node->name, i), &layout, &value))
            return QDQ_FLOAT;
        term->tensor = value.tensor;
        term->view = value.view;
    }
    return QDQ_DONE;
}

static enum qdq_outcome align_terms(struct qdq *qdq, const struct node *node, struct terms *terms)
{
    int64_t dimensions[GRAPH_MAXIMUM_RANK];
    int rank, lead = 0;
    bool has_layer = false;
    if (!qdq_broadcast_shape(terms->list, terms->count, &rank, dimensions))
        return qdq_fault(qdq, node, NULL, "shapes %s and %s do not go together", view_text(&terms->list[0].view, qdq->arena),
                         view_text(&terms->list[1].view, qdq->arena));
    for (int i = 0; i < terms->count; i++)
        has_layer |= terms->list[i].kind == QDQ_PENDING;
    if (has_layer)
        return align_with_layers(qdq, node, terms->list, terms->count, rank, dimensions);
    enum qdq_outcome outcome = qdq_align_parts(qdq, node, terms->list, terms->count, &lead);
    const int sign = terms->signs[lead];
    terms->signs[lead] = terms->signs[0];
    terms->signs[0] = sign;
    return outcome;
}

/* ---- the pending sum ---- */

enum qdq_outcome qdq_sum(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                         const struct qdq_sum *sum, struct qdq_value *result)
{
    int room = 0;
    for (int i = 0; i < count; i++) {
        if (!is_term(&inputs[i]))
            return QDQ_FLOAT;
        room += count_terms(&inputs[i]) + QDQ_SPLIT_BYTES;
    }
    struct terms terms = {.list = arena_array(qdq->arena, struct qdq_value, (size_t)room),
                          .signs = arena_array(qdq->arena, int, (size_t)room)};
    enum qdq_outcome outcome = QDQ_DONE;
    for (int i = 0; i < count && outcome == QDQ_DONE; i++)
        outcome = add_terms(qdq, node, &terms, &inputs[i], sum->signs ? sum->signs[i] : 1);
    if (outcome != QDQ_DONE || (outcome = align_terms(qdq, node, &terms)) != QDQ_DONE)
        return outcome;
    qdq_pending_parts(qdq, node, QDQ_SUMMED, terms.list, terms.count, 0, result);
    struct qdq_pending *pending = (struct qdq_pending *)(uintptr_t)result->pending;
    pending->terms = terms.list;
    pending->signs = terms.signs;
    pending->term_count = terms.count;
    pending->divisor = sum->divisor;
    pending->constants = arena_array(qdq->arena, double, 1);
    pending->constants[0] = terms.constant / sum->divisor;
    return QDQ_DONE;
}

/* Sum and Mean. */
enum qdq_outcome qdq_sum_all(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                             struct qdq_value *result)
{
    bool is_mean = node->type[0] == 'M';
    if (count == 1) {
        *result = inputs[0];
        return QDQ_DONE;
    }
    return qdq_sum(qdq, node, inputs, count, &(struct qdq_sum){.divisor = is_mean ? count : 1}, result);
}

/* ---- how large it can be ---- */

static double largest_weight_sum(const struct qdq *qdq, const struct layer *layer, int channel)
{
    const struct tensor *input = qdq_tensor(qdq, layer->inputs[0]);
    size_t each = (size_t)layer->kernel_height * (size_t)layer->kernel_width * (size_t)(input->channels / layer->groups);
    double sum = 0;
    for (size_t i = 0; i < each; i++)
        sum += abs(layer->weights[(size_t)channel * each + i]);
    return sum;
}

static double largest_accumulator(const struct qdq *qdq, const struct layer *layer, int channel)
{
    switch (layer->kind) {
    case LAYER_CONVOLUTION: return 255 * largest_weight_sum(qdq, layer, channel);
    case LAYER_MULTIPLICATION: return 255 * 255;
    default: return 255.0 * layer->kernel_height * layer->kernel_width;
    }
}

static double unit_of(const struct qdq_pending *pending, int channel)
{
    return pending->scale * pending->factors[channel] / (double)pending->divisor;
}

static double largest_of_layer(const struct qdq *qdq, const struct qdq_pending *pending)
{
    double largest = 0;
    for (int i = 0; i < pending->channels; i++) {
        int own = pending->count == 1 ? 0 : i;
        double sum = largest_accumulator(qdq, &pending->layer, i) + fabs((double)pending->addends[own]);
        double constant = pending->constants ? fabs(pending->constants[own]) : 0;
        largest = fmax(largest, sum * unit_of(pending, own) + constant);
    }
    return fmin(largest, fmax(fabs(pending->minimum), fabs(pending->maximum)));
}

static double largest_of_terms(const struct qdq *qdq, const struct qdq_pending *pending)
{
    double largest = fabs(added(pending)) * (double)pending->divisor;
    for (int i = 0; i < pending->term_count; i++) {
        const struct qdq_value *term = &pending->terms[i];
        if (term->kind == QDQ_REALS)
            largest += 255 * qdq_tensor(qdq, term->tensor)->scale;
        else
            largest += is_sum(term->pending) ? largest_of_terms(qdq, term->pending) : largest_of_layer(qdq, term->pending);
    }
    return largest;
}

/* ---- the layers ---- */

static int lay_sum(struct qdq *qdq, const struct qdq_pending *pending, const char *name, int exponent);

/* A layer's results, or those of a sum with bounds, as whole numbers of the unit. */
static int lay_layer(struct qdq *qdq, const struct qdq_pending *pending, const char *name, int exponent)
{
    double *factors = arena_array(qdq->arena, double, (size_t)pending->count);
    for (int i = 0; i < pending->count; i++)
        factors[i] = unit_of(pending, i);
    int output =
        quantised_tensor(&qdq->builder, name, pending->height, pending->width, pending->channels, &(struct quantisation){0});
    struct layer *layer =
        quantised_layer(&qdq->builder, pending->layer.kind, pending->layer.name, pending->layer.inputs[0], output);
    *layer = pending->layer;
    layer->output = output;
    layer->stages[0] =
        middle_wide_stage(&qdq->builder, pending->count, pending->addends, factors, pending->constants, exponent);
    layer->stage_count = 1;
    layer->is_intermediate = true;
    middle_wide_clip(&layer->stages[0], pending->minimum, pending->maximum, exponent);
    return output;
}

static struct sum_term *lay_terms(struct qdq *qdq, const struct qdq_pending *pending, const char *name, int exponent)
{
    struct sum_term *terms = arena_array(qdq->arena, struct sum_term, (size_t)pending->term_count);
    for (int i = 0; i < pending->term_count; i++) {
        const struct qdq_value *term = &pending->terms[i];
        const char *own = arena_format(qdq->arena, "%s, term %d", name, i);
        if (term->kind == QDQ_REALS)
            terms[i] = (struct sum_term){term->tensor, pending->signs[i] * qdq_tensor(qdq, term->tensor)->scale, false};
        else
            terms[i] = (struct sum_term){is_sum(term->pending) ? lay_sum(qdq, term->pending, own, exponent)
                                                               : lay_layer(qdq, term->pending, own, exponent),
                                         pending->signs[i], true};
    }
    return terms;
}

/* A sum whose bounds another sum is behind. */
static int lay_sum(struct qdq *qdq, const struct qdq_pending *pending, const char *name, int exponent)
{
    const double factor = ldexp(1, exponent) / (double)pending->divisor;
    struct sum_term *terms = lay_terms(qdq, pending, name, exponent);
    const struct tensor like = *qdq_tensor(qdq, terms[0].tensor);
    int output = quantised_tensor(&qdq->builder, name, like.height, like.width, like.channels, &(struct quantisation){0});
    struct layer *layer = middle_last_sum(&qdq->builder, name, terms, pending->term_count, exponent, output);
    const int64_t addend = llrint(ldexp(added(pending) * (double)pending->divisor, -exponent));
    layer->stages[0] = middle_wide_stage(&qdq->builder, 1, &addend, &factor, NULL, exponent);
    layer->stage_count = 1;
    layer->is_intermediate = true;
    middle_wide_clip(&layer->stages[0], pending->minimum, pending->maximum, exponent);
    return output;
}

/* All terms in one layer behind those that they need; its stage is still to be set. */
static struct layer *lay_last_sum(struct qdq *qdq, const struct qdq_pending *pending,
                                  const struct quantisation *quantisation, const char *name, int exponent)
{
    struct sum_term *terms = lay_terms(qdq, pending, name, exponent);
    const struct tensor like = *qdq_tensor(qdq, terms[0].tensor);
    int output = quantised_tensor(&qdq->builder, name, like.height, like.width, like.channels, quantisation);
    struct layer *layer = middle_last_sum(&qdq->builder, pending->layer.name, terms, pending->term_count, exponent, output);
    layer->stage_count = 1;
    return layer;
}

void qdq_finish_sum(struct qdq *qdq, const struct qdq_pending *pending, const struct quantisation *quantisation,
                    const char *name, struct middle_value *result)
{
    int exponent = middle_sum_exponent(largest_of_terms(qdq, pending));
    struct layer *layer = lay_last_sum(qdq, pending, quantisation, name, exponent);
    struct stage stage = quantised_stage(&qdq->builder, 1, qdq_tensor(qdq, layer->output));
    quantised_set_channel(&qdq->builder, &stage, 0, llrint(ldexp(added(pending) * (double)pending->divisor, -exponent)),
                          (struct real_factor){{ldexp(1, exponent), 1}, quantisation->scale, pending->divisor});
    qdq_clip_stage(&stage, qdq_tensor(qdq, layer->output), pending->minimum, pending->maximum);
    layer->stages[0] = stage;
    *result = (struct middle_value){layer->output, pending->terms[0].view};
}

bool qdq_finish_whole_sum(struct qdq *qdq, const struct qdq_pending *pending, const struct quantisation *quantisation,
                          const char *name, const struct stage *stage, struct middle_value *result)
{
    if (middle_sum_exponent(largest_of_terms(qdq, pending)) > 0)
        return false;
    struct layer *layer = lay_last_sum(qdq, pending, quantisation, name, 0);
    layer->stages[0] = *stage;
    *result = (struct middle_value){layer->output, pending->terms[0].view};
    return true;
}
