/* Pending arithmetic of a value, and how it becomes stages of layers. */
#include "import/import.h"

#include <string.h>

#include "base/arithmetic.h"

struct affine affine_identity(struct importer *importer)
{
    struct affine affine = {1, arena_array(importer->arena, int64_t, 1), arena_array(importer->arena, int64_t, 1), 1};
    affine.multiplier[0] = 1;
    return affine;
}

static bool is_identity(const struct affine *affine)
{
    for (int i = 0; i < affine->count; i++)
        if (affine->multiplier[i] != 1 || affine->addend[i] != 0)
            return false;
    return affine->divisor == 1;
}

void affine_reduce(struct affine *affine)
{
    int64_t common = affine->divisor;
    for (int i = 0; i < affine->count && common > 1; i++) {
        common = (int64_t)greatest_common_divisor(common, affine->multiplier[i]);
        common = (int64_t)greatest_common_divisor(common, affine->addend[i]);
    }
    if (common <= 1)
        return;
    for (int i = 0; i < affine->count; i++) {
        affine->multiplier[i] /= common;
        affine->addend[i] /= common;
    }
    affine->divisor /= common;
}

/* ---- flows ---- */

struct flow flow_of_tensor(struct importer *importer, int tensor, const struct shape *shape)
{
    return (struct flow){.kind = FLOW_TENSOR, .index = tensor, .shape = *shape, .pending = affine_identity(importer)};
}

struct flow flow_of_layer(struct importer *importer, int layer, const struct shape *shape)
{
    return (struct flow){.kind = FLOW_LAYER, .index = layer, .shape = *shape, .pending = affine_identity(importer)};
}

bool flow_is_data(const struct flow *flow) { return flow->kind == FLOW_TENSOR || flow->kind == FLOW_LAYER; }

static int tensor_of(const struct importer *importer, const struct flow *flow)
{
    return flow->kind == FLOW_LAYER ? importer->network->layers[flow->index].output : flow->index;
}

const struct tensor *flow_tensor_view(const struct importer *importer, const struct flow *flow)
{
    return &importer->network->tensors[tensor_of(importer, flow)];
}

bool flow_has_padding(const struct flow *flow)
{
    return flow->padding.top || flow->padding.left || flow->padding.bottom || flow->padding.right;
}

/* ---- pending arithmetic ---- */

/* A copy of its own for the flow, with at least `count` entries: flows that were copied share arrays. */
static void own_pending(struct importer *importer, struct flow *flow, int count)
{
    struct affine old = flow->pending;
    int new_count = count > old.count ? count : old.count;
    importer->pending_numbers += (size_t)new_count;
    int64_t *multiplier = arena_array(importer->arena, int64_t, (size_t)new_count);
    int64_t *addend = arena_array(importer->arena, int64_t, (size_t)new_count);
    for (int i = 0; i < new_count; i++) {
        multiplier[i] = old.multiplier[old.count == 1 ? 0 : i];
        addend[i] = old.addend[old.count == 1 ? 0 : i];
    }
    flow->pending = (struct affine){new_count, multiplier, addend, old.divisor};
}

static bool report_overflow(struct importer *importer, const struct node *node)
{
    return import_fault(
        importer, node, NULL,
        "the constants of this normalisation exceed 64 bits when multiplied; check multipliers and divisors");
}

bool flow_multiply(struct importer *importer, const struct node *node, struct flow *flow, const int64_t *numbers, int count)
{
    own_pending(importer, flow, count);
    affine_reduce(&flow->pending);
    struct affine *pending = &flow->pending;
    for (int i = 0; i < pending->count; i++) {
        int64_t number = numbers[count == 1 ? 0 : i];
        if (__builtin_mul_overflow(pending->multiplier[i], number, &pending->multiplier[i]) ||
            __builtin_mul_overflow(pending->addend[i], number, &pending->addend[i]))
            return report_overflow(importer, node);
    }
    affine_reduce(pending);
    return true;
}

bool flow_add(struct importer *importer, const struct node *node, struct flow *flow, const int64_t *numbers, int count)
{
    own_pending(importer, flow, count);
    struct affine *pending = &flow->pending;
    for (int i = 0; i < pending->count; i++) {
        int64_t scaled;
        if (__builtin_mul_overflow(numbers[count == 1 ? 0 : i], pending->divisor, &scaled) ||
            __builtin_add_overflow(pending->addend[i], scaled, &pending->addend[i]))
            return report_overflow(importer, node);
    }
    return true;
}

bool flow_add_fractions(struct importer *importer, const struct node *node, struct flow *flow, const int64_t *numbers,
                        int count, int halvings)
{
    const int64_t denominator = (int64_t)1 << halvings;
    /* multiplier, addend and divisor become multiples of the denominator, by which the numbers can be divided then */
    own_pending(importer, flow, count);
    struct affine *pending = &flow->pending;
    int64_t divisor = pending->divisor;
    bool good = !__builtin_mul_overflow(divisor, denominator, &pending->divisor);
    for (int i = 0; good && i < pending->count; i++) {
        int64_t addend;
        good = !__builtin_mul_overflow(pending->multiplier[i], denominator, &pending->multiplier[i]) &&
               !__builtin_mul_overflow(pending->addend[i], denominator, &pending->addend[i]) &&
               !__builtin_mul_overflow(numbers[count == 1 ? 0 : i], divisor, &addend) &&
               !__builtin_add_overflow(pending->addend[i], addend, &pending->addend[i]);
    }
    affine_reduce(pending);
    return good || report_overflow(importer, node);
}

bool flow_divide(struct importer *importer, const struct node *node, struct flow *flow, int64_t divisor)
{
    own_pending(importer, flow, 1);
    flow->is_divided = true;
    if (__builtin_mul_overflow(flow->pending.divisor, divisor, &flow->pending.divisor))
        return report_overflow(importer, node);
    affine_reduce(&flow->pending);
    return true;
}

/* ---- stages ---- */

static const int8_t *ones(struct importer *importer, size_t count)
{
    int8_t *weights = arena_array(importer->arena, int8_t, count);
    memset(weights, 1, count);
    return weights;
}

/* A depth-wise convolution with a kernel of one weight, 1: copies its input with a border round it, and can carry a
 * stage of its own for each channel. */
static void copy_by_convolution(struct importer *importer, const struct node *node, struct flow *flow)
{
    int input = tensor_of(importer, flow);
    struct tensor from = importer->network->tensors[input];
    const struct padding *border = &flow->padding;
    flow->index =
        import_new_layer(importer, LAYER_CONVOLUTION, node->name, input, from.height + border->top + border->bottom,
                         from.width + border->left + border->right, from.channels);
    flow->kind = FLOW_LAYER;
    struct layer *layer = &importer->network->layers[flow->index];
    layer->is_intermediate = true;
    layer->groups = from.channels;
    layer->weights = ones(importer, (size_t)from.channels);
    layer->padding_top = border->top;
    layer->padding_left = border->left;
    layer->padding_bottom = border->bottom;
    layer->padding_right = border->right;
    layer->padding_value = (int)border->value;
}

/* The same without border and with one stage for all channels: a maximum over one element. */
static void copy_by_pool(struct importer *importer, const struct node *node, struct flow *flow)
{
    int input = tensor_of(importer, flow);
    struct tensor from = importer->network->tensors[input];
    flow->index = import_new_layer(importer, LAYER_MAXIMUM_POOL, node->name, input, from.height, from.width, from.channels);
    flow->kind = FLOW_LAYER;
}

/* A sum over the kernel is also what a depth-wise convolution with ones computes. */
static void make_pool_a_convolution(struct importer *importer, struct layer *layer)
{
    int channels = importer->network->tensors[layer->output].channels;
    layer->kind = LAYER_CONVOLUTION;
    layer->groups = channels;
    layer->weights = ones(importer, (size_t)channels * (size_t)layer->kernel_height * (size_t)layer->kernel_width);
}

static void unite_equal_channels(struct affine *affine)
{
    for (int i = 1; i < affine->count; i++)
        if (affine->multiplier[i] != affine->multiplier[0] || affine->addend[i] != affine->addend[0])
            return;
    affine->count = 1;
}

static bool takes_stage(const struct layer *layer, const struct affine *pending)
{
    return layer->kind == LAYER_CONVOLUTION ? layer->stage_count == 0
                                            : layer->stage_count < MAXIMUM_STAGES && pending->count == 1;
}

/* Makes the flow a layer that a stage can be appended to. */
static void make_room(struct importer *importer, const struct node *node, struct flow *flow)
{
    struct layer *layer = flow->kind == FLOW_LAYER ? &importer->network->layers[flow->index] : NULL;
    if (layer && layer->kind == LAYER_AVERAGE_POOL && layer->stage_count == 0 && flow->pending.count > 1)
        make_pool_a_convolution(importer, layer);
    if (layer && takes_stage(layer, &flow->pending))
        return;
    if (layer)
        layer->is_intermediate = true;
    if (flow->pending.count > 1)
        copy_by_convolution(importer, node, flow);
    else
        copy_by_pool(importer, node, flow);
}

static struct stage *append_stage(struct importer *importer, const struct node *node, struct flow *flow)
{
    own_pending(importer, flow, 1);
    unite_equal_channels(&flow->pending);
    make_room(importer, node, flow);
    struct layer *layer = &importer->network->layers[flow->index];
    const struct affine *pending = &flow->pending;
    struct stage *stage = &layer->stages[layer->stage_count++];
    layer->output_bits = 0; /* what the model said was of the stage before */
    *stage = (struct stage){
        .count = pending->count, .multiplier = pending->multiplier, .addend = pending->addend, .divisor = pending->divisor};
    flow->pending = affine_identity(importer);
    flow->is_divided = false;
    return stage;
}

bool flow_lay_padding(struct importer *importer, const struct node *node, struct flow *flow)
{
    struct shape *shape = &flow->shape;
    const struct padding *border = &flow->padding;
    if (!flow_has_padding(flow))
        return true;
    shape->dimensions[shape->rank - 1] += border->left + border->right;
    if (shape->rank == 4)
        shape->dimensions[2] += border->top + border->bottom;
    for (int i = 2; i < shape->rank; i++)
        if (shape->dimensions[i] > MAXIMUM_DIMENSION)
            return import_fault(importer, node, "pads", "make a dimension of %lld; supported: up to %d",
                                (long long)shape->dimensions[i], MAXIMUM_DIMENSION);
    copy_by_convolution(importer, node, flow);
    flow->padding = (struct padding){0};
    return true;
}

void flow_floor(struct importer *importer, const struct node *node, struct flow *flow)
{
    own_pending(importer, flow, 1);
    affine_reduce(&flow->pending);
    flow->is_divided = false;
    if (flow->pending.divisor != 1)
        append_stage(importer, node, flow);
}

void flow_clip(struct importer *importer, const struct node *node, struct flow *flow, int64_t minimum, int64_t maximum,
               int bits)
{
    struct stage *stage = NULL;
    if (flow->kind == FLOW_LAYER && is_identity(&flow->pending)) {
        struct layer *layer = &importer->network->layers[flow->index];
        stage = layer->stage_count ? &layer->stages[layer->stage_count - 1] : NULL;
    }
    if (!stage)
        stage = append_stage(importer, node, flow);
    stage->minimum = stage->has_clip ? clamp(stage->minimum, minimum, maximum) : minimum;
    stage->maximum = stage->has_clip ? clamp(stage->maximum, minimum, maximum) : maximum;
    stage->has_clip = true;
    importer->network->layers[flow->index].output_bits = bits;
}

int flow_finish(struct importer *importer, const struct node *node, struct flow *flow)
{
    own_pending(importer, flow, 1);
    affine_reduce(&flow->pending);
    if (flow->pending.divisor != 1)
        import_warning(importer, node, NULL,
                       "the result of a division is neither rounded (Floor, or Cast to an integer type) nor clipped; taken "
                       "as rounded down");
    if (!is_identity(&flow->pending))
        append_stage(importer, node, flow);
    flow->index = tensor_of(importer, flow);
    flow->kind = FLOW_TENSOR;
    return flow->index;
}

/* A positive factor with a divisor: sums, maxima and products commute with it, and a border of zeros is none the less. */
static bool is_fraction(const struct flow *flow)
{
    const struct affine *pending = &flow->pending;
    bool has_other_border = flow_has_padding(flow) && flow->padding.value != 0;
    return pending->divisor > 1 && pending->count == 1 && pending->addend[0] == 0 && pending->multiplier[0] > 0 &&
           !has_other_border;
}

void flow_settle(struct importer *importer, const struct node *node, struct flow *flow)
{
    own_pending(importer, flow, 1);
    affine_reduce(&flow->pending);
    unite_equal_channels(&flow->pending);
    if (!importer->options->carries_sums || !is_fraction(flow)) {
        flow_finish(importer, node, flow);
        return;
    }
    if (flow->kind == FLOW_LAYER)
        importer->network->layers[flow->index].is_intermediate = true; /* sums have the bits that they need */
    flow->index = tensor_of(importer, flow);
    flow->kind = FLOW_TENSOR;
}

int flow_split(struct importer *importer, const struct flow *flow, struct affine *rest)
{
    struct flow copy = *flow;
    own_pending(importer, &copy, 1);
    *rest = copy.pending;
    return tensor_of(importer, flow);
}

/* Maximum pools pass on what they read; a chain of more than a few is left unproven, so that no graph makes this slow. */
#define MAXIMUM_CHAIN 16

bool flow_is_at_least(const struct importer *importer, int tensor, int64_t least)
{
    for (int i = 0; i < MAXIMUM_CHAIN; i++) {
        const struct tensor *view = &importer->network->tensors[tensor];
        if (view->producer == NO_LAYER)
            return view->minimum >= least;
        const struct layer *layer = &importer->network->layers[view->producer];
        if (layer->stage_count > 0) {
            const struct stage *last = &layer->stages[layer->stage_count - 1];
            return last->has_clip && last->minimum >= least;
        }
        if (layer->kind == LAYER_CONCATENATION)
            return least <= 0 && view->minimum >= 0; /* import_concat has found out */
        if (layer->kind != LAYER_MAXIMUM_POOL)
            return false;
        tensor = layer->inputs[0];
    }
    return false;
}

bool flow_is_never_negative(const struct importer *importer, int tensor) { return flow_is_at_least(importer, tensor, 0); }
