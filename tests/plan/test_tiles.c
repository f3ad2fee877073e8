/* The evaluator says of a layer's tiles what the firmware does with them. Both go from tile to tile with the same cursor,
 * and describe copies by the same functions (placed_tile.c and tile_copies.c of kernels/run). Here both look at the same
 * cuts of random layers, with the tiles that the search has found: as many tiles, as many bytes between L2 and L1, and
 * buffers up to the same byte of L1. Runs of whole plans are compared by tests/support/run_plan.c.
 *
 *     tiles [layers] */
#include <inttypes.h>
#include <stdlib.h>

#include "dory/hal.h"
#include "expect.h"
#include "networks.h"
#include "placed_tile.h"
#include "plan/operand.h"
#include "planning.h"
#include "search/optimiser.h"
#include "tile_copies.h"

#define LAYERS               1000
#define CUTS_OF_A_LAYER      2
#define LEAST_OF_A_KIND      10 /* of a thousand layers */
#define ENOUGH_BYTES         (1u << 30)
#define MAXIMUM_TURN_ROWS    3
#define MAXIMUM_BLOCK_LAYERS 3

/* Where L2 and weights are for the firmware's functions, which add to addresses, as one must not to null. */
#define BASE ((uint8_t *)(uintptr_t)0x10000000)

/* ---- what the firmware does ---- */

struct walk {
    const struct dory_layer *record;
    const struct dory_kernel_description *kernel;
    unsigned cores;
    struct dory_placed_tile last;
    uint32_t tiles, l1_end;
    uint64_t bytes;
};

static uint64_t bytes_of(const struct hal_dma_copy *copy) { return (uint64_t)copy->run_bytes * copy->runs * copy->planes; }

static void reach(struct walk *walk, uint32_t offset, uint32_t bytes)
{
    uint32_t end = offset + dory_round_up(bytes, DORY_ALIGNMENT);
    if (bytes > 0 && offset != DORY_NO_BUFFER && end > walk->l1_end)
        walk->l1_end = end;
}

/* The furthest byte of what the tile needs, by the sizes of the contract between generator and kernels. */
static void reach_buffers(struct walk *walk, const struct dory_tile_shape *shape)
{
    const struct dory_layer *record = walk->record;
    const struct dory_l1_map *map = &record->l1;
    for (int i = 0; i < 2; i++) {
        reach(walk, map->input[i], dory_input_tile_bytes(record, shape, 0));
        reach(walk, map->second_input[i], dory_has_second_input(record) ? dory_input_tile_bytes(record, shape, 1) : 0);
        reach(walk, map->weights[i], dory_weights_tile_bytes(&dory_quads, record, shape));
        reach(walk, map->output[i], dory_output_tile_bytes(record, shape));
    }
    reach(walk, map->accumulators, dory_accumulator_bytes(record, shape));
    reach(walk, map->scratch, dory_scratch_bytes(walk->kernel, record, shape, walk->cores));
}

static void count_tile(struct walk *walk, const struct dory_placed_tile *placed)
{
    const struct dory_tile *tile = &placed->tile;
    const struct dory_tile_shape shape = {
        .rows = tile->rows, .columns = tile->columns, .channels = tile->channels, .input_channels = tile->input_channels};
    struct dory_copies copies;
    dory_describe_loads(&copies, placed, walk->record, BASE, BASE);
    for (int i = 0; i < copies.load_count; i++)
        walk->bytes += bytes_of(&copies.loads[i]);
    if (dory_describe_store(&copies, placed, walk->record, BASE))
        walk->bytes += bytes_of(&copies.store);
    reach_buffers(walk, &shape);
    walk->tiles++;
}

/* As dory_place_first and dory_place_next do it, and plan_last_tile: steps behind each other of one layer. */
static void walk_steps(struct walk *walk, const struct dory_step *steps, uint32_t count)
{
    dory_place_nothing(&walk->last);
    for (uint32_t i = 0; i < count; i++) {
        struct dory_placed_tile tile = walk->last;
        tile.step = &steps[i];
        tile.starts_step = 1;
        dory_cursor_first(&tile.at, tile.step);
        do {
            dory_place_tile(&tile, &walk->last, walk->record, &(struct dory_bases){NULL, BASE, BASE});
            count_tile(walk, &tile);
            tile.starts_step = 0;
            walk->last = tile;
        } while (dory_cursor_next(&tile.at, walk->record, tile.step));
    }
}

/* ---- what the evaluator says ---- */

static struct tile_problem problem_of(const struct cut *cut)
{
    const struct planned_layer *of = cut->of;
    int kernel = 0;
    while (of->kernels[kernel] != cut->kernel)
        kernel++;
    return (struct tile_problem){.layer = &of->record,
                                 .weights = of->weights,
                                 .kernel = cut->kernel,
                                 .target = of->problem->target,
                                 .cores = of->problem->cores,
                                 .l1_bytes = of->problem->l1_bytes,
                                 .steps = cut->steps,
                                 .step_count = cut->step_count,
                                 .cycles = of->cycles[kernel]};
}

static void expect_same(const struct tile_cost *cost, const struct walk *walk, const char *what)
{
    EXPECT(cost->tile_count == walk->tiles, "%s: %u tiles, but the firmware has %u", what, cost->tile_count, walk->tiles);
    EXPECT(cost->dma_bytes == walk->bytes, "%s: %" PRIu64 " bytes, but the firmware copies %" PRIu64, what, cost->dma_bytes,
           walk->bytes);
    EXPECT(cost->l1_bytes == walk->l1_end, "%s: %u bytes of L1, but buffers end at %u", what, cost->l1_bytes, walk->l1_end);
}

/* ---- layers ---- */

/* What layers there were: a test of them is worth nothing where they are all alike. */
struct counts {
    int layers, of_tiles, of_steps, in_chw, second_inputs, concatenations, pixels, sliced, narrow_weights, narrow_elements,
        blocks;
};

static void count_layer(struct counts *counts, const struct dory_layer *record, const struct cut *cut)
{
    counts->layers++;
    counts->of_tiles += cut->cost.tile_count > cut->step_count;
    counts->of_steps += cut->step_count > 1;
    counts->in_chw += record->input_layout == DORY_CHW || record->output_layout == DORY_CHW;
    counts->second_inputs += dory_has_second_input(record);
    counts->sliced += record->operation == DORY_CONVOLUTION && record->tile.input_channels < record->input_channels;
    counts->concatenations += record->operation == DORY_CONCATENATION;
    counts->pixels += operand_is_pixel(record, 1);
    counts->narrow_weights += dory_has_weights(record) && record->weight_bits < 8;
    counts->narrow_elements += record->input_bits < 8 || record->output_bits < 8;
}

static void compare_cut(const struct cut *cut, const char *what, struct counts *counts)
{
    struct dory_layer record;
    const struct tile_problem problem = problem_of(cut);
    tile_apply(&problem, &cut->tiling, &record);
    struct walk walk = {.record = &record, .kernel = cut->kernel, .cores = cut->of->problem->cores};
    walk_steps(&walk, cut->steps, cut->step_count);
    expect_same(&cut->cost, &walk, what);
    count_layer(counts, &record, cut);
}

/* Some operands in RAM; not those in CHW, which stay in L2. */
static uint8_t random_ram(const struct decision *decision, int layer, struct network_builder *random)
{
    uint8_t ram = 0;
    for (int i = 0; i < 3; i++) {
        int tensor = layer_operand(&decision->problem->network->layers[layer], i);
        if (tensor >= 0 && decision->layouts[tensor] == DORY_HWC && builder_random(random, 2))
            ram |= (uint8_t)(1 << i);
    }
    return ram;
}

static void compare_layer(const struct decision *decision, int layer, uint64_t seed, struct network_builder *random,
                          struct counts *counts)
{
    for (int i = 0; i < CUTS_OF_A_LAYER; i++) {
        struct cut **list;
        uint8_t ram = random_ram(decision, layer, random);
        int count = cut_list(layer_of(decision, layer), ram, &list);
        struct cut *cut = count ? list[builder_random(random, (uint32_t)count)] : NULL;
        if (cut && cut_solve(cut))
            compare_cut(cut,
                        arena_format(decision->problem->arena, "seed %" PRIu64 ", layer %d, %ux%u%s, RAM %u", seed, layer,
                                     cut->rows, cut->channels, cut->channels_outer ? " outer" : "", ram),
                        counts);
    }
}

/* ---- layers that take turns ---- */

/* The steps of a turn: those of one layer behind each other. */
static uint32_t steps_of_turn(const struct cut *cut, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < cut->step_count && cut->block->order[end].member == cut->block->order[first].member)
        end++;
    return end - first;
}

/* Each turn starts with nothing in L1, as a layer does. */
static void compare_block(const struct cut *cut, const char *what)
{
    struct walk walk = {.cores = cut->of->problem->cores};
    for (uint32_t i = 0, count; i < cut->step_count; i += count) {
        int member = cut->block->order[i].member;
        const struct cut *own = cut->block->members[member];
        const struct tile_problem problem = problem_of(own);
        struct dory_layer record;
        tile_apply(&problem, &own->tiling, &record);
        walk.record = &record;
        walk.kernel = own->kernel;
        count = steps_of_turn(cut, i);
        walk_steps(&walk, &cut->steps[i], count);
    }
    expect_same(&cut->cost, &walk, what);
}

static void compare_blocks(const struct decision *decision, uint64_t seed, struct network_builder *random,
                           struct counts *counts)
{
    const struct problem *p = decision->problem;
    for (int first = 0; first < p->network->layer_count; first++) {
        int last = first + 1 + (int)builder_random(random, MAXIMUM_BLOCK_LAYERS - 1);
        uint32_t rows = 1 + builder_random(random, MAXIMUM_TURN_ROWS);
        if (last >= p->network->layer_count || !block_is_possible(p, first, last, false))
            continue;
        const struct cut *cut = block_get(decision, first, last, (struct stripe){rows, false}, ENOUGH_BYTES);
        if (!cut)
            continue;
        compare_block(cut, arena_format(p->arena, "seed %" PRIu64 ", layers %d to %d, %u rows", seed, first, last, rows));
        counts->blocks++;
    }
}

/* ---- networks ---- */

/* Blobs of 4-bit and 2-bit weights have other sizes; what is in them does not matter here. */
static void narrow_weights(struct network_builder *b)
{
    static const int bits[] = {8, 8, 4, 2};
    for (int l = 0; l < b->network.layer_count; l++)
        b->network.layers[l].weight_bits = bits[builder_random(b, 4)];
}

/* Of a convolution's results, so that pixels of an odd number of channels have a part of a byte that nobody uses. */
static void narrow_results(struct network_builder *b, int tensor)
{
    struct tensor *results = &b->network.tensors[tensor];
    b->network.layers[results->producer].stages[0].maximum = results->maximum = 15;
    results->bits = 4;
}

static int two_inputs(struct network_builder *b, int tensor)
{
    const struct tensor *input = &b->network.tensors[tensor];
    switch (builder_random(b, 4)) {
    case 0: return builder_concatenation(b, tensor, builder_convolution(b, tensor, 1, 1, 0, 4 + (int)builder_random(b, 20)));
    case 1:
        if (input->height == input->width) /* by one factor a channel */
            return builder_product(b, tensor, builder_pool(b, tensor, LAYER_AVERAGE_POOL, input->height, 1, 0));
        return builder_product(b, tensor, builder_depthwise(b, tensor, 1, 1, 0));
    default: return builder_addition(b, tensor, builder_depthwise(b, tensor, 1, 1, 0));
    }
}

static int convolution(struct network_builder *b, int tensor, int kernel, int stride)
{
    int results = builder_convolution(b, tensor, kernel, stride, kernel / 2, 1 + (int)builder_random(b, 60));
    if (builder_random(b, 3))
        return results;
    narrow_results(b, results);
    return builder_convolution(b, results, 1, 1, 0, 1 + (int)builder_random(b, 60));
}

static int next_layer(struct network_builder *b, int tensor)
{
    const struct tensor *input = &b->network.tensors[tensor];
    int least = input->height < input->width ? input->height : input->width;
    int kernel = least >= 3 ? 1 + 2 * (int)builder_random(b, 2) : 1, stride = 1 + (int)builder_random(b, 2);
    switch (builder_random(b, 8)) {
    case 0: return builder_pool(b, tensor, LAYER_MAXIMUM_POOL, kernel, stride, kernel / 2);
    case 1: return builder_depthwise(b, tensor, kernel, stride, kernel / 2);
    case 2:
    case 3: return two_inputs(b, tensor);
    case 4:
    case 5: /* a pair of which the tensor between can be in CHW */
        tensor = builder_convolution(b, tensor, 1, 1, 0, 4 * (1 + (int)builder_random(b, 8)));
        return builder_depthwise(b, tensor, kernel, stride, kernel / 2);
    default: return convolution(b, tensor, kernel, stride);
    }
}

static const struct network *layers_of_all_shapes(struct network_builder *b, struct arena *arena, uint64_t seed)
{
    builder_start(b, arena, seed);
    int height = 4 + (int)builder_random(b, 20), width = builder_random(b, 4) ? 4 + (int)builder_random(b, 20) : height;
    int tensor = builder_input(b, height, width, 1 + (int)builder_random(b, 100));
    for (int i = 0; i < 3; i++)
        tensor = next_layer(b, tensor);
    narrow_weights(b);
    return builder_finish(b, tensor);
}

static void choose_layouts(struct decision *decision, struct network_builder *random)
{
    const struct problem *p = decision->problem;
    bool *may_be_chw = arena_array(p->arena, bool, (size_t)p->network->tensor_count);
    layouts_find(p, may_be_chw);
    for (int t = 0; t < p->network->tensor_count; t++)
        if (may_be_chw[t] && builder_random(random, 4))
            decision_place(decision, t, IN_L2, DORY_CHW);
}

static void test_network(uint64_t seed, const struct target *target, struct counts *counts)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct network_builder b;
    const struct network *network = layers_of_all_shapes(&b, &arena, seed);
    const struct plan_options options = {.l1_bytes = target->l1_stack_bytes + 2500 + builder_random(&b, 7000)};
    struct problem problem = problem_for(network, target, &options, &arena);
    bool started = problem_make(&problem, &arena, &diagnostics);
    EXPECT(started, "seed %" PRIu64, seed);
    if (started) {
        struct decision decision = decision_make(&problem, &arena);
        choose_layouts(&decision, &b);
        for (int l = 0; l < network->layer_count; l++)
            compare_layer(&decision, l, seed, &b, counts);
        compare_blocks(&decision, seed, &b, counts);
    }
    arena_free(&arena);
}

/* ---- enough of each kind ---- */

static void expect_some(int count, const struct counts *counts, const char *kind)
{
    EXPECT(count * 1000 >= LEAST_OF_A_KIND * counts->layers, "only %d of %d layers %s", count, counts->layers, kind);
}

int main(int argc, char **argv)
{
    int layers = argc > 1 ? atoi(argv[1]) : LAYERS;
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    struct counts counts = {0};
    EXPECT(target_load(&target, "gap8", &arena, &diagnostics), "gap8 is built in");
    const struct target *with_table = target_with_table(&target, &arena);
    for (uint64_t seed = 1; counts.layers < layers && seed <= (uint64_t)layers; seed++)
        test_network(seed, seed % 2 ? &target : with_table, &counts);
    EXPECT(counts.layers >= layers, "only %d layers", counts.layers);
    expect_some(counts.of_tiles, &counts, "have several tiles in a step");
    expect_some(counts.of_steps, &counts, "have several steps");
    expect_some(counts.in_chw, &counts, "are in CHW");
    expect_some(counts.second_inputs, &counts, "have a second input");
    expect_some(counts.sliced, &counts, "have input channels in slices");
    expect_some(counts.concatenations, &counts, "are concatenations");
    expect_some(counts.pixels, &counts, "have an input of one pixel");
    expect_some(counts.narrow_weights, &counts, "have narrow weights");
    expect_some(counts.narrow_elements, &counts, "have narrow elements");
    expect_some(counts.blocks, &counts, "take turns");
    printf(
        "%d layers: %d of more tiles than steps, %d of several steps, %d in CHW, %d with a second input (%d concatenations, "
        "%d pixels), %d in slices, %d with narrow weights, %d with narrow elements; %d blocks\n",
        counts.layers, counts.of_tiles, counts.of_steps, counts.in_chw, counts.second_inputs, counts.concatenations,
        counts.pixels, counts.sliced, counts.narrow_weights, counts.narrow_elements, counts.blocks);
    arena_free(&arena);
    return expect_result("tiles");
}
