/* A network that is exported: one arena, one call, no HAL of the application's. */
#include <inttypes.h>
#include <string.h>

#include "dory/hal.h"
#include "emit/emit_header.h"

#define WORDS_A_LINE 8

/* ---- NAME.h ---- */

/* The L2 arena, and behind it that of L1. */
static uint32_t l1_offset(const struct emission *emission)
{
    uint32_t l2_bytes = emission->assembled->network.l2_bytes;
    return (l2_bytes + DORY_ALIGNMENT - 1) / DORY_ALIGNMENT * DORY_ALIGNMENT;
}

static void add_example(struct text *text, const struct emission *emission, const char *upper)
{
    const char *name = emission->name;
    text_add(text,
             " *\n"
             " *     static uint8_t arena[%s_ARENA_BYTES] __attribute__((aligned(%s_ARENA_ALIGNMENT)));\n"
             " *\n"
             " *     int status = %s_run(arena, %s);\n"
             " */\n",
             upper, upper, name, emit_has_several(emission) ? "inputs, outputs" : "input, output");
}

static void add_declaration(struct text *text, const struct emission *emission, const char *upper)
{
    text_add(text,
             "/* Runs the network once. All that it writes is in the arena, which nobody else may use meanwhile, in the\n"
             " * outputs, and in 4 kB of stack: with an arena each, runs may be under way at the same time. An input at\n"
             " * arena + %s_INPUT%s_OFFSET is there already and is not copied. Returns 0; -1: the arena is a null pointer;\n"
             " * -4: it is not at a multiple of %s_ARENA_ALIGNMENT. */\n"
             "int %s_run(void *arena, %s);\n\n",
             upper, emission->plan->network->input_count > 1 ? "_n" : "", upper, emission->name,
             emit_run_parameters(emission, text->arena));
}

static void add_header(struct text *text, const struct emission *emission)
{
    const char *upper = emit_upper_case(emission->name, text->arena);
    uint32_t bytes = l1_offset(emission) + emission->assembled->network.l1_bytes;
    emit_title(text, emission, "Interface");
    add_example(text, emission, upper);
    text_add(text, "#ifndef %s_H\n#define %s_H\n\n#include <stdint.h>\n\n%s", upper, upper,
             emit_interface_include(emission, text->arena));
    text_add_string(text, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    text_add(text, "#define %s_ARENA_BYTES     %" PRIu32 "\n#define %s_ARENA_ALIGNMENT %d\n\n", upper, bytes, upper,
             DORY_ALIGNMENT);
    emit_interface(text, emission, upper);
    add_declaration(text, emission, upper);
    text_add_string(text, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

/* ---- NAME.c ---- */

static void add_run(struct text *text, const struct emission *emission)
{
    const struct dory_network *network = &emission->assembled->network;
    bool several = emit_has_several(emission);
    text_add(text,
             "int %s_run(void *arena, %s)\n"
             "{\n"
             "    if (!arena) {\n"
             "        return DORY_ERROR_ARGUMENT;\n"
             "    }\n"
             "    struct dory_buffers buffers = {\n"
             "        .l2 = arena,\n"
             "        .l2_bytes = %" PRIu32 ",\n"
             "        .l1 = (uint8_t *)arena + %" PRIu32 ",\n"
             "        .l1_bytes = %" PRIu32 ",\n"
             "    };\n"
             "    return dory_network_run%s(&%s_network, &buffers, %s);\n"
             "}\n",
             emission->name, emit_run_parameters(emission, text->arena), l1_offset(emission), l1_offset(emission),
             network->l1_bytes, several ? "_all" : "", emission->name, several ? "inputs, outputs" : "input, output");
}

static void add_source(struct text *text, const struct emission *emission)
{
    emit_title(text, emission, "Data");
    text_add(text,
             " * What the members mean: dory/network.h. */\n#include \"%s.h\"\n\n#include \"dory/run.h\"\n%s\n"
             "extern const uint32_t %s_weights[];\n\n",
             emission->name, emission->plan->tiles ? "#include \"dory/prepared.h\"\n" : "", emission->name);
    emit_data(text, emission);
    add_run(text, emission);
}

void emit_exported(const struct emission *emission, struct outputs *outputs, struct arena *arena)
{
    struct text header = {.arena = arena}, source = {.arena = arena};
    add_header(&header, emission);
    add_source(&source, emission);
    outputs_add(outputs, arena_format(arena, "%s.h", emission->name), header.bytes, header.length);
    outputs_add(outputs, arena_format(arena, "%s.c", emission->name), source.bytes, source.length);
}

/* ---- NAME_weights.c ---- */

static uint32_t word_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* As words, which are quicker to compile than bytes; an image is a multiple of 8 bytes. */
const char *emit_exported_weights(const struct emission *emission, struct arena *arena)
{
    struct text text = {.arena = arena};
    const struct plan *plan = emission->plan;
    emit_title(&text, emission, "Weights");
    text_add(&text,
             " * The words of a little-endian machine. */\n#include <stdint.h>\n\n"
             "#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n"
             "#error \"a little-endian machine is needed\"\n#endif\n\n"
             "extern const uint32_t %s_weights[];\n\n"
             "const uint32_t %s_weights[%" PRIu32 "] __attribute__((aligned(%d))) = {",
             emission->name, emission->name, plan->flash_bytes / 4, DORY_ALIGNMENT);
    for (uint32_t i = 0; i < plan->flash_bytes / 4; i++)
        text_add(&text, "%s0x%08" PRIx32 ",", i % WORDS_A_LINE ? " " : "\n    ", word_at(plan->flash_image + (size_t)4 * i));
    text_add_string(&text, "\n};\n");
    return text.bytes;
}
