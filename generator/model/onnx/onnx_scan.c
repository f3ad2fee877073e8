#include "model/onnx/onnx_scan.h"

#include "onnx/onnx.pb-c.h"

#define MAXIMUM_DEPTH 32 /* an ONNX model without control flow needs 6 */
#define WIRE_VARINT   0
#define WIRE_64_BITS  1
#define WIRE_BYTES    2
#define WIRE_32_BITS  5

struct scan {
    const unsigned char *bytes;
    size_t position;
    const char *fault; /* null while all is well */
    size_t missing;    /* bytes behind the end of the file that a field of it claims */
};

static bool fail(struct scan *scan, const char *fault)
{
    scan->fault = fault;
    return false;
}

static bool scan_varint(struct scan *scan, size_t end, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (scan->position >= end) {
            scan->missing = 1;
            return fail(scan, "a number is cut off");
        }
        unsigned char byte = scan->bytes[scan->position++];
        *number |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (!(byte & 0x80))
            return true;
    }
    return fail(scan, "a number has more than 10 bytes");
}

static bool skip(struct scan *scan, size_t end, uint64_t count)
{
    if (count > end - scan->position) {
        scan->missing = count - (end - scan->position);
        return fail(scan, "a field is longer than what encloses it");
    }
    scan->position += count;
    return true;
}

static bool scan_message(struct scan *scan, size_t end, const ProtobufCMessageDescriptor *message, int depth);

/* A submessage that is not repeated may be given once. */
static bool note_seen(struct scan *scan, const ProtobufCMessageDescriptor *message, const ProtobufCFieldDescriptor *field,
                      uint64_t *seen)
{
    size_t index = (size_t)(field - message->fields);
    if (field->label == PROTOBUF_C_LABEL_REPEATED || index >= 64)
        return true;
    if (*seen >> index & 1)
        return fail(scan, "a field is given twice");
    *seen |= (uint64_t)1 << index;
    return true;
}

static bool scan_bytes(struct scan *scan, size_t end, const ProtobufCMessageDescriptor *message,
                       const ProtobufCFieldDescriptor *field, uint64_t *seen, int depth)
{
    uint64_t length;
    if (!scan_varint(scan, end, &length))
        return false;
    size_t start = scan->position;
    if (!skip(scan, end, length))
        return false;
    if (!field || field->type != PROTOBUF_C_TYPE_MESSAGE)
        return true;
    if (!note_seen(scan, message, field, seen))
        return false;
    scan->position = start;
    return scan_message(scan, start + length, (const ProtobufCMessageDescriptor *)field->descriptor, depth + 1);
}

static bool scan_field(struct scan *scan, size_t end, const ProtobufCMessageDescriptor *message, uint64_t *seen, int depth)
{
    uint64_t tag, number;
    if (!scan_varint(scan, end, &tag))
        return false;
    if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return fail(scan, "a field has no valid number");
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(message, (unsigned)(tag >> 3));
    switch (tag & 7) {
    case WIRE_VARINT: return scan_varint(scan, end, &number);
    case WIRE_64_BITS: return skip(scan, end, 8);
    case WIRE_32_BITS: return skip(scan, end, 4);
    case WIRE_BYTES: return scan_bytes(scan, end, message, field, seen, depth);
    default: return fail(scan, "a field has no valid type");
    }
}

static bool scan_message(struct scan *scan, size_t end, const ProtobufCMessageDescriptor *message, int depth)
{
    uint64_t seen = 0;
    if (depth > MAXIMUM_DEPTH)
        return fail(scan, "messages are nested more than 32 deep");
    while (scan->position < end)
        if (!scan_field(scan, end, message, &seen, depth))
            return false;
    return true;
}

/* Files that are cut off start as a model does: the version of the format, a small number. */
static bool starts_like_a_model(const unsigned char *bytes, size_t length)
{
    return length >= 2 && bytes[0] == (1 << 3 | WIRE_VARINT) && bytes[1] < 64;
}

bool onnx_scan(const unsigned char *bytes, size_t length, struct diagnostics *diagnostics)
{
    struct scan scan = {.bytes = bytes};
    if (length == 0) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "the file is empty; expected an ONNX model");
        return false;
    }
    if (scan_message(&scan, length, &onnx__model_proto__descriptor, 0))
        return true;
    if (scan.missing && starts_like_a_model(bytes, length))
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "the file is truncated: %s (at byte %zu of %zu, at least %zu bytes are missing)", scan.fault, scan.position,
                 length, scan.missing);
    else
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "not an ONNX model: %s at byte %zu of %zu; expected a protobuf message of type onnx.ModelProto", scan.fault,
                 scan.position, length);
    return false;
}
