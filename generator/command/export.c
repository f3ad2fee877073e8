#include "command/export.h"

#include <dirent.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "command/project_template.h"
#include "export/sources.h"
#include "target/target.h"

/* ---- before ---- */

/* Names of dory and of its HAL get the network's in front. */
static bool check_name(const char *name, struct diagnostics *diagnostics)
{
    bool is_like_dory = !strcasecmp(name, "dory") || !strcasecmp(name, "hal") || !strncasecmp(name, "dory_", 5) ||
                        !strncasecmp(name, "hal_", 4);
    if (emit_is_identifier(name) && !is_like_dory)
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
             "'%s' cannot be the network's name in C, where names begin with it%s; choose another with --name", name,
             is_like_dory ? ", and dory's own begin so" : "");
    return false;
}

/* What is in it may be somebody's work, or of another network. */
static bool check_folder(const char *folder, struct diagnostics *diagnostics)
{
    DIR *entries = opendir(folder);
    int count = 0;
    for (const struct dirent *entry; entries && (entry = readdir(entries)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (entries)
        closedir(entries);
    if (count > 0)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "'%s' is not empty; dory export writes new folders only", folder);
    return count == 0;
}

static bool check_target(const struct target *target, struct diagnostics *diagnostics)
{
    if (target->constants_in_flash || !strcmp(target->name, "host"))
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
             "%s needs its HAL: what is exported runs on one core that reads its program's constants where they lie, as on "
             "cortex-m4, cortex-m7, cortex-m33, cortex-m55, host, and where a description has constants_in_flash; for %s "
             "there are dory new and dory_add_network",
             target->name, target->name);
    return false;
}

bool export_check(const struct options *options, struct target *target, struct arena *arena, struct diagnostics *diagnostics)
{
    if (!check_name(options->name, diagnostics) || !check_folder(options->operands[0], diagnostics) ||
        !check_target(target, diagnostics) || !project_find_share("export", arena, diagnostics))
        return false;
    target->cores = 1;
    target->ram_bytes = 0;
    target->constants_in_flash = 1;
    return true;
}

/* ---- the files ---- */

/* Of the folder src, those that a compiler takes, each between two texts. */
static const char *list_sources(const struct outputs *outputs, const char *before, const char *after, struct arena *arena)
{
    struct text text = {.arena = arena};
    for (int i = 0; i < outputs->count; i++) {
        size_t length = strlen(outputs->list[i].name);
        if (!strcmp(outputs->list[i].name + length - 2, ".c"))
            text_add(&text, "%s%s%s", before, outputs->list[i].name, after);
    }
    return text.bytes;
}

static void add_packages(const struct options *options, const struct emission *emission, struct outputs *outputs,
                         struct arena *arena)
{
    const struct replacement replacements[] = {
        {"@name@", options->name},
        {"@NAME@", emit_upper_case(options->name, arena)},
        {"@version@", DORY_VERSION},
        {"@target@", emission->plan->target->name},
        {"@sources@", list_sources(outputs, "  ${CMAKE_CURRENT_LIST_DIR}/", "\n", arena)},
        {"@files@", list_sources(outputs, "        - file: ", "\n", arena)},
        {NULL, NULL},
    };
    for (int i = 0; i < project_template_count; i++) {
        const struct project_template *file = &project_templates[i];
        if (strcmp(file->board, "export") != 0)
            continue;
        const char *text = project_fill(file->text, replacements, arena);
        outputs_add(outputs, project_fill(file->name, replacements, arena), text, strlen(text));
    }
}

bool export_add(const struct options *options, const struct emission *emission, struct outputs *outputs, struct arena *arena,
                struct diagnostics *diagnostics)
{
    struct outputs own = {0};
    const char *share = project_find_share("export", arena, diagnostics);
    const char *weights = emit_exported_weights(emission, arena);
    emit_exported(emission, &own, arena);
    if (!share || !export_sources(share, options->name, &own, outputs, arena, diagnostics))
        return false;
    outputs_add(outputs, arena_format(arena, "src/%s_weights.c", options->name), weights, strlen(weights));
    add_packages(options, emission, outputs, arena);
    return true;
}

void export_print(const struct options *options, const struct emission *emission, const struct outputs *outputs)
{
    uint64_t weights = 0;
    for (int i = 0; i < emission->plan->network->layer_count; i++)
        weights += emission->plan->layers[i].weights_bytes;
    printf("%s holds '%s' as C, in %d files: src/%s.h is its interface, README.md says how to build it.\n"
           "RAM: an arena of %" PRIu32 " bytes and 4 kB of stack. Flash: %" PRIu64 " bytes of weights, and the program.\n",
           options->operands[0], options->name, outputs->count, options->name, emit_exported_arena_bytes(emission), weights);
}
