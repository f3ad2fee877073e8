/* dory run: the golden model on the command line. */
#include "command/commands.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/terminal.h"
#include "command/load_model.h"
#include "network/interpret.h"
#include "values/expected.h"
#include "values/tensor_file.h"
#include "values/text_tensor.h"

/* An archive may hold the arrays of all inputs: then it is named once. */
static bool is_archive_of_all(const struct option_list *files)
{
    return files->count == 1 && path_ends_in(files->items[0], ".npz");
}

static const int64_t **read_inputs(const struct network *network, const struct option_list *given, struct arena *arena,
                                   struct diagnostics *diagnostics)
{
    struct option_list all = *given;
    const struct option_list *files = &all;
    if (is_archive_of_all(given) && network->input_count > 1) {
        all.items = arena_array(arena, const char *, (size_t)network->input_count);
        for (all.count = 0; all.count < network->input_count; all.count++)
            all.items[all.count] = given->items[0];
    }
    if (files->count != network->input_count && files->count != network->input_count - network->state_count) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "the network has %d inputs, the command line %d%s",
                 network->input_count, files->count,
                 network->state_count
                     ? arena_format(arena, "; the last %d are a state and may be left out, together", network->state_count)
                     : "");
        return NULL;
    }
    const int64_t **inputs = arena_array(arena, const int64_t *, (size_t)network->input_count);
    for (int i = files->count; i < network->input_count; i++) /* states, which come last */
        inputs[i] = expected_first_state(network, i, arena);
    for (int i = 0; i < files->count; i++)
        if (!(inputs[i] = tensor_file_read(files->items[i], network, network->inputs[i], arena, diagnostics)))
            return NULL;
    return inputs;
}

static int64_t **execute(const struct network *network, const struct options *options, struct arena *arena,
                         struct diagnostics *diagnostics)
{
    const int64_t **inputs = read_inputs(network, &options->inputs, arena, diagnostics);
    if (!inputs)
        return NULL;
    progress_step("computing");
    int64_t **tensors = interpret_network(network, inputs, arena, diagnostics);
    progress_step(NULL);
    return tensors;
}

static bool write_layers(const struct network *network, int64_t **tensors, const char *directory, struct arena *arena,
                         struct diagnostics *diagnostics)
{
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot make directory %s: %s", directory, strerror(errno));
        return false;
    }
    for (int i = 0; i < network->layer_count; i++) {
        int output = network->layers[i].output;
        const char *path = arena_format(arena, "%s/out_layer%d.txt", directory, i);
        if (!text_tensor_write(path, network->layers[i].name, &network->tensors[output], tensors[output], diagnostics))
            return false;
    }
    return true;
}

static bool write_outputs(const struct network *network, int64_t **tensors, const struct option_list *outputs,
                          struct diagnostics *diagnostics)
{
    bool good = true;
    for (int i = 0; i < outputs->count && good; i++)
        good = tensor_file_write(outputs->items[i], network, network->outputs[i], tensors[network->outputs[i]], diagnostics);
    return good;
}

/* The model's own integers. */
static void print_outputs(const struct network *network, int64_t **tensors)
{
    for (int i = 0; i < network->output_count; i++) {
        const struct tensor *tensor = &network->tensors[network->outputs[i]];
        printf("%s:", tensor->name);
        for (size_t k = 0; k < tensor_elements(tensor); k++)
            printf(" %lld", (long long)tensors[network->outputs[i]][k] + tensor->model_offset);
        putchar('\n');
    }
}

static bool has_outputs(const struct network *network, const struct options *options, struct diagnostics *diagnostics)
{
    if (options->outputs.count <= network->output_count)
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "the network has %d outputs, the command line %d",
             network->output_count, options->outputs.count);
    return false;
}

static bool run(const struct options *options, struct arena *arena, struct diagnostics *diagnostics)
{
    struct network *network = model_load(options, arena, diagnostics);
    if (!network || !has_outputs(network, options, diagnostics))
        return false;
    int64_t **tensors = execute(network, options, arena, diagnostics);
    if (!tensors)
        return false;
    if (!options->folder && options->outputs.count == 0)
        print_outputs(network, tensors);
    return (!options->folder || write_layers(network, tensors, options->folder, arena, diagnostics)) &&
           write_outputs(network, tensors, &options->outputs, diagnostics);
}

enum exit_status command_run(struct invocation *invocation)
{
    if (invocation->options.inputs.count == 0) {
        fputs("dory run: error: no --input\n", stderr);
        return EXIT_USAGE;
    }
    return run(&invocation->options, &invocation->arena, &invocation->diagnostics) ? EXIT_DONE : EXIT_FAULT;
}
