/* dory evaluate: the accuracy of a network, which is the chip's. */
#include "values/evaluate.h"

#include "command/commands.h"
#include "command/load_model.h"

static void print_result(const struct evaluation *result)
{
    printf("%zu of %zu right: %.2f %%\n", result->right, result->images,
           100 * (double)result->right / (double)result->images);
    fprintf(stderr, "%.1f s, %.0f images a second\n", result->seconds, (double)result->images / result->seconds);
}

static bool run(const struct options *options, struct arena *arena, struct diagnostics *diagnostics)
{
    struct data_set set;
    struct evaluation result;
    struct network *network = model_load(options, arena, diagnostics);
    if (!network || !data_set_open(&set, options->images, options->labels, network, arena, diagnostics) ||
        !evaluate(&set, 0, &result, diagnostics))
        return false;
    print_result(&result);
    return true;
}

enum exit_status command_evaluate(struct invocation *invocation)
{
    const struct options *options = &invocation->options;
    if (!options->images || !options->labels) {
        fprintf(stderr, "dory evaluate: error: no %s\n", options->images ? "--labels" : "--inputs");
        return EXIT_USAGE;
    }
    return run(options, &invocation->arena, &invocation->diagnostics) ? EXIT_DONE : EXIT_FAULT;
}
