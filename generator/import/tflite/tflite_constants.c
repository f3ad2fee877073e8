/* Real numbers that the model computes of constants, as litert-torch leaves the weights of an interpolation between two
 * steps of time: functions of them, and their quantisation, become constants, too. */
#include <math.h>
#include <string.h>

#include "import/tflite/tflite_import.h"
#include "middle/functions.h"

static void write_real(float real, unsigned char *bytes)
{
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(bits >> (8 * i));
}

/* As QUANTIZE rounds: halves away from zero; what is no number is the least. */
static unsigned char quantise(float real, const struct tflite_tensor *to)
{
    float steps = roundf(real / to->scales[0]) + (float)to->zero_points[0];
    return (unsigned char)(signed char)(steps >= 127 ? 127 : steps > -128 ? (int)steps : -128);
}

static bool is_int8(const struct tflite_tensor *tensor)
{
    return tensor->type == TFLITE_INT8 && tensor->scale_count == 1 && tensor->scales[0] > 0;
}

static bool is_real_constant(const struct tflite_tensor *tensor)
{
    return tensor->type == TFLITE_FLOAT32 && tensor->data && !tensor->is_sparse;
}

void tflite_compute_constant(struct tflite_importer *importer, const struct tflite_operator *operation)
{
    const bool is_of_one = operation->input_count == 1 && operation->output_count == 1 && operation->inputs[0] != NO_TENSOR;
    const struct tflite_tensor *from = is_of_one ? &importer->tensors[operation->inputs[0]] : NULL;
    struct tflite_tensor *to = &importer->tensors[operation->outputs[0]];
    struct function_parameters parameters = {0, 0};
    if (!from || !is_real_constant(from) || to->data)
        return;
    const bool quantises = operation->code == TFLITE_QUANTIZE && is_int8(to);
    real_function *function = to->type == TFLITE_FLOAT32 ? tflite_find_function(operation, &parameters) : NULL;
    const size_t count = tflite_elements(from), bytes = quantises ? 1 : 4;
    if ((!quantises && !function) || count != tflite_elements(to) || count > (size_t)importer->number_room)
        return;
    unsigned char *made = arena_array(importer->arena, unsigned char, count *bytes + 1);
    importer->number_room -= (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        float real = tflite_real(from, i);
        if (quantises)
            made[i] = quantise(real, to);
        else
            write_real((float)function((double)real, parameters), made + 4 * i);
    }
    to->data = made;
    to->data_bytes = count * bytes;
}
