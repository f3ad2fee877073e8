#include "values/expected.h"

#include "network/channels.h"
#include "network/interpret.h"
#include "values/expected_folder.h"
#include "values/expected_source.h"

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
    if (!expected_find_inputs(source, inputs))
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
    expected->sample_count = expected_count_samples(&source);
    expected->files =
        arena_array(arena, const char *,
                    (size_t)(network->layer_count + network->input_count + network->output_count) * expected->sample_count);
    if (!place_tensors(&source))
        return false;
    expected->image = arena_allocate(arena, expected->bytes);
    return make_samples(&source) && expected_folder_was_read(source.network, options, expected, arena, diagnostics);
}
