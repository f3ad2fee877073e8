/* Resize and Upsample: nearest elements are a copy, linear ones weighted sums. */
#include "import/qdq/operators/handlers.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arithmetic.h"

enum coordinates { HALF_PIXEL, ASYMMETRIC, ALIGN_CORNERS, PYTORCH_HALF_PIXEL, OTHER_COORDINATES };

static int choice(const struct node *node, const char *name, const char *const *names, int count, int otherwise)
{
    const struct attribute *attribute = node_attribute(node, name);
    for (int i = 0; attribute && attribute->kind == ATTRIBUTE_TEXT && i < count; i++)
        if (!strcmp(names[i], attribute->text))
            return i;
    return attribute ? count : otherwise;
}

static enum coordinates coordinates_of(const struct qdq *qdq, const struct node *node)
{
    static const char *const names[] = {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"};
    bool is_old = qdq->graph->opset < 11 || !strcmp(node->type, "Upsample");
    return (enum coordinates)choice(node, "coordinate_transformation_mode", names, OTHER_COORDINATES,
                                    is_old ? ASYMMETRIC : HALF_PIXEL);
}

struct resize {
    int64_t input[2], output[2]; /* height, width */
    float scale[2];
};

static const struct qdq_value none;

/* Numbers of one of the inputs, one a dimension; null where it is left out or empty. */
static const double *numbers_of(const struct qdq_value *value, int rank)
{
    bool is_list = value->kind == QDQ_CONSTANT && value->array->numbers && value->array->count == (size_t)rank;
    return is_list ? value->array->numbers : NULL;
}

static enum qdq_outcome read_resize(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                    const struct qdq_value *value, struct resize *resize)
{
    bool is_old = qdq->graph->opset < 11 || !strcmp(node->type, "Upsample");
    int rank = value->view.rank, at = is_old ? 1 : 2;
    const struct tensor *tensor = qdq_tensor(qdq, value->tensor);
    const double *scales = numbers_of(count > at ? &inputs[at] : &none, rank);
    const double *sizes = is_old ? NULL : numbers_of(count > 3 ? &inputs[3] : &none, rank);
    const struct attribute *policy = node_attribute(node, "keep_aspect_ratio_policy");
    if (rank < 3 || (!scales && !sizes) || node_attribute(node, "axes") ||
        (policy && policy->kind == ATTRIBUTE_TEXT && strcmp(policy->text, "stretch") != 0))
        return qdq_fault(qdq, node, NULL,
                         "%s of a tensor of shape %s without constant scales or sizes for all its dimensions", node->type,
                         view_text(&value->view, qdq->arena));
    *resize = (struct resize){{tensor->height, tensor->width}, {tensor->height, tensor->width}, {1, 1}};
    for (int i = 0; i < rank; i++) {
        double size = sizes ? sizes[i] : floor((double)((float)value->view.dimensions[i] * (float)scales[i]));
        int dimension = i - (rank - 2);
        if (!(size >= 1 && size <= MAXIMUM_DIMENSION) || (i < 2 && size != (double)value->view.dimensions[i]))
            return qdq_fault(qdq, node, "scales", "make %g of dimension %d of %s; supported: 1 to %d, height and width only",
                             size, i, view_text(&value->view, qdq->arena), MAXIMUM_DIMENSION);
        if (i < 2)
            continue;
        resize->output[dimension] = (int64_t)size;
        resize->scale[dimension] = sizes ? (float)size / (float)value->view.dimensions[i] : (float)scales[i];
    }
    return QDQ_DONE;
}

/* ---- nearest ---- */

static float original(enum coordinates coordinates, const struct resize *resize, int i, int64_t at)
{
    float x = (float)at, scale = resize->scale[i];
    switch (coordinates) {
    case ASYMMETRIC: return x / scale;
    case ALIGN_CORNERS:
        return resize->output[i] == 1 ? 0 : x * (float)(resize->input[i] - 1) / (float)(resize->output[i] - 1);
    case PYTORCH_HALF_PIXEL: return resize->output[i] == 1 ? 0 : (x + 0.5F) / scale - 0.5F;
    default: return (x + 0.5F) / scale - 0.5F;
    }
}

static float nearest(int mode, float x)
{
    switch (mode) {
    case 0: return x == floorf(x) + 0.5F ? floorf(x) : roundf(x);
    case 1: return x == floorf(x) + 0.5F ? ceilf(x) : roundf(x);
    case 2: return floorf(x);
    default: return ceilf(x);
    }
}

static const int32_t *nearest_positions(struct qdq *qdq, const struct resize *resize, int i, enum coordinates coordinates,
                                        int mode, int32_t step)
{
    int32_t *positions = arena_array(qdq->arena, int32_t, (size_t)resize->output[i]);
    for (int64_t k = 0; k < resize->output[i]; k++) {
        float at = nearest(mode, original(coordinates, resize, i, k));
        float last = (float)(resize->input[i] - 1);
        positions[k] = step * (int32_t)(at < 0 ? 0 : at > last ? last : at);
    }
    return positions;
}

static enum qdq_outcome resize_nearest(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                       const struct resize *resize, struct qdq_value *result)
{
    static const char *const names[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
    bool is_old = qdq->graph->opset < 11 || !strcmp(node->type, "Upsample");
    int mode = choice(node, "nearest_mode", names, 4, is_old ? 2 : 0);
    enum coordinates coordinates = coordinates_of(qdq, node);
    const struct tensor from = *qdq_tensor(qdq, value->tensor);
    if (mode == 4 || coordinates == OTHER_COORDINATES)
        return qdq_fault(qdq, node, mode == 4 ? "nearest_mode" : "coordinate_transformation_mode", "is not supported");
    int output =
        qdq_tensor_like(qdq, node->name, value->tensor, (int)resize->output[0], (int)resize->output[1], from.channels);
    struct layer *layer = quantised_layer(&qdq->builder, LAYER_COPY, node->name, value->tensor, output);
    layer->map = (struct layer_map){
        .rows = nearest_positions(qdq, resize, 0, coordinates, mode, from.width * from.channels),
        .columns = nearest_positions(qdq, resize, 1, coordinates, mode, from.channels),
        .channels = positions_in_steps(from.channels, 0, 1, qdq->arena),
    };
    *result = *value;
    result->tensor = output;
    result->view = view_of_image(qdq_tensor(qdq, output), value->view.rank);
    return QDQ_DONE;
}

/* ---- linear ---- */

/* Where an output's centre lies in the input, numerator / denominator exactly. */
struct ruler {
    int64_t step, start, denominator;
};

static struct ruler ruler_of(enum coordinates coordinates, int64_t input, int64_t output)
{
    if (coordinates == ALIGN_CORNERS)
        return output == 1 ? (struct ruler){0, 0, 1} : (struct ruler){input - 1, 0, output - 1};
    if (coordinates == ASYMMETRIC)
        return (struct ruler){input, 0, output};
    if (coordinates == PYTORCH_HALF_PIXEL && output == 1)
        return (struct ruler){0, 0, 1};
    return (struct ruler){2 * input, input - output, 2 * output};
}

static const struct layer_tap *make_taps(struct qdq *qdq, struct ruler ruler, int64_t input, int64_t output, int64_t *sum)
{
    struct layer_tap *taps = arena_array(qdq->arena, struct layer_tap, (size_t)output);
    int64_t common = (int64_t)greatest_common_divisor(greatest_common_divisor(ruler.step, ruler.start), ruler.denominator);
    ruler = (struct ruler){ruler.step / common, ruler.start / common, ruler.denominator / common};
    *sum = ruler.denominator;
    for (int64_t i = 0; i < output && ruler.denominator > 0; i++) { /* which it is: the analyser cannot know */
        int64_t at = i * ruler.step + ruler.start, most = (input - 1) * ruler.denominator;
        at = clamp(at, 0, most);
        int32_t first = (int32_t)(at / ruler.denominator), second = first + (first < input - 1);
        int32_t weight = (int32_t)(at % ruler.denominator);
        taps[i] = (struct layer_tap){{first, second}, {(int32_t)ruler.denominator - weight, weight}};
    }
    return taps;
}

static enum qdq_outcome resize_linear(struct qdq *qdq, const struct node *node, const struct qdq_value *value,
                                      const struct resize *resize, struct qdq_value *result)
{
    enum coordinates coordinates = coordinates_of(qdq, node);
    int64_t sums[2];
    if (value->kind != QDQ_REALS || !qdq_is_plain(qdq, value))
        return value->kind == QDQ_REALS ? QDQ_FLOAT
                                        : qdq_fault(qdq, node, "mode",
                                                    "is linear on integers, for which ONNX does not say how "
                                                    "it rounds; quantise in the format QuantFormat.QDQ");
    if (coordinates == OTHER_COORDINATES || qdq_integer(qdq, node, "antialias", 0) != 0)
        return qdq_fault(qdq, node, "coordinate_transformation_mode",
                         "is not supported, or antialias is set; supported: half_pixel, pytorch_half_pixel, asymmetric, "
                         "align_corners");
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_INTERPOLATION, node, value->tensor, 1);
    const struct layer_tap *taps[2];
    for (int i = 0; i < 2; i++) {
        if ((float)resize->output[i] / (float)resize->input[i] != resize->scale[i] && coordinates != ALIGN_CORNERS)
            return qdq_fault(qdq, node, "scales", "%.9g makes %" PRId64 " of %" PRId64 " and is not their ratio; give sizes",
                             (double)resize->scale[i], resize->output[i], resize->input[i]);
        taps[i] = make_taps(qdq, ruler_of(coordinates, resize->input[i], resize->output[i]), resize->input[i],
                            resize->output[i], &sums[i]);
    }
    if (sums[0] * sums[1] > INT32_MAX / 255)
        return qdq_fault(qdq, node, "sizes", "need weights in units of 1/%" PRId64 "; supported: 1/%d", sums[0] * sums[1],
                         INT32_MAX / 255);
    pending->layer.taps = (struct layer_taps){taps[0], taps[1], 1, 1};
    pending->height = (int)resize->output[0];
    pending->width = (int)resize->output[1];
    pending->divisor = sums[0] * sums[1];
    pending->addends[0] = -pending->divisor * qdq_tensor(qdq, value->tensor)->zero_point;
    qdq_pending_value(pending, value->view.rank, result);
    return QDQ_DONE;
}

enum qdq_outcome qdq_resize(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                            struct qdq_value *result)
{
    static const char *const modes[] = {"nearest", "linear"};
    struct qdq_value value = inputs[0];
    struct resize resize;
    int mode = choice(node, "mode", modes, 2, 0);
    if (value.kind != QDQ_ELEMENTS && value.kind != QDQ_REALS)
        return QDQ_FLOAT;
    enum qdq_outcome outcome = qdq_make_image(qdq, node, &value);
    if (outcome != QDQ_DONE || (outcome = read_resize(qdq, node, inputs, count, &value, &resize)) != QDQ_DONE)
        return outcome;
    if (mode == 0)
        return resize_nearest(qdq, node, &value, &resize, result);
    return mode == 1
               ? resize_linear(qdq, node, &value, &resize, result)
               : qdq_fault(qdq, node, "mode", "is not supported; supported: nearest, linear, of PyTorch mode=\"bilinear\"");
}
