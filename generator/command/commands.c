#include "command/commands.h"

#include <string.h>

#include "base/nearest.h"
#include "base/terminal.h"

static const struct command commands[] = {
    {"inspect", COMMAND_INSPECT, 0, "MODEL", "print the layers of a network, with proven ranges",
     "Prints the layers of a network: shapes, windows, MACs, normalisation, proven ranges.\n"
     "Normalisation: y = clip(floor((k * x + lambda) / D)); k and lambda from the least to the largest channel.\n",
     command_inspect},
    {"run", COMMAND_RUN, 0, "MODEL", "execute a network in exact integers and write every layer's output",
     "Executes a network in exact integers, layer by layer: the results that generated code must have. Without\n"
     "--output-dir the outputs of the network are printed.\n",
     command_run},
    {"evaluate", COMMAND_EVALUATE, 0, "MODEL", "measure the accuracy of a network on images with labels",
     "Runs the golden model on every image, on all cores of this PC, and prints how many it gets right: where the largest\n"
     "element of the first output is the label.\n",
     command_evaluate},
    {"generate", COMMAND_GENERATE, 0, "MODEL", "generate C sources and a weight image for a target",
     "Writes the C sources and weights of a network.\n", command_generate},
    {"plan", COMMAND_PLAN, COMMAND_GENERATE, "MODEL", "print tiles, memory and predicted cycles of every layer",
     "Plans a network and prints a table of its layers: shapes, kernels, tiles, bytes, predicted cycles. Nothing is\n"
     "written.\n",
     command_plan},
    {"report", COMMAND_REPORT, COMMAND_GENERATE, "MODEL",
     "show the plan of a network: memory over time, transfers, cycles per layer",
     "Writes report.html, report.json and report_trace.json of a network's plan; with --compare, comparison.html of two\n"
     "plans side by side, and prints the sums of both.\n",
     command_report},
    {"diff", COMMAND_DIFF, COMMAND_GENERATE, "RUN_LOG MODEL", "compare the log of a board with the golden model",
     "Compares the tensors that a firmware wrote to its log (dory_add_network(... DUMP all), or dory generate\n"
     "--dump-tensors all) with the golden model: layer, coordinate, expected, actual, how many differ. The golden model\n"
     "gets the input that the log has, or --input, which the log's is compared with then. Options that change what is\n"
     "computed must be the same as for the firmware.\n"
     "Exit status: 0 all that the firmware wrote is exact, 1 it is not, or the log has gaps, 2 usage.\n",
     command_diff},
    {"probe", COMMAND_PROBE, COMMAND_GENERATE, "MODEL",
     "write a program as large as the network's code, to be linked and measured",
     "Writes NAME_probe.c: linked with kernels and HAL it is as large as a firmware of the network without the\n"
     "network's data. dory generate --firmware measures it.\n",
     command_probe},
    {"cost", COMMAND_COST, 0, "", "print what layers cost, without a network around them",
     "Reads layers from standard input, one a line, and writes what each costs: cycles with its weights in L2, cycles and\n"
     "bytes of L3, bytes between L2 and L1, bytes of L1, and the tile. A table whose first line names its columns, of\n"
     "  name operation height width channels outputs kernel stride dilation padding groups\n"
     "  input_bits weight_bits output_bits input_signed output_signed normalisation input_layout\n"
     "  output_layout tile_table\n"
     "or JSON lines with these keys; the answer comes in the same form. A layer that cannot run has a reason in place of\n"
     "figures. docs/cost.md explains all fields.\n",
     command_cost},
    {"explore", COMMAND_EXPLORE, 0, "MODEL", "compare clocks and sizes of memories for a network: time, energy",
     "Plans a network for pairs of clocks and sizes of L1 and L2, on all cores of this PC, and prints milliseconds, "
     "estimated\n"
     "energy, the front of both, and the cheapest point that meets a deadline. With --output-dir it also writes\n"
     "explore.json, and explore.html with pictures.\n",
     command_explore},
    {"new", COMMAND_NEW, 0, "FOLDER MODEL", "write a firmware project around a model",
     "Writes CMakeLists.txt, main.c and CMakePresets.json, with the model, into a folder: a firmware that runs the network\n"
     "on this PC, on RISC-V under QEMU and on GAP8, and a test that compares every layer. Nothing is overwritten.\n",
     command_new},
    {"export", COMMAND_EXPORT, 0, "FOLDER MODEL", "write a network as C that builds anywhere",
     "Writes the C sources of a network and of all that it needs into a new folder, with descriptions for plain CMake, "
     "Zephyr,\n"
     "ESP-IDF, the Pico SDK, CMSIS-Toolbox, PlatformIO and Arduino. For one core: cortex-m4 and its like, and any other.\n",
     command_export},
    {"ops", COMMAND_OPS, 0, "", "print the operators that a model may have",
     "Prints the operators that a model may have, and what to do about some that it may not.\n", command_ops},
};

#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(name, commands[i].name))
            return &commands[i];
    return NULL;
}

const struct command *command_of_bit(enum command_bit bit)
{
    size_t i = 0;
    while (commands[i].bit != bit)
        i++;
    return &commands[i];
}

/* ---- help ---- */

void command_print_usage(const struct command *command, FILE *stream)
{
    fprintf(stream, "dory %s%s%s [OPTION]...", command->name, *command->operands ? " " : "", command->operands);
}

static void command_help(const struct command *command, FILE *stream)
{
    fputs("Usage: ", stream);
    command_print_usage(command, stream);
    fprintf(stream, "\n%s\n", command->explanation);
    options_help(command, stream);
}

static void commands_help(FILE *stream)
{
    fputs("Usage: dory COMMAND MODEL [OPTION]...\n"
          "Compiles quantised neural networks (TFLite, ONNX) to C for microcontrollers.\n\nCommands:\n",
          stream);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].purpose);
    fputs("\nEvery command knows --quiet (errors and warnings only) and --verbose (each step with its time). Progress and\n"
          "colours are for terminals only; NO_COLOR in the environment turns colours off.\n"
          "'dory COMMAND --help' explains a command; 'dory --version' prints the version.\n"
          "Exit status: 0 done, 1 a fault was reported, 2 the command line is wrong.\n",
          stream);
}

/* ---- the program ---- */

static int without_command(const char *argument)
{
    if (!strcmp(argument, "--help") || !strcmp(argument, "-h")) {
        commands_help(stdout);
        return EXIT_DONE;
    }
    if (!strcmp(argument, "--version")) {
        puts("dory " DORY_VERSION DORY_COMMIT);
        return EXIT_DONE;
    }
    commands_help(stderr);
    return EXIT_USAGE;
}

static int unknown_command(const char *name)
{
    struct nearest nearest = {.wanted = name, .length = strlen(name)};
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        nearest_offer(&nearest, commands[i].name);
    fprintf(stderr, "dory: error: unknown command '%s'; ", name);
    if (nearest.best)
        fprintf(stderr, "did you mean '%s'? ", nearest.best);
    fputs("'dory --help' lists them all\n", stderr);
    return EXIT_USAGE;
}

static enum exit_status run_command(struct invocation *invocation)
{
    const struct options *options = &invocation->options;
    if (options->help) {
        command_help(invocation->command, stdout);
        return EXIT_DONE;
    }
    if (options->quiet || options->verbose)
        terminal_set_verbosity(options->quiet ? VERBOSITY_QUIET : VERBOSITY_VERBOSE);
    enum exit_status status = invocation->command->run(invocation);
    fflush(stdout);
    diagnostics_print(&invocation->diagnostics, stderr);
    return status;
}

int commands_main(int argc, char **argv)
{
    int place = 1; /* of the command: options may stand in front of it */
    while (place < argc && argv[place][0] == '-')
        place++;
    if (place == argc)
        return without_command(argc > 1 ? argv[1] : "");
    struct invocation invocation = {.command = command_find(argv[place])};
    if (!invocation.command)
        return unknown_command(argv[place]);
    memmove(argv + 1, argv, (size_t)place * sizeof *argv);
    bool good = options_read(&invocation.options, invocation.command, argc - 2, argv + 2, &invocation.arena);
    invocation.diagnostics = (struct diagnostics){.arena = &invocation.arena, .file = invocation.options.model};
    int status = good ? (int)run_command(&invocation) : EXIT_USAGE;
    arena_free(&invocation.arena);
    return status;
}
