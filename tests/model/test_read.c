/* The reader: graphs as they stand in the file, and files that are none. */
#include <stdlib.h>

#include "expect.h"
#include "loaded.h"
#include "model/graph.h"

static struct onnx_builder *small_model(void)
{
    return onnx_builder_make_text("x = input[1,2,3,3]; w = float[1,2,1,1] 3 -4; y = Conv x w; y = output");
}

struct reading {
    struct arena arena;
    struct diagnostics diagnostics;
    struct graph *graph;
};

static void read_bytes(struct reading *reading, const void *bytes, size_t length)
{
    *reading = (struct reading){0};
    reading->diagnostics.arena = &reading->arena;
    reading->graph = graph_read_memory(bytes, length, &reading->arena, &reading->diagnostics);
}

static void read_model(struct reading *reading, struct onnx_builder *model)
{
    size_t length;
    const uint8_t *bytes = onnx_builder_pack(model, &length);
    read_bytes(reading, bytes, length);
    onnx_builder_free(model);
}

static const struct value *find_value(const struct graph *graph, const char *name)
{
    for (int i = 0; i < graph->value_count; i++)
        if (!strcmp(graph->values[i].name, name))
            return &graph->values[i];
    return NULL;
}

static void reads_nodes_and_edges(void)
{
    struct reading reading;
    read_model(&reading, small_model());
    const struct graph *graph = reading.graph;
    REQUIRE(graph);
    EXPECT_EQUAL(graph->opset, 9);
    EXPECT_EQUAL(graph->node_count, 1);
    EXPECT_EQUAL(graph->input_count, 1);
    EXPECT_EQUAL(graph->output_count, 1);
    EXPECT_TEXT(graph->nodes[0].type, "Conv");
    EXPECT_EQUAL(find_value(graph, "y")->producer, 0);
    EXPECT_THAT(find_value(graph, "y")->is_output);
    EXPECT_EQUAL(find_value(graph, "x")->rank, 4);
    EXPECT_EQUAL(find_value(graph, "w")->constant->count, 2);
    EXPECT_EQUAL(find_value(graph, "w")->use_count, 1);
    arena_free(&reading.arena);
}

static void expect_number(const struct constant *constant, size_t index, int64_t expected)
{
    int64_t number;
    EXPECT_THAT(constant_integer(constant, index, &number));
    EXPECT_EQUAL(number, expected);
}

/* The same two numbers, 3 and -4, in every form that ONNX has for them. */
static void reads_constants_of_all_types(void)
{
    const struct {
        int type;
        const void *raw;
        size_t raw_bytes;
    } forms[] = {
        {ONNX__TENSOR_PROTO__DATA_TYPE__INT8, (const int8_t[]){3, -4}, 2},
        {ONNX__TENSOR_PROTO__DATA_TYPE__INT16, (const int16_t[]){3, -4}, 4},
        {ONNX__TENSOR_PROTO__DATA_TYPE__INT32, (const int32_t[]){3, -4}, 8},
        {ONNX__TENSOR_PROTO__DATA_TYPE__INT64, (const int64_t[]){3, -4}, 16},
        {ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, (const float[]){3, -4}, 8},
        {ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE, (const double[]){3, -4}, 16},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct reading reading;
        struct onnx_builder *model = small_model();
        Onnx__TensorProto *tensor = onnx_builder_model(model)->graph->initializer[0];
        tensor->data_type = forms[i].type;
        tensor->raw_data = (ProtobufCBinaryData){forms[i].raw_bytes, (uint8_t *)(uintptr_t)forms[i].raw};
        read_model(&reading, model);
        REQUIRE(reading.graph);
        expect_number(find_value(reading.graph, "w")->constant, 0, 3);
        expect_number(find_value(reading.graph, "w")->constant, 1, -4);
        arena_free(&reading.arena);
    }
}

static void reads_typed_fields(void)
{
    struct reading reading;
    struct onnx_builder *model = small_model();
    Onnx__TensorProto *tensor = onnx_builder_model(model)->graph->initializer[0];
    tensor->has_raw_data = 0;
    tensor->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT8;
    tensor->n_int32_data = 2;
    tensor->int32_data = (int32_t[]){3, -4};
    read_model(&reading, model);
    REQUIRE(reading.graph);
    expect_number(find_value(reading.graph, "w")->constant, 1, -4);
    arena_free(&reading.arena);
}

static void fractions_are_no_integers(void)
{
    int64_t number;
    const float values[] = {0.5F, 2};
    const struct constant constant = {
        .type = ELEMENT_FLOAT, .count = 2, .data = (const unsigned char *)values, .stride_bytes = 4};
    EXPECT_THAT(!(constant_integer(&constant, 0, &number)));
    EXPECT_THAT(constant_integer(&constant, 1, &number));
}

static void expect_refused(struct onnx_builder *model, const char *text)
{
    struct reading reading;
    read_model(&reading, model);
    EXPECT_THAT(!reading.graph);
    if (!has_message(&reading.diagnostics, SEVERITY_ERROR, NULL, text)) {
        diagnostics_print(&reading.diagnostics, stdout);
        EXPECT(false, "no message with '%s'", text);
    }
    arena_free(&reading.arena);
}

static void refuses_wrong_data_lengths(void)
{
    struct onnx_builder *model = small_model();
    onnx_builder_model(model)->graph->initializer[0]->raw_data.len--;
    expect_refused(model, "numbers of data");
    model = small_model();
    onnx_builder_model(model)->graph->initializer[0]->dims[0] = INT64_MAX;
    expect_refused(model, "impossible dimensions");
    model = small_model();
    onnx_builder_model(model)->graph->initializer[0]->dims[1] = -2;
    expect_refused(model, "impossible dimensions");
}

static void refuses_broken_graphs(void)
{
    struct onnx_builder *model = onnx_builder_make(9);
    expect_refused(model, "the graph is empty");
    model = small_model();
    onnx_builder_model(model)->graph = NULL;
    expect_refused(model, "has no graph");
    model = small_model();
    onnx_add_node(model, "Relu", "y", "y");
    expect_refused(model, "already the name of another tensor");
    model = small_model();
    onnx_add_node(model, "Relu", "nowhere", "z");
    expect_refused(model, "neither computed by a node");
    model = small_model();
    onnx_add_node(model, "Relu", "b", "a");
    onnx_add_node(model, "Relu", "a", "b");
    expect_refused(model, "has a cycle");
    model = small_model();
    onnx_builder_model(model)->graph->n_output = 0;
    expect_refused(model, "no outputs");
}

/* Every prefix of a model is refused or (where a field ends) another model, and none is read beyond its end. */
static void survives_truncation_and_noise(void)
{
    size_t length;
    struct onnx_builder *model = small_model();
    const uint8_t *bytes = onnx_builder_pack(model, &length);
    for (size_t cut = 0; cut < length; cut++) {
        struct reading reading;
        uint8_t *copy = malloc(cut + 1); /* of just the size, for AddressSanitizer */
        memcpy(copy, bytes, cut);
        read_bytes(&reading, copy, cut);
        EXPECT_THAT(reading.graph || reading.diagnostics.error_count > 0);
        arena_free(&reading.arena);
        free(copy);
    }
    for (size_t at = 0; at < length; at++)
        for (int bit = 0; bit < 8; bit++) {
            struct loaded loaded = {.diagnostics = {.arena = &loaded.arena}};
            uint8_t *copy = malloc(length);
            memcpy(copy, bytes, length);
            copy[at] ^= (uint8_t)(1 << bit);
            loaded.network = network_load_memory(copy, length, "noise", NULL, &loaded.arena, &loaded.diagnostics);
            EXPECT_THAT(loaded.network || loaded.diagnostics.error_count > 0);
            arena_free(&loaded.arena);
            free(copy);
        }
    onnx_builder_free(model);
}

static void refuses_deep_nesting(void)
{
    /* ModelProto.graph (7) > node (1) > attribute (5) > g (6) > node > attribute > ... */
    enum { LEVELS = 20000 };
    static uint8_t bytes[LEVELS * 6];
    size_t start = sizeof bytes, length = 0;
    for (int level = LEVELS - 1; level >= 0; level--) {
        static const uint8_t tags[] = {1 << 3 | 2, 5 << 3 | 2, 6 << 3 | 2};
        size_t rest = length;
        uint8_t varint[5];
        int count = 0;
        do {
            varint[count++] = (uint8_t)((rest & 127) | (rest > 127 ? 128 : 0));
            rest >>= 7;
        } while (rest);
        start -= (size_t)count;
        memcpy(bytes + start, varint, (size_t)count);
        bytes[--start] = level == 0 ? 7 << 3 | 2 : tags[(level - 1) % 3];
        length = sizeof bytes - start;
    }
    struct reading reading;
    read_bytes(&reading, bytes + start, length);
    EXPECT_THAT(!reading.graph);
    EXPECT_THAT(has_message(&reading.diagnostics, SEVERITY_ERROR, NULL, "nested"));
    arena_free(&reading.arena);
}

static void refuses_what_is_no_model(void)
{
    struct reading reading;
    static const char text[] = "This is a text file, which somebody took for a model.\n";
    read_bytes(&reading, text, sizeof text - 1);
    EXPECT_THAT(!reading.graph);
    EXPECT_THAT(has_message(&reading.diagnostics, SEVERITY_ERROR, NULL, "not an ONNX model"));
    arena_free(&reading.arena);
    read_bytes(&reading, "", 0);
    EXPECT_THAT(has_message(&reading.diagnostics, SEVERITY_ERROR, NULL, "empty"));
    arena_free(&reading.arena);
}

static void truncated_files_are_called_so(void)
{
    size_t length;
    struct reading reading;
    struct onnx_builder *model = small_model();
    const uint8_t *bytes = onnx_builder_pack(model, &length);
    read_bytes(&reading, bytes, length - 10);
    EXPECT_THAT(has_message(&reading.diagnostics, SEVERITY_ERROR, NULL, "truncated"));
    arena_free(&reading.arena);
    onnx_builder_free(model);
}

int main(void)
{
    static const struct test tests[] = {
        TEST(reads_nodes_and_edges),         TEST(reads_constants_of_all_types), TEST(reads_typed_fields),
        TEST(fractions_are_no_integers),     TEST(refuses_wrong_data_lengths),   TEST(refuses_broken_graphs),
        TEST(survives_truncation_and_noise), TEST(refuses_deep_nesting),         TEST(refuses_what_is_no_model),
        TEST(truncated_files_are_called_so),
    };
    return RUN_TESTS("read", tests, NULL);
}
