#include "network/network.h"

void network_check_sizes(const struct network *network, struct diagnostics *diagnostics)
{
    for (int i = 0; i < network->tensor_count; i++) {
        const struct tensor *tensor = &network->tensors[i];
        if (tensor_elements(tensor) > MAXIMUM_ELEMENTS)
            diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "tensor '%s' has %zu elements; supported: up to %d",
                     tensor->name, tensor_elements(tensor), MAXIMUM_ELEMENTS);
    }
}
