/* QDQ and QOperator ONNX: networks that onnxruntime's quantize_static, Brevitas, AIMET or PyTorch have quantised.
 *
 * A walk over the nodes says of every value what it is. Between a DequantizeLinear and a QuantizeLinear values are real
 * numbers, and what can be said of a real value decides what becomes of it:
 *   - a function of one element of a tensor: 256 float32 numbers, whatever the nodes are that made it. DequantizeLinear
 *     itself is one, Sigmoid of it another, x * HardSigmoid(x) a third. QuantizeLinear makes a table of it, or nothing
 *     where the elements come out as they went in.
 *   - a pending layer: exact sums with exact factors, as of a convolution, behind which a Relu may bound what a
 *     QuantizeLinear then rounds.
 *   - neither: floating-point arithmetic. Behind the last quantised tensor it is left to the application, elsewhere it is an
 *     error.
 * Operators like QLinearConv are a DequantizeLinear in front, the operator, and a QuantizeLinear behind.
 */
#ifndef DORYGEN_QDQ_H
#define DORYGEN_QDQ_H

#include "base/support.h"
#include "middle/layout.h"
#include "middle/moves.h"
#include "middle/norms.h"
#include "model/graph.h"

/* ---- values ---- */

/* Numbers that are known without running the network. */
struct qdq_array {
    const char *name;
    enum element_type type;
    const char *type_name;
    int narrow_bits; /* of an integer type of less than 8; else 0 */
    int rank;
    int64_t dimensions[GRAPH_MAXIMUM_RANK];
    size_t count;
    const double *numbers; /* null: of a type that dory does not read */
    /* behind a DequantizeLinear: real value = (number - zero point) * scale. scale_count 0: the numbers themselves; else 1,
     * or one for each index of dimension `axis` */
    size_t scale_count;
    int axis;
    const double *scales;
    const int64_t *zero_points;
};

/* What parts become: one behind the other, the largest or smallest of their elements; of two parts the first or second, by
 * a third one, which keeps its own elements; of one part, what is below zero times a slope; or a sum, whose parts are its
 * terms. */
enum qdq_whole { QDQ_JOINED, QDQ_LARGEST, QDQ_SMALLEST, QDQ_SELECTED, QDQ_SLOPED, QDQ_SUMMED };

/* What a layer computes exactly, before it is rounded: (accumulator + addends[c]) * scale * factors[c] / divisor
 * + constants[c]. */
struct qdq_pending {
    struct layer layer; /* without stages and output */
    int height, width, channels;
    int count; /* of addends, factors and constants: 1 or the number of channels */
    int64_t *addends;
    double scale;
    double *factors;
    int64_t divisor;
    double *constants;       /* null: none */
    double minimum, maximum; /* by a Relu or Clip behind; infinite: none */
    /* instead of a layer: tensors, each of which takes on the quantisation of the whole first */
    enum qdq_whole whole;
    const struct qdq_value *parts;
    int part_count;
    int dimension;                  /* along which they are joined, or which has the slopes */
    const struct qdq_array *slopes; /* of QDQ_SLOPED, one a channel */
    struct view view; /* of parts and sums: of the whole as it is made; nodes behind may turn the value's own */
    /* of a sum: tensors, and layers that await their rounding, each added or, with the sign -1, subtracted */
    const struct qdq_value *terms;
    const int *signs;
    int term_count;
    struct qdq_norm *norm; /* LAYER_NORM: its rows and constants; what is above is not used but for the bounds */
};

/* (x - shift) * numerator / denominator of an input of the model that is float. */
struct qdq_outside {
    bool is_touched; /* there is such arithmetic */
    bool is_exact;   /* the three numbers say all of it */
    double shift, numerator, denominator;
    bool is_unknown; /* the steps do not say all of it */
    const struct real_step *steps;
    int step_count;
};

/* What an input's elements stand for once the arithmetic in front of them is taken in. */
struct qdq_fold {
    int tensor;
    double scale;
    int zero_point;
};

struct qdq_front {
    int tensor;
    struct qdq_outside outside;
};

/* What a layer's 32-bit sums are, once they are given out. */
struct qdq_given {
    const struct qdq_pending *pending;
    int tensor;
};

/* A tensor whose scale is 1, and the real one of each channel. */
struct qdq_scaled {
    int tensor;
    const struct qdq_array *scales;
};

enum qdq_kind {
    QDQ_NONE,     /* an optional input that is left out */
    QDQ_UNKNOWN,  /* of a node with a fault, which was reported */
    QDQ_CONSTANT, /* array */
    QDQ_ELEMENTS, /* integers, as they are in a tensor */
    QDQ_REALS,    /* a real function of one element of a tensor */
    QDQ_PENDING,
    QDQ_SCALED,    /* integers with a scale a channel, behind their DequantizeLinear: for depth-wise convolutions */
    QDQ_STATISTIC, /* a part of a norm of a tensor, in floating point: see norms.c */
    QDQ_INDICES,   /* an input by which rows of a constant are looked up */
    QDQ_OUTSIDE,   /* of the application, in front of the first QuantizeLinear */
    QDQ_HEAD       /* of the application, behind the last quantised tensors */
};

struct qdq_value {
    enum qdq_kind kind;
    struct view view; /* of the model's tensor in dory's; of QDQ_OUTSIDE its shape only */
    int tensor;
    const float *reals; /* QDQ_REALS: by the element */
    const struct qdq_array *array;
    const struct qdq_pending *pending;
    const struct qdq_statistic *statistic;
    struct qdq_outside outside;
    const int *sources; /* QDQ_HEAD: the tensors that it is computed from */
    int source_count;
};

/* What nodes that make up a norm of x have between them. */
enum qdq_statistic_kind {
    QDQ_CENTRED,   /* x - mean */
    QDQ_SQUARES,   /* of that */
    QDQ_VARIANCE,  /* mean or sum of squares, of that or of x, + epsilon */
    QDQ_DEVIATION, /* its root */
    QDQ_INVERSE    /* 1 / that */
};

struct qdq_statistic {
    enum qdq_statistic_kind kind;
    enum norm_kind norm;
    double epsilon;
    double least;                    /* that a deviation is kept from falling below */
    bool is_row[GRAPH_MAXIMUM_RANK]; /* dimensions that are normalised together */
    bool is_squeezed;                /* a mean or sum, without these dimensions */
    struct qdq_value x;
};

struct qdq {
    struct arena *arena;
    struct diagnostics *diagnostics;
    const struct graph *graph;
    struct quantised_builder builder;
    struct qdq_value *values;           /* of the graph's */
    struct qdq_later *later;            /* of the graph's values: see settle.c */
    bool *is_quantised_later;           /* of the graph's values: something computed from it is quantised */
    const char *islands, *island_types; /* lists of names */
    int island_count;
    bool has_inlined_islands;
    const char *head; /* list of names of the nodes that are left to the application */
    bool *is_listed;  /* of the graph's nodes: it is among them */
    struct qdq_fold *folds;
    int fold_count;
    struct qdq_front *fronts; /* of inputs that are quantised */
    int front_count;
    struct qdq_claim *claims; /* of inputs that are quantised: input_parts.c */
    int claim_count;
    size_t claimed_elements;   /* of inputs in parts */
    bool is_of_integers;       /* there is no QuantizeLinear: import/integers */
    struct qdq_scaled *scaled; /* tensors with a scale a channel */
    int scaled_count;
    struct qdq_given *given; /* layers whose sums the application gets */
    int given_count;
    int piece_count; /* of what operators compute piece by piece: distribute.c */
    size_t work;     /* numbers of constants that were computed here: memory that a hostile model can multiply */
};

/* What became of a node: its first output's value is known; a fault was reported; or it is arithmetic that only
 * floating-point numbers can do. */
enum qdq_outcome { QDQ_DONE, QDQ_FAULT, QDQ_FLOAT };

/* `inputs` has at least `count` entries, missing ones are QDQ_NONE; none is QDQ_UNKNOWN or QDQ_HEAD. */
typedef enum qdq_outcome qdq_handler(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                     struct qdq_value *result);

/* ---- detect.c ---- */

/* Some node quantises or dequantises. */
bool qdq_detect(const struct graph *graph);
/* A network of integers as QuantLib writes them for Deeploy, that has what networks of convolutions have not:
 * import/integers. */
bool qdq_detect_integers(const struct graph *graph);
/* True after the one error of a model that is not quantised at all: most numbers of its weights are fractions. */
bool qdq_refuse_float(const struct graph *graph, struct diagnostics *diagnostics);
/* True after the one error of models whose scales are computed while they run, or that are of another opset. */
bool qdq_refuse(const struct graph *graph, struct diagnostics *diagnostics);

/* ---- walk.c ---- */

/* `inputs_are_signed`: of a network of integers, which does not say so. */
struct network *qdq_import(const struct graph *graph, const char *name, bool inputs_are_signed, struct arena *arena,
                           struct diagnostics *diagnostics);

/* The numbers of one of the graph's values, where it is a constant; else null. */
const struct qdq_array *qdq_constant(struct qdq *qdq, int index);

/* Reports an error of a node (and attribute, or null). QDQ_FAULT, so that handlers can return it. */
enum qdq_outcome qdq_fault(struct qdq *qdq, const struct node *node, const char *attribute, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- exporters.c ---- */

/* What to do with the tool that the file is of; in that of QDQ_COVER %s are the operators. */
enum qdq_topic { QDQ_COVER, QDQ_ACTIVATIONS, QDQ_WEIGHTS, QDQ_TOPIC_COUNT };
const char *qdq_advice(const struct qdq *qdq, enum qdq_topic topic);
/* That of QDQ_COVER for these operators, a list of quoted names. */
const char *qdq_advice_to_cover(const struct qdq *qdq, const char *types);

/* ---- tensors.c: attributes and tensors ---- */

int64_t qdq_integer(struct qdq *qdq, const struct node *node, const char *attribute, int64_t otherwise);
double qdq_number(struct qdq *qdq, const struct node *node, const char *attribute, double otherwise);
/* A list from an attribute, or from an input where newer opsets have it there; at most 16 numbers. -1: there is none,
 * -2: a fault was reported. */
int qdq_list(struct qdq *qdq, const struct node *node, const char *attribute, const struct qdq_value *input,
             int64_t numbers[16]);

struct tensor *qdq_tensor(const struct qdq *qdq, int index);
/* Another tensor with the quantisation of `like`. */
int qdq_tensor_like(struct qdq *qdq, const char *name, int like, int height, int width, int channels);
/* What DequantizeLinear makes of a tensor's elements. */
const float *qdq_plain_reals(struct qdq *qdq, int tensor);
bool qdq_is_plain(struct qdq *qdq, const struct qdq_value *value);
/* Makes the value one whose view is the image of its tensor, by a copy if need be. Other than its tensor's dimensions the
 * value stays what it was. */
enum qdq_outcome qdq_make_image(struct qdq *qdq, const struct node *node, struct qdq_value *value);
/* Makes a dimension of the view the channels of its tensor, by a copy if need be. */
enum qdq_outcome qdq_make_channels(struct qdq *qdq, const struct node *node, struct qdq_value *value, int dimension);
/* Real numbers that are others than the tensor's own become a tensor where they can be one exactly, as those of a Relu.
 * QDQ_FLOAT where they cannot. The view stays. */
enum qdq_outcome qdq_make_elements(struct qdq *qdq, const struct node *node, struct qdq_value *value);
/* A constant of bytes, with one scale, becomes a tensor of the network. QDQ_FLOAT where it has none. */
enum qdq_outcome qdq_make_tensor(struct qdq *qdq, const struct node *node, struct qdq_value *value);
/* The same of any constant, rounded as a QuantizeLinear behind it does. */
enum qdq_outcome qdq_make_rounded(struct qdq *qdq, const struct node *node, const struct quantisation *quantisation,
                                  struct qdq_value *value);
/* The same of any constant with up to 256 different numbers: its elements say which of them. */
enum qdq_outcome qdq_make_numbers(struct qdq *qdq, const struct node *node, struct qdq_value *value);
/* Another shape for the value, by a copy if need be. */
enum qdq_outcome qdq_take_shape(struct qdq *qdq, const struct node *node, int rank, const int64_t *dimensions,
                                struct qdq_value *value);
/* Both: an image of elements. */
enum qdq_outcome qdq_make_plain(struct qdq *qdq, const struct node *node, struct qdq_value *value);

/* ---- array.c ---- */

const struct qdq_array *qdq_array_of(struct qdq *qdq, const struct constant *constant);
struct qdq_array *qdq_array_make(struct qdq *qdq, const struct qdq_array *like, int rank, const int64_t *dimensions);
double qdq_array_real(const struct qdq_array *array, size_t index);
size_t qdq_array_channel(const struct qdq_array *array, size_t index); /* of its scale */
bool qdq_array_scalar(const struct qdq_array *array, double *number);  /* a real that all its numbers are */
const struct qdq_array *qdq_array_permute(struct qdq *qdq, const struct qdq_array *array, const int *order);

/* ---- constants.c: nodes of which all inputs are constants, and shapes ---- */

bool qdq_fold(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count, struct qdq_value *result,
              enum qdq_outcome *outcome); /* false: the node is not one of them */

/* computed.c: arithmetic of constants; false where the node is none. */
bool qdq_compute(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                 struct qdq_value *result, enum qdq_outcome *outcome);

/* ---- quantise.c ---- */

/* Scale and zero point of activations. */
enum qdq_outcome qdq_read_quantisation(struct qdq *qdq, const struct node *node, const struct qdq_value *scale,
                                       const struct qdq_value *zero_point, struct quantisation *quantisation);
/* Of the QuantizeLinear that is the only reader of the node's first output; false where there is none, or none that can be
 * read. */
bool qdq_reader_quantisation(struct qdq *qdq, const struct node *node, struct quantisation *quantisation);
enum qdq_outcome qdq_quantise(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                              const struct quantisation *quantisation, const char *name, struct qdq_value *result);
enum qdq_outcome qdq_dequantise(struct qdq *qdq, const struct node *node, const struct qdq_value inputs[3],
                                struct qdq_value *result);
qdq_handler qdq_quantize_linear, qdq_dequantize_linear;
/* The dimension of the tensor along which the constant's numbers lie, all others of it being 1; else -1. */
int qdq_constant_dimension(const struct view *view, const struct qdq_array *array);
/* round(number / scale) + zero point as float32 computes it, within the type. */
int qdq_round(double number, double scale, int64_t zero_point, int minimum, int maximum);

/* ---- pending.c ---- */

struct qdq_pending *qdq_pending_make(struct qdq *qdq, enum layer_kind kind, const struct node *node, int input, int count);
/* The layer with its output and this stage: the output. */
int qdq_pending_append(struct qdq *qdq, const struct qdq_pending *pending, const struct quantisation *quantisation,
                       const char *name, const struct stage *stage);
/* The layer with its output, rounded to a quantisation; where `scales` are given, each channel to its own scale. -1 after a
 * fault: a constant that no stage adds exactly. */
int qdq_pending_finish(struct qdq *qdq, const struct qdq_pending *given, const struct quantisation *quantisation,
                       const double *scales, const char *name);
/* halves.c: a channel's constant is added so that the stage rounds every sum to `scale` as the exact real number is. */
bool qdq_rounds_exactly(const struct qdq_pending *pending, const struct stage *stage, int channel, double scale);
/* Bounds of real numbers as bounds of elements. */
void qdq_clip_stage(struct stage *stage, const struct tensor *output, double minimum, double maximum);
/* The layer with sums of 32 bits as its output, with one scale or one a channel, once whoever asks; -1 where they are no
 * such sums. */
int qdq_pending_give_sums(struct qdq *qdq, const struct qdq_pending *pending, const char *name);
/* A pending layer as a value with the view of its output as an image. */
void qdq_pending_value(const struct qdq_pending *pending, int rank, struct qdq_value *result);

/* ---- window.c ---- */

struct qdq_window {
    int64_t kernel[2], stride[2], dilation[2], before[2], after[2], input[2], output[2]; /* height, width */
};

/* Of a Conv or pool over an image of the given rank; kernel sizes are given where weights say them, else read. */
bool qdq_window_read(struct qdq *qdq, const struct node *node, const struct tensor *input, int rank, const int64_t *kernel,
                     struct qdq_window *window);
void qdq_window_set(struct layer *layer, const struct qdq_window *window);

/* ---- images.c ---- */

/* Several images as one: so many rows of the result belong to each, and from one to the next. */
struct qdq_images {
    int64_t count, rows, pitch;
    int rank;
};

/* Makes the value an image; images of a batch stay as they are. */
enum qdq_outcome qdq_make_images(struct qdq *qdq, const struct node *node, struct qdq_value *value);
/* The tensor of the value, of a batch that of each image. */
struct tensor qdq_one_image(const struct qdq *qdq, const struct qdq_value *value);
/* Lays the images of a batch as one, for the layer of a window that was read for one of them; elements between them are
 * `border`. The window becomes that of all. */
enum qdq_outcome qdq_stack_images(struct qdq *qdq, const struct node *node, int border, struct qdq_value *value,
                                  struct qdq_window *window, struct qdq_images *images);
/* The view of what the layer computes, from that of one image to that of a batch. */
void qdq_take_images_apart(const struct qdq_images *images, struct qdq_value *result);

/* ---- reductions.c ---- */

/* Which dimensions a reduction is along, by its list or all of them; false after a fault. */
bool qdq_read_axes(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count, bool *is_reduced);

/* ---- pools.c ---- */

/* A maximum of the value's reals is that of its elements. */
bool qdq_keeps_order(const struct qdq_value *value);

/* ---- norms.c, norm_rows.c, norm_parts.c ---- */

/* A node that is a part of a norm, or arithmetic of one and a constant. False: it is something else. */
bool qdq_norm_arithmetic(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, struct qdq_value *result,
                         enum qdq_outcome *outcome);
/* A pending norm of the statistic's tensor, without constants; its rows are to lie in the model's order where constants will
 * differ from row to row. */
enum qdq_outcome qdq_lay_norm(struct qdq *qdq, const struct node *node, const struct qdq_statistic *statistic,
                              bool must_order, struct qdq_value *result);
/* The same of one that is divided by `deviation`, a real function of an element for each row. */
enum qdq_outcome qdq_lay_norm_by(struct qdq *qdq, const struct node *node, const struct qdq_statistic *statistic,
                                 const struct qdq_value *deviation, struct qdq_value *result);
enum norm_arithmetic { NORM_ADD, NORM_SUBTRACT, NORM_MULTIPLY, NORM_DIVIDE };
/* Arithmetic of a pending norm with a constant that is broadcast, or that belongs to one dimension; false: it does not go
 * with the norm. */
bool qdq_norm_apply(struct qdq *qdq, struct qdq_value *value, enum norm_arithmetic arithmetic, const struct qdq_array *array,
                    int alone);
enum qdq_outcome qdq_norm_constant(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                   struct qdq_value *result);
/* A statistic that is quantised by itself; a fault where that is no mean or sum of squares. */
enum qdq_outcome qdq_quantise_statistic(struct qdq *qdq, const struct node *node, const struct qdq_statistic *statistic,
                                        const struct quantisation *quantisation, const char *name, struct qdq_value *result);
enum qdq_outcome qdq_finish_norm(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                 const struct quantisation *quantisation, const char *name, struct qdq_value *result);

/* ---- scales.c: with constants ---- */

enum qdq_operation {
    QDQ_ADD,
    QDQ_SUBTRACT,
    QDQ_MULTIPLY,
    QDQ_DIVIDE,
    QDQ_LESSER,
    QDQ_GREATER,
    QDQ_POWER,
    QDQ_SLOPE,
    /* truths, which are 0 or 1 */
    QDQ_IS_ABOVE,
    QDQ_IS_AT_LEAST,
    QDQ_IS_BELOW,
    QDQ_IS_AT_MOST,
    QDQ_IS_EQUAL,
    QDQ_AND,
    QDQ_OR,
    QDQ_NO_OPERATION
};
/* truths.c: a truth of two real functions of elements. */
enum qdq_outcome qdq_compare(struct qdq *qdq, const struct node *node, enum qdq_operation operation,
                             const struct qdq_value *inputs, struct qdq_value *result);
bool qdq_are_truths(const struct qdq_value *value); /* real numbers that are 0 or 1 */
/* They become a tensor's own numbers. */
void qdq_lay_truths(struct qdq *qdq, struct qdq_value *value);
/* A tensor and a constant, which is the first operand where it is swapped: weights of one a channel. */
enum qdq_outcome qdq_scale_channels(struct qdq *qdq, const struct node *node, enum qdq_operation operation,
                                    const struct qdq_value *value, const struct qdq_array *array, bool is_swapped,
                                    struct qdq_value *result);
/* The same of what a layer computes, before it is rounded. */
enum qdq_outcome qdq_change_sums(struct qdq *qdq, enum qdq_operation operation, const struct qdq_value *value,
                                 const struct qdq_array *array, bool is_swapped, struct qdq_value *result);
/* One pixel of all elements of the value, and of a constant that is repeated to its shape one number for each. */
enum qdq_outcome qdq_lay_flat(struct qdq *qdq, const struct node *node, const struct qdq_array *array,
                              struct qdq_value *value, const struct qdq_array **spread);

/* ---- channels.c: activations with a scale a channel ---- */

const struct qdq_array *qdq_channel_scales(const struct qdq *qdq, int tensor); /* null: it has one */
enum qdq_outcome qdq_quantise_channels(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                       const char *name, struct qdq_value *result);
enum qdq_outcome qdq_dequantise_channels(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                         struct qdq_value *result);

/* Lays a value with a scale a channel as an image, each channel with its scale. */
enum qdq_outcome qdq_take_channels(struct qdq *qdq, const struct node *node, struct qdq_value *value);
/* The node reads, or gives out, such a value. */
void qdq_refuse_channels(struct qdq *qdq, const struct node *node, const struct qdq_value *value);
bool qdq_takes_channels(const struct node *node); /* the operator, such a value */

/* ---- distribute.c ---- */

/* What the node computes of real numbers that its handler has no layer for, piece by piece; QDQ_FLOAT: not so either. */
enum qdq_outcome qdq_distribute(struct qdq *qdq, const struct node *node, qdq_handler *handle,
                                const struct qdq_value *inputs, int count, struct qdq_value *result);

/* ---- settle.c ---- */

struct qdq_later;
void qdq_find_quantisers(struct qdq *qdq); /* behind each value of the graph */
/* Rounds those inputs of a node that await it, where that may come in front of the node: false where none may. */
bool qdq_settle(struct qdq *qdq, const struct node *node, struct qdq_value *inputs, int count);

/* ---- inputs.c ---- */

/* `are_signed`: see qdq_import. Values of constants are marked, too. */
void qdq_open_inputs(struct qdq *qdq, bool are_signed);

/* ---- outputs.c ---- */

void qdq_add_sources(struct qdq *qdq, struct qdq_value *head, const struct qdq_value *input);
void qdq_give_output(struct qdq *qdq, int index); /* of the graph's values */

/* ---- walk.c ---- */

/* Lists the nodes that compute a value which nothing rounds as the application's, first to last. */
void qdq_list_makers(struct qdq *qdq, int index);

/* ---- import/integers: Deeploy's operators ---- */

void qdq_take_integers(struct qdq *qdq, struct qdq_value *value);                      /* a constant */
void qdq_open_integers(struct qdq *qdq, bool is_signed, struct qdq_value *value);      /* an input */
qdq_handler *qdq_find_integer_handler(const struct qdq *qdq, const struct node *node); /* null: none */
qdq_handler qdq_requantise, qdq_whole_softmax, qdq_whole_norm, qdq_whole_function, qdq_whole_mean;

/* ---- qoperators.c ---- */

struct qdq_qoperator;
const struct qdq_qoperator *qdq_find_qoperator(const struct node *node); /* null: none */
enum qdq_outcome qdq_run_qoperator(struct qdq *qdq, const struct node *node, const struct qdq_qoperator *qoperator,
                                   const struct qdq_value *inputs, int count, struct qdq_value *result);

/* ---- qdq_operators.c ---- */

struct qdq_operator {
    const char *type;
    qdq_handler *handle;
    const char *becomes, *limits; /* for `dory ops` */
};
extern const struct qdq_operator qdq_operators[];
extern const int qdq_operator_count;
extern const struct qdq_operator qdq_integer_operators[]; /* import/integers */
extern const int qdq_integer_operator_count;
const struct qdq_operator *qdq_operator_find(const struct node *node);

#endif
