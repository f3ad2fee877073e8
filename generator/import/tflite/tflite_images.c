/* Images of a batch inside a network, as of a sequence: convolutions and pools see them as one image, each below the other
 * with its border between them. The operator is imported as if the file said so, and of its result the rows of windows that
 * see two images are left out. */
#include "import/tflite/tflite_import.h"
#include "middle/moves.h"

/* Of the operator: where its images are, and what its windows have to do with rows and columns. */
struct sliding {
    int input;
    struct window windows[2];
    int before[2], after[2]; /* of border */
    int border;              /* its elements */
    int64_t pitch, all_rows; /* rows from an image to the next one below it; of all of them */
};

static bool read_sliding(const struct tflite_importer *importer, struct sliding *sliding)
{
    const struct tflite_operator *operation = importer->current;
    const struct tflite_options *options = &operation->options;
    const bool is_pool = operation->code == TFLITE_MAX_POOL_2D || operation->code == TFLITE_AVERAGE_POOL_2D;
    const bool is_transposed = operation->code == TFLITE_TRANSPOSE_CONV;
    if (!is_pool && !is_transposed && operation->code != TFLITE_CONV_2D && operation->code != TFLITE_DEPTHWISE_CONV_2D)
        return false;
    *sliding = (struct sliding){.input = is_transposed ? 2 : 0};
    const int last_input = is_pool ? 0 : is_transposed ? 2 : 1;
    for (int i = 0; i <= last_input; i++)
        if (i >= operation->input_count || operation->inputs[i] == NO_TENSOR)
            return false;
    const struct tflite_tensor *from = &importer->tensors[operation->inputs[sliding->input]], *weights = NULL,
                               *to = &importer->tensors[operation->outputs[0]];
    if (!is_pool)
        weights = &importer->tensors[operation->inputs[1]];
    if (from->rank != 4 || from->dimensions[0] <= 1 || to->rank != 4 || (weights && weights->rank != 4))
        return false;
    const int kernels[2] = {weights ? weights->dimensions[1] : options->kernel_height,
                            weights ? weights->dimensions[2] : options->kernel_width};
    const int dilations[2] = {options->dilation_height, options->dilation_width};
    const int strides[2] = {options->stride_height, options->stride_width};
    for (int i = 0; i < 2; i++)
        sliding->windows[i] = (struct window){.what = i ? "width" : "height",
                                              .size = from->dimensions[1 + i],
                                              .kernel = kernels[i],
                                              .stride = strides[i],
                                              .dilation = is_pool || is_transposed ? 1 : dilations[i],
                                              .outputs = to->dimensions[1 + i]};
    return true;
}

bool tflite_has_images(const struct tflite_importer *importer)
{
    struct sliding sliding;
    return read_sliding(importer, &sliding);
}

/* A transposed convolution's rows are those of its input where its kernel is a row. */
static bool check_transposed(struct tflite_importer *importer, const struct window *rows)
{
    if (rows->kernel != 1 || rows->stride != 1)
        return tflite_fault(importer, "several images and a kernel of more than a row; supported: one of both");
    return rows->outputs == rows->size || tflite_fault(importer, "a height of %d elements gives %d, and the output has %d",
                                                       rows->size, rows->size, rows->outputs);
}

/* What the windows need beside an image; false after a report. */
static bool pad_windows(struct tflite_importer *importer, struct sliding *sliding)
{
    const int code = importer->current->code;
    bool is_padded = false;
    for (int i = 0; i < 2; i++) {
        const struct window *window = &sliding->windows[i];
        if (window->kernel < 1 || window->stride < 1 || window->dilation < 1 || window->kernel > MAXIMUM_DIMENSION ||
            window->stride > MAXIMUM_DIMENSION || window->dilation > MAXIMUM_DIMENSION)
            return tflite_fault(importer, "a %s with a kernel, stride or dilation that is none", window->what);
        if (code == TFLITE_TRANSPOSE_CONV ? !i && !check_transposed(importer, window)
                                          : !tflite_pad_window(importer, window, &sliding->before[i], &sliding->after[i]))
            return false;
        if (window->outputs < 1 || (int64_t)window->size + sliding->before[i] + sliding->after[i] > MAXIMUM_DIMENSION)
            return tflite_fault(importer, "a %s of no window or, with its border, of more than %d elements", window->what,
                                MAXIMUM_DIMENSION);
        is_padded |= sliding->before[i] > 0 || sliding->after[i] > 0;
    }
    return !is_padded || code != TFLITE_AVERAGE_POOL_2D ||
           tflite_fault(importer, "several images and padding SAME; supported: one image, or VALID");
}

static void set_shape(struct tflite_tensor *tensor, int rows, int columns)
{
    tensor->dimensions[0] = 1;
    tensor->dimensions[1] = rows;
    tensor->dimensions[2] = columns;
}

/* The border between two images is both's, and windows of each begin at its first row. False where there are too many rows.
 */
static bool lay_rows(struct sliding *sliding, int64_t images)
{
    const struct window *rows = &sliding->windows[0];
    sliding->pitch = (int64_t)sliding->before[0] + rows->size + sliding->after[0];
    sliding->pitch = (sliding->pitch + rows->stride - 1) / rows->stride * rows->stride;
    sliding->all_rows = images * sliding->pitch;
    return sliding->all_rows <= MAXIMUM_DIMENSION;
}

/* The operator as it is for one image that has all rows: of tensors and values that are so while it is imported. */
static bool run_stacked(struct tflite_importer *importer, tflite_handler *handler, const struct sliding *sliding,
                        int stacked, struct value *result)
{
    const struct tflite_operator *operation = importer->current;
    const int index = operation->inputs[sliding->input], output = operation->outputs[0];
    const struct tflite_tensor from = importer->tensors[index], to = importer->tensors[output];
    const struct value before = importer->values[index];
    const struct window *rows = &sliding->windows[0];
    const int reach = (rows->kernel - 1) * rows->dilation + 1;
    struct tflite_operator whole = *operation;
    set_shape(&importer->tensors[index], (int)sliding->all_rows,
              from.dimensions[2] + sliding->before[1] + sliding->after[1]);
    set_shape(&importer->tensors[output], (int)((sliding->all_rows - reach) / rows->stride + 1), to.dimensions[2]);
    importer->values[index] = tflite_value_of(stacked);
    importer->values[index].padding = (struct padding){.left = sliding->before[1], .right = sliding->after[1]};
    importer->values[index].padding_element = sliding->border;
    whole.options.padding = operation->code == TFLITE_TRANSPOSE_CONV ? whole.options.padding : TFLITE_VALID;
    importer->current = &whole;
    bool is_done = handler(importer, &whole, result);
    importer->current = operation;
    importer->tensors[index] = from;
    importer->tensors[output] = to;
    importer->values[index] = before;
    return is_done;
}

bool tflite_over_images(struct tflite_importer *importer, tflite_handler *handler, struct value *result)
{
    struct sliding sliding = {0};
    struct middle_value images, stacked;
    if (!read_sliding(importer, &sliding) || !pad_windows(importer, &sliding) ||
        !tflite_takes(importer, sliding.input, &images))
        return false;
    const int64_t count = images.view.dimensions[0];
    const bool is_maximum = importer->current->code == TFLITE_MAX_POOL_2D;
    sliding.border = is_maximum ? 0 : tflite_network_tensor(importer, images.tensor)->zero_point;
    if (!lay_rows(&sliding, count) || !middle_stack_images(&importer->builder, tflite_output(importer)->name, &images,
                                                           sliding.before[0], sliding.pitch, sliding.border, &stacked))
        return tflite_fault(importer, "several images, which together have more than %d rows", MAXIMUM_DIMENSION);
    if (!run_stacked(importer, handler, &sliding, stacked.tensor, result))
        return false;
    const struct window *rows = &sliding.windows[0];
    struct middle_value made = {.tensor = result->tensor};
    made.view = middle_unstack_images(count, rows->outputs, sliding.pitch / rows->stride,
                                      tflite_network_tensor(importer, made.tensor));
    return tflite_gives(importer, 0, &made, result);
}
