/* Operands in place: of every tile that the firmware's cursor places, each of them begins where the tensor has it, or the
 * weights do, and what the kernel takes for one piece there is one. */
#include "check/checker.h"
#include "placed_tile.h"
#include "plan/operand.h"

/* Where L2 and weights seem to be. */
#define L2_BASE      0x10000000u
#define WEIGHTS_BASE 0x20000000u

struct seat {
    const struct plan_layer *layer;
    const struct dory_step *step;
    const struct dory_placed_tile *placed;
};

static uint64_t place_of(const void *pointer) { return (uint64_t)(uintptr_t)pointer; }

/* L2 has the whole tensor. */
static bool is_whole(const struct seat *seat, unsigned operand)
{
    const struct dory_layer *record = &seat->layer->record;
    const struct dory_window *window = operand_window(seat->step, operand);
    return window->first_row == 0 && window->rows == operand_height(record, operand) && window->first_channel == 0 &&
           window->channels == operand_channels(record, operand);
}

/* Input rows that the tile reads, as if there were more above and below: first one and number. */
static int64_t first_row_read(const struct dory_layer *record, uint32_t row)
{
    int64_t divisor = record->row_divisor ? record->row_divisor : 1;
    return (int64_t)row * record->stride_height / divisor - record->padding_top;
}

static int64_t end_of_rows_read(const struct dory_layer *record, uint32_t last_row)
{
    return first_row_read(record, last_row) + ((int64_t)record->kernel_height - 1) * record->dilation_height + 1;
}

/* Nothing outside of the image, unless the kernel knows that. */
static bool is_inside(const struct seat *seat)
{
    const struct dory_layer *record = &seat->layer->record;
    const struct dory_tile *tile = &seat->placed->tile;
    int64_t columns = ((int64_t)record->output_width - 1) * record->stride_width +
                      ((int64_t)record->kernel_width - 1) * record->dilation_width + 1;
    return seat->layer->kernel->knows_border ||
           (first_row_read(record, tile->first_row) >= 0 &&
            end_of_rows_read(record, tile->first_row + tile->rows - 1u) <= record->input_height &&
            record->padding_left == 0 && columns <= record->input_width);
}

static bool is_transposed_whole(const struct dory_layer *record, const struct dory_tile *tile)
{
    return tile->input_rows == record->input_height && tile->input_columns == record->input_width &&
           tile->input_channels == record->input_channels && tile->rows == record->output_height &&
           tile->columns == record->output_width && tile->channels == record->output_channels;
}

static bool input_is_right(const struct seat *seat, unsigned which)
{
    const struct dory_layer *record = &seat->layer->record;
    const struct dory_tile *tile = &seat->placed->tile;
    bool is_product = record->operation == DORY_MATRIX_PRODUCT, is_planes = record->input_layout == DORY_CHW;
    int64_t first = first_row_read(record, tile->first_row),
            end = end_of_rows_read(record, tile->first_row + tile->rows - 1u);
    uint64_t there = first < 0 ? 0 : (uint64_t)first, start = L2_BASE + operand_window(seat->step, which)->offset;
    bool wide = tile->columns == record->output_width && tile->input_columns == record->input_width;
    bool all = dory_repeats_channel(record, which) || tile->input_channels == record->input_channels;
    uint64_t place = place_of(which ? tile->second_input : tile->input);
    if (!is_whole(seat, which) || !wide)
        return false;
    if (is_planes)
        return tile->rows == record->output_height && tile->input_rows == record->input_height &&
               place == start + (uint64_t)(dory_reads_all_channels(record) ? 0 : tile->first_channel) *
                                    record->input_height * record->input_width;
    if (record->operation == DORY_TRANSPOSITION)
        return is_transposed_whole(record, tile) && place == start;
    if (is_product && which && record->matrix_product.sharing_rows)
        return all && tile->channels == record->output_channels &&
               place == start + there / record->matrix_product.sharing_rows * operand_row_bytes(record, which);
    uint64_t left = there < record->input_height ? record->input_height - there : 0;
    bool rows = tile->input_rows <= left && (tile->input_rows == left || (int64_t)(there + tile->input_rows) >= end);
    bool products = !is_product || tile->channels == record->output_channels;
    return all && rows && products &&
           place == start + (operand_is_pixel(record, which) ? 0 : there * operand_row_bytes(record, which));
}

static bool weights_are_right(const struct seat *seat)
{
    const struct dory_layer *record = &seat->layer->record;
    const struct dory_tile *tile = &seat->placed->tile;
    uint64_t channels = tile->first_channel - seat->step->first_channel;
    bool all = tile->first_chunk && tile->last_chunk && channels % dory_block_channels(record) == 0;
    if (seat->layer->weights_bytes == 0)
        return dory_table_bytes(record) > 0 && tile->weights == record->constants.table;
    return all && place_of(tile->weights) == (uint64_t)WEIGHTS_BASE + seat->step->weights_offset +
                                                 channels / dory_block_channels(record) * record->block_bytes;
}

static bool output_is_right(const struct seat *seat)
{
    const struct dory_layer *record = &seat->layer->record;
    const struct dory_tile *tile = &seat->placed->tile;
    uint64_t start = L2_BASE + seat->step->output.offset, plane = (uint64_t)record->output_height * record->output_width;
    if (!is_whole(seat, 2) || tile->columns != record->output_width || dory_joins_rows(record))
        return false;
    if (record->output_layout == DORY_CHW)
        return tile->rows == record->output_height && place_of(tile->output) == start + tile->first_channel * plane;
    return tile->channels == record->output_channels &&
           place_of(tile->output) == start + (uint64_t)tile->first_row * operand_row_bytes(record, 2);
}

static bool tile_is_right(const struct seat *seat)
{
    const struct dory_layer *record = &seat->layer->record;
    const struct dory_l1_map *map = &record->l1;
    bool two = dory_has_second_input(record);
    bool inputs =
        !dory_is_in_place(map->input) || (input_is_right(seat, 0) && is_inside(seat) &&
                                          (!two || (dory_is_in_place(map->second_input) && input_is_right(seat, 1))));
    return inputs && (!dory_is_in_place(map->weights) || weights_are_right(seat)) &&
           (!dory_is_in_place(map->output) || output_is_right(seat));
}

/* Of a step, as the driver goes through it. */
static bool step_is_right(const struct plan *plan, const struct plan_step *step)
{
    const struct plan_layer *layer = &plan->layers[step->layer];
    const struct dory_bases bases = {NULL, (uint8_t *)(uintptr_t)L2_BASE, (const uint8_t *)(uintptr_t)WEIGHTS_BASE};
    struct dory_placed_tile placed = {.step = &step->record}, before;
    struct seat seat = {layer, &step->record, &placed};
    bool right = true;
    dory_place_nothing(&before);
    dory_cursor_first(&placed.at, placed.step);
    do {
        dory_place_tile(&placed, &before, &layer->record, &bases);
        right = tile_is_right(&seat);
    } while (right && dory_cursor_next(&placed.at, &layer->record, placed.step));
    return right;
}

static unsigned operands_in_place(const struct dory_l1_map *map)
{
    bool inputs = dory_is_in_place(map->input) || dory_is_in_place(map->second_input);
    return (inputs ? DORY_INPUTS_IN_PLACE : 0u) | (dory_is_in_place(map->weights) ? DORY_WEIGHTS_IN_PLACE : 0u) |
           (dory_is_in_place(map->output) ? DORY_OUTPUT_IN_PLACE : 0u);
}

/* Nothing of it has to be brought, and no sums are kept from tile to tile. */
static bool runs_alone(const struct plan *plan, const struct plan_layer *layer)
{
    const struct dory_layer *record = &layer->record;
    bool is_copied = !dory_is_in_place(record->l1.input) || !dory_is_in_place(record->l1.output) ||
                     (!dory_is_in_place(record->l1.weights) && (layer->weights_bytes > 0 || dory_table_bytes(record) > 0));
    bool is_sliced = dory_reads_all_channels(record) && record->tile.input_channels < record->input_channels;
    return !is_copied && !is_sliced && plan->transfer_count == 0 && !plan->tiles;
}

void check_in_place(struct checker *c, int index)
{
    const struct plan_layer *layer = &c->plan->layers[index];
    const struct target *target = c->plan->target;
    unsigned in_place = operands_in_place(&layer->record.l1), allowed = layer->kernel->in_place;
    allowed &= (target->weights_in_place ? DORY_WEIGHTS_IN_PLACE : 0u) |
               (target->activations_in_place ? DORY_INPUTS_IN_PLACE | DORY_OUTPUT_IN_PLACE : 0u);
    if (in_place & ~allowed)
        check_fault(c, "layer '%s': an operand in place that its kernel, or the target, has to copy",
                    checker_layer_name(c, index));
    if (c->plan->runs_layers && !runs_alone(c->plan, layer))
        check_fault(c, "layer '%s': it has copies or transfers, and nobody who makes them", checker_layer_name(c, index));
    for (int i = layer->first_step; in_place && c->faults == 0 && i <= layer->last_step; i++)
        if (c->plan->steps[i].layer == index && !step_is_right(c->plan, &c->plan->steps[i]))
            check_fault(c,
                        "step %d of layer '%s': an operand in place is not where a tile looks for it, or not in one piece",
                        i, checker_layer_name(c, index));
}
