/* Two ways to the same sums: a plain one in 64 bits, and one in 32 bits that compilers vectorise, for inputs of which the
 * bound below shows that no sum can leave 32 bits. Both take the bound from the numbers at hand, not from the range pass.
 */
#include "network/interpret_moves.h"

#include <string.h>

#include "base/support.h"

#define MAXIMUM_FAST_ELEMENTS ((int64_t)1 << 27) /* of the input with its border */

/* ---- bounds ---- */

static uint64_t largest_magnitude(const int64_t *values, size_t count)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t magnitude = values[i] < 0 ? 0 - (uint64_t)values[i] : (uint64_t)values[i];
        largest = magnitude > largest ? magnitude : largest;
    }
    return largest;
}

static size_t weights_of_channel(const struct layer *layer, const struct tensor *input)
{
    return (size_t)layer->kernel_height * (size_t)layer->kernel_width * (size_t)(input->channels / layer->groups);
}

/* No sum of weights times inputs has a larger magnitude. */
static unsigned __int128 largest_sum(const struct layer *layer, const struct tensor *input, const struct tensor *output,
                                     const int64_t *x)
{
    uint64_t most = 0;
    size_t count = weights_of_channel(layer, input);
    for (int channel = 0; channel < output->channels; channel++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            int weight = layer->weights[(size_t)channel * count + i];
            sum += (uint64_t)(weight < 0 ? -weight : weight);
        }
        most = sum > most ? sum : most;
    }
    uint64_t padding = (uint64_t)(layer->padding_value < 0 ? -(int64_t)layer->padding_value : layer->padding_value);
    uint64_t magnitude = largest_magnitude(x, tensor_elements(input));
    return (unsigned __int128)most * (magnitude > padding ? magnitude : padding);
}

/* ---- 64 bits ---- */

struct position {
    int row, column, channel; /* of the output */
};

static int64_t sum_of_products(const struct layer *layer, const struct tensor *input, const int64_t *x,
                               const int8_t *weights, struct position at, int first_channel)
{
    int64_t sum = 0;
    int channels = input->channels / layer->groups;
    for (int ky = 0; ky < layer->kernel_height; ky++)
        for (int kx = 0; kx < layer->kernel_width; kx++) {
            int64_t row = (int64_t)at.row * layer->stride_height + (int64_t)ky * layer->dilation_height - layer->padding_top;
            int64_t column =
                (int64_t)at.column * layer->stride_width + (int64_t)kx * layer->dilation_width - layer->padding_left;
            bool outside = row < 0 || row >= input->height || column < 0 || column >= input->width;
            const int64_t *pixel = outside ? NULL : x + (row * input->width + column) * input->channels + first_channel;
            for (int c = 0; c < channels; c++)
                sum += weights[(c * layer->kernel_height + ky) * layer->kernel_width + kx] *
                       (outside ? layer->padding_value : pixel[c]);
        }
    return sum;
}

static void convolve_plainly(const struct layer *layer, const struct tensor *input, const struct tensor *output,
                             const int64_t *x, int64_t *y)
{
    size_t count = weights_of_channel(layer, input);
    int channels_in = input->channels / layer->groups, channels_out = output->channels / layer->groups;
    for (int row = 0; row < output->height; row++)
        for (int column = 0; column < output->width; column++)
            for (int channel = 0; channel < output->channels; channel++)
                *y++ = sum_of_products(layer, input, x, layer->weights + (size_t)channel * count,
                                       (struct position){row, column, channel}, channel / channels_out * channels_in);
}

/* ---- 32 bits ---- */

struct image {
    int16_t *pixels; /* with its border */
    int64_t height, width;
    int channels;
};

static int64_t bordered(int outputs, int stride, int kernel, int dilation, int padding, int input)
{
    int64_t read = (int64_t)(outputs - 1) * stride + (int64_t)(kernel - 1) * dilation + 1;
    int64_t whole = (int64_t)padding + input;
    return read > whole ? read : whole;
}

static struct image make_image(const struct layer *layer, const struct tensor *input, const struct tensor *output)
{
    return (struct image){
        .height = bordered(output->height, layer->stride_height, layer->kernel_height, layer->dilation_height,
                           layer->padding_top, input->height),
        .width = bordered(output->width, layer->stride_width, layer->kernel_width, layer->dilation_width,
                          layer->padding_left, input->width),
        .channels = input->channels,
    };
}

static void fill_image(struct image *image, const struct layer *layer, const struct tensor *input, const int64_t *x,
                       struct arena *arena)
{
    image->pixels = arena_array(arena, int16_t, (size_t)(image->height * image->width * image->channels));
    size_t row_elements = (size_t)input->width * (size_t)input->channels;
    size_t elements = (size_t)(image->height * image->width * image->channels);
    for (size_t i = 0; layer->padding_value != 0 && i < elements; i++)
        image->pixels[i] = (int16_t)layer->padding_value;
    for (int row = 0; row < input->height; row++) {
        int16_t *to = image->pixels + ((row + layer->padding_top) * image->width + layer->padding_left) * image->channels;
        for (size_t i = 0; i < row_elements; i++)
            to[i] = (int16_t)*x++;
    }
}

/* [output channel][row][column][input channel], as the image has them; depth-wise: [row][column][channel]. */
static int16_t *order_weights(const struct layer *layer, int channels_in, int channels_out, bool depthwise,
                              struct arena *arena)
{
    size_t taps = (size_t)layer->kernel_height * (size_t)layer->kernel_width;
    int16_t *ordered = arena_array(arena, int16_t, taps * (size_t)channels_in * (size_t)channels_out);
    const int8_t *from = layer->weights;
    for (size_t o = 0; o < (size_t)channels_out; o++)
        for (size_t i = 0; i < (size_t)channels_in; i++)
            for (size_t tap = 0; tap < taps; tap++)
                ordered[depthwise ? tap * (size_t)channels_out + o : (o * taps + tap) * (size_t)channels_in + i] = *from++;
    return ordered;
}

static int32_t dot_product(const int16_t *a, const int16_t *b, int64_t count)
{
    int32_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* One output element. Where columns of the kernel are neighbours and all channels are read, a whole row is one product. */
static int32_t sum_of_rows(const struct layer *layer, const struct image *image, const int16_t *start,
                           const int16_t *weights, int channels)
{
    bool joined = layer->dilation_width == 1 && channels == image->channels;
    int runs = joined ? 1 : layer->kernel_width;
    int64_t run = joined ? (int64_t)layer->kernel_width * channels : channels;
    int32_t sum = 0;
    for (int ky = 0; ky < layer->kernel_height; ky++) {
        const int16_t *row = start + ky * layer->dilation_height * image->width * image->channels;
        for (int i = 0; i < runs; i++, weights += run)
            sum += dot_product(row + (int64_t)i * layer->dilation_width * image->channels, weights, run);
    }
    return sum;
}

static const int16_t *window_start(const struct layer *layer, const struct image *image, int row, int column)
{
    return image->pixels +
           ((int64_t)row * layer->stride_height * image->width + (int64_t)column * layer->stride_width) * image->channels;
}

static void convolve_rows(const struct layer *layer, const struct tensor *output, const struct image *image,
                          const int16_t *weights, int64_t *y)
{
    int channels_in = image->channels / layer->groups, channels_out = output->channels / layer->groups;
    size_t count = (size_t)layer->kernel_height * (size_t)layer->kernel_width * (size_t)channels_in;
    for (int row = 0; row < output->height; row++)
        for (int column = 0; column < output->width; column++) {
            const int16_t *start = window_start(layer, image, row, column);
            for (int channel = 0; channel < output->channels; channel++)
                *y++ = sum_of_rows(layer, image, start + channel / channels_out * channels_in,
                                   weights + (size_t)channel * count, channels_in);
        }
}

static void multiply_add(int32_t *restrict sums, const int16_t *restrict a, const int16_t *restrict b, int count)
{
    for (int i = 0; i < count; i++)
        sums[i] += a[i] * b[i];
}

static void convolve_depthwise(const struct layer *layer, const struct tensor *output, const struct image *image,
                               const int16_t *weights, int32_t *sums, int64_t *y)
{
    for (int row = 0; row < output->height; row++)
        for (int column = 0; column < output->width; column++) {
            const int16_t *start = window_start(layer, image, row, column);
            memset(sums, 0, (size_t)image->channels * sizeof *sums);
            for (int ky = 0; ky < layer->kernel_height; ky++)
                for (int kx = 0; kx < layer->kernel_width; kx++)
                    multiply_add(sums, weights + (ky * layer->kernel_width + kx) * image->channels,
                                 start + (ky * layer->dilation_height * image->width + kx * layer->dilation_width) *
                                             image->channels,
                                 image->channels);
            for (int c = 0; c < image->channels; c++)
                *y++ = sums[c];
        }
}

static void convolve_fast(const struct layer *layer, const struct tensor *input, const struct tensor *output,
                          struct image image, const int64_t *x, int64_t *y)
{
    struct arena arena = {0};
    bool depthwise = layer->groups == input->channels && output->channels == input->channels;
    fill_image(&image, layer, input, x, &arena);
    const int16_t *weights = order_weights(layer, input->channels / layer->groups, output->channels, depthwise, &arena);
    if (depthwise)
        convolve_depthwise(layer, output, &image, weights, arena_array(&arena, int32_t, (size_t)input->channels), y);
    else
        convolve_rows(layer, output, &image, weights, y);
    arena_free(&arena);
}

bool interpret_convolution(const struct layer *layer, const struct tensor *input, const struct tensor *output,
                           const int64_t *x, int64_t *y)
{
    unsigned __int128 bound = largest_sum(layer, input, output, x);
    struct image image = make_image(layer, input, output);
    bool fits_memory = image.height * image.width <= MAXIMUM_FAST_ELEMENTS / image.channels;
    if (bound > INT64_MAX)
        return false;
    if (bound <= INT32_MAX && largest_magnitude(x, tensor_elements(input)) <= INT16_MAX && fits_memory &&
        layer->padding_value >= INT16_MIN && layer->padding_value <= INT16_MAX)
        convolve_fast(layer, input, output, image, x, y);
    else
        convolve_plainly(layer, input, output, x, y);
    return true;
}
