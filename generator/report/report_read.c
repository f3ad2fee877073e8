#include "report/report_read.h"

#include <string.h>

#define FORMAT_VERSION 1
#define MAXIMUM_NUMBER ((json_int_t)1 << 53) /* the page computes in doubles */

/* A value is a NUMBER (whole, not negative), a TEXT, NUMBERS (a list of them), or an INDEX (or INDICES) of a list of the
 * report; of the latter kinds OPTIONAL_INDEX may be null. */
enum kind { NUMBER, OPTIONAL_NUMBER, TEXT, NUMBERS, INDEX, OPTIONAL_INDEX, INDICES };

struct member {
    const char *place; /* "totals", or "layers" for each of them; "layers.tile": an object in each */
    const char *key;
    enum kind kind;
    const char *list; /* of an index: in which */
};

static const struct member members[] = {
    {"network", "name", TEXT, NULL},
    {"target", "name", TEXT, NULL},
    {"options", "cores", NUMBER, NULL},
    {"options", "clock_mhz", OPTIONAL_NUMBER, NULL},
    {"totals", "predicted_cycles", NUMBER, NULL},
    {"totals", "timeline_cycles", NUMBER, NULL},
    {"totals", "kernel_cycles", NUMBER, NULL},
    {"totals", "dma_cycles", NUMBER, NULL},
    {"totals", "l3_wait_cycles", NUMBER, NULL},
    {"totals", "measured_cycles", OPTIONAL_NUMBER, NULL},
    {"totals", "macs", NUMBER, NULL},
    {"totals", "tiles", NUMBER, NULL},
    {"totals", "steps", NUMBER, NULL},
    {"totals", "l3_read_bytes", NUMBER, NULL},
    {"totals", "l3_write_bytes", NUMBER, NULL},
    {"memory", "l1_arena_bytes", NUMBER, NULL},
    {"memory", "l1_peak_bytes", NUMBER, NULL},
    {"memory", "l2_arena_bytes", NUMBER, NULL},
    {"memory", "l2_peak_bytes", NUMBER, NULL},
    {"memory", "l2_lower_bound_bytes", NUMBER, NULL},
    {"memory", "flash_bytes", NUMBER, NULL},
    {"memory", "ram_bytes", NUMBER, NULL},
    {"layers", "name", TEXT, NULL},
    {"layers", "kind", TEXT, NULL},
    {"layers", "kernel", TEXT, NULL},
    {"layers", "limited_by", TEXT, NULL},
    {"layers", "inputs", INDICES, "tensors"},
    {"layers", "output", INDEX, "tensors"},
    {"layers", "input_shape", NUMBERS, NULL},
    {"layers", "output_shape", NUMBERS, NULL},
    {"layers", "filter", NUMBERS, NULL},
    {"layers", "stride", NUMBERS, NULL},
    {"layers", "first_step", INDEX, "steps"},
    {"layers", "steps", NUMBER, NULL},
    {"layers", "tiles", NUMBER, NULL},
    {"layers", "begin_cycle", NUMBER, NULL},
    {"layers", "end_cycle", NUMBER, NULL},
    {"layers.tile", "rows", NUMBER, NULL},
    {"layers.tile", "columns", NUMBER, NULL},
    {"layers.tile", "channels", NUMBER, NULL},
    {"layers.tile", "input_channels", NUMBER, NULL},
    {"layers.tile", "order", TEXT, NULL},
    {"tensors", "name", TEXT, NULL},
    {"tensors", "producer", OPTIONAL_INDEX, "layers"},
    {"tensors", "memory", TEXT, NULL},
    {"buffers", "kind", TEXT, NULL},
    {"buffers", "name", TEXT, NULL},
    {"buffers", "tensor", OPTIONAL_INDEX, "tensors"},
    {"buffers", "layer", OPTIONAL_INDEX, "layers"},
    {"buffers", "bytes", NUMBER, NULL},
    {"buffers", "offset", NUMBER, NULL},
    {"buffers", "first_step", INDEX, "steps"},
    {"buffers", "last_step", INDEX, "steps"},
    {"buffers", "first_use_step", INDEX, "steps"},
    {"steps", "layer", INDEX, "layers"},
    {"steps", "first_row", NUMBER, NULL},
    {"steps", "rows", NUMBER, NULL},
    {"steps", "first_channel", NUMBER, NULL},
    {"steps", "channels", NUMBER, NULL},
    {"steps", "begin_cycle", NUMBER, NULL},
    {"steps", "start_cycle", NUMBER, NULL},
    {"steps", "end_cycle", NUMBER, NULL},
    {"transfers", "kind", TEXT, NULL},
    {"transfers", "buffer", OPTIONAL_INDEX, "buffers"},
    {"transfers", "bytes", NUMBER, NULL},
    {"transfers", "start_step", NUMBER, NULL},
    {"transfers", "needed_step", NUMBER, NULL},
    {"transfers", "queued_cycle", NUMBER, NULL},
    {"transfers", "start_cycle", NUMBER, NULL},
    {"transfers", "end_cycle", NUMBER, NULL},
};

/* ---- one value ---- */

static bool is_number(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0 && json_integer_value(value) <= MAXIMUM_NUMBER;
}

static bool is_index(const json_t *value, const json_t *root, const char *list)
{
    return is_number(value) && (size_t)json_integer_value(value) < json_array_size(json_object_get(root, list));
}

static bool is_list(const json_t *value, const json_t *root, const char *list)
{
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *entry = json_array_get(value, i);
        if (list ? !is_index(entry, root, list) : !is_number(entry))
            return false;
    }
    return json_array_size(value) > 0;
}

static bool is_good(const json_t *value, const json_t *root, const struct member *member)
{
    bool absent = !value || json_is_null(value);
    switch (member->kind) {
    case NUMBER: return is_number(value);
    case OPTIONAL_NUMBER: return absent || is_number(value);
    case TEXT: return json_is_string(value);
    case INDEX: return is_index(value, root, member->list);
    case OPTIONAL_INDEX: return absent || is_index(value, root, member->list);
    default: return is_list(value, root, member->list);
    }
}

/* ---- all of them ---- */

struct reading {
    const char *path;
    const json_t *root;
    struct diagnostics *diagnostics;
};

static bool refuse(const struct reading *reading, const struct member *member, size_t index, bool is_listed)
{
    char at[32] = "";
    if (is_listed)
        snprintf(at, sizeof at, "[%zu]", index);
    diagnose(reading->diagnostics, SEVERITY_ERROR, NULL, NULL,
             "'%s': '%s%s' has no '%s', or not one that a report can have; make it anew with dory report", reading->path,
             member->place, at, member->key);
    return false;
}

static bool check_member(const struct reading *reading, const struct member *member)
{
    const char *dot = strchr(member->place, '.');
    char first[16];
    snprintf(first, sizeof first, "%.*s", dot ? (int)(dot - member->place) : (int)strlen(member->place), member->place);
    const json_t *place = json_object_get(reading->root, first);
    if (json_is_object(place))
        return is_good(json_object_get(place, member->key), reading->root, member) || refuse(reading, member, 0, false);
    for (size_t i = 0; i < json_array_size(place); i++) {
        const json_t *entry = json_array_get(place, i), *object = dot ? json_object_get(entry, dot + 1) : entry;
        if (!is_good(json_object_get(object, member->key), reading->root, member))
            return refuse(reading, member, i, true);
    }
    return json_is_array(place) || refuse(reading, member, 0, false);
}

/* What follows from several members: the page walks over a layer's steps. */
static bool check_steps(const struct reading *reading)
{
    const json_t *layers = json_object_get(reading->root, "layers");
    size_t steps = json_array_size(json_object_get(reading->root, "steps"));
    for (size_t i = 0; i < json_array_size(layers); i++) {
        const json_t *layer = json_array_get(layers, i);
        size_t first = (size_t)json_integer_value(json_object_get(layer, "first_step"));
        size_t count = (size_t)json_integer_value(json_object_get(layer, "steps"));
        if (count == 0 || count > steps - first)
            return refuse(reading, &(struct member){.place = "layers", .key = "steps"}, i, true);
    }
    return true;
}

static bool check_report(const struct reading *reading)
{
    const json_t *format = json_object_get(reading->root, "format"), *version = json_object_get(reading->root, "version");
    if (!json_is_string(format) || strcmp(json_string_value(format), "dory-report") != 0) {
        diagnose(reading->diagnostics, SEVERITY_ERROR, NULL, NULL, "'%s' is no report: dory report writes report.json",
                 reading->path);
        return false;
    }
    if (json_integer_value(version) != FORMAT_VERSION) {
        diagnose(reading->diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "'%s' is of another version of reports than %d; make it anew with dory report", reading->path,
                 FORMAT_VERSION);
        return false;
    }
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!check_member(reading, &members[i]))
            return false;
    return check_steps(reading);
}

json_t *report_read(const char *path, struct diagnostics *diagnostics)
{
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot read the report '%s': %s", path,
                 error.line > 0 ? error.text : "no such file, or one that cannot be read");
        return NULL;
    }
    struct reading reading = {path, root, diagnostics};
    if (check_report(&reading))
        return root;
    json_decref(root);
    return NULL;
}
