#include "onnx_writer.h"

const struct tensor *tensor_at(const struct onnx_writer *writer, int tensor) { return &writer->network->tensors[tensor]; }

const char *tensor_name(const struct onnx_writer *writer, int tensor) { return tensor_at(writer, tensor)->name; }

void write_input(const struct onnx_writer *writer, int tensor)
{
    const struct tensor *input = tensor_at(writer, tensor);
    onnx_add_input(writer->builder, input->name, 4, SHAPE(1, input->channels, input->height, input->width));
}

/* Attributes of one number a dimension, of which 1-D layers have the last only. */
static void set_dimensions(const struct onnx_writer *writer, onnx_node *node, const char *name, bool is_1d,
                           const int64_t *numbers)
{
    onnx_set_integers(writer->builder, node, name, is_1d ? 1 : 2, is_1d ? numbers + 1 : numbers);
}

void set_window(const struct onnx_writer *writer, onnx_node *node, const struct layer *layer, bool is_1d)
{
    set_dimensions(writer, node, "kernel_shape", is_1d, SHAPE(layer->kernel_height, layer->kernel_width));
    set_dimensions(writer, node, "strides", is_1d, SHAPE(layer->stride_height, layer->stride_width));
    if (is_1d)
        onnx_set_integers(writer->builder, node, "pads", 2, SHAPE(layer->padding_left, layer->padding_right));
    else
        onnx_set_integers(writer->builder, node, "pads", 4,
                          SHAPE(layer->padding_top, layer->padding_left, layer->padding_bottom, layer->padding_right));
}

void write_weights(const struct onnx_writer *writer, const struct layer *layer, const char *name, int dimensions)
{
    int64_t outputs = tensor_at(writer, layer->output)->channels;
    int64_t inputs = tensor_at(writer, layer->inputs[0])->channels / layer->groups;
    int64_t taps = (int64_t)layer->kernel_height * layer->kernel_width;
    int64_t *numbers = arena_array(writer->arena, int64_t, (size_t)(outputs * inputs * taps));
    for (int64_t i = 0; i < outputs * inputs * taps; i++)
        numbers[i] = layer->weights[i];
    const int64_t *shape = dimensions == 2   ? SHAPE(outputs, inputs * taps)
                           : dimensions == 3 ? SHAPE(outputs, inputs, layer->kernel_width)
                                             : SHAPE(outputs, inputs, layer->kernel_height, layer->kernel_width);
    onnx_add_initialiser(writer->builder, name, dimensions, shape, numbers);
}

onnx_node *write_convolution_node(const struct onnx_writer *writer, const struct layer *layer, const char *value,
                                  const char *sum, bool is_1d)
{
    const char *weights = NAME(writer, "%s.weights", sum);
    write_weights(writer, layer, weights, is_1d ? 3 : 4);
    onnx_node *node = onnx_add_node(writer->builder, "Conv", NAME(writer, "%s %s", value, weights), sum);
    set_window(writer, node, layer, is_1d);
    set_dimensions(writer, node, "dilations", is_1d, SHAPE(layer->dilation_height, layer->dilation_width));
    onnx_set_integer(writer->builder, node, "group", layer->groups);
    return node;
}
