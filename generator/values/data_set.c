#include "values/data_set.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "values/tensor_file.h"
#include "values/text_tensor.h"

/* ---- images ---- */

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* All but hidden files. */
static size_t list_files(DIR *folder, const char *path, const char **files, struct arena *arena)
{
    size_t count = 0;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        if (files)
            files[count] = arena_format(arena, "%s/%s", path, entry->d_name);
        count++;
    }
    return count;
}

static bool open_folder(struct data_set *set, struct arena *arena, struct diagnostics *diagnostics)
{
    DIR *folder = opendir(set->path);
    if (!folder) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot open %s: %s", set->path, strerror(errno));
        return false;
    }
    set->count = list_files(folder, set->path, NULL, arena);
    set->files = arena_array(arena, const char *, set->count + 1);
    rewinddir(folder);
    size_t again = list_files(folder, set->path, set->files, arena);
    set->count = again < set->count ? again : set->count;
    closedir(folder);
    qsort(set->files, set->count, sizeof *set->files, by_name);
    if (set->count == 0)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s: no files in this folder", set->path);
    return set->count > 0;
}

static bool open_array(struct data_set *set, struct arena *arena, struct diagnostics *diagnostics)
{
    const struct tensor *input = &set->network->tensors[set->network->inputs[0]];
    size_t elements = tensor_file_numbers(input);
    if (!array_file_read_npy(set->path, &set->array, arena, diagnostics))
        return false;
    set->count = set->array.rank ? (size_t)set->array.dimensions[0] : 0;
    if (set->count > 0 && set->array.count == set->count * elements)
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
             input->look_up
                 ? "%s holds %zu numbers in %zu images; an image for '%s' are rows of %d x %d x %d, of %zu indices"
                 : "%s holds %zu numbers in %zu images; an image for '%s' has %d x %d x %d = %zu",
             set->path, set->array.count, set->count, input->name, input->height, input->width, input->channels, elements);
    return false;
}

int64_t *data_set_image(const struct data_set *set, size_t index, struct arena *arena, struct diagnostics *diagnostics)
{
    int input = set->network->inputs[0];
    if (set->files)
        return tensor_file_read(set->files[index], set->network, input, arena, diagnostics);
    const struct array_part image = {&set->array, index * tensor_file_numbers(&set->network->tensors[input]), set->path};
    return tensor_from_array(&image, set->network, input, arena, diagnostics);
}

/* ---- labels ---- */

static bool read_labels(const char *path, struct text_tensor *labels, struct arena *arena, struct diagnostics *diagnostics)
{
    struct array_file array;
    if (!path_ends_in(path, ".npy"))
        return text_tensor_read(path, labels, arena, diagnostics);
    if (!array_file_read_npy(path, &array, arena, diagnostics))
        return false;
    if (array.type == ARRAY_FLOAT) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s holds real numbers; labels are integers", path);
        return false;
    }
    labels->count = array.count;
    labels->values = arena_array(arena, int64_t, array.count);
    for (size_t i = 0; i < array.count; i++)
        labels->values[i] = array_integer(&array, i);
    return true;
}

static bool check_labels(const struct data_set *set, const char *path, const struct text_tensor *labels,
                         struct diagnostics *diagnostics)
{
    int64_t classes = (int64_t)tensor_elements(&set->network->tensors[set->network->outputs[0]]);
    if (labels->count != set->count) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s holds %zu labels; %s has %zu images", path, labels->count,
                 set->path, set->count);
        return false;
    }
    for (size_t i = 0; i < labels->count; i++)
        if (labels->values[i] < 0 || labels->values[i] >= classes) {
            diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                     "%s: label %zu is %" PRId64 "; the network has the classes 0 to %" PRId64, path, i, labels->values[i],
                     classes - 1);
            return false;
        }
    return true;
}

bool data_set_open(struct data_set *set, const char *images, const char *labels, const struct network *network,
                   struct arena *arena, struct diagnostics *diagnostics)
{
    struct stat status;
    struct text_tensor numbers = {0};
    *set = (struct data_set){.path = images, .network = network};
    if (network->input_count != 1) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "the network has %d inputs; a data set has one image a label",
                 network->input_count);
        return false;
    }
    bool is_folder = stat(images, &status) == 0 && S_ISDIR(status.st_mode);
    if (!(is_folder ? open_folder(set, arena, diagnostics) : open_array(set, arena, diagnostics)) ||
        !read_labels(labels, &numbers, arena, diagnostics) || !check_labels(set, labels, &numbers, diagnostics))
        return false;
    set->labels = numbers.values;
    return true;
}
