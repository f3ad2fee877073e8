/* dory generate: the passes, one after the other; dory report and dory plan: those that they need. */
#include "command/commands.h"

#include <string.h>

#include "base/outputs.h"
#include "base/terminal.h"
#include "base/text.h"
#include "command/inspect.h"
#include "command/memory_options.h"
#include "command/options.h"
#include "emit/assemble.h"
#include "emit/emit.h"
#include "import/load.h"
#include "network/expected.h"
#include "network/range.h"
#include "plan/plan.h"
#include "report/plan_report.h"
#include "report/plan_text.h"
#include "report/report_files.h"

enum command { GENERATE = 1, REPORT = 2, PLAN = 4 };

/* What one run knows. */
struct generation {
    enum command command;
    struct generate_options options;
    struct target target;
    struct network *network;
    struct plan plan;
    struct assembled assembled;
    struct expected expected;
    struct outputs outputs;
    struct arena arena;
    struct diagnostics diagnostics;
};

/* ---- before the passes ---- */

static bool check_name(struct generation *run)
{
    if (emit_is_identifier(run->options.name))
        return true;
    diagnose(&run->diagnostics, SEVERITY_ERROR, NULL, NULL,
             "'%s' is no name of C, of which the generated code makes its own; choose another with --name",
             run->options.name);
    return false;
}

/* ---- the passes ---- */

static bool pass_import(struct generation *run)
{
    struct load_options load;
    const char *fault = options_for_load(&run->options, &load);
    if (fault) {
        diagnose(&run->diagnostics, SEVERITY_ERROR, NULL, NULL, "%s", fault);
        return false;
    }
    run->network = network_load(run->options.model, &load, &run->arena, &run->diagnostics);
    return run->network != NULL;
}

static bool pass_range(struct generation *run)
{
    struct range_options options = {.exact_add = run->options.exact_add};
    return range_prove(run->network, &options, &run->arena, &run->diagnostics);
}

static bool pass_plan(struct generation *run)
{
    struct plan_options options;
    return budget_read(&run->options, &run->target, &options, &run->arena, &run->diagnostics) &&
           budget_plan(run->network, &run->target, &options, &run->plan, &run->arena, &run->diagnostics);
}

static bool pass_check(struct generation *run) { return plan_check(&run->plan, &run->diagnostics); }

static bool pass_layout(struct generation *run) { return layout_weights(&run->plan, &run->arena, &run->diagnostics); }

static bool pass_expected(struct generation *run)
{
    const char *check = run->options.check;
    struct expected_options options = {
        .folder = check && strcmp(check, "golden") != 0 ? check : NULL,
        .input = run->options.input,
        .sample_count = run->options.input_count,
    };
    return !check || expected_make(run->network, &options, &run->expected, &run->arena, &run->diagnostics);
}

static bool pass_emit(struct generation *run)
{
    struct emission emission = {.name = run->options.name, .plan = &run->plan, .assembled = &run->assembled};
    if (run->options.dump_tensors) {
        emission.dumped =
            emit_choose_dumped(run->options.dump_tensors, run->network->layer_count, &run->arena, &run->diagnostics);
        if (!emission.dumped)
            return false;
    }
    plan_assemble(&run->plan, &run->assembled, &run->arena);
    emit_network(&emission, &run->outputs, &run->arena);
    if (run->options.check)
        emit_check(&emission, &run->expected, &run->outputs, &run->arena);
    return true;
}

static bool pass_report(struct generation *run)
{
    struct text text = {.arena = &run->arena};
    plan_text(&text, &run->plan);
    outputs_add(&run->outputs, arena_format(&run->arena, "%s_plan.txt", run->options.name), text.bytes, text.length);
    return true;
}

static bool pass_report_files(struct generation *run)
{
    struct report_options options = {.log = run->options.log};
    return !run->options.report || report_add_files(&run->plan, &options, &run->outputs, &run->arena, &run->diagnostics);
}

static bool pass_table(struct generation *run)
{
    struct text text = {.arena = &run->arena};
    plan_report(&text, &run->plan);
    fputs(text.bytes, stdout);
    return true;
}

static bool pass_write(struct generation *run)
{
    return outputs_commit(&run->outputs, run->options.folder, &run->arena, &run->diagnostics);
}

static void dump_network(struct generation *run) { network_print(stdout, &run->arena, run->network); }

static void dump_plan(struct generation *run)
{
    struct text text = {.arena = &run->arena};
    plan_text(&text, &run->plan);
    fputs(text.bytes, stdout);
}

static void dump_layout(struct generation *run)
{
    struct text text = {.arena = &run->arena};
    plan_text_layout(&text, &run->plan);
    fputs(text.bytes, stdout);
}

static const struct pass {
    const char *name;
    bool (*run)(struct generation *run);
    void (*dump)(struct generation *run); /* null: no result of its own */
    unsigned commands;                    /* that need it */
} passes[] = {
    {"import", pass_import, dump_network, GENERATE | REPORT | PLAN}, /* read_onnx, too */
    {"range", pass_range, dump_network, GENERATE | REPORT | PLAN},
    {"plan", pass_plan, dump_plan, GENERATE | REPORT | PLAN}, /* tile and place, too */
    {"check", pass_check, NULL, GENERATE | REPORT | PLAN},
    {"table", pass_table, NULL, PLAN},
    {"layout", pass_layout, dump_layout, GENERATE},
    {"expected", pass_expected, NULL, GENERATE},
    {"emit", pass_emit, NULL, GENERATE},
    {"plan text", pass_report, NULL, GENERATE},
    {"report", pass_report_files, NULL, GENERATE | REPORT},
    {"write", pass_write, NULL, GENERATE | REPORT},
};

#define PASS_COUNT (sizeof passes / sizeof *passes)

static bool run_passes(struct generation *run)
{
    for (size_t i = 0; i < PASS_COUNT; i++) {
        if (!(passes[i].commands & run->command))
            continue;
        progress_step(passes[i].name);
        bool good = passes[i].run(run);
        progress_step(NULL);
        if (!good)
            return false;
        if (run->options.dump && !strcmp(run->options.dump, passes[i].name)) {
            passes[i].dump(run);
            return true;
        }
    }
    return true;
}

/* ---- the command ---- */

static void add_dependency(struct text *text, const char *path)
{
    text_add_string(text, " \\\n  ");
    text_add_file(text, path);
}

/* For ninja: of what it was made. Of the outputs one is enough, and the header is made with all options: a depfile of
 * another run that has one more output than the build file stops ninja. */
static bool write_depfile(struct generation *run)
{
    const struct generate_options *options = &run->options;
    struct text text = {.arena = &run->arena};
    text_add_file(&text, arena_format(&run->arena, "%s/%s.h", options->folder, options->name));
    text_add_string(&text, ":");
    add_dependency(&text, options->model);
    if (options->config)
        add_dependency(&text, options->config);
    if (strstr(options->target, ".json"))
        add_dependency(&text, options->target);
    if (options->log)
        add_dependency(&text, options->log);
    if (options->firmware)
        add_dependency(&text, options->firmware);
    for (int i = 0; i < run->expected.file_count; i++)
        add_dependency(&text, run->expected.files[i]);
    text_add_string(&text, "\n");
    return output_write_file(options->depfile, text.bytes, text.length, &run->arena, &run->diagnostics);
}

static void list_outputs(const struct generation *run)
{
    static const char *const always[] = {".h", ".c", "_weights.bin", "_weights.S", "_plan.txt", NULL};
    static const char *const checks[] = {"_check.c", "_check.bin", "_check.S", NULL};
    static const char *const reports[] = {"report.json", "report.html", "report_trace.json", NULL};
    const struct generate_options *options = &run->options;
    bool sources = run->command == GENERATE;
    const char *const *groups[] = {sources ? always : NULL, sources && options->check ? checks : NULL};
    for (size_t group = 0; group < 2; group++)
        for (const char *const *suffix = groups[group]; suffix && *suffix; suffix++)
            printf("%s/%s%s\n", options->folder, options->name, *suffix);
    for (const char *const *name = options->report ? reports : NULL; name && *name; name++)
        printf("%s/%s\n", options->folder, *name);
}

static bool can_dump(const struct generate_options *options)
{
    for (size_t i = 0; i < PASS_COUNT; i++)
        if (options->dump && passes[i].dump && !strcmp(options->dump, passes[i].name))
            return true;
    if (options->dump)
        fprintf(stderr,
                "dory generate: error: --dump=%s: the passes with a result to print are import, range, plan, layout\n",
                options->dump);
    return !options->dump;
}

static bool generate(struct generation *run)
{
    const struct generate_options *options = &run->options;
    return (run->command != GENERATE || check_name(run)) &&
           target_load(&run->target, options->target, &run->arena, &run->diagnostics) && run_passes(run) &&
           (!options->depfile || options->dump || run->command == PLAN || write_depfile(run));
}

static void print_help(enum command command)
{
    static const char *const same = "It takes the options of dory generate:\n";
    if (command == REPORT)
        printf("Usage: dory report MODEL.onnx [OPTION]...\n"
               "Writes report.html, report.json and report_trace.json of a network's plan. %s\n",
               same);
    if (command == PLAN)
        printf("Usage: dory plan MODEL.onnx [OPTION]...\n"
               "Plans a network and prints a table of its layers: shapes, kernels, tiles, bytes, predicted cycles. Nothing\n"
               "is written. %s\n",
               same);
    options_help(stdout);
}

static int run_command(int argc, char **argv, enum command command)
{
    struct generation run = {.command = command};
    run.diagnostics.arena = &run.arena;
    int status = EXIT_USAGE;
    if (options_read(&run.options, argc, argv, &run.arena) && (run.options.help || can_dump(&run.options))) {
        status = EXIT_DONE;
        run.diagnostics.file = run.options.model;
        run.options.report |= command == REPORT || (command == GENERATE && run.options.log);
        if (run.options.help)
            print_help(command);
        else if (run.options.list_outputs)
            list_outputs(&run);
        else if (!generate(&run))
            status = EXIT_FAULT;
        diagnostics_print(&run.diagnostics, stderr);
    }
    arena_free(&run.arena);
    return status;
}

int command_generate(int argc, char **argv) { return run_command(argc, argv, GENERATE); }
int command_report(int argc, char **argv) { return run_command(argc, argv, REPORT); }
int command_plan(int argc, char **argv) { return run_command(argc, argv, PLAN); }
