/* Any bytes as a TFLite file: the reader says what is wrong, or gives a model whose promises hold (tflite.h); then through
 * all passes. */
#include <stdlib.h>

#include "model/tflite/tflite.h"
#include "pipeline.h"

#define AS_IN_THE_FILE (3u << 7) /* no size of the input's elements is asked for */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check_indices(const struct tflite_model *model, const int *indices, int count, int least)
{
    for (int i = 0; i < count; i++)
        expect(indices[i] >= least && indices[i] < model->tensor_count);
}

/* Reads all of its data, so that a sanitizer sees what lies behind it. */
static void check_tensor(const struct tflite_tensor *tensor)
{
    volatile unsigned sum = 0;
    size_t elements = 1;
    for (size_t i = 0; tensor->data && i < tensor->data_bytes; i++)
        sum += tensor->data[i];
    for (int i = 0; i < tensor->rank; i++)
        elements *= (size_t)tensor->dimensions[i];
    if (tensor->data && tflite_type_bytes(tensor->type) && !tensor->is_sparse)
        expect(tensor->data_bytes == elements * tflite_type_bytes(tensor->type));
    expect(tensor->scale_count <= 1 || tensor->scale_count == tensor->dimensions[tensor->quantised_dimension]);
}

static void check_model(const struct tflite_model *model)
{
    check_indices(model, model->inputs, model->input_count, 0);
    check_indices(model, model->outputs, model->output_count, 0);
    for (int i = 0; i < model->tensor_count; i++)
        check_tensor(&model->tensors[i]);
    for (int i = 0; i < model->operator_count; i++) {
        check_indices(model, model->operators[i].inputs, model->operators[i].input_count, NO_TENSOR);
        check_indices(model, model->operators[i].outputs, model->operators[i].output_count, 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena, .file = "fuzz"};
    const struct tflite_model *model = tflite_read_memory(bytes, length, &arena, &diagnostics);
    expect((model == NULL) == (diagnostics.error_count > 0));
    if (model)
        check_model(model);
    arena_free(&arena);
    if (model)
        pipeline_run(bytes, length, AS_IN_THE_FILE | (unsigned)(length & 63));
    return 0;
}
