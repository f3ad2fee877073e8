/* tflite_golden FOLDER: runs the golden model on model.tflite and every input_K.bin of the folder (input_K_I.bin of several
 * inputs) and compares the outputs with output_K.bin, every element. Exit status 77, skipped, where the folder is not
 * there. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "import/load.h"
#include "network/interpret.h"
#include "network/range.h"
#include "values/tensor_file.h"

#define EXIT_SKIPPED 77

struct golden {
    const char *folder;
    const struct network *network;
    struct arena *arena;
    struct diagnostics *diagnostics;
};

static const char *file_of(const struct golden *golden, const char *what, int run, int index, int count)
{
    if (count == 1)
        return arena_format(golden->arena, "%s/%s_%d.bin", golden->folder, what, run);
    return arena_format(golden->arena, "%s/%s_%d_%d.bin", golden->folder, what, run, index);
}

/* No value is outside what the range pass proved. */
static bool check_range(const struct tensor *tensor, const int64_t *values)
{
    for (size_t i = 0; i < tensor_elements(tensor); i++)
        if (values[i] < tensor->minimum || values[i] > tensor->maximum) {
            printf("%s: %lld is outside the proven range\n", tensor->name, (long long)values[i]);
            return false;
        }
    return true;
}

static bool compare(const struct golden *golden, int run, int output, const int64_t *actual)
{
    const struct network *network = golden->network;
    int tensor = network->outputs[output];
    size_t different = 0, count = tensor_elements(&network->tensors[tensor]);
    const int64_t *expected = tensor_file_read(file_of(golden, "output", run, output, network->output_count), network,
                                               tensor, golden->arena, golden->diagnostics);
    for (size_t i = 0; expected && i < count; i++)
        different += expected[i] != actual[i];
    if (expected)
        printf("run %d, output %d: %zu of %zu elements differ\n", run, output, different, count);
    return expected && different == 0;
}

static bool run_one(const struct golden *golden, int run)
{
    const struct network *network = golden->network;
    const int64_t **inputs = arena_array(golden->arena, const int64_t *, (size_t)network->input_count);
    for (int i = 0; i < network->input_count; i++)
        if (!(inputs[i] = tensor_file_read(file_of(golden, "input", run, i, network->input_count), network,
                                           network->inputs[i], golden->arena, golden->diagnostics)))
            return false;
    int64_t **tensors = interpret_network(network, inputs, golden->arena, golden->diagnostics);
    bool is_equal = tensors != NULL;
    for (int i = 0; tensors && i < network->tensor_count; i++)
        is_equal &= check_range(&network->tensors[i], tensors[i]);
    for (int i = 0; tensors && i < network->output_count; i++)
        is_equal &= compare(golden, run, i, tensors[network->outputs[i]]);
    return is_equal;
}

static bool run_all(struct golden *golden)
{
    struct network *network = network_load(arena_format(golden->arena, "%s/model.tflite", golden->folder), NULL,
                                           golden->arena, golden->diagnostics);
    if (!network || !range_prove(network, NULL, golden->arena, golden->diagnostics))
        return false;
    golden->network = network;
    bool is_equal = true;
    int runs = 0;
    while (access(file_of(golden, "input", runs, 0, network->input_count), R_OK) == 0)
        is_equal &= run_one(golden, runs++);
    return is_equal && runs > 0;
}

int main(int argc, char **argv)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct golden golden = {.folder = argc == 2 ? argv[1] : ".", .arena = &arena, .diagnostics = &diagnostics};
    if (access(golden.folder, R_OK) != 0) {
        printf("skipped: no folder %s\n", golden.folder);
        return EXIT_SKIPPED;
    }
    bool is_equal = run_all(&golden);
    diagnostics_print(&diagnostics, stdout);
    arena_free(&arena);
    return is_equal ? 0 : 1;
}
