/* No plan is faster than the planner's: on small random networks against all legal cuts, places and layouts, one by one. The
 * planner's own lists of cuts and fronts of candidates are not used, only what a decision costs: its schedule and its
 * places. A decision is passed over where its layers alone, without any wait, take longer than the plan.
 *
 * Inputs and outputs of a network go to RAM only where it fits no other way; that is the planner's rule, and so the
 * oracle's.
 *
 *     oracle [networks [first seed]] */
#include <inttypes.h>
#include <stdlib.h>

#include "check/check.h"
#include "expect.h"
#include "networks.h"
#include "planning.h"

#define FEW_NETWORKS    40
#define MAXIMUM_SEEDS   20 /* for each network that is to be compared */
#define MAXIMUM_OPTIONS 512
#define MAXIMUM_TRIALS  40000 /* schedules of a network that is small enough */
#define AMPLE           4     /* one of so many networks has twice the L2: layouts matter where tensors need not go to RAM */
#define MAXIMUM_MISSED  0     /* of a hundred networks */
#define LEAST_IN_RAM    30    /* of a hundred networks */
#define LEAST_IN_CHW    20

/* ---- networks ---- */

static int small_layer(struct network_builder *b, int tensor)
{
    const struct tensor *input = &b->network.tensors[tensor];
    int kernel = input->height >= 3 && input->width >= 3 ? 1 + 2 * (int)builder_random(b, 2) : 1;
    switch (builder_random(b, 8)) {
    case 0: return builder_pool(b, tensor, LAYER_MAXIMUM_POOL, kernel, 1 + (int)builder_random(b, 2), kernel / 2);
    case 1: return builder_addition(b, tensor, builder_convolution(b, tensor, 1, 1, 0, input->channels));
    case 2:
    case 3: return builder_depthwise(b, tensor, kernel, 1, kernel / 2);
    default: return builder_convolution(b, tensor, kernel, 1, kernel / 2, 4 * (1 + (int)builder_random(b, 6)));
    }
}

/* 2 to 4 layers; most of them start with a convolution in front of a depth-wise layer, which may have its input in CHW. */
static const struct network *small_network(struct arena *arena, uint64_t seed)
{
    struct network_builder b;
    builder_start(&b, arena, seed);
    int height = 4 + (int)builder_random(&b, 9), width = 4 + (int)builder_random(&b, 13);
    int tensor = builder_input(&b, height, width, 1 + (int)builder_random(&b, 16));
    int layers = 2 + (int)builder_random(&b, 2);
    if (builder_random(&b, 4)) {
        tensor = builder_convolution(&b, tensor, 1, 1, 0, 4 * (1 + (int)builder_random(&b, 4)));
        tensor = builder_depthwise(&b, tensor, 3, 1 + (int)builder_random(&b, 2), 1);
        layers -= 2;
    }
    for (int i = 0; i < layers; i++)
        tensor = small_layer(&b, tensor);
    return builder_finish(&b, tensor);
}

/* ---- all decisions ---- */

/* What is left to decide of a layer, by cycles. */
struct options {
    struct choice choices[MAXIMUM_OPTIONS];
    int count;
};

struct oracle {
    struct decision now;
    const struct plan *plan;
    bool ports_may_spill;
    uint64_t cycles;         /* of the best so far, or one more than the plan takes */
    struct options *options; /* by layer, for the places as they are */
    uint64_t *least_behind;  /* by layer: cycles of the fastest options of it and all behind */
    int trials;
    bool with_ram, with_chw; /* the best so far */
};

static int by_cycles(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    uint64_t m = x->cut->cost.cycles, n = y->cut->cost.cycles;
    return (m > n) - (m < n);
}

static void add_options(struct oracle *o, int layer, uint32_t rows, uint32_t channels, uint8_t ram)
{
    struct options *options = &o->options[layer];
    struct planned_layer *of = layer_of(&o->now, layer);
    bool both = rows < of->record.output_height && channels < of->record.output_channels;
    for (int outer = 0; outer <= (both ? 1 : 0); outer++) {
        struct cut *cut = cut_get(of, rows, channels, outer != 0, ram);
        for (int ahead = cut_solve(cut) ? 1 : -1; ahead >= (cut->step_count > 1 ? 0 : 1); ahead--)
            if (options->count < MAXIMUM_OPTIONS)
                options->choices[options->count++] = (struct choice){cut, ahead != 0};
    }
}

/* Every size of a stripe by every size of a block. */
static void find_options(struct oracle *o, int layer)
{
    const struct dory_layer *record = &layer_of(&o->now, layer)->record;
    uint8_t ram = layer_ram(&o->now, layer);
    o->options[layer].count = 0;
    for (uint32_t rows = 1; rows <= record->output_height; rows++)
        for (uint32_t block = 4; block < record->output_channels + 4u; block += 4) {
            uint32_t channels = dory_minimum(block, record->output_channels);
            if (cut_is_legal(record, rows, channels, ram))
                add_options(o, layer, rows, channels, ram);
        }
    qsort(o->options[layer].choices, (size_t)o->options[layer].count, sizeof(struct choice), by_cycles);
}

static void note_tensors(struct oracle *o)
{
    o->with_ram = o->with_chw = false;
    for (int t = 0; t < o->now.problem->network->tensor_count; t++) {
        o->with_ram = o->with_ram || o->now.levels[t] == IN_RAM;
        o->with_chw = o->with_chw || o->now.layouts[t] == DORY_CHW;
    }
}

static void try_decision(struct oracle *o)
{
    struct arena scratch = {0};
    struct schedule schedule;
    const struct fit_limits faster = {o->cycles, PLACE_QUICKLY};
    o->trials++;
    if (schedule_fit(&o->now, &faster, &schedule, &scratch)) {
        o->cycles = schedule.cycles;
        note_tensors(o);
    }
    arena_free(&scratch);
}

static void try_cuts(struct oracle *o, int layer, uint64_t cycles)
{
    if (layer == o->now.problem->network->layer_count) {
        try_decision(o);
        return;
    }
    const struct options *options = &o->options[layer];
    for (int i = 0; i < options->count && o->trials <= MAXIMUM_TRIALS; i++) {
        uint64_t now = cycles + options->choices[i].cut->cost.cycles;
        if (now + o->least_behind[layer + 1] >= o->cycles)
            return;
        o->now.choices[layer] = options->choices[i];
        try_cuts(o, layer + 1, now);
    }
}

static void try_all_cuts(struct oracle *o)
{
    int count = o->now.problem->network->layer_count;
    o->least_behind[count] = 0;
    for (int l = count - 1; l >= 0; l--) {
        find_options(o, l);
        if (o->options[l].count == 0)
            return;
        o->least_behind[l] = o->least_behind[l + 1] + o->options[l].choices[0].cut->cost.cycles;
    }
    try_cuts(o, 0, 0);
}

static bool is_port(const struct network *network, int tensor)
{
    return network->tensors[tensor].producer == NO_LAYER || tensor == network->outputs[0];
}

static void try_places(struct oracle *o, int tensor)
{
    struct decision *d = &o->now;
    const struct network *network = d->problem->network;
    if (tensor == network->tensor_count) {
        try_all_cuts(o);
        return;
    }
    try_places(o, tensor + 1);
    if (d->layouts[tensor] == DORY_CHW || (is_port(network, tensor) && !o->ports_may_spill))
        return;
    decision_place(d, tensor, IN_RAM, DORY_HWC);
    try_places(o, tensor + 1);
    decision_place(d, tensor, IN_L2, DORY_HWC);
}

/* ---- layouts ---- */

/* One convolution writes it, one depth-wise layer reads it as it is, and nobody else does. */
static bool may_be_chw(const struct network *network, int tensor)
{
    int readers = 0, reader = -1, producer = network->tensors[tensor].producer;
    for (int l = 0; l < network->layer_count; l++)
        for (int i = 0; i < layer_input_count(&network->layers[l]); i++)
            if (network->layers[l].inputs[i] == tensor) {
                readers++;
                reader = l;
            }
    return readers == 1 && !is_port(network, tensor) && network->layers[producer].kind == LAYER_CONVOLUTION &&
           network->layers[reader].kind == LAYER_CONVOLUTION && network->layers[reader].groups > 1 &&
           network->layers[producer].groups == 1;
}

/* Not where a kernel is missing for the layouts. */
static bool has_kernels(const struct decision *d)
{
    bool all = true;
    for (int l = 0; l < d->problem->network->layer_count; l++)
        all = all && layer_of(d, l)->kernels[0];
    return all;
}

static void try_layouts(struct oracle *o, int tensor)
{
    struct decision *d = &o->now;
    if (tensor == d->problem->network->tensor_count) {
        if (has_kernels(d))
            try_places(o, 0);
        return;
    }
    try_layouts(o, tensor + 1);
    if (may_be_chw(d->problem->network, tensor)) {
        decision_place(d, tensor, IN_L2, DORY_CHW);
        try_layouts(o, tensor + 1);
        decision_place(d, tensor, IN_L2, DORY_HWC);
    }
}

/* ---- comparison ---- */

struct counts {
    int compared, missed, with_ram, with_chw;
    uint64_t trials;
};

static bool has_port_in_ram(const struct plan *plan)
{
    for (int t = 0; t < plan->network->tensor_count; t++)
        if (is_port(plan->network, t) && plan->tensors[t].level == IN_RAM)
            return true;
    return false;
}

static void compare(const struct plan *plan, const struct problem *problem, uint64_t seed, struct counts *counts)
{
    struct diagnostics diagnostics = {.arena = problem->arena};
    size_t layers = (size_t)plan->network->layer_count;
    uint64_t cycles = plan->predicted_cycles - plan->start_cycles; /* a decision's */
    struct oracle oracle = {
        .now = decision_make(problem, problem->arena),
        .plan = plan,
        .ports_may_spill = has_port_in_ram(plan),
        .cycles = cycles + 1,
        .options = arena_allocate(problem->arena, layers * sizeof(struct options)),
        .least_behind = arena_array(problem->arena, uint64_t, layers + 1),
    };
    try_layouts(&oracle, 0);
    if (oracle.trials > MAXIMUM_TRIALS)
        return;
    if (cycles > oracle.cycles)
        printf("seed %" PRIu64 ": %" PRIu64 " cycles, but %" PRIu64 " are possible\n", seed, cycles, oracle.cycles);
    EXPECT(cycles >= oracle.cycles, "seed %" PRIu64 ": %" PRIu64 " cycles, but no decision takes so few", seed, cycles);
    EXPECT(plan_check(plan, &diagnostics), "seed %" PRIu64, seed);
    counts->compared++;
    counts->missed += cycles != oracle.cycles;
    counts->trials += (uint64_t)oracle.trials;
    counts->with_ram += oracle.with_ram;
    counts->with_chw += oracle.with_chw;
}

static void test_network(uint64_t seed, const struct target *target, struct counts *counts)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    const struct network *network = small_network(&arena, seed);
    struct plan_options options = {.l1_bytes = target->l1_stack_bytes + 2000 + (uint32_t)(seed * 977 % 6000),
                                   .blocks = BLOCKS_NONE}; /* the oracle knows none */
    options.l2_bytes = tight_l2_bytes(network, target, options.l1_bytes, seed, 12) * (seed % AMPLE == 3 ? 2 : 1);
    struct problem problem = problem_for(network, target, &options, &arena);
    struct plan plan;
    if (options.l2_bytes && plan_make(network, target, &options, &plan, &arena, &diagnostics) &&
        problem_make(&problem, &arena, &diagnostics))
        compare(&plan, &problem, seed, counts);
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    int networks = argc > 1 ? atoi(argv[1]) : FEW_NETWORKS;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    struct counts counts = {0};
    EXPECT(target_load(&target, "gap8", &arena, &diagnostics), "gap8 is built in");
    for (uint64_t seed = first; seed < first + MAXIMUM_SEEDS * (uint64_t)networks && counts.compared < networks; seed++)
        test_network(seed, &target, &counts);
    EXPECT(counts.compared >= networks, "only %d networks compared", counts.compared);
    EXPECT(100 * counts.missed <= MAXIMUM_MISSED * counts.compared, "%d are not the fastest", counts.missed);
    EXPECT(counts.with_ram * 100 >= LEAST_IN_RAM * counts.compared, "only %d with tensors in RAM", counts.with_ram);
    EXPECT(counts.with_chw * 100 >= LEAST_IN_CHW * counts.compared, "only %d in CHW", counts.with_chw);
    printf("%d networks, %d with tensors in RAM, %d in CHW, %" PRIu64 " decisions; missed: %d\n", counts.compared,
           counts.with_ram, counts.with_chw, counts.trials, counts.missed);
    arena_free(&arena);
    return expect_result("oracle");
}
