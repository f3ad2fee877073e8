/* Reads a target's description. What has no default is required, and nothing else is allowed: a misspelt key that is
 * silently ignored would be a plan for another machine. */
#include "target/target.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/array_file.h"
#include "target/engines.h"
#include "target/locate.h"
#include "target/target_descriptions.h"

/* ---- a key of an object, and where its value goes ---- */

enum field_kind { FIELD_NUMBER, FIELD_ENGINES, FIELD_TEXT, FIELD_GROUP };

struct key {
    const char *key;
    enum field_kind kind;
    size_t offset;           /* in struct target */
    uint32_t least, most;    /* of a number */
    const struct key *group; /* of an object: its keys */
    bool is_optional;        /* a number is `otherwise` then, of an object all numbers are */
    uint32_t otherwise;
};

#define NUMBER(key, member, least, most)                                                                                    \
    {                                                                                                                       \
        key, FIELD_NUMBER, offsetof(struct target, member), least, most, NULL, false, 0                                     \
    }
#define NUMBER_OR(key, member, least, most, otherwise)                                                                      \
    {                                                                                                                       \
        key, FIELD_NUMBER, offsetof(struct target, member), least, most, NULL, true, otherwise                              \
    }
#define END_OF_FIELDS                                                                                                       \
    {                                                                                                                       \
        NULL, FIELD_TEXT, 0, 0, 0, NULL, false, 0                                                                           \
    }

#define MAXIMUM_CORES  16u
#define MAXIMUM_CYCLES 1000000u
#define MAXIMUM_BYTES  0x40000000u

static const struct key memory_fields[] = {
    NUMBER("l1", l1_bytes, 64, TARGET_MAXIMUM_L1_BYTES),
    NUMBER("l1_stacks", l1_stack_bytes, 0, TARGET_MAXIMUM_L1_BYTES),
    NUMBER("l2", l2_bytes, 64, TARGET_MAXIMUM_L2_BYTES),
    NUMBER("l2_firmware", l2_firmware_bytes, 0, TARGET_MAXIMUM_L2_BYTES),
    NUMBER("flash", flash_bytes, 0, MAXIMUM_BYTES),
    NUMBER("ram", ram_bytes, 0, MAXIMUM_BYTES),
    NUMBER_OR("weight_memory", weight_memory_bytes, 0, MAXIMUM_BYTES, 0),
    NUMBER_OR("constants_in_flash", constants_in_flash, 0, 1, 0),
    END_OF_FIELDS,
};

static const struct key in_place_fields[] = {
    NUMBER_OR("weights", weights_in_place, 0, 1, 0),
    NUMBER_OR("activations", activations_in_place, 0, 1, 0),
    END_OF_FIELDS,
};

static const struct key cycle_fields[] = {
    NUMBER_OR("are_instructions", counts_instructions, 0, 1, 0),
    NUMBER("dma_setup", dma_setup_cycles, 0, MAXIMUM_CYCLES),
    NUMBER("dma_latency", dma_latency_cycles, 0, MAXIMUM_CYCLES),
    NUMBER("dma_run_overhead", dma_run_overhead_cycles, 0, MAXIMUM_CYCLES),
    NUMBER_OR("dma_contention", dma_contention_cycles, 0, 1000, 0),
    NUMBER("l3_setup", l3_setup_cycles, 0, MAXIMUM_CYCLES),
    NUMBER("tile_overhead", tile_overhead_cycles, 0, MAXIMUM_CYCLES),
    NUMBER("tile_driver", tile_driver_cycles, 0, MAXIMUM_CYCLES),
    NUMBER("step_driver", step_driver_cycles, 0, MAXIMUM_CYCLES),
    NUMBER_OR("turn_driver", turn_driver_cycles, 0, MAXIMUM_CYCLES, 0),
    NUMBER("layer_overhead", layer_overhead_cycles, 0, MAXIMUM_CYCLES),
    NUMBER_OR("transfer_driver", transfer_driver_cycles, 0, MAXIMUM_CYCLES, 0),
    NUMBER_OR("border", border_cycles, 0, MAXIMUM_CYCLES, 0),
    NUMBER_OR("border_run", border_run_cycles, 0, MAXIMUM_CYCLES, 0),
    NUMBER_OR("run_overhead", run_overhead_cycles, 0, MAXIMUM_CYCLES, 0),
    END_OF_FIELDS,
};

static const struct key table_fields[] = {
    NUMBER("most_tiles", table_most_tiles, 0, UINT16_MAX),
    NUMBER("tile_overhead", table_tile_overhead_cycles, 0, MAXIMUM_CYCLES),
    NUMBER_OR("layer_overhead", table_layer_overhead_cycles, 0, MAXIMUM_CYCLES, 0),
    NUMBER("run_overhead", table_run_overhead_cycles, 0, MAXIMUM_CYCLES),
    NUMBER("dma_contention", table_dma_contention_cycles, 0, MAXIMUM_CYCLES),
    NUMBER_OR("transfer", table_transfer_cycles, 0, MAXIMUM_CYCLES, 0),
    END_OF_FIELDS,
};

static const struct key rate_fields[] = {
    NUMBER("dma_read", dma_read_bytes_per_1000_cycles, 1, MAXIMUM_CYCLES),
    NUMBER("dma_write", dma_write_bytes_per_1000_cycles, 1, MAXIMUM_CYCLES),
    NUMBER("l3", l3_bytes_per_1000_cycles, 1, MAXIMUM_CYCLES),
    END_OF_FIELDS,
};

#define SPEED(key, operations) NUMBER_OR(key, kernel_speed_percent[operations], 1, MAXIMUM_SPEED_PERCENT, 100)
#define MAXIMUM_SPEED_PERCENT  10000u

static const struct key speed_fields[] = {
    SPEED("convolution", KERNELS_OF_CONVOLUTIONS),
    SPEED("depthwise", KERNELS_OF_DEPTHWISE),
    SPEED("pool", KERNELS_OF_POOLS),
    SPEED("other", KERNELS_OF_OTHERS),
    END_OF_FIELDS,
};

#define MAXIMUM_MHZ          10000u
#define PERCENT(key, member) NUMBER_OR(key, member, 0, 100, 0)

static const struct key clock_fields[] = {
    NUMBER_OR("least", least_mhz, 1, MAXIMUM_MHZ, 1),
    NUMBER_OR("controller_most", controller_most_mhz, 1, MAXIMUM_MHZ, MAXIMUM_MHZ),
    NUMBER_OR("cluster_most", cluster_most_mhz, 1, MAXIMUM_MHZ, MAXIMUM_MHZ),
    END_OF_FIELDS,
};

static const struct key controller_fields[] = {
    NUMBER_OR("port_bytes_per_1000_cycles", port_bytes_per_1000_cycles, 1, MAXIMUM_CYCLES, 0),
    PERCENT("port_l3_percent", port_l3_percent),
    END_OF_FIELDS,
};

#define POINT(point)                                                                                                        \
    {                                                                                                                       \
        NUMBER("mhz", point.mhz, 1, MAXIMUM_MHZ), NUMBER("millivolts", point.millivolts, 1, 10000),                         \
            NUMBER("microwatts", point.microwatts, 1, 100000000),                                                           \
            {"source", FIELD_TEXT, offsetof(struct target, point.source), 0, 0, NULL, false, 0}, END_OF_FIELDS,             \
    }

static const struct key low_fields[] = POINT(low);
static const struct key high_fields[] = POINT(high);

static const struct key power_fields[] = {
    NUMBER("controller_percent", controller_power_percent, 0, 100),
    {"low", FIELD_GROUP, 0, 0, 0, low_fields, false, 0},
    {"high", FIELD_GROUP, 0, 0, 0, high_fields, false, 0},
    END_OF_FIELDS,
};

static const struct key target_fields[] = {
    {"name", FIELD_TEXT, offsetof(struct target, name), 0, 0, NULL, false, 0},
    NUMBER("cores", cores, 1, MAXIMUM_CORES),
    {"engines", FIELD_ENGINES, offsetof(struct target, engines), 0, 0, NULL, false, 0},
    {"memory_bytes", FIELD_GROUP, 0, 0, 0, memory_fields, false, 0},
    {"in_place", FIELD_GROUP, 0, 0, 0, in_place_fields, true, 0},
    {"cycles", FIELD_GROUP, 0, 0, 0, cycle_fields, false, 0},
    {"tile_table", FIELD_GROUP, 0, 0, 0, table_fields, true, 0},
    {"bytes_per_1000_cycles", FIELD_GROUP, 0, 0, 0, rate_fields, false, 0},
    {"kernel_speed_percent", FIELD_GROUP, 0, 0, 0, speed_fields, true, 0},
    {"clock_mhz", FIELD_GROUP, 0, 0, 0, clock_fields, true, 0},
    {"controller", FIELD_GROUP, 0, 0, 0, controller_fields, true, 0},
    {"power", FIELD_GROUP, 0, 0, 0, power_fields, true, 0},
    END_OF_FIELDS,
};

_Static_assert(sizeof(unsigned) == sizeof(uint32_t), "cores are written as a number of 32 bits");

/* ---- reading ---- */

struct reader {
    struct target *target;
    struct arena *arena;
    struct diagnostics *diagnostics;
    const char *source; /* file or name of the description, for messages */
    const char *text;   /* of it, valid JSON */
};

/* Of a field of an object of the description; `object` null: of the description itself. */
static void refuse(const struct reader *reader, const char *object, const char *key, const char *fault)
{
    unsigned line = json_line(reader->text, object, key);
    diagnose(reader->diagnostics, SEVERITY_ERROR, NULL, key, "target description %s, line %u: %s", reader->source, line,
             fault);
}

static const char *range_text(const struct reader *reader, const struct key *field)
{
    return arena_format(reader->arena, "must be a whole number from %" PRIu32 " to %" PRIu32, field->least, field->most);
}

static bool is_listed(const struct dory_engine *const *engines, const struct dory_engine *engine)
{
    while (*engines && *engines != engine)
        engines++;
    return *engines != NULL;
}

/* Null, or what is wrong. */
static const char *read_engines(const struct reader *reader, const json_t *list, const struct dory_engine **engines)
{
    size_t count = json_array_size(list);
    for (size_t i = 0; i < count && i < TARGET_MAXIMUM_ENGINES; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        const struct dory_engine *engine = name ? engine_find(name) : NULL;
        if (!engine || is_listed(engines, engine))
            return arena_format(reader->arena, "'%s' is no engine, or there twice; there are %s", name ? name : "",
                                engine_names(reader->arena));
        engines[i] = engine;
    }
    return count >= 1 && count <= TARGET_MAXIMUM_ENGINES
               ? NULL
               : arena_format(reader->arena, "must be a list of engines: of %s", engine_names(reader->arena));
}

/* Null, or what is wrong. */
static const char *read_value(const struct reader *reader, const struct key *field, const json_t *value)
{
    char *place = (char *)reader->target + field->offset;
    json_int_t number = json_integer_value(value);
    switch (field->kind) {
    case FIELD_TEXT:
        if (!json_is_string(value) || !*json_string_value(value))
            return "must be a text";
        *(const char **)(void *)place = arena_format(reader->arena, "%s", json_string_value(value));
        return NULL;
    case FIELD_ENGINES: return read_engines(reader, value, (const struct dory_engine **)(void *)place);
    case FIELD_NUMBER:
        if (!json_is_integer(value))
            return range_text(reader, field);
        if (number < (json_int_t)field->least || number > (json_int_t)field->most)
            return arena_format(reader->arena, "%s, not %" JSON_INTEGER_FORMAT, range_text(reader, field), number);
        *(uint32_t *)(void *)place = (uint32_t)number;
        return NULL;
    case FIELD_GROUP: break;
    }
    return json_is_object(value) ? NULL : "must be an object";
}

static void set_default(const struct reader *reader, const struct key *field)
{
    if (field->kind == FIELD_NUMBER)
        *(uint32_t *)(void *)((char *)reader->target + field->offset) = field->otherwise;
    for (const struct key *inner = field->group; inner && inner->key; inner++)
        set_default(reader, inner);
}

static void read_object(const struct reader *reader, const char *name, const struct key *fields, const json_t *object);

static void read_field(const struct reader *reader, const char *object, const struct key *field, const json_t *value)
{
    const char *fault = value ? read_value(reader, field, value) : field->is_optional ? NULL : "is missing";
    if (fault)
        refuse(reader, object, field->key, fault);
    else if (!value)
        set_default(reader, field);
    else if (field->kind == FIELD_GROUP)
        read_object(reader, field->key, field->group, value);
}

static bool is_known(const struct key *fields, const char *key)
{
    while (fields->key && strcmp(fields->key, key) != 0)
        fields++;
    return fields->key != NULL;
}

static void read_object(const struct reader *reader, const char *name, const struct key *fields, const json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) if (!is_known(fields, key))
        refuse(reader, name, arena_format(reader->arena, "%s", key), "unknown key");
    for (const struct key *field = fields; field->key; field++)
        read_field(reader, name, field, json_object_get(object, field->key));
}

static void check_sizes(const struct reader *reader)
{
    const struct target *target = reader->target;
    if (target->l1_stack_bytes >= target->l1_bytes)
        refuse(reader, "memory_bytes", "l1_stacks", "takes all of l1");
    if (target->l2_firmware_bytes >= target->l2_bytes)
        refuse(reader, "memory_bytes", "l2_firmware", "takes all of l2");
    if (target->low.source && target->high.mhz <= target->low.mhz)
        refuse(reader, "power", "high", "is at no higher clock than low");
}

static const char *find_description(const char *name)
{
    for (const struct target_description *entry = target_descriptions; entry->name; entry++)
        if (!strcmp(entry->name, name))
            return entry->json;
    return NULL;
}

/* "host, virt, ": all of them. */
static const char *description_names(struct arena *arena)
{
    const char *names = "";
    for (const struct target_description *entry = target_descriptions; entry->name; entry++)
        names = arena_format(arena, "%s%s, ", names, entry->name);
    return names;
}

/* With a zero behind it; null after an error was reported. */
static const char *read_text(const char *name, size_t *length, struct arena *arena, struct diagnostics *diagnostics)
{
    if (path_ends_in(name, ".json")) {
        const unsigned char *content = file_read(name, length, arena, diagnostics);
        char *text = content ? arena_allocate(arena, *length + 1) : NULL;
        return text ? memcpy(text, content, *length) : NULL;
    }
    const char *text = find_description(name);
    *length = text ? strlen(text) : 0;
    if (!text)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, "target",
                 "unknown target '%s'; there are %sand files whose name ends in .json", name, description_names(arena));
    return text;
}

bool target_load(struct target *target, const char *name_or_path, struct arena *arena, struct diagnostics *diagnostics)
{
    struct reader reader = {.target = target, .arena = arena, .diagnostics = diagnostics, .source = name_or_path};
    int errors = diagnostics->error_count;
    json_error_t error;
    size_t length;
    memset(target, 0, sizeof *target);
    reader.text = read_text(name_or_path, &length, arena, diagnostics);
    if (!reader.text)
        return false;
    json_t *root = json_loadb(reader.text, length, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, "target", "target description %s, line %d, column %d: %s", name_or_path,
                 error.line, error.column, error.text);
    else if (!json_is_object(root))
        diagnose(diagnostics, SEVERITY_ERROR, NULL, "target", "target description %s: must be an object", name_or_path);
    else
        read_object(&reader, NULL, target_fields, root);
    json_decref(root);
    if (diagnostics->error_count == errors)
        check_sizes(&reader);
    return diagnostics->error_count == errors;
}
