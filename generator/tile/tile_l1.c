/* What a tiling takes of L1, and how the firmware's struct says it. */
#include "tile/tile.h"

#include "dory/hal.h"
#include "dory/transposition.h"

static bool is_convolution(const struct dory_layer *layer) { return layer->operation == DORY_CONVOLUTION; }

/* True where the layer is cut along rows or columns (channels), be it by steps or by tiles. */
static bool is_cut_in_space(const struct tile_problem *problem, const struct tiling *tiling)
{
    return tiling->tile.rows < problem->layer->output_height || tiling->tile.columns < problem->layer->output_width ||
           problem->steps[0].rows < problem->layer->output_height;
}

static bool is_cut_in_channels(const struct tile_problem *problem, const struct tiling *tiling)
{
    return tiling->tile.channels < problem->layer->output_channels ||
           problem->steps[0].channels < problem->layer->output_channels;
}

/* Operands that are loaded, or stored, more than once in the layer. */
struct tile_loads {
    bool input, weights, output;
};

static struct tile_loads loads_of(const struct tile_problem *problem, const struct tiling *tiling)
{
    bool space = is_cut_in_space(problem, tiling), channels = is_cut_in_channels(problem, tiling);
    bool chunks = is_convolution(problem->layer) && tiling->tile.input_channels < problem->layer->input_channels;
    return (struct tile_loads){
        .input = space || chunks || (channels && dory_loads_by_channels(problem->layer)),
        .weights = channels || chunks,
        .output = space || channels,
    };
}

static uint32_t aligned_bytes(uint32_t bytes) { return dory_round_up(bytes, DORY_ALIGNMENT); }

struct l1_sizes tile_l1_sizes(const struct tile_problem *problem, const struct tiling *tiling)
{
    const struct dory_layer *layer = problem->layer;
    const struct dory_tile_shape *shape = &tiling->tile;
    struct tile_loads loads = loads_of(problem, tiling);
    bool inputs = !(tiling->in_place & DORY_INPUTS_IN_PLACE), weights = !(tiling->in_place & DORY_WEIGHTS_IN_PLACE),
         output = !(tiling->in_place & DORY_OUTPUT_IN_PLACE), second = inputs && dory_has_second_input(layer);
    return (struct l1_sizes){
        .input = inputs ? aligned_bytes(dory_input_tile_bytes(layer, shape, 0)) : 0,
        .second_input = second ? aligned_bytes(dory_input_tile_bytes(layer, shape, 1)) : 0,
        .weights = weights ? aligned_bytes(dory_weights_tile_bytes(problem->weights, layer, shape)) : 0,
        .output = output ? aligned_bytes(dory_output_tile_bytes(layer, shape)) : 0,
        .accumulators = aligned_bytes(dory_accumulator_bytes(layer, shape)),
        .scratch = aligned_bytes(dory_scratch_bytes(problem->kernel, layer, shape, problem->cores)),
        .two_inputs = loads.input,
        .two_weights = loads.weights && dory_table_bytes(layer) == 0, /* a table is loaded once */
        .two_outputs = loads.output,
    };
}

uint32_t tile_l1_sum(const struct l1_sizes *sizes, uint8_t single)
{
    uint32_t inputs = sizes->two_inputs && !(single & SINGLE_INPUT) ? 2 : 1;
    uint32_t weights = sizes->two_weights && !(single & SINGLE_WEIGHTS) ? 2 : 1;
    uint32_t outputs = sizes->two_outputs && !(single & SINGLE_OUTPUT) ? 2 : 1;
    return DORY_L1_RUNTIME_BYTES + inputs * (sizes->input + sizes->second_input) + weights * sizes->weights +
           outputs * sizes->output + sizes->accumulators + sizes->scratch;
}

/* Takes a buffer off the arena, two where `two`. */
static void take(uint32_t place[2], uint32_t bytes, bool two, uint32_t *used)
{
    place[0] = place[1] = bytes ? *used : DORY_NO_BUFFER;
    *used += bytes;
    if (two && bytes) {
        place[1] = *used;
        *used += bytes;
    }
}

static void leave_in_place(const struct tile_problem *problem, const struct tiling *tiling, struct dory_l1_map *map)
{
    if (tiling->in_place & DORY_INPUTS_IN_PLACE)
        map->input[0] = map->input[1] = DORY_IN_PLACE;
    if ((tiling->in_place & DORY_INPUTS_IN_PLACE) && dory_has_second_input(problem->layer))
        map->second_input[0] = map->second_input[1] = DORY_IN_PLACE;
    if (tiling->in_place & DORY_WEIGHTS_IN_PLACE)
        map->weights[0] = map->weights[1] = DORY_IN_PLACE;
    if (tiling->in_place & DORY_OUTPUT_IN_PLACE)
        map->output[0] = map->output[1] = DORY_IN_PLACE;
}

uint32_t tile_l1_bytes(const struct tile_problem *problem, const struct tiling *tiling, struct dory_l1_map *map)
{
    struct l1_sizes sizes = tile_l1_sizes(problem, tiling);
    uint32_t used = DORY_L1_RUNTIME_BYTES, place_of[2];
    bool two_inputs = sizes.two_inputs && !(tiling->single & SINGLE_INPUT);
    if (!map)
        return tile_l1_sum(&sizes, tiling->single);
    take(map->input, sizes.input, two_inputs, &used);
    take(map->second_input, sizes.second_input, two_inputs, &used);
    take(map->weights, sizes.weights, sizes.two_weights && !(tiling->single & SINGLE_WEIGHTS), &used);
    take(map->output, sizes.output, sizes.two_outputs && !(tiling->single & SINGLE_OUTPUT), &used);
    take(place_of, sizes.accumulators, false, &used);
    map->accumulators = place_of[0];
    take(place_of, sizes.scratch, false, &used);
    map->scratch = place_of[0];
    leave_in_place(problem, tiling, map);
    return used;
}

uint32_t tile_apply(const struct tile_problem *problem, const struct tiling *tiling, struct dory_layer *record)
{
    *record = *problem->layer;
    record->tile_order = tiling->order;
    record->tile = tiling->tile;
    record->block_bytes = dory_block_bytes(problem->weights, record, tiling->tile.input_channels);
    record->chunk_bytes = dory_first_chunk_bytes(problem->weights, record, tiling->tile.input_channels);
    return tile_l1_bytes(problem, tiling, &record->l1);
}
