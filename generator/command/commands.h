/* The subcommands of `dory`. Each gets argv from its own name on and returns the exit status of the process. */
#ifndef DORYGEN_COMMANDS_H
#define DORYGEN_COMMANDS_H

enum exit_status {
    EXIT_DONE = 0,
    EXIT_FAULT = 1, /* of the model or of the system; it was reported */
    EXIT_USAGE = 2  /* the command line is wrong */
};

int command_inspect(int argc, char **argv);
int command_run(int argc, char **argv);
int command_generate(int argc, char **argv); /* generate.c */
int command_plan(int argc, char **argv);     /* plan_command.c */
int command_probe(int argc, char **argv);    /* probe.c */
int command_ops(int argc, char **argv);      /* ops.c */
int command_diff(int argc, char **argv);
int command_report(int argc, char **argv); /* generate.c */

#endif
