/* Bytes as instructions for a graph: well-formed files, with nodes of all types in any order and attributes of any value,
 * through all passes. What a mutation of a file's bytes would seldom find. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_builder.h"
#include "pipeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#define MAXIMUM_NODES 24
#define NAME_LENGTH   16

struct instructions {
    const uint8_t *bytes;
    size_t left;
};

/* Zero when there are no more. */
static unsigned next_byte(struct instructions *from)
{
    if (from->left == 0)
        return 0;
    from->left--;
    return *from->bytes++;
}

static unsigned below(struct instructions *from, unsigned limit) { return next_byte(from) % limit; }

/* Small numbers most often, extremes now and then. */
static int64_t number(struct instructions *from)
{
    static const int64_t extremes[] = {INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX,    65535, 65536, -1, -128,
                                       127,       255,       1LL << 40, -(1LL << 40), 1000,  0,     1,  1LL << 62};
    unsigned byte = next_byte(from);
    return byte < 200 ? byte % 9 : byte < 230 ? (int64_t)next_byte(from) * (byte - 199) : extremes[byte % 16];
}

/* ---- names ---- */

static const char *tensor_name(char name[NAME_LENGTH], unsigned index)
{
    snprintf(name, NAME_LENGTH, "t%u", index);
    return name;
}

/* A tensor that there is already; the last ones most often. */
static const char *any_tensor(struct instructions *from, unsigned count, char name[NAME_LENGTH])
{
    unsigned byte = next_byte(from);
    unsigned index = byte < 180 ? count - 1 - byte % (count < 3 ? count : 3) : byte % count;
    return tensor_name(name, index);
}

/* ---- constants ---- */

#define MAXIMUM_NUMBERS 4096

static const char *add_numbers(struct instructions *from, struct onnx_builder *model, unsigned node, int rank,
                               const int64_t *dimensions, char name[NAME_LENGTH])
{
    static int64_t numbers[MAXIMUM_NUMBERS];
    size_t count = 1;
    snprintf(name, NAME_LENGTH, "c%u", node);
    for (int i = 0; i < rank; i++)
        count *= (size_t)dimensions[i];
    unsigned kind = next_byte(from), seed = next_byte(from);
    for (size_t i = 0; i < count && i < MAXIMUM_NUMBERS; i++)
        numbers[i] = kind < 100 ? (int64_t)(i * (seed | 1) % 15) - 7 : kind < 200 ? (int64_t)seed + 1 : number(from);
    if (count > MAXIMUM_NUMBERS)
        return "";
    if (kind % 2)
        onnx_add_int64(model, name, rank, dimensions, numbers);
    else
        onnx_add_initialiser(model, name, rank, dimensions, numbers);
    return name;
}

static int64_t extent(struct instructions *from) { return 1 + below(from, 7); }

/* ---- nodes ---- */

static void set_list(struct instructions *from, struct onnx_builder *model, onnx_node *node, const char *name, int count)
{
    int64_t list[8];
    for (int i = 0; i < count; i++)
        list[i] = number(from);
    onnx_set_integers(model, node, name, count, list);
}

static void set_window(struct instructions *from, struct onnx_builder *model, onnx_node *node, bool kernel)
{
    unsigned set = next_byte(from);
    int rank = set & 1 ? 1 : 2;
    if (kernel)
        set_list(from, model, node, "kernel_shape", rank);
    if (set & 2)
        set_list(from, model, node, "strides", rank);
    if (set & 4)
        set_list(from, model, node, "pads", 2 * rank);
    if (set & 8)
        set_list(from, model, node, "dilations", rank);
    if (set & 16)
        onnx_set_text(model, node, "auto_pad", set & 32 ? "SAME_UPPER" : "SAME_LOWER");
    if (set & 64)
        onnx_set_integer(model, node, "ceil_mode", 1);
    if (set & 128)
        onnx_set_integer(model, node, "count_include_pad", 1);
}

enum shape {
    TENSOR,
    TWO_TENSORS,
    THREE_TENSORS,
    WEIGHTS_4,
    WEIGHTS_3,
    MATRIX,
    BY_CHANNEL,
    SCALAR,
    AXES,
    SCALAR_TWICE,
    CHANNEL_TWICE
};

static const struct operation {
    const char *type;
    enum shape shape;
    bool window, kernel;
    const char *integer, *list; /* attributes, or null */
    int list_count;
} operations[] = {
    {"Conv", WEIGHTS_4, true, false, "group", NULL, 0},
    {"Conv", WEIGHTS_4, true, false, "weight_bits", NULL, 0},
    {"Conv", WEIGHTS_3, true, false, "group", NULL, 0},
    {"Gemm", MATRIX, false, false, "transB", NULL, 0},
    {"MatMul", MATRIX, false, false, NULL, NULL, 0},
    {"MaxPool", TENSOR, true, true, NULL, NULL, 0},
    {"AveragePool", TENSOR, true, true, NULL, NULL, 0},
    {"GlobalAveragePool", TENSOR, false, false, NULL, NULL, 0},
    {"GlobalMaxPool", TENSOR, false, false, NULL, NULL, 0},
    {"Pad", TENSOR, false, false, NULL, "pads", 8},
    {"Pad", TENSOR, false, false, "value", "pads", 8},
    {"ConvInteger", WEIGHTS_4, true, false, "group", NULL, 0},
    {"RequantShift", SCALAR_TWICE, false, false, "signed", NULL, 0},
    {"RequantShift", CHANNEL_TWICE, false, false, "signed", NULL, 0},
    {"Pad", TENSOR, false, false, NULL, "pads", 6},
    {"Mul", BY_CHANNEL, false, false, NULL, NULL, 0},
    {"Add", BY_CHANNEL, false, false, NULL, NULL, 0},
    {"Sub", BY_CHANNEL, false, false, NULL, NULL, 0},
    {"Mul", SCALAR, false, false, NULL, NULL, 0},
    {"Add", SCALAR, false, false, NULL, NULL, 0},
    {"Div", SCALAR, false, false, NULL, NULL, 0},
    {"Floor", TENSOR, false, false, NULL, NULL, 0},
    {"Cast", TENSOR, false, false, "to", NULL, 0},
    {"Clip", TENSOR, false, false, "out_bits", NULL, 0},
    {"Relu", TENSOR, false, false, NULL, NULL, 0},
    {"Add", TWO_TENSORS, false, false, "in1_mul", NULL, 0},
    {"Add", TWO_TENSORS, false, false, NULL, NULL, 0},
    {"Concat", TWO_TENSORS, false, false, "axis", NULL, 0},
    {"Concat", THREE_TENSORS, false, false, "axis", NULL, 0},
    {"Flatten", TENSOR, false, false, "axis", NULL, 0},
    {"Reshape", AXES, false, false, NULL, NULL, 0},
    {"Squeeze", AXES, false, false, NULL, NULL, 0},
    {"Unsqueeze", TENSOR, false, false, NULL, "axes", 1},
    {"Transpose", TENSOR, false, false, NULL, "perm", 4},
    {"Identity", TENSOR, false, false, NULL, NULL, 0},
    {"Dropout", TENSOR, false, false, NULL, NULL, 0},
    {"Shape", TENSOR, false, false, NULL, NULL, 0},
    {"Gather", SCALAR, false, false, "axis", NULL, 0},
    {"Sigmoid", TENSOR, false, false, NULL, NULL, 0},
};
#define OPERATIONS (sizeof operations / sizeof *operations)

/* Names of the inputs of a node, with the constants that they need. */
static void write_inputs(struct instructions *from, struct onnx_builder *model, const struct operation *operation,
                         unsigned node, unsigned tensors, char text[64])
{
    char a[NAME_LENGTH], b[NAME_LENGTH], c[NAME_LENGTH], constant[NAME_LENGTH];
    const char *second = "", *third = "";
    any_tensor(from, tensors, a);
    int64_t d[4] = {extent(from), extent(from), extent(from), extent(from)};
    switch (operation->shape) {
    case TENSOR: break;
    case THREE_TENSORS: third = any_tensor(from, tensors, c); /* fall through */
    case TWO_TENSORS: second = any_tensor(from, tensors, b); break;
    case WEIGHTS_4: second = add_numbers(from, model, node, 4, d, constant); break;
    case WEIGHTS_3: second = add_numbers(from, model, node, 3, d, constant); break;
    case MATRIX: second = add_numbers(from, model, node, 2, (int64_t[]){d[0] * d[1] * d[2], d[3]}, constant); break;
    case BY_CHANNEL: second = add_numbers(from, model, node, 4, (int64_t[]){1, d[0], 1, 1}, constant); break;
    case SCALAR: second = add_numbers(from, model, node, 0, d, constant); break;
    case SCALAR_TWICE: second = third = add_numbers(from, model, node, 0, d, constant); break;
    case CHANNEL_TWICE: second = third = add_numbers(from, model, node, 3, (int64_t[]){d[0], 1, 1}, constant); break;
    case AXES: second = add_numbers(from, model, node, 1, d, constant); break;
    }
    snprintf(text, 64, "%s%s%s%s%s", a, *second ? " " : "", second, *third ? " " : "", third);
}

static void add_node(struct instructions *from, struct onnx_builder *model, unsigned index, unsigned tensors)
{
    char inputs[64], output[NAME_LENGTH];
    const struct operation *operation = &operations[below(from, OPERATIONS)];
    write_inputs(from, model, operation, index, tensors, inputs);
    onnx_node *node = onnx_add_node(model, operation->type, inputs, tensor_name(output, tensors));
    if (operation->window)
        set_window(from, model, node, operation->kernel);
    if (operation->integer)
        onnx_set_integer(model, node, operation->integer, number(from));
    if (operation->list)
        set_list(from, model, node, operation->list, operation->list_count);
    if (!strcmp(operation->type, "Clip")) {
        onnx_set_float(model, node, "min", (float)number(from));
        onnx_set_float(model, node, "max", (float)number(from) + 100);
    }
    if (!strcmp(operation->type, "RequantShift")) {
        onnx_set_integer(model, node, "div", number(from));
        onnx_set_integer(model, node, "n_levels", (int64_t)(2 + (uint64_t)number(from)));
    }
    if (!strcmp(operation->type, "Add") && operation->integer) {
        onnx_set_integer(model, node, "in2_shift", number(from));
        onnx_set_integer(model, node, "out_n_levels", number(from));
    }
}

static struct onnx_builder *build(struct instructions *from)
{
    char name[NAME_LENGTH];
    struct onnx_builder *model = onnx_builder_make(7 + below(from, 8));
    unsigned inputs = 1 + below(from, 2), tensors = inputs, nodes = 1 + below(from, MAXIMUM_NODES);
    for (unsigned i = 0; i < inputs; i++) {
        int rank = 4 - (int)(next_byte(from) % 5 / 3);
        int64_t d[4] = {1, extent(from), extent(from) + extent(from), extent(from) + extent(from)};
        onnx_add_input(model, tensor_name(name, i), rank, d);
    }
    for (unsigned i = 0; i < nodes; i++)
        add_node(from, model, i, tensors++);
    onnx_add_output(model, tensor_name(name, tensors - 1));
    for (unsigned more = below(from, 3); more > 0; more--)
        onnx_add_output(model, any_tensor(from, tensors, name));
    return model;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct instructions from = {bytes, length};
    size_t model_length;
    unsigned choices = next_byte(&from);
    choices |= next_byte(&from) << 8;
    struct onnx_builder *model = build(&from);
    const uint8_t *packed = onnx_builder_pack(model, &model_length);
    pipeline_run(packed, model_length, choices);
    onnx_builder_free(model);
    return 0;
}
