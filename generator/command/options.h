/* Options of `dory generate`: from the command line and from a configuration file, dory's own or the original's. */
#ifndef DORYGEN_OPTIONS_H
#define DORYGEN_OPTIONS_H

#include "base/support.h"
#include "import/load.h"
#include "network/network.h"

struct generate_options {
    const char *model, *target, *folder, *name, *config;
    const char *check; /* null, "golden", or a folder */
    const char *input; /* for the check: null, or a file of values */
    const char *depfile, *dump;
    const char *dump_tensors;           /* null, "all", or layers that the firmware writes to its log: "1,4-6" */
    const char *log;                    /* for the report: null, or the log of a run with its measurements */
    const char *front_end, *input_bits; /* of the model, see load.h; null: not given */
    const char *firmware;               /* null, or a linked program that shares L2 with the network, see budget.h */
    bool list_outputs, exact_add, tensors_in_ram, report, help;
    uint32_t l1_bytes, l2_bytes, cores; /* 0: not given */
    uint32_t application_bytes;         /* of L2, beside the firmware; 0: not given */
    uint32_t code_reserved_bytes;       /* the original's way to say l2_bytes; 0: not given */
    uint32_t input_count;               /* the original's n_inputs; 0: not given */
    bool input_is_signed;
    uint32_t constant_bits; /* the original's BNRelu_bits: accepted, but proven per layer instead */
};

/* The command line first: it overrules the configuration file that it names. False after an error was printed to
 * stderr. `argv` starts with the command's own name. */
bool options_read(struct generate_options *options, int argc, char **argv, struct arena *arena);

/* Those of them that a model is read with, see load.h. Null, or what is wrong. */
const char *options_for_load(const struct generate_options *options, struct load_options *load);

/* The model that they name, read, with its ranges proven. Null after errors were reported. */
struct network *options_network(const struct generate_options *options, struct arena *arena,
                                struct diagnostics *diagnostics);

void options_help(FILE *stream);

#endif
