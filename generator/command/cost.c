/* dory cost: what layers cost, line by line; a table, or JSON lines. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "command/commands.h"
#include "cost/fields.h"

#define MAXIMUM_LINE_BYTES 16384
#define MAXIMUM_COLUMNS    32
#define NAME               "name" /* of a layer, for the reader: it comes back with the answer */

/* One run of the command. */
struct costing {
    struct dory_cost_model *model;
    enum dory_cost_mode mode;
    struct diagnostics *diagnostics;
    int line; /* of the input, from 1 */
    char text[MAXIMUM_LINE_BYTES];
    char columns[MAXIMUM_COLUMNS][MAXIMUM_LINE_BYTES / MAXIMUM_COLUMNS]; /* of a table: its first line */
    int column_count;
};

static bool refuse(struct costing *costing, const char *fault)
{
    diagnose(costing->diagnostics, SEVERITY_ERROR, NULL, NULL, "line %d: %s", costing->line, fault);
    return false;
}

/* ---- answers ---- */

static void print_in_quotes(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}

static void print_cell(const char *text)
{
    if (text[strcspn(text, ",\"\r\n")])
        print_in_quotes(text);
    else
        fputs(text, stdout);
}

static void print_header(void)
{
    puts("layer,cycles,kernel_cycles,l3_cycles,mac,mac_per_cycle,l3_bytes,l2_bytes,l1_bytes,tile_rows,"
         "tile_columns,tile_channels,tile_input_channels,tiles,kernel,reason");
}

static double rate(const struct dory_cost *cost) { return cost->cycles ? (double)cost->macs / (double)cost->cycles : 0; }

static void print_row(const char *name, bool runs, const struct dory_cost *cost)
{
    print_cell(name);
    if (runs)
        printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.3f,%" PRIu64 ",%" PRIu64 ",%u,%u,%u,%u,%u,%u,%s,\n",
               cost->cycles, cost->kernel_cycles, cost->l3_cycles, cost->macs, rate(cost), cost->l3_bytes, cost->l2_bytes,
               cost->l1_bytes, cost->tile_rows, cost->tile_columns, cost->tile_channels, cost->tile_input_channels,
               cost->tile_count, cost->kernel);
    else {
        fputs(",,,,,,,,,,,,,,,", stdout);
        print_cell(cost->reason);
        putchar('\n');
    }
}

static void print_object(const json_t *name, bool runs, const struct dory_cost *cost)
{
    json_t *object = json_object();
    json_object_set(object, "layer", (json_t *)(uintptr_t)name);
    if (!runs)
        json_object_set_new(object, "reason", json_string(cost->reason));
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"cycles", cost->cycles},
        {"kernel_cycles", cost->kernel_cycles},
        {"l3_cycles", cost->l3_cycles},
        {"mac", cost->macs},
        {"l3_bytes", cost->l3_bytes},
        {"l2_bytes", cost->l2_bytes},
        {"l1_bytes", cost->l1_bytes},
        {"tile_rows", cost->tile_rows},
        {"tile_columns", cost->tile_columns},
        {"tile_channels", cost->tile_channels},
        {"tile_input_channels", cost->tile_input_channels},
        {"tiles", cost->tile_count},
    };
    for (size_t i = 0; runs && i < sizeof numbers / sizeof *numbers; i++)
        json_object_set_new(object, numbers[i].key, json_integer((json_int_t)numbers[i].value));
    if (runs) {
        json_object_set_new(object, "mac_per_cycle", json_real(rate(cost)));
        json_object_set_new(object, "kernel", json_string(cost->kernel));
    }
    json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(object);
}

/* ---- a table ---- */

/* The next cell of a line, unquoted in its place; the line is null behind the last. Null: a quote that does not end, or
 * something behind one. */
static char *next_cell(char **line)
{
    char *cell = *line, *to = cell, *from = cell;
    if (*from != '"') {
        char *end = from + strcspn(from, ",");
        *line = *end ? end + 1 : NULL;
        *end = 0;
        return cell;
    }
    for (from++; *from && !(*from == '"' && from[1] != '"'); from++) {
        from += *from == '"';
        *to++ = *from;
    }
    char behind = *from ? from[1] : 'x';
    *to = 0;
    *line = behind == ',' ? from + 2 : NULL;
    return behind == ',' || behind == 0 ? cell : NULL;
}

static bool is_column(const struct costing *costing, const char *name)
{
    for (int i = 0; i < costing->column_count; i++)
        if (!strcmp(costing->columns[i], name))
            return true;
    return false;
}

static bool add_column(struct costing *costing, const char *name)
{
    bool known = cost_field_is_known(name, strlen(name)) || !strcmp(name, NAME);
    struct arena *arena = costing->diagnostics->arena;
    if (costing->column_count == MAXIMUM_COLUMNS || !known)
        return refuse(costing, arena_format(arena, "column '%.40s': dory cost --help lists those that there are", name));
    if (is_column(costing, name))
        return refuse(costing, arena_format(arena, "column '%s' is there twice", name));
    memcpy(costing->columns[costing->column_count++], name, strlen(name) + 1);
    return true;
}

static bool read_header(struct costing *costing)
{
    char *line = costing->text;
    while (line) {
        const char *name = next_cell(&line);
        if (!name)
            return refuse(costing, "a quote without its end");
        if (!add_column(costing, name))
            return false;
    }
    print_header();
    return true;
}

static bool set_field(struct costing *costing, struct dory_cost_layer *layer, const char *field, const char *text)
{
    char message[DORY_COST_TEXT_BYTES];
    return dory_cost_layer_set(layer, field, text, message, sizeof message) || refuse(costing, message);
}

/* An empty cell leaves its field as it is. */
static bool read_row(struct costing *costing, struct dory_cost_layer *layer, const char **name)
{
    char *line = costing->text;
    int column = 0;
    for (; line && column < costing->column_count; column++) {
        const char *cell = next_cell(&line);
        if (!cell)
            return refuse(costing, "a quote without its end");
        if (!strcmp(costing->columns[column], NAME))
            *name = cell;
        else if (*cell && !set_field(costing, layer, costing->columns[column], cell))
            return false;
    }
    if (column == costing->column_count && !line)
        return true;
    return refuse(costing, arena_format(costing->diagnostics->arena, "%s values than the %d columns of line 1",
                                        line ? "more" : "fewer", costing->column_count));
}

static bool cost_row(struct costing *costing)
{
    struct dory_cost_layer layer;
    struct dory_cost cost;
    char number[16];
    const char *name = number;
    if (costing->column_count == 0)
        return read_header(costing);
    snprintf(number, sizeof number, "%d", costing->line);
    dory_cost_layer_start(&layer);
    if (!read_row(costing, &layer, &name))
        return false;
    bool runs = dory_cost_of(costing->model, &layer, costing->mode, &cost);
    print_row(name, runs, &cost);
    return true;
}

/* ---- JSON lines ---- */

/* A value as a table has it: 3, "3x3", [3, 3] and true. Empty: something else. */
static void text_of(const json_t *value, char *text, size_t bytes)
{
    size_t length = 0;
    *text = 0;
    if (json_is_string(value))
        snprintf(text, bytes, "%s", json_string_value(value));
    else if (json_is_boolean(value))
        snprintf(text, bytes, "%s", json_is_true(value) ? "true" : "false");
    else if (json_is_integer(value))
        snprintf(text, bytes, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    for (size_t i = 0; json_is_array(value) && i < json_array_size(value) && length < bytes; i++)
        length += (size_t)snprintf(text + length, bytes - length, "%s%" JSON_INTEGER_FORMAT, i ? "x" : "",
                                   json_integer_value(json_array_get(value, i)));
}

static bool read_object(struct costing *costing, json_t *object, struct dory_cost_layer *layer)
{
    char text[100];
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        text_of(value, text, sizeof text);
        if (strcmp(key, NAME) != 0 && !set_field(costing, layer, key, text))
            return false;
    }
    return true;
}

static bool cost_object(struct costing *costing)
{
    struct dory_cost_layer layer;
    struct dory_cost cost;
    json_error_t error;
    json_t *object = json_loads(costing->text, JSON_REJECT_DUPLICATES, &error);
    dory_cost_layer_start(&layer);
    bool good = json_is_object(object);
    if (!good)
        refuse(costing, arena_format(costing->diagnostics->arena, "column %d: %s", object ? 1 : error.column,
                                     object ? "no JSON object" : error.text));
    good = good && read_object(costing, object, &layer);
    if (good) {
        const json_t *name = json_object_get(object, NAME);
        json_t *number = json_integer(costing->line);
        bool runs = dory_cost_of(costing->model, &layer, costing->mode, &cost);
        print_object(name ? name : number, runs, &cost);
        json_decref(number);
    }
    json_decref(object);
    return good;
}

/* ---- the command ---- */

/* The next line that is not empty, without its end; false: there is none, or it was refused. */
static bool read_line(struct costing *costing)
{
    do {
        if (!fgets(costing->text, sizeof costing->text, stdin))
            return ferror(stdin) ? refuse(costing, "cannot be read") : false;
        costing->line++;
        size_t length = strlen(costing->text);
        if (length == sizeof costing->text - 1 && costing->text[length - 1] != '\n')
            return refuse(costing,
                          arena_format(costing->diagnostics->arena, "longer than %d bytes", MAXIMUM_LINE_BYTES - 2));
        costing->text[strcspn(costing->text, "\r\n")] = 0;
    } while (!costing->text[0]);
    return true;
}

static void cost_lines(struct costing *costing)
{
    bool good = read_line(costing), is_table = costing->text[0] != '{';
    while (good) {
        good = is_table ? cost_row(costing) : cost_object(costing);
        fflush(stdout); /* for those who ask line by line */
        good = good && read_line(costing);
    }
}

enum exit_status command_cost(struct invocation *invocation)
{
    char message[DORY_COST_TEXT_BYTES];
    struct costing *costing = arena_allocate(&invocation->arena, sizeof *costing);
    costing->mode = invocation->options.fast ? DORY_COST_FAST : DORY_COST_EXACT;
    costing->diagnostics = &invocation->diagnostics;
    costing->model = dory_cost_open(invocation->options.target, message, sizeof message);
    if (!costing->model) {
        diagnose(&invocation->diagnostics, SEVERITY_ERROR, NULL, NULL, "%s", message);
        return EXIT_FAULT;
    }
    invocation->diagnostics.file = "standard input";
    cost_lines(costing);
    dory_cost_close(costing->model);
    if (costing->line == 0)
        diagnose(&invocation->diagnostics, SEVERITY_ERROR, NULL, NULL, "there is no layer");
    return invocation->diagnostics.error_count ? EXIT_FAULT : EXIT_DONE;
}
