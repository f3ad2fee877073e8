/* What `dory inspect` and `dory run` share: a model on the command line, and how it is read. */
#ifndef DORYGEN_MODEL_OPTIONS_H
#define DORYGEN_MODEL_OPTIONS_H

#include "import/load.h"
#include "network/range.h"

struct model_options {
    const char *model;
    struct load_options load;
    struct range_options range;
};

/* Entries of a list for getopt_long, which ends the list; the command's own come before. */
#define MODEL_OPTIONS                                                                                                       \
    {"exact-add", no_argument, NULL, 'e'}, {"frontend", required_argument, NULL, 'f'},                                      \
        {"input-bits", required_argument, NULL, 'b'}, {"input-signed", no_argument, NULL, 's'},                             \
        {"help", no_argument, NULL, 'h'},                                                                                   \
    {                                                                                                                       \
        NULL, 0, NULL, 0                                                                                                    \
    }

#define MODEL_OPTIONS_HELP                                                                                                  \
    "  --exact-add          do not saturate additions that the model leaves unclipped\n"                                    \
    "  --frontend NAME      nemo, quantlab or detect (default)\n"                                                           \
    "  --input-bits N       of an input element: 2, 4, 8 (default)\n"                                                       \
    "  --input-signed       the input has negative values\n"                                                                \
    "  --help\n"

/* Takes an OPTION of MODEL_OPTIONS but 'h', with optarg. False if it is none or its value is wrong, which was said then. */
bool model_option_parse(struct model_options *options, const char *command, int option);

/* Reads the model and proves its ranges. Null after errors were reported. */
struct network *model_options_load(const struct model_options *options, struct arena *arena,
                                   struct diagnostics *diagnostics);

#endif
