#include "network_to_onnx.h"

#include <stdlib.h>

#include "onnx_writer.h"

/* ---- to what NEMO can say ---- */

static void set_constants(struct stage *stage, int count, bool positive, bool with_addend, struct arena *arena)
{
    int64_t *multiplier = arena_array(arena, int64_t, (size_t)count), *addend = arena_array(arena, int64_t, (size_t)count);
    for (int i = 0; i < count; i++) {
        int64_t k = stage->multiplier[stage->count == 1 ? 0 : i], lambda = stage->addend[stage->count == 1 ? 0 : i];
        multiplier[i] = (int64_t)(float)(positive ? llabs(k) + (k == 0) : k);
        addend[i] = with_addend ? (int64_t)(float)lambda : 0;
    }
    stage->count = count;
    stage->multiplier = multiplier;
    stage->addend = addend;
    stage->divisor = (int64_t)(float)stage->divisor;
}

static void set_one(struct stage *stage, struct arena *arena)
{
    int64_t *one = arena_array(arena, int64_t, 1);
    *one = 1;
    stage->count = 1;
    stage->multiplier = one;
    stage->addend = arena_array(arena, int64_t, 1);
}

static void conform_convolution(struct layer *layer, int channels, struct arena *arena)
{
    struct stage *stage = &layer->stages[0];
    if (layer->stage_count == 0)
        return;
    set_constants(stage, channels, false, true, arena);
    if (!stage->has_clip)
        return;
    stage->minimum = 0;
    stage->maximum = 255;
}

/* A sum of two products fits 32 bits. */
static void limit_multiplier(struct stage *stage, struct arena *arena)
{
    int64_t *multiplier = arena_array(arena, int64_t, 1);
    *multiplier = stage->multiplier[0] % 30000 + 1;
    stage->multiplier = multiplier;
}

static void conform(struct network *network, struct layer *layer, struct arena *arena)
{
    switch (layer->kind) {
    case LAYER_CONVOLUTION: conform_convolution(layer, network->tensors[layer->output].channels, arena); break;
    case LAYER_CONCATENATION:
    case LAYER_MAXIMUM_POOL: layer->stage_count = 0; break;
    case LAYER_AVERAGE_POOL:
        set_constants(&layer->stages[0], 1, true, false, arena);
        layer->stages[0].has_clip = false;
        break;
    case LAYER_ADDITION:
        for (int i = 0; i < 2; i++) {
            set_constants(&layer->input_stages[i], 1, true, false, arena);
            limit_multiplier(&layer->input_stages[i], arena);
            layer->input_stages[i].divisor = 1;
            layer->input_stages[i].has_clip = false;
        }
        set_one(&layer->stages[0], arena);
        layer->stages[0].divisor = (int64_t)(float)layer->stages[0].divisor;
        layer->stages[0].has_clip = false;
        layer->stage_count = 1;
        break;
    default: break;
    }
}

/* ---- nodes ---- */

static void write_matrix_product(const struct onnx_writer *writer, const struct layer *layer, const char *sum)
{
    const char *flat = NAME(writer, "%s.flat", sum), *weights = NAME(writer, "%s.weights", sum), *bias = "";
    write_weights(writer, layer, weights, 2);
    onnx_add_node(writer->builder, "Flatten", tensor_name(writer, layer->inputs[0]), flat);
    if (layer->stage_count && !layer->stages[0].has_clip) {
        bias = NAME(writer, " %s.bias", sum);
        onnx_add_initialiser(writer->builder, bias + 1, 1, SHAPE(layer->stages[0].count), layer->stages[0].addend);
    }
    onnx_node *node = onnx_add_node(writer->builder, "Gemm", NAME(writer, "%s %s%s", flat, weights, bias), sum);
    onnx_set_integer(writer->builder, node, "transB", 1);
}

/* Only at the end: behind a flattened tensor there is nothing but another one. */
static bool is_matrix_product(const struct network *network, const struct layer *layer)
{
    return layer_reads_whole_input(network, layer) && layer->output == network->outputs[0];
}

static void write_convolution(const struct onnx_writer *writer, const struct layer *layer)
{
    const char *output = tensor_name(writer, layer->output);
    bool is_matrix = is_matrix_product(writer->network, layer), normalised = layer->stage_count && layer->stages[0].has_clip;
    const char *sum = normalised ? NAME(writer, "%s.sum", output) : output;
    if (is_matrix)
        write_matrix_product(writer, layer, sum);
    else
        write_convolution_node(writer, layer, tensor_name(writer, layer->inputs[0]), sum, false);
    if (normalised)
        onnx_add_nemo_normalisation(writer->builder, sum, output, is_matrix ? 2 : 4, layer->stages[0].count,
                                    layer->stages[0].multiplier, layer->stages[0].addend, 1, layer->stages[0].divisor);
}

/* `value` times a constant. Returns the product's name. */
static const char *write_product(const struct onnx_writer *writer, const char *value, const char *name, int64_t factor)
{
    onnx_add_scalar(writer->builder, NAME(writer, "%s.factor", name), (double)factor);
    onnx_add_node(writer->builder, "Mul", NAME(writer, "%s %s.factor", value, name), name);
    return name;
}

static void write_quotient(const struct onnx_writer *writer, const char *value, const char *name, int64_t divisor)
{
    onnx_add_scalar(writer->builder, NAME(writer, "%s.divisor", name), (double)divisor);
    onnx_add_node(writer->builder, "Div", NAME(writer, "%s %s.divisor", value, name), NAME(writer, "%s.quotient", name));
    onnx_add_node(writer->builder, "Floor", NAME(writer, "%s.quotient", name), name);
}

static void write_average(const struct onnx_writer *writer, const struct layer *layer)
{
    const char *output = tensor_name(writer, layer->output), *mean = NAME(writer, "%s.mean", output);
    onnx_node *node = onnx_add_node(writer->builder, "AveragePool", tensor_name(writer, layer->inputs[0]), mean);
    set_window(writer, node, layer, false);
    onnx_set_integer(writer->builder, node, "count_include_pad", 1);
    const char *sum =
        write_product(writer, mean, NAME(writer, "%s.sum", output), (int64_t)layer->kernel_height * layer->kernel_width);
    const char *scaled = write_product(writer, sum, NAME(writer, "%s.scaled", output), layer->stages[0].multiplier[0]);
    write_quotient(writer, scaled, output, layer->stages[0].divisor);
}

static void write_addition(const struct onnx_writer *writer, const struct layer *layer)
{
    const char *output = tensor_name(writer, layer->output), *terms[2];
    for (int i = 0; i < 2; i++)
        terms[i] = write_product(writer, tensor_name(writer, layer->inputs[i]), NAME(writer, "%s.term%d", output, i),
                                 layer->input_stages[i].multiplier[0]);
    onnx_add_node(writer->builder, "Add", NAME(writer, "%s %s", terms[0], terms[1]), NAME(writer, "%s.total", output));
    write_quotient(writer, NAME(writer, "%s.total", output), output, layer->stages[0].divisor);
}

static void write_layer(const struct onnx_writer *writer, const struct layer *layer)
{
    switch (layer->kind) {
    case LAYER_CONVOLUTION: write_convolution(writer, layer); break;
    case LAYER_AVERAGE_POOL: write_average(writer, layer); break;
    case LAYER_ADDITION: write_addition(writer, layer); break;
    case LAYER_MAXIMUM_POOL:
        set_window(writer,
                   onnx_add_node(writer->builder, "MaxPool", tensor_name(writer, layer->inputs[0]),
                                 tensor_name(writer, layer->output)),
                   layer, false);
        break;
    default: break; /* what integer ONNX models of NEMO do not have, random networks do not either */
    }
}

struct onnx_builder *network_to_onnx(struct network *network, struct arena *arena)
{
    struct onnx_writer writer = {.builder = onnx_builder_make(9), .network = network, .arena = arena};
    write_input(&writer, network->inputs[0]);
    for (int i = 0; i < network->layer_count; i++) {
        conform(network, &network->layers[i], arena);
        write_layer(&writer, &network->layers[i]);
    }
    onnx_add_output(writer.builder, tensor_name(&writer, network->outputs[0]));
    return writer.builder;
}
