#include "check/check_values.h"

#include <string.h>

/* Constants are numbers of this range, from VALUE_ZERO on; all others have the highest bit set. Two that differ and got one
 * number are as likely as 2^-63. */
#define VALUE_ZERO (UINT64_C(1) << 40)
#define HASHED     (UINT64_C(1) << 63)

struct values {
    const struct network *network;
    uint64_t **of;  /* each tensor's elements, in memory's order */
    uint64_t layer; /* of that at hand: what all its elements have in common */
    uint64_t pixel; /* of that at hand: all channels of the input */
    struct arena *arena;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * UINT64_C(0x9E3779B97F4A7C15) + (b ^ (b >> 29)) * UINT64_C(0xD6E8FEB86659FD93) + UINT64_C(0x2545F491);
    x = (x ^ (x >> 32)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 29)) * UINT64_C(0x94D049BB133111EB);
    return (x ^ (x >> 31)) | HASHED;
}

static uint64_t constant(int64_t number) { return VALUE_ZERO + (uint64_t)number; }

/* ---- what all elements of a layer have in common ---- */

static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const uint8_t *byte = bytes;
    for (size_t i = 0; i < count; i++)
        hash = mix(hash, byte[i]);
    return hash;
}

static uint64_t mix_stage(uint64_t hash, const struct stage *stage, int channel)
{
    if (stage->count == 0)
        return mix(hash, 0);
    int at = stage->count == 1 ? 0 : channel;
    const int64_t numbers[] = {stage->rounding,
                               stage->multiplier[at],
                               stage->addend[at],
                               stage->exponent ? stage->exponent[at] : 0,
                               stage->left_shift,
                               stage->divisor,
                               stage->zero_point,
                               stage->has_clip,
                               stage->has_clip ? stage->minimum : 0,
                               stage->has_clip ? stage->maximum : 0};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        hash = mix(hash, (uint64_t)numbers[i]);
    return hash;
}

static uint64_t mix_stages(uint64_t hash, const struct layer *layer, int channel)
{
    for (int i = 0; i < layer->stage_count; i++)
        hash = mix_stage(hash, &layer->stages[i], channel);
    return mix(hash, (uint64_t)layer->stage_count);
}

static uint64_t mix_norm(uint64_t hash, const struct norm *norm, int pixel, int channels, int channel)
{
    int runs = channels / norm->run;
    const struct norm_constants *own = &norm->constants[(pixel * runs + channel / norm->run) % norm->count];
    const int64_t numbers[] = {norm->is_centred, norm->arithmetic, norm->zero_point, norm->epsilon, norm->fraction_bits,
                               norm->multiplier, norm->left_shift, norm->shift,      own->factor,   own->term};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        hash = mix(hash, (uint64_t)numbers[i]);
    return hash;
}

/* ---- windows ---- */

/* An element of the window, `row` and `column` from its corner; true: it is inside the image. */
static bool find_in_window(const struct layer *layer, const struct tensor *input, const int pixel[2], const int at[2],
                           size_t *position)
{
    int row = pixel[0] * layer->stride_height - layer->padding_top + at[0] * layer->dilation_height;
    int column = pixel[1] * layer->stride_width - layer->padding_left + at[1] * layer->dilation_width;
    *position = ((size_t)row * (size_t)input->width + (size_t)column) * (size_t)input->channels;
    return row >= 0 && row < input->height && column >= 0 && column < input->width;
}

/* Products are added, in whatever order: so are their numbers. */
static uint64_t sum_window(const struct values *v, const struct layer *layer, const int pixel[2], int channel)
{
    const struct tensor *input = &v->network->tensors[layer->inputs[0]];
    int each = input->channels / layer->groups, outputs = v->network->tensors[layer->output].channels;
    int first = channel / (outputs / layer->groups) * each, kernel = layer->kernel_height * layer->kernel_width;
    const uint64_t *x = v->of[layer->inputs[0]];
    uint64_t sum = 0;
    for (int y = 0; y < layer->kernel_height; y++)
        for (int k = 0; k < layer->kernel_width; k++) {
            size_t position;
            bool is_inside = find_in_window(layer, input, pixel, (const int[]){y, k}, &position);
            const int8_t *weights = layer->weights + (size_t)channel * (size_t)(each * kernel) + y * layer->kernel_width + k;
            for (int c = 0; c < each; c++) {
                int8_t weight = weights[(size_t)c * (size_t)kernel];
                uint64_t element = is_inside ? x[position + (size_t)(first + c)] : constant(layer->padding_value);
                sum += weight ? mix(element, (uint64_t)(int64_t)weight) : 0;
            }
        }
    return sum;
}

/* An average pool adds what is outside as 0, a maximum leaves it out. */
static uint64_t pool_window(const struct values *v, const struct layer *layer, const int pixel[2], int channel)
{
    const struct tensor *input = &v->network->tensors[layer->inputs[0]];
    uint64_t sum = 0;
    for (int y = 0; y < layer->kernel_height; y++)
        for (int k = 0; k < layer->kernel_width; k++) {
            size_t position;
            if (find_in_window(layer, input, pixel, (const int[]){y, k}, &position))
                sum += mix(v->of[layer->inputs[0]][position + (size_t)channel], 1);
        }
    return sum;
}

/* ---- layers: the number of one element ---- */

struct element {
    int pixel[2], channel;
    size_t pixel_index;
};

static uint64_t mix_pixel(uint64_t hash, const uint64_t *x, int channels)
{
    for (int c = 0; c < channels; c++)
        hash = mix(hash, x[c]);
    return hash;
}

/* All of a pixel, and which channel of it. */
static uint64_t of_pixel(struct values *v, const struct layer *layer, const struct element *e)
{
    int channels = v->network->tensors[layer->inputs[0]].channels, outputs = v->network->tensors[layer->output].channels;
    if (e->channel == 0)
        v->pixel = mix_pixel(v->layer, v->of[layer->inputs[0]] + e->pixel_index * (size_t)channels, channels);
    uint64_t hash = mix(v->pixel, (uint64_t)e->channel);
    if (layer->kind == LAYER_NORM)
        hash = mix_norm(hash, layer->norm, (int)e->pixel_index, outputs, e->channel);
    return mix_stages(hash, layer, e->channel);
}

static uint64_t of_copy(const struct values *v, const struct layer *layer, const struct element *e)
{
    int32_t from[] = {layer->map.rows[e->pixel[0]], layer->map.columns[e->pixel[1]], layer->map.channels[e->channel]};
    bool outside = from[0] < 0 || from[1] < 0 || from[2] < 0;
    uint64_t value = outside ? constant(layer->padding_value) : v->of[layer->inputs[0]][from[0] + from[1] + from[2]];
    return layer->stage_count ? mix_stages(mix(LAYER_COPY, value), layer, e->channel) : value;
}

static bool is_constant(uint64_t value) { return !(value & HASHED); }

static uint64_t of_table(const struct values *v, const struct layer *layer, size_t index)
{
    uint64_t value = v->of[layer->inputs[0]][index];
    if (is_constant(value))
        return constant(layer->table[(uint8_t)(value - VALUE_ZERO)]);
    return mix(v->layer, value);
}

/* Of two operands, which may change places. */
static uint64_t of_operands(const struct values *v, const struct layer *layer, const struct element *e)
{
    const struct tensor *output = &v->network->tensors[layer->output];
    struct operand_repeat repeat = layer_second_repeats(output, &v->network->tensors[layer->inputs[1]]);
    size_t channels = (size_t)output->channels, pixel = repeat.pixel ? 0 : e->pixel_index;
    size_t at[] = {e->pixel_index * channels + (size_t)e->channel,
                   repeat.channel ? pixel : pixel * channels + (size_t)e->channel};
    uint64_t sum = 0;
    for (int i = 0; i < 2; i++) {
        uint64_t own = mix(layer->kind, v->of[layer->inputs[i]][at[i]]);
        own = layer->factors[i] ? mix(own, mix(v->layer, (uint64_t)i)) : own;
        sum += mix_stage(own, &layer->input_stages[i], e->channel);
    }
    return mix_stages(mix(layer->kind, sum), layer, e->channel);
}

static uint64_t of_concatenation(const struct values *v, const struct layer *layer, const struct element *e)
{
    int first = v->network->tensors[layer->inputs[0]].channels, from = e->channel < first ? 0 : 1;
    int channel = e->channel - (from ? first : 0);
    size_t channels = (size_t)v->network->tensors[layer->inputs[from]].channels;
    uint64_t value = v->of[layer->inputs[from]][e->pixel_index * channels + (size_t)channel];
    if (layer->input_stages[from].count == 0 && layer->stage_count == 0)
        return value;
    return mix_stages(mix_stage(mix(LAYER_CONCATENATION, value), &layer->input_stages[from], channel), layer, e->channel);
}

static uint64_t of_product(const struct values *v, const struct layer *layer, const struct element *e)
{
    const struct tensor *output = &v->network->tensors[layer->output];
    size_t terms = (size_t)v->network->tensors[layer->inputs[0]].channels;
    const uint64_t *x0 = v->of[layer->inputs[0]] + e->pixel_index * terms;
    const uint64_t *x1 =
        v->of[layer->inputs[1]] + ((size_t)e->pixel[0] * (size_t)output->channels + (size_t)e->channel) * terms;
    uint64_t sum = 0;
    for (size_t k = 0; k < terms; k++)
        sum += mix(x0[k], mix(LAYER_MATRIX_PRODUCT, x1[k]));
    uint64_t hash = mix_stage(mix_stage(sum, &layer->input_stages[0], 0), &layer->input_stages[1], 0);
    return mix_stages(hash, layer, e->channel);
}

static uint64_t of_interpolation(const struct values *v, const struct layer *layer, const struct element *e)
{
    const struct tensor *input = &v->network->tensors[layer->inputs[0]];
    const struct layer_taps *taps = &layer->taps;
    const struct layer_tap *row = &taps->rows[e->pixel[0] * taps->row_pairs];
    const struct layer_tap *column = &taps->columns[e->pixel[1] * taps->column_pairs];
    uint64_t sum = 0;
    for (int i = 0; i < 2 * taps->row_pairs; i++)
        for (int k = 0; k < 2 * taps->column_pairs; k++) {
            int64_t weight = (int64_t)row[i / 2].weights[i % 2] * column[k / 2].weights[k % 2];
            int64_t pixel = (int64_t)row[i / 2].positions[i % 2] * input->width + column[k / 2].positions[k % 2];
            sum += weight ? mix(v->of[layer->inputs[0]][pixel * input->channels + e->channel], (uint64_t)weight) : 0;
        }
    return mix_stages(mix(LAYER_INTERPOLATION, sum), layer, e->channel);
}

static uint64_t number(struct values *v, const struct layer *layer, const struct element *e)
{
    size_t index = e->pixel_index * (size_t)v->network->tensors[layer->output].channels + (size_t)e->channel;
    uint64_t window = mix(layer->kind, (uint64_t)layer->kernel_height * (uint64_t)layer->kernel_width);
    switch (layer->kind) {
    case LAYER_CONVOLUTION:
        return mix_stages(mix(layer->kind, sum_window(v, layer, e->pixel, e->channel)), layer, e->channel);
    case LAYER_MAXIMUM_POOL:
    case LAYER_AVERAGE_POOL: return mix_stages(mix(window, pool_window(v, layer, e->pixel, e->channel)), layer, e->channel);
    case LAYER_ADDITION:
    case LAYER_MULTIPLICATION:
    case LAYER_SQUARED_DIFFERENCE: return of_operands(v, layer, e);
    case LAYER_CONCATENATION: return of_concatenation(v, layer, e);
    case LAYER_TABLE: return of_table(v, layer, index);
    case LAYER_COPY: return of_copy(v, layer, e);
    case LAYER_INTERPOLATION: return of_interpolation(v, layer, e);
    case LAYER_SOFTMAX:
    case LAYER_LARGEST:
    case LAYER_NORM: return of_pixel(v, layer, e);
    case LAYER_MATRIX_PRODUCT: return of_product(v, layer, e);
    case LAYER_LSTM: return mix(v->layer, index);
    }
    return 0;
}

/* ---- networks ---- */

/* Each element of an LSTM's is made of all of its inputs'. */
static uint64_t number_lstm(const struct values *v, const struct layer *layer)
{
    uint64_t hash = mix(LAYER_LSTM, (uint64_t)(uintptr_t)layer->lstm);
    for (int i = 0; i < 2; i++) {
        size_t bytes = tensor_elements(&v->network->tensors[layer->inputs[i]]) * sizeof(uint64_t);
        hash = mix_bytes(hash, v->of[layer->inputs[i]], bytes);
    }
    return hash;
}

static uint64_t number_constants(const struct values *v, const struct layer *layer)
{
    if (layer->kind == LAYER_LSTM)
        return number_lstm(v, layer);
    if (layer->kind == LAYER_MULTIPLICATION && layer->factors[0])
        return mix_bytes(mix_bytes(LAYER_MULTIPLICATION, layer->factors[0], 256 * sizeof *layer->factors[0]),
                         layer->factors[1], 256 * sizeof *layer->factors[1]);
    if (layer->kind == LAYER_TABLE)
        return mix_bytes(LAYER_TABLE, layer->table, 256);
    if (layer->kind == LAYER_SOFTMAX)
        return mix_bytes(mix(mix(LAYER_SOFTMAX, layer->is_fixed_point), (uint64_t)layer->group_channels),
                         layer->exponentials, 256 * sizeof *layer->exponentials);
    return layer->kind;
}

static void number_layer(struct values *v, const struct layer *layer)
{
    const struct tensor *output = &v->network->tensors[layer->output];
    uint64_t *made = v->of[layer->output] = arena_array(v->arena, uint64_t, tensor_elements(output));
    struct element e = {0};
    v->layer = number_constants(v, layer);
    for (e.pixel[0] = 0; e.pixel[0] < output->height; e.pixel[0]++)
        for (e.pixel[1] = 0; e.pixel[1] < output->width; e.pixel[1]++, e.pixel_index++)
            for (e.channel = 0; e.channel < output->channels; e.channel++)
                made[e.pixel_index * (size_t)output->channels + (size_t)e.channel] = number(v, layer, &e);
}

static struct values number_network(const struct network *network, struct arena *arena)
{
    struct values v = {
        .network = network, .of = arena_array(arena, uint64_t *, (size_t)network->tensor_count), .arena = arena};
    for (int i = 0; i < network->input_count; i++) {
        size_t count = tensor_elements(&network->tensors[network->inputs[i]]);
        uint64_t *made = v.of[network->inputs[i]] = arena_array(arena, uint64_t, count);
        for (size_t k = 0; k < count; k++)
            made[k] = mix(mix(UINT64_MAX, (uint64_t)i), k);
    }
    for (int i = 0; i < network->layer_count; i++)
        number_layer(&v, &network->layers[i]);
    return v;
}

static bool same_port(const struct tensor *a, const struct tensor *b)
{
    return a->height == b->height && a->width == b->width && a->channels == b->channels && a->bits == b->bits &&
           a->is_signed == b->is_signed && a->scale == b->scale && a->zero_point == b->zero_point &&
           a->model_offset == b->model_offset && a->is_turned == b->is_turned;
}

static bool same_inputs(const struct network *a, const struct network *b)
{
    bool good = a->input_count == b->input_count && a->output_count == b->output_count && a->states == b->states &&
                a->state_count == b->state_count;
    for (int i = 0; good && i < a->input_count; i++)
        good = same_port(&a->tensors[a->inputs[i]], &b->tensors[b->inputs[i]]);
    return good;
}

static bool same_output(const struct values *a, const struct values *b, int output)
{
    int of_a = a->network->outputs[output], of_b = b->network->outputs[output];
    const struct tensor *tensor = &a->network->tensors[of_a];
    return same_port(tensor, &b->network->tensors[of_b]) &&
           !memcmp(a->of[of_a], b->of[of_b], tensor_elements(tensor) * sizeof **a->of);
}

bool values_check(const struct network *network, struct diagnostics *diagnostics)
{
    if (!network->imported)
        return true;
    struct arena arena = {0};
    struct values made = number_network(network, &arena), imported = number_network(network->imported, &arena);
    bool good = same_inputs(network, network->imported);
    for (int i = 0; good && i < network->output_count; i++)
        good = same_output(&made, &imported, i);
    if (!good)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "a fault of dory, please report it: with its slices and gathers taken early the network computes something "
                 "else; --all-channels (ALL_CHANNELS) leaves them where they are");
    arena_free(&arena);
    return good;
}
