#include "load.h"

#include <string.h>

#include "graph.h"
#include "import.h"

static const struct {
    const char *name;
    enum front_end front_end;
} front_ends[] = {{"detect", FRONT_END_DETECT}, {"nemo", FRONT_END_NEMO}, {"quantlab", FRONT_END_QUANTLAB}};

bool front_end_parse(const char *text, enum front_end *front_end)
{
    for (size_t i = 0; i < sizeof front_ends / sizeof *front_ends; i++) {
        if (strcmp(text, front_ends[i].name) != 0)
            continue;
        *front_end = front_ends[i].front_end;
        return true;
    }
    return false;
}

static struct network *import(const struct graph *graph, const char *name, const struct load_options *options, struct arena *arena,
                              struct diagnostics *diagnostics)
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
