/* Pass `describe`: the firmware's view of a layer.
 *
 * What is decided here is arithmetic: how an accumulator is normalised. A cheaper form than the exact one is taken only
 * where bounds prove that it gives the same bits; for convolutions requantise.c looks for it, with the bounds that a
 * channel's own weights give its sums, which are tighter than the layer's. */
#include "describe/describe.h"

#include <inttypes.h>
#include <string.h>

#include "describe/addition_terms.h"
#include "describe/clamp.h"
#include "describe/requantise_scalar.h"
#include "describe/thresholds.h"
#include "network/accumulator.h"

struct bounds {
    int64_t minimum, maximum;
};

struct description {
    const struct network *network;
    const struct layer *layer;
    const struct tensor *input, *second_input, *output; /* second_input: null but for additions and concatenations */
    struct dory_layer *run;
    struct dory_stages *stages; /* of it, where it has any */
    struct requantisation *requantisation;
    struct stage terms[2], first; /* of layers without weights: the model's, as floors */
    struct arena *arena;
    struct diagnostics *diagnostics;
};

#define REFUSE(description, attribute, ...)                                                                                 \
    diagnose((description)->diagnostics, SEVERITY_ERROR, (description)->layer->name, attribute, __VA_ARGS__)

/* ---- exact arithmetic on bounds ---- */

static bool fits_32_bits(wide value) { return value >= INT32_MIN && value <= INT32_MAX; }
static bool fits_64_bits(wide value) { return value >= INT64_MIN && value <= INT64_MAX; }

static wide wide_minimum(wide a, wide b) { return a < b ? a : b; }
static wide wide_maximum(wide a, wide b) { return a > b ? a : b; }

/* What a stage makes of one channel's values, and whether narrow integers are enough on the way. */
struct stage_proof {
    bool fits_32, fits_64;
};

static struct stage_proof prove_channel(int64_t multiplier, int64_t addend, struct bounds x)
{
    wide low = (wide)multiplier * x.minimum, high = (wide)multiplier * x.maximum;
    wide least = wide_minimum(low, high), most = wide_maximum(low, high);
    bool constants_fit = fits_32_bits(multiplier) && fits_32_bits(addend);
    return (struct stage_proof){
        .fits_32 = constants_fit && fits_32_bits(x.minimum) && fits_32_bits(x.maximum) && fits_32_bits(least) &&
                   fits_32_bits(most) && fits_32_bits(least + addend) && fits_32_bits(most + addend),
        .fits_64 = fits_64_bits(least) && fits_64_bits(most) && fits_64_bits(least + addend) && fits_64_bits(most + addend),
    };
}

static int power_of_two(int64_t value)
{
    if (value < 1 || (value & (value - 1)) != 0)
        return -1;
    return __builtin_ctzll((unsigned long long)value);
}

/* The values that a tensor's elements can have; the type's, where nothing was proven. */
static struct bounds tensor_bounds(const struct description *d, int input)
{
    struct bounds x;
    accumulator_input(d->network, d->layer, input, &x.minimum, &x.maximum);
    return x;
}

/* ---- normalisation ---- */

struct form {
    bool is_identity; /* multiplier 1, divisor 1, a 32-bit addend */
    bool fits_32, fits_64;
};

static void form_add(struct form *form, const struct stage *stage, size_t channel, struct bounds x)
{
    size_t index = stage->count == 1 ? 0 : channel;
    int64_t multiplier = stage->multiplier[index], addend = stage->addend[index];
    struct stage_proof proof = prove_channel(multiplier, addend, x);
    form->is_identity = form->is_identity && stage->divisor == 1 && multiplier == 1 && proof.fits_32;
    form->fits_32 = form->fits_32 && proof.fits_32;
    form->fits_64 = form->fits_64 && proof.fits_64;
}

/* Sets normalisation, shift and divisor from what was proven of all channels. */
static void choose_normalisation(const struct description *d, const struct form *form, int64_t divisor)
{
    struct dory_layer *run = d->run;
    int shift = power_of_two(divisor);
    run->divisor = divisor;
    if (!form->fits_64)
        REFUSE(d, NULL, "its normalisation exceeds 64-bit integers, which is the most that the firmware computes with");
    if (form->is_identity) {
        run->normalisation = DORY_NORMALISE_NONE;
    } else if (shift >= 0 && form->fits_32) {
        /* 31 places leave the sign of a 32-bit value, and so do more */
        run->normalisation = DORY_NORMALISE_32;
        run->shift = (uint8_t)(shift > 31 ? 31 : shift);
    } else {
        run->normalisation = shift >= 0 ? DORY_NORMALISE_64 : DORY_NORMALISE_DIVIDE;
        run->shift = (uint8_t)(shift >= 0 ? shift : 0);
    }
}

static int32_t clamp_32(int64_t value)
{
    return (int32_t)(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
}

/* The bounds of the output element; without a clip the range pass has proven that the type's are never reached. */
static void describe_clip(const struct description *d, const struct stage *last)
{
    const struct tensor *output = d->output;
    int64_t least = output->is_signed ? -((int64_t)1 << (output->bits - 1)) : 0;
    int64_t most = output->is_signed ? -least - 1 : ((int64_t)1 << output->bits) - 1;
    if (output->bits == 32)
        least = INT32_MIN, most = INT32_MAX;
    if (last && last->has_clip) {
        bool proven = output->minimum >= least && output->maximum <= most; /* a clip beyond that never clips */
        if (!proven && (last->minimum < least || last->maximum > most))
            REFUSE(d, NULL, "clips to %" PRId64 "..%" PRId64 ", which %d-bit %s elements cannot hold", last->minimum,
                   last->maximum, output->bits, output->is_signed ? "signed" : "unsigned");
        least = last->minimum > least ? last->minimum : least;
        most = last->maximum < most ? last->maximum : most;
    }
    d->run->minimum = clamp_32(least);
    d->run->maximum = clamp_32(most);
}

/* A layer-wide stage as the firmware has it. */
static struct dory_stage scalar_stage(const struct description *d, const struct stage *stage, struct bounds x)
{
    struct dory_stage result = {1, 0, 1, INT32_MIN, INT32_MAX};
    if (stage->count == 0)
        return result;
    if (stage->count != 1)
        REFUSE(d, NULL,
               "has a normalisation per channel; for pools, additions and concatenations one for all channels is supported");
    struct stage_proof proof = prove_channel(stage->multiplier[0], stage->addend[0], x);
    if (!proof.fits_64)
        REFUSE(d, NULL, "its scaling exceeds 64-bit integers, which is the most that the firmware computes with");
    result.multiplier = stage->multiplier[0];
    result.addend = stage->addend[0];
    result.divisor = stage->divisor;
    if (stage->has_clip) {
        result.minimum = clamp_32(stage->minimum);
        result.maximum = clamp_32(stage->maximum);
    } else if (!fits_32_bits(stage_apply(stage, 0, x.minimum)) || !fits_32_bits(stage_apply(stage, 0, x.maximum))) {
        REFUSE(d, NULL, "its scaling exceeds 32-bit integers, which is what the firmware makes of it");
    }
    return result;
}

/* What dory_stage_apply makes of x; the clip to 32 bits included, so that nothing behind it overflows. */
static struct bounds stage_bounds(const struct dory_stage *stage, struct bounds x)
{
    wide low = (wide)stage->multiplier * x.minimum, high = (wide)stage->multiplier * x.maximum;
    struct bounds y = {(int64_t)wide_floor_divide(wide_minimum(low, high) + stage->addend, stage->divisor),
                       (int64_t)wide_floor_divide(wide_maximum(low, high) + stage->addend, stage->divisor)};
    y.minimum = y.minimum < stage->minimum ? stage->minimum : y.minimum > stage->maximum ? stage->maximum : y.minimum;
    y.maximum = y.maximum < stage->minimum ? stage->minimum : y.maximum > stage->maximum ? stage->maximum : y.maximum;
    return y;
}

/* Accumulators of all channels; false where the firmware's 32 bits cannot hold their sums. */
static bool find_ranges(const struct description *d, struct step_point *ranges)
{
    for (int channel = 0; channel < d->output->channels; channel++) {
        struct accumulator_range range = accumulator_range(d->network, d->layer, channel);
        if (!fits_32_bits(range.partial_minimum) || !fits_32_bits(range.partial_maximum))
            return false;
        ranges[channel] = (struct step_point){(int64_t)range.minimum, (int64_t)range.maximum};
    }
    return true;
}

static void refuse_stage(const struct description *d, const struct stage *stage)
{
    if (stage->rounding == ROUND_FLOOR)
        REFUSE(d, NULL, "its normalisation exceeds 64-bit integers, which is the most that the firmware computes with");
    else
        REFUSE(d, NULL,
               "none of the firmware's forms of requantisation equals the model's for all sums that can occur; it may "
               "help to quantise to 8 bits, with scales that lie less far apart");
}

static void take_requantisation(const struct description *d, const struct requantisation *form)
{
    struct dory_layer *run = d->run;
    run->normalisation = (uint8_t)form->normalisation;
    run->rounding = (uint8_t)form->rounding;
    run->shift = (uint8_t)form->shift;
    run->left_shift = (uint8_t)form->left_shift;
    run->reciprocal = form->reciprocal;
    run->divisor = form->divisor;
}

static void describe_channel_stages(const struct description *d)
{
    const struct layer *layer = d->layer;
    static const int64_t one = 1, zero = 0;
    static const struct stage identity = {.count = 1, .multiplier = &one, .addend = &zero, .divisor = 1};
    const struct stage *stage = layer->stage_count ? &layer->stages[0] : &identity;
    size_t channels = (size_t)d->output->channels;
    struct step_point *ranges = arena_array(d->arena, struct step_point, channels);
    if (!find_ranges(d, ranges)) {
        REFUSE(d, NULL, "its sums can exceed 32 bits, in which the firmware accumulates");
        return;
    }
    if (layer->stage_count > 1)
        REFUSE(d, NULL, "has %d normalisations one after the other; a convolution can have one", layer->stage_count);
    describe_clip(d, layer->stage_count ? stage : NULL);
    struct requantise_problem problem = {.stage = stage,
                                         .ranges = ranges,
                                         .channel_count = d->output->channels,
                                         .minimum = d->run->minimum,
                                         .maximum = d->run->maximum,
                                         .allow_fast = d->network->fast_requantisation};
    if (requantise(&problem, d->requantisation, d->arena))
        take_requantisation(d, d->requantisation);
    else
        refuse_stage(d, stage);
}

/* A floor that equals the stage for these x, which the firmware can compute. */
static void make_floor(struct description *d, struct stage *stage, struct bounds x)
{
    const struct stage *found = stage->count ? requantise_as_floor(stage, x.minimum, x.maximum, d->arena) : stage;
    if (!found)
        refuse_stage(d, stage);
    else if (stage->rounding != ROUND_FLOOR)
        d->requantisation->verdict = REQUANTISED_PROVEN;
    *stage = found ? *found : (struct stage){.count = 0, .divisor = 1};
}

/* By thresholds, which any accumulator of a layer without weights can have. They are laid down in `thresholds`. */
static void describe_thresholds(struct description *d, struct bounds accumulator, int32_t *thresholds)
{
    d->run->normalisation = DORY_NORMALISE_THRESHOLDS;
    d->run->minimum = 0;
    d->run->maximum = UINT8_MAX;
    if (d->output->bits != 8 || d->output->is_signed ||
        !thresholds_of_stages(d->layer, accumulator.minimum, accumulator.maximum, thresholds)) {
        REFUSE(d, NULL,
               "its accumulators have %" PRId64 "..%" PRId64
               " and its elements %d bits; supported are 32 bits and, with one "
               "normalisation for all channels, bytes without a sign",
               accumulator.minimum, accumulator.maximum, d->output->bits);
        return;
    }
    d->requantisation->verdict = REQUANTISED_PROVEN;
    d->requantisation->normalisation = DORY_NORMALISE_THRESHOLDS;
    d->requantisation->channel_count = d->output->channels;
    d->requantisation->accumulators = accumulator.maximum - accumulator.minimum + 1;
}

/* The accumulators that the range pass has proven. */
static struct bounds proven_accumulator(const struct description *d)
{
    return (struct bounds){d->layer->accumulator_minimum, d->layer->accumulator_maximum};
}

/* Where halves occur and go to even, no floor is equal. */
static bool needs_thresholds(const struct description *d, struct bounds accumulator)
{
    const struct stage *first = &d->first;
    return d->layer->stage_count == 1 && first->count == 1 && first->rounding != ROUND_FLOOR && d->output->bits == 8 &&
           !d->output->is_signed && !requantise_as_floor(first, accumulator.minimum, accumulator.maximum, d->arena);
}

static void describe_scalar_stages(struct description *d, struct bounds accumulator)
{
    if (needs_thresholds(d, accumulator)) {
        int32_t *thresholds = arena_array(d->arena, int32_t, DORY_THRESHOLDS);
        d->run->thresholds = thresholds;
        describe_thresholds(d, accumulator, thresholds);
        return;
    }
    const struct layer *layer = d->layer;
    const struct stage *first = &d->first;
    struct form form = {true, true, true};
    make_floor(d, &d->first, accumulator);
    if (first->count)
        form_add(&form, first, 0, accumulator);
    d->stages->first = scalar_stage(d, first, accumulator);
    choose_normalisation(d, &form, d->stages->first.divisor);
    if (layer->stage_count > 1) {
        d->stages->has_second = 1;
        struct bounds x = stage_bounds(&d->stages->first, accumulator);
        struct stage second = layer->stages[1];
        make_floor(d, &second, x);
        d->stages->second = scalar_stage(d, &second, x);
    }
    d->requantisation->normalisation = d->run->normalisation;
    d->requantisation->channel_count = d->output->channels;
    d->requantisation->accumulators += accumulator.maximum - accumulator.minimum + 1;
    describe_clip(d, layer->stage_count ? &layer->stages[layer->stage_count - 1] : NULL);
}

/* ---- shapes ---- */

struct dimension {
    const char *name;
    int64_t value;
    uint16_t *place;
};

/* Copies dimensions that the firmware holds in 16 bits. */
static void set_dimensions(const struct description *d, const struct dimension *dimensions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (dimensions[i].value < 0 || dimensions[i].value > UINT16_MAX)
            REFUSE(d, NULL, "its %s is %" PRId64 "; at most %d is supported", dimensions[i].name, dimensions[i].value,
                   UINT16_MAX);
        *dimensions[i].place = (uint16_t)dimensions[i].value;
    }
}

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* What the border holds; the tile loop fills it with bytes. */
static void describe_border(const struct description *d)
{
    int64_t value = d->layer->padding_value;
    int64_t least = d->input->is_signed ? -((int64_t)1 << (d->input->bits - 1)) : 0;
    int64_t most = least + ((int64_t)1 << d->input->bits) - 1;
    if (value != 0 && (d->input->bits > 8 || value < least || value > most))
        REFUSE(d, NULL, "pads with %" PRId64 ", which borders of %d-bit %s elements cannot hold", value, d->input->bits,
               d->input->is_signed ? "signed" : "unsigned");
    d->run->border_value = (int16_t)value;
}

static void describe_shape(const struct description *d)
{
    struct dory_layer *run = d->run;
    const struct layer *layer = d->layer;
    bool window = !layer_has_two_inputs(layer);
    const struct dimension dimensions[] = {
        {"input height", d->input->height, &run->input_height},
        {"input width", d->input->width, &run->input_width},
        {"number of input channels", d->input->channels, &run->input_channels},
        {"output height", d->output->height, &run->output_height},
        {"output width", d->output->width, &run->output_width},
        {"number of output channels", d->output->channels, &run->output_channels},
        {"kernel height", window ? layer->kernel_height : 1, &run->kernel_height},
        {"kernel width", window ? layer->kernel_width : 1, &run->kernel_width},
        {"vertical stride", window ? layer->stride_height : 1, &run->stride_height},
        {"horizontal stride", window ? layer->stride_width : 1, &run->stride_width},
        {"vertical dilation", window && layer->kernel_height > 1 ? layer->dilation_height : 1, &run->dilation_height},
        {"horizontal dilation", window && layer->kernel_width > 1 ? layer->dilation_width : 1, &run->dilation_width},
        {"padding at the top", window ? layer->padding_top : 0, &run->padding_top},
        {"padding at the left", window ? layer->padding_left : 0, &run->padding_left},
    };
    set_dimensions(d, dimensions, COUNT_OF(dimensions));
}

static void swap(uint16_t *a, uint16_t *b)
{
    uint16_t other = *a;
    *a = *b;
    *b = other;
}

/* Of a tensor that is laid along the width: it is one row, which no step of the network can cut into stripes. */
#define LONGEST_ROW_BYTES 32768

/* Tensors of one column, as sound and sensors have them in TFLite, lie in memory as tensors of one row do; and kernels work
 * along rows. */
static void lay_along_width(const struct description *d)
{
    struct dory_layer *run = d->run;
    bool is_column = run->input_width == 1 && run->output_width == 1 && run->kernel_width == 1 && run->padding_left == 0;
    if (!is_column || run->input_height == 1 || run->input_height * run->input_channels > LONGEST_ROW_BYTES ||
        run->output_height * run->output_channels > LONGEST_ROW_BYTES)
        return;
    swap(&run->input_height, &run->input_width);
    swap(&run->output_height, &run->output_width);
    swap(&run->kernel_height, &run->kernel_width);
    swap(&run->stride_height, &run->stride_width);
    swap(&run->dilation_height, &run->dilation_width);
    swap(&run->padding_top, &run->padding_left);
}

/* A convolution that reads its whole input becomes one of a single pixel (see layer_reads_whole_input). */
static void flatten(const struct description *d)
{
    struct dory_layer *run = d->run;
    if (!layer_reads_whole_input(d->network, d->layer))
        return;
    run->input_channels = (uint16_t)tensor_elements(d->input);
    run->input_height = run->input_width = 1;
    run->kernel_height = run->kernel_width = 1;
    run->stride_height = run->stride_width = 1;
    run->dilation_height = run->dilation_width = 1;
}

/* The extent of the input with its border must hold what the outputs read, in 16 bits. */
static void check_extent(const struct description *d, const char *attribute, int64_t outputs, int64_t kernel, int64_t stride,
                         int64_t dilation, int64_t size, int64_t padding)
{
    if (outputs < 1 || kernel < 1 || stride < 1 || dilation < 1) {
        REFUSE(d, attribute, "a size, stride or dilation below 1");
        return;
    }
    int64_t extent = (outputs - 1) * stride + (kernel - 1) * dilation + 1;
    if (extent > size + padding)
        REFUSE(d, attribute, "reads %" PRId64 " elements where the input has %" PRId64 " with its padding", extent,
               size + padding);
    if (extent > UINT16_MAX)
        REFUSE(d, attribute, "reads %" PRId64 " elements along one dimension; at most %d is supported", extent, UINT16_MAX);
}

static void check_extents(const struct description *d)
{
    const struct layer *layer = d->layer;
    if (layer_has_two_inputs(layer) || layer->kind == LAYER_COPY || layer->kind == LAYER_INTERPOLATION)
        return;
    check_extent(d, "kernel height", d->output->height, layer->kernel_height, layer->stride_height, layer->dilation_height,
                 d->input->height, layer->padding_top + layer->padding_bottom);
    check_extent(d, "kernel width", d->output->width, layer->kernel_width, layer->stride_width, layer->dilation_width,
                 d->input->width, layer->padding_left + layer->padding_right);
}

/* True where each of `outputs` windows has at least one element that is not padding: a maximum of nothing has no value. */
static bool windows_see_input(int64_t outputs, int64_t kernel, int64_t stride, int64_t dilation, int64_t size,
                              int64_t padding)
{
    for (int64_t output = 0; output < outputs; output++) {
        int64_t position = output * stride - padding, end = position + kernel * dilation;
        while (position < 0)
            position += dilation;
        if (position >= size || position >= end)
            return false;
    }
    return true;
}

static void check_maximum_pool(const struct description *d)
{
    const struct layer *layer = d->layer;
    if (d->diagnostics->error_count == 0 &&
        !(windows_see_input(d->output->height, layer->kernel_height, layer->stride_height, layer->dilation_height,
                            d->input->height, layer->padding_top) &&
          windows_see_input(d->output->width, layer->kernel_width, layer->stride_width, layer->dilation_width,
                            d->input->width, layer->padding_left)))
        REFUSE(d, "pads", "some windows of the maximum pool lie in the padding altogether");
}

/* ---- element types ---- */

static bool is_width(int bits) { return bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 32; }

static void describe_elements(const struct description *d)
{
    struct dory_layer *run = d->run;
    const struct tensor *tensors[] = {d->input, d->second_input, d->output};
    for (size_t i = 0; i < COUNT_OF(tensors); i++)
        if (tensors[i] && !is_width(tensors[i]->bits))
            REFUSE(d, NULL, "tensor '%s' has elements of %d bits; 2, 4, 8, 16 and 32 are supported", tensors[i]->name,
                   tensors[i]->bits);
    run->input_bits = (uint8_t)d->input->bits;
    run->input_is_signed = d->input->is_signed;
    if (d->second_input) {
        run->second_input_bits = (uint8_t)d->second_input->bits;
        run->second_input_is_signed = d->second_input->is_signed;
    }
    run->output_bits = (uint8_t)d->output->bits;
    run->output_is_signed = d->output->is_signed;
}

/* ---- kinds of layers ---- */

/* The layer that should have had a clip: pools and the like only pass on what they get. */
static const struct layer *unclipped_producer(const struct description *d)
{
    const struct layer *layer = d->layer;
    for (const struct tensor *tensor = d->input; tensor->bits == 32 && tensor->producer != NO_LAYER;
         tensor = &d->network->tensors[layer->inputs[0]])
        layer = &d->network->layers[tensor->producer];
    return layer;
}

/* The fault is not in the layer that reads them. */
static void refuse_wide_input(const struct description *d)
{
    const struct layer *producer = unclipped_producer(d);
    if (producer == d->layer)
        REFUSE(d, NULL, "convolves 32-bit elements, which the firmware cannot");
    else
        diagnose(
            d->diagnostics, SEVERITY_ERROR, producer->name, NULL,
            "its output is not clipped and so has elements of 32 bits, which '%s' behind it cannot convolve; a Clip to at "
            "most 8 bits (what a quantised activation exports) is missing behind it",
            d->layer->name);
}

static void describe_convolution(const struct description *d)
{
    const struct layer *layer = d->layer;
    struct dory_layer *run = d->run;
    run->operation = layer->groups == 1                      ? DORY_CONVOLUTION
                     : layer_is_depthwise(d->network, layer) ? DORY_DEPTHWISE
                                                             : DORY_GROUPED;
    run->weight_bits = run->operation == DORY_DEPTHWISE ? 8 : (uint8_t)layer->weight_bits; /* of the blob */
    if (layer->groups < 1 || d->input->channels % layer->groups || d->output->channels % layer->groups)
        REFUSE(d, "group", "%d groups of %d and %d channels, which do not divide", layer->groups, d->input->channels,
               d->output->channels);
    else if (run->operation == DORY_GROUPED) {
        run->group_channels = (uint16_t)(d->input->channels / layer->groups);
        run->group_outputs = (uint16_t)(d->output->channels / layer->groups);
    }
    if (d->input->bits == 32)
        refuse_wide_input(d);
    flatten(d);
    if (d->diagnostics->error_count == 0)
        describe_channel_stages(d);
}

static void describe_pool(struct description *d)
{
    bool maximum = d->layer->kind == LAYER_MAXIMUM_POOL;
    struct bounds x = tensor_bounds(d, 0);
    d->run->operation = maximum ? DORY_MAXIMUM_POOL : DORY_AVERAGE_POOL;
    if (maximum) {
        check_maximum_pool(d);
    } else {
        int64_t taps = (int64_t)d->layer->kernel_height * d->layer->kernel_width;
        x.minimum = (x.minimum < 0 ? x.minimum : 0) * taps;
        x.maximum = (x.maximum > 0 ? x.maximum : 0) * taps;
    }
    if (d->input->channels != d->output->channels)
        REFUSE(d, NULL, "pools %d channels into %d", d->input->channels, d->output->channels);
    if (!fits_32_bits(x.minimum) || !fits_32_bits(x.maximum))
        REFUSE(d, NULL, "its sums can exceed 32 bits, in which the firmware accumulates");
    if (d->diagnostics->error_count == 0)
        describe_scalar_stages(d, x);
}

static bool same_shape(const struct tensor *a, const struct tensor *b)
{
    return a->height == b->height && a->width == b->width && a->channels == b->channels;
}

/* The stages of both inputs, and what they make of their tensors. */
static void describe_input_stages(struct description *d, struct bounds terms[2])
{
    for (int i = 0; i < 2; i++)
        make_floor(d, &d->terms[i], tensor_bounds(d, i));
    for (int i = 0; i < 2; i++)
        d->stages->input[i] = scalar_stage(d, &d->terms[i], tensor_bounds(d, i));
    for (int i = 0; i < 2 && d->diagnostics->error_count == 0; i++)
        terms[i] = stage_bounds(&d->stages->input[i], tensor_bounds(d, i));
}

/* Terms and sum become floors together: what a term is rounded to is no number of the firmware. */
static bool make_sum(struct description *d)
{
    bool floors = d->first.rounding == ROUND_FLOOR;
    struct requantise_sum sum = {.terms = {d->terms[0], d->terms[1]}, .sum = d->first};
    for (int i = 0; i < 2; i++) {
        struct bounds x = tensor_bounds(d, i);
        sum.first[i] = x.minimum;
        sum.last[i] = x.maximum;
        floors = floors && d->terms[i].rounding == ROUND_FLOOR;
    }
    if (floors)
        return true;
    if (d->layer->stage_count != 1 || !requantise_sum(&sum, d->arena))
        return false;
    memcpy(d->terms, sum.terms, sizeof d->terms);
    d->first = sum.sum;
    d->requantisation->verdict = REQUANTISED_PROVEN;
    d->requantisation->pairs = (sum.last[0] - sum.first[0] + 1) * (sum.last[1] - sum.first[1] + 1);
    return true;
}

/* Where no floors make the sum: by tables. */
static void describe_addition_terms(struct description *d)
{
    const struct tensor *tensors[] = {d->input, d->second_input, d->output};
    bool are_bytes = true;
    for (size_t i = 0; i < COUNT_OF(tensors); i++)
        are_bytes = are_bytes && tensors[i]->bits == 8 && !tensors[i]->is_signed;
    describe_clip(d, d->layer->stage_count ? &d->layer->stages[0] : NULL);
    if (!are_bytes || !addition_terms(d->layer, d->run, d->stages, d->arena)) {
        refuse_stage(d, d->first.rounding == ROUND_FLOOR ? &d->terms[0] : &d->first);
        return;
    }
    d->requantisation->verdict = REQUANTISED_PROVEN;
    d->requantisation->normalisation = DORY_NORMALISE_HIGH;
    d->requantisation->channel_count = d->output->channels;
    d->requantisation->pairs = 256 * 256;
}

static void describe_addition(struct description *d)
{
    struct bounds terms[2];
    d->run->operation = DORY_ADDITION;
    if (!same_shape(d->input, d->second_input) || !same_shape(d->input, d->output))
        REFUSE(d, NULL, "adds tensors of different shapes");
    if (d->diagnostics->error_count > 0)
        return;
    if (!make_sum(d)) {
        describe_addition_terms(d);
        return;
    }
    describe_input_stages(d, terms);
    if (d->diagnostics->error_count > 0)
        return;
    struct bounds sum = {terms[0].minimum + terms[1].minimum, terms[0].maximum + terms[1].maximum};
    if (!fits_32_bits(sum.minimum) || !fits_32_bits(sum.maximum))
        REFUSE(d, NULL, "its sums can exceed 32 bits, in which the firmware accumulates");
    describe_scalar_stages(d, sum);
}

/* A number that is added to an element, and nothing else. */
static bool is_offset(const struct dory_stage *stage)
{
    return stage->multiplier == 1 && stage->divisor == 1 && stage->addend >= INT16_MIN && stage->addend <= INT16_MAX;
}

/* One scale for the layer in the high half of a product, which the chip's own kernel takes. */
static bool describe_high_product(struct description *d, struct bounds product)
{
    struct step_point range = {product.minimum, product.maximum};
    struct requantise_problem problem = {.stage = &d->first, .ranges = &range, .channel_count = 1, .only_high = true};
    struct requantisation form = {0};
    if (d->layer->stage_count != 1 || d->first.count != 1 || !is_offset(&d->stages->input[0]) ||
        !is_offset(&d->stages->input[1]))
        return false;
    describe_clip(d, &d->first);
    problem.minimum = d->run->minimum;
    problem.maximum = d->run->maximum;
    if (!requantise(&problem, &form, d->arena) || form.channels[0].words[0] != 0)
        return false;
    const int64_t *words = form.channels[0].words; /* bias, multiplier, addend, shift */
    d->stages->first = (struct dory_stage){words[1], words[2], (int64_t)1 << words[3], d->run->minimum, d->run->maximum};
    *d->requantisation = form;
    d->requantisation->channels = NULL;
    d->requantisation->channel_count = d->output->channels;
    take_requantisation(d, &form);
    return true;
}

static void describe_multiplication(struct description *d)
{
    const struct tensor *b = d->second_input;
    struct bounds factors[2];
    struct bounds product = {d->layer->accumulator_minimum, d->layer->accumulator_maximum};
    d->run->operation = DORY_MULTIPLICATION;
    d->run->second_is_pixel = b->height == 1 && b->width == 1 && (d->input->height != 1 || d->input->width != 1);
    if (!same_shape(d->input, d->output) || b->channels != d->input->channels ||
        !(d->run->second_is_pixel || same_shape(d->input, b)))
        REFUSE(d, NULL, "multiplies tensors of different shapes");
    if (!fits_32_bits(product.minimum) || !fits_32_bits(product.maximum))
        REFUSE(d, NULL, "its products can exceed 32 bits, in which the firmware accumulates");
    if (d->diagnostics->error_count == 0)
        describe_input_stages(d, factors);
    if (d->diagnostics->error_count == 0 && !describe_high_product(d, product))
        describe_scalar_stages(d, product);
}

static void describe_concatenation(struct description *d)
{
    const struct tensor *a = d->input, *b = d->second_input, *y = d->output;
    struct bounds terms[2];
    d->run->operation = DORY_CONCATENATION;
    if (a->height != b->height || a->width != b->width || a->height != y->height || a->width != y->width ||
        a->channels + b->channels != y->channels)
        REFUSE(d, NULL, "joins tensors of different height or width");
    describe_input_stages(d, terms);
    if (d->diagnostics->error_count > 0)
        return;
    struct bounds either = {terms[0].minimum < terms[1].minimum ? terms[0].minimum : terms[1].minimum,
                            terms[0].maximum > terms[1].maximum ? terms[0].maximum : terms[1].maximum};
    describe_scalar_stages(d, either);
}

/* Do the positions of rows (or columns) say `i * stride - padding`, in units of `unit` elements? */
static bool is_window(const int32_t *positions, int count, int32_t unit, int extent, int *stride, int *padding)
{
    int first = 0;
    while (first < count && positions[first] < 0)
        first++;
    if (first == count)
        return false;
    *stride = first + 1 < count && positions[first + 1] >= 0 ? (positions[first + 1] - positions[first]) / unit : 1;
    *padding = first * *stride - positions[first] / unit;
    for (int i = 0; i < count; i++) {
        int64_t position = (int64_t)i * *stride - *padding;
        if (positions[i] != (position >= 0 && position < extent ? position * unit : -1))
            return false;
    }
    return *stride >= 1 && *padding >= 0;
}

static bool keeps_channels(const struct layer_map *map, int count)
{
    for (int i = 0; i < count; i++)
        if (map->channels[i] != i)
            return false;
    return true;
}

/* A border and a stride need no map, and only the rows that a tile reads. */
static bool describe_window_copy(const struct description *d)
{
    const struct layer_map *map = &d->layer->map;
    const struct tensor *x = d->input, *y = d->output;
    int stride[2], padding[2];
    if (x->channels != y->channels || !keeps_channels(map, y->channels) ||
        !is_window(map->rows, y->height, x->width * x->channels, x->height, &stride[0], &padding[0]) ||
        !is_window(map->columns, y->width, x->channels, x->width, &stride[1], &padding[1]))
        return false;
    const struct dimension dimensions[] = {
        {"vertical stride", stride[0], &d->run->stride_height},
        {"horizontal stride", stride[1], &d->run->stride_width},
        {"padding at the top", padding[0], &d->run->padding_top},
        {"padding at the left", padding[1], &d->run->padding_left},
    };
    set_dimensions(d, dimensions, COUNT_OF(dimensions));
    return true;
}

/* Any other map: every tile has the whole input in L1, which is a window of all of it that never moves. */
static void describe_mapped_copy(const struct description *d)
{
    const struct layer_map *map = &d->layer->map;
    const struct tensor *y = d->output;
    int32_t *positions = arena_array(d->arena, int32_t, (size_t)y->height + (size_t)y->width + (size_t)y->channels);
    d->run->kernel_height = d->run->input_height;
    d->run->kernel_width = d->run->input_width;
    d->run->stride_height = d->run->stride_width = 0;
    d->run->map = positions;
    memcpy(positions, map->rows, (size_t)y->height * sizeof *positions);
    memcpy(positions + y->height, map->columns, (size_t)y->width * sizeof *positions);
    memcpy(positions + y->height + y->width, map->channels, (size_t)y->channels * sizeof *positions);
}

static void describe_copy(const struct description *d)
{
    d->run->operation = DORY_COPY;
    d->run->stages = NULL;
    if (d->input->bits != 8 || d->output->bits != 8 || d->layer->stage_count != 0) {
        REFUSE(d, NULL, "moves elements of %d bits; 8 are supported", d->input->bits);
        return;
    }
    d->run->border_value = (int16_t)d->layer->padding_value;
    describe_clip(d, NULL);
    if (!describe_window_copy(d))
        describe_mapped_copy(d);
}

/* Whole numbers for exponentials, and the thresholds of their quotients behind them. */
static void describe_exact_softmax(struct description *d)
{
    int32_t *words = arena_array(d->arena, int32_t, 256 + DORY_THRESHOLDS);
    d->run->operation = DORY_SOFTMAX;
    d->run->stages = NULL;
    memcpy(words, d->layer->exponentials, 256 * sizeof *words);
    d->run->exponentials = (const uint32_t *)words;
    if (!same_shape(d->input, d->output) || d->input->bits != 8 || d->input->is_signed)
        REFUSE(d, NULL, "a softmax of elements that are no bytes without a sign, or into another shape");
    else
        describe_thresholds(d, proven_accumulator(d), words + 256);
}

static int32_t *add_taps(int32_t *next, const struct layer_tap *taps, int count)
{
    for (int i = 0; i < count; i++, next += 4) {
        memcpy(next, taps[i].positions, sizeof taps[i].positions);
        memcpy(next + 2, taps[i].weights, sizeof taps[i].weights);
    }
    return next;
}

/* As of a mapped copy, but for channels, each of which comes from itself: every tile has all of their pixels. */
static void describe_interpolation(struct description *d)
{
    const struct tensor *x = d->input, *y = d->output;
    int32_t *words = arena_array(d->arena, int32_t, 4 * ((size_t)y->height + (size_t)y->width) + DORY_THRESHOLDS);
    d->run->operation = DORY_INTERPOLATION;
    d->run->stages = NULL;
    d->run->kernel_height = d->run->input_height;
    d->run->kernel_width = d->run->input_width;
    d->run->stride_height = d->run->stride_width = 0;
    d->run->dilation_height = d->run->dilation_width = 1;
    d->run->padding_top = d->run->padding_left = 0;
    d->run->taps = words;
    add_taps(add_taps(words + DORY_THRESHOLDS, d->layer->taps.rows, y->height), d->layer->taps.columns, y->width);
    if (x->channels != y->channels || x->bits != 8 || x->is_signed)
        REFUSE(d, NULL, "interpolates elements that are no bytes without a sign, or into other channels");
    else
        describe_thresholds(d, proven_accumulator(d), words);
}

/* Functions of bytes by a table. */
static void describe_table(struct description *d)
{
    const struct layer *layer = d->layer;
    bool is_softmax = layer->kind == LAYER_SOFTMAX;
    if (is_softmax && !layer->is_fixed_point) {
        describe_exact_softmax(d);
        return;
    }
    d->run->operation = is_softmax ? DORY_SOFTMAX : DORY_TABLE;
    d->run->minimum = INT32_MIN;
    d->run->maximum = INT32_MAX;
    d->run->stages = NULL;
    if (is_softmax)
        d->run->exponentials = layer->exponentials;
    else
        d->run->table = layer->table;
    if (!same_shape(d->input, d->output) || layer->stage_count > 0)
        REFUSE(d, NULL,
               "there is no firmware for a function of elements with stages, or of another shape; 'dory run' computes it");
    if (d->input->bits != 8 || d->input->is_signed || d->output->bits != 8 || d->output->is_signed)
        REFUSE(d, NULL, "a function of elements that are no bytes without a sign");
}

static void describe_kind(struct description *d)
{
    switch (d->layer->kind) {
    case LAYER_CONVOLUTION: describe_convolution(d); break;
    case LAYER_ADDITION: describe_addition(d); break;
    case LAYER_CONCATENATION: describe_concatenation(d); break;
    case LAYER_TABLE:
    case LAYER_SOFTMAX: describe_table(d); break;
    case LAYER_COPY: describe_copy(d); break;
    case LAYER_INTERPOLATION: describe_interpolation(d); break;
    case LAYER_MULTIPLICATION: describe_multiplication(d); break;
    case LAYER_MAXIMUM_POOL:
    case LAYER_AVERAGE_POOL: describe_pool(d); break;
    }
}

bool describe_layer(const struct network *network, int index, struct dory_layer *run,
                    const struct requantisation **requantisation, struct arena *arena, struct diagnostics *diagnostics)
{
    const struct layer *layer = &network->layers[index];
    /* This layer's errors are counted apart, so that those of others do not stop its own checks. */
    struct diagnostics own = {.arena = arena, .file = diagnostics->file};
    struct description d = {
        .network = network,
        .layer = layer,
        .input = &network->tensors[layer->inputs[0]],
        .second_input = layer_has_two_inputs(layer) ? &network->tensors[layer->inputs[1]] : NULL,
        .output = &network->tensors[layer->output],
        .run = run,
        .requantisation = arena_array(arena, struct requantisation, 1),
        .terms = {layer->input_stages[0], layer->input_stages[1]},
        .first = layer->stage_count ? layer->stages[0] : (struct stage){.count = 0, .divisor = 1},
        .arena = arena,
        .diagnostics = &own,
    };
    memset(run, 0, sizeof *run);
    if (layer->kind != LAYER_CONVOLUTION) {
        d.stages = arena_array(arena, struct dory_stages, 1);
        memset(d.stages, 0, sizeof *d.stages);
        run->stages = d.stages;
    }
    describe_elements(&d);
    describe_shape(&d);
    if (layer->kind != LAYER_COPY && layer->kind != LAYER_INTERPOLATION) /* which say rows and columns by lists */
        lay_along_width(&d);
    describe_border(&d);
    check_extents(&d);
    describe_kind(&d);
    for (int i = 0; i < own.count; i++)
        diagnose(diagnostics, own.list[i].severity, own.list[i].node, own.list[i].attribute, "%s", own.list[i].text);
    if (requantisation)
        *requantisation = d.requantisation->channel_count ? d.requantisation : NULL;
    return own.error_count == 0;
}
