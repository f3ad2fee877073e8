#include "import/load.h"

#include <string.h>

#include "import/import.h"
#include "model/graph.h"

static const struct {
    const char *name;
    enum front_end front_end;
} front_ends[] = {{"detect", FRONT_END_DETECT}, {"nemo", FRONT_END_NEMO}, {"quantlab", FRONT_END_QUANTLAB}};

static const char *parse_front_end(struct load_options *options, const char *text)
{
    for (size_t i = 0; i < sizeof front_ends / sizeof *front_ends; i++) {
        if (strcmp(text, front_ends[i].name) != 0)
            continue;
        options->front_end = front_ends[i].front_end;
        return NULL;
    }
    return "--frontend is nemo, quantlab or detect";
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

static struct network *import(const struct graph *graph, const char *name, const struct load_options *options,
                              struct arena *arena, struct diagnostics *diagnostics)
{
    struct load_options chosen = options ? *options : (struct load_options){0};
    if (!graph)
        return NULL;
    if (chosen.front_end == FRONT_END_DETECT)
        chosen.front_end = import_detect(graph);
    return import_graph(graph, name, &chosen, arena, diagnostics);
}

struct network *network_load(const char *path, const struct load_options *options, struct arena *arena,
                             struct diagnostics *diagnostics)
{
    if (!diagnostics->file)
        diagnostics->file = arena_format(arena, "%s", path);
    return import(graph_read_file(path, arena, diagnostics), path, options, arena, diagnostics);
}

struct network *network_load_memory(const void *bytes, size_t length, const char *name, const struct load_options *options,
                                    struct arena *arena, struct diagnostics *diagnostics)
{
    if (!diagnostics->file)
        diagnostics->file = arena_format(arena, "%s", name);
    return import(graph_read_memory(bytes, length, arena, diagnostics), name, options, arena, diagnostics);
}
