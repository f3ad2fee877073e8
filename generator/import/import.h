/* Import: walks the nodes of a graph in order and says of every value what it is in terms of layers: its *flow*.
 *
 * An arithmetic node (Mul, Add of a constant, Div) does no more than change the flow's pending arithmetic, an exact rational
 * (multiplier * x + addend) / divisor. Where rounding happens (Floor, Cast to an integer type, Clip), pending
 * arithmetic becomes a stage of the layer. Where a value is read by a layer, by two nodes or by the outside, its layer is
 * finished. So no pattern of nodes has to be recognised, and whatever the order of Mul, Add and Div, the result is exact.
 *
 * All fronts ends share this; what differs between them are a few attributes.
 */
#ifndef DORYGEN_IMPORT_H
#define DORYGEN_IMPORT_H

#include "base/support.h"
#include "import/load.h"
#include "model/graph.h"
#include "network/network.h"

struct shape {
    int rank;
    int64_t dimensions[GRAPH_MAXIMUM_RANK]; /* as in ONNX: batch, channels, height, width */
};

struct padding {
    int top, left, bottom, right;
    int64_t value; /* of the elements of the border */
};

struct affine {
    int count; /* of multiplier and addend: 1, or the number of channels */
    int64_t *multiplier, *addend;
    int64_t divisor; /* at least 1 */
};

enum flow_kind {
    FLOW_UNKNOWN,  /* comes from a node with a fault, which was reported */
    FLOW_CONSTANT, /* known without running the network */
    FLOW_TENSOR,   /* a finished tensor, or arithmetic on it */
    FLOW_LAYER,    /* what a layer computes, which nobody else reads: arithmetic may still become part of the layer */
    FLOW_HEAD      /* of a floating-point head behind an output tensor, left to the application */
};

struct flow {
    enum flow_kind kind;
    int index; /* of the tensor, or of the layer; of a head: the tensor that it starts from */
    const struct constant *constant;
    struct shape shape;
    struct padding padding; /* by Pad nodes, for the layer that reads the value; only nodes that can take it see it */
    bool is_integer_type;   /* its Div is a whole division */
    bool is_divided;        /* a Div is pending: a fraction that is added rounds its result */
    struct affine pending;
};

struct importer {
    struct arena *arena;
    struct diagnostics *diagnostics;
    const struct graph *graph;
    const struct load_options *options;
    struct network *network;
    struct flow *flows;     /* of the graph's values */
    size_t pending_numbers; /* copied so far: memory that a hostile model can multiply */
    int head_noted_for;     /* the last tensor whose heads a note was given for */
};

/* Node handlers: give the flow of the node's first output; false after an error was reported and nothing can be said. */
typedef bool node_handler(struct importer *importer, const struct node *node, struct flow *result);

/* import_layers.c */
node_handler import_convolution, import_gemm, import_matrix_product, import_maximum_pool, import_average_pool,
    import_global_pool, import_pad, import_integer_convolution, import_integer_product;

/* import_arithmetic.c */
node_handler import_add, import_subtract, import_multiply, import_divide, import_floor, import_clip, import_relu,
    import_cast, import_requant_shift;

/* import_shapes.c: nodes that move no byte, constants that are computed from shapes, and heads */
node_handler import_constant, import_identity, import_flatten, import_reshape, import_squeeze, import_unsqueeze,
    import_transpose, import_shape, import_gather, import_concat, import_head;

/* import_addition.c */
bool import_concatenation(struct importer *importer, const struct node *node, struct flow *result);
bool import_residual_addition(struct importer *importer, const struct node *node, const struct flow *first,
                              const struct flow *second, struct flow *result);

/* ---- import.c: what handlers use ---- */

/* Reports an error of a node (and attribute, or null). False, so that handlers can return it. */
bool import_fault(struct importer *importer, const struct node *node, const char *attribute, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void import_warning(struct importer *importer, const struct node *node, const char *attribute, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The flow of an input; null where the input is left out. A left-out input that is needed was reported. */
const struct flow *import_input(struct importer *importer, const struct node *node, int index);
/* Like import_input, for handlers that can do nothing without it: false as well where it is unknown. */
bool import_needs(struct importer *importer, const struct node *node, int index, const struct flow **input);
/* Null where the input is left out or no constant. */
const struct constant *import_constant_input(struct importer *importer, const struct node *node, int index);

int64_t import_integer(struct importer *importer, const struct node *node, const char *attribute, int64_t otherwise);
/* Fills `numbers` from a list attribute of `count` integers; `otherwise` for all where there is none. */
bool import_integers(struct importer *importer, const struct node *node, const char *attribute, int count, int64_t otherwise,
                     int64_t *numbers);
/* A constant as integers, which the caller may change; what is no integer is reported, and read as `instead`. */
int64_t *import_whole_numbers(struct importer *importer, const struct node *node, const char *role,
                              const struct constant *constant, int64_t instead);
/* False, and a fault, where the constant's numbers are of a type that is not read. */
bool import_reads_type(struct importer *importer, const struct node *node, const char *role,
                       const struct constant *constant);
/* A fault where some numbers of a constant are no integers; `first`: where the first of them is. */
void import_report_fractions(struct importer *importer, const struct node *node, const char *role,
                             const struct constant *constant, size_t fractions, size_t first);

/* A layer and its output tensor, kernel and stride 1, dilation 1, groups 1, weight_bits 8, one input. */
int import_new_layer(struct importer *importer, enum layer_kind kind, const char *name, int input, int height, int width,
                     int channels);
const char *shape_text(struct importer *importer, const struct shape *shape); /* "1x32x10x10" */
int64_t shape_elements(const struct shape *shape);

/* ---- flow.c ---- */

struct flow flow_of_tensor(struct importer *importer, int tensor, const struct shape *shape);
struct flow flow_of_layer(struct importer *importer, int layer, const struct shape *shape);
bool flow_is_data(const struct flow *flow); /* a tensor or layer */
const struct tensor *flow_tensor_view(const struct importer *importer, const struct flow *flow);
bool flow_has_padding(const struct flow *flow);

/* Pending arithmetic; `count` numbers, 1 or the number of channels. False after an overflow was reported. */
bool flow_multiply(struct importer *importer, const struct node *node, struct flow *flow, const int64_t *numbers, int count);
bool flow_add(struct importer *importer, const struct node *node, struct flow *flow, const int64_t *numbers, int count);
/* Adds numbers[i] / 2^halvings. */
bool flow_add_fractions(struct importer *importer, const struct node *node, struct flow *flow, const int64_t *numbers,
                        int count, int halvings);
bool flow_divide(struct importer *importer, const struct node *node, struct flow *flow, int64_t divisor);
void flow_floor(struct importer *importer, const struct node *node, struct flow *flow);
/* `bits`: of an element of the result where the model says so, else 0. */
void flow_clip(struct importer *importer, const struct node *node, struct flow *flow, int64_t minimum, int64_t maximum,
               int bits);

/* Makes padding of Pad nodes a layer of its own, for readers that cannot have it as theirs. False after an error was
 * reported. */
bool flow_lay_padding(struct importer *importer, const struct node *node, struct flow *flow);

/* Finishes the layer. Where the options say so, a division that was not rounded stays pending, for a layer that reads the
 * value and computes with it as with any factor. Else the flow has nothing pending then. */
void flow_settle(struct importer *importer, const struct node *node, struct flow *flow);

/* Finishes the layer: nothing is pending then. The tensor's index. */
int flow_finish(struct importer *importer, const struct node *node, struct flow *flow);
/* Finishes nothing, and leaves pending arithmetic to the reader. */
int flow_split(struct importer *importer, const struct flow *flow, struct affine *rest);
struct affine affine_identity(struct importer *importer);
void affine_reduce(struct affine *affine);

/* No element of the tensor is smaller, as far as import knows. */
bool flow_is_at_least(const struct importer *importer, int tensor, int64_t least);
bool flow_is_never_negative(const struct importer *importer, int tensor);

/* ---- import_nemo.c, import_quantlab.c: what the front ends do differently ---- */

enum front_end import_detect(const struct graph *graph);
/* Bits of an element behind a Clip, 2, 4 or 8, by Quantlab's out_bits or PLiNIO's metadata; else 0. */
int import_output_bits(struct importer *importer, const struct node *node);
bool import_is_annotated_addition(const struct node *node);
/* Sets the stages of an addition from the attributes of its node. */
bool import_annotate_addition(struct importer *importer, const struct node *node, struct layer *layer,
                              const bool is_signed[2]);

/* The whole import. Null after errors were reported. */
struct network *import_graph(const struct graph *graph, const char *name, const struct load_options *options,
                             struct arena *arena, struct diagnostics *diagnostics);

#endif
