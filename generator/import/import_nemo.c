/* What tells NEMO's exports from Quantlab's. */
#include "import/import.h"

/* Quantlab writes the precision of everything as attributes, which NEMO, where all is 8-bit, never does. */
static bool is_annotated(const struct node *node)
{
    static const char *const annotations[] = {"weight_bits", "out_bits", "mult_bits", "add_bits", "in1_mul"};
    for (size_t i = 0; i < sizeof annotations / sizeof *annotations; i++)
        if (node_attribute(node, annotations[i]))
            return true;
    return false;
}

enum front_end import_detect(const struct graph *graph)
{
    for (int i = 0; i < graph->node_count; i++)
        if (is_annotated(&graph->nodes[i]))
            return FRONT_END_QUANTLAB;
    return FRONT_END_NEMO;
}
