#include "command/configuration.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "command/option_table.h"

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
    return text != NULL;
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

static bool read_entry(const struct configuration *configuration, const char *key, const json_t *value)
{
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
    return access(path, R_OK) == 0 ? path : NULL;
}

/* The one that the command line names, or the model's own. */
bool configuration_read(struct options *options, struct arena *arena)
{
    if (options->config && !strcmp(options->config, "none"))
        options->config = NULL;
    else if (!options->config && options->model)
        options->config = find_sidecar(options->model, arena);
    return !options->config || read_configuration(options, arena);
}
