/* Builds small ONNX models for tests: well-formed ones, random ones, and broken ones.
 *
 *     struct onnx_builder *model = onnx_builder_make(9);
 *     onnx_add_input(model, "x", 4, SHAPE(1, 3, 8, 8));
 *     onnx_add_initialiser(model, "w", 4, SHAPE(2, 3, 1, 1), weights);
 *     onnx_set_integers(model, onnx_add_node(model, "Conv", "x w", "y"), "strides", 2, SHAPE(2, 2));
 *     onnx_add_output(model, "y");
 *     onnx_builder_write(model, "model.onnx");
 *     onnx_builder_free(model);
 *
 * Everything that is given is copied. Models are not checked: a broken one is made like any other.
 */
#ifndef DORY_TESTS_ONNX_BUILDER_H
#define DORY_TESTS_ONNX_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "onnx/onnx.pb-c.h"

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

struct onnx_builder;
typedef Onnx__NodeProto onnx_node;

struct onnx_builder *onnx_builder_make(int64_t opset);
void onnx_builder_free(struct onnx_builder *builder);
bool onnx_builder_write(struct onnx_builder *builder, const char *path);
uint8_t *onnx_builder_pack(struct onnx_builder *builder, size_t *length); /* valid until onnx_builder_free */
struct arena *onnx_builder_arena(struct onnx_builder *builder);
Onnx__ModelProto *onnx_builder_model(struct onnx_builder *builder); /* to break what has no function here */

void onnx_add_input(struct onnx_builder *builder, const char *name, int rank, const int64_t *dimensions); /* -1: not fixed */
void onnx_add_output(struct onnx_builder *builder, const char *name);

/* Integers in a tensor of floats, as NEMO writes them; and floats; and int64. Rank 0 is a scalar. */
Onnx__TensorProto *onnx_add_initialiser(struct onnx_builder *builder, const char *name, int rank, const int64_t *dimensions,
                                        const int64_t *values);
Onnx__TensorProto *onnx_add_floats(struct onnx_builder *builder, const char *name, int rank, const int64_t *dimensions,
                                   const float *values);
Onnx__TensorProto *onnx_add_int64(struct onnx_builder *builder, const char *name, int rank, const int64_t *dimensions,
                                  const int64_t *values);
void onnx_add_scalar(struct onnx_builder *builder, const char *name, double value); /* float initialiser */

/* Names are separated by spaces; "-" is an optional input that is left out. The node is named "<type>_<number>". */
onnx_node *onnx_add_node(struct onnx_builder *builder, const char *type, const char *inputs, const char *outputs);
void onnx_set_integer(struct onnx_builder *builder, onnx_node *node, const char *name, int64_t value);
void onnx_set_float(struct onnx_builder *builder, onnx_node *node, const char *name, float value);
void onnx_set_text(struct onnx_builder *builder, onnx_node *node, const char *name, const char *value);
void onnx_set_integers(struct onnx_builder *builder, onnx_node *node, const char *name, int count, const int64_t *values);
/* A Constant node that holds one float, or one int64. */
void onnx_add_constant_node(struct onnx_builder *builder, const char *output, double value, bool as_int64);

/* All that in words, a statement a line or between semicolons: constants, inputs, and nodes with their attributes.
 *
 *     w = digits[4,4,3,3]; k = float 0.5; shape = int64[2] 1 100; z = input[1,4,-1,6]; y = output
 *     a b = Conv x w group=2 pads=1,1,1,1 auto_pad=SAME_UPPER; two = Constant 2; half = Constant 0.5
 *
 * Constants: float, int64, digits (0 to 9, again and again), bfloat16, external; without numbers enough, zeros follow.
 * Attributes: with a comma, even one behind the number, a list; with a point a float; with a letter text. */
void onnx_add_text(struct onnx_builder *builder, const char *text);
struct onnx_builder *onnx_builder_make_text(const char *text); /* of opset 9 */

/* What NEMO writes behind a convolution: Mul(k) Add(lambda) Cast Mul(multiplier) Div(divisor) Cast Clip(0, 255). k and
 * lambda have `channels` numbers; `rank` is that of the tensor. */
void onnx_add_nemo_normalisation(struct onnx_builder *builder, const char *input, const char *output, int rank, int channels,
                                 const int64_t *k, const int64_t *lambda, int64_t multiplier, int64_t divisor);

#endif
