/* A network that is exported: one arena, one call, no HAL of the application's. */
#include <inttypes.h>
#include <string.h>

#include "base/arithmetic.h"
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

uint32_t emit_exported_arena_bytes(const struct emission *emission)
{
    return l1_offset(emission) + emission->assembled->network.l1_bytes;
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
    text_add(
        text,
        "/* Runs the network once. All that it writes is in the arena, which nobody else may use meanwhile, in the\n"
        " * outputs, and in 4 kB of stack: with an arena each, runs may be under way at the same time. Inputs and outputs\n"
        " * lie outside the arena, or each at its own OFFSET in it. Returns 0; -1: the arena is a null pointer; -4: it\n"
        " * is not at a multiple of %s_ARENA_ALIGNMENT. */\n"
        "int %s_run(void *arena, %s);\n\n",
        upper, emission->name, emit_run_parameters(emission, text->arena));
}

static void add_header(struct text *text, const struct emission *emission)
{
    const char *upper = emit_upper_case(emission->name, text->arena);
    uint32_t bytes = emit_exported_arena_bytes(emission);
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

/* One side of the network: its inputs or its outputs. */
struct side {
    const struct emission *emission;
    const char *what;   /* "input" */
    const int *tensors; /* of the network */
    const struct dory_port *ports;
    int count;
};

static struct side side_of(const struct emission *emission, bool is_input)
{
    const struct network *network = emission->plan->network;
    const struct assembled *assembled = emission->assembled;
    if (is_input)
        return (struct side){emission, "input", network->inputs, assembled->inputs, network->input_count};
    return (struct side){emission, "output", network->outputs, assembled->outputs, network->output_count};
}

static bool is_shifted(const struct side *side, int index)
{
    return emit_is_shifted(side->emission, &side->emission->plan->network->tensors[side->tensors[index]]);
}

static bool shifts(const struct side *side)
{
    bool any = false;
    for (int i = 0; i < side->count; i++)
        any = any || is_shifted(side, i);
    return any;
}

/* A parameter of NAME_run. */
static const char *parameter(const struct side *side, int index, struct arena *arena)
{
    return emit_has_several(side->emission) ? arena_format(arena, "%ss[%d]", side->what, index) : side->what;
}

/* What the network's run gets: a tensor that is shifted is at its place. */
static void add_list(struct text *text, const struct side *side, const char *type)
{
    text_add(text, "    %sconst %s_list[] = {", type, side->what);
    for (int i = 0; i < side->count; i++)
        text_add(text, "%s%s", i ? ", " : "", is_shifted(side, i) ? "0" : parameter(side, i, text->arena));
    text_add_string(text, "};\n");
}

static void add_shifts(struct text *text, const struct side *side, bool is_input)
{
    for (int i = 0; i < side->count; i++) {
        const char *name = parameter(side, i, text->arena);
        const char *place = arena_format(text->arena, "l2 + %" PRIu32, side->ports[i].offset);
        if (is_shifted(side, i))
            text_add(text, "    shift(%s, %s, %" PRIu32 ");\n", is_input ? place : name, is_input ? name : place,
                     side->ports[i].bytes);
    }
}

static void add_shift_function(struct text *text)
{
    text_add_string(text, "/* Between int8 and uint8, 128 more. */\n"
                          "static void shift(uint8_t *to, const uint8_t *from, uint32_t bytes)\n"
                          "{\n"
                          "    for (uint32_t i = 0; i < bytes; i++) {\n"
                          "        to[i] = from[i] ^ 128;\n"
                          "    }\n"
                          "}\n\n");
}

static void add_buffers(struct text *text, const struct emission *emission)
{
    text_add(text,
             "    if (!arena) {\n"
             "        return DORY_ERROR_ARGUMENT;\n"
             "    }\n"
             "    uint8_t *l2 = arena, *l1 = l2 + %" PRIu32 ";\n"
             "    struct dory_buffers buffers = {.l1 = l1, .l1_bytes = %" PRIu32 ", .l2 = l2, .l2_bytes = %" PRIu32 "};\n",
             l1_offset(emission), emission->assembled->network.l1_bytes, l1_offset(emission));
}

static void add_run(struct text *text, const struct emission *emission)
{
    struct side inputs = side_of(emission, true), outputs = side_of(emission, false);
    if (shifts(&inputs) || shifts(&outputs))
        add_shift_function(text);
    text_add(text, "int %s_run(void *arena, %s)\n{\n", emission->name, emit_run_parameters(emission, text->arena));
    add_buffers(text, emission);
    add_list(text, &inputs, "const void *");
    add_list(text, &outputs, "void *");
    add_shifts(text, &inputs, true);
    text_add(text, "    int status = dory_network_run_all(&%s_network, &buffers, input_list, output_list);\n",
             emission->name);
    if (shifts(&outputs)) {
        text_add_string(text, "    if (status != DORY_OK) {\n        return status;\n    }\n");
        add_shifts(text, &outputs, false);
    }
    text_add_string(text, "    return status;\n}\n");
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
        text_add(&text, "%s0x%08" PRIx32 ",", i % WORDS_A_LINE ? " " : "\n    ",
                 little_endian_word(plan->flash_image + (size_t)4 * i));
    text_add_string(&text, "\n};\n");
    return text.bytes;
}
