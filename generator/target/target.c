/* Reads a target's description. Everything in it is required and nothing else is allowed: a misspelt key that is
 * silently ignored would be a plan for another machine. */
#include "target/target.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "target/target_descriptions.h"

/* ---- a key of an object, and where its value goes ---- */

enum field_kind { FIELD_COUNT, FIELD_BYTES, FIELD_BOOLEAN, FIELD_TEXT, FIELD_GROUP };

struct key {
    const char *key;
    enum field_kind kind;
    size_t offset;           /* in struct target */
    uint32_t least, most;    /* of a number */
    const struct key *group; /* of an object: its keys */
};

#define NUMBER(key, member, least, most)                                                                                    \
    {                                                                                                                       \
        key, FIELD_BYTES, offsetof(struct target, member), least, most, NULL                                                \
    }
#define END_OF_FIELDS                                                                                                       \
    {                                                                                                                       \
        NULL, FIELD_TEXT, 0, 0, 0, NULL                                                                                     \
    }

#define MOST_CYCLES 1000000u
#define MOST_BYTES  0x40000000u

static const struct key memory_fields[] = {
    NUMBER("l1", l1_bytes, 64, MOST_BYTES),
    NUMBER("l1_stacks", l1_stack_bytes, 0, MOST_BYTES),
    NUMBER("l2", l2_bytes, 64, MOST_BYTES),
    NUMBER("l2_firmware", l2_firmware_bytes, 0, MOST_BYTES),
    NUMBER("flash", flash_bytes, 0, MOST_BYTES),
    NUMBER("ram", ram_bytes, 0, MOST_BYTES),
    END_OF_FIELDS,
};

static const struct key cycle_fields[] = {
    NUMBER("dma_setup", dma_setup_cycles, 0, MOST_CYCLES),
    NUMBER("dma_latency", dma_latency_cycles, 0, MOST_CYCLES),
    NUMBER("dma_run_overhead", dma_run_overhead_cycles, 0, MOST_CYCLES),
    NUMBER("l3_setup", l3_setup_cycles, 0, MOST_CYCLES),
    NUMBER("tile_overhead", tile_overhead_cycles, 0, MOST_CYCLES),
    NUMBER("tile_driver", tile_driver_cycles, 0, MOST_CYCLES),
    NUMBER("step_driver", step_driver_cycles, 0, MOST_CYCLES),
    NUMBER("layer_overhead", layer_overhead_cycles, 0, MOST_CYCLES),
    END_OF_FIELDS,
};

static const struct key rate_fields[] = {
    NUMBER("dma_read", dma_read_bytes_per_1000_cycles, 1, MOST_CYCLES),
    NUMBER("dma_write", dma_write_bytes_per_1000_cycles, 1, MOST_CYCLES),
    NUMBER("l3", l3_bytes_per_1000_cycles, 1, MOST_CYCLES),
    END_OF_FIELDS,
};

static const struct key target_fields[] = {
    {"name", FIELD_TEXT, offsetof(struct target, name), 0, 0, NULL},
    {"cores", FIELD_COUNT, offsetof(struct target, cores), 1, 16, NULL},
    {"uses_xpulpv2", FIELD_BOOLEAN, offsetof(struct target, uses_xpulpv2), 0, 0, NULL},
    {"memory_bytes", FIELD_GROUP, 0, 0, 0, memory_fields},
    {"cycles", FIELD_GROUP, 0, 0, 0, cycle_fields},
    {"bytes_per_1000_cycles", FIELD_GROUP, 0, 0, 0, rate_fields},
    END_OF_FIELDS,
};

/* ---- reading ---- */

struct reader {
    struct target *target;
    struct arena *arena;
    struct diagnostics *diagnostics;
    const char *source; /* file or name of the description, for messages */
};

static void read_number(const struct reader *reader, const struct key *field, const json_t *value)
{
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < (json_int_t)field->least || number > (json_int_t)field->most) {
        diagnose(reader->diagnostics, SEVERITY_ERROR, NULL, field->key,
                 "target description %s: must be a whole number from %" PRIu32 " to %" PRIu32, reader->source, field->least,
                 field->most);
        return;
    }
    char *place = (char *)reader->target + field->offset;
    if (field->kind == FIELD_COUNT)
        *(unsigned *)(void *)place = (unsigned)number;
    else
        *(uint32_t *)(void *)place = (uint32_t)number;
}

static void read_text(const struct reader *reader, const struct key *field, const json_t *value)
{
    if (!json_is_string(value) || !*json_string_value(value)) {
        diagnose(reader->diagnostics, SEVERITY_ERROR, NULL, field->key, "target description %s: must be a text",
                 reader->source);
        return;
    }
    *(const char **)(void *)((char *)reader->target + field->offset) =
        arena_format(reader->arena, "%s", json_string_value(value));
}

static void read_boolean(const struct reader *reader, const struct key *field, const json_t *value)
{
    if (!json_is_boolean(value)) {
        diagnose(reader->diagnostics, SEVERITY_ERROR, NULL, field->key, "target description %s: must be true or false",
                 reader->source);
        return;
    }
    *(bool *)((char *)reader->target + field->offset) = json_is_true(value);
}

static void read_object(const struct reader *reader, const struct key *fields, const json_t *object);

static void read_field(const struct reader *reader, const struct key *field, const json_t *value)
{
    if (!value)
        diagnose(reader->diagnostics, SEVERITY_ERROR, NULL, field->key, "target description %s: is missing", reader->source);
    else if (field->kind == FIELD_TEXT)
        read_text(reader, field, value);
    else if (field->kind == FIELD_BOOLEAN)
        read_boolean(reader, field, value);
    else if (field->kind != FIELD_GROUP)
        read_number(reader, field, value);
    else if (json_is_object(value))
        read_object(reader, field->group, value);
    else
        diagnose(reader->diagnostics, SEVERITY_ERROR, NULL, field->key, "target description %s: must be an object",
                 reader->source);
}

static bool is_known(const struct key *fields, const char *key)
{
    while (fields->key && strcmp(fields->key, key) != 0)
        fields++;
    return fields->key != NULL;
}

static void read_object(const struct reader *reader, const struct key *fields, const json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) if (!is_known(fields, key))
        diagnose(reader->diagnostics, SEVERITY_ERROR, NULL, key, "target description %s: unknown key", reader->source);
    for (const struct key *field = fields; field->key; field++)
        read_field(reader, field, json_object_get(object, field->key));
}

static void check_sizes(const struct reader *reader)
{
    const struct target *target = reader->target;
    if (target->l1_stack_bytes >= target->l1_bytes)
        diagnose(reader->diagnostics, SEVERITY_ERROR, NULL, "l1_stacks", "target description %s: takes all of l1",
                 reader->source);
    if (target->l2_firmware_bytes >= target->l2_bytes)
        diagnose(reader->diagnostics, SEVERITY_ERROR, NULL, "l2_firmware", "target description %s: takes all of l2",
                 reader->source);
}

static bool is_file(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

static const char *find_description(const char *name)
{
    for (const struct target_description *entry = target_descriptions; entry->name; entry++)
        if (!strcmp(entry->name, name))
            return entry->json;
    return NULL;
}

static json_t *parse(const struct reader *reader, const char *name)
{
    json_error_t error;
    const char *text = is_file(name) ? NULL : find_description(name);
    if (!is_file(name) && !text) {
        diagnose(reader->diagnostics, SEVERITY_ERROR, NULL, "target",
                 "unknown target '%s'; there are host, virt, gap8, and files whose name ends in .json", name);
        return NULL;
    }
    json_t *root =
        text ? json_loads(text, JSON_REJECT_DUPLICATES, &error) : json_load_file(name, JSON_REJECT_DUPLICATES, &error);
    if (!root && error.line < 0)
        diagnose(reader->diagnostics, SEVERITY_ERROR, NULL, "target", "target description %s: %s", name, error.text);
    else if (!root)
        diagnose(reader->diagnostics, SEVERITY_ERROR, NULL, "target", "target description %s, line %d, column %d: %s", name,
                 error.line, error.column, error.text);
    return root;
}

bool target_load(struct target *target, const char *name_or_path, struct arena *arena, struct diagnostics *diagnostics)
{
    struct reader reader = {target, arena, diagnostics, name_or_path};
    int errors = diagnostics->error_count;
    memset(target, 0, sizeof *target);
    json_t *root = parse(&reader, name_or_path);
    if (!root)
        return false;
    if (json_is_object(root))
        read_object(&reader, target_fields, root);
    else
        diagnose(diagnostics, SEVERITY_ERROR, NULL, "target", "target description %s: must be an object", name_or_path);
    json_decref(root);
    if (diagnostics->error_count == errors)
        check_sizes(&reader);
    return diagnostics->error_count == errors;
}
