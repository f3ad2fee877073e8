/* Measurements from the log of a run. The log comes from a serial line or an emulator: anything may be in it. */
#include "report/report_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 512

static bool starts_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

/* Takes a number and the text behind it. */
static bool take_number(const char **text, uint64_t *number, const char *behind)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *number = strtoull(*text, &end, 10);
    if (errno || !starts_with(end, behind))
        return false;
    *text = end + strlen(behind);
    return true;
}

/* What stands behind a layer's name. */
static bool take_measurement(const char *text, struct measured_layer *measured)
{
    measured->is_known = true;
    return starts_with(text, ": ") && (text += 2) && take_number(&text, &measured->cycles, " cycles, ") &&
           take_number(&text, &measured->dma_wait_cycles, " waiting for L2, ") &&
           take_number(&text, &measured->l3_wait_cycles, " for L3");
}

/* "perf layer 3 conv2: 12345 cycles, 1000 waiting for L2, 0 for L3, ...": the last such text in the line counts, as a
 * name from a model may look like one too. */
static bool parse_line(const char *line, uint64_t *layer, struct measured_layer *measured)
{
    static const char start[] = "perf layer ";
    bool found = false;
    line += strspn(line, " \t\r");
    if (!starts_with(line, start))
        return false;
    line += sizeof start - 1;
    if (!take_number(&line, layer, " "))
        return false;
    for (line--; *line; line++) {
        struct measured_layer candidate;
        if (take_measurement(line, &candidate)) {
            *measured = candidate;
            found = true;
        }
    }
    return found;
}

static void skip_rest_of_line(FILE *file)
{
    int character;
    do
        character = fgetc(file);
    while (character != '\n' && character != EOF);
}

/* False at the end of the file. A line that is too long is cut: a perf line never is. */
static bool read_line(FILE *file, char line[LINE_BYTES])
{
    if (!fgets(line, LINE_BYTES, file))
        return false;
    if (strlen(line) == LINE_BYTES - 1 && line[LINE_BYTES - 2] != '\n')
        skip_rest_of_line(file);
    return true;
}

/* How many lines were measurements; negative: one is of another network. */
static int read_measurements(FILE *file, struct measured_layer *measured, int layer_count)
{
    char line[LINE_BYTES];
    int found = 0;
    while (read_line(file, line)) {
        uint64_t layer;
        struct measured_layer values;
        if (!parse_line(line, &layer, &values))
            continue;
        if (layer >= (uint64_t)layer_count)
            return -1;
        measured[layer] = values;
        found++;
    }
    return found;
}

const struct measured_layer *report_read_log(const char *path, int layer_count, struct arena *arena,
                                             struct diagnostics *diagnostics)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot read log '%s': %s", path, strerror(errno));
        return NULL;
    }
    struct measured_layer *measured = arena_array(arena, struct measured_layer, (size_t)layer_count);
    int found = read_measurements(file, measured, layer_count);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot read log '%s'", path);
    else if (found < 0)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "log '%s' measures a layer that the network, with %d layers, does not have; is it of another network?",
                 path, layer_count);
    else if (found == 0)
        diagnose(
            diagnostics, SEVERITY_ERROR, NULL, NULL,
            "log '%s' has no measurement; a line of one starts with 'perf layer', as programs made with --check print it",
            path);
    return failed || found <= 0 ? NULL : measured;
}
