#include "cost/describe_cost.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "describe/describe.h"

#define MAXIMUM_TENSOR_BYTES ((uint64_t)INT32_MAX / 4) /* as everywhere in the planner */
#define MAXIMUM_PIXELS       ((uint64_t)1 << 20)       /* of the output: beyond it, to look at all tiles takes minutes */

struct work {
    const struct dory_cost_layer *layer;
    struct costed_layer *costed;
    char *reason;
};

static bool refuse(const struct work *work, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(const struct work *work, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(work->reason, DORY_COST_TEXT_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- shape ---- */

static bool has_window(const struct dory_cost_layer *layer)
{
    return layer->operation == DORY_COST_CONVOLUTION || layer->operation == DORY_COST_MAXIMUM_POOL ||
           layer->operation == DORY_COST_AVERAGE_POOL;
}

static bool has_weights(const struct dory_cost_layer *layer)
{
    return layer->operation == DORY_COST_CONVOLUTION || layer->operation == DORY_COST_LINEAR;
}

static bool has_plain_window(const struct dory_cost_layer *layer)
{
    return layer->kernel_height == 1 && layer->kernel_width == 1 && layer->stride_height == 1 && layer->stride_width == 1 &&
           !layer->padding_top && !layer->padding_left && !layer->padding_bottom && !layer->padding_right;
}

/* Along one dimension. */
struct window {
    const char *name;
    uint32_t size, kernel, stride, dilation, before, behind;
};

/* 0: refused. */
static uint32_t output_size(const struct work *work, const struct window *w)
{
    uint64_t extent = ((uint64_t)w->kernel - 1) * w->dilation + 1, padded = (uint64_t)w->size + w->before + w->behind;
    if (extent <= padded && padded <= UINT16_MAX)
        return (uint32_t)((padded - extent) / w->stride) + 1;
    refuse(work,
           extent > padded ? "a window reads %" PRIu64 " elements along the %s where there are %" PRIu64 " with padding"
                           : "a window of %" PRIu64 " along the %s, of %" PRIu64 " elements with padding: at most 65535",
           extent, w->name, padded);
    return 0;
}

static bool set_sizes(const struct work *work)
{
    const struct dory_cost_layer *l = work->layer;
    struct dory_layer *record = &work->costed->record;
    struct window rows = {"height",           l->height,      l->kernel_height, l->stride_height,
                          l->dilation_height, l->padding_top, l->padding_bottom};
    struct window columns = {"width",           l->width,        l->kernel_width, l->stride_width,
                             l->dilation_width, l->padding_left, l->padding_right};
    uint32_t output_height = output_size(work, &rows), output_width = output_height ? output_size(work, &columns) : 0;
    record->output_height = (uint16_t)output_height;
    record->output_width = (uint16_t)output_width;
    record->input_height = (uint16_t)l->height;
    record->input_width = (uint16_t)l->width;
    record->input_channels = (uint16_t)l->channels;
    record->output_channels = (uint16_t)(l->outputs ? l->outputs : l->channels);
    record->kernel_height = (uint16_t)l->kernel_height;
    record->kernel_width = (uint16_t)l->kernel_width;
    record->stride_height = (uint16_t)l->stride_height;
    record->stride_width = (uint16_t)l->stride_width;
    record->dilation_height = (uint16_t)(l->kernel_height > 1 ? l->dilation_height : 1);
    record->dilation_width = (uint16_t)(l->kernel_width > 1 ? l->dilation_width : 1);
    record->padding_top = (int16_t)l->padding_top;
    record->padding_left = (uint16_t)l->padding_left;
    return output_width != 0;
}

/* Rows and columns with their border, and all of the weights, are counted in 32 bits. */
static bool check_bytes(const struct work *work)
{
    const struct dory_cost_layer *l = work->layer;
    const struct dory_layer *record = &work->costed->record;
    uint64_t padded = ((uint64_t)l->height + l->padding_top + l->padding_bottom) *
                      ((uint64_t)l->width + l->padding_left + l->padding_right);
    uint64_t outputs = (uint64_t)record->output_height * record->output_width;
    uint64_t taps =
        (uint64_t)l->kernel_height * l->kernel_width * (has_weights(l) ? (record->output_channels + 3u) / 4 * 4 : 1);
    bool tensors =
        padded <= MAXIMUM_TENSOR_BYTES / l->channels / 4 && outputs <= MAXIMUM_TENSOR_BYTES / record->output_channels / 4;
    if (!tensors || taps > MAXIMUM_TENSOR_BYTES / l->channels)
        return refuse(work, "its tensors or weights are larger than %" PRIu64 " bytes", MAXIMUM_TENSOR_BYTES);
    if (outputs > MAXIMUM_PIXELS)
        return refuse(work, "an output of %" PRIu64 " pixels; at most %" PRIu64 " are costed", outputs, MAXIMUM_PIXELS);
    return true;
}

/* A convolution that reads its whole input is one of a single pixel. */
static void flatten(const struct work *work)
{
    const struct dory_cost_layer *l = work->layer;
    struct dory_layer *record = &work->costed->record;
    uint64_t elements = (uint64_t)l->height * l->width * l->channels;
    bool whole = l->operation == DORY_COST_LINEAR ||
                 (record->operation == DORY_CONVOLUTION && l->kernel_height == l->height && l->kernel_width == l->width &&
                  record->output_height == 1 && record->output_width == 1 && l->padding_top == 0 && l->padding_left == 0);
    if (!whole || elements > UINT16_MAX)
        return;
    record->input_channels = (uint16_t)elements;
    record->input_height = record->input_width = record->output_height = record->output_width = 1;
    record->kernel_height = record->kernel_width = record->stride_height = record->stride_width = 1;
}

/* ---- operation ---- */

static bool set_convolution(const struct work *work)
{
    const struct dory_cost_layer *l = work->layer;
    struct dory_layer *record = &work->costed->record;
    bool depthwise =
        l->groups > 1 && l->groups == record->input_channels && l->groups == record->output_channels && l->input_bits >= 8;
    if (l->groups == 0 || record->input_channels % l->groups != 0 || record->output_channels % l->groups != 0)
        return refuse(work, "%" PRIu32 " groups do not divide %u and %u channels", l->groups, record->input_channels,
                      record->output_channels);
    if (l->operation == DORY_COST_LINEAR && l->groups != 1)
        return refuse(work, "a linear layer has no groups");
    if (l->operation == DORY_COST_LINEAR && (uint64_t)l->height * l->width * l->channels > UINT16_MAX)
        return refuse(work, "a linear layer reads at most 65535 elements");
    record->operation = l->groups == 1 ? DORY_CONVOLUTION : depthwise ? DORY_DEPTHWISE : DORY_GROUPED;
    record->weight_bits = depthwise ? 8 : (uint8_t)l->weight_bits; /* of the blob */
    record->grouped.channels = (uint16_t)(record->operation == DORY_GROUPED ? l->channels / l->groups : 0);
    record->grouped.outputs = (uint16_t)(record->operation == DORY_GROUPED ? record->output_channels / l->groups : 0);
    if (l->input_bits == 32)
        return refuse(work, "elements of 32 bits cannot be convolved");
    return true;
}

static bool set_operation(const struct work *work)
{
    static const uint8_t plain[] = {
        [DORY_COST_MAXIMUM_POOL] = DORY_MAXIMUM_POOL,   [DORY_COST_AVERAGE_POOL] = DORY_AVERAGE_POOL,
        [DORY_COST_ADDITION] = DORY_ADDITION,           [DORY_COST_MULTIPLICATION] = DORY_MULTIPLICATION,
        [DORY_COST_CONCATENATION] = DORY_CONCATENATION, [DORY_COST_TABLE] = DORY_TABLE,
    };
    const struct dory_cost_layer *l = work->layer;
    struct dory_layer *record = &work->costed->record;
    if (!has_window(l) && !has_plain_window(l))
        return refuse(work, "this operation has no kernel, stride or padding");
    if (has_weights(l))
        return set_convolution(work);
    record->operation = plain[l->operation];
    if (l->groups != 1)
        return refuse(work, "only convolutions have groups");
    if (record->operation == DORY_CONCATENATION && record->output_channels <= record->input_channels)
        return refuse(work, "a concatenation has more outputs than channels: those of both inputs");
    if (record->operation != DORY_CONCATENATION && record->output_channels != record->input_channels)
        return refuse(work, "%u channels in, %u out: this operation has as many", record->input_channels,
                      record->output_channels);
    return true;
}

/* ---- arithmetic ---- */

static const struct form {
    uint8_t normalisation, shift, rounding;
    uint32_t reciprocal;
} forms[] = {
    [DORY_COST_NORMALISE_NONE] = {DORY_NORMALISE_NONE, 0, 0, 0},
    [DORY_COST_NORMALISE_SHIFT_32] = {DORY_NORMALISE_32, 16, 0, 0},
    [DORY_COST_NORMALISE_SHIFT_64] = {DORY_NORMALISE_64, 24, 0, 0},
    [DORY_COST_NORMALISE_DIVIDE] = {DORY_NORMALISE_DIVIDE, 0, 0, 0},
    [DORY_COST_NORMALISE_CLAMPED] = {DORY_NORMALISE_CLAMPED, 16, 0, 0},
    [DORY_COST_NORMALISE_CLAMPED_DIVIDED] = {DORY_NORMALISE_CLAMPED, 15, 0, 0xC0000001u},
    [DORY_COST_NORMALISE_HIGH] = {DORY_NORMALISE_HIGH, 8, DORY_ROUND_FLOOR, 0},
    [DORY_COST_NORMALISE_HIGH_AWAY] = {DORY_NORMALISE_HIGH, 8, DORY_ROUND_AWAY, 0},
    [DORY_COST_NORMALISE_HIGH_EVEN] = {DORY_NORMALISE_HIGH, 8, DORY_ROUND_EVEN, 0},
    [DORY_COST_NORMALISE_SHARED] = {DORY_NORMALISE_SHARED, 8, DORY_ROUND_AWAY, 0},
};

static bool is_width(uint32_t bits) { return bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 32; }

static void set_stages(struct costed_layer *costed)
{
    const struct dory_stage plain = {.multiplier = 1, .divisor = 1, .minimum = INT32_MIN, .maximum = INT32_MAX};
    struct dory_stages *stages = &costed->stages;
    *stages = (struct dory_stages){.input = {plain, plain}, .first = plain, .second = plain};
    stages->first.divisor = costed->record.normalisation == DORY_NORMALISE_NONE     ? 1
                            : costed->record.normalisation == DORY_NORMALISE_DIVIDE ? 3
                                                                                    : 1 << 16;
    costed->record.stages = stages;
}

/* To what the output's elements hold. */
static void set_clip(const struct dory_cost_layer *layer, struct dory_layer *record)
{
    int64_t values = (int64_t)1 << layer->output_bits, least = layer->output_is_signed ? -values / 2 : 0;
    record->minimum = layer->output_bits < 32 ? (int32_t)least : INT32_MIN;
    record->maximum = layer->output_bits < 32 ? (int32_t)(least + values - 1) : INT32_MAX;
}

static bool set_arithmetic(const struct work *work)
{
    const struct dory_cost_layer *l = work->layer;
    struct dory_layer *record = &work->costed->record;
    const struct form *form = &forms[l->normalisation];
    bool weight_width = is_width(l->weight_bits) && l->weight_bits <= 8;
    if (!is_width(l->input_bits) || !is_width(l->output_bits) || !weight_width)
        return refuse(work, "elements have 2, 4, 8, 16 or 32 bits, weights 2, 4 or 8");
    record->input_bits = record->second_input_bits = (uint8_t)l->input_bits;
    record->output_bits = (uint8_t)l->output_bits;
    record->input_is_signed = record->second_input_is_signed = l->input_is_signed != 0;
    record->output_is_signed = l->output_is_signed != 0;
    record->normalisation = form->normalisation;
    record->shift = form->shift;
    record->rounding = form->rounding;
    record->left_shift = form->normalisation == DORY_NORMALISE_HIGH || form->normalisation == DORY_NORMALISE_SHARED;
    record->reciprocal = form->reciprocal;
    record->divisor = 3;
    set_clip(l, record);
    record->input_layout = (uint8_t)l->input_layout;
    record->output_layout = (uint8_t)l->output_layout;
    if (!has_weights(l))
        set_stages(work->costed);
    return true;
}

/* ---- all of it ---- */

static uint64_t record_macs(const struct dory_layer *record)
{
    uint64_t reads = record->operation == DORY_CONVOLUTION ? record->input_channels
                     : record->operation == DORY_GROUPED   ? record->grouped.channels
                                                           : 1u;
    bool multiplies =
        record->operation == DORY_CONVOLUTION || record->operation == DORY_GROUPED || record->operation == DORY_DEPTHWISE;
    uint64_t outputs = (uint64_t)record->output_height * record->output_width * record->output_channels;
    return multiplies ? convolution_macs(outputs, reads, record->kernel_height, record->kernel_width) : 0;
}

static bool is_sound(const struct dory_cost_layer *l)
{
    return l->operation < DORY_COST_OPERATIONS && l->normalisation < DORY_COST_NORMALISATIONS &&
           l->input_layout < DORY_COST_LAYOUTS && l->output_layout < DORY_COST_LAYOUTS &&
           l->tile_table < DORY_COST_TILE_TABLES && l->stride_height && l->stride_width && l->kernel_height &&
           l->kernel_width && l->dilation_height && l->dilation_width && l->stride_height <= UINT16_MAX &&
           l->stride_width <= UINT16_MAX && l->outputs <= UINT16_MAX;
}

bool describe_cost(const struct dory_cost_layer *layer, struct costed_layer *costed, char reason[DORY_COST_TEXT_BYTES])
{
    struct work work = {layer, costed, reason};
    *costed = (struct costed_layer){0};
    if (!is_sound(layer))
        return refuse(&work, "an operation, normalisation, layout, kernel, stride or dilation that there is not");
    if (layer->height == 0 || layer->width == 0 || layer->channels == 0 || layer->channels > UINT16_MAX)
        return refuse(&work, "height, width and channels are needed");
    if (!set_sizes(&work) || !check_bytes(&work) || !set_operation(&work) || !set_arithmetic(&work))
        return false;
    flatten(&work);
    describe_rows_of_columns(&costed->record);
    costed->macs = record_macs(&costed->record);
    return true;
}
