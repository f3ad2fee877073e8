#include "values/ties.h"

#include <string.h>

#include "network/interpret.h"
#include "network/stage.h"

struct finder {
    const struct network *network;
    int64_t *const *values; /* of the model */
    int64_t **marks;        /* the result */
    struct arena *arena;
    struct diagnostics *diagnostics;
};

/* ---- ties ---- */

/* The layer without its stages, whose output are its accumulators. */
static bool accumulate(const struct finder *finder, int index, int64_t *accumulators)
{
    struct network bare = *finder->network;
    struct arena scratch = {0};
    int64_t **tensors = arena_array(&scratch, int64_t *, (size_t)bare.tensor_count);
    struct layer *layers = arena_array(&scratch, struct layer, (size_t)bare.layer_count);
    layers[index] = bare.layers[index];
    layers[index].stage_count = 0;
    bare.layers = layers;
    memcpy(tensors, finder->values, (size_t)bare.tensor_count * sizeof *tensors);
    tensors[layers[index].output] = accumulators;
    bool is_done = interpret_layer(&bare, index, tensors, finder->diagnostics);
    arena_free(&scratch);
    return is_done;
}

static bool mark_ties(const struct finder *finder, int index)
{
    const struct layer *layer = &finder->network->layers[index];
    const struct tensor *output = &finder->network->tensors[layer->output];
    struct arena scratch = {0};
    size_t count = tensor_elements(output);
    bool is_good = true;
    if (layer->stage_count > 0 && layer->stages[0].rounding == ROUND_HALF_EVEN) {
        int64_t *accumulators = arena_array(&scratch, int64_t, count);
        is_good = accumulate(finder, index, accumulators);
        for (size_t i = 0; is_good && i < count; i++)
            if (stage_is_tie(&layer->stages[0], (int)(i % (size_t)output->channels), accumulators[i]))
                finder->marks[layer->output][i] = 1;
    }
    arena_free(&scratch);
    return is_good;
}

/* ---- what depends on them ---- */

/* A layer of the same shape whose output is above 0 where one of the marks that it reads is. */
static struct layer tracer_of(const struct finder *finder, int index, struct arena *scratch)
{
    struct layer layer = finder->network->layers[index];
    const struct tensor *input = &finder->network->tensors[layer.inputs[0]];
    const struct tensor *output = &finder->network->tensors[layer.output];
    layer.stage_count = 0;
    layer.padding_value = 0;
    memset(layer.input_stages, 0, sizeof layer.input_stages);
    layer.factors[0] = layer.factors[1] = NULL;
    if (layer.kind == LAYER_CONVOLUTION) {
        size_t taps = (size_t)layer.kernel_height * (size_t)layer.kernel_width;
        size_t count = (size_t)output->channels * (size_t)(input->channels / layer.groups) * taps;
        int8_t *weights = arena_array(scratch, int8_t, count);
        memset(weights, 1, count);
        layer.weights = weights;
    } else if (layer.kind == LAYER_TABLE) {
        uint8_t *table = arena_array(scratch, uint8_t, 256);
        table[1] = 1;
        layer.table = table;
    } else if (layer.kind == LAYER_MULTIPLICATION || layer.kind == LAYER_SQUARED_DIFFERENCE) {
        layer.kind = LAYER_ADDITION;
    }
    return layer;
}

/* All of a pixel's input counts. */
static void trace_pixels(const struct tensor *input, const struct tensor *output, const int64_t *from, int64_t *to)
{
    size_t channels = (size_t)input->channels;
    for (size_t i = 0; i < tensor_elements(output); i++) {
        const int64_t *pixel = from + i / (size_t)output->channels * channels;
        for (size_t c = 0; c < channels; c++)
            to[i] |= pixel[c];
    }
}

static int64_t any_of(const int64_t *marks, int count)
{
    int64_t any = 0;
    for (int i = 0; i < count; i++)
        any |= marks[i];
    return any;
}

/* All elements of both factors count. */
static void trace_matrix_product(const struct finder *finder, const struct layer *layer, int64_t *to)
{
    const struct tensor *output = &finder->network->tensors[layer->output];
    const int64_t *first = finder->marks[layer->inputs[0]], *second = finder->marks[layer->inputs[1]];
    int terms = finder->network->tensors[layer->inputs[0]].channels;
    for (int row = 0; row < output->height; row++)
        for (int column = 0; column < output->width; column++, first += terms)
            for (int c = 0; c < output->channels; c++)
                *to++ = any_of(first, terms) |
                        any_of(second + ((size_t)row * (size_t)output->channels + (size_t)c) * (size_t)terms, terms);
}

/* All that both inputs have counts for all of the output. */
static void trace_lstm(const struct finder *finder, const struct layer *layer, int64_t *to)
{
    const struct tensor *tensors = finder->network->tensors;
    int64_t any = 0;
    for (int i = 0; i < 2; i++)
        any |= any_of(finder->marks[layer->inputs[i]], (int)tensor_elements(&tensors[layer->inputs[i]]));
    for (size_t i = 0; i < tensor_elements(&tensors[layer->output]); i++)
        to[i] = any;
}

static bool trace_layer(const struct finder *finder, int index)
{
    struct network traced = *finder->network;
    const struct layer *layer = &traced.layers[index];
    const struct tensor *output = &traced.tensors[layer->output];
    int64_t *marks = finder->marks[layer->output];
    for (int i = 0; i < layer_input_count(layer); i++)
        interpret_view(&traced, layer->inputs[i], finder->marks);
    if (layer->kind == LAYER_SOFTMAX || layer->kind == LAYER_LARGEST || layer->kind == LAYER_NORM) {
        for (int i = 0; i < layer_input_count(layer); i++)
            trace_pixels(&traced.tensors[layer->inputs[i]], output, finder->marks[layer->inputs[i]], marks);
        return true;
    }
    if (layer->kind == LAYER_MATRIX_PRODUCT) {
        trace_matrix_product(finder, layer, marks);
        return true;
    }
    if (layer->kind == LAYER_LSTM) {
        trace_lstm(finder, layer, marks);
        return true;
    }
    struct arena scratch = {0};
    struct layer *layers = arena_array(&scratch, struct layer, (size_t)traced.layer_count);
    int64_t **tensors = arena_array(&scratch, int64_t *, (size_t)traced.tensor_count);
    memcpy(tensors, finder->marks, (size_t)traced.tensor_count * sizeof *tensors);
    layers[index] = tracer_of(finder, index, &scratch);
    traced.layers = layers;
    bool is_done = interpret_layer(&traced, index, tensors, finder->diagnostics);
    for (size_t i = 0; i < tensor_elements(output); i++)
        marks[i] = marks[i] != 0;
    arena_free(&scratch);
    return is_done;
}

static bool trace(const struct finder *finder, int index)
{
    bool is_done = trace_layer(finder, index) && mark_ties(finder, index);
    interpret_result(finder->network, index, finder->marks);
    return is_done;
}

int64_t **ties_find(const struct network *network, int64_t *const *tensors, struct arena *arena,
                    struct diagnostics *diagnostics)
{
    struct finder finder = {network, tensors, interpret_allocate(network, arena), arena, diagnostics};
    for (int i = 0; i < network->layer_count; i++)
        if (!trace(&finder, i))
            return NULL;
    return finder.marks;
}
