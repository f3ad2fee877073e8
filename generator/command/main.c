/* `dory`: the command line. Every subcommand is a function of the library. */
#include "command/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/terminal.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *purpose;
} commands[] = {
    {"inspect", command_inspect, "print the layers of a network, with proven ranges"},
    {"run", command_run, "execute a network in exact integers and write every layer's output"},
    {"generate", command_generate, "generate C sources and a weight image for a target"},
    {"plan", command_plan, "print tiles, memory and predicted cycles of every layer"},
    {"report", command_report, "show the plan of a network: memory over time, transfers, cycles per layer"},
    {"diff", command_diff, "compare the log of a board with the golden model"},
    {"probe", command_probe, "write a program as large as the network's code, to be linked and measured"},
    {"ops", command_ops, "print the operators that a model may have"},
    {NULL, NULL, NULL},
};

static void print_help(FILE *stream)
{
    fputs("Usage: dory COMMAND MODEL [OPTION]...\n"
          "Deploys quantised neural networks (ONNX) on GAP8.\n\nCommands:\n",
          stream);
    for (const struct command *command = commands; command->name; command++)
        fprintf(stream, "  %-10s %s\n", command->name, command->purpose);
    fputs("\nEvery command knows --quiet (errors and warnings only) and --verbose (each step with its time). Progress and\n"
          "colours are for terminals only; NO_COLOR in the environment turns colours off.\n"
          "'dory COMMAND --help' explains a command; 'dory --version' prints the version.\n"
          "Exit status: 0 done, 1 a fault was reported, 2 the command line is wrong.\n",
          stream);
}

/* Takes the options that every command has out of the command line; returns how many arguments are left. */
static int take_common_options(int argc, char **argv)
{
    int left = 0;
    for (int i = 0; i < argc; i++) {
        if (!strcmp(argv[i], "--quiet"))
            terminal_set_verbosity(VERBOSITY_QUIET);
        else if (!strcmp(argv[i], "--verbose"))
            terminal_set_verbosity(VERBOSITY_VERBOSE);
        else
            argv[left++] = argv[i];
    }
    argv[left] = NULL;
    return left;
}

int main(int argc, char **argv)
{
    argc = take_common_options(argc, argv);
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
        print_help(stdout);
        return EXIT_DONE;
    }
    if (!strcmp(name, "--version")) {
        puts("dory " DORY_VERSION);
        return EXIT_DONE;
    }
    for (const struct command *command = commands; command->name; command++)
        if (!strcmp(name, command->name))
            return command->run(argc - 1, argv + 1);
    if (*name)
        fprintf(stderr, "dory: error: unknown command '%s'\n", name);
    print_help(stderr);
    return EXIT_USAGE;
}
