/* Models that are not int8 as a whole: one error, not one an operator. */
#include "import/tflite/tflite_import.h"

static void mark(bool *marks, const int *tensors, int count)
{
    for (int i = 0; i < count; i++)
        if (tensors[i] != NO_TENSOR)
            marks[tensors[i]] = true;
}

/* Converters leave tensors behind that no operator has, as those inside of an LSTM. */
static const bool *find_used(const struct tflite_importer *importer)
{
    const struct tflite_model *model = importer->model;
    bool *marks = arena_array(importer->arena, bool, (size_t)model->tensor_count + 1);
    mark(marks, model->inputs, model->input_count);
    for (int i = 0; i < model->operator_count; i++) {
        mark(marks, model->operators[i].inputs, model->operators[i].input_count);
        mark(marks, model->operators[i].outputs, model->operators[i].output_count);
    }
    return marks;
}

/* How many tensors of a type are computed or given, or are constants that could be weights. */
static int count_tensors(const struct tflite_model *model, const bool *is_used, int type, bool is_constant)
{
    int count = 0;
    for (int i = 0; i < model->tensor_count; i++) {
        const struct tflite_tensor *tensor = &model->tensors[i];
        bool matches = is_used[i] && tensor->type == type && (tensor->data != NULL) == is_constant;
        count += matches && (tensor->rank >= 2 || !is_constant);
    }
    return count;
}

/* Operators of UINT8, as TensorFlow 1 made them, other than at the edges: those of which LiteRT computes for UINT8 what
 * TensorFlow Lite Micro does for INT8. */
static bool computes_unsigned(int code)
{
    static const int codes[] = {TFLITE_ADD,
                                TFLITE_AVERAGE_POOL_2D,
                                TFLITE_CONCATENATION,
                                TFLITE_CONV_2D,
                                TFLITE_DEPTHWISE_CONV_2D,
                                TFLITE_DEQUANTIZE,
                                TFLITE_EXPAND_DIMS,
                                TFLITE_FULLY_CONNECTED,
                                TFLITE_MAX_POOL_2D,
                                TFLITE_MUL,
                                TFLITE_PAD,
                                TFLITE_QUANTIZE,
                                TFLITE_RESHAPE,
                                TFLITE_RESIZE_NEAREST_NEIGHBOR,
                                TFLITE_SLICE,
                                TFLITE_SOFTMAX,
                                TFLITE_SPLIT,
                                TFLITE_SPLIT_V,
                                TFLITE_SQUEEZE,
                                TFLITE_STRIDED_SLICE,
                                TFLITE_SUB,
                                TFLITE_TRANSPOSE,
                                TFLITE_TRANSPOSE_CONV};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}

static bool gives_unsigned(const struct tflite_model *model, const struct tflite_operator *operation)
{
    return operation->output_count && model->tensors[operation->outputs[0]].type == TFLITE_UINT8;
}

static bool is_legacy(const struct tflite_model *model)
{
    for (int i = 0; i < model->operator_count; i++) {
        int code = model->operators[i].code;
        if (code != TFLITE_QUANTIZE && code != TFLITE_DEQUANTIZE && tflite_find_handler(code) &&
            gives_unsigned(model, &model->operators[i]))
            return true;
    }
    return false;
}

static bool check_legacy(struct tflite_importer *importer)
{
    const struct tflite_model *model = importer->model;
    for (int i = 0; i < model->operator_count; i++) {
        const struct tflite_operator *operation = &model->operators[i];
        if (gives_unsigned(model, operation) && tflite_find_handler(operation->code) && !computes_unsigned(operation->code))
            return tflite_complain(
                importer, model->tensors[operation->outputs[0]].name,
                arena_format(importer->arena,
                             "%s of UINT8, as TensorFlow 1 made it, which computes otherwise than INT8 does; "
                             "convert the network again with full integer quantisation: " TFLITE_RECIPE,
                             operation->name));
    }
    return true;
}

/* Words or categories, which a GATHER behind them looks up. */
static bool check_inputs(struct tflite_importer *importer)
{
    const struct tflite_model *model = importer->model;
    for (int i = 0; i < model->input_count; i++) {
        const struct tflite_tensor *input = &model->tensors[model->inputs[i]];
        if (input->type == TFLITE_INT32 || input->type == TFLITE_INT64)
            return tflite_complain(
                importer, input->name,
                arena_format(
                    importer->arena,
                    "the input is %s; supported: INT8, UINT8, FLOAT32, and indices by which one GATHER, and nothing "
                    "else, looks up rows of an INT8 matrix. Otherwise leave the look-up of an embedding to the "
                    "application: convert the model behind it",
                    input->type == TFLITE_INT32 ? "INT32" : "INT64"));
    }
    return true;
}

bool tflite_check_types(struct tflite_importer *importer)
{
    const struct tflite_model *model = importer->model;
    const bool *is_used = find_used(importer);
    if (!check_inputs(importer))
        return false;
    if (is_legacy(model))
        return check_legacy(importer);
    if (count_tensors(model, is_used, TFLITE_INT16, false) > 0)
        return tflite_complain(
            importer, NULL,
            "activations of INT16 (16x8 quantisation); supported: INT8. Convert with TFLITE_BUILTINS_INT8: " TFLITE_RECIPE);
    if (count_tensors(model, is_used, TFLITE_INT8, false) > 0)
        return true;
    if (count_tensors(model, is_used, TFLITE_INT8, true) > 0)
        return tflite_complain(
            importer, NULL,
            "a hybrid model: INT8 weights, but float activations (dynamic range quantisation); supported: "
            "activations of INT8. Convert with a representative dataset: " TFLITE_RECIPE);
    return tflite_complain(importer, NULL,
                           "the network is not quantised: it has no activations of INT8. Convert it with full integer "
                           "quantisation: " TFLITE_RECIPE);
}
