/* Random networks in little memory, bit for bit against the golden interpreter.
 * Usage: test_random_networks layers|networks FIRST_SEED COUNT. A failed case prints the arguments that repeat it. */
#include <stdlib.h>
#include <string.h>

#include "random_case.h"

static struct network *make_network(struct random *random, bool single, uint64_t seed, struct arena *arena)
{
    return single ? random_layer(random, (enum random_kind)(seed % RANDOM_KINDS), arena) : random_network(random, arena);
}

static void run_case(const char *program, const char *what, uint64_t seed, struct random_totals *totals)
{
    struct arena arena = {0};
    struct random random = {.state = seed * 2654435761u};
    const char *reproduction = arena_format(&arena, "%s %s %llu 1", program, what, (unsigned long long)seed);
    struct network *network = make_network(&random, !strcmp(what, "layers"), seed, &arena);
    random_case(network, &random, reproduction, &arena, totals);
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    struct random_totals totals = {0};
    if (argc != 4 || (strcmp(argv[1], "layers") != 0 && strcmp(argv[1], "networks") != 0))
        return 2;
    uint64_t first = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
    for (uint64_t seed = first; seed < first + count; seed++)
        run_case(argv[0], argv[1], seed, &totals);
    random_totals_print(&totals);
    return totals.wrong > 0 || totals.exact == 0 || totals.refused > totals.exact / 20;
}
