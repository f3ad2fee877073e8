/* Random networks in little memory, bit for bit against the golden interpreter.
 *
 * Usage: test_random_networks layers|networks|graphs|onnx|onnx_graphs|quantised|blocks|steps|toy|toy_in_place FIRST_SEED
 * COUNT dead_layers and so on: channels are made dead, and most networks run without them. viewed_graphs and so on: copies
 * lie between layers that can be views. "onnx" (NEMO's networks) and
 * "onnx_graphs": written as ONNX files and read back first. A failed case prints the arguments that repeat it; then, its
 * plan is printed, too. */
#include <inttypes.h>

#include "expect.h"
#include "graph_to_onnx.h"
#include "import/load.h"
#include "network/interpret.h"
#include "network_to_onnx.h"
#include "random_case.h"
#include "random_quantised.h"
#include "toy.h"

struct seed_test {
    const char *program, *what;
    uint64_t seed;
    struct arena *arena;
    struct diagnostics *diagnostics;
    struct random_totals *totals;
};

/* ---- by way of a file ---- */

/* The same inputs through both networks give the same outputs. */
static bool same_outputs(const struct seed_test *test, const struct network *a, const struct network *b,
                         struct random *random)
{
    const int64_t *const *inputs = random_inputs(random, a, test->arena);
    int64_t **values_a = interpret_network(a, inputs, test->arena, test->diagnostics);
    int64_t **values_b = interpret_network(b, inputs, test->arena, test->diagnostics);
    if (!values_a || !values_b || a->output_count != b->output_count)
        return false;
    for (int i = 0; i < a->output_count; i++) {
        size_t count = tensor_elements(&a->tensors[a->outputs[i]]);
        if (tensor_elements(&b->tensors[b->outputs[i]]) != count ||
            memcmp(values_a[a->outputs[i]], values_b[b->outputs[i]], count * sizeof(int64_t)) != 0)
            return false;
    }
    return true;
}

/* Options are for all inputs; those that differ are declared behind. */
static void declare_inputs(const struct network *network, struct network *loaded)
{
    for (int i = 0; i < network->input_count && i < loaded->input_count; i++) {
        const struct tensor *from = &network->tensors[network->inputs[i]];
        struct tensor *to = &loaded->tensors[loaded->inputs[i]];
        to->bits = from->bits;
        to->is_signed = from->is_signed;
        to->minimum = from->minimum;
        to->maximum = from->maximum;
    }
}

static struct network *read_back(const struct seed_test *test, const struct network *network, struct onnx_builder *model,
                                 enum front_end front_end)
{
    size_t length;
    struct load_options options = {.front_end = front_end};
    for (int i = 0; i < network->input_count; i++)
        options.input_is_signed |= network->tensors[network->inputs[i]].is_signed;
    const uint8_t *bytes = onnx_builder_pack(model, &length);
    struct network *loaded = network_load_memory(bytes, length, "random", &options, test->arena, test->diagnostics);
    onnx_builder_free(model);
    if (loaded)
        declare_inputs(network, loaded);
    return loaded;
}

static struct network *by_way_of_onnx(const struct seed_test *test, struct network *network, struct onnx_builder *model,
                                      enum front_end front_end, struct random *random)
{
    struct network *loaded = read_back(test, network, model, front_end);
    if (loaded && same_outputs(test, network, loaded, random))
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

static struct network *layers(const struct seed_test *test, struct random *random)
{
    return random_layer(random, (enum random_kind)(test->seed % RANDOM_KINDS), random_chance(random, 40), test->arena);
}

static struct network *networks(const struct seed_test *test, struct random *random)
{
    return random_network(random, test->arena);
}
static struct network *graphs(const struct seed_test *test, struct random *random)
{
    return random_graph(random, test->arena);
}

static struct network *quantised(const struct seed_test *test, struct random *random)
{
    return random_quantised(random, test->arena);
}

/* Chains mostly, and what of the others has layers that can take turns. */
static struct network *blocks(const struct seed_test *test, struct random *random)
{
    switch (test->seed % 6) {
    case 0: return random_quantised(random, test->arena);
    case 1: return random_graph(random, test->arena);
    default: return random_chain(random, test->arena);
    }
}

static struct network *windows(const struct seed_test *test, struct random *random)
{
    return random_windows(random, test->arena);
}

static struct network *sums(const struct seed_test *test, struct random *random) { return random_sums(random, test->arena); }

static struct network *steps(const struct seed_test *test, struct random *random)
{
    return random_steps(random, test->arena);
}

/* What NEMO can say, as it says it. */
static struct network *onnx(const struct seed_test *test, struct random *random)
{
    enum random_kind kind = (enum random_kind)(test->seed % (RANDOM_ADDITION + 1));
    struct network *network =
        random_chance(random, 40) ? random_network(random, test->arena) : random_layer(random, kind, false, test->arena);
    struct onnx_builder *model = network_to_onnx(network, test->arena); /* makes the network one of NEMO's */
    return by_way_of_onnx(test, network, model, FRONT_END_NEMO, random);
}

static struct network *onnx_graphs(const struct seed_test *test, struct random *random)
{
    struct network *network = random_graph(random, test->arena);
    struct onnx_builder *model = graph_to_onnx(network, test->arena);
    features_count_nodes(&test->totals->features, onnx_builder_model(model));
    return by_way_of_onnx(test, network, model, FRONT_END_QUANTLAB, random);
}

static const struct source {
    const char *name;
    struct network *(*make)(const struct seed_test *test, struct random *random); /* null where it failed, and was told */
    bool has_all_features, only_blocks;
    const struct dory_engine *engine; /* null: the product's */
    bool leaves_in_place;
} sources[] = {
    {.name = "layers", layers},
    {.name = "networks", networks},
    {.name = "graphs", graphs, .has_all_features = true},
    {.name = "onnx", onnx},
    {.name = "onnx_graphs", onnx_graphs, .has_all_features = true},
    {.name = "quantised", quantised},
    {.name = "blocks", blocks, .only_blocks = true},
    {.name = "steps", steps},
    {.name = "toy", quantised, .engine = &toy_engine},
    {.name = "toy_in_place", quantised, .engine = &toy_engine, .leaves_in_place = true},
    {.name = "armv7em_in_place", quantised, .engine = &dory_armv7em_engine, .leaves_in_place = true},
    {.name = "mve_in_place", quantised, .engine = &dory_mve_engine, .leaves_in_place = true},
    {.name = "neureka", quantised, .engine = &dory_neureka_engine},
    {.name = "neureka_windows", windows, .engine = &dory_neureka_engine},
    {.name = "neureka_sums", sums, .engine = &dory_neureka_engine},
    {.name = "neureka_in_place", quantised, .engine = &dory_neureka_engine, .leaves_in_place = true},
};
#define ENOUGH_FOR_FEATURES 300 /* cases, in which each should occur */
#define ENOUGH_FOR_GAPS     100 /* likewise, between rows of outputs; and additions */
#define SOURCE_COUNT        (sizeof sources / sizeof *sources)

static void run_case(const struct seed_test *test, const struct source *source)
{
    struct random random = {.state = test->seed * 2654435761u};
    struct network *network = source->make(test, &random);
    const char *reproduction = arena_format(test->arena, "%s %s %" PRIu64 " 1", test->program, test->what, test->seed);
    if (network)
        random_case(network, &random, reproduction, test->arena, test->totals);
}

static const struct source *find_source(const char *name)
{
    for (size_t i = 0; i < SOURCE_COUNT; i++)
        if (!strcmp(sources[i].name, name))
            return &sources[i];
    return NULL;
}

/* The environment may ask for other numbers of blocks, unless a single case is looked at. */
static uint64_t count_of(const struct source *source, const char *argument)
{
    uint64_t count = strtoull(argument, NULL, 10);
    const char *wanted = source->only_blocks && count != 1 ? getenv("DORY_RANDOM_BLOCKS") : NULL;
    return wanted ? strtoull(wanted, NULL, 10) : count;
}

int main(int argc, char **argv)
{
    struct random_totals totals = {0};
    bool dead = argc == 4 && !strncmp(argv[1], "dead_", 5), viewed = argc == 4 && !strncmp(argv[1], "viewed_", 7);
    const struct source *source = argc == 4 ? find_source(argv[1] + (dead ? 5 : viewed ? 7 : 0)) : NULL;
    uint64_t first = source ? strtoull(argv[2], NULL, 10) : 0, count = source ? count_of(source, argv[3]) : 0;
    if (count == 0) {
        fputs("usage: test_random_networks "
              "layers|networks|graphs|onnx|onnx_graphs|quantised|blocks|toy|toy_in_place|armv7em_in_place|mve_in_place|"
              "neureka|neureka_windows|neureka_sums|neureka_in_place "
              "FIRST COUNT\n",
              stderr);
        return 2;
    }
    totals.verbose = count == 1;
    totals.only_blocks = source->only_blocks;
    totals.dead = dead;
    totals.has_views = viewed;
    totals.engine = source->engine;
    totals.leaves_in_place = source->leaves_in_place;
    for (uint64_t seed = first; seed < first + count + (uint64_t)totals.passed_over; seed++) {
        struct arena arena = {0};
        struct diagnostics diagnostics = {.arena = &arena};
        run_case(&(struct seed_test){argv[0], argv[1], seed, &arena, &diagnostics, &totals}, source);
        arena_free(&arena);
    }
    random_totals_print(&totals);
    if (!dead && !viewed && source->has_all_features && count >= ENOUGH_FOR_FEATURES)
        EXPECT(features_print(&totals.features, source->make == onnx_graphs), "a feature is MISSING");
    EXPECT_EQUAL(totals.wrong, 0);
    EXPECT_THAT(!dead || count == 1 || totals.shrunk > 0);
    EXPECT_THAT(!viewed || count == 1 || totals.views > totals.exact);
    EXPECT_THAT(totals.exact > 0);
    EXPECT_THAT(source->make != steps || count == 1 || dead || totals.sharing > 0);
    EXPECT_THAT(!totals.engine || count == 1 || totals.layers_of_engine > totals.exact);
    EXPECT_THAT(totals.engine != &dory_neureka_engine || source->make == windows || count == 1 ||
                (totals.wide_channels > 0 && totals.channels_of_sums > 0 && totals.left > 0));
    EXPECT_THAT(source->make != sums || count < ENOUGH_FOR_GAPS || totals.added > 0);
    EXPECT_THAT(source->make != windows || count < ENOUGH_FOR_GAPS || (totals.gaps > 0 && totals.early_inputs > 0));
    EXPECT_THAT(!totals.leaves_in_place || count == 1 ||
                (totals.inputs_in_place > 0 && totals.weights_in_place > 0 && totals.outputs_in_place > 0 &&
                 totals.run_layers > 0 && totals.tables_in_place > 0 &&
                 (totals.overlap > 0 || totals.engine->is_accelerator)));
    EXPECT(totals.refused <= 1 || totals.refused <= totals.exact / 20, "%d refused, %d exact", totals.refused, totals.exact);
    return expect_result("random networks");
}
