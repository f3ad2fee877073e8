#include "model/onnx/onnx_constant.h"

#include "model/onnx/external_data.h"

#define MAXIMUM_ELEMENTS ((int64_t)1 << 31)

static const struct {
    const char *name;
    enum element_type type;
} onnx_types[] = {
    {"UNDEFINED", ELEMENT_UNSUPPORTED},
    {"FLOAT", ELEMENT_FLOAT},
    {"UINT8", ELEMENT_UINT8},
    {"INT8", ELEMENT_INT8},
    {"UINT16", ELEMENT_UINT16},
    {"INT16", ELEMENT_INT16},
    {"INT32", ELEMENT_INT32},
    {"INT64", ELEMENT_INT64},
    {"STRING", ELEMENT_UNSUPPORTED},
    {"BOOL", ELEMENT_UINT8}, /* 0 or 1 */
    {"FLOAT16", ELEMENT_FLOAT16},
    {"DOUBLE", ELEMENT_DOUBLE},
    {"UINT32", ELEMENT_UINT32},
    {"UINT64", ELEMENT_UNSUPPORTED},
    {"COMPLEX64", ELEMENT_UNSUPPORTED},
    {"COMPLEX128", ELEMENT_UNSUPPORTED},
    {"BFLOAT16", ELEMENT_UNSUPPORTED},
    {"FLOAT8E4M3FN", ELEMENT_UNSUPPORTED},
    {"FLOAT8E4M3FNUZ", ELEMENT_UNSUPPORTED},
    {"FLOAT8E5M2", ELEMENT_UNSUPPORTED},
    {"FLOAT8E5M2FNUZ", ELEMENT_UNSUPPORTED},
    {"UINT4", ELEMENT_UINT8}, /* in bytes, once they are read */
    {"INT4", ELEMENT_INT8},
    {"FLOAT4E2M1", ELEMENT_UNSUPPORTED},
    {"FLOAT8E8M0", ELEMENT_UNSUPPORTED},
    {"UINT2", ELEMENT_UINT8},
    {"INT2", ELEMENT_INT8},
};

/* Bits of an element of a type that has several in a byte; 0: the type has none such. */
static int packed_bits(int32_t type)
{
    static const int bits[] = {[21] = 4, [22] = 4, [25] = 2, [26] = 2};
    return type >= 0 && (size_t)type < sizeof bits / sizeof *bits ? bits[type] : 0;
}

void onnx_constant_set_type(struct constant *constant, int32_t type)
{
    bool is_known = type >= 0 && (size_t)type < sizeof onnx_types / sizeof *onnx_types;
    constant->type = is_known ? onnx_types[type].type : ELEMENT_UNSUPPORTED;
    constant->type_name = is_known ? onnx_types[type].name : "of unknown type";
    constant->narrow_bits = packed_bits(type);
}

/* The product of the dimensions, or false. */
static bool set_dimensions(struct reader *reader, struct constant *constant, const Onnx__TensorProto *source,
                           const char *owner)
{
    int64_t count = 1;
    if (source->n_dims > GRAPH_MAXIMUM_RANK) {
        report(reader, owner, NULL, "constant '%s' has %zu dimensions; supported: up to %d", constant->name, source->n_dims,
               GRAPH_MAXIMUM_RANK);
        return false;
    }
    constant->rank = (int)source->n_dims;
    for (int i = 0; i < constant->rank; i++) {
        int64_t dimension = source->dims[i];
        if (dimension < 0 || dimension > MAXIMUM_ELEMENTS || (dimension && count > MAXIMUM_ELEMENTS / dimension)) {
            report(reader, owner, NULL, "constant '%s' has impossible dimensions (dimension %d is %lld)", constant->name, i,
                   (long long)dimension);
            return false;
        }
        constant->dimensions[i] = dimension;
        count *= dimension;
    }
    constant->count = (size_t)count;
    return true;
}

struct numbers {
    const void *data;
    size_t count;
    int stride_bytes;
};

/* Where the numbers are if they are not in raw_data. */
static struct numbers typed_numbers(const Onnx__TensorProto *source, enum element_type type)
{
    switch (type) {
    case ELEMENT_FLOAT: return (struct numbers){source->float_data, source->n_float_data, sizeof(float)};
    case ELEMENT_DOUBLE: return (struct numbers){source->double_data, source->n_double_data, sizeof(double)};
    case ELEMENT_INT64: return (struct numbers){source->int64_data, source->n_int64_data, sizeof(int64_t)};
    case ELEMENT_UINT32: return (struct numbers){source->uint64_data, source->n_uint64_data, sizeof(uint64_t)};
    default: return (struct numbers){source->int32_data, source->n_int32_data, sizeof(int32_t)};
    }
}

/* Data that lies in a file beside the model's. */
static bool set_external_data(struct reader *reader, struct constant *constant, const Onnx__TensorProto *source)
{
    constant->stride_bytes = element_type_bytes(constant->type);
    constant->is_little_endian = true;
    constant->data =
        external_data_read(&reader->files, source, constant->name, constant->count * (size_t)constant->stride_bytes,
                           reader->arena, reader->diagnostics);
    return constant->data != NULL;
}

/* The low bits of a byte come first. In int32_data each number has one byte of these. */
static bool unpack(struct reader *reader, struct constant *constant, const Onnx__TensorProto *source, int bits,
                   const char *owner)
{
    size_t in_byte = 8 / (size_t)bits, wanted = (constant->count + in_byte - 1) / in_byte;
    bool is_raw = source->has_raw_data && source->raw_data.len, is_signed = constant->type == ELEMENT_INT8;
    size_t found = is_raw ? source->raw_data.len : source->n_int32_data;
    if (found != wanted) {
        report(reader, owner, NULL, "constant '%s' has %zu bytes of data; its dimensions say %zu", constant->name, found,
               wanted);
        return false;
    }
    unsigned char *bytes = arena_array(reader->arena, unsigned char, constant->count + 1);
    for (size_t i = 0; i < constant->count; i++) {
        unsigned byte = is_raw ? source->raw_data.data[i / in_byte] : (unsigned)source->int32_data[i / in_byte] & 0xff;
        unsigned number = byte >> (i % in_byte * (size_t)bits) & ((1U << bits) - 1), sign = 1U << (bits - 1);
        bytes[i] = (unsigned char)(is_signed && number & sign ? number - 2 * sign : number);
    }
    constant->data = bytes;
    constant->stride_bytes = 1;
    constant->is_little_endian = true;
    return true;
}

static bool set_data(struct reader *reader, struct constant *constant, const Onnx__TensorProto *source, const char *owner)
{
    struct numbers numbers = typed_numbers(source, constant->type);
    size_t rest = 0;
    if (source->has_raw_data && source->raw_data.len) {
        int bytes = element_type_bytes(constant->type);
        numbers = (struct numbers){source->raw_data.data, source->raw_data.len / (size_t)bytes, bytes};
        rest = source->raw_data.len % (size_t)bytes;
        constant->is_little_endian = true;
    }
    if (numbers.count != constant->count || rest) {
        report(reader, owner, NULL, "constant '%s' has %zu numbers of data; its dimensions say %zu", constant->name,
               numbers.count, constant->count);
        return false;
    }
    constant->data = numbers.data;
    constant->stride_bytes = numbers.stride_bytes;
    return true;
}

const struct constant *onnx_constant_read(struct reader *reader, const Onnx__TensorProto *source, const char *name,
                                          const char *owner)
{
    struct constant *constant = arena_allocate(reader->arena, sizeof *constant);
    constant->name = name;
    onnx_constant_set_type(constant, source->has_data_type ? source->data_type : 0);
    if (!set_dimensions(reader, constant, source, owner))
        return NULL;
    int packed = constant->narrow_bits;
    if (constant->type == ELEMENT_UNSUPPORTED)
        return constant;
    if (packed && source->has_data_location && source->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL) {
        constant->type = ELEMENT_UNSUPPORTED;
        return constant;
    }
    if (packed)
        return unpack(reader, constant, source, packed, owner) ? constant : NULL;
    if (source->has_data_location && source->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
        return set_external_data(reader, constant, source) ? constant : NULL;
    return set_data(reader, constant, source, owner) ? constant : NULL;
}
