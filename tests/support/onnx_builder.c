#include "onnx_builder.h"

#include <stdio.h>
#include <string.h>

#include "base/support.h"

struct onnx_builder {
    struct arena arena;
    Onnx__ModelProto model;
    Onnx__GraphProto graph;
    Onnx__OperatorSetIdProto opset;
};

#define allocate(builder, type)  ((type *)arena_allocate(&(builder)->arena, sizeof(type)))
#define copy_text(builder, text) arena_format(&(builder)->arena, "%s", text)

#define append(builder, list, count, entry) (arena_grow(&(builder)->arena, list, count), (list)[(count)++] = (entry))

static void *copy_bytes(struct onnx_builder *builder, const void *bytes, size_t count)
{
    void *copy = arena_allocate(&builder->arena, count + 1);
    if (count)
        memcpy(copy, bytes, count);
    return copy;
}

/* ---- the model ---- */

struct onnx_builder *onnx_builder_make(int64_t opset)
{
    struct arena arena = {0};
    struct onnx_builder *builder = arena_allocate(&arena, sizeof *builder);
    builder->arena = arena;
    onnx__model_proto__init(&builder->model);
    onnx__graph_proto__init(&builder->graph);
    onnx__operator_set_id_proto__init(&builder->opset);
    builder->model.has_ir_version = 1;
    builder->model.ir_version = 6;
    builder->model.graph = &builder->graph;
    builder->graph.name = copy_text(builder, "test");
    builder->opset.has_version = 1;
    builder->opset.version = opset;
    append(builder, builder->model.opset_import, builder->model.n_opset_import, &builder->opset);
    return builder;
}

void onnx_builder_free(struct onnx_builder *builder)
{
    struct arena arena = builder->arena; /* the builder lies in it */
    arena_free(&arena);
}

struct arena *onnx_builder_arena(struct onnx_builder *builder) { return &builder->arena; }
Onnx__ModelProto *onnx_builder_model(struct onnx_builder *builder) { return &builder->model; }

uint8_t *onnx_builder_pack(struct onnx_builder *builder, size_t *length)
{
    *length = onnx__model_proto__get_packed_size(&builder->model);
    uint8_t *bytes = arena_allocate(&builder->arena, *length + 1);
    onnx__model_proto__pack(&builder->model, bytes);
    return bytes;
}

bool onnx_builder_write(struct onnx_builder *builder, const char *path)
{
    size_t length;
    uint8_t *bytes = onnx_builder_pack(builder, &length);
    FILE *file = fopen(path, "wb");
    bool is_written = file && fwrite(bytes, 1, length, file) == length;
    return file && fclose(file) == 0 && is_written;
}

/* ---- values ---- */

static Onnx__ValueInfoProto *make_value(struct onnx_builder *builder, const char *name)
{
    Onnx__ValueInfoProto *value = allocate(builder, Onnx__ValueInfoProto);
    onnx__value_info_proto__init(value);
    value->name = copy_text(builder, name);
    return value;
}

static Onnx__TensorShapeProto__Dimension *make_dimension(struct onnx_builder *builder, int64_t size)
{
    Onnx__TensorShapeProto__Dimension *dimension = allocate(builder, Onnx__TensorShapeProto__Dimension);
    onnx__tensor_shape_proto__dimension__init(dimension);
    if (size < 0) {
        dimension->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
        dimension->dim_param = copy_text(builder, "N");
    } else {
        dimension->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        dimension->dim_value = size;
    }
    return dimension;
}

void onnx_add_input(struct onnx_builder *builder, const char *name, int rank, const int64_t *dimensions)
{
    Onnx__ValueInfoProto *value = make_value(builder, name);
    Onnx__TypeProto *type = value->type = allocate(builder, Onnx__TypeProto);
    onnx__type_proto__init(type);
    type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type->tensor_type = allocate(builder, Onnx__TypeProto__Tensor);
    onnx__type_proto__tensor__init(type->tensor_type);
    type->tensor_type->has_elem_type = 1;
    type->tensor_type->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    Onnx__TensorShapeProto *shape = type->tensor_type->shape = allocate(builder, Onnx__TensorShapeProto);
    onnx__tensor_shape_proto__init(shape);
    for (int i = 0; i < rank; i++)
        append(builder, shape->dim, shape->n_dim, make_dimension(builder, dimensions[i]));
    append(builder, builder->graph.input, builder->graph.n_input, value);
}

void onnx_add_output(struct onnx_builder *builder, const char *name)
{
    append(builder, builder->graph.output, builder->graph.n_output, make_value(builder, name));
}

/* ---- constants ---- */

static Onnx__TensorProto *make_tensor(struct onnx_builder *builder, const char *name, int rank, const int64_t *dimensions,
                                      int type, size_t *count)
{
    Onnx__TensorProto *tensor = allocate(builder, Onnx__TensorProto);
    onnx__tensor_proto__init(tensor);
    tensor->name = copy_text(builder, name);
    tensor->has_data_type = 1;
    tensor->data_type = type;
    *count = 1;
    for (int i = 0; i < rank; i++) {
        append(builder, tensor->dims, tensor->n_dims, dimensions[i]);
        *count *= (size_t)dimensions[i];
    }
    return tensor;
}

static Onnx__TensorProto *make_floats(struct onnx_builder *builder, const char *name, int rank, const int64_t *dimensions,
                                      const float *values)
{
    size_t count;
    Onnx__TensorProto *tensor = make_tensor(builder, name, rank, dimensions, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, &count);
    tensor->has_raw_data = 1;
    tensor->raw_data.len = count * sizeof *values;
    tensor->raw_data.data = copy_bytes(builder, values, count * sizeof *values);
    return tensor;
}

Onnx__TensorProto *onnx_add_floats(struct onnx_builder *builder, const char *name, int rank, const int64_t *dimensions,
                                   const float *values)
{
    Onnx__TensorProto *tensor = make_floats(builder, name, rank, dimensions, values);
    append(builder, builder->graph.initializer, builder->graph.n_initializer, tensor);
    return tensor;
}

Onnx__TensorProto *onnx_add_initialiser(struct onnx_builder *builder, const char *name, int rank, const int64_t *dimensions,
                                        const int64_t *values)
{
    size_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= (size_t)dimensions[i];
    float *floats = arena_array(&builder->arena, float, count);
    for (size_t i = 0; i < count; i++)
        floats[i] = (float)values[i];
    return onnx_add_floats(builder, name, rank, dimensions, floats);
}

static Onnx__TensorProto *make_int64(struct onnx_builder *builder, const char *name, int rank, const int64_t *dimensions,
                                     const int64_t *values)
{
    size_t count;
    Onnx__TensorProto *tensor = make_tensor(builder, name, rank, dimensions, ONNX__TENSOR_PROTO__DATA_TYPE__INT64, &count);
    tensor->n_int64_data = count;
    tensor->int64_data = copy_bytes(builder, values, count * sizeof *values);
    return tensor;
}

Onnx__TensorProto *onnx_add_int64(struct onnx_builder *builder, const char *name, int rank, const int64_t *dimensions,
                                  const int64_t *values)
{
    Onnx__TensorProto *tensor = make_int64(builder, name, rank, dimensions, values);
    append(builder, builder->graph.initializer, builder->graph.n_initializer, tensor);
    return tensor;
}

void onnx_add_scalar(struct onnx_builder *builder, const char *name, double value)
{
    float narrow = (float)value;
    onnx_add_floats(builder, name, 0, NULL, &narrow);
}

/* ---- nodes ---- */

static size_t split_names(struct onnx_builder *builder, const char *names, char ***list)
{
    size_t count = 0;
    for (size_t length; *names; names += length + strspn(names + length, " ")) {
        length = strcspn(names, " ");
        bool is_left_out = length == 1 && *names == '-';
        char *name = arena_format(&builder->arena, "%.*s", is_left_out ? 0 : (int)length, names);
        append(builder, *list, count, name);
    }
    return count;
}

onnx_node *onnx_add_node(struct onnx_builder *builder, const char *type, const char *inputs, const char *outputs)
{
    onnx_node *node = allocate(builder, onnx_node);
    onnx__node_proto__init(node);
    node->op_type = copy_text(builder, type);
    node->name = arena_format(&builder->arena, "%s_%zu", type, builder->graph.n_node);
    node->n_input = split_names(builder, inputs, &node->input);
    node->n_output = split_names(builder, outputs, &node->output);
    append(builder, builder->graph.node, builder->graph.n_node, node);
    return node;
}

static Onnx__AttributeProto *add_attribute(struct onnx_builder *builder, onnx_node *node, const char *name,
                                           Onnx__AttributeProto__AttributeType type)
{
    Onnx__AttributeProto *attribute = allocate(builder, Onnx__AttributeProto);
    onnx__attribute_proto__init(attribute);
    attribute->name = copy_text(builder, name);
    attribute->has_type = 1;
    attribute->type = type;
    append(builder, node->attribute, node->n_attribute, attribute);
    return attribute;
}

void onnx_set_integer(struct onnx_builder *builder, onnx_node *node, const char *name, int64_t value)
{
    Onnx__AttributeProto *attribute = add_attribute(builder, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    attribute->has_i = 1;
    attribute->i = value;
}

void onnx_set_float(struct onnx_builder *builder, onnx_node *node, const char *name, float value)
{
    Onnx__AttributeProto *attribute = add_attribute(builder, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
    attribute->has_f = 1;
    attribute->f = value;
}

void onnx_set_text(struct onnx_builder *builder, onnx_node *node, const char *name, const char *value)
{
    Onnx__AttributeProto *attribute = add_attribute(builder, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
    attribute->has_s = 1;
    attribute->s.len = strlen(value);
    attribute->s.data = copy_bytes(builder, value, strlen(value));
}

void onnx_set_integers(struct onnx_builder *builder, onnx_node *node, const char *name, int count, const int64_t *values)
{
    Onnx__AttributeProto *attribute = add_attribute(builder, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
    attribute->n_ints = (size_t)count;
    attribute->ints = copy_bytes(builder, values, (size_t)count * sizeof *values);
}

void onnx_add_constant_node(struct onnx_builder *builder, const char *output, double value, bool as_int64)
{
    onnx_node *node = onnx_add_node(builder, "Constant", "", output);
    Onnx__AttributeProto *attribute = add_attribute(builder, node, "value", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR);
    float narrow = (float)value;
    int64_t whole = (int64_t)value;
    attribute->t = as_int64 ? make_int64(builder, "", 0, NULL, &whole) : make_floats(builder, "", 0, NULL, &narrow);
}

/* ---- NEMO ---- */

void onnx_add_nemo_normalisation(struct onnx_builder *builder, const char *input, const char *output, int rank, int channels,
                                 const int64_t *k, const int64_t *lambda, int64_t multiplier, int64_t divisor)
{
    const int64_t dimensions[4] = {1, channels, 1, 1};
    const char *names[10];
    static const char *const roles[10] = {"k",   "scaled",  "lambda", "shifted",  "whole",
                                          "mul", "product", "div",    "quotient", "float"};
    for (int i = 0; i < 10; i++)
        names[i] = arena_format(&builder->arena, "%s.%s", output, roles[i]);
#define PAIR(a, b) arena_format(&builder->arena, "%s %s", a, b)
    onnx_add_initialiser(builder, names[0], rank, dimensions, k);
    onnx_add_initialiser(builder, names[2], rank, dimensions, lambda);
    onnx_add_node(builder, "Mul", PAIR(names[0], input), names[1]);
    onnx_add_node(builder, "Add", PAIR(names[1], names[2]), names[3]);
    onnx_set_integer(builder, onnx_add_node(builder, "Cast", names[3], names[4]), "to",
                     ONNX__TENSOR_PROTO__DATA_TYPE__INT64);
    onnx_add_constant_node(builder, names[5], (double)multiplier, true);
    onnx_add_node(builder, "Mul", PAIR(names[4], names[5]), names[6]);
    onnx_add_constant_node(builder, names[7], (double)divisor, true);
    onnx_add_node(builder, "Div", PAIR(names[6], names[7]), names[8]);
    onnx_set_integer(builder, onnx_add_node(builder, "Cast", names[8], names[9]), "to",
                     ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
    onnx_node *clip = onnx_add_node(builder, "Clip", names[9], output);
    onnx_set_float(builder, clip, "min", 0);
    onnx_set_float(builder, clip, "max", 255);
#undef PAIR
}
