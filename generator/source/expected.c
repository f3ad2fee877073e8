#include "expected.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "interpret.h"
#include "text.h"
#include "text_tensor.h"

struct source {
    const struct network *network;
    const struct expected_options *options;
    struct expected *expected;
    int64_t **values; /* of all tensors; golden, then replaced by those of files */
    struct arena *arena;
    struct diagnostics *diagnostics;
};

/* ---- values and bytes ---- */

static size_t pixel_bytes(const struct tensor *tensor) { return ((size_t)tensor->channels * (size_t)tensor->bits + 7) / 8; }

size_t expected_tensor_bytes(const struct tensor *tensor)
{
    return (size_t)tensor->height * (size_t)tensor->width * pixel_bytes(tensor);
}

static int64_t least_element(const struct tensor *tensor)
{
    return tensor->is_signed ? -(INT64_C(1) << (tensor->bits - 1)) : 0;
}

static int64_t greatest_element(const struct tensor *tensor)
{
    return (INT64_C(1) << (tensor->bits - tensor->is_signed)) - 1;
}

/* First element in the low bits; elements of whole bytes little end first. */
static void pack_element(uint8_t *pixel, size_t channel, unsigned bits, int64_t value)
{
    uint64_t field = (uint64_t)value & ((UINT64_C(1) << bits) - 1);
    size_t bit = channel * bits;
    if (bits < 8)
        pixel[bit / 8] = (uint8_t)(pixel[bit / 8] | field << bit % 8);
    for (unsigned byte = 0; byte < bits / 8; byte++)
        pixel[bit / 8 + byte] = (uint8_t)(field >> (8 * byte));
}

bool expected_pack(const struct tensor *tensor, const int64_t *values, uint8_t *bytes)
{
    int64_t least = least_element(tensor), greatest = greatest_element(tensor);
    size_t channels = (size_t)tensor->channels, pixels = tensor_elements(tensor) / channels;
    bool fit = true;
    memset(bytes, 0, expected_tensor_bytes(tensor));
    for (size_t pixel = 0; pixel < pixels; pixel++)
        for (size_t channel = 0; channel < channels; channel++) {
            int64_t value = values[pixel * channels + channel];
            fit = fit && value >= least && value <= greatest;
            pack_element(bytes + pixel * pixel_bytes(tensor), channel, (unsigned)tensor->bits, value);
        }
    return fit;
}

/* ---- files ---- */

static void note_file(const struct source *source, const char *path)
{
    source->expected->files[source->expected->file_count++] = path;
}

/* Null where the folder has no such file. */
static const char *find_file(const struct source *source, const char *name)
{
    if (!source->options->folder)
        return NULL;
    const char *path = arena_format(source->arena, "%s/%s", source->options->folder, name);
    return access(path, F_OK) == 0 ? path : NULL;
}

/* ---- input ---- */

/* Numbers that are the same on every machine (splitmix64). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int64_t *seeded_input(const struct tensor *tensor, struct arena *arena)
{
    int64_t *values = arena_array(arena, int64_t, tensor_elements(tensor));
    int64_t least = least_element(tensor), greatest = greatest_element(tensor);
    bool declared = tensor->minimum < tensor->maximum && tensor->minimum >= least && tensor->maximum <= greatest;
    uint64_t state = 1, span;
    if (declared)
        least = tensor->minimum, greatest = tensor->maximum;
    span = (uint64_t)(greatest - least) + 1;
    for (size_t i = 0; i < tensor_elements(tensor); i++)
        values[i] = least + (int64_t)(next_random(&state) % span);
    return values;
}

static int64_t *input_from_file(const struct source *source, const char *path, const struct tensor *tensor)
{
    struct text_tensor file = {0};
    if (!text_tensor_read(path, &file, source->arena, source->diagnostics))
        return NULL;
    note_file(source, path);
    if (file.count == tensor_elements(tensor))
        return file.values;
    diagnose(source->diagnostics, SEVERITY_ERROR, NULL, NULL, "%s holds %zu values; the network's input has %zu (%dx%dx%d)",
             path, file.count, tensor_elements(tensor), tensor->height, tensor->width, tensor->channels);
    return NULL;
}

static int64_t *find_input(const struct source *source)
{
    const struct tensor *tensor = &source->network->tensors[source->network->inputs[0]];
    const char *path = source->options->input;
    if (!path)
        path = find_file(source, source->options->input_count > 1 ? "input_0.txt" : "input.txt");
    source->expected->input_source = path ? arena_format(source->arena, "%s", text_file_name(path)) : "a fixed seed";
    if (path)
        return input_from_file(source, path, tensor);
    diagnose(source->diagnostics, SEVERITY_NOTE, NULL, NULL, "check: no input.txt; the input is made from a fixed seed");
    return seeded_input(tensor, source->arena);
}

/* ---- layers ---- */

/* The file's value at a place in HWC order; compare has found out which of its forms the file has. */
static int64_t file_value(const struct text_tensor *file, const struct text_comparison *form, size_t index)
{
    uint32_t word = 0;
    if (!form->joined_bytes)
        return file->values[index];
    for (size_t i = 0; i < 4; i++)
        word |= (uint32_t)(file->values[4 * index + i] & 255) << (8 * i);
    return (int32_t)word;
}

static void warn_of_difference(const struct source *source, int layer, const char *path, const struct text_comparison *found)
{
    diagnose(source->diagnostics, SEVERITY_WARNING, source->network->layers[layer].name, NULL,
             "%s differs from the model in %zu of %zu values; at (%d, %d, %d) it has %" PRId64 ", the model gives %" PRId64,
             path, found->different, found->compared, found->row, found->column, found->channel, found->expected,
             found->actual);
}

/* A file that agrees with the golden values adds nothing to them; another one replaces them. */
static bool take_file(const struct source *source, int layer, const char *path)
{
    int output = source->network->layers[layer].output;
    const struct tensor *tensor = &source->network->tensors[output];
    struct text_tensor file = {0};
    if (!text_tensor_read(path, &file, source->arena, source->diagnostics))
        return false;
    struct text_comparison found = text_tensor_compare(&file, tensor, source->values[output]);
    note_file(source, path);
    source->expected->layers_from_files++;
    source->expected->layer_sources[layer] = arena_format(source->arena, "%s", text_file_name(path));
    if (!found.same_count) {
        diagnose(source->diagnostics, SEVERITY_ERROR, source->network->layers[layer].name, NULL,
                 "%s holds %zu values; the layer's output has %zu (%dx%dx%d)", path, file.count, tensor_elements(tensor),
                 tensor->height, tensor->width, tensor->channels);
        return false;
    }
    if (found.different) {
        warn_of_difference(source, layer, path, &found);
        for (size_t i = 0; i < tensor_elements(tensor); i++)
            source->values[output][i] = file_value(&file, &found, i);
    }
    return true;
}

static bool take_files(const struct source *source)
{
    const char *input_part = source->options->input_count > 1 ? "0_" : "";
    bool good = true;
    for (int layer = 0; layer < source->network->layer_count; layer++) {
        const char *path = find_file(source, arena_format(source->arena, "out_%slayer%d.txt", input_part, layer));
        source->expected->layer_sources[layer] = "the golden interpreter";
        good = (!path || take_file(source, layer, path)) && good;
    }
    return good;
}

/* ---- image ---- */

#define TENSOR_ALIGNMENT 8

/* Reserves a tensor's bytes in the image. */
static bool place_tensor(const struct source *source, int tensor, uint32_t *offset)
{
    struct expected *expected = source->expected;
    size_t bytes = expected_tensor_bytes(&source->network->tensors[tensor]);
    *offset = expected->bytes;
    bytes = (bytes + TENSOR_ALIGNMENT - 1) / TENSOR_ALIGNMENT * TENSOR_ALIGNMENT;
    if (bytes > UINT32_MAX - expected->bytes) {
        diagnose(source->diagnostics, SEVERITY_ERROR, NULL, NULL, "check: the expected values exceed 4 GiB");
        return false;
    }
    expected->bytes += (uint32_t)bytes;
    return true;
}

static bool place_tensors(const struct source *source)
{
    const struct network *network = source->network;
    bool good = place_tensor(source, network->inputs[0], &source->expected->input_offset);
    for (int i = 0; i < network->layer_count && good; i++)
        good = place_tensor(source, network->layers[i].output, &source->expected->layer_offsets[i]);
    return good;
}

static bool fill_image(const struct source *source)
{
    const struct network *network = source->network;
    struct expected *expected = source->expected;
    int input = network->inputs[0];
    bool good = true;
    expected->image = arena_allocate(source->arena, expected->bytes);
    if (!expected_pack(&network->tensors[input], source->values[input], expected->image + expected->input_offset)) {
        diagnose(source->diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "check: %s holds values that the input '%s' (%d bits%s) cannot", expected->input_source,
                 network->tensors[input].name, network->tensors[input].bits,
                 network->tensors[input].is_signed ? ", signed" : "");
        good = false;
    }
    for (int i = 0; i < network->layer_count; i++) {
        int output = network->layers[i].output;
        const struct tensor *tensor = &network->tensors[output];
        if (expected_pack(tensor, source->values[output], expected->image + expected->layer_offsets[i]))
            continue;
        diagnose(source->diagnostics, SEVERITY_ERROR, network->layers[i].name, NULL,
                 "%s holds values that the layer's %d-bit output cannot; for additions there is --exact-add",
                 expected->layer_sources[i], tensor->bits);
        good = false;
    }
    return good;
}

bool expected_make(const struct network *network, const struct expected_options *options, struct expected *expected,
                   struct arena *arena, struct diagnostics *diagnostics)
{
    struct source source = {
        .network = network, .options = options, .expected = expected, .arena = arena, .diagnostics = diagnostics};
    size_t layers = (size_t)network->layer_count;
    *expected = (struct expected){
        .layer_offsets = arena_array(arena, uint32_t, layers),
        .layer_sources = arena_array(arena, const char *, layers),
        .files = arena_array(arena, const char *, layers + 1),
    };
    const int64_t *input = find_input(&source);
    if (!input)
        return false;
    source.values = interpret_network(network, &input, arena, diagnostics);
    return source.values && take_files(&source) && place_tensors(&source) && fill_image(&source);
}
