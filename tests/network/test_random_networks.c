/* Random networks in little memory, bit for bit against the golden interpreter.
 *
 * Usage: test_random_networks layers|networks|graphs|onnx FIRST_SEED COUNT
 * "onnx": written as ONNX files and read back first. A failed case prints the arguments that repeat it; then, its plan is
 * printed, too. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interpret.h"
#include "load.h"
#include "network_to_onnx.h"
#include "random_case.h"

struct test {
    const char *program, *what;
    uint64_t seed;
    struct arena *arena;
    struct diagnostics *diagnostics;
    struct random_totals *totals;
};

/* ---- by way of a file ---- */

/* The same input through both networks gives the same output. */
static bool same_output(const struct test *test, const struct network *a, const struct network *b, struct random *random)
{
    const int64_t *const *inputs = random_inputs(random, a, test->arena);
    int64_t **values_a = interpret_network(a, inputs, test->arena, test->diagnostics);
    int64_t **values_b = interpret_network(b, inputs, test->arena, test->diagnostics);
    const struct tensor *output = &a->tensors[a->outputs[0]];
    if (!values_a || !values_b || tensor_elements(&b->tensors[b->outputs[0]]) != tensor_elements(output))
        return false;
    return !memcmp(values_a[a->outputs[0]], values_b[b->outputs[0]], tensor_elements(output) * sizeof(int64_t));
}

static struct network *read_back(const struct test *test, struct network *network)
{
    size_t length;
    const struct tensor *input = &network->tensors[network->inputs[0]];
    struct load_options options = {.input_is_signed = input->is_signed};
    struct onnx_builder *model = network_to_onnx(network, test->arena);
    const uint8_t *bytes = onnx_builder_pack(model, &length);
    struct network *loaded = network_load_memory(bytes, length, "random", &options, test->arena, test->diagnostics);
    onnx_builder_free(model);
    return loaded;
}

static struct network *by_way_of_onnx(const struct test *test, struct random *random)
{
    struct network *network = random_chance(random, 40)
                                  ? random_network(random, test->arena)
                                  : random_layer(random, (enum random_kind)(test->seed % RANDOM_KINDS), test->arena);
    struct network *loaded = read_back(test, network);
    if (loaded && same_output(test, network, loaded, random))
        return loaded;
    printf("%s %s %" PRIu64 " 1: %s (%s)\n", test->program, test->what, test->seed,
           loaded                     ? "the network read back computes something else"
           : test->diagnostics->count ? test->diagnostics->list[0].text
                                      : "cannot be read back",
           random_network_text(network, test->arena));
    test->totals->wrong++;
    return NULL;
}

/* ---- cases ---- */

static void run_case(const struct test *test)
{
    struct random random = {.state = test->seed * 2654435761u};
    struct network *network;
    if (!strcmp(test->what, "onnx"))
        network = by_way_of_onnx(test, &random);
    else if (!strcmp(test->what, "networks"))
        network = random_network(&random, test->arena);
    else if (!strcmp(test->what, "graphs"))
        network = random_graph(&random, test->arena);
    else
        network = random_layer(&random, (enum random_kind)(test->seed % RANDOM_KINDS), test->arena);
    const char *reproduction = arena_format(test->arena, "%s %s %" PRIu64 " 1", test->program, test->what, test->seed);
    if (network)
        random_case(network, &random, reproduction, test->arena, test->totals);
}

int main(int argc, char **argv)
{
    struct random_totals totals = {0};
    if (argc != 4 || (strcmp(argv[1], "layers") != 0 && strcmp(argv[1], "networks") != 0 && strcmp(argv[1], "graphs") != 0 && strcmp(argv[1], "onnx") != 0))
        return 2;
    uint64_t first = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
    totals.verbose = count == 1;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct arena arena = {0};
        struct diagnostics diagnostics = {.arena = &arena};
        run_case(&(struct test){argv[0], argv[1], seed, &arena, &diagnostics, &totals});
        arena_free(&arena);
    }
    random_totals_print(&totals);
    return totals.wrong > 0 || totals.exact == 0 || totals.refused > totals.exact / 20;
}
