/* The outputs of layers, from files. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "network/interpret.h"
#include "values/dump_match.h"
#include "values/expected_source.h"
#include "values/float_rounding.h"

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

/* The layer before this one whose file differs, too; NO_LAYER where there is none. */
static int differing_producer(const struct source *source, int layer)
{
    const struct layer *consumer = &source->network->layers[layer];
    for (int i = 0; i < layer_input_count(consumer); i++) {
        int producer = source->network->tensors[consumer->inputs[i]].producer;
        if (producer != NO_LAYER && source->differs[producer])
            return producer;
    }
    return NO_LAYER;
}

/* Where a layer differs, those that it feeds do. One warning is about the first, a note about each of the others. */
static void warn_of_difference(const struct source *source, int layer, const char *path, const struct text_comparison *found)
{
    int cause = differing_producer(source, layer);
    source->differs[layer] = true;
    if (cause != NO_LAYER) {
        diagnose(source->diagnostics, SEVERITY_NOTE, source->network->layers[layer].name, NULL,
                 "%s differs, too, in %zu of %zu values: this follows from layer %d, whose values differ",
                 text_file_name(path), found->different, found->compared, cause);
        return;
    }
    diagnose(source->diagnostics, SEVERITY_WARNING, source->network->layers[layer].name, NULL,
             "%s differs from the model in %zu of %zu values; at (%d, %d, %d) it has %" PRId64 ", the model gives %" PRId64,
             path, found->different, found->compared, found->row, found->column, found->channel, found->expected,
             found->actual);
}

/* What is told of a layer's output is told of what that is a view of. */
static void tell(const struct source *source, int layer, int64_t *values)
{
    const struct network *network = source->network;
    int output = network->layers[layer].output, result = tensor_home(network, network->layers[layer].output);
    source->told[output] = values;
    if (result == output)
        return;
    source->told[result] = values == source->values[output]
                               ? source->values[result]
                               : arena_array(source->scratch, int64_t, tensor_elements(&network->tensors[result]));
    interpret_result(network, layer, source->told);
}

/* What the layer gives of what files say of the layers before. */
static bool compute_from_files(const struct source *source, int layer)
{
    const struct network *network = source->network;
    int output = network->layers[layer].output;
    bool is_same = true;
    for (int i = 0; i < layer_input_count(&network->layers[layer]); i++) {
        int input = tensor_home(network, network->layers[layer].inputs[i]);
        is_same = is_same && source->told[input] == source->values[input];
    }
    tell(source, layer, source->values[output]);
    if (is_same)
        return true;
    int64_t *values = arena_array(source->scratch, int64_t, tensor_elements(&network->tensors[output]));
    source->told[output] = values;
    bool is_computed = interpret_layer(network, layer, source->told, source->diagnostics);
    tell(source, layer, values);
    return is_computed;
}

/* Is what differs all from float32? Then it is told, and the exact values are expected. */
static bool explain_by_float(const struct source *source, int layer, const char *path, const struct text_comparison *found,
                             const int64_t *values, bool *is_explained)
{
    const struct network *network = source->network;
    struct float_rounding rounding;
    *is_explained = false;
    if (network->tensors[network->layers[layer].output].scale != 0 || differing_producer(source, layer) != NO_LAYER)
        return true;
    if (!float_rounding_explains(network, layer, source->told, values, &rounding, source->scratch, source->diagnostics))
        return false;
    *is_explained = rounding.is_explained;
    if (rounding.is_explained)
        diagnose(source->diagnostics, SEVERITY_NOTE, network->layers[layer].name, NULL,
                 "%s is of a tool that computes in float32, which rounds sums beyond 2^24 (here up to %" PRId64
                 "): it differs in %zu of %zu values; compared with the model's exact arithmetic",
                 path, rounding.largest, found->different, found->compared);
    return true;
}

/* A file that agrees with the golden values adds nothing to them; another one replaces them, unless float32 made it so. */
static bool take_difference(const struct source *source, int layer, const struct dump *dump,
                            const struct text_comparison *found)
{
    int output = source->network->layers[layer].output;
    size_t count = tensor_elements(&source->network->tensors[output]);
    int64_t *values = arena_array(source->scratch, int64_t, count);
    bool is_explained;
    for (size_t i = 0; i < count; i++)
        values[i] = file_value(&dump->file, found, i);
    if (!explain_by_float(source, layer, dump->path, found, values, &is_explained))
        return false;
    tell(source, layer, values);
    if (is_explained)
        return true;
    warn_of_difference(source, layer, dump->path, found);
    memcpy(source->values[output], values, count * sizeof *values);
    tell(source, layer, source->values[output]);
    return true;
}

static bool take_file(const struct source *source, const struct dump *dump)
{
    int layer = dump->layer, output = source->network->layers[layer].output;
    const struct tensor *tensor = &source->network->tensors[output];
    struct text_comparison found = text_tensor_compare(&dump->file, tensor, source->values[output]);
    expected_note_file(source, dump->path);
    source->has_file[layer] = true;
    source->expected->layers_from_files++;
    if (source->sample == 0)
        source->expected->layer_sources[layer] = text_file_name(dump->path);
    if (!found.same_count) {
        diagnose(source->diagnostics, SEVERITY_ERROR, source->network->layers[layer].name, NULL,
                 "%s holds %zu values; the layer's output has %zu (%dx%dx%d)", dump->path, dump->file.count,
                 tensor_elements(tensor), tensor->height, tensor->width, tensor->channels);
        return false;
    }
    tell(source, layer, source->values[output]);
    return found.different == 0 || take_difference(source, layer, dump, &found);
}

#define MORE_DUMPS 100 /* than layers: where two modules became one layer, their files have higher numbers */

/* All files out_layer<n>.txt of the sample, by their numbers. */
static bool read_dumps(const struct source *source, struct dump **dumps, int *count)
{
    const char *sample = source->expected->sample_count > 1 ? arena_format(source->scratch, "%u_", source->sample) : "";
    int most = source->network->layer_count + MORE_DUMPS;
    *dumps = arena_array(source->scratch, struct dump, (size_t)most);
    *count = 0;
    for (int number = 0; number < most; number++) {
        struct dump *dump = &(*dumps)[*count];
        const char *path = expected_find_file(source, arena_format(source->scratch, "out_%slayer%d.txt", sample, number));
        if (!path)
            continue;
        *dump = (struct dump){.path = path, .number = number};
        if (!text_tensor_read(path, &dump->file, source->scratch, source->diagnostics))
            return false;
        ++*count;
    }
    dump_match(source->network, *dumps, *count, source->scratch);
    return true;
}

bool expected_take_layers(struct source *source)
{
    const struct network *network = source->network;
    struct dump *dumps;
    int count;
    bool good = read_dumps(source, &dumps, &count);
    memset(source->differs, 0, (size_t)network->layer_count);
    memset(source->has_file, 0, (size_t)network->layer_count);
    source->told = arena_array(source->scratch, int64_t *, (size_t)network->tensor_count);
    memcpy(source->told, source->values, (size_t)network->tensor_count * sizeof *source->told);
    for (int layer = 0; good && layer < network->layer_count; layer++) {
        if (source->sample == 0)
            source->expected->layer_sources[layer] = "the golden interpreter";
        if (!compute_from_files(source, layer))
            return false;
        for (int i = 0; i < count; i++)
            if (dumps[i].layer == layer)
                good = take_file(source, &dumps[i]) && good;
    }
    return good;
}
