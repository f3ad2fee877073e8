/* Where tensors live and how they lie, on random networks in little L2, by trying all levels of all tensors: what a layer
 * needs is what its smallest cut takes beside the tensors in L2; choose_levels leaves all tensors in L2 where everything
 * runs so, moves none without need, and stops only where nothing more helps; a tensor of which choose_spills says that it
 * must be in RAM cannot be in L2; and layouts_find has the tensors in CHW that both of their layers have a tile for.
 *
 *     levels [networks] */
#include <inttypes.h>
#include <string.h>

#include "expect.h"
#include "networks.h"
#include "planning.h"
#include "search/optimiser.h"

#define NETWORKS        60
#define MAXIMUM_TENSORS 8 /* so that all levels can be tried */
#define L2_STEPS        6
#define LAYOUTS         4 /* times as many networks, for layouts alone: these take little time */
#define WIDTHS          9
#define WIDE            60
#define TOO_LITTLE      4 /* one of so many networks may have less than it needs */

struct counts {
    int networks, tried, runs, all_in_l2, single, in_ram, must, in_chw, not_in_chw;
};

/* ---- what a layer needs ---- */

/* By the lives of the tensors, one by one. */
static uint64_t bytes_alive(const struct optimiser *o, int layer)
{
    const struct network *network = o->network;
    uint64_t sum = 0;
    for (int t = 0; t < network->tensor_count; t++)
        if (o->now.levels[t] == IN_L2 && o->problem->lives[t].first <= layer && layer <= o->problem->lives[t].last)
            sum += aligned(tensor_bytes(&network->tensors[t]));
    return sum;
}

/* The largest window of each operand, and block of weights, where nothing is done ahead: a layer is given room for them side
 * by side, although they need not be of the same step. */
static uint32_t bytes_of_cut(struct cut *cut)
{
    struct arena scratch = {0};
    uint32_t most[PROFILE_OPERANDS] = {0}, sum = 0;
    const struct profile *profile = profile_make(&(struct choice){cut, false}, &scratch);
    for (int i = 0; i < profile->buffer_count; i++)
        if (profile->buffers[i].bytes > most[profile->buffers[i].operand])
            most[profile->buffers[i].operand] = profile->buffers[i].bytes;
    for (int operand = 0; operand < PROFILE_OPERANDS; operand++)
        sum += most[operand];
    arena_free(&scratch);
    return sum;
}

static uint32_t smallest_cut(const struct decision *decision, int layer)
{
    struct cut **list;
    uint32_t smallest = UINT32_MAX;
    int count = cut_list(layer_of(decision, layer), layer_ram(decision, layer), &list);
    for (int i = 0; i < count; i++)
        if (cut_solve(list[i]) && bytes_of_cut(list[i]) < smallest)
            smallest = bytes_of_cut(list[i]);
    return smallest;
}

static void expect_needs(struct optimiser *o, uint64_t seed)
{
    for (int l = 0; l < o->network->layer_count; l++) {
        uint64_t need = bytes_alive(o, l) + smallest_cut(&o->now, l);
        EXPECT(o->now.live[l] == bytes_alive(o, l), "seed %" PRIu64 ", layer %d: %u bytes live, not %" PRIu64, seed, l,
               o->now.live[l], bytes_alive(o, l));
        EXPECT(layer_need(&o->now, l) == need, "seed %" PRIu64 ", layer %d: %" PRIu64 " bytes needed, not %" PRIu64, seed, l,
               layer_need(&o->now, l), need);
    }
}

/* ---- all levels ---- */

static uint64_t lacking(struct optimiser *o)
{
    uint64_t sum = 0;
    for (int l = 0; l < o->network->layer_count; l++)
        sum += layer_need(&o->now, l) > o->problem->l2_bytes ? layer_need(&o->now, l) - o->problem->l2_bytes : 0;
    return sum;
}

static void take_levels(struct optimiser *o, uint32_t in_ram)
{
    for (int t = 0; t < o->network->tensor_count; t++)
        set_level(o, t, in_ram >> t & 1 ? IN_RAM : IN_L2);
}

static uint32_t levels_now(const struct optimiser *o)
{
    uint32_t in_ram = 0;
    for (int t = 0; t < o->network->tensor_count; t++)
        in_ram |= (uint32_t)(o->now.levels[t] == IN_RAM) << t;
    return in_ram;
}

static bool runs_with(struct optimiser *o, uint32_t in_ram)
{
    take_levels(o, in_ram);
    return lacking(o) == 0;
}

/* ---- choose_levels ---- */

/* One tensor less in RAM, and some layer would not run: of the last one that was moved that is so. */
static bool one_is_needed(struct optimiser *o, uint32_t in_ram)
{
    bool needed = false;
    for (int t = 0; t < o->network->tensor_count; t++)
        needed = needed || (in_ram >> t & 1 && !runs_with(o, in_ram & ~(1u << t)));
    return needed;
}

static uint64_t lacking_with(struct optimiser *o, uint32_t in_ram)
{
    take_levels(o, in_ram);
    return lacking(o);
}

/* Where layers still lack bytes, they would with any other tensor in RAM, too, and no fewer. */
static void expect_end(struct optimiser *o, uint32_t chosen, uint64_t seed)
{
    uint64_t lack = lacking_with(o, chosen);
    for (int t = 0; t < o->network->tensor_count && lack > 0; t++)
        EXPECT(chosen >> t & 1 || lacking_with(o, chosen | 1u << t) >= lack,
               "seed %" PRIu64 ": with tensor %d in RAM, too, layers would lack less", seed, t);
}

/* Where one tensor is enough, it is the one that frees most for its traffic: it is written, if a layer does that, and read.
 */
static void expect_best_first(struct optimiser *o, uint32_t chosen, uint64_t seed, struct counts *counts)
{
    uint64_t lack = lacking_with(o, 0), best = 0;
    double best_rate = 0, rate = 0;
    if (__builtin_popcount(chosen) != 1)
        return;
    for (int t = 0; t < o->network->tensor_count; t++) {
        uint64_t with = lacking_with(o, 1u << t), freed = lack > with ? lack - with : 0;
        int copies = o->problem->lives[t].readers + (o->network->tensors[t].producer != NO_LAYER);
        double now = (double)freed / ((double)copies * tensor_bytes(&o->network->tensors[t]) + 1);
        best = now > best_rate ? (uint64_t)t : best;
        best_rate = now > best_rate ? now : best_rate;
        rate = chosen == 1u << t ? now : rate;
    }
    counts->single++;
    EXPECT(rate >= best_rate * 0.999, "seed %" PRIu64 ": %x in RAM, but tensor %d frees more", seed, chosen, (int)best);
}

static void expect_levels(struct optimiser *o, uint64_t seed, struct counts *counts)
{
    choose_levels(o);
    expect_needs(o, seed);
    uint32_t chosen = levels_now(o);
    bool runs = lacking(o) == 0, all_in_l2 = runs_with(o, 0);
    counts->tried++;
    counts->runs += runs;
    counts->all_in_l2 += all_in_l2;
    EXPECT(!all_in_l2 || chosen == 0, "seed %" PRIu64 ": everything runs in L2, but %x is in RAM", seed, chosen);
    EXPECT(!runs || chosen == 0 || one_is_needed(o, chosen), "seed %" PRIu64 ": %x in RAM is more than has to be", seed,
           chosen);
    counts->in_ram += __builtin_popcount(chosen);
    expect_end(o, chosen, seed);
    expect_best_first(o, chosen, seed, counts);
    take_levels(o, chosen);
}

/* ---- choose_spills ---- */

static bool runs_with_tensor_in_l2(struct optimiser *o, int tensor)
{
    for (uint32_t in_ram = 0; in_ram < 1u << o->network->tensor_count; in_ram++) {
        bool possible = !(in_ram >> tensor & 1);
        for (int t = 0; t < o->network->tensor_count; t++)
            possible = possible && (!(in_ram >> t & 1) || may_spill(o, t));
        if (possible && runs_with(o, in_ram))
            return true;
    }
    return false;
}

static void expect_spills(struct optimiser *o, uint64_t seed, struct counts *counts)
{
    uint32_t before = levels_now(o);
    choose_spills(o);
    EXPECT(levels_now(o) == before, "seed %" PRIu64 ": other levels", seed);
    for (int t = 0; t < o->network->tensor_count; t++) {
        EXPECT(o->spill[t] == SPILL_NEVER || may_spill(o, t), "seed %" PRIu64 ": tensor %d may not be in RAM", seed, t);
        if (o->spill[t] != SPILL_ALWAYS)
            continue;
        counts->must++;
        EXPECT(!runs_with_tensor_in_l2(o, t), "seed %" PRIu64 ": tensor %d need not be in RAM", seed, t);
    }
    take_levels(o, before);
}

/* ---- layouts ---- */

/* Its only reader, as a depth-wise layer's first input that is not reshaped; -1: there is none such. */
static int reader_of_planes(const struct network *network, int tensor)
{
    int readers = 0, reader = -1;
    for (int l = 0; l < network->layer_count; l++)
        for (int i = 0; i < layer_input_count(&network->layers[l]); i++)
            if (network->layers[l].inputs[i] == tensor) {
                readers++;
                reader = l;
            }
    bool one = readers == 1 && !tensor_is_port(network, tensor) && network->layers[reader].kind == LAYER_CONVOLUTION;
    return one && network->layers[reader].groups > 1 ? reader : -1;
}

static bool has_tile(struct planned_layer *of)
{
    return of->kernels[0] && cut_solve(cut_get(of, of->record.output_height, of->record.output_channels, false, 0));
}

static bool can_be_chw(const struct problem *problem, int tensor)
{
    const struct network *network = problem->network;
    int producer = network->tensors[tensor].producer, reader = reader_of_planes(network, tensor);
    if (reader < 0 || network->layers[producer].kind != LAYER_CONVOLUTION || network->layers[producer].groups > 1)
        return false;
    return has_tile(layer_variant(problem, producer, DORY_HWC, DORY_CHW)) &&
           has_tile(layer_variant(problem, reader, DORY_CHW, DORY_HWC));
}

static void expect_layouts(const struct problem *problem, const bool *may_be_chw, uint64_t seed, struct counts *counts)
{
    for (int t = 0; t < problem->network->tensor_count; t++) {
        bool expected = can_be_chw(problem, t);
        EXPECT(may_be_chw[t] == expected, "seed %" PRIu64 ": tensor %d can be in CHW, or not", seed, t);
        counts->in_chw += expected;
        counts->not_in_chw += !expected;
    }
}

static void expect_no_layouts(struct problem problem, bool *may_be_chw)
{
    struct plan_options hwc = *problem.options;
    hwc.layouts = LAYOUTS_HWC;
    problem.options = &hwc;
    layouts_find(&problem, may_be_chw);
    for (int t = 0; t < problem.network->tensor_count; t++)
        EXPECT(!may_be_chw[t], "tensor %d in CHW, where no tensor may be", t);
}

/* ---- networks ---- */

/* Half of them have a convolution in front of a depth-wise layer. */
static const struct network *small_network(struct arena *arena, uint64_t seed, uint32_t widths)
{
    struct network_builder b;
    if (seed % 2)
        return seeded_network(arena, seed, 4);
    builder_start(&b, arena, seed);
    int height = 4 + (int)builder_random(&b, 9), width = 4 + (int)builder_random(&b, widths);
    int input = builder_convolution(&b, builder_input(&b, height, width, 8), 1, 1, 0, 4 + (int)builder_random(&b, 20));
    int tensor = builder_depthwise(&b, input, 3, 1, 1);
    if (builder_random(&b, 4) == 0)
        tensor = builder_addition(&b, tensor, builder_depthwise(&b, input, 3, 1, 1)); /* a second reader */
    else if (builder_random(&b, 2))
        tensor = builder_addition(&b, builder_random(&b, 2) ? input : builder_depthwise(&b, tensor, 1, 1, 0), tensor);
    return builder_finish(&b, builder_convolution(&b, tensor, 1, 1, 0, 16));
}

/* With which all layers have a tile whose tensors are in HWC; in CHW tiles are as wide as the tensor, and may need more. */
static uint32_t least_l1_bytes(const struct network *network, const struct target *target)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    const struct plan_options options = {.l1_bytes = 0};
    struct problem problem = problem_for(network, target, &options, &arena);
    int layer;
    REQUIRE(problem_make(&problem, &arena, &diagnostics));
    uint32_t least = least_l1(&problem, &layer);
    arena_free(&arena);
    return target->l1_stack_bytes + least;
}

static void test_levels(uint64_t seed, const struct target *target, struct counts *counts)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    const struct network *network = small_network(&arena, seed, WIDTHS);
    for (int l = 0; l < network->layer_count && seed % 3 == 0; l++)
        network->layers[l].weight_bits = 4; /* for which cuts need more than they seem to before their tile is known */
    struct plan_options options = {.l1_bytes = target->l1_stack_bytes + 1200 + (uint32_t)(seed * 977 % 5000)};
    options.l2_bytes = tight_l2_bytes(network, target, options.l1_bytes, seed, L2_STEPS);
    if (seed % TOO_LITTLE == 0)
        options.l2_bytes = options.l2_bytes / 4 * 3;
    struct problem problem = problem_for(network, target, &options, &arena);
    if (network->tensor_count <= MAXIMUM_TENSORS && options.l2_bytes && problem_make(&problem, &arena, &diagnostics)) {
        struct optimiser o = optimiser_make(&problem);
        counts->networks++;
        layouts_find(&problem, o.may_be_chw);
        for (int ports = 0; ports < 2; ports++) {
            o.ports_may_spill = ports != 0;
            expect_levels(&o, seed, counts);
            expect_spills(&o, seed, counts);
        }
    }
    arena_free(&arena);
}

/* Every other network has no more L1 than its smallest tiles in HWC need. */
static void test_layouts(uint64_t seed, const struct target *target, struct counts *counts)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    const struct network *network = small_network(&arena, seed, WIDE);
    const struct plan_options options = {.l1_bytes = seed / 2 % 2 ? least_l1_bytes(network, target) : 0};
    struct problem problem = problem_for(network, target, &options, &arena);
    bool *may_be_chw = arena_array(&arena, bool, (size_t)network->tensor_count);
    REQUIRE(problem_make(&problem, &arena, &diagnostics));
    expect_no_layouts(problem, may_be_chw);
    layouts_find(&problem, may_be_chw);
    expect_layouts(&problem, may_be_chw, seed, counts);
    arena_free(&arena);
}

static void test_network(uint64_t seed, const struct target *target, void *counts)
{
    test_levels(seed, target, counts);
    for (uint64_t of_layouts = LAYOUTS * (seed - 1) + 1; of_layouts <= LAYOUTS * seed; of_layouts++)
        test_layouts(of_layouts, target, counts);
}

int main(int argc, char **argv)
{
    struct counts counts = {0};
    uint64_t networks = test_seeds(argc, argv, NETWORKS, test_network, &counts);
    printf(
        "%d networks, %d choices of levels: %d with which all layers run, %d of them with all tensors in L2, %d with one in "
        "RAM; %d tensors in RAM, %d must be; %d may be in CHW, %d not\n",
        counts.networks, counts.tried, counts.runs, counts.all_in_l2, counts.single, counts.in_ram, counts.must,
        counts.in_chw, counts.not_in_chw);
    EXPECT(counts.networks * 2 > (int)networks && counts.in_ram > counts.networks && counts.must > 0 && counts.in_chw > 0 &&
               counts.all_in_l2 > 0 && counts.all_in_l2 < counts.runs && counts.runs < counts.tried && counts.single > 0,
           "too few are tight");
    return expect_result("levels");
}
