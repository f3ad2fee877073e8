#include "command/options.h"

#include "network/range.h"
#include "plan/plan.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what there is ---- */

enum option_kind {
    OPTION_TEXT,
    OPTION_PATH, /* in a configuration file: relative to its folder */
    OPTION_NUMBER,
    OPTION_DIGITS, /* a number that another module reads; a text on the command line */
    OPTION_FLAG
};

struct option {
    const char *flag; /* on the command line; null: in a configuration file only */
    const char *key;  /* in a configuration file; null: on the command line only */
    enum option_kind kind;
    size_t offset; /* in struct generate_options */
    const char *argument, *help;
};

#define PLACE(MEMBER) offsetof(struct generate_options, MEMBER)

static const struct option options_table[] = {
    {"--target", "target", OPTION_TEXT, PLACE(target), "T", "host, virt, gap8 or a description FILE.json; default host"},
    {"--output-dir", NULL, OPTION_PATH, PLACE(folder), "DIR", "folder of the generated files; default: this one"},
    {"--name", "name", OPTION_TEXT, PLACE(name), "N", "of the network in C, and of the files; default: the model file's"},
    {"--config", NULL, OPTION_PATH, PLACE(config), "FILE",
     "more options, in JSON; default: MODEL.json, where there is one; none: no file"},
    {"--l1-bytes", "l1_bytes", OPTION_NUMBER, PLACE(l1_bytes), "n", "size of the L1 memory, stacks included"},
    {"--l2-bytes", "l2_bytes", OPTION_NUMBER, PLACE(l2_bytes), "n", "size of the network's L2 buffer"},
    {"--firmware", NULL, OPTION_PATH, PLACE(firmware), "ELF",
     "program with the network's code, see dory probe: the buffer is what it leaves of L2, --l2-bytes aside"},
    {"--application-bytes", "application_bytes", OPTION_NUMBER, PLACE(application_bytes), "n",
     "of L2, for the application's code and data, --l2-bytes aside; default 16384"},
    {"--cores", "cores", OPTION_NUMBER, PLACE(cores), "n", "of the cluster"},
    {"--exact-add", "exact_add", OPTION_FLAG, PLACE(exact_add), NULL, "16 bits for sums that can exceed 8; else saturate"},
    {"--tensors-in-ram", "tensors_in_ram", OPTION_FLAG, PLACE(tensors_in_ram), NULL,
     "for tests: intermediate tensors in L3 RAM where possible"},
    {"--frontend", "frontend", OPTION_TEXT, PLACE(front_end), "F", "nemo, quantlab or detect; default detect"},
    {"--input-bits", "input_bits", OPTION_DIGITS, PLACE(input_bits), "n",
     "of an element of the input: 2, 4 or 8; default 8"},
    {"--input-signed", "input_signed", OPTION_FLAG, PLACE(input_is_signed), NULL, "the input has negative values"},
    {"--check", "check", OPTION_PATH, PLACE(check), "DIR",
     "also a check program's data, from DIR/input.txt and out_layer<n>.txt; 'golden': from dory's interpreter"},
    {"--input", "input", OPTION_PATH, PLACE(input), "FILE", "the check's input; default: DIR/input.txt, else from a seed"},
    {"--dump-tensors", "dump_tensors", OPTION_TEXT, PLACE(dump_tensors), "L",
     "the firmware writes the outputs of layers L to its log, for dory diff: all, or numbers such as 0,4-6"},
    {"--report", "report", OPTION_FLAG, PLACE(report), NULL, "also report.html, report.json and report_trace.json"},
    {"--log", NULL, OPTION_PATH, PLACE(log), "FILE", "of a run of the check program: the report shows its measured cycles"},
    {"--list-outputs", NULL, OPTION_FLAG, PLACE(list_outputs), NULL, "print the files that would be written, and stop"},
    {"--depfile", NULL, OPTION_PATH, PLACE(depfile), "FILE", "write the files that the result depends on, for ninja"},
    {"--dump", NULL, OPTION_TEXT, PLACE(dump), "PASS", "print the result of a pass: import, range, plan, layout"},
    {"--help", NULL, OPTION_FLAG, PLACE(help), NULL, "this"},
    {NULL, "onnx_file", OPTION_PATH, PLACE(model), NULL, NULL},
    {NULL, "code reserved space", OPTION_NUMBER, PLACE(code_reserved_bytes), NULL, NULL},
    {NULL, "BNRelu_bits", OPTION_NUMBER, PLACE(constant_bits), NULL, NULL},
    {NULL, "n_inputs", OPTION_NUMBER, PLACE(input_count), NULL, NULL},
};

#define OPTION_COUNT (sizeof options_table / sizeof *options_table)

void options_help(FILE *stream)
{
    fputs("Usage: dory generate MODEL.onnx [OPTION]...\nWrites the C sources and weights of a network.\n\n", stream);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &options_table[i];
        if (option->flag)
            fprintf(stream, "  %-16s %-5s %s\n", option->flag, option->argument ? option->argument : "", option->help);
    }
}

/* ---- setting one ---- */

/* The places are of three types; which one, the option's kind says. */
static const char **text_place(struct generate_options *options, const struct option *option)
{
    return (const char **)(void *)((char *)options + option->offset);
}

static uint32_t *number_place(struct generate_options *options, const struct option *option)
{
    return (uint32_t *)(void *)((char *)options + option->offset);
}

static bool *flag_place(struct generate_options *options, const struct option *option)
{
    return (bool *)(void *)((char *)options + option->offset);
}

static bool read_number(const char *text, uint32_t *number)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || value == 0 || value > UINT32_MAX)
        return false;
    *number = (uint32_t)value;
    return true;
}

/* ---- nearest name, for misspelt ones ---- */

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Letters to insert, delete or change. Names beyond a line's length are not near to anything. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[128], length = strlen(b);
    if (length >= sizeof row / sizeof *row)
        return SIZE_MAX;
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= length; j++) {
            size_t above = row[j];
            row[j] = smaller(smaller(above, row[j - 1]) + 1, diagonal + (a[i] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[length];
}

static const char *nearest(const char *name, bool is_key)
{
    const char *best = "";
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const char *known = is_key ? options_table[i].key : options_table[i].flag;
        size_t distance = known ? edit_distance(known, name) : SIZE_MAX;
        if (distance < least) {
            least = distance;
            best = known;
        }
    }
    return best;
}

/* ---- command line ---- */

static const struct option *find_flag(const char *text, size_t length)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (options_table[i].flag && strlen(options_table[i].flag) == length &&
            !strncmp(options_table[i].flag, text, length))
            return &options_table[i];
    return NULL;
}

static bool set_from_text(struct generate_options *options, const struct option *option, const char *value)
{
    if (option->kind != OPTION_NUMBER) {
        *text_place(options, option) = value;
        return true;
    }
    if (read_number(value, number_place(options, option)))
        return true;
    fprintf(stderr, "dory generate: error: %s '%s': a number from 1 to %u is expected\n", option->flag, value, UINT32_MAX);
    return false;
}

/* Takes one argument, or two where the value is the next one. */
static bool read_flag(struct generate_options *options, int argc, char **argv, int *index)
{
    const char *text = argv[*index], *equals = strchr(text, '=');
    const struct option *option = find_flag(text, equals ? (size_t)(equals - text) : strlen(text));
    if (!option) {
        fprintf(stderr, "dory generate: error: unknown option '%s'; did you mean %s?\n", text, nearest(text, false));
        return false;
    }
    if (option->kind == OPTION_FLAG) {
        *flag_place(options, option) = true;
        if (equals)
            fprintf(stderr, "dory generate: error: %s takes no value\n", option->flag);
        return !equals;
    }
    if (!equals && *index + 1 >= argc) {
        fprintf(stderr, "dory generate: error: %s needs a value\n", option->flag);
        return false;
    }
    return set_from_text(options, option, equals ? equals + 1 : argv[++*index]);
}

static bool read_command_line(struct generate_options *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            if (!read_flag(options, argc, argv, &i))
                return false;
        } else if (options->model) {
            fprintf(stderr, "dory generate: error: two models, '%s' and '%s'\n", options->model, argv[i]);
            return false;
        } else {
            options->model = argv[i];
        }
    }
    return true;
}

/* ---- configuration file ---- */

struct configuration {
    struct generate_options *options;
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
    const char **place = text_place(configuration->options, option);
    const char *text = json_string_value(value);
    bool is_word = option->kind == OPTION_TEXT || (text && !strcmp(option->key, "check") && !strcmp(text, "golden"));
    if (text && !*place)
        *place = is_word ? arena_format(configuration->arena, "%s", text) : beside(configuration, text);
    return text != NULL;
}

/* Only what the command line has not set. False where the value has the wrong type. */
static bool set_from_json(const struct configuration *configuration, const struct option *option, const json_t *value)
{
    struct generate_options *options = configuration->options;
    if (option->kind == OPTION_NUMBER) {
        json_int_t number = json_integer_value(value);
        uint32_t *place = number_place(options, option);
        if (number < 1 || number > UINT32_MAX)
            return false;
        *place = *place ? *place : (uint32_t)number;
        return true;
    }
    if (option->kind == OPTION_DIGITS) {
        const char **place = text_place(options, option);
        if (!*place)
            *place = arena_format(configuration->arena, "%lld", (long long)json_integer_value(value));
        return json_is_integer(value);
    }
    if (option->kind == OPTION_FLAG) {
        *flag_place(options, option) |= json_is_true(value);
        return json_is_boolean(value);
    }
    return set_text_from_json(configuration, option, value);
}

static bool read_entry(const struct configuration *configuration, const char *key, const json_t *value)
{
    static const char *const expected[] = {
        [OPTION_TEXT] = "a text",           [OPTION_PATH] = "a path",
        [OPTION_DIGITS] = "a whole number", [OPTION_NUMBER] = "a whole number from 1 to 4294967295",
        [OPTION_FLAG] = "true or false",
    };
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &options_table[i];
        if (!option->key || strcmp(option->key, key) != 0)
            continue;
        if (set_from_json(configuration, option, value))
            return true;
        fprintf(stderr, "%s: error: '%s': %s is expected\n", configuration->path, key, expected[option->kind]);
        return false;
    }
    fprintf(stderr, "%s: error: unknown key '%s'; did you mean '%s'?\n", configuration->path, key, nearest(key, true));
    return false;
}

static bool read_configuration(struct generate_options *options, struct arena *arena)
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

/* ---- both ---- */

/* "net.json" beside "net.onnx", if there is such a file; else null. */
static const char *find_sidecar(const char *model, struct arena *arena)
{
    size_t length = strlen(model), suffix = strlen(".onnx");
    if (length <= suffix || strcmp(model + length - suffix, ".onnx") != 0)
        return NULL;
    const char *path = arena_format(arena, "%.*s.json", (int)(length - suffix), model);
    return access(path, R_OK) == 0 ? path : NULL;
}

/* The one that the command line names, or the model's own. */
static bool choose_configuration(struct generate_options *options, struct arena *arena)
{
    if (options->config && !strcmp(options->config, "none"))
        options->config = NULL;
    else if (!options->config && options->model)
        options->config = find_sidecar(options->model, arena);
    return !options->config || read_configuration(options, arena);
}

/* The model file's name, as far as it can be one of C: "my-net.onnx" is my_net. */
static const char *default_name(const char *model, struct arena *arena)
{
    const char *slash = strrchr(model, '/');
    char *name = arena_format(arena, "%s", slash ? slash + 1 : model);
    char *dot = strrchr(name, '.');
    if (dot && dot != name)
        *dot = 0;
    for (char *letter = name; *letter; letter++)
        if (!((*letter >= 'a' && *letter <= 'z') || (*letter >= 'A' && *letter <= 'Z') ||
              (*letter >= '0' && *letter <= '9')))
            *letter = '_';
    return name;
}

bool options_read(struct generate_options *options, int argc, char **argv, struct arena *arena)
{
    *options = (struct generate_options){0};
    if (!read_command_line(options, argc, argv))
        return false;
    if (options->help)
        return true;
    if (!choose_configuration(options, arena))
        return false;
    if (!options->model) {
        fprintf(stderr, "dory generate: error: no model; 'dory generate --help' explains\n");
        return false;
    }
    options->target = options->target ? options->target : "host";
    options->folder = options->folder && *options->folder ? options->folder : ".";
    options->name = options->name ? options->name : default_name(options->model, arena);
    return true;
}

const char *options_for_load(const struct generate_options *options, struct load_options *load)
{
    const char *fault = NULL;
    *load = (struct load_options){.input_is_signed = options->input_is_signed};
    if (options->front_end)
        fault = load_option_parse(load, "frontend", options->front_end);
    if (!fault && options->input_bits)
        fault = load_option_parse(load, "input-bits", options->input_bits);
    return fault;
}

struct network *options_network(const struct generate_options *options, struct arena *arena, struct diagnostics *diagnostics)
{
    struct load_options load;
    struct range_options range = {.exact_add = options->exact_add};
    const char *fault = options_for_load(options, &load);
    if (fault)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s", fault);
    struct network *network = fault ? NULL : network_load(options->model, &load, arena, diagnostics);
    return network && range_prove(network, &range, arena, diagnostics) ? network : NULL;
}
