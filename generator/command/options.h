/* Options of all commands, from one table: on the command line, and in a configuration file, dory's own or the original's.
 */
#ifndef DORYGEN_OPTIONS_H
#define DORYGEN_OPTIONS_H

#include "base/support.h"
#include "import/load.h"
#include "network/range.h"
#include "solve/plan_make.h"

struct command;

#define MAXIMUM_OPERANDS 2

/* Of an option that may be given more than once. */
struct option_list {
    const char **items;
    int count;
};

struct options {
    const char *operands[MAXIMUM_OPERANDS]; /* of the command, in their order; the model is below */
    const char *model, *target, *name, *config;
    const char *board;                  /* null, or what `dory new` writes a project for */
    const char *unread_config;          /* null, or a file beside the model that does not say that it holds options */
    const char *folder;                 /* of what is written; null: not given */
    const char *check;                  /* null, "golden", or a folder */
    const char *input;                  /* for the check: null, or a file of values */
    struct option_list inputs, outputs; /* files of values, for run, in the model's order */
    const char *images, *labels;        /* for evaluate: a data set, see values/data_set.h */
    const char *depfile, *dump;
    const char *dump_tensors;           /* null, "all", or layers that the firmware writes to its log: "1,4-6" */
    const char *log;                    /* for the report: null, or the log of a run with its measurements */
    const char *compare;                /* null, or a report.json; the other one is in the model's place */
    const char *front_end, *input_bits; /* as they were given; what they mean is in `load` */
    const char *weights;                /* null, or as dory_add_network's WEIGHTS; in ... */
    enum plan_weights weights_place;    /* ... as the planner wants it */
    const char *blocks;                 /* null, "auto", "none" or "always"; in ... */
    enum plan_blocks blocks_use;        /* ... as the planner wants it */
    const char *requantisation;         /* null, "exact" or "fast"; the latter is in `range`, too */
    const char *clocks;                 /* null, or "250/175": of controller and cluster, in MHz */
    const char *l1_list, *l2_list, *clock_list, *deadline; /* for explore; null: not given */
    const char *firmware; /* null, or a linked program that shares L2 with the network, see budget.h */
    bool all_channels;    /* dead ones, too */
    bool list_outputs, tensors_in_ram, application_buffers, report, json, fast, help, quiet, verbose;
    uint32_t l1_bytes, l2_bytes, cores;   /* 0: not given */
    uint32_t application_bytes;           /* of L2, beside the firmware; 0: not given */
    uint32_t code_reserved_bytes;         /* the original's way to say l2_bytes; 0: not given */
    uint32_t controller_mhz, cluster_mhz; /* of `clocks`; 0: not given */
    uint32_t clock_mhz;                   /* for the report's milliseconds; 0: not given */
    uint32_t more_walks;                  /* of the search; 0: not given */
    uint32_t input_count;                 /* the original's n_inputs; 0: not given */
    uint32_t constant_bits;               /* the original's BNRelu_bits: accepted, but proven per layer instead */
    struct load_options load;             /* how the model is read, */
    struct range_options range;           /* and what its ranges are proven with */
};

/* The command line first: it overrules the configuration file that it names. False after an error was printed to
 * stderr. `argv` starts behind the command's name. With --help, what else is missing is not asked for. */
bool options_read(struct options *options, const struct command *command, int argc, char **argv, struct arena *arena);

/* Where files go. */
const char *options_folder(const struct options *options);

/* Lists the options of a command. */
void options_help(const struct command *command, FILE *stream);

#endif
