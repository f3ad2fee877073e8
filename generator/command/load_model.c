#include "command/load_model.h"

#include "choose/form.h"
#include "network/range.h"
#include "shrink/shrink.h"
#include "target/target.h"

/* Every tensor of a quantised model says itself how it is rounded. */
static bool has_scales(const struct network *network)
{
    for (int i = 0; i < network->tensor_count; i++)
        if (network->tensors[i].scale != 0)
            return true;
    return false;
}

bool model_prove(struct network *network, const struct options *options, struct arena *arena,
                 struct diagnostics *diagnostics)
{
    return range_prove(network, &options->range, arena, diagnostics);
}

/* On any machine: the host's engine, portable C, computes whatever that of another does. */
static bool has_firmware(const struct network *network, struct arena *arena)
{
    struct target target;
    struct diagnostics nobody = {.arena = arena};
    struct described_layer described;
    struct formed_layer formed;
    int layer = target_load(&target, "host", arena, &nobody) ? 0 : network->layer_count + 1;
    while (layer < network->layer_count && describe_layer(network, layer, &described, arena, &nobody) &&
           form_layer(&described, &target, 1, network->layers[layer].name, &formed, arena, &nobody))
        layer++;
    return layer == network->layer_count;
}

struct network *model_choose(struct network *network, const struct options *options, struct arena *arena)
{
    if (!network || !network->imported)
        return network;
    struct network trial = *network;
    struct diagnostics nobody = {.arena = arena};
    trial.tensors = arena_copy(arena, network->tensors, network->tensor_count);
    trial.layers = arena_copy(arena, network->layers, network->layer_count);
    bool is_good = range_prove(&trial, &options->range, arena, &nobody) && has_firmware(&trial, arena);
    return is_good ? network : network->imported;
}

struct network *model_import(const struct options *options, struct arena *arena, struct diagnostics *diagnostics)
{
    struct load_options load = options->load;
    load.computes_unread = options->all_channels;
    struct network *network = model_choose(network_load(options->model, &load, arena, diagnostics), options, arena);
    const char *option = options->range.exact_add ? "--exact-add (EXACT_ADD)" : "--exact-average";
    if (!network || !(options->range.exact_add || options->load.carries_sums) || !has_scales(network))
        return network;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
             "%s is for integer networks of NEMO and Quantlab; in a quantised model every tensor has its own "
             "scale and 8 bits: leave it out",
             option);
    return NULL;
}

struct network *model_shrink(struct network *network, const struct options *options, struct arena *arena)
{
    if (options->all_channels)
        return network;
    struct network *shrunk = shrink_network(network, &options->range, arena);
    if (shrunk == network || !has_firmware(shrunk, arena))
        return network;
    struct diagnostics nobody = {.arena = arena};
    /* a chip that may differ from the model stays in the range of each tensor, and not of each channel */
    bool is_proven = !options->range.fast_requantisation || range_prove(shrunk, &options->range, arena, &nobody);
    return is_proven ? shrunk : network;
}

struct network *model_load(const struct options *options, struct arena *arena, struct diagnostics *diagnostics)
{
    struct network *network = model_import(options, arena, diagnostics);
    return network && model_prove(network, options, arena, diagnostics) ? network : NULL;
}
