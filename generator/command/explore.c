/* dory explore: what is asked, from the command line. */
#include "explore/explore.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/commands.h"
#include "command/load_model.h"
#include "command/option_table.h"
#include "solve/budget.h"

#define MAXIMUM_SIZES 64
#define MAXIMUM_PAIRS 64

struct asked {
    const struct options *options;
    struct arena *arena;
    struct explore_question question;
    uint32_t l1_bytes[MAXIMUM_SIZES], l2_bytes[MAXIMUM_SIZES];
    struct clock_pair clocks[MAXIMUM_PAIRS];
};

static bool complain(const char *option, const char *text, const char *expected)
{
    fprintf(stderr, "dory explore: error: %s '%s': %s\n", option, text, expected);
    return false;
}

/* ---- sizes: "256k,512k" or "256k:4M", doubling ---- */

static bool read_size(struct arena *arena, const char *text, size_t length, uint32_t *bytes)
{
    static const struct option size = {.kind = OPTION_SIZE};
    return option_read_number(&size, arena_format(arena, "%.*s", (int)length, text), bytes);
}

static bool add_size(uint32_t bytes, uint32_t *sizes, int *count)
{
    if (*count == MAXIMUM_SIZES)
        return false;
    sizes[(*count)++] = bytes;
    return true;
}

static bool add_range(struct arena *arena, const char *text, size_t length, uint32_t *sizes, int *count)
{
    const char *colon = memchr(text, ':', length);
    uint32_t first, last;
    size_t head = colon ? (size_t)(colon - text) : length;
    if (!read_size(arena, text, head, &first) || (colon && !read_size(arena, colon + 1, length - head - 1, &last)))
        return false;
    last = colon ? last : first;
    bool good = first <= last;
    for (uint64_t bytes = first; good && bytes < last; bytes *= 2)
        good = add_size((uint32_t)bytes, sizes, count);
    return good && add_size(last, sizes, count);
}

static bool read_sizes(struct arena *arena, const char *option, const char *text, uint32_t most, uint32_t *sizes, int *count)
{
    *count = 0;
    for (const char *part = text;;) {
        size_t length = strcspn(part, ",");
        if (!add_range(arena, part, length, sizes, count) || sizes[*count - 1] > most)
            return complain(option, text,
                            arena_format(arena, "sizes such as 256k,512k or 256k:4M are expected, up to %uM, %d at most",
                                         (unsigned)(most >> 20), MAXIMUM_SIZES));
        if (!part[length])
            return true;
        part += length + 1;
    }
}

static bool read_memories(struct asked *asked, const struct target *target)
{
    const struct options *options = asked->options;
    struct explore_question *question = &asked->question;
    add_size(target->l1_bytes, asked->l1_bytes, &question->l1_count);
    add_size(target->l2_bytes, asked->l2_bytes, &question->l2_count);
    return (!options->l1_list || read_sizes(asked->arena, "--l1", options->l1_list, TARGET_MAXIMUM_L1_BYTES, asked->l1_bytes,
                                            &question->l1_count)) &&
           (!options->l2_list || read_sizes(asked->arena, "--l2", options->l2_list, TARGET_MAXIMUM_L2_BYTES, asked->l2_bytes,
                                            &question->l2_count));
}

/* ---- clocks ---- */

static bool add_pair(struct asked *asked, uint32_t controller_mhz, uint32_t cluster_mhz)
{
    if (asked->question.clock_count == MAXIMUM_PAIRS)
        return false;
    asked->clocks[asked->question.clock_count++] = (struct clock_pair){controller_mhz, cluster_mhz};
    return true;
}

/* 100/100, and what there is between: four clocks of the cluster with three of the controller. A target that says nothing of
 * clocks has equal ones. */
static void add_default_pairs(struct asked *asked, const struct target *target)
{
    static const uint32_t cluster_percent[] = {20, 40, 70, 100}, controller_percent[] = {40, 70, 100};
    if (!target->low.source) {
        add_pair(asked, 100, 100);
        return;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            add_pair(asked, target->controller_most_mhz * controller_percent[j] / 100,
                     target->cluster_most_mhz * cluster_percent[i] / 100);
}

static bool read_pairs(struct asked *asked, const struct target *target)
{
    const char *list = asked->options->clock_list;
    if (!list) {
        add_default_pairs(asked, target);
        return true;
    }
    for (const char *part = list;;) {
        size_t length = strcspn(part, ",");
        uint32_t controller_mhz, cluster_mhz;
        if (!target_read_clocks(arena_format(asked->arena, "%.*s", (int)length, part), &controller_mhz, &cluster_mhz) ||
            !add_pair(asked, controller_mhz, cluster_mhz))
            return complain("--clocks", list, "pairs of MHz, controller/cluster, are expected: 100/100,250/175");
        if (!part[length])
            return true;
        part += length + 1;
    }
}

/* Is each of them one that the target can have? */
static bool check_pairs(const struct asked *asked, const struct target *target, struct diagnostics *diagnostics)
{
    bool good = true;
    for (int i = 0; i < asked->question.clock_count; i++) {
        struct target other = *target;
        good = target_set_clocks(&other, asked->clocks[i].controller_mhz, asked->clocks[i].cluster_mhz, diagnostics) && good;
    }
    return good;
}

/* ---- "33ms", "500us", "0.1s" ---- */

static bool read_deadline(struct asked *asked)
{
    const char *text = asked->options->deadline;
    char *unit = NULL;
    if (!text)
        return true;
    double number = *text >= '0' && *text <= '9' ? strtod(text, &unit) : 0;
    double scale = !unit ? 0 : !strcmp(unit, "ms") ? 1 : !strcmp(unit, "us") ? 1e-3 : !strcmp(unit, "s") ? 1e3 : 0;
    asked->question.deadline_milliseconds = number * scale;
    if (asked->question.deadline_milliseconds > 0 && isfinite(asked->question.deadline_milliseconds))
        return true;
    return complain("--deadline", text, "a time such as 33ms, 500us or 0.1s is expected");
}

/* ---- the command ---- */

static bool run(struct asked *asked, struct diagnostics *diagnostics)
{
    struct exploration exploration;
    struct outputs outputs = {0};
    struct text text = {.arena = asked->arena};
    if (!explore(&asked->question, &exploration, asked->arena, diagnostics))
        return false;
    explore_text(&exploration, &text);
    explore_add_files(&exploration, &outputs, asked->arena);
    fputs(text.bytes, stdout);
    return !asked->options->folder || outputs_commit(&outputs, asked->options->folder, asked->arena, diagnostics);
}

static bool has_time(const struct target *target, struct diagnostics *diagnostics)
{
    if (target->counts_instructions)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, "target",
                 "the costs of %s are instructions, from which no time follows; dory plan with --l1-bytes and --l2-bytes "
                 "compares sizes of memories",
                 target->name);
    return !target->counts_instructions;
}

enum exit_status command_explore(struct invocation *invocation)
{
    const struct options *options = &invocation->options;
    struct diagnostics *diagnostics = &invocation->diagnostics;
    struct target target;
    struct asked *asked = arena_allocate(&invocation->arena, sizeof *asked);
    asked->options = options;
    asked->arena = &invocation->arena;
    if (!target_load(&target, options->target, &invocation->arena, diagnostics) || !has_time(&target, diagnostics))
        return EXIT_FAULT;
    if (!read_memories(asked, &target) || !read_pairs(asked, &target) || !read_deadline(asked))
        return EXIT_USAGE;
    struct plan_options cores = {.cores = options->cores};
    if (!check_pairs(asked, &target, diagnostics) || !plan_options_check(&cores, &target, diagnostics))
        return EXIT_FAULT;
    struct network *network = model_load(options, &invocation->arena, diagnostics);
    if (!network)
        return EXIT_FAULT;
    asked->question.network = model_shrink(network, options, &invocation->arena);
    asked->question.target = &target;
    asked->question.cores = options->cores;
    asked->question.application_bytes = options->application_bytes ? options->application_bytes : BUDGET_APPLICATION_BYTES;
    asked->question.l1_bytes = asked->l1_bytes;
    asked->question.l2_bytes = asked->l2_bytes;
    asked->question.clocks = asked->clocks;
    return run(asked, diagnostics) ? EXIT_DONE : EXIT_FAULT;
}
