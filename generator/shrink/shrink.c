#include "shrink/shrink.h"

#include "shrink/dead.h"
#include "shrink/rewrite.h"
#include "shrink/unread.h"

static struct network *copy_of(const struct network *whole, struct arena *arena)
{
    struct network *network = arena_copy(arena, whole, 1);
    network->tensors = arena_copy(arena, whole->tensors, whole->tensor_count);
    network->layers = arena_copy(arena, whole->layers, whole->layer_count);
    network->whole = whole;
    return network;
}

static bool prove(struct network *network, const struct range_options *options, struct arena *arena)
{
    struct range_options own = {.exact_add = options && options->exact_add, .by_channel = true};
    struct diagnostics nobody = {.arena = arena};
    return range_prove(network, &own, arena, &nobody);
}

struct network *shrink_network(struct network *network, const struct range_options *options, struct arena *arena)
{
    struct network *shrunk = copy_of(network, arena);
    if (!prove(shrunk, options, arena))
        return network;
    bool *const *dead = dead_find(shrunk, arena);
    bool **const *unread = unread_find(shrunk, arena);
    if ((!dead && !unread) || !rewrite_network(shrunk, dead, unread, arena))
        return network;
    return prove(shrunk, options, arena) ? shrunk : network;
}
