#include "check/check_channels.h"

#include <string.h>

#include "base/arithmetic.h"
#include "check/check_pixels.h"
#include "check/check_ranges.h"

struct comparison {
    const struct network *network, *whole;
    struct sum_range **ranges; /* of the whole network's channels */
    struct diagnostics *diagnostics;
    struct arena *arena;
    int layer;
    bool good;
};

static void fault(struct comparison *c, const char *what)
{
    c->good = false;
    diagnose(c->diagnostics, SEVERITY_ERROR, c->whole->layers[c->layer].name, NULL,
             "a fault of dory, please report it: without its dead channels and unread pixels the network is another: %s",
             what);
}

static int number(const struct comparison *c, int tensor, int channel)
{
    const int *kept = c->network->tensors[tensor].kept;
    return kept ? kept[channel] : channel;
}

/* ---- tensors ---- */

/* The same but for channels, of which those that are kept stay in their order. Ports keep all. */
static bool is_part(const struct comparison *c, int index)
{
    const struct tensor *a = &c->network->tensors[index], *b = &c->whole->tensors[index];
    bool good = pixels_are_part(c->network, index) && a->bits == b->bits && a->is_signed == b->is_signed &&
                a->producer == b->producer && a->channels > 0;
    if (!a->kept)
        return good && a->channels == b->channels;
    good = good && a->channels < b->channels && !tensor_is_port(c->whole, index);
    for (int i = 0; good && i < a->channels; i++)
        good = a->kept[i] < b->channels && a->kept[i] > (i ? a->kept[i - 1] : -1);
    return good;
}

/* ---- stages ---- */

/* What a stage has in its addend for a sum that is larger by one; of `channel`. */
static wide unit_of(const struct stage *stage, int64_t multiplier)
{
    if (stage->rounding == ROUND_FLOOR)
        return multiplier;
    return stage->rounding == ROUND_TWICE ? 1 : (wide)1 << stage->left_shift;
}

static int64_t pick(const int64_t *numbers, const struct stage *stage, int channel)
{
    return numbers[stage->count == 1 ? 0 : channel];
}

static int exponent_of(const struct stage *stage, int channel)
{
    return stage->exponent ? stage->exponent[stage->count == 1 ? 0 : channel] : 0;
}

/* Does a give of x what b gives of x + constant, whatever x is? */
static bool stages_agree(const struct stage *a, int channel_a, const struct stage *b, int channel_b, wide constant)
{
    if (a->count == 0 || b->count == 0)
        return a->count == b->count && constant == 0;
    int64_t multiplier = pick(b->multiplier, b, channel_b);
    wide addend = (wide)pick(b->addend, b, channel_b) + unit_of(b, multiplier) * constant;
    return a->rounding == b->rounding && a->left_shift == b->left_shift && a->divisor == b->divisor &&
           a->zero_point == b->zero_point && a->has_clip == b->has_clip && a->minimum == b->minimum &&
           a->maximum == b->maximum && pick(a->multiplier, a, channel_a) == multiplier &&
           exponent_of(a, channel_a) == exponent_of(b, channel_b) && pick(a->addend, a, channel_a) == addend;
}

/* The stages of an output channel, whose sum lacks a constant. */
static bool sums_agree(const struct comparison *c, int channel, wide constant)
{
    static const int64_t one_number = 1, zero = 0;
    static const struct stage identity = {.count = 1, .multiplier = &one_number, .addend = &zero, .divisor = 1};
    const struct layer *a = &c->network->layers[c->layer], *b = &c->whole->layers[c->layer];
    int from = number(c, b->output, channel);
    if (b->stage_count == 0 && a->stage_count == 1)
        return stages_agree(&a->stages[0], channel, &identity, from, constant);
    bool good = a->stage_count == b->stage_count && (a->stage_count > 0 || constant == 0);
    for (int i = 0; good && i < a->stage_count; i++)
        good = stages_agree(&a->stages[i], channel, &b->stages[i], from, i ? 0 : constant);
    return good;
}

/* ---- convolutions ---- */

/* Adds what a channel of the input that is left out adds to a sum. False where that is no constant. */
static bool add_constant(const struct comparison *c, const int8_t *weights, int channel, wide *constant)
{
    const struct layer *layer = &c->whole->layers[c->layer];
    struct sum_range range = c->ranges[layer->inputs[0]][channel];
    bool is_constant = range.minimum == range.maximum && (!layer_is_padded(layer) || layer->padding_value == range.minimum);
    for (int i = 0; i < layer->kernel_height * layer->kernel_width; i++) {
        if (weights[i] && !is_constant)
            return false;
        *constant += is_constant ? (wide)weights[i] * range.minimum : 0;
    }
    return true;
}

/* The weights of a channel of the output, by the channels of the whole network's input. */
static bool weights_agree(const struct comparison *c, int channel, wide *constant)
{
    const struct layer *a = &c->network->layers[c->layer], *b = &c->whole->layers[c->layer];
    int input = b->inputs[0], from = number(c, b->output, channel);
    int each_a = c->network->tensors[input].channels / a->groups, each_b = c->whole->tensors[input].channels / b->groups;
    int group_a = channel / (c->network->tensors[b->output].channels / a->groups);
    int group_b = from / (c->whole->tensors[b->output].channels / b->groups);
    size_t kernel = (size_t)b->kernel_height * (size_t)b->kernel_width;
    const int8_t *of_a = a->weights + (size_t)(channel * each_a) * kernel;
    const int8_t *of_b = b->weights + (size_t)from * (size_t)each_b * kernel;
    int next = 0; /* channel of the group that is left */
    for (int i = 0; i < each_b; i++, of_b += kernel) {
        bool is_left = next < each_a && number(c, input, group_a * each_a + next) == group_b * each_b + i;
        if (is_left ? memcmp(of_a, of_b, kernel) != 0 : !add_constant(c, of_b, group_b * each_b + i, constant))
            return false;
        of_a += is_left ? kernel : 0;
        next += is_left;
    }
    return next == each_a;
}

static void check_convolution(struct comparison *c)
{
    const struct layer *a = &c->network->layers[c->layer];
    int inputs = c->network->tensors[a->inputs[0]].channels, outputs = c->network->tensors[a->output].channels;
    if (a->groups < 1 || inputs % a->groups || outputs % a->groups) {
        fault(c, "groups do not divide its channels");
        return;
    }
    for (int channel = 0; channel < outputs; channel++) {
        wide constant = 0;
        if (!weights_agree(c, channel, &constant))
            fault(c, "it needs a channel, or has other weights");
        else if (!sums_agree(c, channel, constant))
            fault(c, "its bias is another");
    }
}

/* ---- other layers ---- */

/* Of an input of a layer whose output has its channels from `first` on, each channel in its place and none too many. */
static bool channels_agree(const struct comparison *c, int input, int first_a, int first_b)
{
    const struct layer *layer = &c->whole->layers[c->layer];
    int tensor = layer->inputs[input];
    const struct layer *a = &c->network->layers[c->layer];
    for (int i = 0; i < c->network->tensors[tensor].channels; i++) {
        int from = number(c, tensor, i);
        if (first_a + i >= c->network->tensors[layer->output].channels ||
            number(c, layer->output, first_a + i) != first_b + from)
            return false;
        if (layer_has_two_inputs(layer) && !stages_agree(&a->input_stages[input], i, &layer->input_stages[input], from, 0))
            return false;
    }
    return true;
}

/* A second input of one channel for all: that stays, with its stage. */
static bool stays_repeated(const struct comparison *c)
{
    const struct layer *a = &c->network->layers[c->layer], *b = &c->whole->layers[c->layer];
    return c->network->tensors[a->inputs[1]].channels == 1 && c->whole->tensors[b->inputs[1]].channels == 1 &&
           b->input_stages[1].count <= 1 && stages_agree(&a->input_stages[1], 0, &b->input_stages[1], 0, 0);
}

static void check_elements(struct comparison *c)
{
    const struct layer *layer = &c->whole->layers[c->layer];
    const struct tensor *a = c->network->tensors, *b = c->whole->tensors;
    bool joins = layer->kind == LAYER_CONCATENATION;
    int channels = 0;
    bool good = true;
    int inputs = layer_input_count(layer);
    if (inputs == 2 && !joins && b[layer->inputs[1]].channels != b[layer->output].channels) {
        good = stays_repeated(c);
        inputs = 1;
    }
    for (int i = 0; good && i < inputs; i++) {
        int before = joins && i ? layer->inputs[0] : -1;
        good = channels_agree(c, i, before < 0 ? 0 : a[before].channels, before < 0 ? 0 : b[before].channels);
        channels = joins ? channels + a[layer->inputs[i]].channels : a[layer->inputs[i]].channels;
        good = good && (joins || channels == a[layer->output].channels);
    }
    if (!good || channels != a[layer->output].channels)
        fault(c, "its channels are others");
}

/* All channels of a pixel are one thing to it. */
static void check_whole_pixels(struct comparison *c)
{
    const struct layer *layer = &c->whole->layers[c->layer];
    for (int operand = 0; operand <= 2; operand++) {
        int tensor = layer_operand(layer, operand);
        if (tensor >= 0 && c->network->tensors[tensor].kept)
            fault(c, "it needs all channels");
    }
}

/* ---- layers ---- */

static bool numbers_agree(const struct layer *a, const struct layer *b)
{
    const int of_a[] = {(int)a->kind,    a->inputs[0],      a->inputs[1],       a->output,          a->kernel_height,
                        a->kernel_width, a->stride_height,  a->stride_width,    a->dilation_height, a->dilation_width,
                        a->padding_top,  a->padding_left,   a->padding_bottom,  a->padding_right,   a->padding_value,
                        a->weight_bits,  a->is_fixed_point, a->is_intermediate, a->output_bits,     a->group_channels};
    const int of_b[] = {(int)b->kind,    b->inputs[0],      b->inputs[1],       b->output,          b->kernel_height,
                        b->kernel_width, b->stride_height,  b->stride_width,    b->dilation_height, b->dilation_width,
                        b->padding_top,  b->padding_left,   b->padding_bottom,  b->padding_right,   b->padding_value,
                        b->weight_bits,  b->is_fixed_point, b->is_intermediate, b->output_bits,     b->group_channels};
    return !memcmp(of_a, of_b, sizeof of_a) && a->table == b->table && a->taps.rows == b->taps.rows &&
           a->taps.columns == b->taps.columns && a->exponentials == b->exponentials && a->norm == b->norm &&
           a->factors[0] == b->factors[0] && a->factors[1] == b->factors[1] && a->lstm == b->lstm;
}

static void check_stages(struct comparison *c)
{
    for (int channel = 0; channel < c->network->tensors[c->whole->layers[c->layer].output].channels; channel++)
        if (!sums_agree(c, channel, 0)) {
            fault(c, "its normalisation is another");
            return;
        }
}

static void check_layer(struct comparison *c)
{
    const struct layer *layer = &c->whole->layers[c->layer];
    if (!numbers_agree(&c->network->layers[c->layer], layer)) {
        fault(c, "it is another layer");
        return;
    }
    if (!pixels_suffice(c->network, c->layer)) {
        fault(c, "it needs a row or a column");
        return;
    }
    if (layer->kind != LAYER_CONVOLUTION)
        check_stages(c);
    switch (layer->kind) {
    case LAYER_CONVOLUTION: check_convolution(c); break;
    case LAYER_COPY:
        if (!copy_is_same(c->network, c->layer, c->arena))
            fault(c, "it copies other elements");
        break;
    case LAYER_SOFTMAX:
    case LAYER_NORM:
    case LAYER_LARGEST:
    case LAYER_LSTM:
    case LAYER_MATRIX_PRODUCT: check_whole_pixels(c); break;
    default: check_elements(c); break;
    }
}

static bool same_lists(const struct network *a, const struct network *b)
{
    return a->tensor_count == b->tensor_count && a->layer_count == b->layer_count && a->inputs == b->inputs &&
           a->input_count == b->input_count && a->outputs == b->outputs && a->output_count == b->output_count &&
           a->states == b->states && a->state_count == b->state_count;
}

bool channels_check(const struct network *network, struct diagnostics *diagnostics)
{
    struct arena arena = {0};
    struct comparison c = {
        .network = network, .whole = network->whole, .diagnostics = diagnostics, .arena = &arena, .good = true};
    if (!network->whole)
        return true;
    if (!same_lists(network, network->whole))
        fault(&c, "it has other tensors");
    for (int i = 0; c.good && i < network->tensor_count; i++)
        if (!is_part(&c, i))
            fault(&c, "a tensor has other elements");
    c.ranges = check_channel_ranges(network->whole, &arena);
    for (c.layer = 0; c.good && c.layer < network->layer_count; c.layer++)
        check_layer(&c);
    arena_free(&arena);
    return c.good;
}
