#include "import/load.h"

#include <stdlib.h>
#include <string.h>

#include "import/import.h"
#include "import/qdq/qdq.h"
#include "import/tflite/tflite_network.h"
#include "model/file.h"
#include "model/graph.h"
#include "simplify/tidy.h"

static const struct {
    const char *name;
    enum front_end front_end;
} front_ends[] = {
    {"detect", FRONT_END_DETECT}, {"nemo", FRONT_END_NEMO},     {"quantlab", FRONT_END_QUANTLAB},
    {"qdq", FRONT_END_QDQ},       {"tflite", FRONT_END_TFLITE},
};

static const char *parse_front_end(struct load_options *options, const char *text)
{
    for (size_t i = 0; i < sizeof front_ends / sizeof *front_ends; i++) {
        if (strcmp(text, front_ends[i].name) != 0)
            continue;
        options->front_end = front_ends[i].front_end;
        return NULL;
    }
    return "--frontend is nemo, quantlab, qdq, tflite or detect";
}

const char *load_option_parse(struct load_options *options, const char *name, const char *text)
{
    if (!strcmp(name, "frontend"))
        return parse_front_end(options, text);
    if (strcmp(text, "2") != 0 && strcmp(text, "4") != 0 && strcmp(text, "8") != 0)
        return "--input-bits is 2, 4 or 8";
    options->input_bits = *text - '0';
    return NULL;
}

/* Its elements are those of the model: nothing is left to say about them. */
static struct network *import_qdq(const struct graph *graph, const char *name, const struct load_options *options,
                                  struct arena *arena, struct diagnostics *diagnostics)
{
    if (!options->input_bits && (!options->input_is_signed || qdq_detect_integers(graph)))
        return qdq_import(graph, name, options->input_is_signed, arena, diagnostics);
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
             "--input-bits and --input-signed are for NEMO and Quantlab; this model says itself what its input is");
    return NULL;
}

/* Bytes of a file, and where other files of the model lie; null: nowhere. */
struct source {
    const void *bytes;
    size_t length;
    const char *name, *folder;
};

static struct network *import_onnx(const struct source *source, struct load_options options, struct arena *arena,
                                   struct diagnostics *diagnostics)
{
    const struct graph *graph = graph_read_beside(source->bytes, source->length, source->folder, arena, diagnostics);
    const char *name = source->name;
    if (!graph)
        return NULL;
    if (options.front_end == FRONT_END_DETECT)
        options.front_end = qdq_detect(graph) || qdq_detect_integers(graph) ? FRONT_END_QDQ : import_detect(graph);
    if (options.front_end == FRONT_END_NEMO && qdq_refuse_float(graph, diagnostics))
        return NULL;
    if (options.front_end == FRONT_END_QDQ)
        return import_qdq(graph, name, &options, arena, diagnostics);
    return import_graph(graph, name, &options, arena, diagnostics);
}

static struct network *import_tflite(const struct source *source, const struct load_options *options, struct arena *arena,
                                     struct diagnostics *diagnostics)
{
    const struct tflite_model *model = tflite_read_memory(source->bytes, source->length, arena, diagnostics);
    return model ? tflite_import(model, source->name, options, arena, diagnostics) : NULL;
}

/* Files that people take for models, by what they begin with. */
static const struct {
    size_t at;
    const char *bytes, *text;
} others[] = {
    {0, "PK\003\004",
     "a ZIP archive, as MediaPipe's .task, Keras' .keras and PyTorch's .pt are: unpack it and give the .tflite or .onnx in "
     "it, "
     "or export one: docs/from-tensorflow.md, docs/from-pytorch.md"},
    {0, "\211HDF", "an HDF5 file, as Keras writes them: convert it to TFLite: docs/from-tensorflow.md"},
    {0, "version https://git-lfs", "a pointer of Git LFS, not the file itself: fetch that with git lfs pull"},
    {4, "ORTM", "a model in onnxruntime's own format: give the .onnx that it was made of"},
};

static bool is_other(const struct source *source, struct diagnostics *diagnostics)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        size_t length = strlen(others[i].bytes);
        if (source->length < others[i].at + length ||
            memcmp((const char *)source->bytes + others[i].at, others[i].bytes, length) != 0)
            continue;
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "neither ONNX nor TFLite, but %s", others[i].text);
        return true;
    }
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), of_end = strlen(end);
    return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

static struct network *import(const struct source *source, const struct load_options *options, struct arena *arena,
                              struct diagnostics *diagnostics)
{
    struct load_options chosen = options ? *options : (struct load_options){0};
    bool looks_like_tflite = tflite_is_model(source->bytes, source->length) || ends_with(source->name, ".tflite");
    if (!diagnostics->file)
        diagnostics->file = arena_format(arena, "%s", source->name);
    if (is_other(source, diagnostics))
        return NULL;
    if (chosen.front_end == FRONT_END_TFLITE || (chosen.front_end == FRONT_END_DETECT && looks_like_tflite))
        return import_tflite(source, &chosen, arena, diagnostics);
    return import_onnx(source, chosen, arena, diagnostics);
}

static struct network *load(const struct source *source, const struct load_options *options, struct arena *arena,
                            struct diagnostics *diagnostics)
{
    struct network *network = import(source, options, arena, diagnostics);
    if (!network)
        return NULL;
    network = network_take_early(network, options && options->computes_unread, arena);
    network_order(network, arena);
    return network;
}

struct network *network_load_memory(const void *bytes, size_t length, const char *name, const struct load_options *options,
                                    struct arena *arena, struct diagnostics *diagnostics)
{
    return load(&(struct source){bytes, length, name, NULL}, options, arena, diagnostics);
}

static const char *folder_of(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_format(arena, "%.*s", (int)(slash - path), path) : ".";
}

struct network *network_load(const char *path, const struct load_options *options, struct arena *arena,
                             struct diagnostics *diagnostics)
{
    size_t length;
    if (!diagnostics->file)
        diagnostics->file = arena_format(arena, "%s", path);
    void *bytes = model_file_read(path, &length, diagnostics);
    struct network *network = NULL;
    if (bytes)
        network = load(&(struct source){bytes, length, path, folder_of(path, arena)}, options, arena, diagnostics);
    free(bytes);
    return network;
}
