/* golden_model FOLDER [--signed-2-bit]: runs the interpreter on the model and input.txt of the folder and compares every
 * out_layerN.txt; or each input_I.txt with out_I_layerN.txt. Additions are exact, as the files have them. Exit status 77,
 * skipped, where the folder is not there. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "import/load.h"
#include "network/interpret.h"
#include "network/range.h"
#include "plan/plan.h"
#include "values/text_tensor.h"

#define EXIT_SKIPPED 77

static const char *find_model(const char *folder, struct arena *arena)
{
    DIR *directory = opendir(folder);
    const char *path = NULL;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        const char *ending = strrchr(entry->d_name, '.');
        if (ending && !strcmp(ending, ".onnx"))
            path = arena_format(arena, "%s/%s", folder, entry->d_name);
    }
    if (directory)
        closedir(directory);
    return path;
}

/* Prints a line; true if all values are equal. */
static bool compare_layer(const struct network *network, int layer, const int64_t *actual, const char *prefix,
                          struct arena *arena, struct diagnostics *diagnostics)
{
    const struct tensor *shape = &network->tensors[network->layers[layer].output];
    struct text_tensor expected;
    if (!text_tensor_read(arena_format(arena, "%slayer%d.txt", prefix, layer), &expected, arena, diagnostics))
        return false;
    struct text_comparison result = text_tensor_compare(&expected, shape, actual);
    if (!result.same_count)
        printf("layer %d: the file has %zu values, the layer %zu\n", layer, expected.count, tensor_elements(shape));
    else if (result.different)
        printf("layer %d: %zu of %zu differ, first at row %d, column %d, channel %d: expected %lld, got %lld\n", layer,
               result.different, result.compared, result.row, result.column, result.channel, (long long)result.expected,
               (long long)result.actual);
    else
        printf("layer %d: %zu values equal%s\n", layer, result.compared,
               result.channels_first ? " (file in CHW order)" : "");
    return result.same_count && !result.different;
}

/* No value is outside what the range pass proved. */
static bool check_range(const struct tensor *shape, int layer, const int64_t *values)
{
    for (size_t i = 0; i < tensor_elements(shape); i++)
        if (values[i] < shape->minimum || values[i] > shape->maximum) {
            printf("layer %d: %lld is outside the proven range\n", layer, (long long)values[i]);
            return false;
        }
    return true;
}

static bool check_input(const struct network *network, const char *input_path, const char *prefix, struct arena *arena,
                        struct diagnostics *diagnostics)
{
    struct text_tensor input;
    if (!text_tensor_read(input_path, &input, arena, diagnostics) ||
        input.count != tensor_elements(&network->tensors[network->inputs[0]]))
        return false;
    int64_t **tensors = interpret_network(network, (const int64_t *const[]){input.values}, arena, diagnostics);
    bool all_equal = tensors != NULL;
    for (int i = 0; tensors && i < network->layer_count; i++) {
        const int64_t *values = tensors[network->layers[i].output];
        all_equal &= compare_layer(network, i, values, prefix, arena, diagnostics);
        all_equal &= check_range(&network->tensors[network->layers[i].output], i, values);
    }
    return all_equal;
}

static bool exists(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file)
        fclose(file);
    return file != NULL;
}

static bool check(const char *model, const char *folder, const struct load_options *load, struct arena *arena,
                  struct diagnostics *diagnostics)
{
    const struct range_options range = {.exact_add = true};
    struct network *network = network_load(model, load, arena, diagnostics);
    if (!network || !range_prove(network, &range, arena, diagnostics))
        return false;
    int input = 0;
    bool all_equal = true;
    for (;; input++) {
        const char *path = arena_format(arena, "%s/input_%d.txt", folder, input);
        if (!exists(path))
            break;
        printf("%s\n", path);
        all_equal &= check_input(network, path, arena_format(arena, "%s/out_%d_", folder, input), arena, diagnostics);
    }
    if (input > 0)
        return all_equal;
    return check_input(network, arena_format(arena, "%s/input.txt", folder), arena_format(arena, "%s/out_", folder), arena,
                       diagnostics);
}

int main(int argc, char **argv)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct load_options load = {0};
    if (argc == 3 && !strcmp(argv[2], "--signed-2-bit"))
        load = (struct load_options){.input_bits = 2, .input_is_signed = true};
    const char *model = argc >= 2 ? find_model(argv[1], &arena) : NULL;
    if (!model) {
        printf("skipped: no model in %s\n", argc >= 2 ? argv[1] : "(no folder given)");
        return argc >= 2 ? EXIT_SKIPPED : 2;
    }
    bool is_equal = check(model, argv[1], &load, &arena, &diagnostics);
    diagnostics_print(&diagnostics, stdout);
    arena_free(&arena);
    return is_equal ? 0 : 1;
}
