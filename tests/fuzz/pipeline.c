#include "pipeline.h"
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/check_channels.h"
#include "emit/assemble.h"
#include "import/load.h"
#include "network/channels.h"
#include "network/interpret.h"
#include "network/range.h"
#include "report/plan_text.h"
#include "shrink/shrink.h"
#include "solve/plan_make.h"

/* What is larger takes long, and finds no more. */
#define MAXIMUM_LAYERS   40
#define MAXIMUM_ELEMENTS 20000
#define MAXIMUM_MACS     2000000

static void expect(bool holds, const struct diagnostics *diagnostics)
{
    if (holds)
        return;
    diagnostics_print(diagnostics, stderr);
    abort();
}

/* A message that begins so is not about the model; names of the model may have any words in them. */
static bool blames_itself(const struct diagnostics *diagnostics)
{
    static const char words[] = "a fault of dory";
    for (int i = 0; i < diagnostics->count; i++)
        if (!strncmp(diagnostics->list[i].text, words, sizeof words - 1))
            return true;
    return false;
}

static bool is_small(const struct network *network)
{
    size_t macs = 0;
    for (int i = 0; i < network->tensor_count; i++)
        if (tensor_elements(&network->tensors[i]) > MAXIMUM_ELEMENTS)
            return false;
    for (int i = 0; i < network->layer_count; i++) {
        const struct layer *layer = &network->layers[i];
        size_t taps = (size_t)layer->kernel_height * (size_t)layer->kernel_width;
        size_t channels =
            layer->kind == LAYER_CONVOLUTION ? (size_t)(network->tensors[layer->inputs[0]].channels / layer->groups) : 1;
        macs += tensor_elements(&network->tensors[layer->output]) * taps * channels;
    }
    return network->layer_count <= MAXIMUM_LAYERS && macs <= MAXIMUM_MACS;
}

/* ---- the interpreter against the proof ---- */

static const int64_t *extremes(const struct tensor *tensor, unsigned choices, struct arena *arena)
{
    int64_t *values = arena_array(arena, int64_t, tensor_elements(tensor));
    for (size_t i = 0; i < tensor_elements(tensor); i++) {
        choices = choices * 1664525 + 1013904223;
        values[i] = choices >> 30 & 1 ? tensor->maximum : tensor->minimum;
    }
    return values;
}

static void check_values(const struct network *network, unsigned choices, struct arena *arena,
                         struct diagnostics *diagnostics)
{
    const int64_t **inputs = arena_array(arena, const int64_t *, (size_t)network->input_count);
    for (int i = 0; i < network->input_count; i++)
        inputs[i] = extremes(&network->tensors[network->inputs[i]], choices, arena);
    int64_t **values = interpret_network(network, inputs, arena, diagnostics);
    expect(values != NULL, diagnostics);
    for (int t = 0; t < network->tensor_count; t++)
        for (size_t i = 0; i < tensor_elements(&network->tensors[t]); i++)
            expect(values[t][i] >= network->tensors[t].minimum && values[t][i] <= network->tensors[t].maximum, diagnostics);
}

/* ---- without dead channels ---- */

/* What is left computes what the whole network does, by the golden model of each. */
static void check_shrunk(const struct network *network, unsigned choices, struct arena *arena,
                         struct diagnostics *diagnostics)
{
    struct network alone = *network;
    const int64_t **inputs = arena_array(arena, const int64_t *, (size_t)network->input_count);
    for (int i = 0; i < network->input_count; i++)
        inputs[i] = extremes(&network->tensors[network->inputs[i]], choices, arena);
    alone.whole = NULL;
    expect(channels_check(network, diagnostics), diagnostics);
    int64_t **expected = channels_interpret(network, inputs, arena, diagnostics);
    int64_t **actual = interpret_network(&alone, inputs, arena, diagnostics);
    expect(expected && actual, diagnostics);
    for (int t = 0; t < network->tensor_count; t++)
        expect(!memcmp(expected[t], actual[t], tensor_elements(&network->tensors[t]) * sizeof **actual), diagnostics);
}

/* ---- the plan ---- */

static void check_plan(const struct network *network, unsigned choices, struct arena *arena, struct diagnostics *diagnostics)
{
    struct target target;
    struct plan plan = {0};
    struct assembled assembled;
    struct text text = {.arena = arena};
    struct plan_options options = {.l1_bytes = 16000u << (choices & 3), .l2_bytes = 8000u << (choices >> 2 & 7)};
    expect(target_load(&target, choices & 32 ? "gap8" : "host", arena, diagnostics), diagnostics);
    bool planned = plan_make(network, &target, &options, &plan, arena, diagnostics);
    expect(planned == (diagnostics->error_count == 0) && !blames_itself(diagnostics), diagnostics);
    if (!planned)
        return;
    expect(layout_weights(&plan, arena, diagnostics), diagnostics);
    expect(plan_check(&plan, diagnostics), diagnostics);
    plan_assemble(&plan, &assembled, arena);
    plan_text(&text, &plan);
}

void pipeline_run(const uint8_t *model, size_t length, unsigned choices)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena, .file = "fuzz"};
    struct load_options load = {.front_end = (enum front_end)(choices >> 6 & 1 ? FRONT_END_QUANTLAB : FRONT_END_DETECT),
                                .input_bits = 2 << (choices >> 7 & 3) > 8 ? 0 : 2 << (choices >> 7 & 3),
                                .input_is_signed = choices >> 9 & 1,
                                .carries_sums = choices >> 11 & 1};
    struct range_options range = {.exact_add = choices >> 10 & 1};
    struct network *network = network_load_memory(model, length, "fuzz", &load, &arena, &diagnostics);
    expect((network == NULL) == (diagnostics.error_count > 0), &diagnostics);
    if (network && is_small(network)) {
        bool proven = range_prove(network, &range, &arena, &diagnostics);
        expect(proven == (diagnostics.error_count == 0), &diagnostics);
        if (proven)
            check_values(network, choices, &arena, &diagnostics);
        struct network *shrunk = proven ? shrink_network(network, &range, &arena) : network;
        if (shrunk != network)
            check_shrunk(shrunk, choices, &arena, &diagnostics);
        if (proven)
            check_plan(shrunk, choices, &arena, &diagnostics);
    }
    arena_free(&arena);
}
