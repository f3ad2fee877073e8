#include "export/sources.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_file.h"
#include "export/source_text.h"

/* All sources that there are to choose from. */
struct tree {
    const char *share;
    struct source *sources;
    int count;
    bool *is_needed;
    struct arena *arena;
};

/* ---- which there are ---- */

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && !strcmp(path + length - tail, ending);
}

static void add_path(struct tree *tree, const char *path)
{
    if (!ends_in(path, ".c") && !ends_in(path, ".h"))
        return;
    arena_grow(tree->arena, tree->sources, tree->count);
    tree->sources[tree->count++] = (struct source){.path = path};
}

/* Folders have no dot in their names, files have one. */
static void add_folder(struct tree *tree, const char *folder)
{
    DIR *entries = opendir(arena_format(tree->arena, "%s/%s", tree->share, folder));
    for (const struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
        const char *path = arena_format(tree->arena, "%s/%s", folder, entry->d_name);
        if (strchr(entry->d_name, '.'))
            add_path(tree, path);
        else
            add_folder(tree, path);
    }
    if (entries)
        closedir(entries);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const struct source *)a)->path, ((const struct source *)b)->path);
}

static bool read_tree(struct tree *tree, struct diagnostics *diagnostics)
{
    static const char *const folders[] = {"kernels", "hal/include", "hal/common", "hal/alone"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        add_folder(tree, folders[i]);
    if (tree->count > 0) /* folders list their files in any order */
        qsort(tree->sources, (size_t)tree->count, sizeof *tree->sources, compare_paths);
    for (int i = 0; i < tree->count; i++) {
        size_t bytes;
        const char *path = arena_format(tree->arena, "%s/%s", tree->share, tree->sources[i].path);
        const unsigned char *text = file_read(path, &bytes, tree->arena, diagnostics);
        if (!text)
            return false;
        tree->sources[i].text = arena_format(tree->arena, "%.*s", (int)bytes, (const char *)text);
        source_read(&tree->sources[i], tree->arena);
    }
    tree->is_needed = arena_array(tree->arena, bool, (size_t)tree->count);
    return true;
}

/* ---- which are needed ---- */

static int find_path(const struct tree *tree, const char *path)
{
    for (int i = 0; i < tree->count; i++)
        if (!strcmp(tree->sources[i].path, path))
            return i;
    return -1;
}

/* Beside the file, or in a folder of headers, as the compiler finds it. -1: another target's, which is not compiled. */
static int find_include(const struct tree *tree, const struct source *source, const char *include)
{
    static const char *const folders[] = {"kernels/include",   "hal/include",   "hal/common",     "kernels/run",
                                          "kernels/reference", "kernels/quads", "kernels/armv7em"};
    const char *slash = strrchr(source->path, '/');
    int found =
        slash ? find_path(tree, arena_format(tree->arena, "%.*s/%s", (int)(slash - source->path), source->path, include))
              : -1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && found < 0; i++)
        found = find_path(tree, arena_format(tree->arena, "%s/%s", folders[i], include));
    return found;
}

static int find_definition(const struct tree *tree, const char *name)
{
    for (int i = 0; i < tree->count; i++)
        for (int n = 0; n < tree->sources[i].defines.count; n++)
            if (!strcmp(tree->sources[i].defines.list[n], name))
                return i;
    return -1; /* a type, a member, a function of a header */
}

static void need_all_of(struct tree *tree, const struct source *source);

static void need(struct tree *tree, int index)
{
    if (index < 0 || tree->is_needed[index])
        return;
    tree->is_needed[index] = true;
    need_all_of(tree, &tree->sources[index]);
}

static void need_all_of(struct tree *tree, const struct source *source)
{
    for (int i = 0; i < source->includes.count; i++)
        need(tree, find_include(tree, source, source->includes.list[i]));
    for (int i = 0; i < source->uses.count; i++)
        need(tree, find_definition(tree, source->uses.list[i]));
}

/* ---- as they are written ---- */

/* All in one folder: kernels/run/driver.c is run_driver.c, and kernels/include/dory/layer.h is layer.h. */
static const char *flat_name(const char *path, struct arena *arena)
{
    char *name = arena_format(arena, "%s", strchr(path, '/') + 1);
    if (!strncmp(name, "include/dory/", 13))
        name += 13;
    for (char *letter = name; *letter; letter++)
        *letter = *letter == '/' ? '_' : *letter;
    return name;
}

static const char *place_include(const void *context, const struct source *source, const char *include)
{
    const struct tree *tree = context;
    int index = find_include(tree, source, include);
    bool is_own = !strchr(source->path, '/');
    if (index < 0)
        return include;
    return arena_format(tree->arena, "%s%s", is_own ? "dory/" : "", flat_name(tree->sources[index].path, tree->arena));
}

static void add_renamed(const struct tree *tree, const struct source *source, const char *name, const char *file,
                        struct outputs *outputs)
{
    struct text text = {.arena = tree->arena};
    source_rename(&text, source, name, place_include, tree);
    outputs_add(outputs, arena_format(tree->arena, "src/%s", file), text.bytes, text.length);
}

bool export_sources(const char *share, const char *name, const struct outputs *own, struct outputs *outputs,
                    struct arena *arena, struct diagnostics *diagnostics)
{
    struct tree tree = {.share = share, .arena = arena};
    if (!read_tree(&tree, diagnostics))
        return false;
    for (int i = 0; i < own->count; i++) {
        struct source source = {.path = own->list[i].name, .text = own->list[i].bytes};
        source_read(&source, arena);
        need_all_of(&tree, &source);
        add_renamed(&tree, &source, name, source.path, outputs);
    }
    for (int i = 0; i < tree.count; i++)
        if (tree.is_needed[i])
            add_renamed(&tree, &tree.sources[i], name,
                        arena_format(arena, "dory/%s", flat_name(tree.sources[i].path, arena)), outputs);
    return true;
}
