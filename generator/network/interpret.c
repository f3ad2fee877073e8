#include "network/interpret.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/terminal.h"
#include "network/interpret_moves.h"
#include "network/stage.h"

/* ---- stages ---- */

/* The frequent case, which saves the wide division. */
static bool floor_narrowly(const struct stage *stage, int index, int64_t x, int64_t *y)
{
    int64_t sum;
    if (stage->rounding != ROUND_FLOOR || __builtin_mul_overflow(stage->multiplier[index], x, &sum) ||
        __builtin_add_overflow(sum, stage->addend[index], &sum))
        return false;
    if ((stage->divisor & (stage->divisor - 1)) == 0)
        sum >>= __builtin_ctzll((unsigned long long)stage->divisor); /* arithmetic, as gcc and clang define it */
    else
        sum = floor_divide(sum, stage->divisor);
    *y = stage->has_clip ? clamp(sum, stage->minimum, stage->maximum) : sum;
    return true;
}

bool interpret_stage(const struct stage *stage, int channel, int64_t x, int64_t *y)
{
    if (floor_narrowly(stage, stage->count == 1 ? 0 : channel, x, y) || stage_apply_narrowly(stage, channel, x, y))
        return true;
    wide number = stage_apply(stage, channel, x);
    *y = (int64_t)number;
    return number >= INT64_MIN && number <= INT64_MAX;
}

/* All stages of a layer on all elements, in place. */
static bool apply_stages(const struct layer *layer, int64_t *values, size_t pixels, int channels)
{
    for (int i = 0; i < layer->stage_count; i++)
        for (size_t pixel = 0; pixel < pixels; pixel++)
            for (int c = 0; c < channels; c++) {
                int64_t *value = &values[pixel * (size_t)channels + (size_t)c];
                if (!interpret_stage(&layer->stages[i], c, *value, value))
                    return false;
            }
    return true;
}

/* ---- pools ---- */

struct range {
    int64_t first, end; /* positions in the kernel */
};

/* The part of a kernel that meets the image. */
static struct range inside(int64_t start, int kernel, int dilation, int size)
{
    struct range range = {0, kernel};
    if (start < 0)
        range.first = (-start + dilation - 1) / dilation;
    if (start + (int64_t)(kernel - 1) * dilation >= size)
        range.end = start >= size ? 0 : (size - 1 - start) / dilation + 1;
    return range;
}

static bool accumulate(enum layer_kind kind, int64_t *accumulator, int64_t value)
{
    if (kind == LAYER_AVERAGE_POOL)
        return !__builtin_add_overflow(*accumulator, value, accumulator);
    *accumulator = value > *accumulator ? value : *accumulator;
    return true;
}

static bool pool_pixel(const struct layer *layer, const struct tensor *input, const int64_t *x, int row, int column,
                       int64_t *y)
{
    int64_t top = (int64_t)row * layer->stride_height - layer->padding_top;
    int64_t left = (int64_t)column * layer->stride_width - layer->padding_left;
    struct range rows = inside(top, layer->kernel_height, layer->dilation_height, input->height);
    struct range columns = inside(left, layer->kernel_width, layer->dilation_width, input->width);
    for (int c = 0; c < input->channels; c++)
        y[c] = layer->kind == LAYER_AVERAGE_POOL ? 0 : INT64_MIN;
    for (int64_t ky = rows.first; ky < rows.end; ky++)
        for (int64_t kx = columns.first; kx < columns.end; kx++) {
            int64_t pixel = (top + ky * layer->dilation_height) * input->width + left + kx * layer->dilation_width;
            for (int c = 0; c < input->channels; c++)
                if (!accumulate(layer->kind, &y[c], x[pixel * input->channels + c]))
                    return false;
        }
    return true;
}

static bool pool(const struct layer *layer, const struct tensor *input, const struct tensor *output, const int64_t *x,
                 int64_t *y)
{
    for (int row = 0; row < output->height; row++)
        for (int column = 0; column < output->width; column++, y += output->channels)
            if (!pool_pixel(layer, input, x, row, column, y))
                return false;
    return true;
}

/* ---- additions and multiplications ---- */

static bool through_input_stage(const struct stage *stage, int channel, int64_t x, int64_t *y)
{
    *y = x;
    return stage->count == 0 || interpret_stage(stage, channel, x, y);
}

static int64_t high_product(const struct layer *layer, const int64_t elements[2])
{
    return (int64_t)layer->factors[0][elements[0]] * layer->factors[1][elements[1]] >> 32;
}

static bool combine_terms(enum layer_kind kind, const int64_t terms[2], int64_t *y)
{
    int64_t sum;
    switch (kind) {
    case LAYER_ADDITION: return !__builtin_add_overflow(terms[0], terms[1], y);
    case LAYER_MULTIPLICATION: return !__builtin_mul_overflow(terms[0], terms[1], y);
    default: return !__builtin_add_overflow(terms[0], terms[1], &sum) && !__builtin_mul_overflow(sum, sum, y);
    }
}

/* Terms of an addition, or factors of a multiplication, and what becomes of them. */
static bool combine(const struct network *network, const struct layer *layer, int64_t *const *tensors)
{
    const struct tensor *output = &network->tensors[layer->output];
    struct operand_repeat repeat = layer_second_repeats(output, &network->tensors[layer->inputs[1]]);
    size_t count = tensor_elements(output), channels = (size_t)output->channels;
    const int64_t *x0 = tensors[layer->inputs[0]], *x1 = tensors[layer->inputs[1]];
    int64_t *y = tensors[layer->output], terms[2];
    for (size_t i = 0; i < count; i++) {
        size_t pixel = repeat.pixel ? 0 : i / channels, channel = i % channels;
        size_t at = repeat.channel ? pixel : pixel * channels + channel;
        if (layer->factors[0]) {
            y[i] = high_product(layer, (const int64_t[]){x0[i], x1[at]});
            continue;
        }
        if (!through_input_stage(&layer->input_stages[0], (int)channel, x0[i], &terms[0]) ||
            !through_input_stage(&layer->input_stages[1], (int)channel, x1[at], &terms[1]) ||
            !combine_terms(layer->kind, terms, &y[i]))
            return false;
    }
    return true;
}

/* ---- matrix product ---- */

/* x1 has `terms` elements for each output. */
static bool multiply_row(const struct layer *layer, int terms, int outputs, const int64_t *x0, const int64_t *x1, int64_t *y)
{
    for (int c = 0; c < outputs; c++, x1 += terms) {
        y[c] = 0;
        for (int k = 0; k < terms; k++) {
            int64_t factors[2], product;
            if (!through_input_stage(&layer->input_stages[0], 0, x0[k], &factors[0]) ||
                !through_input_stage(&layer->input_stages[1], 0, x1[k], &factors[1]) ||
                __builtin_mul_overflow(factors[0], factors[1], &product) || __builtin_add_overflow(y[c], product, &y[c]))
                return false;
        }
    }
    return true;
}

static bool multiply_matrices(const struct network *network, const struct layer *layer, int64_t *const *tensors)
{
    const struct tensor *output = &network->tensors[layer->output];
    int terms = network->tensors[layer->inputs[0]].channels;
    const int64_t *x0 = tensors[layer->inputs[0]], *x1 = tensors[layer->inputs[1]];
    int64_t *y = tensors[layer->output];
    for (int row = 0; row < output->height; row++, x1 += (size_t)output->channels * (size_t)terms)
        for (int column = 0; column < output->width; column++, x0 += terms, y += output->channels)
            if (!multiply_row(layer, terms, output->channels, x0, x1, y))
                return false;
    return true;
}

/* ---- tables ---- */

static bool look_up(const struct layer *layer, const struct tensor *output, const int64_t *x, int64_t *y)
{
    size_t count = tensor_elements(output);
    for (size_t i = 0; i < count; i++)
        y[i] = layer->table[(uint8_t)x[i]];
    return true;
}

/* ---- concatenation ---- */

static bool copy_channels(const struct stage *stage, const int64_t *from, int channels, int64_t *to)
{
    for (int c = 0; c < channels; c++) {
        to[c] = from[c];
        if (stage->count && !interpret_stage(stage, c, from[c], &to[c]))
            return false;
    }
    return true;
}

static bool concatenate(const struct network *network, const struct layer *layer, int64_t *const *tensors)
{
    const struct tensor *output = &network->tensors[layer->output];
    int64_t *y = tensors[layer->output];
    int first[2] = {0, network->tensors[layer->inputs[0]].channels};
    for (int i = 0; i < 2; i++) {
        int channels = network->tensors[layer->inputs[i]].channels;
        const int64_t *x = tensors[layer->inputs[i]];
        for (int pixel = 0; pixel < output->height * output->width; pixel++)
            if (!copy_channels(&layer->input_stages[i], x + (size_t)pixel * (size_t)channels, channels,
                               y + (size_t)pixel * (size_t)output->channels + first[i]))
                return false;
    }
    return true;
}

/* ---- layers ---- */

static bool compute(const struct network *network, const struct layer *layer, int64_t *const *tensors)
{
    const struct tensor *input = &network->tensors[layer->inputs[0]], *output = &network->tensors[layer->output];
    const int64_t *x = tensors[layer->inputs[0]];
    int64_t *y = tensors[layer->output];
    switch (layer->kind) {
    case LAYER_CONVOLUTION: return interpret_convolution(layer, input, output, x, y);
    case LAYER_CONCATENATION: return concatenate(network, layer, tensors);
    case LAYER_TABLE: return look_up(layer, output, x, y);
    case LAYER_COPY: return interpret_copy(layer, output, x, y);
    case LAYER_INTERPOLATION: return interpret_interpolation(layer, input, output, x, y);
    case LAYER_LARGEST: return interpret_largest(input, x, y);
    case LAYER_LSTM: return interpret_lstm(layer->lstm, x, tensors[layer->inputs[1]], y);
    case LAYER_NORM: return interpret_norm(layer->norm, output, x, layer->norm->roots ? tensors[layer->inputs[1]] : NULL, y);
    case LAYER_SOFTMAX: return interpret_softmax(layer, output, x, y);
    case LAYER_SQUARED_DIFFERENCE:
    case LAYER_MULTIPLICATION:
    case LAYER_ADDITION: return combine(network, layer, tensors);
    case LAYER_MATRIX_PRODUCT: return multiply_matrices(network, layer, tensors);
    default: return pool(layer, input, output, x, y);
    }
}

/* Where an element of a view, in HWC order, lies in its home. */
static size_t element_of_home(const struct tensor *tensor, size_t element)
{
    const struct tensor_view *view = tensor->view;
    size_t channels = (size_t)tensor->channels, width = (size_t)tensor->width, pixel = element / channels;
    return (size_t)view->first + pixel / width * (size_t)view->row_step + pixel % width * (size_t)view->column_step +
           element % channels * (size_t)view->channel_step;
}

void interpret_view(const struct network *network, int index, int64_t *const *tensors)
{
    const struct tensor *tensor = &network->tensors[index];
    for (size_t i = 0; tensor->view && i < tensor_elements(tensor); i++)
        tensors[index][i] = tensors[tensor->view->of][element_of_home(tensor, i)];
}

void interpret_result(const struct network *network, int layer, int64_t *const *tensors)
{
    int output = network->layers[layer].output;
    const struct tensor *tensor = &network->tensors[output];
    for (size_t i = 0; tensor->view && i < tensor_elements(tensor); i++)
        tensors[tensor->view->of][element_of_home(tensor, i)] = tensors[output][i];
}

bool interpret_layer(const struct network *network, int index, int64_t *const *tensors, struct diagnostics *diagnostics)
{
    const struct layer *layer = &network->layers[index];
    const struct tensor *output = &network->tensors[layer->output];
    size_t pixels = (size_t)output->height * (size_t)output->width;
    for (int i = 0; i < layer_input_count(layer); i++)
        interpret_view(network, layer->inputs[i], tensors);
    if (compute(network, layer, tensors) && apply_stages(layer, tensors[layer->output], pixels, output->channels))
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, layer->name, NULL, "a value of layer %d exceeds 64 bits", index);
    return false;
}

int64_t **interpret_allocate(const struct network *network, struct arena *arena)
{
    int64_t **tensors = arena_array(arena, int64_t *, (size_t)network->tensor_count);
    for (int i = 0; i < network->tensor_count; i++)
        tensors[i] = arena_array(arena, int64_t, tensor_elements(&network->tensors[i]));
    return tensors;
}

int64_t **interpret_network(const struct network *network, const int64_t *const *inputs, struct arena *arena,
                            struct diagnostics *diagnostics)
{
    int64_t **tensors = interpret_allocate(network, arena);
    for (int i = 0; i < network->input_count; i++) {
        int input = network->inputs[i];
        memcpy(tensors[input], inputs[i], tensor_elements(&network->tensors[input]) * sizeof **tensors);
    }
    for (int i = 0; i < network->layer_count; i++) {
        progress_part(i, network->layer_count);
        if (!interpret_layer(network, i, tensors, diagnostics))
            return NULL;
        interpret_result(network, i, tensors);
    }
    return tensors;
}
