#include "check/check_ranges.h"

#include "network/stage.h"

struct ranges {
    const struct network *network;
    struct sum_range **of; /* by tensor, by channel */
    const struct layer *layer;
};

struct span {
    wide least, most;
};

static struct span join(struct span a, struct span b)
{
    return (struct span){lesser(a.least, b.least), greater(a.most, b.most)};
}

static struct span one(int64_t value) { return (struct span){value, value}; }

static struct span input_span(const struct ranges *r, int input, int channel)
{
    struct sum_range range = r->of[r->layer->inputs[input]][channel];
    return (struct span){range.minimum, range.maximum};
}

/* Stages rise or fall. A stage of count 0 changes nothing. */
static struct span stage_span(const struct stage *stage, int channel, struct span x)
{
    if (stage->count == 0)
        return x;
    wide a = stage_apply(stage, channel, (int64_t)x.least), b = stage_apply(stage, channel, (int64_t)x.most);
    return (struct span){lesser(a, b), greater(a, b)};
}

/* Weight by weight. */
static struct span convolution_span(const struct ranges *r, int channel)
{
    const struct layer *layer = r->layer;
    int inputs = r->network->tensors[layer->inputs[0]].channels / layer->groups;
    int group = channel / (r->network->tensors[layer->output].channels / layer->groups);
    int kernel = layer->kernel_height * layer->kernel_width;
    const int8_t *weight = layer->weights + (size_t)channel * (size_t)inputs * (size_t)kernel;
    struct span sum = {0, 0};
    for (int c = 0; c < inputs; c++) {
        struct span x = input_span(r, 0, group * inputs + c);
        if (layer_is_padded(layer))
            x = join(x, one(layer->padding_value));
        for (int i = 0; i < kernel; i++, weight++) {
            sum.least += *weight * (*weight > 0 ? x.least : x.most);
            sum.most += *weight * (*weight > 0 ? x.most : x.least);
        }
    }
    return sum;
}

static struct span factor_span(const int32_t *factors, struct span x)
{
    struct span span = one(factors[(int64_t)x.least]);
    for (int64_t i = (int64_t)x.least; i <= x.most; i++)
        span = join(span, one(factors[i]));
    return span;
}

/* A term or a factor; the second input may have one channel for all. */
static struct span operand_span(const struct ranges *r, int input, int channel)
{
    int own = r->network->tensors[r->layer->inputs[input]].channels == 1 ? 0 : channel;
    if (r->layer->factors[input])
        return factor_span(r->layer->factors[input], input_span(r, input, own));
    return stage_span(&r->layer->input_stages[input], channel, input_span(r, input, own));
}

static struct span product_span(struct span a, struct span b)
{
    struct span low = {lesser(a.least * b.least, a.least * b.most), greater(a.least * b.least, a.least * b.most)};
    struct span high = {lesser(a.most * b.least, a.most * b.most), greater(a.most * b.least, a.most * b.most)};
    return join(low, high);
}

static struct span concatenation_span(const struct ranges *r, int channel)
{
    int first = r->network->tensors[r->layer->inputs[0]].channels;
    if (channel < first)
        return stage_span(&r->layer->input_stages[0], channel, input_span(r, 0, channel));
    return stage_span(&r->layer->input_stages[1], channel - first, input_span(r, 1, channel - first));
}

static struct span table_span(const struct layer *layer, struct span x)
{
    struct span y = one(layer->table[(uint8_t)x.least]);
    for (wide i = x.least; i <= x.most; i++)
        y = join(y, one(layer->table[(uint8_t)i]));
    return y;
}

/* Where positions are not of whole pixels, an element comes from any channel. */
static bool are_whole_pixels(const int32_t *positions, int count, int channels, bool *has_border)
{
    bool whole = true;
    for (int i = 0; i < count; i++) {
        *has_border = *has_border || positions[i] < 0;
        whole = whole && (positions[i] < 0 || positions[i] % channels == 0);
    }
    return whole;
}

static struct span any_channel(const struct ranges *r, int input)
{
    struct span x = input_span(r, input, 0);
    for (int c = 1; c < r->network->tensors[r->layer->inputs[input]].channels; c++)
        x = join(x, input_span(r, input, c));
    return x;
}

/* So many products of any two elements. */
static struct span matrix_product_span(const struct ranges *r)
{
    wide terms = r->network->tensors[r->layer->inputs[0]].channels;
    struct span product = product_span(stage_span(&r->layer->input_stages[0], 0, any_channel(r, 0)),
                                       stage_span(&r->layer->input_stages[1], 0, any_channel(r, 1)));
    return (struct span){product.least * terms, product.most * terms};
}

/* All channels of a copy at once: its map is long. */
static void find_copy(const struct ranges *r, struct span *spans)
{
    const struct layer_map *map = &r->layer->map;
    const struct tensor *output = &r->network->tensors[r->layer->output];
    int channels = r->network->tensors[r->layer->inputs[0]].channels;
    struct span border = one(r->layer->padding_value), any = any_channel(r, 0);
    bool has_border = false;
    bool whole = are_whole_pixels(map->rows, output->height, channels, &has_border);
    whole = are_whole_pixels(map->columns, output->width, channels, &has_border) && whole;
    for (int c = 0; c < output->channels; c++) {
        spans[c] = map->channels[c] < 0 ? border : whole ? input_span(r, 0, map->channels[c] % channels) : any;
        spans[c] = has_border ? join(spans[c], border) : spans[c];
    }
}

static struct span interpolation_span(const struct layer *layer, struct span x)
{
    wide rows = 0, columns = 0;
    for (int i = 0; i < layer->taps.row_pairs; i++)
        rows += layer->taps.rows[i].weights[0] + layer->taps.rows[i].weights[1];
    for (int i = 0; i < layer->taps.column_pairs; i++)
        columns += layer->taps.columns[i].weights[0] + layer->taps.columns[i].weights[1];
    return (struct span){x.least * rows * columns, x.most * rows * columns};
}

static struct span average_span(const struct layer *layer, struct span x)
{
    wide area = (wide)layer->kernel_height * layer->kernel_width;
    struct span inside = layer_is_padded(layer) ? join(x, one(0)) : x;
    return (struct span){inside.least * area, inside.most * area};
}

static struct span accumulator_span(const struct ranges *r, int channel)
{
    const struct layer *layer = r->layer;
    switch (layer->kind) {
    case LAYER_CONVOLUTION: return convolution_span(r, channel);
    case LAYER_CONCATENATION: return concatenation_span(r, channel);
    case LAYER_AVERAGE_POOL: return average_span(layer, input_span(r, 0, channel));
    case LAYER_TABLE: return table_span(layer, input_span(r, 0, channel));
    case LAYER_INTERPOLATION: return interpolation_span(layer, input_span(r, 0, channel));
    case LAYER_ADDITION: {
        struct span a = operand_span(r, 0, channel), b = operand_span(r, 1, channel);
        return (struct span){a.least + b.least, a.most + b.most};
    }
    case LAYER_SQUARED_DIFFERENCE: {
        struct span a = operand_span(r, 0, channel), b = operand_span(r, 1, channel);
        wide low = a.least + b.least, high = a.most + b.most, most = -low > high ? -low : high;
        return (struct span){low <= 0 && high >= 0 ? 0 : low > 0 ? low * low : high * high, most * most};
    }
    case LAYER_MULTIPLICATION: {
        struct span product = product_span(operand_span(r, 0, channel), operand_span(r, 1, channel));
        int shift = layer->factors[0] ? 32 : 0;
        return (struct span){product.least >> shift, product.most >> shift};
    }
    case LAYER_MATRIX_PRODUCT: return matrix_product_span(r);
    default: return input_span(r, 0, channel);
    }
}

static int64_t narrow(wide number)
{
    return number < INT64_MIN ? INT64_MIN : number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

static void find_output(const struct ranges *r)
{
    const struct layer *layer = r->layer;
    const struct tensor *output = &r->network->tensors[layer->output];
    for (int c = 0; c < output->channels; c++) {
        struct span x = accumulator_span(r, c);
        for (int i = 0; i < layer->stage_count; i++)
            x = stage_span(&layer->stages[i], c, (struct span){narrow(x.least), narrow(x.most)});
        r->of[layer->output][c] = (struct sum_range){narrow(x.least), narrow(x.most)};
    }
}

static void find_all_of_tensor(const struct ranges *r, int tensor)
{
    const struct tensor *of = &r->network->tensors[tensor];
    for (int c = 0; c < of->channels; c++)
        r->of[tensor][c] = (struct sum_range){of->minimum, of->maximum};
}

static void find_moved(const struct ranges *r, struct arena *arena)
{
    int channels = r->network->tensors[r->layer->output].channels;
    struct span *spans = arena_array(arena, struct span, (size_t)channels);
    find_copy(r, spans);
    for (int c = 0; c < channels; c++)
        r->of[r->layer->output][c] = (struct sum_range){narrow(spans[c].least), narrow(spans[c].most)};
}

struct sum_range **check_channel_ranges(const struct network *network, struct arena *arena)
{
    struct ranges r = {.network = network, .of = arena_array(arena, struct sum_range *, (size_t)network->tensor_count)};
    for (int i = 0; i < network->tensor_count; i++) {
        r.of[i] = arena_array(arena, struct sum_range, (size_t)network->tensors[i].channels);
        if (network->tensors[i].producer == NO_LAYER)
            find_all_of_tensor(&r, i);
    }
    for (int i = 0; i < network->layer_count; i++) {
        r.layer = &network->layers[i];
        if (r.layer->kind == LAYER_SOFTMAX || r.layer->kind == LAYER_LARGEST || r.layer->kind == LAYER_NORM ||
            r.layer->kind == LAYER_LSTM)
            find_all_of_tensor(&r, r.layer->output);
        else if (r.layer->kind == LAYER_COPY && r.layer->stage_count == 0)
            find_moved(&r, arena);
        else
            find_output(&r);
    }
    return r.of;
}
