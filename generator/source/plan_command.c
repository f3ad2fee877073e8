/* dory plan: what the planner makes of a model, as a table. */
#include "commands.h"
#include "load.h"
#include "options.h"
#include "plan.h"
#include "plan_report.h"

static const char *const usage =
    "Usage: dory plan MODEL.onnx [OPTION]...\n"
    "Plans a network and prints a table of its layers: shapes, kernels, tiles, bytes, predicted cycles. Nothing is\n"
    "written. It takes the options of dory generate:\n\n";

static bool set_load_options(const struct generate_options *options, struct load_options *load,
                             struct diagnostics *diagnostics)
{
    const char *fault = NULL;
    if (options->front_end)
        fault = load_option_parse(load, "frontend", options->front_end);
    if (!fault && options->input_bits)
        fault = load_option_parse(load, "input-bits", options->input_bits);
    load->input_is_signed = options->input_is_signed;
    if (fault)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s", fault);
    return !fault;
}

static bool make_plan(const struct generate_options *options, struct target *target, struct plan *plan, struct arena *arena,
                      struct diagnostics *diagnostics)
{
    struct load_options load = {0};
    struct range_options range = {.exact_add = options->exact_add};
    struct plan_options memory = {.l1_bytes = options->l1_bytes,
                                  .l2_bytes = options->l2_bytes,
                                  .cores = options->cores,
                                  .tensors_in_ram = options->tensors_in_ram};
    if (!target_load(target, options->target, arena, diagnostics) || !set_load_options(options, &load, diagnostics))
        return false;
    struct network *network = network_load(options->model, &load, arena, diagnostics);
    return network && range_prove(network, &range, arena, diagnostics) &&
           plan_make(network, target, &memory, plan, arena, diagnostics) && plan_check(plan, diagnostics);
}

int command_plan(int argc, char **argv)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct generate_options options = {0};
    struct target target;
    struct plan plan;
    int status = EXIT_USAGE;
    if (options_read(&options, argc, argv, &arena)) {
        diagnostics.file = options.model;
        status = EXIT_DONE;
        if (options.help) {
            fputs(usage, stdout);
            options_help(stdout);
        } else if (make_plan(&options, &target, &plan, &arena, &diagnostics)) {
            struct text text = {.arena = &arena};
            plan_report(&text, &plan);
            fputs(text.bytes, stdout);
        } else {
            status = EXIT_FAULT;
        }
        diagnostics_print(&diagnostics, stderr);
    }
    arena_free(&arena);
    return status;
}
