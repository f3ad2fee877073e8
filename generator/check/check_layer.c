/* What the check pass looks at in a layer on its own: its tile, its map of L1, its weights in the flash. */
#include <inttypes.h>

#include "check/checker.h"
#include "dory/hal.h"
#include "placed_tile.h"

/* ---- tiles and L1 ---- */

void check_tile(struct checker *c, int index)
{
    const struct dory_layer *record = &c->plan->layers[index].record;
    bool tiles = record->tile.rows > 0 && record->tile.columns > 0 && record->tile.channels > 0;
    bool blocks =
        record->tile.channels % dory_block_channels(record) == 0 || record->tile.channels == record->output_channels;
    bool slices = !dory_reads_all_channels(record) ||
                  (record->tile.input_channels > 0 && record->tile.input_channels <= record->input_channels &&
                   (record->tile.input_channels % 4 == 0 || record->tile.input_channels == record->input_channels));
    if (!tiles || !blocks || !slices)
        check_fault(c, "layer '%s': a tile of %d x %d x %d from %d channels", checker_layer_name(c, index),
                    record->tile.rows, record->tile.columns, record->tile.channels, record->tile.input_channels);
    const struct dory_kernel_description *kernel = c->plan->layers[index].kernel;
    bool sliced = dory_reads_all_channels(record) && record->tile.input_channels < record->input_channels;
    if (!kernel || !dory_kernel_supports(kernel, record) || (sliced && !kernel->can_tile_input_channels))
        check_fault(c, "layer '%s': its kernel cannot compute it", checker_layer_name(c, index));
}

/* Gaps between rows of the output: where a table's tile is all of it, and of words. */
void check_gap(struct checker *c, int index)
{
    const struct plan_layer *layer = &c->plan->layers[index];
    const struct dory_layer *record = &layer->record;
    uint32_t pixel = dory_element_bytes(record->output_channels, record->output_bits);
    bool is_whole = record->tile.rows == record->output_height && record->tile.columns == record->output_width &&
                    record->tile.channels == record->output_channels && layer->tile_count == 1;
    bool is_words = record->output_width * pixel % 4 == 0 && dory_output_gap(record) * pixel % 4 == 0;
    bool leaves_gaps = layer->kernel && layer->kernel->leaves_gaps && record->output_layout == DORY_HWC;
    if (dory_output_gap(record) > 0 && !(c->plan->tiles && is_whole && is_words && leaves_gaps))
        check_fault(c, "layer '%s': %u columns between rows of its output, which nobody leaves there",
                    checker_layer_name(c, index), dory_output_gap(record));
}

/* Rows and columns of an operand, as the layer is told of them, are all pixels of the tensor. */
static bool has_all_pixels(const struct checker *c, int index, unsigned operand)
{
    const struct dory_layer *record = &c->plan->layers[index].record;
    const struct tensor *tensor = &c->plan->network->tensors[layer_operand(&c->plan->network->layers[index], (int)operand)];
    uint64_t height = operand == 2 ? record->output_height : record->input_height,
             width = operand == 2 ? record->output_width : record->input_width;
    return height * width == (uint64_t)tensor->height * (uint64_t)tensor->width;
}

/* Of a matrix product, heads are the tensor's rows, or so many of the layer's as the tensor has columns; then a step is
 * within one. */
void check_shape(struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct dory_layer *record = &plan->layers[index].record;
    const struct tensor *output = &plan->network->tensors[plan->network->layers[index].output];
    uint32_t sharing = record->matrix_product.sharing_rows;
    if (record->operation != DORY_MATRIX_PRODUCT)
        return;
    bool heads = sharing ? sharing == (uint32_t)output->width && record->output_width == 1
                         : record->output_height == output->height && record->output_width == output->width;
    for (int i = 0; heads && sharing && i < plan->step_count; i++) {
        const struct dory_step *step = &plan->steps[i].record;
        if (plan->steps[i].layer == index)
            heads = step->first_row / sharing == (step->first_row + step->rows - 1u) / sharing;
    }
    heads = heads && !(sharing && dory_joins_rows(record));
    if (!heads || !has_all_pixels(c, index, 0) || !has_all_pixels(c, index, 2))
        check_fault(c, "layer '%s': its rows, or those of a step, are not of one head each", checker_layer_name(c, index));
}

/* Tiles in CHW are as wide as the tensor, whose rows then follow one another; both ends see a tensor alike, and the caller
 * knows none but HWC. */
void check_layout(struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct layer *layer = &plan->network->layers[index];
    const struct dory_layer *record = &plan->layers[index].record;
    bool planes = record->input_layout != DORY_HWC || record->output_layout != DORY_HWC;
    bool wide = record->tile.columns == record->output_width,
         bytes = record->input_layout == DORY_HWC || record->input_bits == 8;
    bool alike = record->output_layout == plan->tensors[layer->output].layout;
    for (int i = 0; i < (dory_has_second_input(record) ? 2 : 1); i++)
        alike = alike && (i ? DORY_HWC : record->input_layout) == plan->tensors[layer->inputs[i]].layout;
    if (!alike || (planes && !(wide && bytes)))
        check_fault(c, "layer '%s': it takes a tensor for one in another layout, or its tiles are no planes",
                    checker_layer_name(c, index));
}

struct range {
    uint64_t start, end;
};

/* What the engine's format says of the layer's weights, by chunks as the layer is tiled. */
static uint64_t block_bytes(const struct plan_layer *layer, uint64_t *first_chunk)
{
    const struct dory_layer *record = &layer->record;
    const struct dory_weights_format *format = layer->engine->weights;
    bool sliced = record->operation == DORY_CONVOLUTION;
    uint32_t slice = sliced ? record->tile.input_channels : record->input_channels;
    uint64_t sum = 0;
    *first_chunk = 0;
    if (!dory_has_weights(record) || slice == 0)
        return 0;
    for (uint32_t first = 0; first < record->input_channels; first += slice) {
        uint64_t chunk = format->chunk_bytes(record, dory_minimum(slice, record->input_channels - first));
        *first_chunk = first == 0 ? chunk : *first_chunk;
        sum += chunk;
    }
    return sum + format->constants_bytes(record);
}

/* One or two buffers of an operand, or none where it has no bytes. */
static int add_ranges(struct checker *c, int layer, const uint32_t offset[2], uint64_t bytes, struct range *ranges,
                      int count)
{
    if (bytes == 0 || dory_is_in_place(offset)) /* see check_in_place.c */
        return count;
    if (offset[0] % 4 != 0 || offset[1] % 4 != 0)
        check_fault(c, "layer '%s': an L1 buffer at a multiple of less than 4 bytes", checker_layer_name(c, layer));
    ranges[count++] = (struct range){offset[0], offset[0] + bytes};
    if (offset[1] != offset[0])
        ranges[count++] = (struct range){offset[1], offset[1] + bytes};
    return count;
}

static uint64_t pixels_read(const struct dory_layer *record)
{
    uint64_t divisor = record->row_divisor ? record->row_divisor : 1;
    uint64_t rows = ((uint64_t)record->tile.rows - 1) * record->stride_height;
    rows = (rows + divisor - 1) / divisor + ((uint64_t)record->kernel_height - 1) * record->dilation_height + 1;
    uint64_t columns = ((uint64_t)record->tile.columns - 1) * record->stride_width +
                       ((uint64_t)record->kernel_width - 1) * record->dilation_width + 1;
    return rows * (record->input_layout == DORY_CHW ? record->input_width : columns);
}

/* A tile of a transposition has the bytes of its output. */
static uint64_t input_tile_bytes(const struct dory_layer *record, uint32_t channels)
{
    if (record->operation == DORY_TRANSPOSITION)
        return (uint64_t)record->tile.rows * record->tile.columns * record->tile.channels;
    return pixels_read(record) * dory_element_bytes(channels, record->input_bits);
}

static bool is_sliced(const struct dory_layer *record)
{
    return dory_reads_all_channels(record) && record->tile.input_channels < record->input_channels;
}

static uint64_t weights_tile_bytes(const struct plan_layer *layer)
{
    const struct dory_layer *record = &layer->record;
    uint64_t blocks = dory_blocks(record, record->tile.channels), chunk, whole = block_bytes(layer, &chunk);
    if (whole == 0)
        return dory_table_bytes(record);
    return blocks * (is_sliced(record) ? chunk + layer->engine->weights->constants_bytes(record) : whole);
}

#define MAXIMUM_RANGES 11

/* Of a matrix product: pixels of the second input, one for each channel of the output. */
static uint64_t second_pixels_read(const struct dory_layer *record)
{
    if (record->operation == DORY_MATRIX_PRODUCT)
        return (uint64_t)(record->matrix_product.sharing_rows ? 1 : record->tile.rows) * record->tile.channels;
    return record->second_repeats & DORY_REPEATS_PIXEL ? 1 : pixels_read(record);
}

/* The buffers of a layer's map of L1, and what lies in front of them. */
static int l1_ranges(struct checker *c, int index, const struct dory_l1_map *map, struct range ranges[MAXIMUM_RANGES])
{
    const struct plan_layer *layer = &c->plan->layers[index];
    const struct dory_layer *record = &layer->record;
    bool reads_all = dory_reads_all_channels(record), concatenation = record->operation == DORY_CONCATENATION;
    uint32_t input_channels = reads_all ? record->tile.input_channels : record->tile.channels;
    uint32_t second_channels = concatenation                    ? (uint32_t)record->output_channels - record->input_channels
                               : record->operation == DORY_LSTM ? 3u * record->lstm.units
                               : record->second_repeats & DORY_REPEATS_CHANNEL ? 1
                                                                               : input_channels;
    uint64_t channels = (uint64_t)dory_blocks(record, record->tile.channels) * dory_block_channels(record),
             outputs = (uint64_t)record->tile.rows * record->tile.columns,
             places = outputs + (uint64_t)dory_output_gap(record) * (record->tile.rows > 0 ? record->tile.rows - 1u : 0);
    struct dory_tile_shape shape = {record->tile.rows, record->tile.columns, record->tile.channels,
                                    (uint16_t)input_channels};
    uint32_t accumulators[2] = {map->accumulators, map->accumulators}, scratch[2] = {map->scratch, map->scratch};
    int count = 1;
    ranges[0] = (struct range){0, c->plan->runs_layers ? 0 : DORY_L1_RUNTIME_BYTES};
    count = add_ranges(c, index, map->input, input_tile_bytes(record, input_channels), ranges, count);
    if (dory_has_second_input(record))
        count = add_ranges(c, index, map->second_input,
                           second_pixels_read(record) * dory_element_bytes(second_channels, record->second_input_bits),
                           ranges, count);
    count = add_ranges(c, index, map->weights, weights_tile_bytes(layer), ranges, count);
    count = add_ranges(c, index, map->output, places * dory_element_bytes(record->tile.channels, record->output_bits),
                       ranges, count);
    count = add_ranges(c, index, accumulators, is_sliced(record) ? outputs * channels * 4 : 0, ranges, count);
    return add_ranges(c, index, scratch, dory_scratch_bytes(layer->kernel, record, &shape, c->plan->cores), ranges, count);
}

void check_l1(struct checker *c, int index)
{
    struct range ranges[MAXIMUM_RANGES];
    int count = l1_ranges(c, index, &c->plan->layers[index].record.l1, ranges);
    for (int i = 0; i < count; i++) {
        if (ranges[i].end > c->plan->l1_peak_bytes)
            check_fault(c, "layer '%s': an L1 buffer ends at %" PRIu64 ", behind the arena of %u bytes",
                        checker_layer_name(c, index), ranges[i].end, c->plan->l1_peak_bytes);
        for (int j = 0; j < i; j++)
            if (ranges[i].start < ranges[j].end && ranges[j].start < ranges[i].end)
                check_fault(c, "layer '%s': L1 buffers at %" PRIu64 " and %" PRIu64 " overlap", checker_layer_name(c, index),
                            ranges[j].start, ranges[i].start);
    }
}

/* The map of a layer with the buffers only that its last tile is computed from. */
static struct dory_l1_map map_at_end(const struct plan *plan, int index)
{
    struct dory_placed_tile last;
    struct dory_l1_map map = plan->layers[index].record.l1;
    plan_last_tile(plan, index, &last);
    map.input[0] = map.input[1] = map.input[last.input_buffer];
    map.second_input[0] = map.second_input[1] = map.second_input[last.input_buffer];
    map.weights[0] = map.weights[1] = map.weights[last.weights_buffer];
    return map;
}

/* What comes while the layer before still computes overwrites nothing of it. */
static void check_early_buffer(struct checker *c, int index, const char *what, uint64_t start, uint64_t bytes)
{
    struct range ranges[MAXIMUM_RANGES];
    struct dory_l1_map map = map_at_end(c->plan, index - 1);
    int count = l1_ranges(c, index - 1, &map, ranges);
    for (int i = 0; i < count; i++)
        if (ranges[i].start < start + bytes && start < ranges[i].end)
            check_fault(c, "layer '%s': its %s come early to byte %" PRIu64 " of L1, which layer '%s' still uses",
                        checker_layer_name(c, index), what, start, checker_layer_name(c, index - 1));
}

void check_output_beside(struct checker *c, int index)
{
    const struct dory_layer *record = &c->plan->layers[index].record;
    check_early_buffer(c, index, "results", record->l1.output[0], dory_output_tile_bytes(record, &record->tile));
}

/* Those that do not stay; of a layer's only tile, each input in its first buffer. */
static void check_early_inputs(struct checker *c, int index)
{
    const struct plan_layer *layer = &c->plan->layers[index];
    const struct dory_layer *record = &layer->record;
    bool are_copied = !(dory_operands_in_place(&record->l1) & DORY_INPUTS_IN_PLACE);
    if (!layer->inputs_are_early)
        return;
    if (index == 0 || !are_copied || layer->block >= 0 || layer[-1].block >= 0 || layer->tile_count != 1) {
        check_fault(c, "layer '%s': inputs that come early, behind no layer or one that takes turns, or to several tiles",
                    checker_layer_name(c, index));
        return;
    }
    if (!(layer->inputs_stay & 1))
        check_early_buffer(c, index, "input", record->l1.input[0], dory_input_tile_bytes(record, &record->tile, 0));
    if (dory_has_second_input(record) && !(layer->inputs_stay & 2))
        check_early_buffer(c, index, "input", record->l1.second_input[0], dory_input_tile_bytes(record, &record->tile, 1));
}

void check_early(struct checker *c, int index)
{
    const struct dory_layer *record = &c->plan->layers[index].record;
    check_early_inputs(c, index);
    if (!c->plan->steps[c->plan->layers[index].first_step].record.weights_are_early)
        return;
    if (index == 0 || record->block_bytes == 0 || dory_is_in_place(record->l1.weights) ||
        c->plan->layers[index].block >= 0 || c->plan->layers[index - 1].block >= 0) {
        check_fault(c, "layer '%s': weights that come early, behind no layer or one that takes turns, or none at all",
                    checker_layer_name(c, index));
        return;
    }
    check_early_buffer(c, index, "weights", record->l1.weights[0], weights_tile_bytes(&c->plan->layers[index]));
}

/* ---- weights in flash ---- */

/* What a layer alone has there: its blob, or constants for its owner's. */
static uint64_t own_start(const struct plan_layer *layer, bool is_blob)
{
    return is_blob ? layer->weights_address : layer->constants_address;
}

static uint64_t own_end(const struct plan_layer *layer, bool is_blob)
{
    return own_start(layer, is_blob) + (is_blob ? layer->weights_bytes : plan_all_constants_bytes(layer));
}

/* The owner has a blob, and that with the layer's constants is the layer's: both are written anew. */
static void check_sharing(struct checker *c, int index)
{
    const struct plan_layer *layer = &c->plan->layers[index];
    struct arena scratch = {0};
    bool good = layer->owner >= 0 && layer->owner < index && plan_has_own_blob(c->plan, layer->owner) &&
                c->plan->layers[layer->owner].shares_weights &&
                c->plan->layers[layer->owner].weights_address == layer->weights_address && !layer->resident &&
                plan_write_constants(c->plan, index, arena_allocate(&scratch, plan_all_constants_bytes(layer)));
    if (!good)
        check_fault(c, "layer '%s': its weights are not those that it shares", checker_layer_name(c, index));
    arena_free(&scratch);
}

void check_blob(struct checker *c, int index)
{
    const struct plan_layer *layer = &c->plan->layers[index];
    uint64_t chunk, block = block_bytes(layer, &chunk),
                    bytes = block * dory_blocks(&layer->record, layer->record.output_channels);
    bool blocks = block == 0 || layer->record.block_shift == layer->engine->weights->block_shift(&layer->record);
    if (!blocks || layer->record.block_bytes != block || layer->record.chunk_bytes != chunk || layer->weights_bytes != bytes)
        check_fault(c, "layer '%s': sizes of its weights: %u a block, %u in all; they have %" PRIu64 " and %" PRIu64,
                    checker_layer_name(c, index), layer->record.block_bytes, layer->weights_bytes, block, bytes);
    if (layer->weights_bytes == 0)
        return;
    bool is_blob = plan_has_own_blob(c->plan, index);
    uint64_t start = own_start(layer, is_blob), end = own_end(layer, is_blob);
    if (!is_blob)
        check_sharing(c, index);
    if (start < FLASH_HEADER_BYTES || end > c->plan->flash_bytes || start % 8 != 0)
        check_fault(c, "layer '%s': weights at %" PRIu64 " in a flash image of %u bytes", checker_layer_name(c, index),
                    start, c->plan->flash_bytes);
    for (int i = 0; i < index; i++) {
        const struct plan_layer *other = &c->plan->layers[i];
        bool is_other_blob = plan_has_own_blob(c->plan, i);
        if (other->weights_bytes && own_start(other, is_other_blob) < end && start < own_end(other, is_other_blob))
            check_fault(c, "layers '%s' and '%s': weights overlap in flash", checker_layer_name(c, i),
                        checker_layer_name(c, index));
    }
}
