#include "values/dump_match.h"

#include <string.h>

struct matching {
    const struct network *network;
    bool *is_taken; /* layers */
    int shift;      /* from a file's number to its layer */
};

static bool has_count(const struct network *network, int layer, const struct text_tensor *file)
{
    size_t count = tensor_elements(&network->tensors[network->layers[layer].output]);
    return file->count == count || file->count == 4 * count; /* see text_comparison.joined_bytes */
}

/* Is the module's name, "block.conv1", or its end, one of the parts of a node's or tensor's, "/block.conv1/Conv"? Names
 * without a slash are no path. */
static bool names_module(const char *path, const char *module)
{
    size_t length = strlen(module);
    if (*path != '/')
        return false;
    while (*path) {
        path += strspn(path, "/");
        size_t part = strcspn(path, "/");
        bool is_whole = part == length || (part < length && module[length - part - 1] == '.');
        if (part && is_whole && path[part] == '/' && !strncmp(module + length - part, path, part))
            return true;
        path += part;
    }
    return false;
}

static bool may_be(const struct matching *m, int layer, const struct dump *dump)
{
    return layer >= 0 && layer < m->network->layer_count && !m->is_taken[layer] && has_count(m->network, layer, &dump->file);
}

/* The only layer of that name; NO_LAYER where there is none, or several. */
static int find_by_name(const struct matching *m, const struct dump *dump)
{
    int found = NO_LAYER, count = 0;
    for (int i = 0; i < m->network->layer_count && dump->file.name; i++) {
        const struct layer *layer = &m->network->layers[i];
        bool is_named = names_module(layer->name, dump->file.name) ||
                        names_module(m->network->tensors[layer->output].name, dump->file.name);
        if (!is_named || !may_be(m, i, dump))
            continue;
        found = i;
        count++;
    }
    return count == 1 ? found : NO_LAYER;
}

static int find_by_shape(const struct matching *m, const struct dump *dump)
{
    for (int i = dump->number + m->shift < 0 ? 0 : dump->number + m->shift; i < m->network->layer_count; i++)
        if (may_be(m, i, dump))
            return i;
    return NO_LAYER;
}

void dump_match(const struct network *network, struct dump *dumps, int count, struct arena *arena)
{
    struct matching m = {network, arena_array(arena, bool, (size_t)network->layer_count), 0};
    for (int i = 0; i < count; i++) {
        struct dump *dump = &dumps[i];
        int layer = find_by_name(&m, dump);
        if (layer == NO_LAYER)
            layer = find_by_shape(&m, dump);
        if (layer != NO_LAYER)
            m.shift = layer - dump->number;
        else if (dump->number < network->layer_count && !m.is_taken[dump->number])
            layer = dump->number;
        if (layer != NO_LAYER)
            m.is_taken[layer] = true;
        dump->layer = layer;
    }
}
