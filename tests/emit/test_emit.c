/* What a network's sources look like, to the letter; and that identifiers are taken seriously.
 * Usage: test_emit GOLDEN_FOLDER [--update] */
#include "dory/prepared.h"
#include "dory/quantise.h"
#include "emit/emit.h"
#include "emit/records.h"
#include "expect.h"
#include "tiny_plan.h"

#include <string.h>

static void compare_with_file(const struct output *output, const char *folder, struct arena *arena)
{
    FILE *file = fopen(arena_format(arena, "%s/%s", folder, output->name), "rb");
    EXPECT(file != NULL, "%s has no golden file", output->name);
    if (!file)
        return;
    const char *actual = output->bytes;
    size_t line = 1, at = 0;
    int expected;
    while ((expected = fgetc(file)) != EOF && at < output->count && (unsigned char)actual[at] == expected)
        line += actual[at++] == '\n';
    EXPECT(expected == EOF && at == output->count, "%s differs from its golden file in line %zu", output->name, line);
    fclose(file);
}

static void test_sources(const char *folder, bool update)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena, .file = "tiny.onnx"};
    struct plan *plan = tiny_plan();
    struct assembled assembled;
    struct outputs outputs = {0};
    EXPECT(layout_weights(plan, &arena, &diagnostics), "%d errors", diagnostics.error_count);
    plan_assemble(plan, &assembled, &arena);
    emit_network(&(struct emission){.name = "tiny", .plan = plan, .assembled = &assembled}, &outputs, &arena);
    if (update)
        outputs_commit(&outputs, folder, &arena, &diagnostics);
    for (int i = 0; i < outputs.count; i++)
        compare_with_file(&outputs.list[i], folder, &arena);
    diagnostics_print(&diagnostics, stderr);
    arena_free(&arena);
}

/* A compiler's cache that goes by the source, such as ccache with CCACHE_DEPEND, does not see what .incbin reads. */
static void test_images_with_other_bytes_have_other_sources(void)
{
    struct arena arena = {0};
    struct outputs outputs = {0};
    emit_image("DORY_FLASH_SECTION", "image", "1234567", 7, &outputs, &arena);
    emit_image("DORY_FLASH_SECTION", "image", "1234567", 7, &outputs, &arena);
    emit_image("DORY_FLASH_SECTION", "image", "1234568", 7, &outputs, &arena);
    EXPECT(strcmp(outputs.list[1].bytes, outputs.list[3].bytes) == 0, "other sources of the same bytes");
    EXPECT(strcmp(outputs.list[1].bytes, outputs.list[5].bytes) != 0, "one source of other bytes");
    arena_free(&arena);
}

static void test_identifiers(void)
{
    static const char *const good[] = {"a", "mobilenet", "Net_2", "x9"};
    static const char *const bad[] = {"", "2net", "_net", "my-net", "a b", "int", "while", "n\xc3\xa9t", "a/b", "main"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        EXPECT(emit_is_identifier(good[i]), "'%s'", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT(!emit_is_identifier(bad[i]), "'%s'", bad[i]);
}

/* Bytes of a struct that its table does not print, those of pointers aside. */
/* True where a member in front of it is another one of the same union. */
static bool is_of_a_union(const struct record *record, size_t field)
{
    for (size_t i = 0; i < field; i++)
        if (record->fields[i].is_live && record->fields[i].offset == record->fields[field].offset)
            return true;
    return false;
}

static size_t bytes_not_printed(const struct record *record, size_t pointer_bytes)
{
    size_t printed = 0;
    for (size_t i = 0; i < record->field_count; i++) {
        printed += is_of_a_union(record, i) ? 0 : record->fields[i].bytes * record->fields[i].count;
        if (record->fields[i].record)
            EXPECT(record->fields[i].bytes == record->fields[i].record->bytes, "%s", record->fields[i].name);
    }
    return record->bytes - printed - pointer_bytes;
}

/* A member that is new in dory/layer.h and not in records.c would be zero in all firmware. */
static void test_tables_are_complete(void)
{
    const struct {
        const char *name;
        const struct record *record;
        size_t pointer_bytes, padding_bytes;
    } tables[] = {
        {"dory_layer", &record_layer, 3 * sizeof(void *), 0},
        {"dory_stages", &record_stages, 0, 7},
        {"dory_step", &record_step, sizeof(void *), 7},
        {"dory_transfer", &record_transfer, 0, 1},
        {"dory_network", &record_network, 8 * sizeof(void *), 0},
        {"dory_tile", &record_tile, 6 * sizeof(void *), 4},
        {"dory_prepared_copy", &record_copy, 0, 0},
        {"dory_prepared_tile", &record_prepared_tile, sizeof(struct dory_tile) + 4 * sizeof(struct dory_prepared_copy), 4},
        {"dory_port", &record_port, 0, 3},
        {"dory_check_layer", &record_check_layer, sizeof(void *), 4},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        size_t actual = bytes_not_printed(tables[i].record, tables[i].pointer_bytes);
        EXPECT(actual == tables[i].padding_bytes, "struct %s: %zu bytes are not printed, its padding is %zu", tables[i].name,
               actual, tables[i].padding_bytes);
    }
}

static bool contains(const struct output *output, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + length <= output->count; i++)
        if (!memcmp((const char *)output->bytes + i, text, length))
            return true;
    return false;
}

/* The call takes arrays, and the macros have numbers. */
static void test_several_inputs(void)
{
    struct arena arena = {0};
    struct plan *plan = tiny_plan();
    struct network network = *plan->network;
    struct assembled assembled;
    struct outputs outputs = {0};
    int inputs[2] = {0, 1};
    network.inputs = inputs;
    network.input_count = 2;
    plan->network = &network;
    plan->flash_image = arena_allocate(&arena, plan->flash_bytes);
    plan_assemble(plan, &assembled, &arena);
    EXPECT(assembled.network.input_count == 2 && assembled.network.inputs[1].bytes == 32, "%u inputs",
           assembled.network.input_count);
    emit_network(&(struct emission){.name = "tiny", .plan = plan, .assembled = &assembled}, &outputs, &arena);
    EXPECT(contains(&outputs.list[0], "const void *const inputs[2], void *const outputs[1]"), "no arrays in the header");
    EXPECT(contains(&outputs.list[0], "#define TINY_INPUT_1_BYTES 32"), "no macros of the second input");
    EXPECT(contains(&outputs.list[1], "dory_network_run_all(&tiny_network, buffers, inputs, outputs)"), "another call");
    arena_free(&arena);
}

static bool has_text(const struct output *output, const char *words, struct arena *arena)
{
    const char *text = arena_format(arena, "%.*s", (int)output->count, (const char *)output->bytes);
    EXPECT(strstr(text, words) != NULL, "%s: there is no: %s", output->name, words);
    return strstr(text, words) != NULL;
}

/* A model in int8, which dory holds as uint8. */
static void test_scales(void)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct plan *plan = tiny_plan();
    struct assembled assembled;
    struct outputs outputs = {0};
    struct network network = *plan->network;
    network.tensors = arena_array(&arena, struct tensor, 2);
    memcpy(network.tensors, plan->network->tensors, 2 * sizeof *network.tensors);
    network.tensors[0].scale = 0.0078125;
    network.tensors[0].zero_point = 128;
    network.tensors[0].model_offset = -128;
    network.tensors[1].scale = 1;
    network.tensors[1].is_signed = true;
    plan->network = &network;
    EXPECT(layout_weights(plan, &arena, &diagnostics), "%d errors", diagnostics.error_count);
    plan_assemble(plan, &assembled, &arena);
    emit_network(&(struct emission){.name = "tiny", .plan = plan, .assembled = &assembled}, &outputs, &arena);
    has_text(&outputs.list[0], "#include \"dory/quantise.h\"", &arena);
    has_text(&outputs.list[0], "#define TINY_INPUT_SCALE 7.812500000e-03f", &arena);
    has_text(&outputs.list[0], "#define TINY_INPUT_ZERO_POINT 128\n", &arena);
    has_text(&outputs.list[0], "elements - 128: a uint8 image, whose pixels less 128 they are, goes in as it is", &arena);
    has_text(&outputs.list[0], "uint8_t tiny_quantise_input(float real)", &arena);
    has_text(&outputs.list[0], "#define TINY_OUTPUT_SCALE 1.000000000e+00f", &arena);
    has_text(&outputs.list[0], "float tiny_dequantise_output(int8_t element)", &arena);
    arena_free(&arena);
}

static void test_quantise(void)
{
    EXPECT(dory_quantise(0.5f, 0.0078125f, 128, 0, 255) == 192, "a half");
    EXPECT(dory_quantise(-2, 0.0078125f, 128, 0, 255) == 0 && dory_quantise(2, 0.0078125f, 128, 0, 255) == 255, "saturates");
    EXPECT(dory_quantise(2.5f, 1, 0, -128, 127) == 2 && dory_quantise(3.5f, 1, 0, -128, 127) == 4, "halves to even");
    EXPECT(dory_quantise(-2.5f, 1, 0, -128, 127) == -2 && dory_quantise(-3.5f, 1, 0, -128, 127) == -4, "below zero, too");
    EXPECT(dory_quantise(-0.75f, 1, 3, 0, 255) == 2 && dory_quantise(0.0f / 0.0f, 1, 3, 0, 255) == 0, "to the nearest");
    for (int element = 0; element < 256; element++)
        EXPECT(dory_quantise(dory_dequantise(element, 0.1f, 77), 0.1f, 77, 0, 255) == element, "%d and back", element);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    test_sources(argv[1], argc > 2 && !strcmp(argv[2], "--update"));
    test_images_with_other_bytes_have_other_sources();
    test_identifiers();
    test_tables_are_complete();
    test_several_inputs();
    test_scales();
    test_quantise();
    return expect_result("test_emit");
}
