/* dory generate: the passes, one after the other; dory report and dory plan: those that they need. */
#include "check/check.h"
#include "check/check_channels.h"
#include "check/check_values.h"
#include "command/commands.h"

#include <string.h>

#include "base/outputs.h"
#include "base/terminal.h"
#include "base/text.h"
#include "command/export.h"
#include "command/inspect.h"
#include "command/load_model.h"
#include "command/memory_options.h"
#include "emit/assemble.h"
#include "emit/emit.h"
#include "report/plan_report.h"
#include "report/plan_text.h"
#include "report/plan_views.h"
#include "report/report_files.h"
#include "solve/plan_make.h"
#include "values/expected.h"

/* What one run knows. */
struct generation {
    const struct command *command;
    const struct options *options;
    struct target target;
    struct network *network;
    struct plan plan;
    struct assembled assembled;
    struct expected expected;
    struct outputs outputs;
    struct arena *arena;
    struct diagnostics *diagnostics;
    bool has_report;
};

/* ---- before the passes ---- */

static bool check_name(struct generation *run)
{
    if (emit_is_identifier(run->options->name))
        return true;
    diagnose(run->diagnostics, SEVERITY_ERROR, NULL, NULL,
             "'%s' is no name of C, of which the generated code makes its own; choose another with --name",
             run->options->name);
    return false;
}

/* ---- the passes ---- */

static bool pass_exportable(struct generation *run)
{
    return export_check(run->options, &run->target, run->arena, run->diagnostics);
}

static bool pass_import(struct generation *run)
{
    run->network = model_import(run->options, run->arena, run->diagnostics);
    return run->network != NULL;
}

static bool pass_range(struct generation *run)
{
    return values_check(run->network, run->diagnostics) &&
           model_prove(run->network, run->options, run->arena, run->diagnostics);
}

static bool pass_shrink(struct generation *run)
{
    run->network = model_shrink(run->network, run->options, run->arena);
    return channels_check(run->network, run->diagnostics);
}

static bool pass_plan(struct generation *run)
{
    struct plan_options options;
    if (!budget_read(run->options, run->network, &run->target, &options, run->arena, run->diagnostics) ||
        !budget_plan(run->network, &run->target, &options, &run->plan, run->arena, run->diagnostics)) {
        budget_explain(run->options, run->network, run->diagnostics);
        return false;
    }
    run->plan.l2_application_bytes = options.l2_application_bytes;
    plan_warn(&run->plan, run->diagnostics);
    return true;
}

static bool pass_check(struct generation *run) { return plan_check(&run->plan, run->diagnostics); }

static bool pass_layout(struct generation *run) { return layout_weights(&run->plan, run->arena, run->diagnostics); }

static bool pass_expected(struct generation *run)
{
    const char *check = run->options->check;
    struct expected_options options = {
        .folder = check && strcmp(check, "golden") != 0 ? check : NULL,
        .input = run->options->input,
        .sample_count = run->options->input_count,
    };
    return !check || expected_make(run->plan.network, &options, &run->expected, run->arena, run->diagnostics);
}

static bool pass_emit(struct generation *run)
{
    struct emission emission = {.name = run->options->name, .plan = &run->plan, .assembled = &run->assembled};
    if (run->options->dump_tensors) {
        emission.dumped =
            emit_choose_dumped(run->options->dump_tensors, run->plan.network->layer_count, run->arena, run->diagnostics);
        if (!emission.dumped)
            return false;
    }
    plan_assemble(&run->plan, &run->assembled, run->arena);
    emit_network(&emission, &run->outputs, run->arena);
    if (run->options->check)
        emit_check(&emission, &run->expected, &run->outputs, run->arena);
    return true;
}

static struct emission exported(const struct generation *run)
{
    return (struct emission){
        .name = run->options->name, .plan = &run->plan, .assembled = &run->assembled, .is_exported = true};
}

static bool pass_export(struct generation *run)
{
    struct emission emission = exported(run);
    plan_assemble(&run->plan, &run->assembled, run->arena);
    return export_add(run->options, &emission, &run->outputs, run->arena, run->diagnostics);
}

static bool pass_report(struct generation *run)
{
    struct text text = {.arena = run->arena};
    plan_text(&text, &run->plan);
    outputs_add(&run->outputs, arena_format(run->arena, "%s_plan.txt", run->options->name), text.bytes, text.length);
    return true;
}

static bool pass_report_files(struct generation *run)
{
    struct report_options options = {.log = run->options->log, .clock_mhz = run->options->clock_mhz};
    return !run->has_report || report_add_files(&run->plan, &options, &run->outputs, run->arena, run->diagnostics);
}

static bool pass_write(struct generation *run)
{
    bool exports = run->command->bit == COMMAND_EXPORT;
    const char *folder = exports ? run->options->operands[0] : options_folder(run->options);
    bool good = outputs_commit(&run->outputs, folder, run->arena, run->diagnostics);
    if (good && exports && !terminal_is_quiet()) {
        struct emission emission = exported(run);
        export_print(run->options, &emission, &run->outputs);
    }
    return good;
}

/* A view of the plan, by one of plan_views.h or plan_text.h. */
static bool print_plan(struct generation *run, void (*view)(struct text *text, const struct plan *plan))
{
    struct text text = {.arena = run->arena};
    view(&text, &run->plan);
    fputs(text.bytes, stdout);
    return true;
}

static bool pass_table(struct generation *run)
{
    if (!run->options->json)
        return print_plan(run, plan_report);
    fputs(report_plan_json(&run->plan, run->options->clock_mhz, run->arena), stdout);
    return true;
}

enum { ANY = COMMAND_GENERATE | COMMAND_REPORT | COMMAND_PLAN | COMMAND_EXPORT };

static const struct pass {
    const char *name;
    bool (*run)(struct generation *run);
    unsigned commands; /* that need it */
} passes[] = {
    {"exportable", pass_exportable, COMMAND_EXPORT},
    {"import", pass_import, ANY}, /* read_onnx, too */
    {"range", pass_range, ANY},
    {"shrink", pass_shrink, ANY},
    {"plan", pass_plan, ANY},
    {"check", pass_check, ANY},
    {"table", pass_table, COMMAND_PLAN},
    {"layout", pass_layout, COMMAND_GENERATE | COMMAND_EXPORT},
    {"expected", pass_expected, COMMAND_GENERATE},
    {"emit", pass_emit, COMMAND_GENERATE},
    {"export", pass_export, COMMAND_EXPORT},
    {"plan text", pass_report, COMMAND_GENERATE},
    {"report", pass_report_files, COMMAND_GENERATE | COMMAND_REPORT},
    {"write", pass_write, COMMAND_GENERATE | COMMAND_REPORT | COMMAND_EXPORT},
};

/* ---- what --dump prints ---- */

static bool view_network(struct generation *run)
{
    network_print(stdout, run->arena, run->network);
    return true;
}

/* The planner describes layers itself, more than once; this is for people. */
static bool view_layers(struct generation *run)
{
    struct described_layer *described = arena_array(run->arena, struct described_layer, (size_t)run->network->layer_count);
    struct text text = {.arena = run->arena};
    bool good = true;
    for (int i = 0; i < run->network->layer_count; i++)
        good = describe_layer(run->network, i, &described[i], run->arena, run->diagnostics) && good;
    plan_view_layers(&text, run->network, described);
    if (good)
        fputs(text.bytes, stdout);
    return good;
}

static bool view_plan(struct generation *run) { return print_plan(run, plan_text); }
static bool view_tiles(struct generation *run) { return print_plan(run, plan_view_tiles); }
static bool view_decision(struct generation *run) { return print_plan(run, plan_view_decision); }
static bool view_schedule(struct generation *run) { return print_plan(run, plan_view_schedule); }
static bool view_places(struct generation *run) { return print_plan(run, plan_view_places); }
static bool view_layout(struct generation *run) { return print_plan(run, plan_text_layout); }

/* Printed as soon as the pass is through, and nothing else is done then. */
static const struct view {
    const char *name, *pass;
    bool (*print)(struct generation *run);
} views[] = {
    {"import", "import", view_network},  {"range", "range", view_network},    {"shrink", "shrink", view_network},
    {"describe", "shrink", view_layers}, {"plan", "plan", view_plan},         {"tile", "plan", view_tiles},
    {"decide", "plan", view_decision},   {"schedule", "plan", view_schedule}, {"place", "plan", view_places},
    {"layout", "layout", view_layout},
};

#define PASS_COUNT (sizeof passes / sizeof *passes)
#define VIEW_COUNT (sizeof views / sizeof *views)

static bool run_pass(struct generation *run, const struct pass *pass)
{
    progress_step(pass->name);
    bool good = pass->run(run);
    progress_step(NULL);
    return good;
}

/* Null: none of that name. */
static const struct view *find_view(const char *name)
{
    for (size_t i = 0; name && i < VIEW_COUNT; i++)
        if (!strcmp(views[i].name, name))
            return &views[i];
    return NULL;
}

static bool run_passes(struct generation *run)
{
    const struct view *view = find_view(run->options->dump);
    for (size_t i = 0; i < PASS_COUNT; i++) {
        if (!(passes[i].commands & run->command->bit))
            continue;
        if (!run_pass(run, &passes[i]))
            return false;
        if (view && !strcmp(view->pass, passes[i].name))
            return view->print(run);
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
    const struct options *options = run->options;
    struct text text = {.arena = run->arena};
    text_add_file(&text, arena_format(run->arena, "%s/%s.h", options_folder(options), options->name));
    text_add_string(&text, ":");
    add_dependency(&text, options->model);
    if (options->config)
        add_dependency(&text, options->config);
    if (options->unread_config)
        add_dependency(&text, options->unread_config);
    if (strstr(options->target, ".json"))
        add_dependency(&text, options->target);
    if (options->log)
        add_dependency(&text, options->log);
    if (options->firmware)
        add_dependency(&text, options->firmware);
    for (int i = 0; i < run->expected.file_count; i++)
        add_dependency(&text, run->expected.files[i]);
    text_add_string(&text, "\n");
    return output_write_file(options->depfile, text.bytes, text.length, run->arena, run->diagnostics);
}

static void list_outputs(const struct generation *run)
{
    enum { ALWAYS, CHECK, REPORT };
    static const struct {
        int when;
        const char *ending;
    } outputs[] = {
#define OUTPUT(when, use, ending) {when, ending},
#include "../../cmake/outputs.def"
    };
    const struct options *options = run->options;
    bool sources = run->command->bit == COMMAND_GENERATE;
    const bool is_written[] = {[ALWAYS] = sources, [CHECK] = sources && options->check, [REPORT] = run->has_report};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (is_written[outputs[i].when])
            printf("%s/%s%s\n", options_folder(options), outputs[i].when == REPORT ? "" : options->name, outputs[i].ending);
}

/* A command that has no need of a pass, such as a plan that is not laid out in the flash, has no view of it. */
static bool has_view(const struct command *command, const struct view *view)
{
    for (size_t i = 0; i < PASS_COUNT; i++)
        if (!strcmp(passes[i].name, view->pass))
            return (passes[i].commands & command->bit) != 0;
    return false;
}

static bool can_dump(const struct invocation *invocation)
{
    const char *dump = invocation->options.dump;
    const struct view *wanted = find_view(dump);
    if (!dump || (wanted && has_view(invocation->command, wanted)))
        return true;
    fprintf(stderr, "dory %s: error: --dump=%s: what it can print are", invocation->command->name, dump);
    for (size_t i = 0, printed = 0; i < VIEW_COUNT; i++)
        if (has_view(invocation->command, &views[i]))
            fprintf(stderr, "%s %s", printed++ ? "," : "", views[i].name);
    fputc('\n', stderr);
    return false;
}

static bool generate(struct generation *run)
{
    const struct options *options = run->options;
    return (run->command->bit != COMMAND_GENERATE || check_name(run)) &&
           options_target(options, &run->target, run->arena, run->diagnostics) && run_passes(run) &&
           (!options->depfile || options->dump || run->command->bit == COMMAND_PLAN || write_depfile(run));
}

static enum exit_status run_command(struct invocation *invocation)
{
    struct generation run = {.command = invocation->command,
                             .options = &invocation->options,
                             .arena = &invocation->arena,
                             .diagnostics = &invocation->diagnostics};
    bool plans = run.command->bit == COMMAND_PLAN, reports = run.command->bit == COMMAND_REPORT;
    if (!can_dump(invocation))
        return EXIT_USAGE;
    run.has_report = reports || (!plans && (run.options->report || run.options->log));
    if (run.options->list_outputs && !plans) {
        list_outputs(&run);
        return EXIT_DONE;
    }
    return generate(&run) ? EXIT_DONE : EXIT_FAULT;
}

enum exit_status command_generate(struct invocation *invocation) { return run_command(invocation); }
enum exit_status command_report(struct invocation *invocation)
{
    return invocation->options.compare ? compare_reports(invocation) : run_command(invocation);
}
enum exit_status command_plan(struct invocation *invocation) { return run_command(invocation); }

/* Weights are constants of the program, whatever a configuration says: there is nothing that they could be copied from. */
enum exit_status command_export(struct invocation *invocation)
{
    struct options *options = &invocation->options;
    options->weights = "linked";
    options->weights_place = WEIGHTS_LINKED;
    options->cores = 1;
    return run_command(invocation);
}
