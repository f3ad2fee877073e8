#include "command/configuration.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/terminal.h"
#include "base/text.h"
#include "command/option_table.h"

/* The key of a file beside a model that holds options for it. Its value is the version of the format. */
#define MARK    "dory"
#define VERSION 1

struct configuration {
    struct options *options;
    const char *path;
    struct arena *arena;
};

static const char *beside(const struct configuration *configuration, const char *path)
{
    const char *slash = strrchr(configuration->path, '/');
    if (*path == '/' || !slash)
        return arena_format(configuration->arena, "%s", path);
    return arena_format(configuration->arena, "%.*s%s", (int)(slash + 1 - configuration->path), configuration->path, path);
}

static bool set_text_from_json(const struct configuration *configuration, const struct option *option, const json_t *value)
{
    const char **place = option_text(configuration->options, option);
    const char *text = json_string_value(value);
    bool is_word = option->kind == OPTION_TEXT || (text && !strcmp(option->key, "check") && !strcmp(text, "golden"));
    if (text && !*place)
        *place = is_word ? arena_format(configuration->arena, "%s", text) : beside(configuration, text);
    return text && *text;
}

/* A number, or for a size a text, too: "64k". */
static bool set_number_from_json(const struct configuration *configuration, const struct option *option, const json_t *value)
{
    uint32_t *place = option_number(configuration->options, option), number = 0;
    json_int_t integer = json_integer_value(value);
    bool is_text = json_is_string(value) && option->kind == OPTION_SIZE;
    if (is_text ? !option_read_number(option, json_string_value(value), &number) : integer < 1 || integer > UINT32_MAX)
        return false;
    if (!*place)
        *place = is_text ? number : (uint32_t)integer;
    return true;
}

static bool set_digits_from_json(const struct configuration *configuration, const struct option *option, const json_t *value)
{
    const char **place = option_text(configuration->options, option);
    if (!*place)
        *place = arena_format(configuration->arena, "%lld", (long long)json_integer_value(value));
    return json_is_integer(value);
}

/* Only what the command line has not set. False where the value has the wrong type. */
static bool set_from_json(const struct configuration *configuration, const struct option *option, const json_t *value)
{
    switch (option->kind) {
    case OPTION_NUMBER:
    case OPTION_SIZE: return set_number_from_json(configuration, option, value);
    case OPTION_DIGITS: return set_digits_from_json(configuration, option, value);
    case OPTION_FLAG: *option_flag(configuration->options, option) |= json_is_true(value); return json_is_boolean(value);
    default: return set_text_from_json(configuration, option, value);
    }
}

static void say_unknown(const char *path, const char *key)
{
    struct nearest nearest = {.wanted = key, .length = strlen(key)};
    for (int i = 0; i < option_count; i++)
        nearest_offer(&nearest, option_table[i].key);
    fprintf(stderr, "%s: error: unknown key '%s'", path, key);
    if (nearest.best)
        fprintf(stderr, "; did you mean '%s'?", nearest.best);
    fputc('\n', stderr);
}

static bool check_version(const struct configuration *configuration, const json_t *value)
{
    bool good = json_integer_value(value) == VERSION;
    if (!good)
        fprintf(stderr, "%s: error: '" MARK "': %d, the version of the format, is expected\n", configuration->path, VERSION);
    return good;
}

static bool read_entry(const struct configuration *configuration, const char *key, const json_t *value)
{
    if (!strcmp(key, MARK))
        return check_version(configuration, value);
    for (int i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        if (!option->key || strcmp(option->key, key) != 0)
            continue;
        if (set_from_json(configuration, option, value))
            return true;
        fprintf(stderr, "%s: error: '%s': %s is expected\n", configuration->path, key, option_expected(option->kind));
        return false;
    }
    say_unknown(configuration->path, key);
    return false;
}

static bool read_configuration(struct options *options, struct arena *arena)
{
    json_error_t error;
    struct configuration configuration = {.options = options, .path = options->config, .arena = arena};
    json_t *root = json_load_file(options->config, JSON_REJECT_DUPLICATES, &error);
    if (!root && error.line > 0)
        fprintf(stderr, "%s:%d:%d: error: %s\n", options->config, error.line, error.column, error.text);
    else if (!root)
        fprintf(stderr, "%s: error: %s\n", options->config, error.text);
    else if (!json_is_object(root))
        fprintf(stderr, "%s: error: an object is expected\n", options->config);
    bool good = json_is_object(root);
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value) good = read_entry(&configuration, key, value) && good;
    json_decref(root);
    return good;
}

/* ---- which file ---- */

/* "net.json" beside "net.onnx", if there is such a file; else null. */
static const char *find_sidecar(const char *model, struct arena *arena)
{
    const char *dot = strrchr(model, '.'), *slash = strrchr(model, '/');
    if (!dot || (slash && dot < slash) || !strcmp(dot, ".json"))
        return NULL;
    const char *path = arena_format(arena, "%.*s.json", (int)(dot - model), model);
    return access(path, F_OK) == 0 ? path : NULL;
}

/* The key by which a file says that it holds options for the model; null where it does not. */
static const char *mark_of(const json_t *root, const char *model)
{
    const char *named = json_string_value(json_object_get(root, "onnx_file"));
    if (json_object_get(root, MARK))
        return MARK;
    return named && !strcmp(text_file_name(named), text_file_name(model)) ? "onnx_file" : NULL;
}

static bool is_option(const char *key)
{
    for (int i = 0; i < option_count; i++)
        if (option_table[i].key && !strcmp(option_table[i].key, key))
            return true;
    return false;
}

static bool has_options(json_t *root)
{
    bool has = false;
    for (void *entry = json_object_iter(root); entry; entry = json_object_iter_next(root, entry))
        has = has || is_option(json_object_iter_key(entry));
    return has;
}

/* Either way the file is named, so that nobody has to guess. What looks as if it had been meant is worth a warning. */
static void say_whether_read(const char *path, json_t *root, const char *mark, const char *fault)
{
    bool warns = fault || (!mark && has_options(root));
    if (mark && !terminal_is_quiet())
        fprintf(stderr, "%s: note: options are read from this file, which lies beside the model and has the key '%s'\n",
                path, mark);
    else if (fault)
        fprintf(stderr, "%s: warning: this file beside the model is not read: %s\n", path, fault);
    else if (!mark && (warns || !terminal_is_quiet()))
        fprintf(stderr,
                "%s: %s: this file beside the model is not read, since it has no key '" MARK
                "' and no 'onnx_file' that is the "
                "model; --config reads any file\n",
                path, warns ? "warning" : "note");
}

/* A file beside the model may be anything, for instance what a training wrote: only one that says so is taken for options.
 */
static const char *choose_sidecar(struct options *options, struct arena *arena)
{
    const char *path = find_sidecar(options->model, arena);
    if (!path)
        return NULL;
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    const char *mark = mark_of(root, options->model);
    say_whether_read(path, root, mark, root ? NULL : error.text);
    json_decref(root);
    options->unread_config = mark ? NULL : path;
    return mark ? path : NULL;
}

/* The one that the command line names, or the model's own. */
bool configuration_read(struct options *options, struct arena *arena)
{
    if (options->config && !strcmp(options->config, "none"))
        options->config = NULL;
    else if (!options->config && options->model)
        options->config = choose_sidecar(options, arena);
    return !options->config || read_configuration(options, arena);
}
