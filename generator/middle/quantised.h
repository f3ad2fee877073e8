/* Layers of networks whose tensors have a scale and a zero point: what the front ends of TFLite and of QDQ ONNX share.
 *
 * The firmware's activations are unsigned bytes. A tensor that the model holds as int8 has its integers plus 128 here, and
 * so has its zero point; struct tensor says so in model_offset. Convolutions multiply the elements as they are: what the
 * zero point of the input adds to every sum, zero_point * (sum of the channel's weights), is subtracted in the stage's
 * addend, and borders hold the zero point (layer.padding_value).
 */
#ifndef DORYGEN_QUANTISED_H
#define DORYGEN_QUANTISED_H

#include "base/support.h"
#include "network/network.h"

struct quantised_builder {
    struct arena *arena;
    struct network *network;
    enum rounding rounding; /* of requantisations: ROUND_TWICE (TFLite) or ROUND_HALF_EVEN (ONNX) */
};

/* As the model says it. Only 8 bits: is_signed tells int8 from uint8. */
struct quantisation {
    double scale;       /* float32's value; positive and finite, which the caller has checked */
    int64_t zero_point; /* in the model's type, which the caller has checked */
    bool is_signed;
};

/* An empty network. `name` is that of the model's file. */
void quantised_begin(struct quantised_builder *builder, const char *name, enum rounding rounding, struct arena *arena);

/* A tensor without a producer; its index. */
int quantised_tensor(struct quantised_builder *builder, const char *name, int height, int width, int channels,
                     const struct quantisation *quantisation);

/* One of the quantisation of `tensor`. */
int quantised_tensor_like(struct quantised_builder *builder, const char *name, int tensor, int height, int width,
                          int channels);

/* A layer with one input and a window of one element, whose stages are still to be set; it is the output's producer. The
 * pointer holds until the next layer is made. */
struct layer *quantised_layer(struct quantised_builder *builder, enum layer_kind kind, const char *name, int input,
                              int output);

/* ---- stages ---- */

/* A real factor, numerators[0] * numerators[1] / (denominator * count), of scales that are float32's values; an unused
 * one is 1. */
struct real_factor {
    double numerators[2], denominator;
    int64_t count; /* of elements that are averaged; at least 1 */
};

/* y = round((x + addend) * factor) + zero point of `output`, clipped to what its elements hold; factor 0 for all channels
 * until quantised_set_channel says otherwise. `count` is 1 or the number of channels. */
struct stage quantised_stage(struct quantised_builder *builder, int count, const struct tensor *output);
void quantised_set_channel(struct quantised_builder *builder, struct stage *stage, int channel, int64_t addend,
                           struct real_factor factor);

/* Narrows the stage's clip to the reals that a fused activation lets through; INFINITY where there is no bound. The
 * bounds become round(bound / scale) + zero point, as TensorFlow Lite computes them. */
void quantised_clip(struct stage *stage, const struct tensor *output, double minimum, double maximum);

/* ---- whole layers ---- */

/* Weights [output channels][input channels / groups][kernel height][kernel width], zero point 0. */
struct quantised_weights {
    const int8_t *weights;
    const double *scales; /* scale_count of them: 1, or one an output channel */
    int scale_count;
    const int32_t *biases; /* null: none. In units of input scale * weight scale */
    bool float_product;    /* the product of both scales is rounded to float32, as LiteRT does for UINT8 */
};

/* A convolution, depth-wise or fully connected layer. The caller sets kernel, stride, dilation, padding and groups of the
 * layer that is returned *before* it calls quantised_finish_convolution, which sets weights, padding_value and stage. */
void quantised_finish_convolution(struct quantised_builder *builder, struct layer *layer,
                                  const struct quantised_weights *weights);

/* Any function of one element, by 256 elements of `output`; both tensors exist. */
void quantised_table(struct quantised_builder *builder, const char *name, int input, int output, const uint8_t *table);

/* A double's value as an odd whole number times 2^*exponent (0 for 0). */
int64_t quantised_significand(double number, int *exponent);

/* ---- wide_weights.c ---- */

/* Weights minus their zero point, of 9 bits with their sign at most: [output][input of its group][row][column]. */
struct wide_weights {
    const int16_t *weights;
    int outputs, inputs, height, width;
    int groups, dilation_width;
};

/* The same as a layer has them. `input` is that of before, or a copy of it that has channels or columns more than once:
 * columns so many times, for which quantised_widen_window then sets the layer. */
struct narrow_weights {
    const int8_t *weights;
    int input, times;
};

/* False where the copy would have more channels than a tensor can have. */
bool quantised_narrow_weights(struct quantised_builder *builder, const char *name, const struct wide_weights *wide,
                              int input, struct narrow_weights *result);
void quantised_widen_window(struct layer *layer, int times);

/* ---- windows that leave the image ---- */

/* The windows of one dimension of an image; `before` elements of border are in front of it. */
struct image_window {
    int size, kernel, stride, dilation, before, outputs;
};

/* Taps of an interpolation whose sums are *unit times the average of the elements inside the image, *pairs of them for each
 * output. Null where a window has no element, or no such unit is small enough. */
const struct layer_tap *quantised_window_taps(struct quantised_builder *builder, const struct image_window *window,
                                              int *pairs, int64_t *unit);

/* ---- concatenate.c ---- */

enum image_axis { AXIS_HEIGHT, AXIS_WIDTH, AXIS_CHANNELS };

/* The tensor that has these one behind the other along the axis: of equal quantisation, and of equal sizes but there, whose
 * sum has 16 bits. Where that is not along the channels, the elements of one row (column) of the output have 16 bits, too.
 */
int quantised_concatenate(struct quantised_builder *builder, const char *name, const int *tensors, int count,
                          enum image_axis axis);

#endif
