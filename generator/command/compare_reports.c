/* dory report --compare FIRST SECOND: two report.json of earlier runs, side by side. */
#include "command/commands.h"

#include "base/outputs.h"
#include "base/text.h"
#include "report/report_compare.h"

/* An option that goes for the report of a model would be without effect. */
static bool is_alone(const struct options *options)
{
    const char *other = options->log            ? "--log"
                        : options->depfile      ? "--depfile"
                        : options->dump         ? "--dump"
                        : options->list_outputs ? "--list-outputs"
                                                : NULL;
    if (other)
        fprintf(stderr, "dory report: error: %s has no effect with --compare, which reads two reports and no model\n",
                other);
    return !other;
}

enum exit_status compare_reports(struct invocation *invocation)
{
    const struct options *options = &invocation->options;
    struct outputs outputs = {0};
    struct text text = {.arena = &invocation->arena};
    if (!is_alone(options))
        return EXIT_USAGE;
    invocation->diagnostics.file = "dory report";
    struct comparison comparison = {options->compare, options->model, options->clock_mhz};
    if (!report_compare(&comparison, &outputs, &text, &invocation->diagnostics) ||
        !outputs_commit(&outputs, options_folder(options), &invocation->arena, &invocation->diagnostics))
        return EXIT_FAULT;
    fputs(text.bytes, stdout);
    return EXIT_DONE;
}
