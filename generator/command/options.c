#include "command/options.h"

#include <string.h>

#include "base/nearest.h"
#include "command/commands.h"
#include "command/configuration.h"
#include "command/option_table.h"
#include "target/target.h"

/* ---- which there are ---- */

static bool is_taken(const struct option *option, unsigned commands)
{
    return option->flag && (option->commands & commands);
}

/* Of options with the same name, the command's own comes before one that it passes over. */
static const struct option *find_flag(const char *text, size_t length, unsigned commands)
{
    for (int i = 0; i < option_count; i++)
        if (is_taken(&option_table[i], commands) && strlen(option_table[i].flag) == length &&
            !strncmp(option_table[i].flag, text, length))
            return &option_table[i];
    return NULL;
}

void options_help(const struct command *command, FILE *stream)
{
    bool has_sizes = false;
    for (int i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        if (!is_taken(option, command->bit))
            continue;
        fprintf(stream, "  %-19s %-5s %s\n", option->flag, option->argument ? option->argument : "", option->help);
        has_sizes |= option->kind == OPTION_SIZE;
    }
    if (has_sizes)
        fputs("\nA SIZE is in bytes, or with k or K in 1024 bytes, with m or M in 1048576: 65536, 64k, 1M.\n", stream);
    if (command->passes_over)
        fputs("The other options of dory generate are taken, too, and have no effect here.\n", stream);
}

/* ---- command line ---- */

/* Its words, while they are read. */
struct reader {
    const struct command *command;
    struct options *options;
    struct arena *arena;
    int argc;
    char **argv;
    int next;
    int operand_count;
};

static void say_unknown(const struct command *command, const char *text, size_t length)
{
    const struct option *other = find_flag(text, length, ~0U);
    struct nearest nearest = {.wanted = text, .length = length};
    for (int i = 0; i < option_count; i++)
        if (is_taken(&option_table[i], command->bit | command->passes_over))
            nearest_offer(&nearest, option_table[i].flag);
    if (nearest.best && !strncmp(nearest.best, text, length)) /* the start of one that there is */
        other = NULL;
    if (other)
        fprintf(stderr, "dory %s: error: %s has no effect here; dory %s takes it", command->name, other->flag,
                command_of_bit(other->commands & -other->commands)->name);
    else
        fprintf(stderr, "dory %s: error: unknown option '%.*s'", command->name, (int)length, text);
    if (nearest.best && !other)
        fprintf(stderr, "; did you mean %s?\n", nearest.best);
    else
        fprintf(stderr, "; 'dory %s --help' lists all\n", command->name);
}

/* What a shell makes of an empty variable: nothing between the quotes, or the next option where the value should be. */
static bool is_absent(const struct reader *reader, const struct option *option, const char *value, bool is_next_word)
{
    bool absent = !*value || (is_next_word && !strncmp(value, "--", 2));
    if (absent)
        fprintf(stderr, "dory %s: error: %s needs a value, and there is '%s'; is a variable empty?\n", reader->command->name,
                option->flag, value);
    return absent;
}

static bool set_value(struct reader *reader, const struct option *option, const char *value)
{
    if (option->kind == OPTION_NUMBER || option->kind == OPTION_SIZE) {
        if (option_read_number(option, value, option_number(reader->options, option)))
            return true;
        fprintf(stderr, "dory %s: error: %s '%s': %s is expected\n", reader->command->name, option->flag, value,
                option_expected(option->kind));
        return false;
    }
    if (option->kind == OPTION_PATHS)
        option_list_add(option_list(reader->options, option), value, reader->arena);
    else
        *option_text(reader->options, option) = value;
    return true;
}

static bool set_flag(struct reader *reader, const struct option *option, bool has_value)
{
    *option_flag(reader->options, option) = true;
    if (has_value)
        fprintf(stderr, "dory %s: error: %s takes no value\n", reader->command->name, option->flag);
    return !has_value;
}

/* One word, or two where the value is the next one. */
static bool read_option(struct reader *reader, const char *text)
{
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    const struct option *option = find_flag(text, length, reader->command->bit);
    if (!option)
        option = find_flag(text, length, reader->command->passes_over);
    if (!option) {
        say_unknown(reader->command, text, length);
        return false;
    }
    if (option->kind == OPTION_FLAG)
        return set_flag(reader, option, equals != NULL);
    if (!equals && reader->next >= reader->argc) {
        fprintf(stderr, "dory %s: error: %s needs a value\n", reader->command->name, option->flag);
        return false;
    }
    const char *value = equals ? equals + 1 : reader->argv[reader->next++];
    bool is_number = option->kind == OPTION_NUMBER || option->kind == OPTION_SIZE; /* what is none is said there */
    return (is_number || !is_absent(reader, option, value, !equals)) && set_value(reader, option, value);
}

static int count_words(const char *text)
{
    int count = *text != 0;
    for (; *text; text++)
        count += *text == ' ';
    return count;
}

static bool complain(const struct command *command, const char *fault)
{
    fprintf(stderr, "dory %s: error: %s; usage: ", command->name, fault);
    command_print_usage(command, stderr);
    fputc('\n', stderr);
    return false;
}

static bool read_operand(struct reader *reader, const char *text)
{
    if (reader->operand_count == count_words(reader->command->operands))
        return complain(reader->command, arena_format(reader->arena, "'%s' is one argument too many", text));
    reader->options->operands[reader->operand_count++] = text;
    return true;
}

static bool read_command_line(struct reader *reader)
{
    while (reader->next < reader->argc) {
        const char *text = reader->argv[reader->next++];
        if (!(text[0] == '-' ? read_option(reader, text) : read_operand(reader, text)))
            return false;
    }
    return true;
}

/* ---- what follows from them ---- */

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

/* How the model is read, where the words for it are those that there are. */
static bool choose_load(struct options *options, const struct command *command)
{
    const char *fault = NULL;
    if (options->front_end)
        fault = load_option_parse(&options->load, "frontend", options->front_end);
    if (!fault && options->input_bits)
        fault = load_option_parse(&options->load, "input-bits", options->input_bits);
    if (fault)
        fprintf(stderr, "dory %s: error: %s\n", command->name, fault);
    return !fault;
}

static bool choose_requantisation(struct options *options, const struct command *command)
{
    const char *word = options->requantisation ? options->requantisation : "exact";
    options->range.fast_requantisation = !strcmp(word, "fast");
    if (options->range.fast_requantisation || !strcmp(word, "exact"))
        return true;
    fprintf(stderr, "dory %s: error: requantisation '%s'; exact and fast are there\n", command->name, word);
    return false;
}

static bool choose_clocks(struct options *options, const struct command *command)
{
    if (!options->clocks)
        return true;
    if (!target_read_clocks(options->clocks, &options->controller_mhz, &options->cluster_mhz)) {
        fprintf(stderr,
                "dory %s: error: clocks '%s': two numbers of MHz are expected, controller/cluster, such as 250/175\n",
                command->name, options->clocks);
        return false;
    }
    options->clock_mhz = options->clock_mhz ? options->clock_mhz : options->cluster_mhz;
    return true;
}

/* The place of `text` among the words; the first one where it is null. -1: it is none of them. */
static int find_word(const char *const *words, int count, const char *text)
{
    for (int i = 0; i < count; i++)
        if (!text || !strcmp(text, words[i]))
            return i;
    return -1;
}

static bool choose_weights(struct options *options, const struct command *command)
{
    static const char *const words[] = {
        [WEIGHTS_FLASH] = "flash", [WEIGHTS_RESIDENT] = "resident", [WEIGHTS_AUTO] = "auto", [WEIGHTS_LINKED] = "linked"};
    int word = find_word(words, sizeof words / sizeof *words, options->weights);
    if (word < 0)
        fprintf(stderr, "dory %s: error: weights '%s'; flash, resident, auto and linked are there\n", command->name,
                options->weights);
    else
        options->weights_place = (enum plan_weights)word;
    return word >= 0;
}

static bool choose_blocks(struct options *options, const struct command *command)
{
    static const char *const words[] = {
        [BLOCKS_AUTO] = "auto", [BLOCKS_NONE] = "none", [BLOCKS_SPARING] = "sparing", [BLOCKS_ALWAYS] = "always"};
    int word = find_word(words, sizeof words / sizeof *words, options->blocks);
    if (word < 0)
        fprintf(stderr, "dory %s: error: blocks '%s'; auto, none, sparing and always are there\n", command->name,
                options->blocks);
    else
        options->blocks_use = (enum plan_blocks)word;
    if (options->tensors_in_ram && word == BLOCKS_AUTO) /* which those inside a block never are */
        options->blocks_use = BLOCKS_NONE;
    return word >= 0;
}

/* All operands are there; the model, the last of them, may be named by the configuration. */
static bool has_operands(const struct reader *reader)
{
    int missing = count_words(reader->command->operands) - reader->operand_count;
    const char *word = reader->command->operands;
    if (missing == 0 || (missing == 1 && reader->options->model))
        return true;
    if (reader->options->compare)
        return complain(reader->command, "--compare wants two reports, FIRST/report.json SECOND/report.json");
    for (int i = 0; i < reader->operand_count; i++)
        word += strcspn(word, " ") + 1;
    return complain(reader->command, arena_format(reader->arena, "no %.*s", (int)strcspn(word, " "), word));
}

/* The input of a check that nobody makes would have no effect. */
static bool input_has_use(const struct reader *reader, bool is_given)
{
    if (!is_given || reader->command->bit != COMMAND_GENERATE || reader->options->check)
        return true;
    fprintf(stderr, "dory generate: error: --input is the check's, and there is no --check\n");
    return false;
}

bool options_read(struct options *options, const struct command *command, int argc, char **argv, struct arena *arena)
{
    struct reader reader = {.command = command, .options = options, .arena = arena, .argc = argc, .argv = argv};
    int operands = count_words(command->operands);
    *options = (struct options){0};
    if (!read_command_line(&reader))
        return false;
    if (options->help)
        return true;
    bool has_input = options->input != NULL;
    if (operands > 0)
        options->model = options->operands[operands - 1];
    if (operands > 0 && !options->compare && !configuration_read(options, arena))
        return false;
    if (!has_operands(&reader) || !input_has_use(&reader, has_input))
        return false;
    options->target = options->target ? options->target : "host";
    options->name = options->name || !options->model ? options->name : default_name(options->model, arena);
    return choose_load(options, command) && choose_requantisation(options, command) && choose_clocks(options, command) &&
           choose_weights(options, command) && choose_blocks(options, command);
}

const char *options_folder(const struct options *options)
{
    return options->folder && *options->folder ? options->folder : ".";
}
