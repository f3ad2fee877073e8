/* dory run: the golden model on the command line. */
#include "command/commands.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>

#include "base/terminal.h"
#include "command/model_options.h"
#include "network/interpret.h"
#include "network/text_tensor.h"

#define MAXIMUM_INPUTS 16

struct run_options {
    struct model_options model;
    const char *output_directory;
    const char *inputs[MAXIMUM_INPUTS];
    int input_count;
};

static void print_help(FILE *stream)
{
    fputs("Usage: dory run MODEL --input FILE [--output-dir DIR] [OPTION]...\n"
          "Executes a network in exact integers, layer by layer: the results that generated code must have.\n\n"
          "  --input FILE         text file of values in HWC order; once for each input of the network\n"
          "  --output-dir DIR     write DIR/out_layerN.txt for every layer; DIR is made if need be\n" MODEL_OPTIONS_HELP
          "Without --output-dir the outputs of the network are printed.\n",
          stream);
}

/* -1: go on; else the exit status. */
static int parse_option(struct run_options *options, int option)
{
    switch (option) {
    case 'i':
        if (options->input_count == MAXIMUM_INPUTS)
            return EXIT_USAGE;
        options->inputs[options->input_count++] = optarg;
        return -1;
    case 'o': options->output_directory = optarg; return -1;
    case 'h': print_help(stdout); return EXIT_DONE;
    default: return model_option_parse(&options->model, "run", option) ? -1 : EXIT_USAGE;
    }
}

static int parse_arguments(struct run_options *options, int argc, char **argv)
{
    static const struct option names[] = {
        {"input", required_argument, NULL, 'i'},
        {"output-dir", required_argument, NULL, 'o'},
        MODEL_OPTIONS,
    };
    int option;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        int status = parse_option(options, option);
        if (status >= 0)
            return status;
    }
    if (optind != argc - 1 || options->input_count == 0) {
        fputs(options->input_count == 0 && optind == argc - 1 ? "dory run: error: no --input\n"
                                                              : "dory run: error: expected one MODEL\n",
              stderr);
        print_help(stderr);
        return EXIT_USAGE;
    }
    options->model.model = argv[optind];
    return -1;
}

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

static int64_t **execute(const struct network *network, const struct run_options *options, struct arena *arena,
                         struct diagnostics *diagnostics)
{
    const int64_t *inputs[MAXIMUM_INPUTS];
    if (options->input_count != network->input_count) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "the network has %d inputs, the command line %d",
                 network->input_count, options->input_count);
        return NULL;
    }
    for (int i = 0; i < network->input_count; i++)
        if (!(inputs[i] = read_input(options->inputs[i], &network->tensors[network->inputs[i]], arena, diagnostics)))
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

static bool run(const struct run_options *options, struct arena *arena, struct diagnostics *diagnostics)
{
    struct network *network = model_options_load(&options->model, arena, diagnostics);
    int64_t **tensors = network ? execute(network, options, arena, diagnostics) : NULL;
    if (!tensors)
        return false;
    if (options->output_directory)
        return write_layers(network, tensors, options->output_directory, arena, diagnostics);
    print_outputs(network, tensors);
    return true;
}

int command_run(int argc, char **argv)
{
    struct run_options options = {0};
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    int status = parse_arguments(&options, argc, argv);
    if (status >= 0)
        return status;
    bool is_done = run(&options, &arena, &diagnostics);
    diagnostics_print(&diagnostics, stderr);
    arena_free(&arena);
    return is_done ? EXIT_DONE : EXIT_FAULT;
}
