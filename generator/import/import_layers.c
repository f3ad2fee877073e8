/* Conv, Gemm and MatMul: layers with weights. */
#include <inttypes.h>
#include <string.h>

#include "import/window.h"

/* ---- weights ---- */

static bool weights_constant(struct importer *importer, const struct node *node, const struct constant **constant)
{
    const struct flow *flow;
    if (!import_needs(importer, node, 1, &flow))
        return false;
    if (flow->kind != FLOW_CONSTANT)
        return import_fault(importer, node, "weights", "are computed by the network; supported: constant weights");
    *constant = flow->constant;
    return true;
}

/* Weights as [rows][columns] while they are read, in the order of the constant, and what was wrong with them. */
struct weights {
    int8_t *numbers;
    int64_t minimum, maximum;
    size_t step;             /* from one number of the constant to the next */
    size_t fractions, first; /* `first`: where the first of them is */
    size_t out_of_range;
    int64_t example; /* of those out of range */
};

#define PIECE 512 /* numbers that are read at once: there may be many millions */

/* `at`: the place of the piece's first number. Returns that behind its last. */
static size_t store_piece(struct weights *weights, const int64_t *numbers, size_t count, size_t all, size_t at)
{
    int8_t *to = weights->numbers;
    const size_t step = weights->step;
    const int64_t minimum = weights->minimum, maximum = weights->maximum;
    for (size_t i = 0; i < count; i++) {
        bool fits = numbers[i] >= minimum && numbers[i] <= maximum;
        if (!fits && weights->out_of_range++ == 0)
            weights->example = numbers[i];
        to[at] = (int8_t)(fits ? numbers[i] : 0);
        at += step;
        if (at >= all)
            at -= all - 1;
    }
    return at;
}

static void read_pieces(struct weights *weights, const struct constant *constant)
{
    int64_t numbers[PIECE];
    size_t all = constant->count, at = 0;
    for (size_t from = 0; from < all; from += PIECE) {
        size_t count = all - from < PIECE ? all - from : PIECE, first = 0;
        size_t fractions = constant_integers(constant, from, count, 0, numbers, &first);
        weights->first = weights->fractions ? weights->first : first;
        weights->fractions += fractions;
        at = store_piece(weights, numbers, count, all, at);
    }
}

/* `step`: 1, or the columns where the constant is [columns][rows]. All faults of a constant are one message. */
static const int8_t *read_weights(struct importer *importer, const struct node *node, const struct constant *constant,
                                  size_t step, int bits)
{
    int64_t minimum = -((int64_t)1 << (bits - 1)), maximum = -minimum - 1;
    struct weights weights = {
        .numbers = arena_allocate(importer->arena, constant->count), .minimum = minimum, .maximum = maximum, .step = step};
    if (!import_reads_type(importer, node, "weights", constant))
        return weights.numbers;
    read_pieces(&weights, constant);
    import_report_fractions(importer, node, "weights", constant, weights.fractions, weights.first);
    if (weights.out_of_range)
        import_fault(importer, node, "weights",
                     "constant '%s' holds %" PRId64 " (%zu of %zu numbers are out of range); supported: %" PRId64
                     " to %" PRId64 " for %d bits; quantise the weights to that before the export",
                     constant->name, weights.example, weights.out_of_range, constant->count, minimum, maximum, bits);
    return weights.numbers;
}

static bool weight_bits(struct importer *importer, const struct node *node, int *bits)
{
    int precision = importer->graph->values[node->inputs[1]].precision; /* the weights are a constant: they have a name */
    int64_t number = import_integer(importer, node, "weight_bits", precision && precision <= 8 ? precision : 8);
    if (number != 2 && number != 4 && number != 8)
        return import_fault(importer, node, "weight_bits", "is %" PRId64 "; supported: 2, 4, 8", number);
    *bits = (int)number;
    return true;
}

/* The third input: one number for each output channel. */
static bool add_bias(struct importer *importer, const struct node *node, struct flow *result, int channels)
{
    const struct flow *flow = import_input(importer, node, 2);
    if (!flow)
        return true;
    if (flow->kind != FLOW_CONSTANT)
        return flow->kind != FLOW_UNKNOWN &&
               import_fault(importer, node, "bias", "is computed by the network; supported: a constant bias");
    const struct constant *constant = flow->constant;
    if (constant->count != 1 && constant->count != (size_t)channels)
        return import_fault(importer, node, "bias", "has %zu numbers; supported: one for each of the %d output channels",
                            constant->count, channels);
    return flow_add(importer, node, result, import_whole_numbers(importer, node, "bias", constant, 0), (int)constant->count);
}

/* ---- convolution ---- */

static bool convolution_weights(struct importer *importer, const struct node *node, const struct flow *input,
                                const struct constant *constant)
{
    int rank = input->shape.rank;
    if (rank < 3)
        return import_fault(importer, node, NULL,
                            "Conv of a tensor of shape %s is not supported; supported: 1 or 2 spatial dimensions",
                            shape_text(importer, &input->shape));
    if (constant->rank != rank)
        return import_fault(importer, node, "weights", "have %d dimensions; expected %d for an input of shape %s",
                            constant->rank, rank, shape_text(importer, &input->shape));
    int64_t declared[2];
    if (!node_attribute(node, "kernel_shape"))
        return true;
    if (!import_integers(importer, node, "kernel_shape", rank - 2, 1, declared))
        return false;
    for (int i = 0; i < rank - 2; i++)
        if (declared[i] != constant->dimensions[2 + i])
            return import_fault(importer, node, "kernel_shape", "says %" PRId64 ", the weights have %" PRId64, declared[i],
                                constant->dimensions[2 + i]);
    return true;
}

static bool check_groups(struct importer *importer, const struct node *node, int64_t groups, int64_t channels_in,
                         int64_t channels_out, int64_t channels_per_group)
{
    if (channels_out < 1 || channels_out > MAXIMUM_DIMENSION)
        return import_fault(importer, node, "weights", "are for %" PRId64 " output channels; supported: 1 to %d",
                            channels_out, MAXIMUM_DIMENSION);
    if (groups < 1 || channels_in % groups || channels_out % groups)
        return import_fault(importer, node, "group",
                            "is %" PRId64 ", which divides not both the %" PRId64 " input and the %" PRId64
                            " output channels",
                            groups, channels_in, channels_out);
    if (channels_per_group != channels_in / groups)
        return import_fault(importer, node, "weights", "are for %" PRId64 " input channels a group, the input has %" PRId64,
                            channels_per_group, channels_in / groups);
    return true;
}

static bool convolution(struct importer *importer, const struct node *node, struct flow *result)
{
    struct flow input;
    const struct constant *constant = NULL;
    struct window window;
    int bits = 8;
    if (!import_take_input(importer, node, &input) || !weights_constant(importer, node, &constant) ||
        !convolution_weights(importer, node, &input, constant) || !weight_bits(importer, node, &bits))
        return false;
    int64_t groups = import_integer(importer, node, "group", 1);
    int64_t channels_in = flow_tensor_view(importer, &input)->channels, channels_out = constant->dimensions[0];
    if (!check_groups(importer, node, groups, channels_in, channels_out, constant->dimensions[1]) ||
        !window_read(importer, node, &input, constant->dimensions + 2, &window) ||
        !window_pad_automatically(importer, node, &window) || !window_finish(importer, node, &input, &window))
        return false;
    int index = import_new_layer(importer, LAYER_CONVOLUTION, node->name, input.index, (int)window.height.output,
                                 (int)window.width.output, (int)channels_out);
    struct layer *layer = &importer->network->layers[index];
    window_set(layer, &window);
    layer->padding_value = (int)input.padding.value;
    layer->groups = (int)groups;
    layer->weight_bits = bits;
    layer->weights = read_weights(importer, node, constant, 1, bits);
    struct shape shape = window_shape(&input, channels_out, &window);
    *result = flow_of_layer(importer, index, &shape);
    result->pending = input.pending;
    return true;
}

bool import_convolution(struct importer *importer, const struct node *node, struct flow *result)
{
    return convolution(importer, node, result) && add_bias(importer, node, result, (int)result->shape.dimensions[1]);
}

/* ConvInteger and MatMulInteger subtract zero points, inputs 2 and 3, from what they multiply. */
static bool has_no_zero_points(struct importer *importer, const struct node *node)
{
    for (int i = 2; i < 4; i++) {
        const struct flow *input = import_input(importer, node, i);
        int64_t number;
        if (!input || (input->kind == FLOW_CONSTANT && constant_same_integer(input->constant, &number) && number == 0))
            continue;
        return import_fault(importer, node, i == 2 ? "x_zero_point" : "w_zero_point",
                            "is not 0; supported: integer networks, whose zero points are 0");
    }
    return true;
}

bool import_integer_convolution(struct importer *importer, const struct node *node, struct flow *result)
{
    if (!has_no_zero_points(importer, node) || !convolution(importer, node, result))
        return false;
    result->is_integer_type = true;
    return true;
}

/* ---- fully connected ---- */

/* A convolution whose kernel covers the input. ONNX flattens channels, rows, columns: the order of our weights. */
static bool fully_connected(struct importer *importer, const struct node *node, const struct constant *constant,
                            bool output_first, struct flow *result)
{
    struct flow input;
    int bits = 8;
    if (!import_take_input(importer, node, &input) || !weight_bits(importer, node, &bits))
        return false;
    const struct tensor *tensor = flow_tensor_view(importer, &input);
    if (input.shape.rank != 2)
        return import_fault(importer, node, NULL,
                            "%s of a tensor of shape %s is not supported; supported: 1xN, put a Flatten in front",
                            node->type, shape_text(importer, &input.shape));
    if (constant->rank != 2)
        return import_fault(importer, node, "weights", "have %d dimensions; supported: 2", constant->rank);
    int64_t elements = constant->dimensions[output_first], channels = constant->dimensions[!output_first];
    if (elements != (int64_t)tensor_elements(tensor))
        return import_fault(importer, node, "weights", "are for %" PRId64 " inputs, the tensor in front has %zu elements",
                            elements, tensor_elements(tensor));
    if (channels < 1 || channels > MAXIMUM_DIMENSION)
        return import_fault(importer, node, "weights", "are for %" PRId64 " outputs; supported: 1 to %d", channels,
                            MAXIMUM_DIMENSION);
    int height = tensor->height, width = tensor->width;
    int index = import_new_layer(importer, LAYER_CONVOLUTION, node->name, input.index, 1, 1, (int)channels);
    struct layer *layer = &importer->network->layers[index];
    layer->kernel_height = height;
    layer->kernel_width = width;
    layer->weight_bits = bits;
    layer->weights = read_weights(importer, node, constant, output_first ? 1 : (size_t)elements, bits);
    struct shape shape = {2, {1, channels}};
    *result = flow_of_layer(importer, index, &shape);
    result->pending = input.pending;
    return true;
}

/* alpha, beta, transA: there is one value that NEMO writes, and no use for others. */
static void check_gemm(struct importer *importer, const struct node *node)
{
    const struct attribute *alpha = node_attribute(node, "alpha"), *beta = node_attribute(node, "beta");
    if (alpha && (alpha->kind != ATTRIBUTE_FLOAT || alpha->number != 1))
        import_fault(importer, node, "alpha", "is %g; supported: 1", alpha->number);
    if (beta && import_input(importer, node, 2) && (beta->kind != ATTRIBUTE_FLOAT || beta->number != 1))
        import_fault(importer, node, "beta", "is %g; supported: 1", beta->number);
    if (import_integer(importer, node, "transA", 0) != 0)
        import_fault(importer, node, "transA", "is %" PRId64 "; supported: 0", import_integer(importer, node, "transA", 0));
}

bool import_gemm(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct constant *constant = NULL;
    check_gemm(importer, node);
    if (!weights_constant(importer, node, &constant) ||
        !fully_connected(importer, node, constant, import_integer(importer, node, "transB", 0) != 0, result))
        return false;
    return add_bias(importer, node, result, (int)result->shape.dimensions[1]);
}

bool import_matrix_product(struct importer *importer, const struct node *node, struct flow *result)
{
    const struct constant *constant = NULL;
    return weights_constant(importer, node, &constant) && fully_connected(importer, node, constant, false, result);
}

bool import_integer_product(struct importer *importer, const struct node *node, struct flow *result)
{
    if (!has_no_zero_points(importer, node) || !import_matrix_product(importer, node, result))
        return false;
    result->is_integer_type = true;
    return true;
}
