#include "command/model_options.h"

#include <getopt.h>
#include <stdio.h>

bool model_option_parse(struct model_options *options, const char *command, int option)
{
    const char *fault;
    switch (option) {
    case 'e': options->range.exact_add = true; return true;
    case 's': options->load.input_is_signed = true; return true;
    case 'f': fault = load_option_parse(&options->load, "frontend", optarg); break;
    case 'b': fault = load_option_parse(&options->load, "input-bits", optarg); break;
    default: return false;
    }
    if (fault)
        fprintf(stderr, "dory %s: error: %s\n", command, fault);
    return !fault;
}

struct network *model_options_load(const struct model_options *options, struct arena *arena, struct diagnostics *diagnostics)
{
    struct network *network = network_load(options->model, &options->load, arena, diagnostics);
    return network && range_prove(network, &options->range, arena, diagnostics) ? network : NULL;
}
