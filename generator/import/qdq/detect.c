/* Which models are QDQ or QOperator ones. */
#include "import/qdq/qdq.h"

#include <string.h>

bool qdq_detect(const struct graph *graph)
{
    static const char *const types[] = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "ConvInteger",
                                        "MatMulInteger"};
    for (int i = 0; i < graph->node_count; i++) {
        if (qdq_find_qoperator(&graph->nodes[i]))
            return true;
        for (size_t k = 0; k < sizeof types / sizeof *types; k++)
            if (!strcmp(graph->nodes[i].type, types[k]))
                return true;
    }
    return false;
}
