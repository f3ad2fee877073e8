#include "command/load_model.h"

#include "network/range.h"

/* Every tensor of a quantised model says itself how it is rounded. */
static bool has_scales(const struct network *network)
{
    for (int i = 0; i < network->tensor_count; i++)
        if (network->tensors[i].scale != 0)
            return true;
    return false;
}

struct network *model_import(const struct options *options, struct arena *arena, struct diagnostics *diagnostics)
{
    struct network *network = network_load(options->model, &options->load, arena, diagnostics);
    if (!network || !options->range.exact_add || !has_scales(network))
        return network;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
             "--exact-add (EXACT_ADD) is for integer networks of NEMO and Quantlab; in a quantised model every tensor has "
             "its own "
             "scale and 8 bits: leave it out");
    return NULL;
}

bool model_prove(struct network *network, const struct options *options, struct arena *arena,
                 struct diagnostics *diagnostics)
{
    return range_prove(network, &options->range, arena, diagnostics);
}

struct network *model_load(const struct options *options, struct arena *arena, struct diagnostics *diagnostics)
{
    struct network *network = model_import(options, arena, diagnostics);
    return network && model_prove(network, options, arena, diagnostics) ? network : NULL;
}
