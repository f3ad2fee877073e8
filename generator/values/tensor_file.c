#include "values/tensor_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "values/text_tensor.h"

/* ---- the model's order and type ---- */

static bool has_channels_last(const struct network *network, const struct tensor *tensor)
{
    return network->channels_last != tensor->is_turned;
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

#define MAXIMUM_WHOLE 9007199254740992.0 /* 2^53: beyond it doubles skip integers */

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
    if (tensor->look_up)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "%s has %zu numbers; rows of '%s' are looked up by %zu indices, of %d bytes each in a .bin file", path,
                 count, tensor->name, tensor_file_numbers(tensor), tensor->look_up->index_bytes);
    else
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s has %zu values; tensor '%s' has %d x %d x %d = %zu elements",
                 path, count, tensor->name, tensor->height, tensor->width, tensor->channels, tensor_elements(tensor));
    return false;
}

/* As the operator at the model's edge does it: TensorFlow Lite takes halves away from zero, ONNX to even. Saturated. Both
 * divide in float32; a scale that has taken in arithmetic in front of that operator need not be one. */
static int64_t quantise_by(const struct network *network, const struct tensor *tensor, double exact_scale, int zero_point,
                           double real)
{
    float scale = (float)exact_scale;
    double scaled = (double)scale == exact_scale ? (double)((float)real / scale) : real / exact_scale;
    double element = (network->channels_last ? round(scaled) : nearbyint(scaled)) + zero_point;
    if (!(element > (double)tensor->minimum)) /* NaN, too */
        return tensor->minimum;
    return element < (double)tensor->maximum ? (int64_t)element : tensor->maximum;
}

/* The part that an element is of; `index` counts in memory. */
static const struct input_part *part_of(const struct tensor *tensor, size_t index)
{
    int part = 0, behind = tensor->part_count;
    while (behind - part > 1) {
        const int middle = part + (behind - part) / 2;
        *(tensor->parts[middle].first > index ? &behind : &part) = middle;
    }
    return &tensor->parts[part];
}

static int64_t quantise(const struct network *network, const struct tensor *tensor, double real, size_t index)
{
    if (!tensor->part_count)
        return quantise_by(network, tensor, tensor->scale, tensor->zero_point, real);
    const struct input_part *part = part_of(tensor, index);
    return quantise_by(network, tensor, part->scale, part->zero_point, real);
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

/* The row by the array's number; null: there is no such row, which was reported. */
static const float *row_of(const struct look_up *table, const struct array_part *part, size_t at,
                           struct diagnostics *diagnostics)
{
    double index = array_number(part->array, at);
    index += index < 0 ? table->rows : 0;
    if (index >= 0 && index < table->rows && index == floor(index))
        return table->numbers + (size_t)index * (size_t)table->columns;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s: number %zu is %.9g; '%s' has %d rows, from 0", part->path, at,
             array_number(part->array, at), table->name, table->rows);
    return NULL;
}

size_t tensor_file_numbers(const struct tensor *tensor)
{
    return tensor_elements(tensor) / (tensor->look_up ? (size_t)tensor->look_up->columns : 1);
}

/* A whole row an index. */
static int64_t *look_rows_up(const struct array_part *part, const struct network *network, int index, struct arena *arena,
                             struct diagnostics *diagnostics)
{
    const struct tensor *tensor = &network->tensors[index];
    const size_t columns = (size_t)tensor->look_up->columns;
    int64_t *values = arena_array(arena, int64_t, tensor_elements(tensor));
    for (size_t i = 0; i < tensor_elements(tensor); i++) {
        const float *row = row_of(tensor->look_up, part, part->first + i / columns, diagnostics);
        if (!row)
            return NULL;
        const double real = (double)row[i % columns];
        values[i] = tensor->look_up->are_elements ? (int64_t)real - tensor->model_offset
                                                  : quantise(network, tensor, in_front(tensor, real, i), i);
    }
    return values;
}

/* Does the array hold what the model computes with, rather than what it makes of that? */
static bool has_reals(const struct array_file *array, const struct tensor *tensor)
{
    return tensor->scale != 0 &&
           (array->type == ARRAY_FLOAT || (tensor->is_of_whole_numbers && array->element_bytes > model_bytes(tensor)));
}

/* The model's own integer; tools that compute in floating point write integers as such. What a network gives may have a
 * fraction there, behind an average that the tool does not round; the network rounds it down. */
static bool whole_number(const struct array_file *array, size_t at, bool is_input, int64_t *value)
{
    double number = array->type == ARRAY_FLOAT ? array_number(array, at) : 0;
    number = is_input ? number : floor(number);
    if (array->type == ARRAY_FLOAT && (number != floor(number) || fabs(number) > MAXIMUM_WHOLE))
        return false;
    *value = array->type == ARRAY_FLOAT ? (int64_t)number : array_integer(array, at);
    return true;
}

static int64_t *read_elements(const struct array_part *part, const struct network *network, int index, struct arena *arena,
                              struct diagnostics *diagnostics)
{
    const struct tensor *tensor = &network->tensors[index];
    const struct array_file *array = part->array;
    int64_t *values = arena_array(arena, int64_t, tensor_elements(tensor)), number = 0;
    for (size_t i = 0; i < tensor_elements(tensor); i++) {
        size_t at = part->first + model_position(network, tensor, i);
        if (has_reals(array, tensor))
            values[i] = quantise(network, tensor, in_front(tensor, array_number(array, at), i), i);
        else if (whole_number(array, at, tensor->producer == NO_LAYER, &number))
            values[i] = number - tensor->model_offset;
        else {
            diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                     "%s: value %zu is %g; of '%s' the model says no scale, it wants integers", part->path, at - part->first,
                     array_number(array, at), tensor->name);
            return NULL;
        }
        if (!check_value(part->path, tensor, at - part->first, values[i], diagnostics))
            return NULL;
    }
    return values;
}

int64_t *tensor_from_array(const struct array_part *part, const struct network *network, int index, struct arena *arena,
                           struct diagnostics *diagnostics)
{
    return network->tensors[index].look_up ? look_rows_up(part, network, index, arena, diagnostics)
                                           : read_elements(part, network, index, arena, diagnostics);
}

static bool read_raw(const char *path, const struct tensor *tensor, struct array_file *array, struct arena *arena,
                     struct diagnostics *diagnostics)
{
    size_t bytes;
    const unsigned char *data = file_read(path, &bytes, arena, diagnostics);
    const int index_bytes = tensor->look_up ? tensor->look_up->index_bytes : 0;
    const bool has_indices = index_bytes && bytes == tensor_file_numbers(tensor) * (size_t)index_bytes;
    *array = (struct array_file){.type = has_indices || model_is_signed(tensor) ? ARRAY_SIGNED : ARRAY_UNSIGNED,
                                 .element_bytes = has_indices ? index_bytes : model_bytes(tensor),
                                 .data = data};
    array->count = data ? bytes / (size_t)array->element_bytes : 0;
    if (data && bytes % (size_t)array->element_bytes != 0)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s has %zu bytes; an element of '%s' has %d", path, bytes,
                 tensor->name, array->element_bytes);
    return data && bytes % (size_t)array->element_bytes == 0;
}

/* PLiNIO and QuantLib turn images to channels last, but leave signals of one dimension as PyTorch has them. */
static bool is_channels_first(const struct text_tensor *text, const struct tensor *tensor)
{
    return text->rank == 2 && tensor->height == 1 && text->dimensions[0] == tensor->channels &&
           text->dimensions[1] == tensor->width && tensor->channels != tensor->width;
}

static int64_t *read_text(const char *path, const struct network *network, int index, struct arena *arena,
                          struct diagnostics *diagnostics)
{
    const struct tensor *tensor = &network->tensors[index];
    struct text_tensor text;
    if (!text_tensor_read(path, &text, arena, diagnostics))
        return NULL;
    if (tensor->look_up && text.count == tensor_file_numbers(tensor)) {
        const struct array_file indices = {
            .type = ARRAY_SIGNED, .element_bytes = 8, .count = text.count, .data = (const unsigned char *)text.values};
        return look_rows_up(&(struct array_part){&indices, 0, path}, network, index, arena, diagnostics);
    }
    if (!check_count(path, tensor, text.count, diagnostics))
        return NULL;
    size_t channels = (size_t)tensor->channels, pixels = text.count / channels;
    bool is_turned = is_channels_first(&text, tensor);
    int64_t *values = arena_array(arena, int64_t, text.count);
    for (size_t i = 0; i < text.count; i++) {
        size_t at = is_turned ? i % channels * pixels + i / channels : i;
        values[i] = text.values[at] - tensor->model_offset;
        if (!check_value(path, tensor, at, values[i], diagnostics))
            return NULL;
    }
    return values;
}

/* Of how many inputs, or outputs, the tensor is which; -1: it is neither. */
static int port_position(const struct network *network, int index, int *count)
{
    *count = network->input_count;
    for (int i = 0; i < network->input_count; i++)
        if (network->inputs[i] == index)
            return i;
    *count = network->output_count;
    for (int i = 0; i < network->output_count; i++)
        if (network->outputs[i] == index)
            return i;
    return -1;
}

static int find_array(const struct npz_file *file, const char *name)
{
    for (int i = 0; i < file->count; i++)
        if (!strcmp(file->entries[i].name, name))
            return i;
    return -1;
}

/* The array that has the tensor's name; else the only one; else that of its place: by numpy's name for arrays without one,
 * or of as many as the network has inputs (outputs). */
static int choose_array(const struct npz_file *file, const struct network *network, int index, struct arena *arena)
{
    int ports, position = port_position(network, index, &ports);
    int named = find_array(file, network->tensors[index].name);
    if (named < 0 && file->count == 1)
        return 0;
    if (named < 0 && position >= 0)
        named = find_array(file, arena_format(arena, "arr_%d", position));
    return named < 0 && file->count == ports ? position : named;
}

static bool read_npz(const char *path, const struct network *network, int index, struct array_file *array,
                     struct arena *arena, struct diagnostics *diagnostics)
{
    struct npz_file file;
    if (!npz_file_read(path, &file, arena, diagnostics))
        return false;
    int chosen = choose_array(&file, network, index, arena);
    if (chosen < 0)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "%s holds %d arrays, none of them named '%s'; supported: one array, one named so, or one for each "
                 "input (output) of the network",
                 path, file.count, network->tensors[index].name);
    return chosen >= 0 && npz_file_array(&file, chosen, array, arena, diagnostics);
}

int64_t *tensor_file_read(const char *path, const struct network *network, int index, struct arena *arena,
                          struct diagnostics *diagnostics)
{
    const struct tensor *tensor = &network->tensors[index];
    struct array_file array;
    const struct array_part all = {&array, 0, path};
    bool is_good;
    if (path_ends_in(path, ".npy"))
        is_good = array_file_read_npy(path, &array, arena, diagnostics);
    else if (path_ends_in(path, ".npz"))
        is_good = read_npz(path, network, index, &array, arena, diagnostics);
    else if (path_ends_in(path, ".bin"))
        is_good = read_raw(path, tensor, &array, arena, diagnostics);
    else
        return read_text(path, network, index, arena, diagnostics);
    const bool is_raw = is_good && path_ends_in(path, ".bin");
    if (is_good && tensor->look_up && array.count == tensor_file_numbers(tensor) &&
        (!is_raw || array.element_bytes == tensor->look_up->index_bytes))
        return look_rows_up(&all, network, index, arena, diagnostics);
    if (!is_good || !check_count(path, tensor, array.count, diagnostics))
        return NULL;
    return read_elements(&all, network, index, arena, diagnostics);
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

/* "1, 10, " of the model's own shape, or else of height, width and channels in the model's order. */
static void write_shape(char *text, size_t size, const struct network *network, const struct tensor *tensor)
{
    bool is_last = has_channels_last(network, tensor);
    const int h = tensor->height, w = tensor->width, c = tensor->channels;
    const int image[3] = {is_last ? h : c, is_last ? w : h, is_last ? c : w};
    int rank = tensor->model_rank ? tensor->model_rank : 3;
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < rank && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%d, ", tensor->model_rank ? tensor->model_dimensions[i] : image[i]);
}

/* The header of a .npy file, filled up so that the numbers start at a multiple of 64 bytes. */
static void write_npy_header(FILE *file, const struct network *network, const struct tensor *tensor)
{
    char text[256], shape[128];
    write_shape(shape, sizeof shape, network, tensor);
    char kind = tensor->channel_scales ? 'f' : model_is_signed(tensor) ? 'i' : 'u';
    int length = snprintf(text, sizeof text, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (%s), }",
                          file_bytes(tensor) == 1 ? '|' : '<', kind, file_bytes(tensor), shape);
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

/* ---- behind the network ---- */

/* Of one pixel; the model's integers are int8. */
static void log_softmax_pixel(const struct tensor *tensor, const int64_t *x, int64_t *y)
{
    const struct log_softmax *to = tensor->log_softmax;
    int64_t largest = x[0];
    double sum = 0;
    for (int c = 1; c < tensor->channels; c++)
        largest = x[c] > largest ? x[c] : largest;
    for (int c = 0; c < tensor->channels; c++)
        sum += exp(tensor->scale * (double)(x[c] - largest));
    for (int c = 0; c < tensor->channels; c++) {
        double steps = round((tensor->scale * (double)(x[c] - largest) - log(sum)) / to->scale) + to->zero_point;
        y[c] = (int64_t)fmin(fmax(steps, INT8_MIN), INT8_MAX) - tensor->model_offset;
    }
}

static const int64_t *behind(const struct tensor *tensor, const int64_t *values, struct arena *scratch)
{
    if (!tensor->log_softmax)
        return values;
    int64_t *results = arena_array(scratch, int64_t, tensor_elements(tensor));
    for (size_t first = 0; first < tensor_elements(tensor); first += (size_t)tensor->channels)
        log_softmax_pixel(tensor, values + first, results + first);
    return results;
}

bool tensor_file_write(const char *path, const struct network *network, int index, const int64_t *values,
                       struct diagnostics *diagnostics)
{
    const struct tensor *tensor = &network->tensors[index];
    struct arena scratch = {0};
    values = behind(tensor, values, &scratch);
    bool is_raw = path_ends_in(path, ".npy") || path_ends_in(path, ".bin");
    bool is_written = is_raw ? write_file(path, network, tensor, values, &scratch, diagnostics)
                             : write_text(path, tensor, values, &scratch, diagnostics);
    arena_free(&scratch);
    return is_written;
}
