#include "base/nest.h"

static bool add_loop(struct nest *nest, struct nest_loop loop)
{
    struct nest_loop *inner = nest->count > 0 ? &nest->loops[nest->count - 1] : NULL;
    if (loop.size == 1)
        return true;
    if (inner && inner->step * inner->size == loop.step && inner->size * loop.size <= UINT16_MAX) {
        inner->size *= loop.size;
        return true;
    }
    if (nest->count == NEST_MAXIMUM_LOOPS)
        return false;
    nest->loops[nest->count++] = loop;
    return true;
}

/* Positions so many apart that go up by the same step. */
static int regular(const int32_t *positions, int count, int apart)
{
    int length = 1;
    while (length * apart < count &&
           positions[length * apart] - positions[(length - 1) * apart] == positions[apart] - positions[0])
        length++;
    return length;
}

/* The loops of a list: a regular run, which is repeated regularly, and so on. */
static bool add_runs(struct nest *nest, const int32_t *positions, int count)
{
    int apart = 1;
    while (apart < count) {
        int length = regular(positions, count, apart);
        if (count % (apart * length) != 0 || !add_loop(nest, (struct nest_loop){length, positions[apart] - positions[0]}))
            return false;
        apart *= length;
    }
    return true;
}

static int64_t position_in(const struct nest *list, int64_t index)
{
    int64_t position = 0;
    for (int i = 0; i < list->count; i++, index /= list->loops[i - 1].size)
        position += index % list->loops[i].size * list->loops[i].step;
    return position;
}

/* Whether the loops that were found of it say all of the list. */
static bool is_nest(const int32_t *positions, int count)
{
    struct nest list = {.count = 0};
    if (positions[0] != 0 || !add_runs(&list, positions, count))
        return false;
    for (int i = 0; i < count; i++)
        if (positions[i] != position_in(&list, i))
            return false;
    return true;
}

bool nest_of_lists(struct nest *nest, const int32_t *const lists[], const int counts[], int count)
{
    *nest = (struct nest){.count = 0};
    for (int i = count - 1; i >= 0; i--)
        if (!is_nest(lists[i], counts[i]) || !add_runs(nest, lists[i], counts[i]))
            return false;
    return true;
}

/* The loop whose step is that; -1: none. */
static int loop_at(const struct nest *nest, int64_t step)
{
    for (int i = 0; i < nest->count; i++)
        if (nest->loops[i].step == step)
            return i;
    return -1;
}

bool nest_places(const struct nest *nest, size_t elements, int places[NEST_MAXIMUM_LOOPS])
{
    int64_t step = 1;
    for (int i = 0; i < nest->count; i++) {
        places[i] = loop_at(nest, step);
        if (places[i] < 0)
            return false;
        step *= nest->loops[places[i]].size;
    }
    return step == (int64_t)elements;
}
