/* The outputs of a network, from files. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "values/expected_source.h"
#include "values/float_rounding.h"
#include "values/tensor_file.h"
#include "values/ties.h"

struct difference {
    size_t count, at_ties; /* at_ties: of them, at exact halves or behind them */
    int64_t largest;
    int64_t largest_apart; /* of the others */
};

static struct difference compare(const int64_t *a, const int64_t *b, const int64_t *ties, size_t count)
{
    struct difference difference = {0};
    for (size_t i = 0; i < count; i++) {
        int64_t distance = a[i] < b[i] ? b[i] - a[i] : a[i] - b[i];
        bool is_apart = !ties || !ties[i];
        difference.count += distance != 0;
        difference.at_ties += distance != 0 && !is_apart;
        difference.largest = distance > difference.largest ? distance : difference.largest;
        if (is_apart)
            difference.largest_apart = distance > difference.largest_apart ? distance : difference.largest_apart;
    }
    return difference;
}

#define ONE_IN 10000 /* elements that floating point may round otherwise though there is no half */

/* What floating point explains: see take_output. */
static bool is_rounding(const struct difference *difference, size_t count)
{
    size_t apart = difference->count - difference->at_ties;
    return difference->largest_apart <= 1 && apart <= (count + ONE_IN - 1) / ONE_IN;
}

/* Is it what a tool gives that computes integers in float32, as far as that is off? */
static bool is_of_float(const struct source *source, int output, const int64_t *values, bool *is_explained)
{
    struct float_rounding rounding = {0};
    int producer = source->network->tensors[output].producer;
    bool is_real = source->network->tensors[output].scale != 0;
    *is_explained = false;
    if (is_real || producer == NO_LAYER || source->differs[producer])
        return true;
    if (!float_rounding_explains(source->network, producer, source->told, values, &rounding, source->scratch,
                                 source->diagnostics))
        return false;
    *is_explained = rounding.is_explained;
    return true;
}

/* A warning, or a note where the model's exact values are expected all the same. */
static void tell_difference(const struct source *source, const struct tensor *tensor, const char *path,
                            const struct difference *difference, bool is_explained)
{
    const char *ties = "";
    if (difference->at_ties)
        ties = arena_format(source->arena, ", %zu of them at exact halves that it rounds to even, or behind such",
                            difference->at_ties);
    diagnose(source->diagnostics, is_explained ? SEVERITY_NOTE : SEVERITY_WARNING, tensor->name, NULL,
             "%s differs from the model in %zu of %zu values, by at most %" PRId64 "%s%s", path, difference->count,
             tensor_elements(tensor), difference->largest, ties,
             !is_explained        ? ""
             : tensor->scale == 0 ? ", as a tool does that computes in float32; compared with the model's exact arithmetic"
                                  : "; compared with the model's exact arithmetic");
}

/* What a file says is expected. But where onnxruntime made it: that computes in floating point and differs from the model's
 * exact arithmetic in about one element of a million, and where a half is to be rounded; then the difference is told, and
 * the exact value is expected. */
static bool take_output(const struct source *source, int index, const char *path)
{
    const struct network *network = source->network;
    int output = network->outputs[index];
    const struct tensor *tensor = &network->tensors[output];
    size_t count = tensor_elements(tensor);
    bool is_onnx = tensor->scale != 0 && !network->channels_last;
    int64_t *values = tensor_file_read(path, network, output, source->scratch, source->diagnostics);
    int64_t **ties = NULL;
    if (!values)
        return false;
    struct difference difference = compare(values, source->values[output], NULL, count);
    if (is_onnx && difference.count) {
        ties = ties_find(network, source->values, source->scratch, source->diagnostics);
        if (!ties)
            return false;
        difference = compare(values, source->values[output], ties[output], count);
    }
    bool is_explained = is_onnx && is_rounding(&difference, count);
    if (!is_onnx && difference.count && !is_of_float(source, output, values, &is_explained))
        return false;
    expected_note_file(source, path);
    source->expected->layers_from_files++;
    if (source->sample == 0 && tensor->producer != NO_LAYER)
        source->expected->layer_sources[tensor->producer] = text_file_name(path);
    if (difference.count)
        tell_difference(source, tensor, path, &difference, is_explained);
    if (!is_explained)
        source->values[output] = values;
    return true;
}

/* Outputs that lie beside an input of another name than a run's: what was computed from that very file. */
static const char *const pairs[][2] = {
    {"input.npy", "output.npy"}, {"input.npy", "expected.npy"}, {"inputs.npz", "outputs.npz"}, {"input", "output.txt"}};

/* The file of an output: of the run, or under the names by which quantisers write it. The latter may hold more than the
 * network computes, such as an activation behind it: a file of the layer itself says more. */
static const char *output_file(const struct source *source, int index)
{
    int count = source->network->output_count, producer = source->network->tensors[source->network->outputs[index]].producer;
    const char *path = expected_run_file(source, "output", source->sample, index, count);
    bool has_own = producer != NO_LAYER && source->has_file[producer];
    bool is_only = source->expected->sample_count == 1 && !source->options->input && !has_own;
    for (size_t i = 0; !path && is_only && i < sizeof pairs / sizeof *pairs; i++) {
        bool is_archive = !strcmp(pairs[i][1], "outputs.npz");
        if ((count == 1 || is_archive) && !strncmp(source->expected->input_source, pairs[i][0], strlen(pairs[i][0])))
            path = expected_find_file(source, pairs[i][1]);
    }
    return path;
}

bool expected_take_outputs(const struct source *source)
{
    bool good = true;
    for (int i = 0; i < source->network->output_count; i++) {
        const char *path = output_file(source, i);
        good = (!path || take_output(source, i, path)) && good;
    }
    return good;
}
