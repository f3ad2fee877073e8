/* Proves bounds of every accumulator and tensor, channel by channel with the weights as they are. What is proven here is
 * what kernels may rely on: 32-bit accumulators and normalisation, element sizes, signs.
 */
#include "network/range.h"

#include <inttypes.h>

#include "network/accumulator.h"
#include "network/channels.h"

struct bounds {
    wide minimum, maximum;
};

struct prover {
    struct network *network;
    const struct range_options *options;
    struct arena *arena;
    struct diagnostics *diagnostics;
    bool takes_channels, has_border; /* of the layer at hand, a copy: see of_copy */
};

/* ---- arithmetic on bounds ---- */

static struct bounds unite(struct bounds a, struct bounds b)
{
    return (struct bounds){lesser(a.minimum, b.minimum), greater(a.maximum, b.maximum)};
}

static struct bounds scale(struct bounds x, int64_t factor)
{
    return factor < 0 ? (struct bounds){x.maximum * factor, x.minimum * factor}
                      : (struct bounds){x.minimum * factor, x.maximum * factor};
}

static bool fits(struct bounds x, int64_t minimum, int64_t maximum) { return x.minimum >= minimum && x.maximum <= maximum; }

/* A channel through a stage, which is monotone; of count 0 it changes nothing. The input fits 64 bits. */
static struct bounds through_stage(const struct stage *stage, int channel, struct bounds x)
{
    if (stage->count == 0)
        return x;
    wide a = stage_apply(stage, channel, (int64_t)x.minimum), b = stage_apply(stage, channel, (int64_t)x.maximum);
    return (struct bounds){lesser(a, b), greater(a, b)};
}

static struct bounds of_tensor(const struct tensor *tensor) { return (struct bounds){tensor->minimum, tensor->maximum}; }

/* The tensor's, where nothing is known of the channel alone. */
static struct bounds of_channel(const struct tensor *tensor, int channel)
{
    if (!tensor->channel_ranges)
        return of_tensor(tensor);
    return (struct bounds){tensor->channel_ranges[channel].minimum, tensor->channel_ranges[channel].maximum};
}

/* ---- accumulators ---- */

/* The border's value can be among the inputs of any window that meets it. */
static struct bounds with_padding(const struct layer *layer, struct bounds x)
{
    bool padded = layer->padding_top || layer->padding_left || layer->padding_bottom || layer->padding_right;
    return padded ? unite(x, (struct bounds){layer->padding_value, layer->padding_value}) : x;
}

/* A tensor of one channel has that one for all. */
static struct bounds of_operand(const struct prover *prover, const struct layer *layer, int operand, int channel)
{
    const struct tensor *tensor = &prover->network->tensors[layer->inputs[operand]];
    return of_channel(tensor, tensor->channels == 1 ? 0 : channel);
}

static struct bounds of_addition(const struct prover *prover, const struct layer *layer, int channel)
{
    struct bounds a = through_stage(&layer->input_stages[0], channel, of_operand(prover, layer, 0, channel));
    struct bounds b = through_stage(&layer->input_stages[1], channel, of_operand(prover, layer, 1, channel));
    return (struct bounds){a.minimum + b.minimum, a.maximum + b.maximum};
}

static struct bounds of_square(struct bounds x)
{
    wide most = greater(-x.minimum, x.maximum);
    wide least = x.minimum > 0 ? x.minimum : x.maximum < 0 ? -x.maximum : 0;
    return (struct bounds){least * least, most * most};
}

/* Both factors are the same. */
static bool is_square(const struct layer *layer)
{
    const struct stage *a = &layer->input_stages[0], *b = &layer->input_stages[1];
    return !layer->factors[0] && layer->inputs[0] == layer->inputs[1] && a->count == b->count &&
           a->multiplier == b->multiplier && a->addend == b->addend && a->rounding == ROUND_FLOOR &&
           b->rounding == ROUND_FLOOR && a->divisor == b->divisor;
}

static struct bounds of_factors(const int32_t *factors, struct bounds element)
{
    struct bounds y = {INT32_MAX, INT32_MIN};
    for (int64_t x = (int64_t)element.minimum; x <= element.maximum; x++)
        y = unite(y, (struct bounds){factors[x], factors[x]});
    return y;
}

static struct bounds of_multiplication(const struct prover *prover, const struct layer *layer, int channel)
{
    struct bounds x[2];
    for (int i = 0; i < 2; i++) {
        x[i] = of_operand(prover, layer, i, channel);
        x[i] =
            layer->factors[i] ? of_factors(layer->factors[i], x[i]) : through_stage(&layer->input_stages[i], channel, x[i]);
    }
    struct bounds low = scale(x[0], (int64_t)x[1].minimum), high = scale(x[0], (int64_t)x[1].maximum);
    if (is_square(layer))
        return of_square(x[0]);
    struct bounds product = unite(low, high);
    return layer->factors[0] ? (struct bounds){product.minimum >> 32, product.maximum >> 32} : product;
}

/* Of any two elements. A kernel may add up parts of the sum in any order: modulo 2^32, so that the whole counts. */
static struct bounds of_matrix_product(const struct prover *prover, const struct layer *layer)
{
    struct bounds x[2];
    int terms = prover->network->tensors[layer->inputs[0]].channels;
    for (int i = 0; i < 2; i++) {
        x[i] = of_tensor(&prover->network->tensors[layer->inputs[i]]);
        if (layer->input_stages[i].count)
            x[i] = through_stage(&layer->input_stages[i], 0, x[i]);
    }
    return scale(unite(scale(x[0], (int64_t)x[1].minimum), scale(x[0], (int64_t)x[1].maximum)), terms);
}

static struct bounds of_table(const struct layer *layer, struct bounds input)
{
    struct bounds y = {UINT8_MAX, 0};
    for (int64_t x = (int64_t)input.minimum; x <= input.maximum; x++) {
        wide element = layer->table[(uint8_t)x];
        y = (struct bounds){lesser(y.minimum, element), greater(y.maximum, element)};
    }
    return y;
}

static void look_at_copy(struct prover *prover, const struct layer *layer)
{
    const struct tensor *output = &prover->network->tensors[layer->output];
    prover->takes_channels = copy_takes_channels(prover->network, layer);
    prover->has_border =
        copy_has_border(layer->map.rows, output->height) || copy_has_border(layer->map.columns, output->width);
}

/* A channel by itself, where the copy takes each channel of its output from one of its input. */
static struct bounds of_copy(const struct prover *prover, const struct layer *layer, int channel)
{
    const struct tensor *input = &prover->network->tensors[layer->inputs[0]];
    struct bounds border = {layer->padding_value, layer->padding_value};
    if (!input->channel_ranges || !prover->takes_channels)
        return unite(of_tensor(input), border);
    if (layer->map.channels[channel] < 0)
        return border;
    struct bounds x = of_channel(input, layer->map.channels[channel]);
    return prover->has_border ? unite(x, border) : x;
}

static int64_t sum_of_weights(const struct layer_tap *taps, int pairs)
{
    int64_t sum = 0;
    for (int i = 0; i < pairs; i++)
        sum += (int64_t)taps[i].weights[0] + taps[i].weights[1];
    return sum;
}

static struct bounds of_interpolation(const struct layer *layer, struct bounds input)
{
    const struct layer_taps *taps = &layer->taps;
    return scale(input, sum_of_weights(taps->rows, taps->row_pairs) * sum_of_weights(taps->columns, taps->column_pairs));
}

/* What is added to a term is less than 2^30: middle/norms.c chooses left_shift so. */
static struct bounds of_norm(const struct norm *norm)
{
    const bool is_divided = norm->arithmetic == NORM_DIVIDED;
    if (is_divided && norm->is_centred)
        return (struct bounds){0, UINT8_MAX};
    if (norm->arithmetic == NORM_TWICE) /* no element is larger than its row's norm */
        return (struct bounds){-1, UINT8_MAX + 2};
    const wide most = (wide)1 << (is_divided ? 31 : 30), more = is_divided ? 128 : 0;
    struct bounds terms = {norm->constants[0].term, norm->constants[0].term};
    for (int i = 1; i < norm->count; i++)
        terms = unite(terms, (struct bounds){norm->constants[i].term, norm->constants[i].term});
    return (struct bounds){((terms.minimum - most) >> norm->shift) + more, ((terms.maximum + most) >> norm->shift) + more};
}

static struct bounds of_concatenation(const struct prover *prover, const struct layer *layer, int channel)
{
    const struct tensor *first = &prover->network->tensors[layer->inputs[0]];
    int which = channel >= first->channels;
    const struct stage *stage = &layer->input_stages[which];
    int own = which ? channel - first->channels : channel;
    struct bounds x = of_channel(&prover->network->tensors[layer->inputs[which]], own);
    return through_stage(stage, own, x);
}

static struct bounds of_accumulator(const struct prover *prover, const struct layer *layer, int channel)
{
    const struct tensor *input = &prover->network->tensors[layer->inputs[0]];
    switch (layer->kind) {
    case LAYER_CONVOLUTION: return (struct bounds){layer->sums[channel].minimum, layer->sums[channel].maximum};
    case LAYER_CONCATENATION: return of_concatenation(prover, layer, channel);
    case LAYER_ADDITION: return of_addition(prover, layer, channel);
    case LAYER_SQUARED_DIFFERENCE: return of_square(of_addition(prover, layer, channel));
    case LAYER_MULTIPLICATION: return of_multiplication(prover, layer, channel);
    case LAYER_MATRIX_PRODUCT: return of_matrix_product(prover, layer);
    case LAYER_TABLE: return of_table(layer, of_channel(input, channel));
    case LAYER_COPY: return of_copy(prover, layer, channel);
    case LAYER_INTERPOLATION: return of_interpolation(layer, of_channel(input, channel));
    case LAYER_NORM: return of_norm(layer->norm);
    case LAYER_LSTM: return (struct bounds){0, UINT8_MAX};
    case LAYER_LARGEST: return (struct bounds){0, input->channels - 1};
    case LAYER_SOFTMAX: return (struct bounds){0, layer->is_fixed_point ? UINT8_MAX : (int64_t)1 << SOFTMAX_BITS};
    case LAYER_AVERAGE_POOL:
        return scale(with_padding(layer, of_channel(input, channel)), (int64_t)layer->kernel_height * layer->kernel_width);
    default: return of_channel(input, channel);
    }
}

/* ---- tensors ---- */

/* The smallest element of at least `least_bits` that holds the bounds. */
static void set_element(struct tensor *tensor, struct bounds bounds, int least_bits)
{
    static const int sizes[] = {2, 4, 8, 16, 32};
    tensor->is_signed = bounds.minimum < 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i] < least_bits)
            continue;
        int64_t levels = (int64_t)1 << sizes[i];
        tensor->bits = sizes[i];
        /* 32-bit elements are int32: nothing in the firmware reads uint32 */
        bool as_unsigned = sizes[i] < 32 && fits(bounds, 0, levels - 1);
        if (as_unsigned || fits(bounds, -levels / 2, levels / 2 - 1)) {
            tensor->is_signed = !as_unsigned;
            break;
        }
    }
    tensor->minimum = (int64_t)bounds.minimum;
    tensor->maximum = (int64_t)bounds.maximum;
}

/* An accumulator as it is, or normalised without a bound: 32-bit results, as of a classifier. */
static bool is_unbounded(const struct layer *layer)
{
    return layer->stage_count == 0 || !layer->stages[layer->stage_count - 1].has_clip;
}

static const char *wide_text(const struct prover *prover, wide number)
{
    if (number >= INT64_MIN && number <= INT64_MAX)
        return arena_format(prover->arena, "%" PRId64, (int64_t)number);
    return number < 0 ? "less than -2^63" : "more than 2^63";
}

static bool report_too_large(const struct prover *prover, int index, const char *what, struct bounds bounds,
                             const char *limit)
{
    diagnose(prover->diagnostics, SEVERITY_ERROR, prover->network->layers[index].name, NULL,
             "layer %d: its %s can be from %s to %s; supported: %s", index, what, wide_text(prover, bounds.minimum),
             wide_text(prover, bounds.maximum), limit);
    return false;
}

/* NEMO's additions and averages have no clip (the factor of an average may be rounded up, so that the average of 255s is
 * 256). The chip's 8-bit elements want one; `exact_add` keeps 16 bits instead. */
static void saturate(const struct prover *prover, int index, struct bounds *bounds)
{
    struct layer *layer = &prover->network->layers[index];
    if (prover->options->exact_add || fits(*bounds, 0, 255))
        return;
    bool is_signed = prover->network->tensors[layer->inputs[0]].is_signed;
    is_signed |= layer->kind == LAYER_ADDITION && prover->network->tensors[layer->inputs[1]].is_signed;
    int64_t minimum = is_signed ? -128 : 0, maximum = is_signed ? 127 : 255;
    if (fits(*bounds, minimum, maximum))
        return;
    diagnose(prover->diagnostics, SEVERITY_WARNING, layer->name, NULL,
             "layer %d: the %s can be from %s to %s and is not clipped in the model; saturated to %" PRId64 "..%" PRId64
             " (exact_add keeps it in 16 bits)",
             index, layer->kind == LAYER_ADDITION ? "sum" : "average", wide_text(prover, bounds->minimum),
             wide_text(prover, bounds->maximum), minimum, maximum);
    struct stage *last = &layer->stages[layer->stage_count - 1];
    last->has_clip = true;
    last->minimum = minimum;
    last->maximum = maximum;
    bounds->minimum = lesser(greater(bounds->minimum, minimum), maximum);
    bounds->maximum = lesser(greater(bounds->maximum, minimum), maximum);
}

/* A stage that changes nothing, to carry a clip. */
static void append_identity(const struct prover *prover, struct layer *layer)
{
    int64_t *multiplier = arena_array(prover->arena, int64_t, 1);
    *multiplier = 1;
    layer->stages[layer->stage_count++] =
        (struct stage){.count = 1, .multiplier = multiplier, .addend = arena_array(prover->arena, int64_t, 1), .divisor = 1};
}

/* ---- layers ---- */

/* Clips that the proof shows to be wider than what arrives bound nothing: keep them out of 64-bit trouble in the firmware.
 */
static void tighten_clips(struct layer *layer, const struct bounds *before_last)
{
    struct stage *last = layer->stage_count ? &layer->stages[layer->stage_count - 1] : NULL;
    if (!last || !last->has_clip)
        return;
    if (last->maximum > INT32_MAX)
        last->maximum = (int64_t)greater(before_last->maximum, last->minimum);
    if (last->minimum < INT32_MIN)
        last->minimum = (int64_t)lesser(before_last->minimum, last->maximum);
}

static bool prove_channels(const struct prover *prover, int index, struct sum_range *ranges, struct bounds *output)
{
    struct layer *layer = &prover->network->layers[index];
    int channels = prover->network->tensors[layer->output].channels;
    struct bounds accumulators = {0, 0};
    for (int channel = 0; channel < channels; channel++) {
        struct bounds x = of_accumulator(prover, layer, channel);
        accumulators = channel ? unite(accumulators, x) : x;
        for (int i = 0; i < layer->stage_count; i++) {
            if (!fits(x, INT64_MIN, INT64_MAX))
                return report_too_large(prover, index, "intermediate value", x, "64 bits");
            x = through_stage(&layer->stages[i], channel, x);
        }
        *output = channel ? unite(*output, x) : x;
        if (ranges && fits(x, INT64_MIN, INT64_MAX))
            ranges[channel] = (struct sum_range){(int64_t)x.minimum, (int64_t)x.maximum};
    }
    /* the sum of two scaled elements is a means to say what the model computes, and none of the firmware's numbers */
    bool is_exact_sum = layer->kind == LAYER_ADDITION && layer->stage_count && layer->stages[0].rounding != ROUND_FLOOR;
    if (!fits(accumulators, is_exact_sum ? INT64_MIN : INT32_MIN, is_exact_sum ? INT64_MAX : INT32_MAX))
        return report_too_large(prover, index, "accumulator", accumulators, is_exact_sum ? "64 bits" : "32 bits");
    layer->accumulator_minimum = (int64_t)accumulators.minimum;
    layer->accumulator_maximum = (int64_t)accumulators.maximum;
    return true;
}

/* Fewer than 8 bits only where the model has chosen them: kernels for bytes are the fastest. What merely picks elements
 * of its input keeps their size. */
static int least_bits(const struct network *network, const struct layer *layer)
{
    if (layer->output_bits)
        return layer->output_bits;
    bool picks = (layer->kind == LAYER_MAXIMUM_POOL || layer->kind == LAYER_CONCATENATION || layer->kind == LAYER_COPY) &&
                 layer->stage_count == 0;
    int bits = 8;
    for (int i = 0; picks && i < layer_input_count(layer); i++) {
        int input = layer->input_stages[i].count ? 8 : network->tensors[layer->inputs[i]].bits;
        bits = i == 0 || input > bits ? input : bits;
    }
    return bits < 8 ? bits : 8;
}

/* What the proof of each channel starts with. */
static void prepare(struct prover *prover, struct layer *layer)
{
    if (layer->kind == LAYER_CONVOLUTION)
        accumulator_prove(prover->network, layer, prover->arena);
    if (layer->kind == LAYER_COPY)
        look_at_copy(prover, layer);
}

static bool prove_layer(struct prover *prover, int index)
{
    struct layer *layer = &prover->network->layers[index];
    struct tensor *output = &prover->network->tensors[layer->output];
    struct bounds bounds = {0, 0};
    bool by_channel = prover->options->by_channel && prover->network->whole;
    struct sum_range *ranges = by_channel ? arena_array(prover->arena, struct sum_range, (size_t)output->channels) : NULL;
    prepare(prover, layer);
    if (!prove_channels(prover, index, ranges, &bounds))
        return false;
    tighten_clips(layer, &bounds);
    if ((layer->kind == LAYER_ADDITION || layer->kind == LAYER_AVERAGE_POOL) && is_unbounded(layer) &&
        !layer->is_intermediate) {
        if (layer->stage_count == 0)
            append_identity(prover, layer);
        saturate(prover, index, &bounds);
    }
    if (!fits(bounds, INT32_MIN, INT32_MAX))
        return report_too_large(prover, index, "output", bounds, "32 bits, or a Clip behind it");
    output->channel_ranges = ranges;
    if (prover->network->whole) {
        output->minimum = (int64_t)bounds.minimum;
        output->maximum = (int64_t)bounds.maximum;
        return true;
    }
    set_element(output, bounds, least_bits(prover->network, layer));
    if (layer->kind == LAYER_CONVOLUTION && is_unbounded(layer) && !layer->is_intermediate) {
        output->bits = 32; /* logits keep the format that applications expect, whatever the weights */
        output->is_signed = true;
    }
    return true;
}

bool range_prove(struct network *network, const struct range_options *options, struct arena *arena,
                 struct diagnostics *diagnostics)
{
    static const struct range_options defaults;
    struct prover prover = {
        .network = network, .options = options ? options : &defaults, .arena = arena, .diagnostics = diagnostics};
    int errors_before = diagnostics->error_count;
    for (int i = 0; i < network->layer_count; i++)
        if (!prove_layer(&prover, i))
            network->tensors[network->layers[i].output].minimum = network->tensors[network->layers[i].output].maximum = 0;
    network->fast_requantisation = prover.options->fast_requantisation;
    return diagnostics->error_count == errors_before;
}
