/* Rows of a constant matrix, which the model looks up by indices that it takes as an input: the model is rewritten so that
 * the rows are its input, before it is imported. The application looks them up. Keras first adds the rows' number to
 * negative indices, as a table of the network itself does. */
#include <string.h>

#include "import/tflite/tflite_import.h"

#define EMBEDDING_LOOKUP 7
#define LONGEST_CHAIN    8 /* of operators from the input to the look-up */

struct words {
    struct tflite_importer *importer;
    const int *producers; /* of tensors: the operator; -1: none */
    bool *is_gone;        /* of operators: no longer needed */
    int rows;             /* of the table */
};

static const int *list_producers(const struct tflite_importer *importer, const struct tflite_model *model)
{
    int *producers = arena_array(importer->arena, int, (size_t)model->tensor_count + 1);
    for (int i = 0; i < model->tensor_count; i++)
        producers[i] = -1;
    for (int i = model->operator_count - 1; i >= 0; i--)
        for (int k = 0; k < model->operators[i].output_count; k++)
            producers[model->operators[i].outputs[k]] = i;
    return producers;
}

static int input_position(const struct tflite_model *model, int tensor)
{
    for (int i = 0; i < model->input_count; i++)
        if (model->inputs[i] == tensor)
            return i;
    return -1;
}

static bool is_number(const struct words *words, int tensor, int64_t number)
{
    const struct tflite_numbers *numbers = tflite_known_numbers(words->importer, tensor);
    return numbers && numbers->count == 1 && numbers->list[0] == number;
}

/* A binary operator with a number behind; -1: it is none. */
static int with_number(const struct words *words, int tensor, int code, int64_t number)
{
    const struct tflite_model *model = words->importer->model;
    int index = tensor == NO_TENSOR ? -1 : words->producers[tensor];
    const struct tflite_operator *operation = &model->operators[index < 0 ? 0 : index];
    return index >= 0 && operation->code == code && operation->input_count == 2 &&
                   is_number(words, operation->inputs[1], number)
               ? index
               : -1;
}

/* x < 0 ? x + rows : x, of which this is x; NO_TENSOR: anything else. */
static int without_sign(const struct words *words, const struct tflite_operator *choice)
{
    const struct tflite_operator *operators = words->importer->model->operators;
    if (choice->input_count != 3)
        return NO_TENSOR;
    int less = with_number(words, choice->inputs[0], TFLITE_LESS, 0),
        sum = with_number(words, choice->inputs[1], TFLITE_ADD, words->rows), x = choice->inputs[2];
    if (less < 0 || sum < 0 || operators[less].inputs[0] != x || operators[sum].inputs[0] != x)
        return NO_TENSOR;
    words->is_gone[less] = words->is_gone[sum] = true;
    return x;
}

/* The model's input that the indices are; -1: they are computed. */
static int find_origin(const struct words *words, int tensor)
{
    const struct tflite_model *model = words->importer->model;
    for (int i = 0; tensor != NO_TENSOR && i < LONGEST_CHAIN; i++) {
        int position = input_position(model, tensor), index = words->producers[tensor];
        if (position >= 0 || index < 0)
            return position;
        const struct tflite_operator *operation = &model->operators[index];
        words->is_gone[index] = true;
        if (operation->code == TFLITE_SELECT || operation->code == TFLITE_SELECT_V2)
            tensor = without_sign(words, operation);
        else
            tensor = operation->code == TFLITE_CAST && operation->input_count == 1 ? operation->inputs[0] : NO_TENSOR;
    }
    return -1;
}

/* Does what is gone give nothing to others, and does nothing else read the input? */
static bool are_apart(const struct words *words, int input, int gather)
{
    const struct tflite_model *model = words->importer->model;
    for (int i = 0; i < model->operator_count; i++)
        for (int k = 0; k < model->operators[i].input_count; k++) {
            int tensor = model->operators[i].inputs[k], from = tensor == NO_TENSOR ? -1 : words->producers[tensor];
            bool is_near = tensor == input || (from >= 0 && from != gather && words->is_gone[from]);
            if (is_near && !words->is_gone[i])
                return false;
        }
    for (int i = 0; i < model->output_count; i++) {
        int from = words->producers[model->outputs[i]];
        if (model->outputs[i] == input || (from >= 0 && from != gather && words->is_gone[from]))
            return false;
    }
    return true;
}

static bool is_table(const struct tflite_tensor *table)
{
    return table->data && table->type == TFLITE_INT8 && table->rank == 2 && table->scale_count == 1 &&
           table->dimensions[0] > 0 && table->dimensions[1] > 0;
}

static bool is_word(int type) { return type == TFLITE_INT32 || type == TFLITE_INT64; }

/* The rows of one image. */
static bool gives_rows(const struct tflite_tensor *rows, const struct tflite_tensor *table)
{
    return rows->type == TFLITE_INT8 && rows->rank >= 2 && rows->rank <= 3 && rows->dimensions[0] == 1 &&
           rows->dimensions[rows->rank - 1] == table->dimensions[1] && rows->scale_count == 1 &&
           rows->scales[0] == table->scales[0] && rows->zero_points[0] == table->zero_points[0];
}

static const struct look_up *read_table(struct arena *arena, const struct tflite_tensor *table, int index_bytes)
{
    const size_t count = (size_t)table->dimensions[0] * (size_t)table->dimensions[1];
    float *numbers = arena_array(arena, float, count);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)((double)table->scales[0] * (double)((int8_t)table->data[i] - table->zero_points[0]));
    struct look_up *look_up = arena_array(arena, struct look_up, 1);
    *look_up = (struct look_up){table->name, numbers, table->dimensions[0], table->dimensions[1], false, index_bytes};
    return look_up;
}

/* The operator's rows become the model's input, where they can. */
static void take_rows(struct words *words, struct tflite_model *model, int gather, bool *is_gone)
{
    struct tflite_importer *importer = words->importer;
    const struct tflite_operator *operation = &model->operators[gather];
    const bool is_lookup = operation->code == EMBEDDING_LOOKUP;
    if ((operation->code != TFLITE_GATHER && !is_lookup) || operation->input_count < 2 || operation->output_count != 1 ||
        operation->inputs[0] == NO_TENSOR || operation->inputs[1] == NO_TENSOR || operation->options.axis != 0 ||
        operation->options.batch_dimensions != 0)
        return;
    const struct tflite_tensor *table = &model->tensors[operation->inputs[is_lookup]];
    if (!is_table(table) || !gives_rows(&model->tensors[operation->outputs[0]], table))
        return;
    words->rows = table->dimensions[0];
    memset(words->is_gone, 0, (size_t)model->operator_count * sizeof *words->is_gone);
    int input = find_origin(words, operation->inputs[!is_lookup]);
    words->is_gone[gather] = true;
    if (input < 0 || !is_word(model->tensors[model->inputs[input]].type) || !are_apart(words, model->inputs[input], gather))
        return;
    const int index_bytes = model->tensors[model->inputs[input]].type == TFLITE_INT32 ? 4 : 8;
    model->inputs[input] = operation->outputs[0];
    importer->look_ups[input] = read_table(importer->arena, table, index_bytes);
    for (int i = 0; i < model->operator_count; i++)
        is_gone[i] |= words->is_gone[i];
    diagnose(
        importer->diagnostics, SEVERITY_NOTE, model->tensors[operation->outputs[0]].name, NULL,
        "the firmware's input are the rows of '%s' that the application looks up; `dory run` and `evaluate` look them up "
        "by the indices in a file",
        table->name);
}

void tflite_take_words(struct tflite_importer *importer, struct tflite_model *model)
{
    bool *is_gone = arena_array(importer->arena, bool, (size_t)model->operator_count + 1), has_words = false;
    int *inputs = arena_array(importer->arena, int, (size_t)model->input_count + 1), count = 0;
    importer->look_ups = arena_array(importer->arena, const struct look_up *, (size_t)model->input_count + 1);
    for (int i = 0; i < model->input_count; i++) {
        inputs[i] = model->inputs[i];
        has_words |= is_word(model->tensors[inputs[i]].type);
    }
    struct words words = {importer, list_producers(importer, model),
                          arena_array(importer->arena, bool, (size_t)model->operator_count + 1), 0};
    model->inputs = inputs;
    for (int i = 0; has_words && i < model->operator_count; i++)
        take_rows(&words, model, i, is_gone);
    for (int i = 0; i < model->operator_count; i++)
        if (!is_gone[i])
            model->operators[count++] = model->operators[i];
    model->operator_count = count;
}
