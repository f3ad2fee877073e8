/* The commands of `dory`. */
#ifndef DORYGEN_COMMANDS_H
#define DORYGEN_COMMANDS_H

#include "command/options.h"

enum exit_status {
    EXIT_DONE = 0,
    EXIT_FAULT = 1, /* of the model or of the system; it was reported */
    EXIT_USAGE = 2  /* the command line is wrong */
};

/* One run of a command: what it was told, and what it works with. Its diagnostics are printed when the command is done. */
struct invocation {
    const struct command *command;
    struct options options;
    struct arena arena;
    struct diagnostics diagnostics; /* of the model's file, unless the command says otherwise */
};

/* Sets, for the table of options. */
enum command_bit {
    COMMAND_INSPECT = 1,
    COMMAND_RUN = 2,
    COMMAND_GENERATE = 4,
    COMMAND_PLAN = 8,
    COMMAND_REPORT = 16,
    COMMAND_DIFF = 32,
    COMMAND_PROBE = 64,
    COMMAND_OPS = 128,
    COMMAND_EVALUATE = 256,
    COMMAND_NEW = 512,
    COMMAND_COST = 1024,
    COMMAND_EXPLORE = 2048,
    COMMAND_EXPORT = 4096
};

struct command {
    const char *name;
    enum command_bit bit;
    unsigned passes_over; /* commands whose options it takes, too, without effect: one command line does for both */
    const char *operands; /* words; the model, where there is one, is the last one */
    const char *purpose;  /* in the list of commands */
    const char *explanation;
    enum exit_status (*run)(struct invocation *invocation);
};

/* The one of a bit. */
const struct command *command_of_bit(enum command_bit bit);

/* "dory plan MODEL [OPTION]..." */
void command_print_usage(const struct command *command, FILE *stream);

/* The whole program: argv as main gets it, and the exit status of the process. */
int commands_main(int argc, char **argv);

/* Each is in the file of its name; generate.c has those that plan. */
enum exit_status command_inspect(struct invocation *invocation);
enum exit_status command_run(struct invocation *invocation);
enum exit_status command_generate(struct invocation *invocation);
enum exit_status command_plan(struct invocation *invocation);
enum exit_status command_report(struct invocation *invocation);
enum exit_status command_diff(struct invocation *invocation);
enum exit_status command_probe(struct invocation *invocation);
enum exit_status command_evaluate(struct invocation *invocation);
enum exit_status command_new(struct invocation *invocation);
enum exit_status command_cost(struct invocation *invocation);
enum exit_status command_explore(struct invocation *invocation);
enum exit_status command_export(struct invocation *invocation);
enum exit_status command_ops(struct invocation *invocation);

/* compare_reports.c: dory report --compare. */
enum exit_status compare_reports(struct invocation *invocation);

#endif
