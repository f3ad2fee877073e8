/* The library of dory/cost.h: what it says of layers is what the planner says of them in a network; how far its closed form
 * is off; threads; messages. */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "../random/random_network.h"
#include "dory/cost.h"
#include "expect.h"
#include "network/range.h"
#include "plan/timeline.h"
#include "random_layer.h"
#include "solve/plan_make.h"

static struct dory_cost_model *open_model(const char *target)
{
    char message[DORY_COST_TEXT_BYTES];
    struct dory_cost_model *model = dory_cost_open(target, message, sizeof message);
    REQUIRE(model != NULL);
    return model;
}

/* ---- the planner says the same ---- */

/* Pools take longer to start the larger a power of two they divide by, of which a question of costs has 2^16. */
static bool has_usual_divisor(const struct dory_layer *record)
{
    bool shifts = record->normalisation != DORY_NORMALISE_NONE && record->normalisation != DORY_NORMALISE_DIVIDE;
    return record->operation != DORY_MAXIMUM_POOL || !shifts || record->stages->first.divisor == 1 << 16;
}

/* False: the layer's form has no name here, or it was cut into steps. A clip to less than its elements hold can exclude a
 * kernel. */
static bool layer_of(const struct plan *plan, int index, struct dory_cost_layer *cost)
{
    const struct layer *layer = &plan->network->layers[index];
    const struct dory_layer *record = &plan->layers[index].record;
    bool plain = record->normalisation == DORY_NORMALISE_NONE || record->normalisation == DORY_NORMALISE_32 ||
                 record->normalisation == DORY_NORMALISE_64 || record->normalisation == DORY_NORMALISE_DIVIDE ||
                 (record->normalisation == DORY_NORMALISE_CLAMPED && record->reciprocal == 0);
    bool named = record->operation == DORY_CONVOLUTION || record->operation == DORY_DEPTHWISE ||
                 record->operation == DORY_GROUPED || record->operation == DORY_MAXIMUM_POOL;
    const struct tensor *input = &plan->network->tensors[layer->inputs[0]];
    const struct tensor *output = &plan->network->tensors[layer->output];
    bool whole_clip = record->output_bits == 32 || record->maximum - record->minimum == (1 << record->output_bits) - 1;
    if (!plain || !named || !whole_clip || !has_usual_divisor(record) || plan->layers[index].step_count != 1)
        return false;
    *cost = (struct dory_cost_layer){
        .operation = record->operation == DORY_MAXIMUM_POOL ? DORY_COST_MAXIMUM_POOL : DORY_COST_CONVOLUTION,
        .height = (uint32_t)input->height,
        .width = (uint32_t)input->width,
        .channels = (uint32_t)input->channels,
        .outputs = (uint32_t)output->channels,
        .kernel_height = (uint32_t)layer->kernel_height,
        .kernel_width = (uint32_t)layer->kernel_width,
        .stride_height = (uint32_t)layer->stride_height,
        .stride_width = (uint32_t)layer->stride_width,
        .dilation_height = (uint32_t)layer->dilation_height,
        .dilation_width = (uint32_t)layer->dilation_width,
        .padding_top = (uint32_t)layer->padding_top,
        .padding_left = (uint32_t)layer->padding_left,
        .padding_bottom = (uint32_t)layer->padding_bottom,
        .padding_right = (uint32_t)layer->padding_right,
        .groups = (uint32_t)layer->groups,
        .input_bits = (uint32_t)input->bits,
        .weight_bits = (uint32_t)layer->weight_bits,
        .output_bits = (uint32_t)output->bits,
        .input_is_signed = input->is_signed,
        .output_is_signed = record->minimum < 0,
        .normalisation =
            record->normalisation == DORY_NORMALISE_CLAMPED ? DORY_COST_NORMALISE_CLAMPED : record->normalisation,
        .input_layout = record->input_layout,
        .output_layout = record->output_layout,
    };
    return true;
}

/* With what the driver does for them, but for a neighbour's sake: nothing comes from L3, and no weights early. */
static bool plan_alone(struct plan *plan, const struct network *network, const struct target *target, struct arena *arena,
                       struct diagnostics *diagnostics)
{
    struct plan_options options = {.weights = WEIGHTS_LINKED};
    if (!plan_make(network, target, &options, plan, arena, diagnostics))
        return false;
    plan->is_finished = true;
    timeline_play_layers(plan, arena);
    return true;
}

/* Layers compared; what a layer costs besides is for a network alone: it cannot avoid small tiles for others' sake. */
static int compare_network(struct dory_cost_model *model, const struct target *target, uint64_t seed)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct random random = {seed};
    struct plan plan = {0};
    int compared = 0;
    struct network *network = seed % 2 ? random_network(&random, &arena) : random_graph(&random, &arena);
    bool planned =
        range_prove(network, NULL, &arena, &diagnostics) && plan_alone(&plan, network, target, &arena, &diagnostics);
    for (int i = 0; planned && i < network->layer_count; i++) {
        struct dory_cost_layer layer;
        struct dory_cost cost;
        bool is_last = i + 1 == network->layer_count; /* behind which no layer is prepared */
        if (is_last || !layer_of(&plan, i, &layer))
            continue;
        layer.tile_table = target->has_table ? DORY_COST_TILE_TABLE_YES : DORY_COST_TILE_TABLE_NO;
        bool runs = dory_cost_of(model, &layer, DORY_COST_EXACT, &cost);
        uint64_t predicted = plan.layers[i].predicted_cycles;
        EXPECT(runs && cost.cycles == predicted && cost.l1_bytes == plan.layers[i].l1_bytes &&
                   cost.macs == plan.layers[i].macs && !strcmp(cost.kernel, plan.layers[i].kernel->name),
               "seed %" PRIu64 ", layer %d: %" PRIu64 " cycles by %s, the plan has %" PRIu64 " by %s; %s", seed, i,
               cost.cycles, cost.kernel, predicted, plan.layers[i].kernel->name, cost.reason);
        compared++;
    }
    arena_free(&arena);
    return compared;
}

static void expect_as_planned(const char *name)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    struct dory_cost_model *model = open_model(name);
    int compared = 0;
    REQUIRE(target_load(&target, name, &arena, &diagnostics));
    const struct target *with_table = target_with_table(&target, &arena);
    for (uint64_t seed = 1; seed <= 40; seed++)
        compared += compare_network(model, seed % 4 < 2 ? &target : with_table, seed);
    EXPECT(compared > 100, "%d layers compared", compared);
    printf("%d layers as in their plans, %s\n", compared, name);
    dory_cost_close(model);
    arena_free(&arena);
}

/* To the cycle. */
static void test_as_planned(void) { expect_as_planned("gap8"); }

/* ---- the closed form ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_fast(void)
{
    enum { LAYERS = 200 };
    struct dory_cost_model *model = open_model("gap8");
    double errors[LAYERS];
    for (int i = 0; i < LAYERS; i++) {
        struct dory_cost_layer layer = random_cost_layer((uint64_t)i + 1);
        struct dory_cost exact, fast;
        bool runs =
            dory_cost_of(model, &layer, DORY_COST_EXACT, &exact) && dory_cost_of(model, &layer, DORY_COST_FAST, &fast);
        /* what the driver does counts behind the search, and more may be hidden where the search has been less thorough */
        EXPECT(runs && exact.cycles <= fast.cycles + fast.cycles / 50 && exact.l1_bytes <= 65536 && fast.l1_bytes <= 65536,
               "layer %d: %" PRIu64 " cycles, %" PRIu64 " fast", i, exact.cycles, fast.cycles);
        errors[i] = (double)fast.cycles / (double)exact.cycles - 1;
    }
    qsort(errors, LAYERS, sizeof *errors, by_value);
    EXPECT(errors[LAYERS / 2] < 0.005 && errors[LAYERS * 95 / 100] < 0.08, "median error %.4f, 95th percentile %.4f",
           errors[LAYERS / 2], errors[LAYERS * 95 / 100]);
    dory_cost_close(model);
}

/* ---- threads ---- */

#define SHARED_LAYERS 40

struct asking {
    struct dory_cost_model *model;
    uint64_t cycles[SHARED_LAYERS];
    unsigned first;
};

static void *ask(void *argument)
{
    struct asking *asking = argument;
    for (unsigned i = 0; i < SHARED_LAYERS; i++) {
        unsigned which = (i + asking->first) % SHARED_LAYERS;
        struct dory_cost_layer layer = random_cost_layer(which + 1000);
        struct dory_cost cost;
        asking->cycles[which] = dory_cost_of(asking->model, &layer, DORY_COST_FAST, &cost) ? cost.cycles : 0;
    }
    return NULL;
}

static void test_threads(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    struct asking askings[THREADS];
    struct dory_cost_model *model = open_model("gap8");
    for (unsigned t = 0; t < THREADS; t++) {
        askings[t] = (struct asking){.model = model, .first = t * 10};
        REQUIRE(pthread_create(&threads[t], NULL, ask, &askings[t]) == 0);
    }
    for (unsigned t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (unsigned t = 1; t < THREADS; t++)
        EXPECT(!memcmp(askings[0].cycles, askings[t].cycles, sizeof askings[0].cycles), "thread %u has other costs", t);
    EXPECT(askings[0].cycles[0] > 0, "the first layer runs");
    dory_cost_close(model);
}

/* ---- what cannot be ---- */

static void expect_reason(struct dory_cost_model *model, const char *fields, const char *words)
{
    char text[200], message[DORY_COST_TEXT_BYTES] = "", *rest = text;
    struct dory_cost_layer layer;
    struct dory_cost cost = {0};
    dory_cost_layer_start(&layer);
    snprintf(text, sizeof text, "%s", fields);
    for (char *field = strtok_r(text, " ", &rest); field && !*message; field = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(field, '=');
        *equals = 0;
        dory_cost_layer_set(&layer, field, equals + 1, message, sizeof message);
    }
    bool runs = !*message && dory_cost_of(model, &layer, DORY_COST_EXACT, &cost);
    const char *said = *message ? message : cost.reason;
    EXPECT(!runs && strstr(said, words), "%s: '%s' is not in: %s", fields, words, said);
}

static void test_reasons(void)
{
    struct dory_cost_model *model = open_model("gap8");
    expect_reason(model, "height=8", "height, width and channels are needed");
    expect_reason(model, "height=8 width=8 channels=4 kernel=9x3", "reads 9 elements along the height where there are 8");
    expect_reason(model, "height=8 width=8 channels=4 outputs=6 groups=4", "4 groups do not divide 4 and 6 channels");
    expect_reason(model, "height=60000 width=60000 channels=60000", "larger than");
    expect_reason(model, "height=1 width=1 channels=60000 kernel=60000 padding=30000", "larger than");
    expect_reason(model, "height=3000 width=3000 channels=4", "at most 1048576");
    expect_reason(model, "height=8 width=8 channels=8 operation=addition stride=2", "no kernel, stride or padding");
    expect_reason(model, "height=8 width=8 channels=8 operation=maximum_pool outputs=9", "as many");
    expect_reason(model, "height=1 width=30000 channels=8 kernel=1x30000 padding=0x30000", "at most 65535");
    expect_reason(model, "height=8 width=8 channels=8 input_bits=5", "2, 4, 8, 16 or 32 bits");
    expect_reason(model, "height=256 width=256 channels=16 input_layout=chw", "no kernel");
    expect_reason(model, "hight=8", "field 'hight': there is none");
    expect_reason(model, "height=-8", "field 'height': '-8' is not a whole number from 1 to 65535");
    expect_reason(model, "stride=2x3x4", "field 'stride': '2x3x4' is not");
    expect_reason(model, "padding=1x1x1", "top x left x bottom x right");
    expect_reason(model, "kernel=99999999999999999999", "field 'kernel'");
    expect_reason(model, "operation=convolve", "one of convolution, linear");
    dory_cost_close(model);
    char message[DORY_COST_TEXT_BYTES];
    EXPECT(!dory_cost_open("gap9", message, sizeof message) && strstr(message, "unknown target 'gap9'"), "%s", message);
}

/* A chip without room for the smallest tile says how much it would need. */
static void test_too_small(void)
{
    struct dory_cost_model *model = open_model("gap8");
    expect_reason(model, "height=200 width=200 channels=4 groups=4 kernel=200", "bytes of L1, there are");
    dory_cost_close(model);
}

static const struct test tests[] = {TEST(test_as_planned), TEST(test_fast), TEST(test_threads), TEST(test_reasons),
                                    TEST(test_too_small)};

int main(void) { return RUN_TESTS("cost", tests, NULL); }
