#include "emit/emit.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "describe/layer_operation.h"
#include "emit/emit_header.h"
#include "emit/emit_tiles.h"
#include "emit/records.h"

/* ---- NAME.c ---- */

static void add_kernels(struct text *text, const struct plan *plan)
{
    for (int i = 0; i < plan->network->layer_count; i++) {
        bool first = true;
        for (int before = 0; before < i; before++)
            first = first && strcmp(plan->layers[before].kernel->name, plan->layers[i].kernel->name) != 0;
        if (first)
            text_add(text, "extern dory_kernel_function %s;\n", plan->layers[i].kernel->name);
        if (first && plan->layers[i].kernel->finish)
            text_add(text, "extern dory_kernel_function %s;\n", plan->layers[i].kernel->finish);
    }
    text_add_string(text, "\n");
}

/* What a person wants to know of a layer before the numbers come. */
static void add_layer_comment(struct text *text, const struct plan *plan, int index)
{
    const struct layer *layer = &plan->network->layers[index];
    const struct plan_layer *planned = &plan->layers[index];
    const struct dory_layer *record = &planned->record;
    text_add(text, "/* Layer %d, ", index);
    text_add_in_comment(text, layer->name);
    text_add(text, ": %s, %ux%ux%u -> %ux%ux%u", layer_words(plan->network, layer), record->input_height,
             record->input_width, record->input_channels, record->output_height, record->output_width,
             record->output_channels);
    if (!layer_has_two_inputs(layer))
        text_add(text, "\n * kernel %ux%u, stride %ux%u, dilation %ux%u, padding top %d, left %d, bottom %d, right %d",
                 record->kernel_height, record->kernel_width, record->stride_height, record->stride_width,
                 record->dilation_height, record->dilation_width, layer->padding_top, layer->padding_left,
                 layer->padding_bottom, layer->padding_right);
    text_add(text,
             "\n * %" PRIu32 " tiles of up to %ux%ux%u; %" PRIu64 " MAC, predicted %" PRIu64 " cycles; %" PRIu32 " B of L1",
             planned->tile_count, record->tile.rows, record->tile.columns, record->tile.channels, planned->macs,
             planned->predicted_cycles, planned->l1_bytes);
    if (planned->weights_bytes)
        text_add(text, "; %" PRIu32 " B of weights", planned->weights_bytes);
    text_add_string(text, " */\n");
}

/* The table of a function of bytes. */
static void add_table(struct text *text, const struct dory_layer *record, int layer)
{
    uint32_t bytes = dory_table_bytes(record);
    text_add(text, "static const uint8_t table_%d[%" PRIu32 "] __attribute__((aligned(4))) = {", layer, bytes);
    for (uint32_t i = 0; i < bytes; i++)
        text_add(text, "%s%u,", i % 24 ? " " : "\n    ", record->constants.table[i]);
    text_add_string(text, "\n};\n");
}

static void add_stages(struct text *text, const struct dory_stages *stages, int layer)
{
    text_add(text, "static const struct dory_stages stages_%d = {", layer);
    print_members(text, &record_stages, stages, 4);
    text_add_string(text, "\n};\n");
}

/* The member of struct dory_layer that points to the layer's list of words, and what the list is called. */
struct list {
    const char *member, *name;
};

static struct list list_of(const struct dory_layer *record)
{
    static const struct list terms = {"constants.terms", "terms"}, thresholds = {"constants.thresholds", "thresholds"},
                             scales = {"constants.scales", "scales"};
    switch (record->operation) {
    case DORY_COPY: return (struct list){"constants.map", "map"};
    case DORY_SOFTMAX: return (struct list){"constants.exponentials", "exponentials"};
    case DORY_INTERPOLATION: return (struct list){"constants.taps", "taps"};
    case DORY_NORM: return (struct list){"constants.norm", "norm"};
    case DORY_LSTM: return (struct list){"constants.lstm", "lstm"};
    case DORY_QUOTIENT:
    case DORY_SQUARED_DIFFERENCE: return terms;
    case DORY_ADDITION: return dory_adds_terms(record) ? terms : thresholds;
    case DORY_MULTIPLICATION: return record->normalisation == DORY_NORMALISE_CHANNELS ? scales : thresholds;
    default: return thresholds;
    }
}

/* What makes of the list what its member points to: the words of a norm, and of an LSTM, are a struct. */
static const char *list_type(const struct dory_layer *record)
{
    return record->operation == DORY_NORM || record->operation == DORY_LSTM ? "(const void *)" : "";
}

/* Positions of a map, exponentials, taps, thresholds: what dory_list_words() counts. */
static void add_list(struct text *text, const struct dory_layer *record, int layer)
{
    bool is_signed = record->operation != DORY_SOFTMAX;
    uint32_t count = dory_list_words(record);
    const int32_t *words = record->constants.any;
    text_add(text, "static const %s %s_%d[] = {", is_signed ? "int32_t" : "uint32_t", list_of(record).name, layer);
    for (uint32_t i = 0; i < count; i++) {
        const char *space = i % 10 ? " " : "\n    ";
        if (!is_signed)
            text_add(text, "%s%" PRIu32 "u,", space, (uint32_t)words[i]);
        else if (words[i] == INT32_MIN) /* no number of C has this value */
            text_add(text, "%sINT32_MIN,", space);
        else
            text_add(text, "%s%" PRId32 ",", space, words[i]);
    }
    text_add_string(text, "\n};\n");
}

static void add_layers(struct text *text, const struct emission *emission)
{
    for (int i = 0; i < emission->plan->network->layer_count; i++) {
        const struct dory_layer *record = &emission->assembled->layers[i];
        add_layer_comment(text, emission->plan, i);
        if (record->stages)
            add_stages(text, record->stages, i);
        if (record->operation == DORY_TABLE)
            add_table(text, record, i);
        if (dory_list_words(record))
            add_list(text, record, i);
        text_add(text, "static const struct dory_layer layer_%d = {\n    .kernel = %s,", i,
                 emission->plan->layers[i].kernel->name);
        if (emission->plan->layers[i].kernel->finish)
            text_add(text, " .finish = %s,", emission->plan->layers[i].kernel->finish);
        if (record->stages)
            text_add(text, " .stages = &stages_%d,", i);
        if (record->operation == DORY_TABLE)
            text_add(text, " .constants.table = table_%d,", i);
        if (dory_list_words(record))
            text_add(text, " .%s = %s%s_%d,", list_of(record).member, list_type(record), list_of(record).name, i);
        print_members(text, &record_layer, record, 4);
        text_add_string(text, "\n};\n\n");
    }
}

static void add_steps(struct text *text, const struct emission *emission)
{
    text_add_string(text, "static const struct dory_step steps[] = {\n");
    for (int i = 0; i < emission->plan->step_count; i++) {
        text_add(text, "    [%d] = {.layer = &layer_%d,", i, emission->plan->steps[i].layer);
        print_members(text, &record_step, &emission->assembled->steps[i], 8);
        text_add_string(text, "},\n");
    }
    text_add_string(text, "};\n\n");
}

static void add_transfers(struct text *text, const struct emission *emission)
{
    const struct plan *plan = emission->plan;
    if (plan->transfer_count == 0)
        return;
    text_add_string(text, "static const struct dory_transfer transfers[] = {\n");
    for (int i = 0; i < plan->transfer_count; i++) {
        int buffer = plan->transfers[i].buffer;
        text_add(text, "    /* %d: ", i);
        text_add_in_comment(text, buffer >= 0 && plan->buffers[buffer].name ? plan->buffers[buffer].name : "copy");
        text_add(text, ", before step %d */\n    ", plan->transfers[i].needed_step);
        print_record(text, &record_transfer, &emission->assembled->transfers[i], 8);
        text_add_string(text, ",\n");
    }
    text_add_string(text, "};\n\n");
}

static void add_port_array(struct text *text, const char *name, const struct dory_port *ports, int count)
{
    text_add(text, "static const struct dory_port %s[] = {\n", name);
    for (int i = 0; i < count; i++) {
        text_add_string(text, "    ");
        print_record(text, &record_port, &ports[i], 8);
        text_add_string(text, ",\n");
    }
    text_add_string(text, "};\n\n");
}

static void add_network(struct text *text, const struct emission *emission)
{
    add_port_array(text, "inputs", emission->assembled->inputs, emission->plan->network->input_count);
    add_port_array(text, "outputs", emission->assembled->outputs, emission->plan->network->output_count);
    text_add(text, "%sconst struct dory_network %s_network = {\n    .name = ", emission->is_exported ? "static " : "",
             emission->name);
    text_add_literal(text, emission->name);
    text_add_string(text, ",\n    .steps = steps,");
    if (emission->plan->transfer_count)
        text_add_string(text, "\n    .transfers = transfers,");
    text_add_string(text, "\n    .inputs = inputs, .outputs = outputs,");
    if (emission->plan->weights_are_linked)
        text_add(text, "\n    .weights = %s%s_weights,", emission->is_exported ? "(const uint8_t *)" : "", emission->name);
    text_add_string(text, emission->plan->tiles         ? "\n    .run = dory_run_table, .tiles = tiles,"
                          : emission->plan->runs_layers ? "\n    .run = dory_run_layers,"
                                                        : "\n    .run = dory_run_tiles,");
    print_members(text, &record_network, &emission->assembled->network, 4);
    text_add_string(text, "\n};\n\n");
}

/* With a dump, the same function by way of dory/dump.h. */
static void add_run(struct text *text, const struct emission *emission)
{
    bool several = emit_has_several(emission), dumps = emission->dumped != NULL;
    const char *function = dumps ? "dory_dump_run" : several ? "dory_network_run_all" : "dory_network_run";
    const char *arguments = several ? "inputs, outputs" : dumps ? "&input, &output" : "input, output";
    text_add(text,
             "int %s_run(const struct dory_buffers *buffers, %s)\n"
             "{\n"
             "    return %s(&%s_%s, buffers, %s);\n"
             "}\n\n"
             "int %s_load(const struct dory_buffers *buffers)\n"
             "{\n"
             "    return dory_network_load(&%s_network, buffers);\n"
             "}\n",
             emission->name, emit_run_parameters(emission, text->arena), function, emission->name,
             dumps ? "dump" : "network", arguments, emission->name, emission->name);
}

static void add_jobs(struct text *text, const struct emission *emission)
{
    bool several = emit_has_several(emission), dumps = emission->dumped != NULL;
    const char *name = emission->name;
    text_add(text,
             "\nint %s_start(struct dory_job *job, const struct dory_buffers *buffers, %s)\n"
             "{\n",
             name, emit_run_parameters(emission, text->arena));
    if (dumps)
        text_add(text,
                 "    (void)job, (void)buffers, (void)%s, (void)%s;\n"
                 "    return DORY_ERROR_UNSUPPORTED;\n",
                 several ? "inputs" : "input", several ? "outputs" : "output");
    else
        text_add(text, "    return dory_network_start%s(job, &%s_network, buffers, %s);\n", several ? "_all" : "", name,
                 several ? "inputs, outputs" : "input, output");
    text_add(text,
             "}\n\n"
             "int %s_poll(struct dory_job *job) { return dory_job_poll(job); }\n"
             "int %s_wait(struct dory_job *job) { return dory_job_wait(job); }\n"
             "void %s_cancel(struct dory_job *job) { dory_job_cancel(job); }\n",
             name, name, name);
}

void emit_data(struct text *text, const struct emission *emission)
{
    text_add(text,
             "_Static_assert(DORY_L1_RUNTIME_BYTES == %d && DORY_FLASH_HEADER_BYTES == %d,\n"
             "               \"generated by a dory of another version than these kernels: generate it again\");\n\n",
             DORY_L1_RUNTIME_BYTES, DORY_FLASH_HEADER_BYTES);
    add_kernels(text, emission->plan);
    add_layers(text, emission);
    add_steps(text, emission);
    emit_tiles(text, emission->plan);
    add_transfers(text, emission);
    add_network(text, emission);
}

static void add_source(struct text *text, const struct emission *emission)
{
    emit_title(text, emission, "Data");
    text_add(text, " * What the members mean: dory/network.h. */\n#include \"%s.h\"\n%s%s\n", emission->name,
             emission->dumped ? "#include \"dory/dump.h\"\n" : "",
             emission->plan->tiles ? "#include \"dory/prepared.h\"\n" : "");
    emit_data(text, emission);
    if (emission->dumped)
        emit_dump_table(text, emission);
    add_run(text, emission);
    add_jobs(text, emission);
}

/* ---- weights ---- */

static const char *image_source(const char *section, const char *symbol, uint32_t hash, struct arena *arena)
{
    return arena_format(
        arena,
        "/* Generated by dory %s; do not edit. The folder of %s.bin must be on the include path.\n"
        " * Its hash, 0x%08x, makes this source another one with each content. A compiler's cache may know it by\n"
        " * that alone. */\n"
        "#include \"dory/flash_section.h\"\n\n"
        "        %s\n"
        "        .balign 8\n"
        "        .global %s\n"
        "        .type %s, %%object\n"
        "%s:\n"
        "        .incbin \"%s.bin\"\n"
        "        .size %s, . - %s\n\n"
        "        .section .note.GNU-stack, \"\", %%progbits\n",
        DORY_VERSION, symbol, hash, section, symbol, symbol, symbol, symbol, symbol, symbol);
}

void emit_image(const char *section, const char *symbol, const void *bytes, size_t count, struct outputs *outputs,
                struct arena *arena)
{
    const char *source = image_source(section, symbol, layout_hash(bytes, count), arena);
    outputs_add(outputs, arena_format(arena, "%s.bin", symbol), bytes, count);
    outputs_add(outputs, arena_format(arena, "%s.S", symbol), source, strlen(source));
}

void emit_network(const struct emission *emission, struct outputs *outputs, struct arena *arena)
{
    struct text header = {.arena = arena}, source = {.arena = arena};
    const char *name = emission->name;
    emit_header(&header, emission, arena);
    add_source(&source, emission);
    const char *section = emission->plan->weights_are_linked ? "DORY_LINKED_SECTION" : "DORY_FLASH_SECTION";
    outputs_add(outputs, arena_format(arena, "%s.h", name), header.bytes, header.length);
    outputs_add(outputs, arena_format(arena, "%s.c", name), source.bytes, source.length);
    emit_image(section, arena_format(arena, "%s_weights", name), emission->plan->flash_image, emission->plan->flash_bytes,
               outputs, arena);
}
