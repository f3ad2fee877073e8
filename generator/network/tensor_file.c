#include "network/tensor_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "network/text_tensor.h"

/* ---- the model's order and type ---- */

static bool has_channels_last(const struct network *network, const struct tensor *tensor)
{
    return network->channels_last && !tensor->is_channels_first;
}

/* Where an element, counted in HWC, stands in the model's order. */
static size_t model_position(const struct network *network, const struct tensor *tensor, size_t element)
{
    size_t channels = (size_t)tensor->channels, pixels = (size_t)tensor->height * (size_t)tensor->width;
    return has_channels_last(network, tensor) ? element : element % channels * pixels + element / channels;
}

static bool model_is_signed(const struct tensor *tensor) { return tensor->is_signed || tensor->model_offset < 0; }

static int model_bytes(const struct tensor *tensor) { return (tensor->bits + 7) / 8; }

/* ---- reading ---- */

static bool check_value(const char *path, const struct tensor *tensor, size_t index, int64_t value,
                        struct diagnostics *diagnostics)
{
    if (value >= tensor->minimum && value <= tensor->maximum)
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s: value %zu is %" PRId64 "; '%s' can be %" PRId64 " to %" PRId64,
             path, index, value + tensor->model_offset, tensor->name, tensor->minimum + tensor->model_offset,
             tensor->maximum + tensor->model_offset);
    return false;
}

static bool check_count(const char *path, const struct tensor *tensor, size_t count, struct diagnostics *diagnostics)
{
    if (count == tensor_elements(tensor))
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s has %zu values; '%s' has %d x %d x %d = %zu elements", path, count,
             tensor->name, tensor->height, tensor->width, tensor->channels, tensor_elements(tensor));
    return false;
}

/* As the operator at the model's edge does it: TensorFlow Lite takes halves away from zero, ONNX to even. Saturated. */
static int64_t quantise(const struct network *network, const struct tensor *tensor, double real)
{
    double scaled = real / tensor->scale;
    double element = (network->channels_last ? round(scaled) : nearbyint(scaled)) + tensor->zero_point;
    if (!(element > (double)tensor->minimum)) /* NaN, too */
        return tensor->minimum;
    return element < (double)tensor->maximum ? (int64_t)element : tensor->maximum;
}

static float step_of(const struct real_step *step, float x, int channel)
{
    float number = step->numbers[step->count > 1 && step->operation != REAL_CLIP ? channel : 0];
    switch (step->operation) {
    case REAL_ADD: return x + number;
    case REAL_SUBTRACT: return x - number;
    case REAL_SUBTRACT_FROM: return number - x;
    case REAL_MULTIPLY: return x * number;
    case REAL_DIVIDE: return x / number;
    case REAL_DIVIDE_INTO: return number / x;
    default: return fminf(fmaxf(x, number), step->numbers[1]);
    }
}

/* What the model has in front of its quantised part. */
static double in_front(const struct tensor *tensor, double real, size_t element)
{
    float x = (float)real;
    for (int i = 0; i < tensor->step_count; i++)
        x = step_of(&tensor->steps[i], x, (int)(element % (size_t)tensor->channels));
    return tensor->step_count ? (double)x : real;
}

int64_t *tensor_from_array(const struct array_file *array, size_t first, const char *path, const struct network *network,
                           int index, struct arena *arena, struct diagnostics *diagnostics)
{
    const struct tensor *tensor = &network->tensors[index];
    int64_t *values = arena_array(arena, int64_t, tensor_elements(tensor));
    if (array->type == ARRAY_FLOAT && tensor->scale == 0) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "%s holds real numbers; of '%s' the model says no scale, it wants integers", path, tensor->name);
        return NULL;
    }
    for (size_t i = 0; i < tensor_elements(tensor); i++) {
        size_t at = first + model_position(network, tensor, i);
        if (array->type == ARRAY_FLOAT)
            values[i] = quantise(network, tensor, in_front(tensor, array_number(array, at), i));
        else
            values[i] = array_integer(array, at) - tensor->model_offset;
        if (!check_value(path, tensor, at - first, values[i], diagnostics))
            return NULL;
    }
    return values;
}

static bool read_raw(const char *path, const struct tensor *tensor, struct array_file *array, struct arena *arena,
                     struct diagnostics *diagnostics)
{
    size_t bytes;
    const unsigned char *data = file_read(path, &bytes, arena, diagnostics);
    *array = (struct array_file){
        .type = model_is_signed(tensor) ? ARRAY_SIGNED : ARRAY_UNSIGNED, .element_bytes = model_bytes(tensor), .data = data};
    array->count = data ? bytes / (size_t)array->element_bytes : 0;
    if (data && bytes % (size_t)array->element_bytes != 0)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s has %zu bytes; an element of '%s' has %d", path, bytes,
                 tensor->name, array->element_bytes);
    return data && bytes % (size_t)array->element_bytes == 0;
}

static int64_t *read_text(const char *path, const struct tensor *tensor, struct arena *arena,
                          struct diagnostics *diagnostics)
{
    struct text_tensor text;
    if (!text_tensor_read(path, &text, arena, diagnostics) || !check_count(path, tensor, text.count, diagnostics))
        return NULL;
    for (size_t i = 0; i < text.count; i++) {
        text.values[i] -= tensor->model_offset;
        if (!check_value(path, tensor, i, text.values[i], diagnostics))
            return NULL;
    }
    return text.values;
}

int64_t *tensor_file_read(const char *path, const struct network *network, int index, struct arena *arena,
                          struct diagnostics *diagnostics)
{
    const struct tensor *tensor = &network->tensors[index];
    struct array_file array;
    bool is_npy = path_ends_in(path, ".npy");
    if (!is_npy && !path_ends_in(path, ".bin"))
        return read_text(path, tensor, arena, diagnostics);
    if (is_npy ? !array_file_read_npy(path, &array, arena, diagnostics)
               : !read_raw(path, tensor, &array, arena, diagnostics))
        return NULL;
    if (!check_count(path, tensor, array.count, diagnostics))
        return NULL;
    return tensor_from_array(&array, 0, path, network, index, arena, diagnostics);
}

/* ---- writing ---- */

/* Sums whose channels have scales of their own mean something as real numbers only. */
static int file_bytes(const struct tensor *tensor) { return tensor->channel_scales ? 4 : model_bytes(tensor); }

static uint64_t file_bits(const struct tensor *tensor, size_t index, int64_t value)
{
    if (!tensor->channel_scales)
        return (uint64_t)(value + tensor->model_offset);
    float real = (float)((double)value * tensor->channel_scales[index % (size_t)tensor->channels]);
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

/* The header of a .npy file, filled up so that the numbers start at a multiple of 64 bytes. */
static void write_npy_header(FILE *file, const struct network *network, const struct tensor *tensor)
{
    char text[256];
    int h = tensor->height, w = tensor->width, c = tensor->channels;
    bool is_last = has_channels_last(network, tensor);
    char kind = tensor->channel_scales ? 'f' : model_is_signed(tensor) ? 'i' : 'u';
    int length = snprintf(text, sizeof text, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (%d, %d, %d), }",
                          file_bytes(tensor) == 1 ? '|' : '<', kind, file_bytes(tensor), is_last ? h : c, is_last ? w : h,
                          is_last ? c : w);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10;
    fwrite("\x93NUMPY\x01\x00", 1, 8, file);
    fputc(padded & 255, file);
    fputc(padded >> 8, file);
    fprintf(file, "%-*s\n", padded - 1, text);
}

static bool write_raw(FILE *file, const struct network *network, const struct tensor *tensor, const int64_t *values,
                      struct arena *scratch)
{
    size_t bytes = (size_t)file_bytes(tensor);
    unsigned char *image = arena_allocate_array(scratch, tensor_elements(tensor), bytes);
    for (size_t i = 0; i < tensor_elements(tensor); i++)
        for (size_t byte = 0; byte < bytes; byte++)
            image[model_position(network, tensor, i) * bytes + byte] =
                (unsigned char)(file_bits(tensor, i, values[i]) >> (8 * byte));
    return fwrite(image, bytes, tensor_elements(tensor), file) == tensor_elements(tensor);
}

static bool write_text(const char *path, const struct tensor *tensor, const int64_t *values, struct arena *scratch,
                       struct diagnostics *diagnostics)
{
    int64_t *integers = arena_array(scratch, int64_t, tensor_elements(tensor));
    for (size_t i = 0; i < tensor_elements(tensor); i++)
        integers[i] = values[i] + tensor->model_offset;
    return text_tensor_write(path, tensor->name, tensor, integers, diagnostics);
}

static bool write_file(const char *path, const struct network *network, const struct tensor *tensor, const int64_t *values,
                       struct arena *scratch, struct diagnostics *diagnostics)
{
    const char *temporary = arena_format(scratch, "%s.tmp", path);
    FILE *file = fopen(temporary, "wb");
    if (file && path_ends_in(path, ".npy"))
        write_npy_header(file, network, tensor);
    bool is_written = file && write_raw(file, network, tensor, values, scratch);
    if (file && fclose(file) != 0)
        is_written = false;
    is_written = is_written && rename(temporary, path) == 0;
    if (is_written)
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot write %s: %s", path, strerror(errno));
    if (file)
        remove(temporary);
    return false;
}

bool tensor_file_write(const char *path, const struct network *network, int index, const int64_t *values,
                       struct diagnostics *diagnostics)
{
    const struct tensor *tensor = &network->tensors[index];
    struct arena scratch = {0};
    bool is_raw = path_ends_in(path, ".npy") || path_ends_in(path, ".bin");
    bool is_written = is_raw ? write_file(path, network, tensor, values, &scratch, diagnostics)
                             : write_text(path, tensor, values, &scratch, diagnostics);
    arena_free(&scratch);
    return is_written;
}
