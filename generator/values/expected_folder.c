#include "values/expected_folder.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "base/text.h"

static size_t stem_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? (size_t)(dot - name) : strlen(name);
}

static bool is_of_a_check(const char *name)
{
    const char *ending = name + stem_length(name);
    bool holds_values = !strcmp(ending, ".txt") || !strcmp(ending, ".bin") || !strcmp(ending, ".npy");
    return holds_values && (!strncmp(name, "input", 5) || !strncmp(name, "out_", 4) || !strncmp(name, "output_", 7));
}

/* Names by which tools write the input of a network; where there are several, one of them is read. */
static bool is_input(const char *name, size_t length)
{
    static const char *const names[] = {"input", "inputs", "input_quantizer"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (length == strlen(names[i]) && !strncmp(name, names[i], length))
            return true;
    return false;
}

/* In any format. With samples or --input, "input" is another file. */
static bool was_read(const struct expected_options *options, const struct expected *expected, const char *name)
{
    size_t length = stem_length(name);
    bool has_inputs = expected->sample_count > 1 || options->input;
    for (int i = 0; i < expected->file_count; i++) {
        const char *read = text_file_name(expected->files[i]);
        has_inputs = has_inputs || is_input(read, stem_length(read));
        if (stem_length(read) == length && !strncmp(read, name, length))
            return true;
    }
    return has_inputs && is_input(name, length);
}

/* How many, and the first by its name. */
static int find_unread(const struct expected_options *options, const struct expected *expected, const char **first,
                       struct arena *arena)
{
    int count = 0;
    DIR *folder = opendir(options->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (is_of_a_check(entry->d_name) && !was_read(options, expected, entry->d_name)) {
            if (!*first || strcmp(entry->d_name, *first) < 0)
                *first = arena_format(arena, "%s", entry->d_name);
            count++;
        }
    if (folder)
        closedir(folder);
    return count;
}

bool expected_folder_is_there(const char *path, struct diagnostics *diagnostics)
{
    DIR *folder = path ? opendir(path) : NULL;
    if (folder)
        closedir(folder);
    else if (path)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "check: %s: %s", path,
                 errno == ENOTDIR  ? "is no folder"
                 : errno == ENOENT ? "does not exist"
                                   : strerror(errno));
    return folder || !path;
}

bool expected_folder_was_read(const struct network *network, const struct expected_options *options,
                              const struct expected *expected, struct arena *arena, struct diagnostics *diagnostics)
{
    const char *first = NULL;
    if (!options->folder)
        return true;
    if (expected->file_count == 0) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "check: %s holds no input.txt and no out_layer<n>.txt; 'golden' compares with dory's golden model",
                 options->folder);
        return false;
    }
    /* n_inputs may choose the first of many */
    int count = options->sample_count ? 0 : find_unread(options, expected, &first, arena);
    if (count)
        diagnose(
            diagnostics, SEVERITY_WARNING, NULL, NULL,
            "check: %s: %d files have names like a check's and are not read, the first is %s; there are layers 0 to %d, "
            "and the names are input.txt and out_layer<n>.txt, or of many inputs input_<i>.txt and out_<i>_layer<n>.txt",
            options->folder, count, first, network->layer_count - 1);
    return true;
}
