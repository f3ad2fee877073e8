/* Import of TFLite: walks the operators in order and makes of each the layers that compute the same numbers as TensorFlow
 * Lite Micro. Operators that only say how a tensor is to be seen (reshape, transpose, pad, quantise at an edge) make no
 * layer: they change the *value* that the tensor stands for, and the layer that reads it takes it so.
 */
#ifndef DORYGEN_TFLITE_IMPORT_H
#define DORYGEN_TFLITE_IMPORT_H

#include "import/load.h"
#include "middle/constants.h"
#include "middle/functions.h"
#include "middle/moves.h"
#include "model/tflite/tflite.h"

enum value_kind {
    VALUE_UNKNOWN,  /* comes from an operator with a fault, which was reported */
    VALUE_CONSTANT, /* known without running the network */
    VALUE_TENSOR,   /* integers of 8 bits: a tensor of the network */
    VALUE_REALS,    /* a real function of one element of such a tensor */
    VALUE_BEFORE,   /* in front of the network's quantised input: left to the application */
    VALUE_BEHIND    /* behind a dequantised output: left to the application */
};

struct padding {
    int top, left, bottom, right;
    int front, back; /* of channels: which no layer does by itself */
};

struct value {
    enum value_kind kind;
    int tensor;             /* of the network; of VALUE_BEHIND: what it is computed from */
    int input;              /* of VALUE_BEFORE: the model's input that it is computed from */
    struct padding padding; /* that the layer which reads it has to add */
    int padding_element;    /* in the firmware's bytes */

    /* Its elements do not come as they lie in the network's tensor: where they are, in the model's dimensions. */
    bool is_moved;
    struct view view;
    const float *reals; /* VALUE_REALS: by the element as the firmware has it */
};

/* Integers that are known without running the network, in the order of their tensor. */
struct tflite_numbers {
    int count;
    int64_t *list;
};

struct tflite_importer {
    struct arena *arena;
    struct diagnostics *diagnostics;
    const struct tflite_model *model;
    struct tflite_tensor *tensors;         /* the model's, whose dimensions become what they are for a batch of 1 */
    const struct tflite_numbers **numbers; /* of the model's tensors; null: not known, or not yet */
    int64_t number_room;                   /* so many more of them may be computed */
    struct quantised_builder builder;
    struct value *values;                  /* of the model's tensors */
    int *inputs;                           /* of the network, by the model's inputs; -1: not yet */
    const struct look_up **look_ups;       /* by the model's inputs: that are rows of a table; else null */
    const struct tflite_operator *current; /* that is being imported */
};

/* A handler gives the value of the operator's first output, and sets those of others; false after an error was reported. */
typedef bool tflite_handler(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result);

/* tflite_convolution.c */
tflite_handler tflite_convolution, tflite_depthwise, tflite_fully_connected, tflite_transposed_convolution;
/* tflite_pool.c */
tflite_handler tflite_average_pool, tflite_maximum_pool;
/* What only picks or averages elements keeps scale and zero point; TensorFlow Lite Micro refuses the rest. */
bool tflite_has_same_scale(struct tflite_importer *importer, int input, int output);
/* tflite_reductions.c */
tflite_handler tflite_arg_max, tflite_mean, tflite_sum, tflite_reduce_maximum, tflite_reduce_minimum;
/* tflite_addition.c */
tflite_handler tflite_add;
/* tflite_division.c */
tflite_handler tflite_divide;
/* tflite_norms.c: what norms are made of */
tflite_handler tflite_inverse_root, tflite_l2_norm;
/* tflite_arithmetic.c */
tflite_handler tflite_multiply, tflite_concatenate, tflite_softmax;
/* tflite_matrix.c */
tflite_handler tflite_multiply_matrices;
tflite_handler tflite_connect_tensors; /* FULLY_CONNECTED with computed weights */
/* tflite_lstm.c */
tflite_handler tflite_lstm;
/* tflite_choice.c */
tflite_handler tflite_choose, tflite_prelu;
/* tflite_open.c: what the file leaves open of tensors follows from those in front of them; and numbers from shapes. */
void tflite_follow_dimensions(struct tflite_importer *importer);
/* tflite_shapes.c */
tflite_handler tflite_reshape, tflite_transpose, tflite_pad, tflite_quantise, tflite_dequantise;
/* tflite_moves.c */
tflite_handler tflite_slice, tflite_strided_slice, tflite_split, tflite_unpack, tflite_pack, tflite_gather, tflite_tile,
    tflite_broadcast, tflite_fill, tflite_reverse, tflite_mirror_pad, tflite_depth_to_space, tflite_space_to_depth;
/* tflite_gathers.c */
tflite_handler tflite_gather_nd;
/* GATHER of other indices for each batch; false after a report. */
bool tflite_gather_batches(struct tflite_importer *importer, const struct middle_value *value, int axis, int batches,
                           const struct tflite_numbers *numbers, struct middle_value *part);
/* tflite_resize.c */
tflite_handler tflite_resize_nearest, tflite_resize_bilinear;
/* tflite_reals.c: the operator's inputs are real functions of elements, and so is its result. False where they are not, or
 * where the result is something else: then it is left to the application, or an island. */
bool tflite_keeps_reals(struct tflite_importer *importer, struct value *result);
const struct value *tflite_input_value(const struct tflite_importer *importer, int index); /* null: none */
bool tflite_is_real(const struct value *value);
float *tflite_new_reals(struct tflite_importer *importer);
/* Real numbers take on the quantisation of the elements that they are of, for an operator that does not look at it. */
void tflite_lend_quantisation(struct tflite_importer *importer, int tensor, int elements);
/* tflite_real_parts.c: likewise, of several tensors; and real numbers as the operator's output is quantised. */
bool tflite_join_reals(struct tflite_importer *importer, struct value *result);
bool tflite_compare_reals(struct tflite_importer *importer, struct value *result);
bool tflite_normalise_reals(struct tflite_importer *importer, struct value *result);
void tflite_fill_plain(const struct tensor *from, float *reals); /* a tensor's own numbers */
bool tflite_quantise_reals(struct tflite_importer *importer, const struct value *value, struct value *result);
/* A BOOL of the model that is a function of an element becomes a tensor of truths, as operators of integers read it. */
void tflite_lay_truths(struct tflite_importer *importer, int tensor);
real_function *tflite_find_function(const struct tflite_operator *operation, struct function_parameters *parameters);
/* tflite_tables.c */
tflite_handler tflite_relu, tflite_relu6, tflite_leaky_relu, tflite_logistic, tflite_tanh, tflite_hard_swish,
    tflite_absolute, tflite_function, tflite_square_root;
bool tflite_requantise(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result);

tflite_handler tflite_log_softmax; /* tflite_arithmetic.c */

/* tflite_select.c */
tflite_handler tflite_compare, tflite_logic, tflite_select;

/* Null where there is none. */
tflite_handler *tflite_find_handler(int code);

/* May an input have no tensor, though others behind it have one? All others' handlers need not ask. */
bool tflite_may_leave_out(int code);

/* ---- tflite_values.c: what handlers use ---- */

/* Reports an error of the operator that is being imported. False, so that handlers can return it. */
bool tflite_fault(struct tflite_importer *importer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tflite_warning(struct tflite_importer *importer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The model's tensors that the operator names. A missing one is reported, and null. */
const struct tflite_tensor *tflite_input(struct tflite_importer *importer, int index);
const struct tflite_tensor *tflite_output(struct tflite_importer *importer);
const char *tflite_shape_text(struct tflite_importer *importer, const struct tflite_tensor *tensor);

/* A constant input of the operator, of this type and number of elements (0: any); null after a report. */
const struct tflite_tensor *tflite_constant(struct tflite_importer *importer, int index, int type, size_t count);
int32_t tflite_integer(const struct tflite_tensor *constant, size_t index); /* of INT32 */
float tflite_real(const struct tflite_tensor *constant, size_t index);      /* of FLOAT32 */
size_t tflite_elements(const struct tflite_tensor *tensor);

/* tflite_numbers.c: those of an input of the operator, `count` of them (below 0: any); null after a report. */
const struct tflite_numbers *tflite_numbers(struct tflite_importer *importer, int index, int count);
const struct tflite_numbers *tflite_known_numbers(struct tflite_importer *importer, int tensor); /* null: not known */
/* Of an operator that computes such numbers. */
void tflite_compute_numbers(struct tflite_importer *importer, const struct tflite_operator *operation);

struct tflite_numbers *tflite_make_numbers(struct tflite_importer *importer, int64_t count); /* null: too many */

bool tflite_calculate(int code, int64_t x, int64_t y, int64_t *result); /* false: another operator, or no such number */

/* tflite_number_arrays.c: of several dimensions, from the inputs' numbers; null where they are not known so. */
const struct tflite_numbers *tflite_compute_number_array(struct tflite_importer *importer,
                                                         const struct tflite_operator *operation,
                                                         const struct tflite_numbers *const *inputs, int count);

/* tflite_truths.c: the operator's output becomes a constant, where constants and shapes decide it. */
void tflite_compute_truths(struct tflite_importer *importer, const struct tflite_operator *operation);

/* tflite_constants.c: the same of real numbers. */
void tflite_compute_constant(struct tflite_importer *importer, const struct tflite_operator *operation);

/* tflite_words.c */
/* The model is the importer's own. */
void tflite_take_words(struct tflite_importer *importer, struct tflite_model *model);

/* tflite_dilations.c */
tflite_handler tflite_batches;
/* The model is the importer's own, with room for one more tensor an operator. */
void tflite_fold_dilations(struct tflite_importer *importer, struct tflite_model *model);

/* Scale and zero point of a tensor of activations, INT8 or at an edge UINT8; false after a report. */
bool tflite_quantisation(struct tflite_importer *importer, const struct tflite_tensor *tensor,
                         struct quantisation *quantisation);

/* Height, width and channels of a tensor of one image: false after a report. */
struct image_shape {
    int height, width, channels;
};
bool tflite_image_shape(struct tflite_importer *importer, const struct tflite_tensor *tensor, struct image_shape *shape);

/* A tensor of the network, input of a layer to be made: of the value that the operator reads, seen in the shape that the
 * model gives to it. Pending padding is left in *padding, to be the layer's; where that is null, or the border is not of the
 * zero point, the padding is a layer of its own. -1 after a report, or where the value is unknown. */
int tflite_reads(struct tflite_importer *importer, int index, struct padding *padding);
/* The same for layers that take elements one by one: in the data's own order, moved or not. *value says how. */
int tflite_reads_elements(struct tflite_importer *importer, int index, struct value *value);

/* Any tensor that is there from the start: what constants are made of. -1 after a report. */
int tflite_first_input(struct tflite_importer *importer);

/* The same as a value of the middle, in the dimensions that the model gives to it; false after a report. */
bool tflite_takes(struct tflite_importer *importer, int index, struct middle_value *value);
/* Of input 0, laid so that dimension `axis`, which may be counted from the end, is the channels, the others as they lie. */
bool tflite_takes_channels(struct tflite_importer *importer, int axis, struct middle_value *value);
/* The operator's output `index` is this value: false after a report where it has another scale, zero point or shape. */
bool tflite_gives(struct tflite_importer *importer, int index, const struct middle_value *value, struct value *result);

/* A function of a byte as a layer: element is the model's integer less the input's zero point. */
typedef int tflite_element_function(const void *context, int element);
bool tflite_lay_function(struct tflite_importer *importer, tflite_element_function *function, const void *context,
                         struct value *result);

/* tflite_addition.c: both inputs of a layer in one order, one of them as large as the result, whose *value is that but for
 * its tensor; the other may be what such layers repeat. False after a report. */
bool tflite_reads_pair(struct tflite_importer *importer, int *inputs, struct value *value);
bool tflite_go_together(struct tflite_importer *importer, const int *inputs, int output); /* false after a report */
bool tflite_is_constant(const struct tflite_importer *importer, int index);               /* an input of the operator */

/* tflite_addition.c: the output of a layer of two tensors, and what its arithmetic goes by. False after a report. */
struct tflite_operands {
    int output;
    double scales[2];
    int zero_points[2];
};
bool tflite_makes_of_two(struct tflite_importer *importer, const int *inputs, int elements_of,
                         struct tflite_operands *operands);
bool tflite_reads_two(struct tflite_importer *importer); /* two inputs, and no constant: false after a report */

/* tflite_addition.c: a layer of two operands, by one of these: where operand `index` is a constant of one element, so that
 * the other's function remains; or with both as tensors, which tflite_reads_pair says of. False after a report. */
typedef bool tflite_by_number(struct tflite_importer *importer, int index, struct value *result);
typedef bool tflite_by_tensors(struct tflite_importer *importer, const int *inputs, struct value *result);
bool tflite_combine(struct tflite_importer *importer, tflite_by_number *by_number, tflite_by_tensors *by_tensors,
                    struct value *result);

/* tflite_arithmetic.c: the layer that multiplies two tensors, without an activation. */
void tflite_lay_product(struct tflite_importer *importer, int a, int b, int output);

/* tflite_operands.c: the elements of a constant that those of the other input, which is *value, meet in memory. False after
 * a report. */
bool tflite_places_constant(struct tflite_importer *importer, int constant_index, struct value *value,
                            struct middle_constant *placed);
/* Has the operator's input as many elements as its output? Otherwise it is repeated. */
bool tflite_is_as_large(struct tflite_importer *importer, int index);
/* Both inputs of a layer, of which this one is a constant of several elements; the result is as *value, but for its tensor.
 */
bool tflite_reads_with_constant(struct tflite_importer *importer, int constant_index, int *inputs, struct value *value);

/* The network's tensor for the operator's output, -1 after a report. Its dimensions are those of the model, but for
 * `elements_of`: those of that tensor, where it is not -1. */
int tflite_makes(struct tflite_importer *importer, int elements_of);
struct tensor *tflite_network_tensor(struct tflite_importer *importer, int tensor);
struct value tflite_value_of(int tensor);

/* A copy of the value with its pending border. */
int tflite_lay_border(struct tflite_importer *importer, const struct value *value);

/* A copy with `strides - 1` border elements between the rows, and between the columns. */
int tflite_lay_spread(struct tflite_importer *importer, int input, int stride_height, int stride_width);

/* A copy of the value in another shape, whose elements come in the value's order: moved, with such a view, or reshaped. */
int tflite_lay_view(struct tflite_importer *importer, const struct value *value, const struct image_shape *shape);

/* Narrows the stage by the fused activation; false after a report. */
bool tflite_clip(struct tflite_importer *importer, struct stage *stage, int output);

/* The padding of a window, of which `size` is the input, with pending padding, and `outputs` what the model says; false
 * after a report. */
struct window {
    const char *what; /* "height" */
    int size, kernel, stride, dilation, outputs;
};
bool tflite_pad_window(struct tflite_importer *importer, const struct window *window, int *before, int *after);

/* Kernel, stride, dilation and padding of a layer by the operator's options; false after a report. */
bool tflite_set_window(struct tflite_importer *importer, struct layer *layer, const struct tflite_tensor *input,
                       const struct tflite_tensor *output, const struct padding *pending);

/* tflite_images.c: the current operator slides a window over several images; its handler over all of them as one. */
bool tflite_has_images(const struct tflite_importer *importer);
bool tflite_over_images(struct tflite_importer *importer, tflite_handler *handler, struct value *result);

/* Reports an error of a node, null: of the model. Returns false. */
bool tflite_complain(struct tflite_importer *importer, const char *node, const char *text);

/* ---- tflite_types.c ---- */

/* That tensors are of types that there are layers for. False after an error was reported. */
bool tflite_check_types(struct tflite_importer *importer);

#endif
