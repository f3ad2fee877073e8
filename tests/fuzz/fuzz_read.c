/* Any bytes as an ONNX file: the reader says what is wrong, or gives a graph whose promises hold (graph.h). */
#include <stdlib.h>

#include "model/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

/* Reads every number of it, so that a sanitizer sees what lies behind the data. */
static void check_constant(const struct constant *constant)
{
    volatile double sum = 0;
    if (constant->type == ELEMENT_UNSUPPORTED)
        return;
    for (size_t i = 0; i < constant->count; i++)
        sum += constant_number(constant, i);
}

static void check_node(const struct graph *graph, int index)
{
    const struct node *node = &graph->nodes[index];
    for (int i = 0; i < node->input_count; i++) {
        expect(node->inputs[i] == NO_VALUE || (node->inputs[i] >= 0 && node->inputs[i] < graph->value_count));
        expect(node->inputs[i] == NO_VALUE || graph->values[node->inputs[i]].producer < index);
    }
    for (int i = 0; i < node->attribute_count; i++)
        if (node->attributes[i].kind == ATTRIBUTE_CONSTANT)
            check_constant(node->attributes[i].constant);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena, .file = "fuzz"};
    const struct graph *graph = graph_read_memory(bytes, length, &arena, &diagnostics);
    expect((graph == NULL) == (diagnostics.error_count > 0));
    for (int i = 0; graph && i < graph->node_count; i++)
        check_node(graph, i);
    for (int i = 0; graph && i < graph->value_count; i++)
        if (graph->values[i].constant)
            check_constant(graph->values[i].constant);
    arena_free(&arena);
    return 0;
}
