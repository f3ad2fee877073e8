/* Dimensions that a file leaves open, as Keras does with the batch, and with what it computes from it: of such a tensor the
 * file's number is an example, 1. Here they become what they are for a batch of 1, operator by operator. */
#include "import/tflite/tflite_import.h"

/* What an operator's first output has in each dimension, as far as a rule knows; 0: it does not. */
struct sizes {
    int64_t list[TFLITE_MAXIMUM_RANK];
};

/* `from` is the tensor that is moved or computed with; `to` the output. */
typedef void rule(struct tflite_importer *importer, const struct tflite_tensor *from, const struct tflite_tensor *to,
                  struct sizes *sizes);

static const struct tflite_tensor *input_of(const struct tflite_importer *importer, int index)
{
    const struct tflite_operator *operation = importer->current;
    return index < operation->input_count && operation->inputs[index] != NO_TENSOR
               ? &importer->tensors[operation->inputs[index]]
               : NULL;
}

static const struct tflite_numbers *numbers_of(struct tflite_importer *importer, int index, int count)
{
    const struct tflite_tensor *tensor = input_of(importer, index);
    const struct tflite_numbers *numbers = tensor ? tflite_known_numbers(importer, (int)(tensor - importer->tensors)) : NULL;
    return numbers && numbers->count == count ? numbers : NULL;
}

static bool is_border(int64_t size) { return size >= 0 && size <= MAXIMUM_DIMENSION; }

/* ---- rules ---- */

/* Element by element: of operands the larger one, where shapes broadcast. */
static void follow_elements(struct tflite_importer *importer, const struct tflite_tensor *from,
                            const struct tflite_tensor *to, struct sizes *sizes)
{
    for (int i = 0; i < importer->current->input_count; i++) {
        const struct tflite_tensor *operand = input_of(importer, i);
        bool is_alike = operand && operand->rank == to->rank && operand->type == from->type;
        for (int k = 0; is_alike && k < to->rank; k++)
            if (operand->dimensions[k] > sizes->list[k])
                sizes->list[k] = operand->dimensions[k];
    }
}

static int64_t count_windows(const struct tflite_options *options, int64_t size, int64_t kernel, int64_t stride,
                             int64_t dilation)
{
    if (stride < 1 || kernel < 1 || dilation < 1)
        return 0;
    int64_t reach = options->padding == TFLITE_SAME ? 1 : (kernel - 1) * dilation + 1;
    return size < reach ? 0 : (size - reach) / stride + 1;
}

static void follow_windows(struct tflite_importer *importer, const struct tflite_tensor *from,
                           const struct tflite_tensor *to, struct sizes *sizes)
{
    const struct tflite_options *options = &importer->current->options;
    const struct tflite_tensor *weights = importer->current->input_count > 1 ? input_of(importer, 1) : NULL;
    if (from->rank != 4 || to->rank != 4 || (weights && weights->rank != 4))
        return;
    sizes->list[0] = from->dimensions[0];
    sizes->list[1] = count_windows(options, from->dimensions[1], weights ? weights->dimensions[1] : options->kernel_height,
                                   options->stride_height, weights ? options->dilation_height : 1);
    sizes->list[2] = count_windows(options, from->dimensions[2], weights ? weights->dimensions[2] : options->kernel_width,
                                   options->stride_width, weights ? options->dilation_width : 1);
}

/* Products with the last dimension; or with as many elements as a row of weights has. */
static void follow_rows(struct tflite_importer *importer, const struct tflite_tensor *from, const struct tflite_tensor *to,
                        struct sizes *sizes)
{
    const struct tflite_tensor *weights = input_of(importer, 1);
    int inner = weights && weights->rank == 2 ? weights->dimensions[1] : 0;
    if (inner < 1 || from->rank < 1)
        return;
    if (to->rank == from->rank && from->dimensions[from->rank - 1] == inner)
        for (int i = 0; i < to->rank - 1; i++)
            sizes->list[i] = from->dimensions[i];
    else if (to->rank == 2 && tflite_elements(from) % (size_t)inner == 0)
        sizes->list[0] = (int64_t)(tflite_elements(from) / (size_t)inner);
}

static void follow_joined(struct tflite_importer *importer, const struct tflite_tensor *from, const struct tflite_tensor *to,
                          struct sizes *sizes)
{
    int axis = importer->current->options.axis + (importer->current->options.axis < 0 ? to->rank : 0);
    follow_elements(importer, from, to, sizes);
    if (axis < 0 || axis >= to->rank)
        return;
    sizes->list[axis] = 0;
    for (int i = 0; i < importer->current->input_count; i++) {
        const struct tflite_tensor *part = input_of(importer, i);
        sizes->list[axis] += part && part->rank == to->rank ? part->dimensions[axis] : 0;
    }
}

static void follow_border(struct tflite_importer *importer, const struct tflite_tensor *from, const struct tflite_tensor *to,
                          struct sizes *sizes)
{
    const struct tflite_numbers *borders = numbers_of(importer, 1, 2 * from->rank);
    for (int i = 0; borders && to->rank == from->rank && i < to->rank; i++)
        if (is_border(borders->list[2 * i]) && is_border(borders->list[2 * i + 1]))
            sizes->list[i] = from->dimensions[i] + borders->list[2 * i] + borders->list[2 * i + 1];
}

static void follow_copies(struct tflite_importer *importer, const struct tflite_tensor *from, const struct tflite_tensor *to,
                          struct sizes *sizes)
{
    const struct tflite_numbers *copies = numbers_of(importer, 1, from->rank);
    for (int i = 0; copies && to->rank == from->rank && i < to->rank; i++)
        if (copies->list[i] >= 1 && copies->list[i] <= MAXIMUM_DIMENSION)
            sizes->list[i] = from->dimensions[i] * copies->list[i];
}

static void follow_inserted(struct tflite_importer *importer, const struct tflite_tensor *from,
                            const struct tflite_tensor *to, struct sizes *sizes)
{
    const struct tflite_numbers *axis = numbers_of(importer, 1, 1);
    int64_t at = axis ? axis->list[0] + (axis->list[0] < 0 ? to->rank : 0) : -1;
    for (int i = 0; at >= 0 && at < to->rank && to->rank == from->rank + 1 && i < to->rank; i++)
        sizes->list[i] = i == at ? 1 : from->dimensions[i < at ? i : i - 1];
}

static void follow_order(struct tflite_importer *importer, const struct tflite_tensor *from, const struct tflite_tensor *to,
                         struct sizes *sizes)
{
    const struct tflite_numbers *order = numbers_of(importer, 1, from->rank);
    for (int i = 0; order && to->rank == from->rank && i < to->rank; i++) {
        int64_t at = order->list[i] + (order->list[i] < 0 ? from->rank : 0);
        sizes->list[i] = at >= 0 && at < from->rank ? from->dimensions[at] : 0;
    }
}

/* A shape that the model computes, of which one number may be what is left. */
static void follow_shape(struct tflite_importer *importer, const struct tflite_tensor *from, const struct tflite_tensor *to,
                         struct sizes *sizes)
{
    const struct tflite_numbers *numbers = numbers_of(importer, 1, to->rank);
    int64_t known = 1, all = (int64_t)tflite_elements(from);
    int open = -1;
    if (!numbers)
        return;
    for (int i = 0; i < to->rank; i++) {
        int64_t size = numbers->list[i];
        if (size == -1 && open < 0)
            open = i;
        else if (size < 1 || size > all / known)
            return;
        else
            known *= size;
    }
    if (open < 0 ? known != all : all % known != 0)
        return;
    for (int i = 0; i < to->rank; i++)
        sizes->list[i] = i == open ? all / known : numbers->list[i];
}

/* The output's shape is the operator's first input. */
static void follow_own_shape(struct tflite_importer *importer, const struct tflite_tensor *from,
                             const struct tflite_tensor *to, struct sizes *sizes)
{
    const struct tflite_numbers *numbers = numbers_of(importer, 0, to->rank);
    (void)from;
    for (int i = 0; numbers && i < to->rank; i++)
        sizes->list[i] = numbers->list[i];
}

/* Blocks become images of the batch, or images blocks, with a border that is added first, or cut off behind. */
static void follow_blocks(struct tflite_importer *importer, const struct tflite_tensor *from, const struct tflite_tensor *to,
                          struct sizes *sizes)
{
    const bool is_split = importer->current->code == TFLITE_SPACE_TO_BATCH_ND;
    const struct tflite_tensor *list = input_of(importer, 1);
    const int count = list && list->rank == 1 && list->dimensions[0] < from->rank ? list->dimensions[0] : 0;
    const struct tflite_numbers *blocks = numbers_of(importer, 1, count), *borders = numbers_of(importer, 2, 2 * count);
    int64_t batch = 1;
    if (!count || !blocks || !borders || to->rank != from->rank)
        return;
    for (int i = 0; i < count; i++) {
        int64_t block = blocks->list[i], before = borders->list[2 * i], after = borders->list[2 * i + 1];
        if (block < 1 || block > MAXIMUM_DIMENSION || !is_border(before) || !is_border(after) ||
            (batch *= block) > MAXIMUM_DIMENSION)
            return;
        int64_t border = before + after;
        sizes->list[1 + i] =
            is_split ? (from->dimensions[1 + i] + border) / block : from->dimensions[1 + i] * block - border;
    }
    sizes->list[0] = is_split ? from->dimensions[0] * batch : from->dimensions[0] / batch;
    for (int i = 1 + count; i < to->rank; i++)
        sizes->list[i] = from->dimensions[i];
}

/* Dimensions that are reduced are left out, or have one index. */
static void follow_reduced(struct tflite_importer *importer, const struct tflite_tensor *from,
                           const struct tflite_tensor *to, struct sizes *sizes)
{
    const struct tflite_tensor *list = input_of(importer, 1);
    const struct tflite_numbers *axes = list ? numbers_of(importer, 1, (int)tflite_elements(list)) : NULL;
    const bool keeps = importer->current->options.keeps_dimensions;
    bool is_reduced[TFLITE_MAXIMUM_RANK] = {false};
    int next = 0;
    for (int i = 0; axes && i < axes->count; i++) {
        int64_t axis = axes->list[i] + (axes->list[i] < 0 ? from->rank : 0);
        if (axis < 0 || axis >= from->rank)
            return;
        is_reduced[axis] = true;
    }
    for (int i = 0; axes && i < from->rank && next < to->rank; i++)
        if (keeps || !is_reduced[i])
            sizes->list[next++] = is_reduced[i] ? 1 : from->dimensions[i];
}

/* ---- the table ---- */

static const struct follower {
    int code;
    int input; /* that is moved or computed with */
    rule *find;
} followers[] = {
    {TFLITE_AVERAGE_POOL_2D, 0, follow_windows},
    {TFLITE_BATCH_TO_SPACE_ND, 0, follow_blocks},
    {TFLITE_CONCATENATION, 0, follow_joined},
    {TFLITE_CONV_2D, 0, follow_windows},
    {TFLITE_DEPTHWISE_CONV_2D, 0, follow_windows},
    {TFLITE_EXPAND_DIMS, 0, follow_inserted},
    {TFLITE_FULLY_CONNECTED, 0, follow_rows},
    {TFLITE_MAX_POOL_2D, 0, follow_windows},
    {TFLITE_MIRROR_PAD, 0, follow_border},
    {TFLITE_PAD, 0, follow_border},
    {TFLITE_PADV2, 0, follow_border},
    {TFLITE_MEAN, 0, follow_reduced},
    {TFLITE_REDUCE_ALL, 0, follow_reduced},
    {TFLITE_REDUCE_ANY, 0, follow_reduced},
    {TFLITE_REDUCE_MAX, 0, follow_reduced},
    {TFLITE_REDUCE_MIN, 0, follow_reduced},
    {TFLITE_RESHAPE, 0, follow_shape},
    {TFLITE_SPACE_TO_BATCH_ND, 0, follow_blocks},
    {TFLITE_SUM, 0, follow_reduced},
    {TFLITE_TILE, 0, follow_copies},
    {TFLITE_TRANSPOSE, 0, follow_order},
    {TFLITE_TRANSPOSE_CONV, 2, follow_own_shape},
};

static const struct follower *find_follower(int code)
{
    static const struct follower element_by_element = {0, 0, follow_elements};
    for (size_t i = 0; i < sizeof followers / sizeof *followers; i++)
        if (followers[i].code == code)
            return &followers[i];
    return &element_by_element;
}

static void follow(struct tflite_importer *importer)
{
    const struct tflite_operator *operation = importer->current;
    struct tflite_tensor *to = &importer->tensors[operation->outputs[0]];
    const struct follower *follower = find_follower(operation->code);
    const struct tflite_tensor *from = input_of(importer, follower->input);
    struct sizes sizes = {{0}};
    bool is_open = false;
    int64_t elements = 1;
    for (int i = 0; i < to->rank; i++)
        is_open |= to->is_unknown[i];
    if (!is_open || !from)
        return;
    follower->find(importer, from, to, &sizes);
    for (int i = 0; i < to->rank; i++) {
        if (!to->is_unknown[i] || sizes.list[i] < 1)
            sizes.list[i] = to->dimensions[i];
        if (sizes.list[i] < 1 || sizes.list[i] > MAXIMUM_DIMENSION || (elements *= sizes.list[i]) > MAXIMUM_ELEMENTS)
            return;
    }
    for (int i = 0; i < to->rank; i++)
        to->dimensions[i] = (int)sizes.list[i];
}

void tflite_follow_dimensions(struct tflite_importer *importer)
{
    for (int i = 0; i < importer->model->operator_count; i++) {
        const struct tflite_operator *operation = &importer->model->operators[i];
        int type = operation->output_count > 0 ? importer->tensors[operation->outputs[0]].type : TFLITE_UINT8;
        importer->current = operation;
        if (type == TFLITE_BOOL)
            tflite_compute_truths(importer, operation);
        if (type == TFLITE_FLOAT32 || type == TFLITE_INT8)
            tflite_compute_constant(importer, operation);
        if (type == TFLITE_INT32 || type == TFLITE_INT64 || type == TFLITE_BOOL)
            tflite_compute_numbers(importer, operation);
        else if (operation->output_count > 0)
            follow(importer);
    }
}
