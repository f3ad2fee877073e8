#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "model/tflite/flatbuffer.h"
#include "model/tflite/tflite.h"
#include "model/tflite/tflite_options.h"
#include "model/tflite/variables.h"

#define SCHEMA_VERSION    3
#define MAXIMUM_ENTRIES   100000 /* of tensors, and of operators: far more than networks on a microcontroller have */
#define MAXIMUM_NAME      200    /* bytes of it that messages show */
#define MAXIMUM_ELEMENTS  ((int64_t)1 << 31)
#define IDENTIFIER_OFFSET 4

struct reader {
    struct flat_file file;
    struct arena *arena;
    struct diagnostics *diagnostics;
    struct tflite_model *model;
    struct flat_vector codes, buffers;
    size_t list_entries; /* copied so far: lists may lie on top of each other in the file */
};

/* ---- messages ---- */

static bool fail(struct reader *reader, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* False, so that readers can return it. */
static bool fail(struct reader *reader, const char *name, const char *format, ...)
{
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    diagnose(reader->diagnostics, SEVERITY_ERROR, name, NULL, "%s", text);
    return false;
}

/* ---- lists and names ---- */

static bool count_entries(struct reader *reader, size_t count)
{
    reader->list_entries += count;
    if (reader->list_entries > reader->file.length)
        flat_fail(&reader->file, 0, "lists that are longer in all than the file");
    return !reader->file.fault;
}

static int *read_integers(struct reader *reader, struct flat_table table, int field, int *count)
{
    struct flat_vector vector = flat_vector(&reader->file, table, field, 4);
    *count = 0;
    if (!count_entries(reader, vector.count) || vector.count == 0)
        return NULL;
    int *numbers = arena_array(reader->arena, int, vector.count);
    for (size_t i = 0; i < vector.count; i++)
        numbers[i] = (int)flat_element(&reader->file, vector, i);
    *count = (int)vector.count;
    return numbers;
}

/* What is not to be printed becomes a question mark. The converter joins the names of all that it fused, by semicolons: the
 * first one is enough. */
static const char *read_name(struct reader *reader, struct flat_table table, int field, const char *otherwise)
{
    struct flat_vector vector = flat_vector(&reader->file, table, field, 1);
    if (vector.count == 0)
        return otherwise;
    size_t length = vector.count < MAXIMUM_NAME ? vector.count : MAXIMUM_NAME;
    char *name = arena_array(reader->arena, char, length + 1);
    memcpy(name, reader->file.bytes + vector.at, length);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
            name[i] = '?';
    name[strcspn(name, ";")] = 0;
    return *name ? name : otherwise;
}

/* ---- tensors ---- */

static bool read_shape(struct reader *reader, struct flat_table table, struct tflite_tensor *tensor)
{
    struct flat_vector shape = flat_vector(&reader->file, table, 0, 4);
    struct flat_vector signature = flat_vector(&reader->file, table, 7, 4);
    int64_t elements = 1;
    if (shape.count > TFLITE_MAXIMUM_RANK)
        return fail(reader, tensor->name, "the tensor has %zu dimensions; supported: up to %d", shape.count,
                    TFLITE_MAXIMUM_RANK);
    tensor->rank = (int)shape.count;
    for (int i = 0; i < tensor->rank; i++) {
        int64_t dimension = flat_element(&reader->file, shape, (size_t)i);
        if (dimension < 0 || (elements *= dimension) > MAXIMUM_ELEMENTS)
            return fail(reader, tensor->name,
                        "dimension %d of the tensor is %" PRId64 "; supported: tensors of 0 to 2^31 elements", i, dimension);
        tensor->dimensions[i] = (int)dimension;
        tensor->is_unknown[i] = signature.count == shape.count && flat_element(&reader->file, signature, (size_t)i) < 0;
    }
    return true;
}

static bool read_quantisation(struct reader *reader, struct flat_table tensor_table, struct tflite_tensor *tensor)
{
    struct flat_table table = flat_subtable(&reader->file, tensor_table, 4);
    struct flat_vector scales = flat_vector(&reader->file, table, 2, 4);
    struct flat_vector zero_points = flat_vector(&reader->file, table, 3, 8);
    if (flat_integer(&reader->file, table, 4, 1, 0) != 0)
        return fail(reader, tensor->name, "the tensor has a custom quantisation; supported: scale and zero point");
    if (scales.count == 0 || !count_entries(reader, scales.count))
        return true;
    if (zero_points.count != scales.count && zero_points.count != 0)
        return fail(reader, tensor->name, "the tensor has %zu scales and %zu zero points", scales.count, zero_points.count);
    float *numbers = arena_array(reader->arena, float, scales.count);
    int64_t *zeros = arena_array(reader->arena, int64_t, scales.count);
    for (size_t i = 0; i < scales.count; i++) {
        numbers[i] = flat_element_float(&reader->file, scales, i);
        zeros[i] = zero_points.count ? flat_element(&reader->file, zero_points, i) : 0;
    }
    tensor->scale_count = (int)scales.count;
    tensor->scales = numbers;
    tensor->zero_points = zeros;
    /* of a vector there is but one, whatever old converters write of a depth-wise layer's biases */
    tensor->quantised_dimension = tensor->rank == 1 ? 0 : (int)flat_integer(&reader->file, table, 6, 4, 0);
    if (scales.count == 1)
        return true;
    int axis = tensor->quantised_dimension;
    if (axis < 0 || axis >= tensor->rank || (size_t)tensor->dimensions[axis] != scales.count)
        return fail(reader, tensor->name, "the tensor has %zu scales for its dimension %d, which is not of that size",
                    scales.count, axis);
    return true;
}

/* In the FlatBuffer itself, or behind it, where files of large models have it: at an offset from the file's begin. */
static bool find_data(struct reader *reader, struct flat_table buffer, struct tflite_tensor *tensor)
{
    struct flat_vector data = flat_vector(&reader->file, buffer, 0, 1);
    uint64_t offset = (uint64_t)flat_integer(&reader->file, buffer, 1, 8, 0),
             size = (uint64_t)flat_integer(&reader->file, buffer, 2, 8, 0), length = reader->file.length;
    if (offset > 1) { /* 0 and 1: there is none */
        if (data.count || offset > length || size > length - offset)
            return fail(reader, tensor->name,
                        "the tensor's data is said to be %" PRIu64 " bytes from byte %" PRIu64
                        " of the file on, which has %" PRIu64,
                        size, offset, length);
        tensor->data = size ? reader->file.bytes + offset : NULL;
        tensor->data_bytes = (size_t)size;
        return true;
    }
    tensor->data = data.count ? reader->file.bytes + data.at : NULL;
    tensor->data_bytes = data.count;
    return true;
}

static bool read_data(struct reader *reader, struct flat_table table, struct tflite_tensor *tensor)
{
    int64_t index = flat_integer(&reader->file, table, 2, 4, 0);
    if (flat_integer(&reader->file, table, 10, 4, 0) != 0)
        return fail(reader, tensor->name, "the tensor's data is in another file; supported: data in the model's file");
    if (index < 0 || (size_t)index >= reader->buffers.count)
        return index == 0 ||
               fail(reader, tensor->name, "the tensor has buffer %" PRId64 " of %zu", index, reader->buffers.count);
    struct flat_table buffer = flat_element_table(&reader->file, reader->buffers, (size_t)index);
    if (!find_data(reader, buffer, tensor))
        return false;
    if (!tensor->data)
        return true;
    size_t elements = 1;
    for (int i = 0; i < tensor->rank; i++)
        elements *= (size_t)tensor->dimensions[i];
    size_t bytes = elements * tflite_type_bytes(tensor->type);
    if (bytes != tensor->data_bytes && tflite_type_bytes(tensor->type) != 0 && !tensor->is_sparse)
        return fail(reader, tensor->name, "the constant has %zu bytes, and its shape and type %s want %zu",
                    tensor->data_bytes, tflite_type_name(tensor->type, reader->arena), bytes);
    return true;
}

static bool read_tensor(struct reader *reader, struct flat_table table, int index, struct tflite_tensor *tensor)
{
    tensor->name = read_name(reader, table, 3, NULL);
    if (!tensor->name)
        tensor->name = arena_format(reader->arena, "tensor %d", index);
    tensor->type = (int)flat_integer(&reader->file, table, 1, 1, TFLITE_FLOAT32);
    tensor->is_variable = flat_integer(&reader->file, table, 5, 1, 0) != 0;
    tensor->is_sparse = flat_subtable(&reader->file, table, 6).bytes != 0;
    return read_shape(reader, table, tensor) && read_quantisation(reader, table, tensor) && read_data(reader, table, tensor);
}

static bool read_tensors(struct reader *reader, struct flat_table subgraph)
{
    struct flat_vector tensors = flat_vector(&reader->file, subgraph, 0, 4);
    bool is_good = true;
    if (tensors.count > MAXIMUM_ENTRIES)
        return fail(reader, NULL, "the model has %zu tensors; supported: up to %d", tensors.count, MAXIMUM_ENTRIES);
    if (!count_entries(reader, tensors.count))
        return false;
    reader->model->tensors = arena_array(reader->arena, struct tflite_tensor, tensors.count);
    reader->model->tensor_count = (int)tensors.count;
    for (int i = 0; i < reader->model->tensor_count && !reader->file.fault; i++) {
        struct flat_table table = flat_element_table(&reader->file, tensors, (size_t)i);
        is_good &= read_tensor(reader, table, i, &reader->model->tensors[i]);
    }
    return is_good;
}

/* ---- operators ---- */

static bool read_options(struct reader *reader, struct flat_table table, struct tflite_operator *operation)
{
    int64_t kind = flat_integer(&reader->file, table, 3, 1, 0);
    struct flat_table given = flat_subtable(&reader->file, table, 4);
    int wanted = tflite_read_options(&reader->file, given, (int)(kind & 0xff), operation);
    if (wanted)
        return fail(reader, operation->name, "the operator has options of kind %" PRId64 "; expected: kind %d", kind & 0xff,
                    wanted);
    if (operation->code == TFLITE_VAR_HANDLE)
        operation->variable = read_name(reader, given, 1, "");
    return true;
}

static bool read_code(struct reader *reader, struct flat_table table, struct tflite_operator *operation)
{
    int64_t index = flat_integer(&reader->file, table, 0, 4, 0);
    if (index < 0 || (size_t)index >= reader->codes.count)
        return fail(reader, NULL, "an operator has code %" PRId64 " of %zu", index, reader->codes.count);
    struct flat_table code = flat_element_table(&reader->file, reader->codes, (size_t)index);
    int64_t old = flat_integer(&reader->file, code, 0, 1, 0), builtin = flat_integer(&reader->file, code, 3, 4, 0);
    operation->code = (int)(builtin > old ? builtin : old);
    operation->name = tflite_code_name(operation->code, reader->arena);
    if (operation->code == TFLITE_CUSTOM)
        operation->name = read_name(reader, code, 1, operation->name);
    return true;
}

static bool check_indices(struct reader *reader, const char *name, const int *indices, int count, int least)
{
    for (int i = 0; i < count; i++)
        if (indices[i] < least || indices[i] >= reader->model->tensor_count)
            return fail(reader, name, "it has tensor %d of %d", indices[i], reader->model->tensor_count);
    return true;
}

static bool read_operator(struct reader *reader, struct flat_table table, struct tflite_operator *operation)
{
    operation->inputs = read_integers(reader, table, 1, &operation->input_count);
    operation->outputs = read_integers(reader, table, 2, &operation->output_count);
    return read_code(reader, table, operation) &&
           check_indices(reader, operation->name, operation->inputs, operation->input_count, NO_TENSOR) &&
           check_indices(reader, operation->name, operation->outputs, operation->output_count, 0) &&
           read_options(reader, table, operation);
}

static bool read_operators(struct reader *reader, struct flat_table subgraph)
{
    struct flat_vector operators = flat_vector(&reader->file, subgraph, 3, 4);
    if (operators.count > MAXIMUM_ENTRIES)
        return fail(reader, NULL, "the model has %zu operators; supported: up to %d", operators.count, MAXIMUM_ENTRIES);
    if (!count_entries(reader, operators.count))
        return false;
    reader->model->operators = arena_array(reader->arena, struct tflite_operator, operators.count);
    reader->model->operator_count = (int)operators.count;
    for (int i = 0; i < reader->model->operator_count && !reader->file.fault; i++) {
        struct flat_table table = flat_element_table(&reader->file, operators, (size_t)i);
        if (!read_operator(reader, table, &reader->model->operators[i]))
            return false;
    }
    return true;
}

/* ---- promises ---- */

static bool give_origin(struct reader *reader, bool *has_origin, int tensor, const char *by)
{
    if (has_origin[tensor])
        return fail(reader, by, "it gives tensor '%s', which is a constant, an input or another operator's output already",
                    reader->model->tensors[tensor].name);
    has_origin[tensor] = true;
    return true;
}

static bool is_variable(const struct tflite_model *model, int tensor)
{
    return tensor != NO_TENSOR && model->tensors[tensor].is_variable;
}

static bool is_lstm(const struct tflite_operator *operation)
{
    return operation->code == TFLITE_UNIDIRECTIONAL_SEQUENCE_LSTM;
}

/* The shape of a scalar: a list without numbers has no bytes, but is a constant. */
static bool is_empty_list(struct reader *reader, int tensor)
{
    struct tflite_tensor *list = &reader->model->tensors[tensor];
    if (list->rank != 1 || list->dimensions[0] != 0 || (list->type != TFLITE_INT32 && list->type != TFLITE_INT64))
        return false;
    list->data = reader->file.bytes;
    return true;
}

static bool check_read(struct reader *reader, bool *has_origin, int tensor, const char *by)
{
    if (tensor == NO_TENSOR || has_origin[tensor] || (has_origin[tensor] = is_empty_list(reader, tensor)))
        return true;
    const struct tflite_tensor *missing = &reader->model->tensors[tensor];
    if (missing->is_variable)
        return fail(reader, by,
                    "it keeps a state inside, in '%s'; supported: states that the model itself reads and assigns "
                    "(READ_VARIABLE, ASSIGN_VARIABLE). Layers of Keras that have unroll=True are converted without one",
                    missing->name);
    return fail(reader, by, "it reads tensor '%s', which nothing before it computes", missing->name);
}

static bool check_origins(struct reader *reader)
{
    const struct tflite_model *model = reader->model;
    bool *has_origin = arena_array(reader->arena, bool, (size_t)model->tensor_count + 1);
    for (int i = 0; i < model->tensor_count; i++)
        has_origin[i] = model->tensors[i].data != NULL;
    for (int i = 0; i < model->input_count; i++)
        if (!give_origin(reader, has_origin, model->inputs[i], "inputs of the model"))
            return false;
    for (int i = 0; i < model->operator_count; i++) {
        const struct tflite_operator *operation = &model->operators[i];
        for (int k = 0; k < operation->input_count; k++)
            if (!(is_lstm(operation) && is_variable(model, operation->inputs[k])) && /* it becomes an input of the model */
                !check_read(reader, has_origin, operation->inputs[k], operation->name))
                return false;
        for (int k = 0; k < operation->output_count; k++)
            if (!give_origin(reader, has_origin, operation->outputs[k], operation->name))
                return false;
    }
    for (int i = 0; i < model->output_count; i++)
        if (!check_read(reader, has_origin, model->outputs[i], "outputs of the model"))
            return false;
    return true;
}

/* Operators that stand for a whole network, in a form that only the accelerator of that name can run. */
static bool check_compiled(struct reader *reader)
{
    static const char *const names[] = {"edgetpu-custom-op", "ethos-u"};
    for (int i = 0; i < reader->model->operator_count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (!strcmp(reader->model->operators[i].name, names[k]))
                return fail(reader, names[k],
                            "the model was compiled for an accelerator, and this operator has its code; supported: the "
                            ".tflite file that was given to that compiler");
    return true;
}

/* ---- the file ---- */

bool tflite_is_model(const void *bytes, size_t length)
{
    return length >= IDENTIFIER_OFFSET + 4 && memcmp((const char *)bytes + IDENTIFIER_OFFSET, "TFL3", 4) == 0;
}

static bool read_subgraph(struct reader *reader, struct flat_table subgraph)
{
    struct tflite_model *model = reader->model;
    if (!read_tensors(reader, subgraph) || !read_operators(reader, subgraph) || reader->file.fault ||
        !check_compiled(reader))
        return false;
    model->inputs = read_integers(reader, subgraph, 1, &model->input_count);
    model->outputs = read_integers(reader, subgraph, 2, &model->output_count);
    return !reader->file.fault && check_indices(reader, "inputs of the model", model->inputs, model->input_count, 0) &&
           check_indices(reader, "outputs of the model", model->outputs, model->output_count, 0) && check_origins(reader);
}

/* Of an operator that calls a subgraph once, that subgraph, which gives variables their first values. */
static bool read_first_values(struct reader *reader, struct flat_vector subgraphs, const struct tflite_operator *operation,
                              struct tflite_model *first)
{
    struct tflite_model *model = reader->model;
    int index = operation->options.subgraph;
    if (index < 1 || (size_t)index >= subgraphs.count)
        return fail(reader, operation->name, "it calls subgraph %d of %zu", index, subgraphs.count);
    reader->model = first;
    bool good = read_subgraph(reader, flat_element_table(&reader->file, subgraphs, (size_t)index));
    reader->model = model;
    return good;
}

/* More subgraphs than those of first values. */
static bool refuse_subgraphs(struct reader *reader, size_t count)
{
    const struct tflite_model *model = reader->model;
    for (int i = 0; i < model->operator_count; i++)
        if (model->operators[i].code == TFLITE_WHILE)
            return fail(
                reader, model->operators[i].name,
                "the model has a loop, as Keras writes GRU, SimpleRNN, LSTM with a mask or another activation, and Keras "
                "3 all of them. Build recurrent layers with unroll=True; or take LSTM of tf_keras with a batch of 1 and "
                "full integer quantisation, which becomes UNIDIRECTIONAL_SEQUENCE_LSTM; or convert one step, its state "
                "an input and an output (" TFLITE_RECIPE ")");
    return fail(reader, NULL,
                "the model has %zu subgraphs; supported: one, and those that give variables their first values. More of "
                "them come from control flow (if) or from several signatures: convert one function without them",
                count);
}

static bool read_subgraphs(struct reader *reader, struct flat_vector subgraphs)
{
    struct tflite_model *model = reader->model;
    if (!read_subgraph(reader, flat_element_table(&reader->file, subgraphs, 0)))
        return false;
    struct tflite_model *first = arena_array(reader->arena, struct tflite_model, subgraphs.count);
    size_t called = 0;
    for (int i = 0; i < model->operator_count; i++) {
        if (model->operators[i].code != TFLITE_CALL_ONCE)
            continue;
        if (++called < subgraphs.count && !read_first_values(reader, subgraphs, &model->operators[i], &first[called]))
            return false;
    }
    if (called + 1 != subgraphs.count)
        return refuse_subgraphs(reader, subgraphs.count);
    return tflite_resolve_variables(model, &first[1], (int)called, reader->arena, reader->diagnostics);
}

static bool read_model(struct reader *reader)
{
    struct flat_table root = flat_root(&reader->file);
    int64_t version = flat_integer(&reader->file, root, 0, 4, 0);
    struct flat_vector subgraphs = flat_vector(&reader->file, root, 2, 4);
    reader->codes = flat_vector(&reader->file, root, 1, 4);
    reader->buffers = flat_vector(&reader->file, root, 4, 4);
    if (reader->file.fault)
        return false;
    if (version != SCHEMA_VERSION)
        return fail(reader, NULL, "the model has version %" PRId64 " of TFLite's schema; supported: %d", version,
                    SCHEMA_VERSION);
    return subgraphs.count > 0 ? read_subgraphs(reader, subgraphs) : fail(reader, NULL, "the model has no subgraph");
}

struct tflite_model *tflite_read_memory(const void *bytes, size_t length, struct arena *arena,
                                        struct diagnostics *diagnostics)
{
    struct reader reader = {.file = {.bytes = bytes, .length = length}, .arena = arena, .diagnostics = diagnostics};
    int errors_before = diagnostics->error_count;
    reader.model = arena_allocate(arena, sizeof *reader.model);
    if (!tflite_is_model(bytes, length)) {
        fail(&reader, NULL, "not a TFLite model: it has no TFL3 at byte %d", IDENTIFIER_OFFSET);
        return NULL;
    }
    bool is_read = read_model(&reader);
    if (reader.file.fault)
        fail(&reader, NULL, "the file is damaged: %s, at byte %zu of %zu", reader.file.fault, reader.file.fault_at, length);
    return is_read && diagnostics->error_count == errors_before ? reader.model : NULL;
}
