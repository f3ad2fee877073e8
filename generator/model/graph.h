/* An ONNX graph as it stands in the file: nodes, their attributes, constants, and edges by tensor name. One thing is mended,
 * with a warning: an input that was renamed, but not where it is read. Everything else that can be wrong with the file
 * itself is found while reading (read_onnx.c); whoever walks the graph may rely on what is said here. Nothing of protobuf is
 * visible.
 */
#ifndef DORYGEN_GRAPH_H
#define DORYGEN_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/support.h"

#define GRAPH_MAXIMUM_RANK 8

enum element_type {
    ELEMENT_FLOAT,
    ELEMENT_FLOAT16,
    ELEMENT_DOUBLE,
    ELEMENT_INT8,
    ELEMENT_UINT8,
    ELEMENT_INT16,
    ELEMENT_UINT16,
    ELEMENT_INT32,
    ELEMENT_UINT32,
    ELEMENT_INT64,
    ELEMENT_UNSUPPORTED
};

/* Numbers as in the file; read them with the functions below. `count` is the product of the dimensions (1 for a scalar)
 * and there is data for so many. */
struct constant {
    const char *name;
    enum element_type type;
    const char *type_name; /* as ONNX calls it, for messages */
    int narrow_bits;       /* of a type of less than 8 bits, whose numbers stand here in bytes; else 0 */
    int rank;
    int64_t dimensions[GRAPH_MAXIMUM_RANK];
    size_t count;
    const unsigned char *data;
    int stride_bytes;      /* from number to number */
    bool is_little_endian; /* data is as in the file; else in the machine's own order, 8-bit types in an int32 */
};

enum attribute_kind {
    ATTRIBUTE_INTEGER,
    ATTRIBUTE_FLOAT,
    ATTRIBUTE_TEXT,
    ATTRIBUTE_INTEGERS,
    ATTRIBUTE_FLOATS,
    ATTRIBUTE_CONSTANT,
    ATTRIBUTE_OTHER
};

struct attribute {
    const char *name;
    enum attribute_kind kind;
    int64_t integer;
    double number;
    const char *text;
    const int64_t *integers;
    const float *numbers;
    size_t count; /* of integers or numbers */
    const struct constant *constant;
};

#define NO_VALUE (-1)
#define NO_NODE  (-1)

struct node {
    const char *name;   /* of the node, or its first output where it has none */
    const char *type;   /* "Conv" */
    const char *domain; /* "" is ONNX's own */
    const int *inputs;  /* indices of values; NO_VALUE: an optional input that is left out */
    int input_count;
    const int *outputs;
    int output_count;
    const struct attribute *attributes;
    int attribute_count;
    bool is_needed; /* an output of the graph depends on it */
};

/* A tensor name: an edge from its producer to all nodes that read it. */
struct value {
    const char *name;
    int producer; /* node, or NO_NODE for inputs and initialisers; always before every node that reads it */
    const struct constant *constant; /* an initialiser, else null */
    bool is_input, is_output;
    int use_count;  /* by needed nodes, one for each time that it is named; outputs of the graph count */
    int precision;  /* bits of an element, where metadata of the model say so; else 0 */
    bool is_signed; /* likewise */
    bool has_shape; /* inputs only: */
    enum element_type type;
    int rank;
    int64_t dimensions[GRAPH_MAXIMUM_RANK]; /* -1: not fixed in the model */
};

struct graph {
    const char *name;
    int64_t opset; /* version of ONNX's own operators */
    const char *producer;
    struct node *nodes;
    int node_count;
    struct value *values;
    int value_count;
    const int *inputs; /* values that are no initialisers */
    int input_count;
    const int *outputs;
    int output_count;
};

/* Null after an error was reported. */
struct graph *graph_read_memory(const void *bytes, size_t length, struct arena *arena, struct diagnostics *diagnostics);
/* Likewise; constants may be kept in files in `folder`, that of the model. */
struct graph *graph_read_beside(const void *bytes, size_t length, const char *folder, struct arena *arena,
                                struct diagnostics *diagnostics);

/* Null where the node has none of that name. */
const struct attribute *node_attribute(const struct node *node, const char *name);

/* Whether its type is in a list, which ends in NULL. */
bool node_is_one_of(const struct node *node, const char *const *types);

/* True, and the number, if it is an integer that fits; floats must be integral. */
bool constant_integer(const struct constant *constant, size_t index, int64_t *number);
/* True, and the number, if the constant holds one integer only, once or many times. */
bool constant_same_integer(const struct constant *constant, int64_t *number);
/* `count` numbers from `from` on, `instead` in place of those that are no such integers. Returns how many of them are not;
 * `*first` is then where the first of these is. */
size_t constant_integers(const struct constant *constant, size_t from, size_t count, int64_t instead, int64_t *numbers,
                         size_t *first);
double constant_number(const struct constant *constant,
                       size_t index); /* rounded where int64 exceeds a double; for messages */
bool element_type_is_integer(enum element_type type);
int element_type_bytes(enum element_type type); /* of a number, as the file has it */

/* A constant made of integers, rank 0 or 1. */
struct constant *constant_make(struct arena *arena, const char *name, const int64_t *numbers, size_t count, int rank);

#endif
