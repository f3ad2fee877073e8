/* What comes in: tensors and views of the inputs. */
#include "import/qdq/qdq.h"

#include <inttypes.h>
#include <string.h>

/* Of torch's transformers and recurrent layers, unless batch_first is set: tokens, a batch of 1, features. */
static bool has_batch_second(const struct value *value, bool is_image)
{
    return value->has_shape && value->rank == 3 && value->dimensions[0] > 1 && value->dimensions[1] == 1 && !is_image;
}

static bool check_dimension(struct qdq *qdq, const struct value *value, int index)
{
    const int64_t size = value->dimensions[index];
    if (size >= 1 && size <= MAXIMUM_DIMENSION)
        return true;
    diagnose(qdq->diagnostics, SEVERITY_ERROR, NULL, NULL, "dimension %d of input '%s' is %s", index, value->name,
             size < 1 ? "not fixed; export the model without dynamic axes"
                      : arena_format(qdq->arena, "%" PRId64 "; supported: up to %d", size, MAXIMUM_DIMENSION));
    return false;
}

/* Rows of images over time lie one behind the other. */
static bool check_rows(struct qdq *qdq, const struct value *value, const int64_t *dimensions)
{
    int64_t rows = 1;
    for (int i = 1; i < value->rank - 2; i++)
        rows = rows > MAXIMUM_DIMENSION ? rows : rows * dimensions[i];
    if (value->rank <= 4 || rows <= MAXIMUM_DIMENSION)
        return true;
    diagnose(qdq->diagnostics, SEVERITY_ERROR, NULL, NULL, "input '%s' has rows in more than %d places; supported: no more",
             value->name, MAXIMUM_DIMENSION);
    return false;
}

static bool input_dimensions(struct qdq *qdq, const struct value *value, bool is_image, int64_t *dimensions)
{
    struct diagnostics *diagnostics = qdq->diagnostics;
    const bool is_whole = has_batch_second(value, is_image);
    const int first = value->rank > 1 && !is_whole; /* a list has no batch */
    if (!value->has_shape || value->rank < 1) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "input '%s' has no %s", value->name,
                 value->has_shape ? "dimensions" : "shape");
        return false;
    }
    dimensions[0] = 1;
    if (value->dimensions[0] != 1 && first)
        diagnose(diagnostics, value->dimensions[0] > 1 ? SEVERITY_WARNING : SEVERITY_NOTE, NULL, NULL,
                 value->dimensions[0] > 1 ? "input '%s' has a batch of %" PRId64 "; taken as 1"
                                          : "the batch of input '%s' is not fixed; taken as 1",
                 value->name, value->dimensions[0]);
    for (int i = first; i < value->rank; i++) {
        dimensions[is_whole ? i : i + 1 - first] = value->dimensions[i];
        if (!check_dimension(qdq, value, i))
            return false;
    }
    return check_rows(qdq, value, dimensions);
}

static const char *input_type_fault(enum element_type type)
{
    switch (type) {
    case ELEMENT_FLOAT:
    case ELEMENT_FLOAT16:
    case ELEMENT_DOUBLE:
    case ELEMENT_INT8:
    case ELEMENT_UINT8: return NULL;
    default:
        return "is neither float nor an 8-bit integer; supported: those, and 32- or 64-bit integers that a Cast turns to "
               "FLOAT, or by which Gather looks up rows of a constant matrix";
    }
}

static bool reads_first(const struct node *node, int index) { return node->input_count > 0 && node->inputs[0] == index; }

static int first_output(const struct node *node) { return node->output_count > 0 ? node->outputs[0] : NO_VALUE; }

#define LONGEST_CHAIN 4 /* of nodes that are followed */

/* Does Gather look up by it? Other nodes that read it say so. */
static bool are_indices(const struct qdq *qdq, int index, int depth)
{
    static const char *const views[] = {"Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze", NULL};
    for (int i = 0; index != NO_VALUE && depth < LONGEST_CHAIN && i < qdq->graph->node_count; i++) {
        const struct node *node = &qdq->graph->nodes[i];
        if (!strcmp(node->type, "Gather") && node->input_count > 1 && node->inputs[1] == index)
            return true;
        if (node_is_one_of(node, views) && reads_first(node, index) && are_indices(qdq, first_output(node), depth + 1))
            return true;
    }
    return false;
}

static bool is_to_float(const struct node *cast)
{
    const struct attribute *to = node_attribute(cast, "to");
    return to && to->integer == 1;
}

/* Are they real numbers as soon as anything is computed of them? */
static bool are_cast(const struct qdq *qdq, int index, int depth)
{
    static const char *const views[] = {"Reshape", "Squeeze", "Unsqueeze", NULL};
    bool is_cast = false;
    for (int i = 0; i < qdq->graph->node_count; i++) {
        const struct node *node = &qdq->graph->nodes[i];
        if (!node->is_needed || !reads_first(node, index))
            continue;
        is_cast = !strcmp(node->type, "Cast")
                      ? is_to_float(node)
                      : depth < LONGEST_CHAIN && node_is_one_of(node, views) && are_cast(qdq, first_output(node), depth + 1);
        if (!is_cast)
            return false;
    }
    return is_cast;
}

/* Arithmetic with one number for each channel of images. */
static bool is_of_channels(const struct qdq *qdq, const struct node *node)
{
    for (int i = 0; i < node->input_count; i++) {
        const struct constant *constant = node->inputs[i] == NO_VALUE ? NULL : qdq->graph->values[node->inputs[i]].constant;
        if (constant && constant->rank >= 3 && constant->count > 1 && constant->dimensions[constant->rank - 1] == 1 &&
            constant->dimensions[constant->rank - 2] == 1)
            return true;
    }
    return false;
}

/* Operators whose input is an image. */
static const char *const image_readers[] = {"Conv",
                                            "ConvTranspose",
                                            "ConvInteger",
                                            "QLinearConv",
                                            "MaxPool",
                                            "AveragePool",
                                            "GlobalAveragePool",
                                            "GlobalMaxPool",
                                            "QLinearAveragePool",
                                            "QLinearGlobalAveragePool",
                                            "Resize",
                                            "Upsample",
                                            "BatchNormalization",
                                            "DepthToSpace",
                                            "SpaceToDepth",
                                            "InstanceNormalization",
                                            "GroupNormalization",
                                            NULL};

/* Operators whose output is no image, whatever their input is. */
static const char *const image_ends[] = {"MatMul", "Gemm",          "Reshape", "Transpose", "QLinearMatMul",
                                         "QGemm",  "MatMulInteger", "Squeeze", "Unsqueeze", "Einsum",
                                         NULL};

static bool reads_one_of(const struct node *node, const bool *values)
{
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] != NO_VALUE && values[node->inputs[i]])
            return true;
    return false;
}

/* A layer of images reads it, as it is or behind functions of its elements; else its dimensions are what they are in the
 * model, and so they lie in memory: of a transformer tokens and their features. */
static bool is_image(const struct qdq *qdq, int index)
{
    bool *follows = arena_array(qdq->arena, bool, (size_t)qdq->graph->value_count);
    follows[index] = true;
    for (int n = 0; n < qdq->graph->node_count; n++) {
        const struct node *node = &qdq->graph->nodes[n];
        const bool reads = reads_one_of(node, follows);
        if (reads && (node_is_one_of(node, image_readers) || is_of_channels(qdq, node)))
            return true;
        for (int i = 0; reads && !node_is_one_of(node, image_ends) && i < node->output_count; i++)
            if (node->outputs[i] != NO_VALUE)
                follows[node->outputs[i]] = true;
    }
    return false;
}

/* The tensor and view of an input in the model's own order: images over time have their rows one behind the other. */
static struct view open_in_order(struct tensor *tensor, int rank, const int64_t *dimensions)
{
    tensor->height = 1;
    for (int i = 1; i < rank - 2; i++)
        tensor->height *= (int)dimensions[i];
    tensor->width = rank >= 4 ? (int)dimensions[rank - 2] : rank == 3 ? (int)(dimensions[0] * dimensions[1]) : 1;
    tensor->channels = (int)dimensions[rank - 1];
    tensor->is_turned = rank >= 3;
    return view_of_memory(rank, dimensions);
}

/* Indices of a look-up: a row of the tensor each, whose channels the table says. */
static void open_indices(struct qdq *qdq, int index, const int64_t *dimensions)
{
    const struct value *value = &qdq->graph->values[index];
    int tensor = quantised_tensor(&qdq->builder, value->name, 1, (int)dimensions[1], 1, &(struct quantisation){0});
    qdq_tensor(qdq, tensor)->is_turned = true;
    qdq->builder.network->inputs[qdq->builder.network->input_count++] = tensor;
    qdq->values[index] = (struct qdq_value){
        .kind = QDQ_INDICES,
        .view = view_of_memory(value->rank, value->rank == 1 ? &dimensions[1] : dimensions),
        .tensor = tensor,
        .outside = {.is_exact = true, .numerator = 1, .denominator = 1},
    };
}

/* The input's tensor: with what its elements stand for as soon as a node says it. */
static void open_input(struct qdq *qdq, int index, bool is_signed)
{
    const struct value *value = &qdq->graph->values[index];
    struct network *network = qdq->builder.network;
    int64_t d[GRAPH_MAXIMUM_RANK] = {0};
    const bool is_long = value->type == ELEMENT_INT32 || value->type == ELEMENT_INT64;
    const bool looks_up = is_long && value->rank <= 2 && are_indices(qdq, index, 0),
               is_whole = is_long && are_cast(qdq, index, 0);
    const char *fault = looks_up || is_whole ? NULL : input_type_fault(value->type);
    if (fault)
        diagnose(qdq->diagnostics, SEVERITY_ERROR, NULL, NULL, "input '%s' %s", value->name, fault);
    const bool image = value->rank <= 4 && is_image(qdq, index);
    if (!input_dimensions(qdq, value, image, d) || fault)
        return;
    if (looks_up) {
        open_indices(qdq, index, d);
        return;
    }
    bool is_integer = element_type_is_integer(value->type) && !is_whole;
    int tensor = quantised_tensor(&qdq->builder, value->name, value->rank == 4 ? (int)d[2] : 1,
                                  value->rank >= 3 ? (int)d[value->rank - 1] : 1, (int)d[1],
                                  &(struct quantisation){.is_signed = value->type == ELEMENT_INT8});
    qdq_tensor(qdq, tensor)->is_of_whole_numbers = is_whole;
    network->inputs[network->input_count++] = tensor;
    qdq->values[index] = (struct qdq_value){
        .kind = is_integer ? QDQ_ELEMENTS : QDQ_OUTSIDE,
        .view = view_of_image(qdq_tensor(qdq, tensor), value->rank > 4 ? 4 : value->rank),
        .tensor = tensor,
        .outside = {.is_exact = true, .numerator = 1, .denominator = 1},
    };
    if (value->rank == 1)
        qdq->values[index].view = view_of_memory(1, value->dimensions);
    else if (!image)
        qdq->values[index].view = open_in_order(qdq_tensor(qdq, tensor), value->rank, d);
    if (qdq->is_of_integers)
        qdq_open_integers(qdq, is_signed || value->type == ELEMENT_INT8, &qdq->values[index]);
}

void qdq_open_inputs(struct qdq *qdq, bool are_signed)
{
    const struct graph *graph = qdq->graph;
    qdq->builder.network->inputs = arena_array(qdq->arena, int, (size_t)graph->input_count);
    for (int i = 0; i < graph->value_count; i++) {
        qdq->values[i].kind = QDQ_UNKNOWN;
        if (graph->values[i].constant)
            qdq->values[i] = (struct qdq_value){.kind = QDQ_CONSTANT};
    }
    for (int i = 0; i < graph->input_count; i++)
        if (graph->values[graph->inputs[i]].use_count > 0)
            open_input(qdq, graph->inputs[i], are_signed);
}
