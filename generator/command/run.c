/* dory run: the golden model on the command line. */
#include "command/commands.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/terminal.h"
#include "command/load_model.h"
#include "network/interpret.h"
#include "network/text_tensor.h"

/* The values of an input file, checked against its tensor. */
static const int64_t *read_input(const char *path, const struct tensor *tensor, struct arena *arena,
                                 struct diagnostics *diagnostics)
{
    struct text_tensor text;
    if (!text_tensor_read(path, &text, arena, diagnostics))
        return NULL;
    if (text.count != tensor_elements(tensor)) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s has %zu values; input '%s' has %d x %d x %d = %zu elements",
                 path, text.count, tensor->name, tensor->height, tensor->width, tensor->channels, tensor_elements(tensor));
        return NULL;
    }
    for (size_t i = 0; i < text.count; i++)
        if (text.values[i] < tensor->minimum || text.values[i] > tensor->maximum) {
            diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s: value %zu is %lld; input '%s' can be %lld to %lld", path,
                     i, (long long)text.values[i], tensor->name, (long long)tensor->minimum, (long long)tensor->maximum);
            return NULL;
        }
    return text.values;
}

static int64_t **execute(const struct network *network, const struct options *options, struct arena *arena,
                         struct diagnostics *diagnostics)
{
    if (options->inputs.count != network->input_count) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "the network has %d inputs, the command line %d",
                 network->input_count, options->inputs.count);
        return NULL;
    }
    const int64_t **inputs = arena_array(arena, const int64_t *, (size_t)network->input_count);
    for (int i = 0; i < network->input_count; i++)
        if (!(inputs[i] = read_input(options->inputs.items[i], &network->tensors[network->inputs[i]], arena, diagnostics)))
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

static void print_outputs(const struct network *network, int64_t **tensors)
{
    for (int i = 0; i < network->output_count; i++) {
        const struct tensor *tensor = &network->tensors[network->outputs[i]];
        printf("%s:", tensor->name);
        for (size_t k = 0; k < tensor_elements(tensor); k++)
            printf(" %lld", (long long)tensors[network->outputs[i]][k]);
        putchar('\n');
    }
}

static bool run(const struct options *options, struct arena *arena, struct diagnostics *diagnostics)
{
    struct network *network = model_load(options, arena, diagnostics);
    int64_t **tensors = network ? execute(network, options, arena, diagnostics) : NULL;
    if (!tensors)
        return false;
    if (options->folder)
        return write_layers(network, tensors, options->folder, arena, diagnostics);
    print_outputs(network, tensors);
    return true;
}

enum exit_status command_run(struct invocation *invocation)
{
    if (invocation->options.inputs.count == 0) {
        fputs("dory run: error: no --input\n", stderr);
        return EXIT_USAGE;
    }
    return run(&invocation->options, &invocation->arena, &invocation->diagnostics) ? EXIT_DONE : EXIT_FAULT;
}
