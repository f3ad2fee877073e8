/* A convolution between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND is one with a dilation: the model is rewritten so, before it
 * is imported. What was to be cut off behind is left out of the padding in front. Several convolutions may read the same
 * blocks, as the two gates of a WaveNet do. */
#include <string.h>

#include "import/tflite/tflite_import.h"

#define MAXIMUM_CHAIN 8 /* operators from one to the other */

/* ---- what follows what ---- */

/* The tensor's readers, of which each has it as its first input; -1: the model gives it out, or one has it elsewhere. */
static int count_readers(const struct tflite_model *model, int tensor)
{
    int count = 0;
    for (int i = 0; i < model->output_count; i++)
        if (model->outputs[i] == tensor)
            return -1;
    for (int i = 0; i < model->operator_count; i++)
        for (int k = 0; k < model->operators[i].input_count; k++) {
            if (model->operators[i].inputs[k] != tensor)
                continue;
            if (k != 0)
                return -1;
            count++;
        }
    return count;
}

static struct tflite_operator *reader(struct tflite_model *model, int tensor, int turn)
{
    for (int i = 0; i < model->operator_count; i++)
        if (model->operators[i].input_count > 0 && model->operators[i].inputs[0] == tensor && turn-- == 0)
            return &model->operators[i];
    return NULL;
}

static bool is_convolution(const struct tflite_operator *operation)
{
    return operation->code == TFLITE_CONV_2D || operation->code == TFLITE_DEPTHWISE_CONV_2D;
}

static bool is_reshape(const struct tflite_operator *operation)
{
    return operation->code == TFLITE_RESHAPE || operation->code == TFLITE_EXPAND_DIMS || operation->code == TFLITE_SQUEEZE;
}

/* Where a tensor in front of the convolution has several readers, each of them is a branch. */
struct chain {
    struct tflite_operator *operators[MAXIMUM_CHAIN];
    int length, convolution, branches;
};

static struct tflite_operator *next_of(struct tflite_model *model, int branch, struct chain *chain)
{
    const struct tflite_operator *last = chain->operators[chain->length - 1];
    int count = last->output_count == 1 ? count_readers(model, last->outputs[0]) : -1;
    bool splits = count > 1 && chain->branches == 1 && chain->convolution < 0;
    if (count != 1 && !splits)
        return NULL;
    chain->branches = splits ? count : chain->branches;
    return reader(model, last->outputs[0], splits ? branch : 0);
}

static bool find_chain(struct tflite_model *model, struct tflite_operator *first, int branch, struct chain *chain)
{
    *chain = (struct chain){.operators = {first}, .length = 1, .convolution = -1, .branches = 1};
    while (chain->length < MAXIMUM_CHAIN) {
        struct tflite_operator *next = next_of(model, branch, chain);
        if (!next || next->output_count != 1)
            return false;
        chain->operators[chain->length++] = next;
        if (next->code == TFLITE_BATCH_TO_SPACE_ND)
            return chain->convolution >= 0;
        if (is_convolution(next) && chain->convolution < 0)
            chain->convolution = chain->length - 1;
        else if (!is_reshape(next))
            return false;
    }
    return false;
}

/* ---- the numbers ---- */

/* Of one image's height, width and channels, as dimensions are counted from the end. */
struct dilation {
    int64_t block[2], before[2], behind[2]; /* of height and width */
};

static bool read_side(struct tflite_importer *importer, const struct tflite_operator *operation, int rank,
                      const struct tflite_numbers **blocks, const struct tflite_numbers **pairs)
{
    if (operation->input_count != 3 || rank < 3 || rank > 4)
        return false;
    *blocks = tflite_known_numbers(importer, operation->inputs[1]);
    *pairs = tflite_known_numbers(importer, operation->inputs[2]);
    return *blocks && *pairs && (*blocks)->count == rank - 2 && (*pairs)->count == 2 * (rank - 2);
}

static bool read_dilation(struct tflite_importer *importer, const struct chain *chain, struct dilation *dilation)
{
    const struct tflite_operator *first = chain->operators[0], *last = chain->operators[chain->length - 1];
    int rank = importer->model->tensors[first->inputs[0]].rank;
    const struct tflite_numbers *blocks[2], *pairs[2];
    if (!read_side(importer, first, rank, &blocks[0], &pairs[0]) ||
        !read_side(importer, last, importer->model->tensors[last->outputs[0]].rank, &blocks[1], &pairs[1]) ||
        blocks[0]->count != blocks[1]->count)
        return false;
    *dilation = (struct dilation){.block = {1, 1}};
    for (int i = 0; i < rank - 2; i++) {
        int side = i + (4 - rank); /* a signal has no height */
        dilation->block[side] = blocks[0]->list[i];
        dilation->before[side] = pairs[0]->list[2 * i] - pairs[1]->list[2 * i];
        dilation->behind[side] = pairs[0]->list[2 * i + 1] - pairs[1]->list[2 * i + 1];
        int64_t size = importer->model->tensors[first->inputs[0]].dimensions[1 + i];
        bool fits = blocks[0]->list[i] == blocks[1]->list[i] && dilation->block[side] >= 1 &&
                    dilation->block[side] <= MAXIMUM_DIMENSION && dilation->before[side] >= 0 &&
                    dilation->behind[side] >= 0 && pairs[0]->list[2 * i] <= MAXIMUM_DIMENSION &&
                    pairs[0]->list[2 * i + 1] <= MAXIMUM_DIMENSION && pairs[1]->list[2 * i] >= 0 &&
                    pairs[1]->list[2 * i + 1] >= 0 &&
                    (size + pairs[0]->list[2 * i] + pairs[0]->list[2 * i + 1]) % dilation->block[side] == 0;
        if (!fits)
            return false;
    }
    return true;
}

/* ---- the rewriting ---- */

/* A constant of INT32 that the model does not have. */
static int add_constant(struct tflite_importer *importer, struct tflite_model *model, const int64_t *numbers, int count)
{
    unsigned char *bytes = arena_array(importer->arena, unsigned char, 4 * (size_t)count);
    for (int i = 0; i < 4 * count; i++)
        bytes[i] = (unsigned char)((uint32_t)numbers[i / 4] >> (8 * (i % 4)));
    importer->tensors[model->tensor_count] = (struct tflite_tensor){.name = "padding",
                                                                    .type = TFLITE_INT32,
                                                                    .rank = 1,
                                                                    .dimensions = {count},
                                                                    .data = bytes,
                                                                    .data_bytes = 4 * (size_t)count};
    return model->tensor_count++;
}

/* The tensor's height and width; it has no more than one image. */
static void set_sizes(struct tflite_tensor *tensor, const int64_t sizes[2])
{
    for (int i = 0; i < tensor->rank; i++) {
        int from_end = tensor->rank - i;
        tensor->dimensions[i] = from_end == 1 ? tensor->dimensions[i] : from_end <= 3 ? (int)sizes[3 - from_end] : 1;
        tensor->is_unknown[i] = false;
    }
}

static void rename_operator(struct tflite_importer *importer, struct tflite_operator *operation, int code, int first_input,
                            int constant)
{
    int *inputs = arena_array(importer->arena, int, 2);
    inputs[0] = first_input;
    inputs[1] = constant;
    operation->inputs = inputs;
    operation->input_count = constant == NO_TENSOR ? 1 : 2;
    operation->code = code;
}

static bool can_dilate(const struct tflite_importer *importer, const struct chain *chain)
{
    const struct tflite_operator *convolution = chain->operators[chain->convolution];
    const struct tflite_options *options = &convolution->options;
    bool is_ranked = true;
    for (int i = 1; i < chain->length; i++) {
        int rank = importer->model->tensors[chain->operators[i]->inputs[0]].rank;
        is_ranked = is_ranked && (rank == 3 || rank == 4);
    }
    return is_ranked && convolution->input_count >= 2 && convolution->inputs[1] != NO_TENSOR &&
           importer->model->tensors[convolution->inputs[1]].rank == 4 && options->padding == TFLITE_VALID &&
           options->stride_height == 1 && options->stride_width == 1 && options->dilation_height <= 1 &&
           options->dilation_width <= 1;
}

static void rewrite(struct tflite_importer *importer, struct tflite_model *model, struct chain *chain,
                    const struct dilation *dilation)
{
    struct tflite_operator *first = chain->operators[0], *convolution = chain->operators[chain->convolution];
    const struct tflite_tensor *from = &importer->tensors[first->inputs[0]],
                               *weights = &importer->tensors[convolution->inputs[1]];
    int64_t sizes[2] = {from->rank == 4 ? from->dimensions[1] : 1, from->dimensions[from->rank - 2]};
    int64_t borders[8] = {0};
    for (int i = 0; i < from->rank - 2; i++) {
        int side = i + (4 - from->rank);
        borders[2 * (1 + i)] = dilation->before[side];
        borders[2 * (1 + i) + 1] = dilation->behind[side];
    }
    int rank = from->rank;
    for (int i = 0; i < 2; i++)
        sizes[i] += dilation->before[i] + dilation->behind[i];
    for (int i = 0; i < chain->length - 1; i++) {
        if (i == chain->convolution)
            for (int k = 0; k < 2; k++)
                sizes[k] -= (weights->dimensions[1 + k] - 1) * dilation->block[k];
        set_sizes(&importer->tensors[chain->operators[i]->outputs[0]], sizes);
        if (i > 0 && i != chain->convolution)
            rename_operator(importer, chain->operators[i], TFLITE_RESHAPE, chain->operators[i]->inputs[0], NO_TENSOR);
    }
    if (first->code != TFLITE_PAD) /* by another branch */
        rename_operator(importer, first, TFLITE_PAD, first->inputs[0], add_constant(importer, model, borders, 2 * rank));
    convolution->options.dilation_height = (int)dilation->block[0];
    convolution->options.dilation_width = (int)dilation->block[1];
    struct tflite_operator *last = chain->operators[chain->length - 1];
    rename_operator(importer, last, TFLITE_RESHAPE, last->inputs[0], NO_TENSOR);
}

/* The operator's output becomes real numbers, for a convolution that training did not quantise. */
static bool is_in_float(const struct tflite_importer *importer, const struct tflite_operator *operation)
{
    const struct tflite_model *model = importer->model;
    for (int i = 0; operation->output_count > 0 && i < model->operator_count; i++) {
        const struct tflite_operator *reader = &model->operators[i];
        if (reader->input_count > 0 && reader->inputs[0] == operation->outputs[0] && reader->code == TFLITE_DEQUANTIZE)
            return true;
    }
    return false;
}

/* What is left of them: not around a convolution that could have a dilation instead. */
bool tflite_batches(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)result;
    return tflite_fault(importer,
                        "blocks as images of a batch; supported: SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND around one "
                        "convolution of stride 1 without padding, of which what is cut off is no more than the border%s",
                        is_in_float(importer, operation)
                            ? ". The convolution between them is in float, as quantisation-aware training leaves one with a "
                              "dilation where the batch is open: build the model with batch_size=1"
                            : "");
}

/* All branches, with one border in front of them. */
static bool can_fold(struct tflite_importer *importer, struct tflite_model *model, struct tflite_operator *first,
                     struct chain *chain, struct dilation *dilation)
{
    struct dilation other;
    if (!find_chain(model, first, 0, chain) || !can_dilate(importer, chain) || !read_dilation(importer, chain, dilation))
        return false;
    for (int branch = 1; branch < chain->branches; branch++)
        if (!find_chain(model, first, branch, chain) || !can_dilate(importer, chain) ||
            !read_dilation(importer, chain, &other) || memcmp(&other, dilation, sizeof other) != 0)
            return false;
    return true;
}

void tflite_fold_dilations(struct tflite_importer *importer, struct tflite_model *model)
{
    struct chain chain;
    struct dilation dilation;
    for (int i = 0; i < model->operator_count; i++)
        if (model->operators[i].code == TFLITE_SPACE_TO_BATCH_ND &&
            can_fold(importer, model, &model->operators[i], &chain, &dilation)) {
            for (int branch = 0, count = chain.branches; branch < count; branch++)
                if (find_chain(model, &model->operators[i], branch, &chain))
                    rewrite(importer, model, &chain, &dilation);
        }
}
