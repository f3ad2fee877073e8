#include "graph_to_onnx.h"

#include "onnx_writer.h"

static const char *new_name(struct onnx_writer *writer) { return NAME(writer, "value%d", writer->names++); }

/* ---- arithmetic ---- */

/* Int64 constants, so that nothing is rounded by the file. Returns the result's name. */
static const char *write_constant_node(struct onnx_writer *writer, const char *type, const char *value, int count,
                                       const int64_t *numbers)
{
    const char *result = new_name(writer), *constant = NAME(writer, "%s.constant", result);
    onnx_add_int64(writer->builder, constant, 4, SHAPE(1, count, 1, 1), numbers);
    onnx_add_node(writer->builder, type, NAME(writer, "%s %s", value, constant), result);
    return result;
}

/* Mul, Add, Div of integers, which rounds down, and Clip with Quantlab's out_bits. */
static const char *write_stage(struct onnx_writer *writer, const char *value, const struct stage *stage, int bits)
{
    if (stage->count == 0)
        return value;
    value = write_constant_node(writer, "Mul", value, stage->count, stage->multiplier);
    value = write_constant_node(writer, "Add", value, stage->count, stage->addend);
    value = write_constant_node(writer, "Div", value, 1, &stage->divisor);
    if (!stage->has_clip)
        return value;
    const char *result = new_name(writer);
    onnx_node *clip = onnx_add_node(writer->builder, "Clip", value, result);
    onnx_set_float(writer->builder, clip, "min", (float)stage->minimum);
    onnx_set_float(writer->builder, clip, "max", (float)stage->maximum);
    if (bits)
        onnx_set_integer(writer->builder, clip, "out_bits", bits);
    return result;
}

/* ---- layers ---- */

/* Of one row: written with tensors of rank 3, between Squeeze and Unsqueeze. */
static bool is_1d(const struct onnx_writer *writer, const struct layer *layer)
{
    return tensor_at(writer, layer->inputs[0])->height == 1 && layer->kernel_height == 1 && !layer->padding_top &&
           !layer->padding_bottom;
}

static const char *write_squeezed(struct onnx_writer *writer, const struct layer *layer)
{
    const char *value = tensor_name(writer, layer->inputs[0]), *result = new_name(writer);
    if (!is_1d(writer, layer))
        return value;
    onnx_set_integers(writer->builder, onnx_add_node(writer->builder, "Squeeze", value, result), "axes", 1, SHAPE(2));
    return result;
}

static const char *write_unsqueezed(struct onnx_writer *writer, const struct layer *layer, const char *value)
{
    const char *result = new_name(writer);
    if (!is_1d(writer, layer))
        return value;
    onnx_set_integers(writer->builder, onnx_add_node(writer->builder, "Unsqueeze", value, result), "axes", 1, SHAPE(2));
    return result;
}

/* A depth-wise kernel of a single 1: an importer's copy, which the file has as arithmetic, or as Pad. */
static bool is_copy(const struct onnx_writer *writer, const struct layer *layer)
{
    bool single =
        layer->kernel_height == 1 && layer->kernel_width == 1 && layer->stride_height == 1 && layer->stride_width == 1;
    if (layer->kind == LAYER_MAXIMUM_POOL)
        return single && !layer->padding_top && !layer->padding_left && !layer->padding_bottom && !layer->padding_right;
    if (layer->kind != LAYER_CONVOLUTION || !single || !layer_is_depthwise(writer->network, layer))
        return false;
    for (int i = 0; i < tensor_at(writer, layer->output)->channels; i++)
        if (layer->weights[i] != 1)
            return false;
    return true;
}

static const char *write_copy(struct onnx_writer *writer, const struct layer *layer)
{
    const char *value = tensor_name(writer, layer->inputs[0]);
    if (!layer->padding_top && !layer->padding_left && !layer->padding_bottom && !layer->padding_right)
        return value;
    const char *result = new_name(writer);
    onnx_set_integers(
        writer->builder, onnx_add_node(writer->builder, "Pad", value, result), "pads", 8,
        SHAPE(0, 0, layer->padding_top, layer->padding_left, 0, 0, layer->padding_bottom, layer->padding_right));
    return result;
}

static const char *write_convolution(struct onnx_writer *writer, const struct layer *layer)
{
    const char *result = new_name(writer), *value = write_squeezed(writer, layer);
    onnx_node *node = write_convolution_node(writer, layer, value, result, is_1d(writer, layer));
    onnx_set_integer(writer->builder, node, "weight_bits", layer->weight_bits);
    return write_unsqueezed(writer, layer, result);
}

static const char *write_pool(struct onnx_writer *writer, const struct layer *layer)
{
    const char *result = new_name(writer);
    bool average = layer->kind == LAYER_AVERAGE_POOL;
    onnx_node *node =
        onnx_add_node(writer->builder, average ? "AveragePool" : "MaxPool", write_squeezed(writer, layer), result);
    set_window(writer, node, layer, is_1d(writer, layer));
    if (average)
        onnx_set_integer(writer->builder, node, "count_include_pad", 1);
    result = write_unsqueezed(writer, layer, result);
    int64_t area = (int64_t)layer->kernel_height * layer->kernel_width;
    return average ? write_constant_node(writer, "Mul", result, 1, &area) : result;
}

static const char *write_two_inputs(struct onnx_writer *writer, const struct layer *layer)
{
    const char *terms[2], *result = new_name(writer);
    for (int i = 0; i < 2; i++)
        terms[i] = write_stage(writer, tensor_name(writer, layer->inputs[i]), &layer->input_stages[i], 0);
    bool addition = layer->kind == LAYER_ADDITION;
    onnx_node *node =
        onnx_add_node(writer->builder, addition ? "Add" : "Concat", NAME(writer, "%s %s", terms[0], terms[1]), result);
    if (!addition)
        onnx_set_integer(writer->builder, node, "axis", 1);
    return result;
}

/* The layer's output, by way of a node that changes no byte: another one for each tensor. */
static void write_unchanged(struct onnx_writer *writer, const char *value, int tensor)
{
    struct onnx_builder *builder = writer->builder;
    const struct tensor *t = tensor_at(writer, tensor);
    switch (tensor % 4) {
    case 0: onnx_add_node(builder, "Identity", value, t->name); break;
    case 1: onnx_add_node(builder, "Dropout", value, t->name); break;
    case 2:
        onnx_set_integers(builder, onnx_add_node(builder, "Transpose", value, t->name), "perm", 4, SHAPE(0, 1, 2, 3));
        break;
    default:
        onnx_add_int64(builder, NAME(writer, "%s.shape", t->name), 1, SHAPE(4), SHAPE(1, t->channels, -1, t->width));
        onnx_add_node(builder, "Reshape", NAME(writer, "%s %s.shape", value, t->name), t->name);
        break;
    }
}

static void write_layer(struct onnx_writer *writer, const struct layer *layer)
{
    const char *value;
    if (is_copy(writer, layer))
        value = write_copy(writer, layer);
    else if (layer->kind == LAYER_CONVOLUTION)
        value = write_convolution(writer, layer);
    else if (layer_has_two_inputs(layer))
        value = write_two_inputs(writer, layer);
    else
        value = write_pool(writer, layer);
    for (int i = 0; i < layer->stage_count; i++)
        value = write_stage(writer, value, &layer->stages[i], i == layer->stage_count - 1 ? layer->output_bits : 0);
    write_unchanged(writer, value, layer->output);
}

struct onnx_builder *graph_to_onnx(const struct network *network, struct arena *arena)
{
    struct onnx_writer writer = {.builder = onnx_builder_make(10), .network = network, .arena = arena};
    for (int i = 0; i < network->input_count; i++)
        write_input(&writer, network->inputs[i]);
    for (int i = 0; i < network->layer_count; i++)
        write_layer(&writer, &network->layers[i]);
    for (int i = 0; i < network->output_count; i++)
        onnx_add_output(writer.builder, tensor_name(&writer, network->outputs[i]));
    return writer.builder;
}
