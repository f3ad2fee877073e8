#include "values/expected.h"

#include <string.h>

#include "base/text.h"
#include "network/channels.h"
#include "network/interpret.h"
#include "values/expected_folder.h"
#include "values/expected_source.h"
#include "values/tensor_file.h"

/* ---- input ---- */

/* Numbers that are the same on every machine (splitmix64). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int64_t *seeded_input(const struct tensor *tensor, uint64_t state, struct arena *arena)
{
    int64_t *values = arena_array(arena, int64_t, tensor_elements(tensor));
    int64_t least = expected_least_element(tensor), greatest = expected_greatest_element(tensor);
    bool declared = tensor->minimum < tensor->maximum && tensor->minimum >= least && tensor->maximum <= greatest;
    uint64_t span;
    if (declared)
        least = tensor->minimum, greatest = tensor->maximum;
    span = (uint64_t)(greatest - least) + 1;
    for (size_t i = 0; i < tensor_elements(tensor); i++)
        values[i] = least + (int64_t)(next_random(&state) % span);
    return values;
}

int64_t *expected_first_state(const struct network *network, int input, struct arena *arena)
{
    const struct network_state *state = NULL;
    for (int i = 0; i < network->state_count; i++)
        state = network->states[i].input == input ? &network->states[i] : state;
    if (!state)
        return NULL;
    size_t count = tensor_elements(&network->tensors[network->inputs[input]]);
    int64_t *elements = arena_array(arena, int64_t, count);
    for (size_t i = 0; i < count; i++)
        elements[i] = state->first;
    return elements;
}

/* Of a network with one input, input_<i>.txt; of any, input_<i>.bin. */
static const char *sample_file(const struct source *source, unsigned sample, int index)
{
    int count = source->network->input_count;
    const char *text = count == 1 ? expected_find_file(source, arena_format(source->arena, "input_%u.txt", sample)) : NULL;
    return text ? text : expected_run_file(source, "input", sample, index, count);
}

/* Of the names by which tools write the input of a network that has one: PLiNIO dumps input_quantizer.txt. */
static const char *find_single_input(const struct source *source)
{
    static const char *const names[] = {"input.txt", "input.npy", "inputs.npz", "input_quantizer.txt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = expected_find_file(source, names[i]);
        if (path)
            return path;
    }
    return NULL;
}

/* The file of an input for the sample at hand, null where there is none. */
static const char *input_file(const struct source *source, int index)
{
    const struct tensor *tensor = &source->network->tensors[source->network->inputs[index]];
    const char *path = NULL;
    if (source->options->input && index == 0)
        return source->options->input;
    if (source->network->input_count == 1 && source->expected->sample_count == 1)
        path = find_single_input(source);
    else if (source->network->input_count > 1 && !strchr(tensor->name, '/'))
        path = expected_find_file(source, arena_format(source->arena, "input_%s.txt", tensor->name));
    if (!path && source->network->input_count > 1 && source->expected->sample_count == 1)
        path = expected_find_file(source, "inputs.npz");
    return path ? path : sample_file(source, source->sample, index);
}

static int64_t *find_input(const struct source *source, int index)
{
    const struct tensor *tensor = &source->network->tensors[source->network->inputs[index]];
    const char *path = input_file(source, index);
    if (index == 0 && source->sample == 0)
        source->expected->input_source = path ? arena_format(source->arena, "%s", text_file_name(path)) : "a fixed seed";
    if (path) {
        expected_note_file(source, path);
        return tensor_file_read(path, source->network, source->network->inputs[index], source->scratch, source->diagnostics);
    }
    int64_t *first = source->expected->file_count ? expected_first_state(source->network, index, source->scratch) : NULL;
    if (first)
        return first;
    if (source->options->folder && source->options->sample_count > 1) {
        diagnose(source->diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "check: %u inputs are asked for (n_inputs); %s has no input_%u.txt", source->options->sample_count,
                 source->options->folder, source->sample);
        return NULL;
    }
    diagnose(source->diagnostics, SEVERITY_NOTE, NULL, NULL, "check: no file of input '%s'; it is made from a fixed seed",
             tensor->name);
    return seeded_input(tensor, 1 + (uint64_t)index + 1000 * (uint64_t)source->sample, source->scratch);
}

static bool find_inputs(const struct source *source, const int64_t **inputs)
{
    for (int i = 0; i < source->network->input_count; i++)
        if (!(inputs[i] = find_input(source, i)))
            return false;
    return true;
}

#define MAXIMUM_SAMPLES 1000

static unsigned count_samples(const struct source *source)
{
    unsigned count = 0;
    if (source->options->input)
        return 1;
    if (source->options->sample_count)
        return source->options->sample_count < MAXIMUM_SAMPLES ? source->options->sample_count : MAXIMUM_SAMPLES;
    while (count < MAXIMUM_SAMPLES && sample_file(source, count, 0))
        count++;
    return count ? count : 1;
}

/* ---- image ---- */

#define TENSOR_ALIGNMENT 8

/* Reserves a tensor's bytes in a sample's image. */
static bool place_tensor(const struct source *source, int tensor, uint32_t *offset)
{
    struct expected *expected = source->expected;
    size_t bytes = expected_tensor_bytes(&source->emitted->tensors[tensor]);
    *offset = expected->sample_bytes;
    bytes = (bytes + TENSOR_ALIGNMENT - 1) / TENSOR_ALIGNMENT * TENSOR_ALIGNMENT;
    if (bytes > UINT32_MAX / expected->sample_count - expected->sample_bytes) {
        diagnose(source->diagnostics, SEVERITY_ERROR, NULL, NULL, "check: the expected values exceed 4 GiB");
        return false;
    }
    expected->sample_bytes += (uint32_t)bytes;
    return true;
}

static bool place_tensors(const struct source *source)
{
    const struct network *network = source->network;
    struct expected *expected = source->expected;
    bool good = true;
    for (int i = 0; i < network->input_count && good; i++)
        good = place_tensor(source, network->inputs[i], &expected->input_offsets[i]);
    for (int i = 0; i < network->layer_count && good; i++)
        good = place_tensor(source, tensor_home(network, network->layers[i].output), &expected->layer_offsets[i]);
    expected->bytes = expected->sample_count * expected->sample_bytes;
    return good;
}

static bool fill_input(const struct source *source, int index, uint8_t *image)
{
    const struct tensor *tensor = &source->network->tensors[source->network->inputs[index]];
    const int64_t *values = source->values[source->network->inputs[index]];
    if (expected_pack(tensor, values, image + source->expected->input_offsets[index]))
        return true;
    diagnose(source->diagnostics, SEVERITY_ERROR, NULL, NULL,
             "check: %s holds values that the input '%s' (%d bits%s) cannot; there are --input-bits and --input-signed",
             source->expected->input_source, tensor->name, tensor->bits, tensor->is_signed ? ", signed" : "");
    return false;
}

static bool fill_layer(const struct source *source, int layer, uint8_t *image)
{
    int result = tensor_home(source->network, source->network->layers[layer].output);
    const struct tensor *tensor = &source->emitted->tensors[result];
    const int64_t *values = channels_take(source->emitted, result, source->values[result], source->scratch);
    if (expected_pack(tensor, values, image + source->expected->layer_offsets[layer]))
        return true;
    diagnose(source->diagnostics, SEVERITY_ERROR, source->network->layers[layer].name, NULL,
             "%s holds values that the layer's %d-bit output cannot; for additions there is --exact-add",
             source->expected->layer_sources[layer], tensor->bits);
    return false;
}

static bool fill_sample(const struct source *source)
{
    uint8_t *image = source->expected->image + (size_t)source->sample * source->expected->sample_bytes;
    bool good = true;
    for (int i = 0; i < source->network->input_count; i++)
        good = fill_input(source, i, image) && good;
    for (int i = 0; i < source->network->layer_count; i++)
        good = fill_layer(source, i, image) && good;
    return good;
}

/* ---- all of it ---- */

static bool make_sample(struct source *source)
{
    const int64_t **inputs = arena_array(source->scratch, const int64_t *, (size_t)source->network->input_count);
    if (!find_inputs(source, inputs))
        return false;
    source->values = interpret_network(source->network, inputs, source->scratch, source->diagnostics);
    return source->values && expected_take_layers(source) && expected_take_outputs(source) && fill_sample(source);
}

/* Room for what is expected of the network, and for what its files say of it. */
static void begin(struct source *source, struct expected *expected)
{
    struct arena *arena = source->arena;
    const size_t layers = (size_t)source->network->layer_count, inputs = (size_t)source->network->input_count;
    *expected = (struct expected){
        .input_offsets = arena_array(arena, uint32_t, inputs),
        .layer_offsets = arena_array(arena, uint32_t, layers),
        .layer_sources = arena_array(arena, const char *, layers),
    };
    source->expected = expected;
    source->differs = arena_array(arena, bool, layers);
    source->has_file = arena_array(arena, bool, layers);
}

static bool make_samples(struct source *source)
{
    bool good = true;
    for (; good && source->sample < source->expected->sample_count; source->sample++) {
        struct arena scratch = {0};
        source->scratch = &scratch;
        good = make_sample(source);
        source->scratch = NULL;
        arena_free(&scratch);
    }
    return good;
}

bool expected_make(const struct network *network, const struct expected_options *options, struct expected *expected,
                   struct arena *arena, struct diagnostics *diagnostics)
{
    struct source source = {
        .network = network->whole ? network->whole : network,
        .emitted = network,
        .options = options,
        .arena = arena,
        .diagnostics = diagnostics,
    };
    begin(&source, expected);
    if (!expected_folder_is_there(options->folder, diagnostics))
        return false;
    expected->sample_count = count_samples(&source);
    expected->files =
        arena_array(arena, const char *,
                    (size_t)(network->layer_count + network->input_count + network->output_count) * expected->sample_count);
    if (!place_tensors(&source))
        return false;
    expected->image = arena_allocate(arena, expected->bytes);
    return make_samples(&source) && expected_folder_was_read(source.network, options, expected, arena, diagnostics);
}
