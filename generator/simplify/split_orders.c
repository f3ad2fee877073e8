/* A copy that gives a tensor's dimensions another order, which is too much for one: an order between both, such that two
 * copies do it, each of few dimensions. */
#include "base/nest.h"
#include "simplify/cancel.h"
#include "simplify/edit.h"

#define MOST_LOOPS 6 /* whose 720 orders are tried */

/* Loops, the outermost first, by their number in `nest`. */
struct order {
    int loops[MOST_LOOPS];
};

struct search {
    const struct nest *nest;
    struct order from, to, between;
    int best; /* what it leaves, see left_behind */
};

/* As how many dimensions the loops of one order come in another: those that stay side by side are one. */
static int count_dimensions(const struct nest *nest, const struct order *in, const struct order *of)
{
    int places[MOST_LOOPS], dimensions = 1;
    int64_t size = nest->loops[of->loops[0]].size;
    for (int i = 0; i < nest->count; i++)
        places[in->loops[i]] = i;
    for (int i = 1; i < nest->count; i++) {
        const int64_t own = nest->loops[of->loops[i]].size;
        const bool is_beside = places[of->loops[i]] == places[of->loops[i - 1]] + 1 && size * own <= MAXIMUM_DIMENSION;
        dimensions += !is_beside;
        size = is_beside ? size * own : own;
    }
    return dimensions;
}

/* What the second copy still has to do: first of all its dimensions; where these are as many, the elements that lie side
 * by side in the result had better do so already. */
static int left_behind(const struct search *search, const struct order *order)
{
    const int last = search->nest->count - 1;
    return 2 * count_dimensions(search->nest, order, &search->to) + (order->loops[last] != search->to.loops[last]);
}

/* All orders of the loops from `fixed` on: the one that the firmware makes of the first, and that leaves least. */
static void try_orders(struct search *search, struct order *order, int fixed)
{
    if (fixed == search->nest->count) {
        const int left = left_behind(search, order);
        if (left < search->best && count_dimensions(search->nest, &search->from, order) <= NEST_PLAIN_LOOPS) {
            search->best = left;
            search->between = *order;
        }
        return;
    }
    for (int i = fixed; i < search->nest->count; i++) {
        struct order next = *order;
        next.loops[fixed] = order->loops[i];
        next.loops[i] = order->loops[fixed];
        try_orders(search, &next, fixed + 1);
    }
}

/* Where the loops lie in the order between: their steps there. */
static void find_steps(const struct search *search, int64_t steps[MOST_LOOPS])
{
    int64_t step = 1;
    for (int i = search->nest->count - 1; i >= 0; i--) {
        steps[search->between.loops[i]] = step;
        step *= search->nest->loops[search->between.loops[i]].size;
    }
}

/* Of some loops of the order between, from one to another, the positions in the first tensor; null: too many. */
static const int32_t *list_positions(const struct search *search, int first, int end, int *count, struct arena *arena)
{
    int64_t all = 1;
    for (int i = first; i < end; i++)
        all *= search->nest->loops[search->between.loops[i]].size;
    *count = (int)all;
    if (all > MAXIMUM_DIMENSION)
        return NULL;
    int32_t *list = arena_array(arena, int32_t, (size_t)all);
    for (int k = 0; k < *count; k++)
        for (int64_t i = end - 1, rest = k; i >= first; i--) {
            const struct nest_loop *loop = &search->nest->loops[search->between.loops[i]];
            list[k] += (int32_t)(rest % loop->size * loop->step);
            rest /= loop->size;
        }
    return list;
}

/* Positions in the first tensor, as those of the same elements in the order between. */
static const int32_t *list_moved(const struct search *search, const int64_t *steps, const int32_t *positions, int count,
                                 struct arena *arena)
{
    int32_t *list = arena_array(arena, int32_t, (size_t)count);
    for (int k = 0; k < count; k++)
        for (int i = 0; i < search->nest->count; i++) {
            const struct nest_loop *loop = &search->nest->loops[i];
            list[k] += (int32_t)(positions[k] / loop->step % loop->size * steps[i]);
        }
    return list;
}

static bool find_between(struct search *search, const int places[NEST_MAXIMUM_LOOPS])
{
    const int count = search->nest->count;
    for (int i = 0; i < count; i++) {
        search->to.loops[i] = count - 1 - i;
        search->from.loops[i] = places[count - 1 - i];
    }
    const int before = 2 * count_dimensions(search->nest, &search->from, &search->to);
    search->best = before;
    struct order order = search->from;
    try_orders(search, &order, 0);
    return search->best < before;
}

/* The first copy: into the order between, whose tensor is shaped as the firmware can have it. False: it cannot. */
static bool lay_first(const struct search *search, struct layer *first, struct tensor *between, struct arena *arena)
{
    const int count = search->nest->count;
    first->name = between->name = arena_format(arena, "%s, in between", first->name);
    first->map.rows = list_positions(search, 0, count - 2, &between->height, arena);
    first->map.columns = list_positions(search, count - 2, count - 1, &between->width, arena);
    first->map.channels = list_positions(search, count - 1, count, &between->channels, arena);
    return first->map.rows && first->map.columns && first->map.channels;
}

/* The copy goes on from there. */
static void lay_second(const struct search *search, struct layer *second, const struct tensor *to, struct arena *arena)
{
    int64_t steps[MOST_LOOPS];
    find_steps(search, steps);
    second->map.rows = list_moved(search, steps, second->map.rows, to->height, arena);
    second->map.columns = list_moved(search, steps, second->map.columns, to->width, arena);
    second->map.channels = list_moved(search, steps, second->map.channels, to->channels, arena);
}

static bool is_large_order(const struct network *network, const struct layer *copy, struct nest *nest,
                           int places[NEST_MAXIMUM_LOOPS])
{
    const struct tensor *from = &network->tensors[copy->inputs[0]], *to = &network->tensors[copy->output];
    const int32_t *const lists[] = {copy->map.rows, copy->map.columns, copy->map.channels};
    const int counts[] = {to->height, to->width, to->channels};
    return copy->kind == LAYER_COPY && copy->stage_count == 0 && !simplify_copy_is_plain(network, copy) &&
           nest_of_lists(nest, lists, counts, 3) && nest->count > NEST_PLAIN_LOOPS && nest->count <= MOST_LOOPS &&
           nest_places(nest, tensor_elements(from), places);
}

static bool split(struct network *network, int index, struct arena *arena)
{
    struct layer second = network->layers[index], first = second;
    struct tensor between = network->tensors[second.output];
    struct nest nest;
    struct search search = {.nest = &nest};
    int places[NEST_MAXIMUM_LOOPS];
    if (!is_large_order(network, &second, &nest, places) || !find_between(&search, places) ||
        !lay_first(&search, &first, &between, arena))
        return false;
    lay_second(&search, &second, &network->tensors[second.output], arena);
    first.output = second.inputs[0] = edit_add_tensor(network, &between, arena);
    network->layers[index] = second;
    edit_insert_layer(network, index, &first, arena);
    return true;
}

/* What is left of a copy behind the first one is looked at again. */
void simplify_split_orders(struct network *network, struct arena *arena)
{
    for (int i = 0; i < network->layer_count; i++)
        while (split(network, i, arena))
            i++;
}
