#include "model/onnx/onnx_order.h"

/* A walk from each node to what computes its inputs, and back. */
struct sorting {
    const struct graph *graph;
    bool *is_entered;
    int *next_input; /* of each node, to be looked at */
    int *path, path_length;
    int *order, count;
};

static void enter(struct sorting *sorting, int node)
{
    sorting->is_entered[node] = true;
    sorting->path[sorting->path_length++] = node;
}

/* The next node that computes an input of this one and was not yet met; NO_NODE: there is none. */
static int next_producer(struct sorting *sorting, int node)
{
    const struct node *reader = &sorting->graph->nodes[node];
    while (sorting->next_input[node] < reader->input_count) {
        int input = reader->inputs[sorting->next_input[node]++];
        int producer = input == NO_VALUE ? NO_NODE : sorting->graph->values[input].producer;
        if (producer != NO_NODE && !sorting->is_entered[producer])
            return producer;
    }
    return NO_NODE;
}

static void walk(struct sorting *sorting, int node)
{
    if (!sorting->is_entered[node])
        enter(sorting, node);
    while (sorting->path_length > 0) {
        int last = sorting->path[sorting->path_length - 1], producer = next_producer(sorting, last);
        if (producer != NO_NODE)
            enter(sorting, producer);
        else
            sorting->order[sorting->count++] = sorting->path[--sorting->path_length];
    }
}

void onnx_sort_nodes(struct graph *graph, struct arena *arena)
{
    const size_t count = (size_t)graph->node_count;
    struct sorting sorting = {.graph = graph,
                              .is_entered = arena_array(arena, bool, count),
                              .next_input = arena_array(arena, int, count),
                              .path = arena_array(arena, int, count),
                              .order = arena_array(arena, int, count)};
    struct node *sorted = arena_array(arena, struct node, count);
    for (int i = 0; i < graph->node_count; i++)
        walk(&sorting, i);
    for (int i = 0; i < graph->node_count; i++) {
        sorted[i] = graph->nodes[sorting.order[i]];
        for (int k = 0; k < sorted[i].output_count; k++)
            if (sorted[i].outputs[k] != NO_VALUE && graph->values[sorted[i].outputs[k]].producer == sorting.order[i])
                graph->values[sorted[i].outputs[k]].producer = -2 - i;
    }
    for (int i = 0; i < graph->value_count; i++)
        if (graph->values[i].producer <= -2)
            graph->values[i].producer = -2 - graph->values[i].producer;
    graph->nodes = sorted;
}
