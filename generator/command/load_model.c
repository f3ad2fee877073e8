#include "command/load_model.h"

#include "network/range.h"

struct network *model_import(const struct options *options, struct arena *arena, struct diagnostics *diagnostics)
{
    return network_load(options->model, &options->load, arena, diagnostics);
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
